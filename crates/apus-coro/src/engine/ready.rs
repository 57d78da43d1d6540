//! The queue of woken tasks, and the future that goes through it: one runtime task for all coroutines that the engine
//! drives itself. A wake is a push here, which costs a fraction of scheduling a runtime task of its own for each.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::task::coop::has_budget_remaining;
use tokio::task::yield_now;

use super::task::{Cancel, State};
use crate::{Engine, Foresight, Switch, Task, TaskId};

/// Tasks looked at before the runtime's other tasks, its timers and descriptors have their turn.
const TURN: usize = 128;
/// How often in a row a task goes on whose waits are ready at once, before others have their turn.
const STREAK: usize = 8;
/// Idle tickets kept.
const SPARE_TICKETS: usize = 4096;

/// What wakers push to, from any thread.
#[derive(Default)]
struct Queue(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    ids: VecDeque<TaskId>,
    /// Wakes the driver; there while it has nothing to do.
    driver: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, id: TaskId) {
        let mut inner = self.lock();
        inner.ids.push_back(id);
        let driver = inner.driver.take();
        drop(inner);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

/// The waker of one task; its id changes hands with the [`Ticket`].
struct Notifier {
    id: AtomicI64,
    /// The id is in the queue.
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Notifier {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.queue.push(self.id.load(Ordering::Relaxed));
        }
    }
}

/// What a task that the engine drives is woken by.
pub(crate) struct Ticket {
    notifier: Arc<Notifier>,
    waker: Waker,
}

impl Ticket {
    pub(crate) fn notify(&self) {
        self.notifier.wake_by_ref();
    }
}

/// The engine's part of it.
#[derive(Default)]
pub(crate) struct Ready {
    queue: Arc<Queue>,
    /// What the driver has taken from the queue and not looked at yet.
    batch: RefCell<VecDeque<TaskId>>,
    spare: RefCell<Vec<Ticket>>,
}

impl Ready {
    fn ticket(&self, id: TaskId) -> Ticket {
        if let Some(ticket) = self.spare.borrow_mut().pop() {
            ticket.notifier.id.store(id, Ordering::Relaxed);
            // Its old id may be in the queue still: no task has that any more.
            ticket.notifier.queued.store(false, Ordering::Release);
            return ticket;
        }
        let notifier = Arc::new(Notifier {
            id: AtomicI64::new(id),
            queued: AtomicBool::new(false),
            queue: Arc::clone(&self.queue),
        });
        Ticket { waker: Waker::from(Arc::clone(&notifier)), notifier }
    }

    /// Takes back the ticket of a task that has ended, unless a copy of its waker is about: that would wake another
    /// task.
    pub(crate) fn give_back(&self, ticket: Ticket) {
        let mut spare = self.spare.borrow_mut();
        // The notifier itself and its waker.
        if Arc::strong_count(&ticket.notifier) == 2 && spare.len() < SPARE_TICKETS {
            spare.push(ticket);
        }
    }

    fn next(&self) -> Option<TaskId> {
        let mut batch = self.batch.borrow_mut();
        if batch.is_empty() {
            std::mem::swap(&mut *batch, &mut self.queue.lock().ids);
        }
        batch.pop_front()
    }

    fn has_some(&self) -> bool {
        !self.batch.borrow().is_empty() || !self.queue.lock().ids.is_empty()
    }

    /// Ready when the queue is not empty.
    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut inner = self.queue.lock();
        if !inner.ids.is_empty() {
            return Poll::Ready(());
        }
        inner.driver = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<S: Switch> Engine<S> {
    /// Runs a new task at once, until its first wait; the engine's own driver takes it from there.
    pub fn launch(&self, task: &Rc<Task<S>>) {
        self.run(task);
        if task.state.get() != State::Ended {
            self.adopt(task);
        }
    }

    /// Has the engine's own driver ([`Engine::driver`]) run a task to its end, or begin with it.
    pub fn adopt(&self, task: &Rc<Task<S>>) {
        let ticket = self.ready.ticket(task.id());
        if task.state.get() == State::New || task.awaits_future() {
            ticket.notify();
        }
        task.set_ticket(ticket);
    }

    /// Whether tasks that were woken wait for their turn.
    pub fn has_ready(&self) -> bool {
        self.ready.has_some()
    }

    /// Drives all tasks that were adopted. Never resolves; to be spawned once, beside everything else.
    pub fn driver(self: &Rc<Self>) -> impl Future<Output = ()> + use<S> {
        let engine = Rc::clone(self);
        async move {
            loop {
                if engine.turn() {
                    // Not only to other tasks: timers and descriptors are looked at before this goes on.
                    yield_now().await;
                } else {
                    poll_fn(|cx| engine.ready.poll(cx)).await;
                }
            }
        }
    }

    /// Goes through the queue, but not for too long. `true`: there may be more.
    fn turn(&self) -> bool {
        let (mut next, mut first, mut second): (Option<Rc<Task<S>>>, _, _) = (None, None, None);
        for _ in 0..TURN {
            let Some(id) = self.ready.next() else { return false };
            let task = next.filter(|task| task.id() == id).or_else(|| self.find(id));
            // Of the three that come after it.
            self.foresee(first.as_ref(), Foresight::Stack);
            self.foresee(second.as_ref(), Foresight::Record);
            let third = self.ready.batch.borrow().get(2).and_then(|id| self.find(*id));
            self.foresee(third.as_ref(), Foresight::Task);
            (next, first, second) = (first, second, third);
            if let Some(task) = task {
                self.go_on(&task);
            }
            if !has_budget_remaining() {
                return true;
            }
        }
        true
    }

    #[inline]
    fn foresee(&self, task: Option<&Rc<Task<S>>>, step: Foresight) {
        if let Some(task) = task.filter(|task| task.state.get() == State::Waiting || step == Foresight::Task) {
            self.switch.foresee(task, step);
        }
    }

    /// Polls what a woken task waits for, and enters it when that is ready.
    fn go_on(&self, task: &Rc<Task<S>>) {
        task.with_ticket(|ticket| ticket.notifier.queued.store(false, Ordering::Release));
        for _ in 0..STREAK {
            match task.state.get() {
                // Entered by another one meanwhile; it is looked at again when that has left it.
                State::Running | State::Ended => return,
                State::New => self.run(task),
                State::Waiting => {
                    if task.cancel.get().is_none() && !task.unparked.get() && !Self::is_ready(task) {
                        return;
                    }
                    self.run(task);
                }
            }
        }
        task.wake();
    }

    fn is_ready(task: &Task<S>) -> bool {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            task.with_ticket(|ticket| task.poll_slot(&mut Context::from_waker(&ticket.waker))).unwrap_or(false)
        }));
        polled.unwrap_or_else(|_| {
            // A future that panicked is never polled again: its wait is broken off, and all others go on.
            task.cancel.set(Some(Cancel::Throw));
            true
        })
    }
}
