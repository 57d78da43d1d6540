//! `Apus\Process`, as PHP sees it.

use apus_zend::class::{Class, Const, Constant, Method, Property};
use apus_zend::handler;

use super::{class, statics};
use crate::exception::entry;

macro_rules! method {
    ($body:path, $decl:literal, $doc:expr) => {
        Method { decl: $decl, doc: $doc, handler: Some(handler!($body)) }
    };
}

/// `Apus\Process`.
pub(crate) static PROCESS: Class = Class {
    name: "Apus\\Process",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A child process that runs a callable of this script, and a pipe to it. The child is a copy of the process that starts it: it\n\
          has its objects, connections to the outside must not be used by both. The child ends when the callable has returned and\n\
          its coroutines and timers have ended, with the exit code 0; exit() gives another; an exception that nobody catches is reported\n\
          as at the end of a script, with 255. Shutdown functions and destructors run in it as at the end of a script.\n\
          Processes are made outside coroutines: before run(), or by Server::addProcess().\n@since 0.1.0",
    constants: &[
        constant("IPC_NOWAIT", class::IPC_NOWAIT, "For useQueue(): push() and pop() do not wait."),
        constant("PIPE_MASTER", class::PIPE_MASTER, "For close(): the end of the process that started the other."),
        constant("PIPE_WORKER", class::PIPE_WORKER, "For close(): the end of the child."),
        constant("PIPE_READ", class::PIPE_READ, "For close(): this process reads no more."),
        constant(
            "PIPE_WRITE",
            class::PIPE_WRITE,
            "For close(): this process writes no more: the other one reads the end.",
        ),
        constant("PIPE_TYPE_NONE", class::TYPE_NONE, "No pipe."),
        constant("PIPE_TYPE_STREAM", class::TYPE_STREAM, "A pipe of bytes."),
        constant("PIPE_TYPE_DGRAM", class::TYPE_DGRAM, "A pipe of messages: each write() is one read()."),
    ],
    properties: &[
        Property {
            decl: "public ?int $pipe = null",
            doc: "The descriptor of this process's end of the pipe; null without one.",
        },
        Property { decl: "public ?int $msgQueueId = null", doc: "The number of the message queue, after useQueue()." },
        Property { decl: "public ?int $msgQueueKey = null", doc: "Its key." },
        Property {
            decl: "public ?int $pid = null",
            doc: "The child's process id, once started; in the child its own.",
        },
        Property {
            decl: "public ?int $id = null",
            doc: "The number of this object, from 1; in a pool or server the number of its worker or process.",
        },
    ],
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

const fn constant(name: &'static str, value: i64, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(value), doc }
}

const METHODS: &[Method] = &[
    method!(
        class::construct,
        "public function __construct(callable $callback, bool $redirect_stdin_and_stdout = false, int $pipe_type = 2, bool $enable_coroutine = false)",
        "The pipe exists from here on: what is written before the start is read by the child.\n\
         @param callable $callback what the child runs, as $callback(Apus\\Process $process)\n\
         @param bool $redirect_stdin_and_stdout the child's standard input, output and error are the pipe, which then carries bytes\n\
         @param int $pipe_type SOCK_DGRAM (2): messages; SOCK_STREAM (1): bytes; 0: no pipe\n\
         @param bool $enable_coroutine the child runs $callback in a coroutine\n\
         @throws \\ValueError for another type\n\
         @throws \\Apus\\Process\\Exception SYSTEM when the system makes no pipe\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::set,
        "public function set(array $settings): void",
        "@param array $settings enable_coroutine: as the constructor's\n@throws \\ValueError for another setting\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::start,
        "public function start(): int|false",
        "Makes the child. It may be started again when it has ended: a new child has the same pipe. Take the end of every child with\n\
         wait(): it stays in the system's table until then.\n\
         @return int|false the child's process id; false, with a warning, when it runs already, or the system makes no process\n\
         @throws \\Apus\\Coroutine\\Exception CANNOT_FORK inside a coroutine\n\
         @throws \\Apus\\Process\\Exception STATE in the child itself, and for processes of servers and pools\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::write,
        "public function write(string $data): int|false",
        "Writes to the other side. A message is at most about 200 KiB long with the system's defaults (net.core.wmem_max).\n\
         @return int|false bytes written: all, but when setTimeout()'s time was over; false when none were: the child has ended (EPIPE),\n\
         the message is too long (EMSGSIZE), both with a warning, the time was over (ETIMEDOUT), or there is no room (EAGAIN) and\n\
         setBlocking(false) was called. Apus\\last_error() tells\n\
         @throws \\ValueError for an empty string\n\
         Waits while the other side does not read: in a coroutine others run, outside the process blocks.\n@since 0.1.0"
    ),
    method!(
        class::read,
        "public function read(int $size = 8192): string|false",
        "Reads what the other side has written.\n\
         @param int $size bytes at most; what a message has more is lost, with a warning\n\
         @return string|false '' when the other side has ended or closed its end, and nothing is left; false when setTimeout()'s time was over\n\
         (ETIMEDOUT), or nothing is there (EAGAIN) and setBlocking(false) was called. Apus\\last_error() tells\n\
         @throws \\ValueError for another size\n@throws \\Apus\\Process\\Exception STATE before start()\n\
         Waits: in a coroutine others run, outside the process blocks.\n@since 0.1.0"
    ),
    method!(
        class::close,
        "public function close(int $which = 0): bool",
        "Closes the pipe in this process.\n\
         @param int $which 0: all; PIPE_MASTER, PIPE_WORKER: one end; PIPE_READ, PIPE_WRITE: one direction of this process's end\n\
         @return bool false, with a warning, when that is closed already\n@throws \\ValueError for another number\n\
         Does not wait.\n@since 0.1.0"
    ),
    method!(
        class::set_timeout,
        "public function setTimeout(float $seconds): bool",
        "How long read() and write() wait.\n@param float $seconds 0 or negative for no limit, the default\n\
         @return bool false without a pipe\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::set_blocking,
        "public function setBlocking(bool $blocking): bool",
        "Whether read() and write() wait, which they do by default.\n@return bool false, with a warning, without a pipe\n\
         Does not wait.\n@since 0.1.0"
    ),
    method!(
        class::export_socket,
        "public function exportSocket(): Apus\\Coroutine\\Socket|false",
        "This process's end of the pipe as a socket for coroutines; always the same object. With SOCK_DGRAM each send() is one recv().\n\
         @return Socket|false false, with a warning, without a pipe\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::exit,
        "public function exit(int $exit_code = 0): void",
        "Ends the child, as exit() does; for the child itself.\n@param int $exit_code 0 to 255\n\
         @throws \\ValueError for another code\n@throws \\Apus\\Process\\Exception STATE in another process\n@since 0.1.0"
    ),
    method!(
        class::exec,
        "public function exec(string $exec_file, array $args): bool",
        "Replaces the child's program; for the child itself. The new program has the pipe's end open, under its number $pipe.\n\
         @param string $exec_file its path\n@param string[] $args its arguments, without its name\n\
         @return bool false, with a warning, when it cannot be run; else this does not return\n\
         @throws \\ValueError for a null byte\n@throws \\Apus\\Process\\Exception STATE in another process\n@since 0.1.0"
    ),
    method!(
        class::name,
        "public function name(string $process_name): bool",
        "Sets what ps(1) shows of the calling process, where the command line of PHP runs.\n\
         @return bool false when it cannot be set\n@throws \\ValueError for an empty name or a null byte\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::use_queue,
        "public function useQueue(int $key = 0, int $mode = 2, int $capacity = -1): bool",
        "Opens a System V message queue for push() and pop(), before start(). It stays in the system until freeQueue().\n\
         @param int $key what all its users call it; 0 for a key made of the script's path\n\
         @param int $mode 2: whoever comes first takes a message; 1: this process's messages only; with IPC_NOWAIT: push() and pop() do not wait\n\
         @param int $capacity bytes that it takes; -1 for the system's default\n\
         @throws \\ValueError for other values\n@throws \\Apus\\Process\\Exception SYSTEM when the system refuses\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::stat_queue,
        "public function statQueue(): array|false",
        "queue_num (messages), queue_bytes (their bytes), queue_limit (bytes that it takes).\n\
         @return array|false false, with a warning, without a queue\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::free_queue,
        "public function freeQueue(): bool",
        "Removes the queue from the system with all that is in it.\n@return bool false, with a warning, without a queue\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::push,
        "public function push(string $data): bool",
        "Puts a message into the queue: at most kernel.msgmax bytes (usually 8,192).\n\
         @return bool false when it is full and does not wait, was removed, or the message is too long, the latter two with a warning\n\
         @throws \\ValueError for an empty string\n\
         Waits while it is full: in a coroutine others run, outside the process blocks.\n@since 0.1.0"
    ),
    method!(
        class::pop,
        "public function pop(int $size = 65536): string|false",
        "Takes a message from the queue.\n@param int $size bytes: a longer message stays in the queue, with a warning\n\
         @return string|false false when it is empty and does not wait, or, with a warning, was removed\n\
         @throws \\ValueError for another size\n\
         Waits: in a coroutine others run, outside the process blocks.\n@since 0.1.0"
    ),
    method!(
        class::set_priority,
        "public function setPriority(int $which, int $priority, ?int $who = null): bool",
        "@param int $which PRIO_PROCESS (0), PRIO_PGRP (1), PRIO_USER (2)\n\
         @param int $priority -20 (favoured) to 19; favouring more than before needs rights\n\
         @param int|null $who the process, group or user; null for the started child\n\
         @return bool false, with a warning, when it is refused\n@throws \\ValueError for other values\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        class::get_priority,
        "public function getPriority(int $which, ?int $who = null): int|false",
        "The nice value: see setPriority().\n@return int|false false, with a warning, when there is no such process\n\
         @throws \\ValueError for other values\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        statics::wait,
        "public static function wait(bool $blocking = true): array|false",
        "Takes the end of a child of this process. In a coroutine, children that System::exec() or waitPid() wait for are left to these.\n\
         @param bool $blocking false: only looks\n\
         @return array|false pid, code (exit code), signal (that killed it, or 0); false when there is no child (ECHILD), or none that has ended\n\
         Waits: in a coroutine others run, outside the process blocks.\n@since 0.1.0"
    ),
    method!(
        statics::kill,
        "public static function kill(int $pid, int $signal_no = 15): bool",
        "Sends a signal; 0 only asks whether there is such a process.\n\
         @return bool false when there is none, or it may not be signalled; with a warning, but for signal 0\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        statics::signal,
        "public static function signal(int $signal_no, ?callable $callback = null): bool",
        "Has $callback(int $signal) called whenever a signal comes. While coroutines run (in run(), in a server's worker, at the end of a script\n\
         that made some) it is called in a coroutine; else between two steps of the running code, as the handlers of ext/pcntl. PHP\n\
         functions that block are not broken off, but for sleeps; wait(), read(), write() and pop() of this class go on waiting after the\n\
         handler. A handler does not keep a script alive. Children that are made here have none.\n\
         @param callable|null $callback null takes the handler away: the signal does what it did before\n\
         @return bool false, with a warning, when there is no handler to take away\n\
         @throws \\ValueError for SIGKILL, SIGSTOP, the signals of a program's own faults, and numbers that are none\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        statics::alarm,
        "public static function alarm(int $usec, int $type = 0): bool",
        "Has the system send a signal again and again: SIGALRM, SIGVTALRM or SIGPROF.\n\
         @param int $usec microseconds between two; negative or 0 ends it\n\
         @param int $type 0: real time; 1: time that the process runs; 2: that time, with what the system does for it\n\
         @throws \\ValueError for another type\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        statics::daemon,
        "public static function daemon(bool $nochdir = true, bool $noclose = true, array $pipes = []): bool",
        "Goes on in the background: the script continues in a child in a session of its own, the calling process ends with 0. Timers and\n\
         coroutines that were waiting are lost: call it first.\n\
         @param bool $nochdir false: the working directory becomes /\n\
         @param bool $noclose false: standard input, output and error become /dev/null\n\
         @param array $pipes streams or descriptors that take their places\n\
         @return bool false, with a warning, when the system makes no process\n\
         @throws \\Apus\\Coroutine\\Exception CANNOT_FORK inside a coroutine\n@throws \\TypeError for other elements\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        statics::set_affinity,
        "public static function setAffinity(array $cpu_settings): bool",
        "Which processors may run this process.\n@param int[] $cpu_settings their numbers, from 0\n\
         @return bool false, with a warning, when the machine has none of them\n@throws \\ValueError for other values\nDoes not wait.\n@since 0.1.0"
    ),
    method!(
        statics::get_affinity,
        "public static function getAffinity(): array",
        "The numbers of the processors that may run this process.\nDoes not wait.\n@since 0.1.0"
    ),
];
