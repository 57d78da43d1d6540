//! The task worker's loop.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use apus_shm::tasks::Taken;
use tokio::sync::Semaphore;

use super::flags;
use super::running::run;
use super::task_client::TaskClient;
use crate::runtime::State;

/// Tasks that one worker runs at once with `task_enable_coroutine`, where `max_concurrency` sets no limit.
const MOST: usize = 1000;
/// After this time what else the worker does has its turn.
const LONG: Duration = Duration::from_millis(1);
/// How often a worker without a master looks whether others may still hand tasks over.
const ORPHAN_LOOK: Duration = Duration::from_millis(50);

/// Whether a task worker goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::server) enum Leaving {
    No,
    /// After what it runs; in a stopping server after all that waits.
    Drain,
    /// After what it runs, whatever waits: a fatal error has spoilt it.
    Spoilt,
    /// Now.
    AtOnce,
}

impl TaskClient {
    /// Ends the loop.
    pub(in crate::server) fn leave(&self, how: Leaving) {
        self.leaving.set(self.leaving.get().max(how));
        self.notifier.notify_one();
        self.left.notify_waiters();
    }

    /// Whether nothing more is to be taken, though there may be something.
    pub(super) fn is_done(&self) -> bool {
        match self.leaving.get() {
            Leaving::No => false,
            // Nobody comes after this worker when the whole server stops.
            Leaving::Drain => !(self.worker.scoreboard.is_stopping() || self.worker.is_orphan()),
            Leaving::Spoilt | Leaving::AtOnce => true,
        }
    }

    /// The number of this task worker, from 0.
    pub(super) fn number(&self) -> usize {
        usize::from(self.worker.id - self.worker.scoreboard.role_counts().workers)
    }

    /// Waits until there may be a task; whether this worker goes on.
    async fn idle(&self, after: Option<Duration>) -> bool {
        if self.leaving.get() == Leaving::Drain && !self.has_senders() {
            return false;
        }
        if self.awaited.get() && self.leaving.get() == Leaving::No && self.running.borrow().is_empty() {
            let waiting = self.task_queue.waiting();
            if self.tasks.comes(|| self.task_queue.waiting() != waiting) {
                return true;
            }
        }
        let after = if self.leaving.get() == Leaving::No { after } else { Some(ORPHAN_LOOK) };
        match after {
            Some(after) => drop(tokio::time::timeout(after, self.notifier.notified()).await),
            None => self.notifier.notified().await,
        }
        true
    }

    async fn told_to_stop(&self) {
        while self.leaving.get() != Leaving::AtOnce {
            self.left.notified().await;
        }
    }

    /// Whether an event worker of a server without a master still runs.
    fn has_senders(&self) -> bool {
        if !self.worker.is_orphan() {
            // The master tells task workers to leave when the others are gone.
            return false;
        }
        let workers = self.worker.scoreboard.worker_num();
        self.worker.scoreboard.live().filter(|slot| slot.id() < workers).any(|slot| {
            // SAFETY: signal 0 is sent to nobody; the call only asks whether the process is there.
            unsafe { libc::kill(slot.pid() as libc::pid_t, 0) == 0 }
        })
    }
}

/// Tasks that end without a wait, one after the other. The next is taken with the end of the last.
pub(super) struct Stretch {
    open: Cell<bool>,
    since: Instant,
}

impl Stretch {
    pub(super) fn goes_on(&self) -> bool {
        self.open.get() && self.since.elapsed() < LONG
    }
}

/// Takes tasks and runs them, until the worker leaves.
pub(in crate::server) async fn work(task_client: Rc<TaskClient>, state: Rc<State>) {
    let settings = task_client.core.settings.borrow().clone();
    let most = match (settings.task_enable_coroutine, settings.max_concurrency) {
        (false, _) => 1,
        (true, 0) => MOST,
        (true, most) => most as usize,
    };
    let places = Arc::new(Semaphore::new(most));
    let taking = async {
        // The semaphore is never closed.
        'places: while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            if task_client.is_done() {
                return;
            }
            let stretch = Rc::new(Stretch { open: Cell::new(true), since: Instant::now() });
            let mut taken = Some(task_client.task_queue.take(task_client.slot, task_client.number()));
            while let Some(Taken::Task(task)) = taken {
                task_client.awaited.set(task.flags & flags::AWAITED != 0);
                let mut running = Box::pin(run(Rc::clone(&task_client), Rc::clone(&state), task, Rc::clone(&stretch)));
                let Poll::Ready(next) = poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await else {
                    stretch.open.set(false);
                    drop(state.spawn(async move {
                        running.await;
                        drop(place);
                    }));
                    tokio::task::yield_now().await;
                    continue 'places;
                };
                taken = next;
            }
            match taken {
                Some(Taken::Nothing(after)) if !task_client.idle(after).await => return,
                Some(_) => {}
                // What was notified meanwhile, and the master, have their turn.
                None => tokio::task::yield_now().await,
            }
        }
    };
    tokio::select! {
        () = taking => {
            task_client.task_queue.leave(task_client.slot);
            // Those that still run.
            tokio::select! {
                _ = places.acquire_many(most as u32) => {}
                () = task_client.told_to_stop() => {}
            }
        }
        () = task_client.told_to_stop() => task_client.task_queue.leave(task_client.slot),
    }
}
