//! What coroutines coordinate with: channels, wait groups, barriers, locks, semaphores, scopes and deadlines.
//!
//! All of it but deadlines is lists of parked coroutines ([`line`]): a coroutine parks, another one hands over what it
//! waits for and has it entered. No future, no waker and no event loop is between them.

mod barrier;
mod channel;
mod deadline;
mod line;
mod lock;
mod scope;
mod select;
mod semaphore;
mod wait_group;

/// How operations on channels, and on queues between processes, end.
pub(crate) mod codes {
    pub(crate) use super::channel::{CANCELED, CLOSED, OK, TIMEOUT};
}

use apus_zend::class::{Class, Const, Constant, Method};
use apus_zend::handler;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[
    &channel::CHANNEL,
    &wait_group::WAIT_GROUP,
    &barrier::BARRIER,
    &lock::CLASS,
    &semaphore::SEMAPHORE,
    &scope::SCOPE,
];

/// The functions of this room.
pub(crate) static FUNCTIONS: &[Method] = &[
    Method {
        decl: "function Apus\\Coroutine\\select(array $cases, float $timeout = -1): ?array",
        doc: "Does whichever of several channel operations is possible first, and no other. Of those that are possible at once, each\n\
              is chosen as often.\n\
              @param array $cases a Channel to pop from it; [Channel, $value] to push the value; under keys of your choice\n\
              @param float $timeout seconds; negative for no limit; 0 does not wait: null when no case is possible now\n\
              @return array|null [key of the case, what pop() or push() would return]; null when the time was over, or the coroutine\n\
              was cancelled. For a closed channel the value is false, and the channel's $errCode is Apus\\CHANNEL_CLOSED\n\
              @throws \\ValueError for no case at all\n\
              @throws \\TypeError for a case that is no channel\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH when it would wait\n\
              @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
              Waits unless a case is possible, or $timeout is 0.\n@since 0.1.0",
        handler: Some(handler!(select::select)),
    },
    Method {
        decl: "function Apus\\Coroutine\\timeout(float $seconds, callable $callback): mixed",
        doc: "Calls $callback() in the running coroutine. When the time is over first, the function that it waits in throws a\n\
              TimeoutException; code that does not wait is not interrupted. Deadlines may be nested: each ends what waits inside it.\n\
              Coroutines that $callback starts are not ended: see Scope::run() for that.\n\
              @param float $seconds seconds; negative for no limit\n\
              @return mixed what $callback returned\n\
              @throws \\Apus\\Coroutine\\TimeoutException when the time was over and $callback does not catch it\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
              Waits as $callback does.\n@since 0.1.0",
        handler: Some(handler!(deadline::timeout)),
    },
];

const fn code(name: &'static str, value: i64, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(value), doc }
}

/// The constants of this room.
pub(crate) static CONSTANTS: &[Constant] = &[
    code(
        "Apus\\CHANNEL_OK",
        channel::OK,
        "Coroutine\\Channel::$errCode and Queue::$errCode: the last operation succeeded.",
    ),
    code(
        "Apus\\CHANNEL_TIMEOUT",
        channel::TIMEOUT,
        "Coroutine\\Channel::$errCode and Queue::$errCode: the time was over; tryPush(), tryPop(): full, or empty.",
    ),
    code(
        "Apus\\CHANNEL_CLOSED",
        channel::CLOSED,
        "Coroutine\\Channel::$errCode and Queue::$errCode: the channel is closed.",
    ),
    code(
        "Apus\\CHANNEL_CANCELED",
        channel::CANCELED,
        "Coroutine\\Channel::$errCode and Queue::$errCode: the coroutine was cancelled.",
    ),
];
