//! `Coroutine\System` and `Event`: the operating system seen from a coroutine.

pub(crate) mod children;
mod class;
pub(crate) mod event;
mod exec;
pub(crate) mod failure;
mod files;
mod functions;
mod host;
mod lookup;
mod ready;
mod signals;
mod streams;
mod watch;

use apus_zend::class::{Class, Const, Constant, Method};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&class::SYSTEM, &event::EVENT];

/// The functions of this room.
pub(crate) static FUNCTIONS: &[Method] = functions::ALL;

/// The constants of this room.
pub(crate) static CONSTANTS: &[Constant] = &[
    Constant { name: "Apus\\EVENT_READ", value: Const::Int(ready::READ), doc: "A descriptor can be read." },
    Constant { name: "Apus\\EVENT_WRITE", value: Const::Int(ready::WRITE), doc: "A descriptor can be written." },
    Constant {
        name: "Apus\\FILE_LOCK",
        value: Const::Int(libc::LOCK_EX as i64),
        doc: "Lock a file before it is read or written: the same as LOCK_EX.",
    },
    Constant {
        name: "Apus\\ERROR_DNSLOOKUP_RESOLVE_FAILED",
        value: Const::Int(failure::RESOLVE_FAILED as i64),
        doc: "A name has no address of the wanted family, or does not exist.",
    },
    Constant {
        name: "Apus\\ERROR_DNSLOOKUP_RESOLVE_TIMEOUT",
        value: Const::Int(failure::RESOLVE_TIMEOUT as i64),
        doc: "The name servers did not answer in time.",
    },
    Constant { name: "Apus\\STRERROR_SYSTEM", value: Const::Int(0), doc: "Numbers of errno(3)." },
    Constant { name: "Apus\\STRERROR_GAI", value: Const::Int(1), doc: "Numbers of getaddrinfo(3)." },
    Constant { name: "Apus\\STRERROR_DNS", value: Const::Int(2), doc: "Numbers of h_errno." },
    Constant { name: "Apus\\STRERROR_APUS", value: Const::Int(9), doc: "Numbers of Apus itself." },
];
