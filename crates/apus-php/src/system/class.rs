//! `Apus\Coroutine\System`.

use std::time::Duration;

use apus_coro::Wait;
use apus_zend::class::{Class, Method};
use apus_zend::{Call, Raise, handler};

use super::{children, exec, files, lookup, ready, signals, streams};
use crate::exception::entry;
use crate::runtime::State;
use crate::wait::wait;

/// `System::sleep()`.
fn sleep(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let seconds = call.float(0, 0.0)?;
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|_| call.value_error(0, &format!("must be 0 or more seconds, {seconds:?} given")))?;
    let sleeping = async move {
        // The timer wheel's tick is a millisecond; 0 asks for a turn of the loop only.
        if time.is_zero() { tokio::task::yield_now().await } else { tokio::time::sleep(time).await }
    };
    let slept = wait(&*State::get()?, Wait::Outside("Coroutine\\System::sleep()"), sleeping)?;
    call.ret(slept.is_some())
}

/// `Apus\Coroutine\System`.
pub(super) static SYSTEM: Class = Class {
    name: "Apus\\Coroutine\\System",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "The operating system seen from a coroutine: others run while one of these functions waits. What fails returns false,\n\
          and Apus\\last_error() tells the number why (Apus\\strerror() its text): ETIMEDOUT (110) when the time-out was over first,\n\
          ECANCELED (125) when the coroutine was cancelled. All throw Apus\\Coroutine\\Exception NOT_IN_COROUTINE outside coroutines,\n\
          CANNOT_SWITCH, and Apus\\Coroutine\\CanceledException when cancelled with an exception.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: METHODS,
    native: false,
    lazy: None,
    entry: entry!(),
};

const METHODS: &[Method] = &[
    Method {
        decl: "public static function sleep(float $seconds): bool",
        doc: "The same as Apus\\Coroutine::sleep().\n\
              @param float $seconds 0 or more seconds; resolution: 1 millisecond\n\
              @return bool false when the coroutine was cancelled meanwhile\n\
              @throws \\ValueError for a negative or infinite time\nWaits.\n@since 0.1.0",
        handler: Some(handler!(sleep)),
    },
    Method {
        decl: "public static function exec(string $command, bool $get_error_stream = false, int $max_output = 67108864): array|false",
        doc: "Runs a command with /bin/sh and waits for its end. Standard input is that of this process.\n\
              @param bool $get_error_stream whether what the command writes to standard error is part of the output\n\
              @param int $max_output bytes; a command that prints more is killed\n\
              @return array|false code (exit code), signal (that killed it, or 0), output (bytes); false when it could not be run, was\n\
              cancelled (then it and its children are killed), or printed too much (EFBIG, with a warning)\n\
              @throws \\ValueError for a null byte in the command, or $max_output below 1\nWaits.\n@since 0.1.0",
        handler: Some(handler!(exec::exec)),
    },
    Method {
        decl: "public static function gethostbyname(string $domain_name, int $type = 2, float $timeout = -1): string|false",
        doc: "The first address of a name, by the system's resolver (/etc/hosts, DNS). At most 64 lookups run at once in a process;\n\
              further ones wait for a place within their time-out. Nothing is cached.\n\
              @param int $type AF_INET (2) or AF_INET6 (10)\n\
              @param float $timeout seconds; negative for no limit\n\
              @return string|false false: Apus\\ERROR_DNSLOOKUP_RESOLVE_FAILED, Apus\\ERROR_DNSLOOKUP_RESOLVE_TIMEOUT or ECANCELED\n\
              @throws \\ValueError for an empty name, a null byte or another type\nWaits.\n@since 0.1.0",
        handler: Some(handler!(lookup::gethostbyname)),
    },
    Method {
        decl: "public static function dnsLookup(string $domain_name, float $timeout = 60, int $type = 2): string|false",
        doc: "The same as gethostbyname() with other defaults.\n\
              @param float $timeout seconds; negative for no limit\n@param int $type AF_INET (2) or AF_INET6 (10)\nWaits.\n@since 0.1.0",
        handler: Some(handler!(lookup::dns_lookup)),
    },
    Method {
        decl: "public static function getaddrinfo(string $domain, int $family = 2, int $socktype = 1, int $protocol = 6, ?string $service = null, float $timeout = -1): array|false",
        doc: "All addresses of a name, in the order of the system's resolver; limits as in gethostbyname().\n\
              @param int $family AF_INET (2) or AF_INET6 (10)\n@param int $socktype SOCK_STREAM (1), SOCK_DGRAM (2) or 0 for all\n\
              @param int $protocol IPPROTO_TCP (6), IPPROTO_UDP (17) or 0 for all\n\
              @param string|null $service a port or its name, which must exist\n\
              @param float $timeout seconds; negative for no limit\n\
              @return string[]|false addresses as text\n\
              @throws \\ValueError for an empty name, a null byte or another family\nWaits.\n@since 0.1.0",
        handler: Some(handler!(lookup::getaddrinfo)),
    },
    Method {
        decl: "public static function statvfs(string $path): array|false",
        doc: "What statvfs(3) tells of the file system of a path: bsize, frsize, blocks, bfree, bavail, files, ffree, favail, fsid, flag,\n\
              namemax.\n@throws \\ValueError for an empty path or a null byte\nWaits.\n@since 0.1.0",
        handler: Some(handler!(files::statvfs)),
    },
    Method {
        decl: "public static function readFile(string $filename, int $flag = 0): string|false",
        doc: "A whole file of at most 1 GiB (else EFBIG), read on another thread.\n\
              @param int $flag LOCK_EX (2) to wait for a shared lock of the file first; else 0\n\
              @throws \\ValueError for an empty name, a null byte or another flag\nWaits.\n@since 0.1.0",
        handler: Some(handler!(files::read_file)),
    },
    Method {
        decl: "public static function writeFile(string $filename, string $fileContent, int $flags = 0): int|false",
        doc: "Writes a file on another thread; it is made when it does not exist, emptied when it does. Cancelled, it may have been written,\n\
              in part or whole.\n\
              @param int $flags FILE_APPEND (8) to write at the end; LOCK_EX (2) to wait for the file's lock first, under which it is\n\
              emptied; or both\n\
              @return int|false bytes written\n\
              @throws \\ValueError for an empty name, a null byte or another flag\nWaits.\n@since 0.1.0",
        handler: Some(handler!(files::write_file)),
    },
    Method {
        decl: "public static function fread(mixed $handle, int $length = 0): string|false",
        doc: "fread() that waits in the coroutine: for a socket, pipe or terminal until there is something, for a file until it is in memory.\n\
              Wrappers without a descriptor (compressed files, streams in PHP) are read as fread() does.\n\
              @param resource $handle an open stream\n\
              @param int $length bytes at most; 0 for everything up to the end\n\
              @throws \\TypeError when $handle is no open stream\n@throws \\ValueError for a negative length\nWaits.\n@since 0.1.0",
        handler: Some(handler!(streams::fread)),
    },
    Method {
        decl: "public static function fwrite(mixed $handle, string $data, int $length = 0): int|false",
        doc: "fwrite() that waits in the coroutine until all is written.\n\
              @param resource $handle an open stream\n\
              @param int $length bytes of $data at most; 0 for all\n\
              @return int|false bytes written\n\
              @throws \\TypeError when $handle is no open stream\n@throws \\ValueError for a negative length\nWaits.\n@since 0.1.0",
        handler: Some(handler!(streams::fwrite)),
    },
    Method {
        decl: "public static function fgets(mixed $handle): string|false",
        doc: "fgets() that waits in the coroutine: a line with its line break, or what is left before the end. A longer line than 1 MiB comes\n\
              in pieces of that size.\n\
              @param resource $handle an open stream\n\
              @return string|false false at the end, too\n\
              @throws \\TypeError when $handle is no open stream\nWaits.\n@since 0.1.0",
        handler: Some(handler!(streams::fgets)),
    },
    Method {
        decl: "public static function wait(float $timeout = -1): array|false",
        doc: "Waits until any child process has ended, and reaps it. Children that exec() or waitPid() wait for are left to these.\n\
              @param float $timeout seconds; negative for no limit; 0 to look only\n\
              @return array|false pid, code (exit code), signal (that killed it, or 0); false also when there is no child (ECHILD)\n\
              Waits.\n@since 0.1.0",
        handler: Some(handler!(children::wait)),
    },
    Method {
        decl: "public static function waitPid(int $pid, float $timeout = -1): array|false",
        doc: "Waits until one child process has ended, and reaps it.\n\
              @param int $pid the child; -1 for any, as wait()\n\
              @param float $timeout seconds; negative for no limit; 0 to look only\n\
              @return array|false as wait(); false also when it is no child of this process, or was reaped (ECHILD)\n\
              @throws \\ValueError for another number\nWaits.\n@since 0.1.0",
        handler: Some(handler!(children::wait_pid)),
    },
    Method {
        decl: "public static function waitSignal(array|int $signals, float $timeout = -1): int|false",
        doc: "Waits for a signal. Its handler or default action is suspended meanwhile and comes back afterwards; a signal that comes while no\n\
              coroutine waits for it has its usual effect. One coroutine at a time can wait for a signal: further ones get false (EBUSY)\n\
              and a warning.\n\
              @param int|int[] $signals numbers, but for SIGCHLD (see wait()), SIGKILL, SIGSTOP and those of the program's own faults\n\
              @param float $timeout seconds; negative for no limit; 0 to look only\n\
              @return int|false the signal that came; of several that came together the lowest, the others are kept for the next call\n\
              @throws \\ValueError for numbers that cannot be waited for\nWaits.\n@since 0.1.0",
        handler: Some(handler!(signals::wait_signal)),
    },
    Method {
        decl: "public static function waitEvent(mixed $socket, int $events = 512, float $timeout = -1): int|false",
        doc: "Waits until a descriptor can be read or written without blocking. One that is at its end or broken is ready for everything:\n\
              using it tells. A stream of which PHP has read ahead is readable; a regular file always is ready.\n\
              @param resource|object|int $socket a stream, a Socket of ext/sockets, an object of Apus that has a descriptor, or its number\n\
              @param int $events Apus\\EVENT_READ, Apus\\EVENT_WRITE or both\n\
              @param float $timeout seconds; negative for no limit; 0 to look only\n\
              @return int|false what it is ready for; false also when it is or was closed (EBADF)\n\
              @throws \\TypeError for anything else\n@throws \\ValueError for other events\nWaits.\n@since 0.1.0",
        handler: Some(handler!(ready::wait_event)),
    },
];
