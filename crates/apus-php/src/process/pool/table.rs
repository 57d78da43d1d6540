//! `Apus\Process\Pool`, as PHP sees it.

use apus_zend::class::{Class, Method, Property};
use apus_zend::handler;

use super::class;
use crate::exception::entry;

/// `Apus\Process\Pool`.
pub(crate) static POOL: Class = Class {
    name: "Apus\\Process\\Pool",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A number of worker processes that are kept running: one that ends, or is killed, is started again (after a pause, when it keeps failing\n\
          within its first second). start() makes the calling process their master: SIGTERM and SIGINT end the pool, SIGUSR1 and SIGUSR2\n\
          replace the workers one after the other. A worker that is to end gets SIGTERM, and SIGKILL when it has not ended after\n\
          max_wait_time. With messages it ends when it has handled the message it has; with coroutines when these have ended; one that\n\
          only runs workerstart ends at once unless it handles SIGTERM itself.\n\
          Events: start(Pool) and shutdown(Pool) in the master; workerstart(Pool, int $workerId), whose return ends a worker without\n\
          messages, workerstop(Pool, int $workerId), workerexit(Pool, int $workerId), when a worker with coroutines is to end, and\n\
          message(Pool, string $data) in workers.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "public int $master_pid = -1", doc: "The master's process id, once start() was called." },
        Property { decl: "public int $workerPid = -1", doc: "In a worker: its process id." },
        Property { decl: "public int $workerId = -1", doc: "In a worker: its number, from 0." },
        Property { decl: "public ?array $workers = null", doc: "Not used: see getProcess()." },
        Property {
            decl: "public bool $workerRunning = true",
            doc: "In a worker with messages or coroutines: false when it is to end.",
        },
        Property { decl: "public bool $running = true", doc: "The same." },
        Property {
            decl: "public int $port = 0",
            doc: "The port that listen() has bound; the real one where 0 was asked for.",
        },
    ],
    methods: METHODS,
    native: true,
    lazy: None,
    entry: entry!(),
};

const METHODS: &[Method] = &[
    Method {
        decl: "public function __construct(int $worker_num, int $ipc_type = 0, int $msgqueue_key = 0, bool $enable_coroutine = false)",
        doc: "@param int $worker_num 1 to 4096\n\
              @param int $ipc_type where messages come from: Apus\\IPC_NONE: there are none; IPC_UNIXSOCK: from other workers, by sendMessage();\n\
              IPC_MSGQUEUE: from a System V message queue, for whichever worker is free; IPC_SOCKET: from clients of listen()\n\
              @param int $msgqueue_key the queue's key; 0 for one made of the script's path. The queue stays in the system\n\
              @param bool $enable_coroutine workers run their callbacks in coroutines, and handle up to 1,024 messages at once\n\
              @throws \\ValueError for other values\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::construct)),
    },
    Method {
        decl: "public function set(array $settings): void",
        doc: "@param array $settings enable_coroutine (bool); max_wait_time: seconds that a worker may take to end (3); max_package_size: bytes of\n\
              a message over a socket (8 MiB); enable_message_bus (bool): no effect, messages are whole in any case\n\
              @throws \\ValueError for other settings or values\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::set)),
    },
    Method {
        decl: "public function on(string $name, callable $callback): bool",
        doc: "Sets the callback of an event: start, shutdown, workerstart, workerstop, workerexit or message, in any case, with \"on\" before it or\n\
              not.\n@throws \\Apus\\Process\\Exception EVENT for another name, and for message without an $ipc_type; STATE after start()\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(class::on)),
    },
    Method {
        decl: "public function getProcess(int $work_id = -1): Apus\\Process|false",
        doc: "A worker's process: with its pid, and with IPC_UNIXSOCK the pipe to it.\n\
              @param int $work_id its number; -1 in a worker for itself\n\
              @throws \\ValueError for another number\n@throws \\Apus\\Process\\Exception STATE before start()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::get_process)),
    },
    Method {
        decl: "public function listen(string $host, int $port = 0, int $backlog = 2048): bool",
        doc: "Listens for clients, with IPC_SOCKET. A client sends four bytes with the length of its message in network order, the message, and gets\n\
              an answer of the same form when the callback called write(); one message a connection, which may take 10 seconds to come.\n\
              @param string $host an IP address or name, or \"unix:\" and a path\n\
              @param int $port 0 for any free one: see $port\n@param int $backlog connections that may wait, 1 to 65535\n\
              @throws \\ValueError for other values\n@throws \\Apus\\Process\\Exception BIND when the address cannot be had; STATE for other pools,\n\
              and after start()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::listen)),
    },
    Method {
        decl: "public function write(string $data): bool",
        doc: "Adds to the answer to the message that is being handled, with IPC_SOCKET; it is sent when the callback has ended.\n\
              @throws \\ValueError for an empty string\n@throws \\Apus\\Process\\Exception STATE elsewhere, and above 256 MiB\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::write)),
    },
    Method {
        decl: "public function sendMessage(string $data, int $dst_worker_id): bool",
        doc: "Sends a message to a worker, with IPC_UNIXSOCK: at most about 200 KiB with the system's defaults (net.core.wmem_max). A worker that is\n\
              started again finds what its predecessor had not taken.\n\
              @return bool false, with a warning, when it is too long (EMSGSIZE); false when the coroutine was cancelled\n\
              @throws \\ValueError for an empty string or another worker\n@throws \\Apus\\Process\\Exception STATE for other pools\n\
              Waits while that worker's pipe is full: in a coroutine others run, outside the process blocks.\n@since 0.1.0",
        handler: Some(handler!(class::send_message)),
    },
    Method {
        decl: "public function detach(): bool",
        doc: "Takes the calling worker out of the pool, which starts another in its place. The worker goes on until its callback has returned, and takes\n\
              no more messages; the master's end does not end it.\n@throws \\Apus\\Process\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::detach)),
    },
    Method {
        decl: "public function start(): void",
        doc: "Starts the workers, and returns in the master when the pool was stopped; the script of a worker ends here.\n\
              @throws \\Apus\\Coroutine\\Exception CANNOT_FORK inside a coroutine\n\
              @throws \\Apus\\Process\\Exception EVENT when workers have nothing to do; STATE when it was started before, or has not listened;\n\
              SYSTEM when the system refuses\nBlocks.\n@since 0.1.0",
        handler: Some(handler!(class::start)),
    },
    Method {
        decl: "public function stop(): void",
        doc: "Ends the calling worker, as SIGTERM does; another takes its place.\n@throws \\Apus\\Process\\Exception STATE outside workers\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(class::stop)),
    },
    Method {
        decl: "public function shutdown(): bool",
        doc: "Ends the pool: sends SIGTERM to the master.\n@throws \\Apus\\Process\\Exception STATE when it does not run\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(class::shutdown)),
    },
];
