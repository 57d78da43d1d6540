//! How a worker with coroutines gets its messages: each is handled in a coroutine of its own.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use apus_zend::object::Object;
use apus_zend::{Callable, Raise};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::core::{Ipc, PoolCore};
use super::{frames, worker};
use crate::descriptor;
use crate::handlers::Handlers;
use crate::process::core::{state_error, system_error};
use crate::process::message_queue::{LARGEST, explain};
use crate::process::sys::duplicate;
use crate::runtime::{Outcome, State};

/// Messages that a worker handles at once; further ones wait where they are.
pub(super) const AT_ONCE: usize = 1024;
/// Pauses between two looks at a System V queue: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// What the receivers need.
pub(super) struct Receiver {
    pub(super) core: Rc<PoolCore>,
    pub(super) object: Object,
    pub(super) callable: Rc<Callable>,
    pub(super) state: Rc<State>,
    pub(super) slots: std::sync::Arc<Semaphore>,
}

pub(super) fn queue_failed(code: i32) -> Raise {
    system_error(&format!("the pool's message queue: {}", explain(code, 0)), code)
}

fn watch(fd: OwnedFd) -> Result<AsyncFd<OwnedFd>, Raise> {
    descriptor::watch(fd, Interest::READABLE)
        .map_err(|error| system_error("a worker's messages", error.raw_os_error().unwrap_or(libc::EIO)))
}

/// Begins to receive; aborting the task ends it.
pub(super) fn start(
    core: &Rc<PoolCore>,
    object: &Object,
    state: &Rc<State>,
    callable: Rc<Callable>,
) -> Result<JoinHandle<()>, Raise> {
    let receiver = Receiver {
        core: Rc::clone(core),
        object: object.share(),
        callable,
        state: Rc::clone(state),
        slots: std::sync::Arc::new(Semaphore::new(AT_ONCE)),
    };
    let copy = |fd: BorrowedFd<'_>| duplicate(fd).map_err(|code| system_error("a worker's messages", code));
    Ok(match core.ipc {
        Ipc::None => return Err(state_error("a pool with Apus\\IPC_NONE has no messages")),
        Ipc::UnixSock => {
            let end = worker::own_end(core)?.ok_or_else(|| state_error("the worker's pipe is closed"))?;
            let fd = copy(end.as_fd())?;
            drop(end);
            state.spawn(async move { receiver.datagrams(fd).await })
        }
        Ipc::MsgQueue => state.spawn(async move { receiver.queue().await }),
        Ipc::Socket => {
            let listener = core.listener.borrow();
            let listener = listener.as_ref().ok_or_else(|| state_error("the pool does not listen"))?;
            let fd = copy(listener.fd.as_fd())?;
            state.spawn(async move { Rc::new(receiver).connections(fd).await })
        }
    })
}

impl Receiver {
    pub(super) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        std::sync::Arc::clone(&self.slots).acquire_owned().await.ok()
    }

    async fn datagrams(&self, fd: OwnedFd) {
        let Ok(watched) = watch(fd) else { return self.report() };
        loop {
            let Some(permit) = self.slot().await else { return };
            let bytes = loop {
                let Ok(mut ready) = watched.readable().await else { return };
                let Ok(Some(end)) = worker::own_end(&self.core) else { return self.report() };
                if end.is_awaited() {
                    // The program reads its pipe itself: what comes next is for that.
                    drop(end);
                    self.state.alarm.sleep(PAUSES.1).await;
                    continue;
                }
                match worker::take_from(&end) {
                    Ok(Ok(bytes)) => break bytes,
                    Ok(Err(libc::EAGAIN)) => ready.clear_ready(),
                    Ok(Err(_)) | Err(_) => return self.report(),
                }
            };
            if bytes.is_empty() {
                return;
            }
            self.handle(&bytes, permit);
        }
    }

    async fn queue(&self) {
        let Some(queue) = self.core.queue.borrow().clone() else { return };
        let mut pause = PAUSES.0;
        loop {
            let Some(permit) = self.slot().await else { return };
            let bytes = loop {
                match queue.try_take(0, LARGEST) {
                    Ok(bytes) => break bytes,
                    Err(libc::EAGAIN) => {
                        self.state.alarm.sleep(pause).await;
                        pause = (pause * 2).min(PAUSES.1);
                    }
                    Err(code) => {
                        let _ = queue_failed(code);
                        return self.report();
                    }
                }
            };
            pause = PAUSES.0;
            self.handle(&bytes, permit);
            // Others have their turn, however full the queue is.
            tokio::task::yield_now().await;
        }
    }

    async fn connections(self: Rc<Self>, fd: OwnedFd) {
        let Ok(watched) = watch(fd) else { return self.report() };
        loop {
            let Some(permit) = self.slot().await else { return };
            let stream = loop {
                let Ok(mut ready) = watched.readable().await else { return };
                match frames::accept(watched.get_ref()) {
                    Some(stream) => break stream,
                    None => ready.clear_ready(),
                }
            };
            let receiver = Rc::clone(&self);
            drop(self.state.spawn(async move { receiver.converse(stream, permit).await }));
        }
    }

    /// Has a message handled in a coroutine.
    fn handle(&self, bytes: &[u8], permit: OwnedSemaphorePermit) {
        let permit = std::cell::Cell::new(Some(permit));
        let state = Rc::downgrade(&self.state);
        let done = Rc::new(move |outcome| {
            drop(permit.take());
            if let (Outcome::Threw(thrown), Some(state)) = (outcome, state.upgrade()) {
                state.uncaught(thrown);
            }
        });
        let begun = worker::message_args(&self.object, bytes)
            .and_then(|args| Handlers::new(&self.state, true).launch(self.callable.share(), args, Some(done)));
        if let Err(raise) = begun {
            self.state.report(raise);
        }
    }

    /// An exception of this task's own is as one that a coroutine did not catch.
    pub(super) fn report(&self) {
        self.state.report(Raise::Thrown);
    }
}
