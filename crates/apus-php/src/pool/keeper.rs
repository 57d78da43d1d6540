//! What a pool does on its own: it closes connections that were lost or stood idle for too long, and keeps some ready.
//!
//! A task beside the coroutines only looks; what has to be done runs PHP code, and so in a coroutine of its own.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use apus_zend::object::Object;
use apus_zend::{Array, Callable, Raise, Value, engine, sys};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::core::Core;
use crate::runtime::State;

/// How often connections are looked at whose holder has ended while somebody else still knows them.
pub(super) const ORPHAN_POLL: Duration = Duration::from_millis(100);
/// How long making idle connections pauses after a failure.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// Calls the keeper. A waker, too: the end of a coroutine that holds a connection wakes it.
#[derive(Default)]
pub(super) struct Notifier(Notify);

impl Notifier {
    pub(super) fn notify(&self) {
        self.0.notify_one();
    }
}

impl Wake for Notifier {
    fn wake(self: Arc<Self>) {
        self.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.notify();
    }
}

/// The state of a pool's keeper.
#[derive(Default)]
pub(super) struct Keeper {
    /// The pool's PHP object; it lives as long as the core's handle.
    object: Cell<Option<NonNull<sys::zend_object>>>,
    task: RefCell<Option<JoinHandle<()>>>,
    /// When it looks again by itself.
    wakes: Cell<Option<Instant>>,
    /// Whether its coroutine runs.
    pub(super) working: Cell<bool>,
    /// Whether it keeps the engine from finding a deadlock, until it has looked for lost connections once more.
    holds: Cell<bool>,
    /// Connections handed out and waits begun so far, and how many there were when it looked last.
    pub(super) activity: Cell<u64>,
    seen: Cell<u64>,
    /// Not before this are idle connections made again.
    pub(super) pause: Cell<Option<Instant>>,
}

impl Keeper {
    /// Starts it, unless it runs. Outside coroutines there is no loop that it could live on.
    pub(super) fn start(&self, core: &Rc<Core>, object: &Object) {
        if self.task.borrow().is_some() {
            return;
        }
        let Some(state) = State::existing().filter(|state| state.engine.current_id() != -1) else { return };
        self.object.set(Some(object.as_raw()));
        let task = state.spawn(keep(Rc::downgrade(core), Arc::clone(&core.notifier)));
        *self.task.borrow_mut() = Some(task);
    }

    /// Ends it for good.
    pub(super) fn stop(&self) {
        self.object.set(None);
        self.hold(false);
        if let Some(task) = self.task.borrow_mut().take() {
            task.abort();
        }
    }

    /// In a forked child, where the task is the parent's.
    pub(super) fn forget(&self) {
        std::mem::forget(self.task.borrow_mut().take());
        self.working.set(false);
        self.holds.set(false);
        self.wakes.set(None);
    }

    fn hold(&self, hold: bool) {
        let Some(state) = State::existing().filter(|_| self.holds.get() != hold) else { return };
        self.holds.set(hold);
        if hold { state.engine.hold() } else { state.engine.release() }
    }

    /// What may be found lost in a moment is no deadlock yet; when nothing has happened since, it is.
    fn watch(&self, watch: bool) {
        let activity = self.activity.get();
        self.hold(watch && self.seen.replace(activity) != activity);
    }

    /// Has it look at `due`, unless it does so before.
    pub(super) fn hurry(&self, due: Option<Instant>, notifier: &Notifier) {
        if due.is_some_and(|due| self.wakes.get().is_none_or(|wakes| due < wakes)) {
            notifier.notify();
        }
    }

    /// Starts the coroutine that does the work: `$pool->maintain()`.
    fn work(&self, state: &Rc<State>) -> Result<(), Raise> {
        let Some(raw) = self.object.get() else { return Ok(()) };
        // SAFETY: the object lives as long as its payload, which clears the pointer when it is freed.
        let object = unsafe { Object::share_raw(raw) };
        let mut pair = Array::new(2)?;
        pair.push(object.into())?;
        pair.push(Value::string(b"maintain")?)?;
        let callable = Callable::new(&mut pair.into()).map_err(|not| not.or(engine::throw_error))?;
        state.go(callable, Vec::new(), None).map(drop)
    }
}

async fn keep(core: Weak<Core>, notifier: Arc<Notifier>) {
    loop {
        let next = match core.upgrade() {
            Some(core) => core.tend(),
            None => return,
        };
        match next {
            // Whether it was rung for or the time is over: it looks again.
            Some(at) => drop(timeout_at(at, notifier.0.notified()).await),
            None => notifier.0.notified().await,
        }
    }
}

impl Core {
    /// Looks whether there is something to do, has it done, and says when to look again.
    fn tend(self: &Rc<Self>) -> Option<Instant> {
        let now = Instant::now();
        let watch = self.collect_lost();
        self.keeper.watch(watch);
        let paused = self.keeper.pause.get().filter(|until| *until > now);
        let lacking = self.lacks_idle();
        let expiry = self.next_expiry();
        let needed = self.has_lost() || expiry.is_some_and(|at| at <= now) || (lacking && paused.is_none());
        if needed && !self.keeper.working.get() {
            self.start_work();
        }
        let again = watch.then(|| now + ORPHAN_POLL);
        // What is due now is being worked at; the work notifies when it is done.
        let next = [again, expiry.filter(|at| *at > now), paused.filter(|_| lacking)].into_iter().flatten().min();
        self.keeper.wakes.set(next);
        next
    }

    fn start_work(&self) {
        let Some(state) = State::existing() else { return };
        if let Err(raise) = self.keeper.work(&state) {
            state.report(raise);
        }
        State::catch_stray();
    }
}
