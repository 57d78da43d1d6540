//! Connections of a worker that its master kills. In code written for Swoole the master holds all connections, and
//! answers the request of a worker that it has just killed: Laravel's Octane does, when a request takes too long. So
//! here the master takes copies of that worker's sockets before the signal, and keeps them for a moment.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::runtime::State;

/// Gives copies of the sockets that a process of the server has, by the ids of their connections.
pub(crate) type Taker = Rc<dyn Fn(u32) -> Vec<(i64, OwnedFd)>>;

/// How long they are kept, and their clients wait, where nobody answers.
const KEEP: Duration = Duration::from_secs(2);
/// What was handed to a worker in the last moment is waited for so long.
const HANDED: Duration = Duration::from_millis(20);

thread_local! {
    /// Of the master.
    static TAKER: RefCell<Option<Taker>> = const { RefCell::new(None) };
    /// Since when, and the socket until somebody has taken it.
    static KEPT: RefCell<HashMap<i64, (Instant, Option<OwnedFd>)>> = RefCell::new(HashMap::new());
    /// When an answer was last handed to a worker.
    static LAST_HANDED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// This process is the master from now on, or is it no more.
pub(crate) fn set_taker(taker: Option<Taker>) {
    drop(TAKER.replace(taker));
    // A worker that is forked has nothing of its master's.
    drop(KEPT.take());
}

/// An answer was handed to the process that has its connection.
pub(crate) fn handed() {
    LAST_HANDED.set(Some(Instant::now()));
}

/// A process is about to be killed by this one.
pub(crate) fn before_kill(pid: u32) {
    let Some(taker) = TAKER.with_borrow(Clone::clone) else { return };
    if LAST_HANDED.get().is_some_and(|at| at.elapsed() < HANDED) {
        // Else the answer that the program gave before would die with the worker.
        std::thread::sleep(HANDED);
    }
    KEPT.with_borrow_mut(|kept| kept.retain(|_, (since, _)| since.elapsed() < KEEP));
    let taken = taker(pid);
    if taken.is_empty() {
        return;
    }
    let ids: Vec<i64> = taken.iter().map(|(id, _)| *id).collect();
    let now = Instant::now();
    KEPT.with_borrow_mut(|kept| kept.extend(taken.into_iter().map(|(id, fd)| (id, (now, Some(fd))))));
    if let Some(state) = State::existing() {
        drop(state.spawn(async move {
            tokio::time::sleep(KEEP).await;
            KEPT.with_borrow_mut(|kept| kept.retain(|id, _| !ids.contains(id)));
        }));
    }
}

/// Whether connections are kept.
pub(crate) fn is_keeping() -> bool {
    KEPT.with_borrow(|kept| !kept.is_empty())
}

/// What is left of a connection.
pub(crate) enum Left {
    /// It is not one whose worker was killed a moment ago.
    Nothing,
    /// Nobody else has it any more.
    Socket(OwnedFd),
    /// Somebody has taken it already.
    Taken,
}

/// The connection with that id, if its worker was killed a moment ago.
pub(crate) fn take(id: i64) -> Left {
    KEPT.with_borrow_mut(|kept| match kept.get_mut(&id) {
        None => Left::Nothing,
        Some((_, fd)) => fd.take().map_or(Left::Taken, Left::Socket),
    })
}
