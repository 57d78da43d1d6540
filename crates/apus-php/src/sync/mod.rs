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

use apus_zend::class::Class;
pub(crate) use deadline::set_time_limit;

use crate::codes;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[
    &channel::CHANNEL,
    &wait_group::WAIT_GROUP,
    &barrier::BARRIER,
    &lock::CLASS,
    &semaphore::SEMAPHORE,
    &scope::SCOPE,
];

apus_zend::stub!("sync/functions");
