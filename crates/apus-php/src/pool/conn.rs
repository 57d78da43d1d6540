//! One connection of a pool, and who has it.

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use apus_coro::{AllEnded, Task, TaskId};
use apus_zend::value::View;
use apus_zend::{Raise, Value, sys};
use tokio::time::Instant;

use super::core::Slot;
use super::driver::Kind;
use super::keeper::Notifier;
use super::php::{self, Place};
use crate::runtime::{PhpSwitch, State};

/// A connection and its place in the pool. It is handed on often, and no larger than its address.
pub(super) struct Conn(Box<ConnState>);

/// What is kept of a connection.
pub(super) struct ConnState {
    // Closed before its place is free for another: fields are dropped in this order.
    value: Value,
    /// What is known of its class.
    pub(super) kind: Kind,
    /// References to it that are not its user's: the pool's own, and any that the code which made it kept.
    baseline: u32,
    /// How much of the jitter is taken off its times, 0 to 1.
    pub(super) luck: f64,
    /// When it is too old.
    pub(super) expires: Option<Instant>,
    /// Since when it is idle, while it is.
    pub(super) idle_since: Instant,
    /// When it has been idle for too long.
    pub(super) idle_until: Option<Instant>,
    /// Something went wrong while it was used: it is checked before it is handed out again.
    pub(super) suspect: bool,
    slot: Slot,
}

/// What tells a value from any other as long as it lives: its address. `None` for values without an identity.
pub(super) fn identity(value: &Value) -> Option<usize> {
    let zval = value.as_ptr();
    match value.view() {
        View::Object(object) => Some(object.as_raw().as_ptr() as usize),
        // SAFETY: the value is initialised; a resource's union member is read under its own tag.
        View::Other => unsafe {
            (u32::from((*zval).u1.v.type_) == sys::IS_RESOURCE).then_some((*zval).value.res as usize)
        },
        _ => None,
    }
}

/// How many references to an object or resource there are; 0 for other values.
fn references(value: &Value) -> u32 {
    // SAFETY: only values with an identity are asked, and these are counted.
    identity(value).map_or(0, |_| unsafe { (*(*value.as_ptr()).value.counted).gc.refcount })
}

impl Deref for Conn {
    type Target = ConnState;

    fn deref(&self) -> &ConnState {
        &self.0
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut ConnState {
        &mut self.0
    }
}

impl Conn {
    /// A connection that was just made. `value` is an object or a resource.
    pub(super) fn new(value: Value, kind: Kind, luck: f64, expires: Option<Instant>, slot: Slot) -> Self {
        let baseline = references(&value);
        let idle_since = Instant::now();
        let state =
            ConnState { value, kind, baseline, luck, expires, idle_since, idle_until: None, suspect: false, slot };
        Self(Box::new(state))
    }

    /// The connection itself.
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// What tells it from others.
    pub(super) fn identity(&self) -> usize {
        identity(&self.value).unwrap_or(0)
    }

    /// Whether only the pool knows it any more.
    fn is_lost(&self) -> bool {
        references(&self.value) <= self.baseline
    }

    /// Closes it and keeps its place. Its destructor may run PHP code, and throw.
    pub(super) fn close(self) -> Result<Slot, Raise> {
        let ConnState { value, kind, slot, .. } = *self.0;
        // Its methods keep it, too.
        drop(kind);
        drop(value);
        php::pending()?;
        Ok(slot)
    }

    /// Whether its time is over.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }
}

/// A connection that is in use.
pub(super) struct Lease {
    pub(super) conn: Conn,
    /// The coroutine that got it; -1 outside.
    pub(super) holder: TaskId,
    /// The same, and how many of its waits had been cancelled by then.
    task: Option<(Rc<Task<PhpSwitch>>, u64)>,
    /// The call that got it.
    place: Place,
    pub(super) since: Instant,
    /// Notifies when the holder ends. Kept for its drop.
    _ended: Option<AllEnded<PhpSwitch>>,
}

impl Lease {
    /// Notes who has `conn` from now on.
    pub(super) fn new(conn: Conn, since: Instant, notifier: &Arc<Notifier>) -> Self {
        let state = State::existing();
        let task = state.as_ref().and_then(|state| state.engine.current());
        let task = task.map(|task| (Rc::clone(&task), task.cancellations()));
        let holder = task.as_ref().map_or(-1, |(task, _)| task.id());
        let ended = state.filter(|_| holder != -1).map(|state| {
            let mut ended = state.engine.all_ended(&[holder]);
            let waker = Waker::from(Arc::clone(notifier));
            // It runs now, so this only leaves the waker behind.
            let _ = Pin::new(&mut ended).poll(&mut Context::from_waker(&waker));
            ended
        });
        Self { conn, holder, task, place: Place::here(), since, _ended: ended }
    }

    /// Whether a wait of its holder was cancelled, or the last one of who gives it back: perhaps in the middle of a
    /// query.
    pub(super) fn was_interrupted(&self) -> bool {
        let current = State::existing().and_then(|state| state.engine.current());
        let by_other = current.is_some_and(|task| task.id() != self.holder && task.was_cancelled());
        by_other || self.task.as_ref().is_some_and(|(task, before)| task.cancellations() != *before)
    }

    /// Whether the coroutine that got it has ended.
    pub(super) fn holder_has_ended(&self) -> bool {
        self.holder != -1 && State::existing().is_none_or(|state| state.engine.find(self.holder).is_none())
    }

    /// Whether nobody can give it back any more.
    pub(super) fn is_lost(&self) -> bool {
        self.conn.is_lost()
    }

    /// `coroutine 7 (ended), taken at FILE:LINE 1.5 s ago`
    pub(super) fn describe(&self) -> String {
        let who = match (self.holder, self.holder_has_ended()) {
            (-1, _) => "code outside coroutines".to_owned(),
            (id, true) => format!("coroutine {id} (ended)"),
            (id, false) => format!("coroutine {id}"),
        };
        format!("{who}, taken at {} {} ago", self.place, seconds(self.since.elapsed()))
    }
}

/// `1.500 s`
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}
