<?php

namespace Apus;

/**
 * A child process that runs a callable of this script, and a pipe to it. The child is a copy of the process that starts
 * it: it has its objects, but connections to the outside must not be used by both. The child ends when the callable has
 * returned and its coroutines and timers have ended, with the exit code 0; exit() sets another; an uncaught exception
 * is reported as at the end of a script, with 255. Shutdown functions and destructors run in it as at the end of a
 * script. Create processes outside coroutines: before run(), or by Server::addProcess().
 * @rust slots
 */
class Process
{
    /**
     * For useQueue(): push() and pop() do not wait.
     * @rust IPC_NOWAIT
     */
    public const IPC_NOWAIT = 256;

    /**
     * For close(): the end of the process that started the other.
     * @rust PIPE_MASTER
     */
    public const PIPE_MASTER = 1;

    /**
     * For close(): the end of the child.
     * @rust PIPE_WORKER
     */
    public const PIPE_WORKER = 2;

    /**
     * For close(): this process reads no more.
     * @rust PIPE_READ
     */
    public const PIPE_READ = 3;

    /**
     * For close(): this process writes no more: the other one reads end of file.
     * @rust PIPE_WRITE
     */
    public const PIPE_WRITE = 4;

    /**
     * No pipe.
     * @rust TYPE_NONE
     */
    public const PIPE_TYPE_NONE = 0;

    /**
     * A pipe of bytes.
     * @rust TYPE_STREAM
     */
    public const PIPE_TYPE_STREAM = 1;

    /**
     * A pipe of messages: each write() is one read().
     * @rust TYPE_DGRAM
     */
    public const PIPE_TYPE_DGRAM = 2;

    /** The descriptor of this process's end of the pipe; null without one. */
    public ?int $pipe = null;

    /** The number of the message queue, after useQueue(). */
    public ?int $msgQueueId = null;

    /** Its key. */
    public ?int $msgQueueKey = null;

    /** The child's process id, once started; in the child its own. */
    public ?int $pid = null;

    /** The number of this object, from 1; in a pool or server the number of its worker or process. */
    public ?int $id = null;

    // @rust typed

    /**
     * The pipe exists from now on: the child reads what is written before it is started.
     * @param callable $callback what the child runs, as $callback(Apus\Process $process)
     * @param bool $redirect_stdin_and_stdout the child's standard input, output and error are the pipe, which then
     * carries bytes
     * @param int $pipe_type SOCK_DGRAM (2): messages; SOCK_STREAM (1): bytes; 0: no pipe
     * @param bool $enable_coroutine the child runs $callback in a coroutine
     * @throws \ValueError for another type
     * @throws \Apus\Process\Exception SYSTEM when the system cannot create a pipe
     * Does not wait.
     */
    public function __construct(callable $callback, bool $redirect_stdin_and_stdout = false, int $pipe_type = 2, bool $enable_coroutine = false) {}

    /**
     * @param array $settings enable_coroutine: as the constructor's
     * @throws \ValueError for another setting
     * Does not wait.
     */
    public function set(array $settings): void {}

    /**
     * Starts the child. It may be started again when it has ended: a new child has the same pipe. Reap every child with
     * wait(): it stays in the system's process table until then.
     * @return int|false the child's process id; false, with a warning, when it is already running, or the system cannot
     * create a process
     * @throws \Apus\Coroutine\Exception CANNOT_FORK inside a coroutine
     * @throws \Apus\Process\Exception STATE in the child itself, and for processes of servers and pools
     * Does not wait.
     */
    public function start(): int|false {}

    /**
     * Writes to the other side. A message is at most about 200 KiB long with the system's defaults (net.core.wmem_max).
     * @return int|false bytes written: all, unless setTimeout()'s time-out expired; false if none were: the child has
     * ended (EPIPE), the message is too long (EMSGSIZE), both with a warning, the time-out expired (ETIMEDOUT), or
     * there is no room (EAGAIN) and setBlocking(false) was called. Apus\last_error() tells
     * @throws \ValueError for an empty string
     * Waits while the other side does not read: in a coroutine others run; outside, the process blocks.
     */
    public function write(string $data): int|false {}

    /**
     * Reads what the other side has written.
     * @param int $size bytes at most; the rest of a longer message is lost, with a warning
     * @return string|false '' when the other side has ended or closed its end, and nothing is left; false when
     * setTimeout()'s time was over (ETIMEDOUT), or nothing is there (EAGAIN) and setBlocking(false) was called.
     * Apus\last_error() tells
     * @throws \ValueError for another size
     * @throws \Apus\Process\Exception STATE before start()
     * Waits: in a coroutine others run; outside, the process blocks.
     */
    public function read(int $size = 8192): string|false {}

    /**
     * Closes the pipe in this process.
     * @param int $which 0: all; PIPE_MASTER, PIPE_WORKER: one end; PIPE_READ, PIPE_WRITE: one direction of this
     * process's end
     * @return bool false, with a warning, when it is already closed
     * @throws \ValueError for another number
     * Does not wait.
     */
    public function close(int $which = 0): bool {}

    /**
     * How long read() and write() wait.
     * @param float $seconds 0 or negative for no limit, the default
     * @return bool false without a pipe
     * Does not wait.
     */
    public function setTimeout(float $seconds): bool {}

    /**
     * Whether read() and write() wait, which they do by default.
     * @return bool false, with a warning, without a pipe
     * Does not wait.
     */
    public function setBlocking(bool $blocking): bool {}

    /**
     * This process's end of the pipe as a socket for coroutines; always the same object. With SOCK_DGRAM each send() is
     * one recv().
     * @return Socket|false false, with a warning, without a pipe
     * Does not wait.
     */
    public function exportSocket(): \Apus\Coroutine\Socket|false {}

    /**
     * Ends the child, as exit() does; for the child itself.
     * @param int $exit_code 0 to 255
     * @throws \ValueError for another code
     * @throws \Apus\Process\Exception STATE in another process
     */
    public function exit(int $exit_code = 0): void {}

    /**
     * Replaces the child's program; for the child itself. The new program has this end of the pipe open as descriptor
     * $pipe.
     * @param string $exec_file its path
     * @param string[] $args its arguments, without its name
     * @return bool false, with a warning, when it cannot be run; otherwise this does not return
     * @throws \ValueError for a null byte
     * @throws \Apus\Process\Exception STATE in another process
     */
    public function exec(string $exec_file, array $args): bool {}

    /**
     * Sets what ps(1) shows of the calling process, where the command line of PHP runs.
     * @return bool false when it cannot be set
     * @throws \ValueError for an empty name or a null byte
     * Does not wait.
     */
    public function name(string $process_name): bool {}

    /**
     * Opens a System V message queue for push() and pop(), before start(). It stays in the system until freeQueue().
     * @param int $key the key that all its users share; 0 for a key made from the script's path
     * @param int $mode 2: the first to ask takes a message; 1: only this process's messages; with IPC_NOWAIT: push()
     * and pop() do not wait
     * @param int $capacity bytes that it holds at most; -1 for the system's default
     * @throws \ValueError for other values
     * @throws \Apus\Process\Exception SYSTEM when the system refuses
     * Does not wait.
     */
    public function useQueue(int $key = 0, int $mode = 2, int $capacity = -1): bool {}

    /**
     * queue_num (messages), queue_bytes (their bytes), queue_limit (bytes that it holds at most).
     * @return array|false false, with a warning, without a queue
     * Does not wait.
     */
    public function statQueue(): array|false {}

    /**
     * Removes the queue from the system with all that is in it.
     * @return bool false, with a warning, without a queue
     * Does not wait.
     */
    public function freeQueue(): bool {}

    /**
     * Puts a message into the queue: at most kernel.msgmax bytes (usually 8,192).
     * @return bool false when it is full and does not wait, was removed, or the message is too long, the latter two
     * with a warning
     * @throws \ValueError for an empty string
     * Waits while it is full: in a coroutine others run; outside, the process blocks.
     */
    public function push(string $data): bool {}

    /**
     * Takes a message from the queue.
     * @param int $size bytes: a longer message stays in the queue, with a warning
     * @return string|false false when it is empty and does not wait, or, with a warning, was removed
     * @throws \ValueError for another size
     * Waits: in a coroutine others run; outside, the process blocks.
     */
    public function pop(int $size = 65536): string|false {}

    /**
     * @param int $which PRIO_PROCESS (0), PRIO_PGRP (1), PRIO_USER (2)
     * @param int $priority -20 (favoured) to 19; a lower value than before needs privileges
     * @param int|null $who the process, group or user; null for the started child
     * @return bool false, with a warning, when it is refused
     * @throws \ValueError for other values
     * Does not wait.
     */
    public function setPriority(int $which, int $priority, ?int $who = null): bool {}

    /**
     * The nice value: see setPriority().
     * @return int|false false, with a warning, when there is no such process
     * @throws \ValueError for other values
     * Does not wait.
     */
    public function getPriority(int $which, ?int $who = null): int|false {}

    // @rust module statics

    /**
     * Reaps a child of this process. In a coroutine, children that System::exec() or waitPid() wait for are left to
     * them.
     * @param bool $blocking false: does not wait
     * @return array|false pid, code (exit code), signal (that killed it, or 0); false when there is no child (ECHILD),
     * or none that has ended
     * Waits: in a coroutine others run; outside, the process blocks.
     */
    public static function wait(bool $blocking = true): array|false {}

    /**
     * Sends a signal; 0 only checks whether there is such a process.
     * @return bool false when there is none, or it may not be signalled; with a warning, except for signal 0
     * Does not wait.
     */
    public static function kill(int $pid, int $signal_no = 15): bool {}

    /**
     * Sets $callback(int $signal), which is called whenever a signal arrives. While coroutines run (in run(), in a
     * server's worker, at the end of a script that made some) it is called in a coroutine; else between two steps of
     * the running code, as the handlers of ext/pcntl. PHP functions that block are not interrupted, except sleeps;
     * wait(), read(), write() and pop() of this class go on waiting after the handler. A handler does not keep a script
     * alive. Children created by this process have none.
     * @param callable|null $callback null removes the handler: the signal does what it did before
     * @return bool false, with a warning, when there is no handler to remove
     * @throws \ValueError for SIGKILL, SIGSTOP, the signals of a program's own faults, and invalid numbers
     * Does not wait.
     */
    public static function signal(int $signal_no, ?callable $callback = null): bool {}

    /**
     * Makes the system send a signal repeatedly: SIGALRM, SIGVTALRM or SIGPROF.
     * @param int $usec microseconds between two; negative or 0 ends it
     * @param int $type 0: real time; 1: CPU time of the process in user mode; 2: in user and system mode
     * @throws \ValueError for another type
     * Does not wait.
     */
    public static function alarm(int $usec, int $type = 0): bool {}

    /**
     * Moves to the background: the script continues in a child with a session of its own, and the calling process ends
     * with 0. Timers and coroutines that were waiting are lost: call it first.
     * @param bool $nochdir false: the working directory becomes /
     * @param bool $noclose false: standard input, output and error become /dev/null
     * @param array $pipes streams or descriptors that replace them
     * @return bool false, with a warning, when the system cannot create a process
     * @throws \Apus\Coroutine\Exception CANNOT_FORK inside a coroutine
     * @throws \TypeError for other elements
     * Does not wait.
     */
    public static function daemon(bool $nochdir = true, bool $noclose = true, array $pipes = []): bool {}

    /**
     * Which processors may run this process.
     * @param int[] $cpu_settings their numbers, from 0
     * @return bool false, with a warning, when the machine has none of them
     * @throws \ValueError for other values
     * Does not wait.
     */
    public static function setAffinity(array $cpu_settings): bool {}

    /**
     * The numbers of the processors that may run this process.
     * Does not wait.
     */
    public static function getAffinity(): array {}
}
