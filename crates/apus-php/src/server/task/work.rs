//! The task worker's loop.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use apus_shm::tasks::Taken;
use tokio::sync::Semaphore;

use super::running::run;
use super::task_client::TaskClient;
use crate::runtime::State;

/// Tasks that one worker runs at once with `task_enable_coroutine`, where `max_concurrency` sets no limit.
const MOST: usize = 1000;
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
    fn is_done(&self) -> bool {
        match self.leaving.get() {
            Leaving::No => false,
            // Nobody comes after this worker when the whole server stops.
            Leaving::Drain => !(self.worker.scoreboard.is_stopping() || self.worker.is_orphan()),
            Leaving::Spoilt | Leaving::AtOnce => true,
        }
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

/// Takes tasks and runs them, until the worker leaves.
pub(in crate::server) async fn work(task_client: Rc<TaskClient>, state: Rc<State>) {
    let settings = task_client.core.settings.borrow().clone();
    let most = match (settings.task_enable_coroutine, settings.max_concurrency) {
        (false, _) => 1,
        (true, 0) => MOST,
        (true, most) => most as usize,
    };
    let places = Arc::new(Semaphore::new(most));
    let worker = usize::from(task_client.worker.id - task_client.worker.scoreboard.role_counts().workers);
    let taking = async {
        // The semaphore is never closed.
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            if task_client.is_done() {
                return;
            }
            match task_client.task_queue.take(task_client.slot, worker) {
                Taken::Task(task) => {
                    let running = run(Rc::clone(&task_client), Rc::clone(&state), task);
                    drop(state.spawn(async move {
                        running.await;
                        drop(place);
                    }));
                    // What was notified meanwhile, and the master, have their turn.
                    tokio::task::yield_now().await;
                }
                Taken::Nothing(after) => {
                    if task_client.leaving.get() == Leaving::Drain && !task_client.has_senders() {
                        return;
                    }
                    let after = if task_client.leaving.get() == Leaving::No { after } else { Some(ORPHAN_LOOK) };
                    match after {
                        Some(after) => drop(tokio::time::timeout(after, task_client.notifier.notified()).await),
                        None => task_client.notifier.notified().await,
                    }
                }
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
