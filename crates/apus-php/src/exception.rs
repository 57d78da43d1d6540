//! Every exception that Apus throws: its class and its codes, in one table.

use std::sync::OnceLock;

use apus_zend::Raise;
use apus_zend::class::{Class, Const, Constant};
use apus_zend::engine::{self, ClassEntry};

macro_rules! entry {
    () => {{
        static ENTRY: std::sync::OnceLock<apus_zend::engine::ClassEntry> = std::sync::OnceLock::new();
        &ENTRY
    }};
}
pub(crate) use entry;

const fn plain(
    name: &'static str,
    extends: &'static str,
    doc: &'static str,
    constants: &'static [Constant],
    entry: &'static OnceLock<ClassEntry>,
) -> Class {
    Class {
        name,
        modifiers: "",
        extends,
        implements: &[],
        doc,
        constants,
        properties: &[],
        methods: &[],
        native: false,
        lazy: None,
        entry,
    }
}

/// The base of all.
pub(crate) static EXCEPTION: Class = plain(
    "Apus\\Exception",
    "RuntimeException",
    "Base of every exception that Apus throws.\n@since 0.1.0",
    &[],
    entry!(),
);

/// Misuse of coroutines.
pub(crate) static COROUTINE: Class = plain(
    "Apus\\Coroutine\\Exception",
    "Apus\\Exception",
    "A coroutine function was used where it cannot work; the code tells why.\n@since 0.1.0",
    &[
        Constant {
            name: "NOT_IN_COROUTINE",
            value: Const::Int(1),
            doc: "The function waits, and no coroutine runs: wrap the call in Apus\\Coroutine\\run() or Apus\\go().",
        },
        Constant {
            name: "CANNOT_SWITCH",
            value: Const::Int(2),
            doc: "The running code cannot be suspended: a handler of pcntl_signal(), a tick function, the cycle collector, a destructor before PHP 8.4, shutdown.",
        },
        Constant { name: "TOO_MANY", value: Const::Int(3), doc: "The limit `max_coroutine` is reached." },
        Constant {
            name: "NO_MEMORY",
            value: Const::Int(4),
            doc: "The system gave no memory for a coroutine's C stack.",
        },
        Constant {
            name: "NESTED_RUN",
            value: Const::Int(5),
            doc: "run() or Scheduler::start() was called inside a coroutine.",
        },
        Constant {
            name: "CANNOT_FORK",
            value: Const::Int(6),
            doc: "A process was to be forked inside a coroutine, or in a callback of an event loop.",
        },
        Constant {
            name: "NOT_HELD",
            value: Const::Int(7),
            doc: "A lock or permit was given back by a coroutine that does not hold it.",
        },
        Constant { name: "STATE", value: Const::Int(8), doc: "The object is not in the state that the call needs." },
    ],
    entry!(),
);

/// Thrown into a cancelled coroutine.
pub(crate) static CANCELED: Class = plain(
    "Apus\\Coroutine\\CanceledException",
    "Apus\\Coroutine\\Exception",
    "Thrown by the function in which a coroutine waits when it is cancelled, so that `finally` blocks run.\n@since 0.1.0",
    &[],
    entry!(),
);

/// All coroutines wait for each other.
pub(crate) static DEADLOCK: Class = plain(
    "Apus\\Coroutine\\DeadlockException",
    "Apus\\Coroutine\\Exception",
    "Every coroutine waits for another one, so none can ever go on. The message holds the stack of each.\n@since 0.1.0",
    &[],
    entry!(),
);

/// A limit of time passed.
pub(crate) static TIMEOUT: Class = plain(
    "Apus\\Coroutine\\TimeoutException",
    "Apus\\Coroutine\\Exception",
    "What a coroutine waited for did not come within the time that was given.\n@since 0.1.0",
    &[],
    entry!(),
);

/// Two coroutines at one connection.
pub(crate) static CONFLICT: Class = plain(
    "Apus\\Coroutine\\ConflictException",
    "Apus\\Coroutine\\Exception",
    "Two coroutines used one connection at the same time; the message names both and what each does. Nothing was sent or\n\
     read for the second one. Give each coroutine a connection of its own, best from a pool.\n@since 0.1.0",
    &[],
    entry!(),
);

/// Failures of sockets and clients.
pub(crate) static CLIENT: Class = plain(
    "Apus\\Client\\Exception",
    "Apus\\Exception",
    "A socket or client was used wrongly, or could not be made; failures of the network are return values and errCode.\n@since 0.1.0",
    &[
        Constant {
            name: "OPTION",
            value: Const::Int(301),
            doc: "A setting is unknown, unsupported, or out of its limits.",
        },
        Constant {
            name: "ARGUMENT",
            value: Const::Int(302),
            doc: "An address, header or method holds bytes that its grammar forbids.",
        },
        Constant { name: "STATE", value: Const::Int(303), doc: "The client is not in the state that the call needs." },
        Constant {
            name: "REQUEST",
            value: Const::Int(304),
            doc: "A request that a function made got no answer; the message tells why.",
        },
    ],
    entry!(),
);

/// Failures of pools.
pub(crate) static POOL: Class = plain(
    "Apus\\ConnectionPool\\Exception",
    "Apus\\Exception",
    "A pool could not give a connection; the code tells why.\n@since 0.1.0",
    &[
        Constant {
            name: "EXHAUSTED",
            value: Const::Int(401),
            doc: "Every connection stayed in use for the whole time-out.",
        },
        Constant { name: "CLOSED", value: Const::Int(402), doc: "The pool was closed." },
        Constant {
            name: "CONNECT",
            value: Const::Int(403),
            doc: "A connection could not be made; the previous exception tells why.",
        },
        Constant {
            name: "FOREIGN",
            value: Const::Int(404),
            doc: "The object given back did not come from this pool, or was given back already.",
        },
        Constant {
            name: "OPTION",
            value: Const::Int(405),
            doc: "A setting of the pool is unknown or out of its limits.",
        },
    ],
    entry!(),
);

/// Failures of servers.
pub(crate) static SERVER: Class = plain(
    "Apus\\Server\\Exception",
    "Apus\\Exception",
    "A server could not do what was asked; the code tells why.\n@since 0.1.0",
    &[
        Constant {
            name: "BIND",
            value: Const::Int(101),
            doc: "An address could not be bound; the message names it and the reason.",
        },
        Constant {
            name: "OPTION",
            value: Const::Int(102),
            doc: "A setting is unknown, unsupported, or out of its limits.",
        },
        Constant { name: "EVENT", value: Const::Int(103), doc: "on() was given an event that does not exist." },
        Constant { name: "STATE", value: Const::Int(104), doc: "The server is not in the state that the call needs." },
        Constant {
            name: "PROCESS",
            value: Const::Int(105),
            doc: "A process could not be made, or a signal not be sent.",
        },
    ],
    entry!(),
);

/// Failures of answering a request.
pub(crate) static HTTP: Class = plain(
    "Apus\\Http\\Exception",
    "Apus\\Exception",
    "A request could not be read or a response not be sent; the code tells why.\n@since 0.1.0",
    &[
        Constant { name: "ENDED", value: Const::Int(201), doc: "The response is complete already." },
        Constant { name: "HEADERS_SENT", value: Const::Int(202), doc: "The head has left; it cannot be changed." },
        Constant {
            name: "INVALID_HEADER",
            value: Const::Int(203),
            doc: "A header name or value holds bytes that RFC 9110 section 5 forbids.",
        },
        Constant {
            name: "INVALID_COOKIE",
            value: Const::Int(204),
            doc: "A cookie name, value or attribute holds bytes that RFC 6265 forbids.",
        },
        Constant { name: "INVALID_STATUS", value: Const::Int(205), doc: "A status code must lie between 200 and 999." },
        Constant { name: "FILE", value: Const::Int(206), doc: "A file could not be opened or read." },
        Constant { name: "BODY", value: Const::Int(207), doc: "The request body broke off or broke the protocol." },
        Constant { name: "DETACHED", value: Const::Int(208), doc: "The response was detached from this object." },
        Constant { name: "NOT_UPGRADED", value: Const::Int(209), doc: "The connection is no WebSocket yet." },
    ],
    entry!(),
);

/// Failures of tables.
pub(crate) static TABLE: Class = plain(
    "Apus\\TableException",
    "Apus\\Exception",
    "A table refused a value, or cannot do what was asked; the code tells why. Nothing was changed.\n@since 0.1.0",
    &[
        Constant {
            name: "FULL",
            value: Const::Int(501),
            doc: "As many rows as the table was made for are there, or as many different texts as a dictionary column takes.",
        },
        Constant {
            name: "TOO_LONG",
            value: Const::Int(502),
            doc: "A text is longer than its column takes. Texts are not cut.",
        },
        Constant {
            name: "KEY",
            value: Const::Int(503),
            doc: "A key is empty, longer than 1,024 bytes, or no id from 0 to the greatest one.",
        },
        Constant {
            name: "COLUMN",
            value: Const::Int(504),
            doc: "There is no column or index of that name, or its description is wrong.",
        },
        Constant { name: "RANGE", value: Const::Int(505), doc: "An integer does not fit into its column." },
        Constant { name: "TYPE", value: Const::Int(506), doc: "A value cannot be held by its column without a loss." },
        Constant {
            name: "STATE",
            value: Const::Int(507),
            doc: "The table is not in the state that the call needs: create() was not called, or was, or indexes are deferred.",
        },
        Constant {
            name: "NO_MEMORY",
            value: Const::Int(508),
            doc: "The system gave no memory or no address space, or the room reserved for texts or indexes is used up.",
        },
        Constant {
            name: "FILE",
            value: Const::Int(509),
            doc: "A snapshot, JSON or CSV could not be read or written; the message names the file and the place in it.",
        },
    ],
    entry!(),
);

/// Failures of packing.
pub(crate) static PACK: Class = plain(
    "Apus\\PackException",
    "Apus\\Exception",
    "A value could not be packed, or bytes are no packed value; the code tells why.\n@since 0.1.0",
    &[
        Constant {
            name: "UNSUPPORTED",
            value: Const::Int(551),
            doc: "A value means something in its own process alone: a resource.",
        },
        Constant {
            name: "DEPTH",
            value: Const::Int(552),
            doc: "Arrays and objects lie more than 1024 deep inside each other.",
        },
        Constant { name: "TOO_LARGE", value: Const::Int(553), doc: "The packed value would be longer than 1 GiB." },
        Constant { name: "MALFORMED", value: Const::Int(554), doc: "The bytes were not made by Apus\\pack()." },
        Constant {
            name: "MISMATCH",
            value: Const::Int(555),
            doc: "An enumeration, its case or a class is not what it was when the value was packed, or is not allowed.",
        },
    ],
    entry!(),
);

/// Failures of queues.
pub(crate) static QUEUE: Class = plain(
    "Apus\\QueueException",
    "Apus\\Exception",
    "A queue between processes refused a value; the code tells why. Nothing was added.\n@since 0.1.0",
    &[Constant {
        name: "TOO_LONG",
        value: Const::Int(571),
        doc: "A packed value is longer than the queue takes: make the queue with a greater $longest.",
    }],
    entry!(),
);

/// Failures of locks.
pub(crate) static LOCK: Class = plain(
    "Apus\\LockException",
    "Apus\\Exception",
    "A lock cannot be made or had, whoever holds it; the code tells why.\n@since 0.1.0",
    &[Constant {
        name: "FILE",
        value: Const::Int(581),
        doc: "The file of a FILELOCK cannot be opened or locked; the message tells why.",
    }],
    entry!(),
);

/// Failures of caches and limiters.
pub(crate) static CACHE: Class = plain(
    "Apus\\CacheException",
    "Apus\\Exception",
    "A cache cannot do what was asked; the code tells why.\n@since 0.1.0",
    &[
        Constant { name: "TOO_LARGE", value: Const::Int(561), doc: "A value or key is longer than the cache takes." },
        Constant {
            name: "TYPE",
            value: Const::Int(562),
            doc: "increment() or decrement() met a value that is no integer, or would leave the range.",
        },
        Constant {
            name: "NESTED",
            value: Const::Int(563),
            doc: "remember() was called for a key by the function that makes its value: it would wait for itself.",
        },
        Constant {
            name: "WAIT",
            value: Const::Int(564),
            doc: "Another process made the value for longer than remember() was to wait.",
        },
        Constant { name: "NO_MEMORY", value: Const::Int(565), doc: "The system gave no address space." },
    ],
    entry!(),
);

/// Failures of tasks.
pub(crate) static TASK: Class = plain(
    "Apus\\Server\\TaskException",
    "Apus\\Exception",
    "A task or computation could not be handed over, or came to nothing; the code tells why.\n@since 0.1.0",
    &[
        Constant { name: "FAILED", value: Const::Int(801), doc: "What was computed threw; the message says what." },
        Constant { name: "WORKER_DIED", value: Const::Int(802), doc: "The task worker that computed it died." },
        Constant { name: "TIMEOUT", value: Const::Int(803), doc: "The time that was given is over." },
        Constant { name: "CANCELLED", value: Const::Int(804), doc: "The computation was called off." },
        Constant { name: "FULL", value: Const::Int(805), doc: "As much waits as task_queue_size allows." },
        Constant {
            name: "TOO_LARGE",
            value: Const::Int(806),
            doc: "The data or result is larger than task_queue_size allows.",
        },
        Constant {
            name: "CALLABLE",
            value: Const::Int(807),
            doc: "The callable cannot be sent to another process, or is not found there; the message says why.",
        },
    ],
    entry!(),
);

/// Failures of processes that a program manages itself.
pub(crate) static PROCESS: Class = plain(
    "Apus\\Process\\Exception",
    "Apus\\Exception",
    "A process, a pool of processes or a message queue could not do what was asked; the code tells why.\n@since 0.1.0",
    &[
        Constant {
            name: "STATE",
            value: Const::Int(701),
            doc: "The process or pool is not in the state that the call needs, or this is not the process that may call it.",
        },
        Constant {
            name: "SYSTEM",
            value: Const::Int(702),
            doc: "The system made no process, pipe or queue; the message tells why.",
        },
        Constant {
            name: "EVENT",
            value: Const::Int(703),
            doc: "on() was given an event that does not exist, or not here.",
        },
        Constant { name: "BIND", value: Const::Int(704), doc: "An address could not be bound; the message names it." },
    ],
    entry!(),
);

/// All, parents first.
pub(crate) static ALL: &[&Class] = &[
    &EXCEPTION, &COROUTINE, &CANCELED, &DEADLOCK, &TIMEOUT, &CONFLICT, &CLIENT, &POOL, &SERVER, &HTTP, &TABLE, &PACK,
    &QUEUE, &LOCK, &CACHE, &PROCESS, &TASK,
];

/// Throws `class` with the code that its constant `code` has.
pub(crate) fn throw(class: &'static Class, code: &str, message: &str) -> Raise {
    let code = class.constants.iter().find(|c| c.name == code).map_or(0, |c| match c.value {
        Const::Int(value) => value,
        Const::Str(_) => 0,
    });
    engine::throw(class.get(), code, message)
}
