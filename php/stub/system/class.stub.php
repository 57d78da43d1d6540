<?php

namespace Apus\Coroutine;

/**
 * The operating system seen from a coroutine: others run while one of these functions waits. A function that fails
 * returns false, and Apus\last_error() has the error number (Apus\strerror() its text): ETIMEDOUT (110) when the
 * time-out was over first, ECANCELED (125) when the coroutine was cancelled. All throw Apus\Coroutine\Exception
 * NOT_IN_COROUTINE outside coroutines, CANNOT_SWITCH, and Apus\Coroutine\CanceledException when cancelled with an
 * exception.
 * @rust plain
 */
class System
{
    // @rust typed

    /**
     * The same as Apus\Coroutine::sleep().
     * @param float $seconds 0 or more seconds; 0 lets all coroutines that are ready run first
     * @return bool false when the coroutine was cancelled meanwhile
     * @throws \ValueError for a negative or infinite time
     * Waits.
     */
    public static function sleep(float $seconds): bool {}

    /**
     * Runs a command with /bin/sh and waits for its end. Standard input is that of this process.
     * @param bool $get_error_stream whether what the command writes to standard error is part of the output
     * @param int $max_output bytes; a command that prints more is killed
     * @return array|false code (exit code), signal (that killed it, or 0), output (bytes); false when it could not be
     * run, was cancelled (then it and its children are killed), or printed too much (EFBIG, with a warning)
     * @throws \ValueError for a null byte in the command, or $max_output below 1
     * Waits.
     * @rust exec::exec
     */
    public static function exec(string $command, bool $get_error_stream = false, int $max_output = 67108864): array|false {}

    // @rust module lookup

    /**
     * The first address of a name, by the system's resolver (/etc/hosts, DNS). At most 64 lookups run at once in a
     * process; further ones wait for their turn within their time-out. Nothing is cached.
     * @param int $type AF_INET (2) or AF_INET6 (10)
     * @param float $timeout seconds; negative for no limit
     * @return string|false false: Apus\ERROR_DNSLOOKUP_RESOLVE_FAILED, Apus\ERROR_DNSLOOKUP_RESOLVE_TIMEOUT or
     * ECANCELED
     * @throws \ValueError for an empty name, a null byte or another type
     * Waits.
     */
    public static function gethostbyname(string $domain_name, int $type = 2, float $timeout = -1): string|false {}

    /**
     * The same as gethostbyname() with other defaults.
     * @param float $timeout seconds; negative for no limit
     * @param int $type AF_INET (2) or AF_INET6 (10)
     * Waits.
     */
    public static function dnsLookup(string $domain_name, float $timeout = 60, int $type = 2): string|false {}

    /**
     * All addresses of a name, in the order of the system's resolver; limits as in gethostbyname().
     * @param int $family AF_INET (2) or AF_INET6 (10)
     * @param int $socktype SOCK_STREAM (1), SOCK_DGRAM (2) or 0 for all
     * @param int $protocol IPPROTO_TCP (6), IPPROTO_UDP (17) or 0 for all
     * @param string|null $service a port or its name, which must exist
     * @param float $timeout seconds; negative for no limit
     * @return string[]|false addresses as text
     * @throws \ValueError for an empty name, a null byte or another family
     * Waits.
     */
    public static function getaddrinfo(string $domain, int $family = 2, int $socktype = 1, int $protocol = 6, ?string $service = null, float $timeout = -1): array|false {}

    // @rust module files

    /**
     * What statvfs(3) reports about the file system of a path: bsize, frsize, blocks, bfree, bavail, files, ffree,
     * favail, fsid, flag, namemax.
     * @throws \ValueError for an empty path or a null byte
     * Waits.
     */
    public static function statvfs(string $path): array|false {}

    /**
     * A whole file of at most 1 GiB (else EFBIG), read on another thread.
     * @param int $flag LOCK_EX (2) to wait for a shared lock of the file first; else 0
     * @throws \ValueError for an empty name, a null byte or another flag
     * Waits.
     */
    public static function readFile(string $filename, int $flag = 0): string|false {}

    /**
     * Writes a file on another thread; it is created if it does not exist, truncated if it does. Cancelled, it may have
     * been written, in part or whole.
     * @param int $flags FILE_APPEND (8) to write at the end; LOCK_EX (2) to wait for the file's lock first, under which
     * it is truncated; or both
     * @return int|false bytes written
     * @throws \ValueError for an empty name, a null byte or another flag
     * Waits.
     */
    public static function writeFile(string $filename, string $fileContent, int $flags = 0): int|false {}

    // @rust module streams

    /**
     * fread() that waits in the coroutine: for a socket, pipe or terminal until there is something, for a file until it
     * is in memory.
     * Wrappers without a descriptor (compressed files, streams in PHP) are read as fread() does.
     * @param resource $handle an open stream
     * @param int $length bytes at most; 0 for everything up to the end
     * @throws \TypeError when $handle is not an open stream
     * @throws \ValueError for a negative length
     * Waits.
     */
    public static function fread(mixed $handle, int $length = 0): string|false {}

    /**
     * fwrite() that waits in the coroutine until all is written.
     * @param resource $handle an open stream
     * @param int $length bytes of $data at most; 0 for all
     * @return int|false bytes written
     * @throws \TypeError when $handle is not an open stream
     * @throws \ValueError for a negative length
     * Waits.
     */
    public static function fwrite(mixed $handle, string $data, int $length = 0): int|false {}

    /**
     * fgets() that waits in the coroutine: a line with its line break, or what is left before the end. A line longer
     * than 1 MiB is returned in pieces of that size.
     * @param resource $handle an open stream
     * @return string|false false at the end, too
     * @throws \TypeError when $handle is not an open stream
     * Waits.
     */
    public static function fgets(mixed $handle): string|false {}

    // @rust module children

    /**
     * Waits until any child process has ended, and reaps it. Children that exec() or waitPid() wait for are left to
     * them.
     * @param float $timeout seconds; negative for no limit; 0 for no waiting
     * @return array|false pid, code (exit code), signal (that killed it, or 0); false also when there is no child
     * (ECHILD)
     * Waits.
     */
    public static function wait(float $timeout = -1): array|false {}

    /**
     * Waits until one child process has ended, and reaps it.
     * @param int $pid the child; -1 for any, as wait()
     * @param float $timeout seconds; negative for no limit; 0 for no waiting
     * @return array|false as wait(); false also when it is not a child of this process, or was reaped (ECHILD)
     * @throws \ValueError for another number
     * Waits.
     */
    public static function waitPid(int $pid, float $timeout = -1): array|false {}

    /**
     * Waits for a signal. Its handler or default action is suspended meanwhile and restored afterwards; a signal that
     * arrives while no coroutine waits for it has its usual effect. One coroutine at a time can wait for a signal:
     * further ones get false (EBUSY) and a warning.
     * @param int|int[] $signals numbers, except SIGCHLD (see wait()), SIGKILL, SIGSTOP and those of the program's own
     * faults
     * @param float $timeout seconds; negative for no limit; 0 for no waiting
     * @return int|false the signal that arrived; the lowest if several arrived together, the others are kept for the
     * next call
     * @throws \ValueError for numbers that cannot be waited for
     * Waits.
     * @rust signals::wait_signal
     */
    public static function waitSignal(array|int $signals, float $timeout = -1): int|false {}

    /**
     * Waits until a descriptor can be read or written without blocking. One that is at its end or broken is ready for
     * everything: using it shows the error. A stream of which PHP has read ahead is readable; a regular file is always
     * ready.
     * @param resource|object|int $socket a stream, a Socket of ext/sockets, an object of Apus that has a descriptor, or
     * its number
     * @param int $events Apus\EVENT_READ, Apus\EVENT_WRITE or both
     * @param float $timeout seconds; negative for no limit; 0 for no waiting
     * @return int|false what it is ready for; false also when it is or was closed (EBADF)
     * @throws \TypeError for anything else
     * @throws \ValueError for other events
     * Waits.
     * @rust ready::wait_event
     */
    public static function waitEvent(mixed $socket, int $events = 512, float $timeout = -1): int|false {}
}
