//! All tasks of one thread: making, entering, waiting, cancelling, and knowing when nothing can go on.

pub(crate) mod ready;
pub(crate) mod task;
mod tasks;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};

use self::ready::Ready;
use self::task::{Cancel, Current, Drive, State, Task, TaskId, Wait};
use self::tasks::Tasks;
use crate::Switch;

/// Why a wait did not happen, or was broken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitError {
    /// No coroutine runs: there is nothing to suspend.
    Outside,
    /// The running code may not be suspended (a tick function, or shutdown).
    Blocked,
    /// Somebody cancelled it.
    Cancelled(Cancel),
}

/// What the engine has come to when there is nothing to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// No task is left.
    Empty,
    /// Tasks are left, and each waits for another: none can ever go on.
    Stuck,
    /// Somebody asked to stop waiting ([`Engine::interrupt`]).
    Interrupted,
}

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Tasks alive now.
    pub live: usize,
    /// The most that were alive at once.
    pub peak: usize,
    /// Tasks made so far.
    pub created: u64,
    /// Times a task's stack was entered.
    pub switches: u64,
}

/// How many parked tasks are entered at once, from the code that unparks them, before the event loop has its turn: what
/// two tasks that wake each other for ever may keep from timers and sockets, and how deep such entries may be nested.
const AT_ONCE: u32 = 128;

/// The last engine's number.
static ENGINES: AtomicU64 = AtomicU64::new(0);

/// All tasks of one thread.
pub struct Engine<S: Switch> {
    number: u64,
    switch: S,
    pub(crate) ready: Ready,
    tasks: RefCell<Tasks<S>>,
    current: Current<S>,
    next_id: Cell<TaskId>,
    peak: Cell<usize>,
    switches: Cell<u64>,
    /// How many more tasks may be entered at once ([`AT_ONCE`]).
    at_once: Cell<u32>,
    /// Tasks that wait for other tasks.
    inside: Cell<usize>,
    /// What keeps the engine from being empty or stuck though no task shows it (timers, listeners).
    holds: Cell<usize>,
    idle_waker: RefCell<Option<Waker>>,
    stuck: Cell<bool>,
    interrupted: Cell<bool>,
    interrupt_waker: RefCell<Option<Waker>>,
}

impl<S: Switch> Engine<S> {
    /// An engine without tasks.
    pub fn new(switch: S) -> Rc<Self> {
        Rc::new(Self {
            number: ENGINES.fetch_add(1, Ordering::Relaxed),
            switch,
            ready: Ready::default(),
            tasks: RefCell::new(Tasks::new()),
            current: Current::none(),
            next_id: Cell::new(1),
            peak: Cell::new(0),
            switches: Cell::new(0),
            at_once: Cell::new(AT_ONCE),
            inside: Cell::new(0),
            holds: Cell::new(0),
            idle_waker: RefCell::new(None),
            stuck: Cell::new(false),
            interrupted: Cell::new(false),
            interrupt_waker: RefCell::new(None),
        })
    }

    /// The switch.
    pub fn switch(&self) -> &S {
        &self.switch
    }

    /// Makes a task that has not run. Whoever gets it MUST have it driven: by the engine ([`Engine::launch`],
    /// [`Engine::adopt`]) or by a future of the caller's ([`Engine::drive`], [`Engine::start`]).
    pub fn create(&self, data: S::Data) -> Rc<Task<S>> {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        let parent = self.current_id();
        let spare = self.tasks.borrow_mut().spare();
        // What the spare one carried is dropped here, outside the borrow.
        let task = match spare {
            Some(spare) => Task::again(spare, id, parent, data),
            None => Task::new(self.number, id, parent, data),
        };
        let mut tasks = self.tasks.borrow_mut();
        tasks.insert(Rc::clone(&task));
        self.peak.set(self.peak.get().max(tasks.len()));
        task
    }

    /// The future that runs a task to its end.
    pub fn drive(self: &Rc<Self>, task: &Rc<Task<S>>) -> Drive<S> {
        Drive::new(Rc::clone(self), Rc::clone(task))
    }

    /// Runs a new task at once, until its first wait; gives back what is to drive it from there, if it has not ended.
    #[must_use]
    pub fn start(self: &Rc<Self>, task: &Rc<Task<S>>) -> Option<Drive<S>> {
        self.run(task);
        (task.state.get() != State::Ended).then(|| self.drive(task))
    }

    /// Enters a task that is new or waits, until it waits again or ends.
    // A frame less to return through after a switch, which the processor cannot predict.
    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    pub(crate) fn run(&self, task: &Rc<Task<S>>) {
        if task.state.get() == State::Waiting {
            task.take_slot();
            if matches!(task.wait.get(), Wait::Inside(_)) {
                self.inside.set(self.inside.get() - 1);
            }
        }
        task.state.set(State::Running);
        task.switches.set(task.switches.get() + 1);
        self.switches.set(self.switches.get() + 1);
        let entered = self.current.enter(task);
        if entered.is_outermost() {
            self.at_once.set(AT_ONCE);
        }
        let waiting = self.switch.enter(task);
        drop(entered);
        if !waiting {
            self.end(task);
        }
    }

    #[inline(never)]
    fn end(&self, task: &Rc<Task<S>>) {
        task.state.set(State::Ended);
        let task = self.tasks.borrow_mut().remove(task.id()).unwrap_or_else(|| Rc::clone(task));
        if !task.joiners.borrow().is_empty() {
            for (_, joiner) in task.joiners.take() {
                joiner.wake();
            }
        }
        task.abandon_held();
        if let Some(ticket) = task.take_ticket() {
            self.ready.give_back(ticket);
        }
        self.switch.ended(&task);
        let mut tasks = self.tasks.borrow_mut();
        let empty = tasks.len() == 0;
        let one_too_many = tasks.keep(task);
        drop(tasks);
        drop(one_too_many);
        if empty {
            self.wake_idle();
        }
    }

    /// Suspends the running task until `future` is ready, and returns what it gave.
    pub fn wait<T>(&self, wait: Wait, future: impl Future<Output = T>) -> Result<T, WaitError> {
        let task = self.suspendable()?;
        let mut out = None;
        {
            let mut future = pin!(async { out = Some(future.await) });
            task.set_slot(future.as_mut());
            self.leave(task, wait);
        }
        self.outcome(task, out)
    }

    /// Suspends the running task until [`Engine::unpark`] or [`Engine::enter_now`].
    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    pub fn park(&self, wait: Wait) -> Result<(), WaitError> {
        let task = self.suspendable()?;
        task.unparked.set(false);
        self.leave(task, wait);
        let unparked = task.unparked.take();
        self.outcome(task, unparked.then_some(()))
    }

    /// The same, at most until `limit` is ready: then `false`.
    pub fn park_until(&self, wait: Wait, limit: impl Future<Output = ()>) -> Result<bool, WaitError> {
        let task = self.suspendable()?;
        task.unparked.set(false);
        let mut over = false;
        {
            let mut limit = pin!(async {
                limit.await;
                over = true;
            });
            task.set_slot(limit.as_mut());
            self.leave(task, wait);
        }
        let unparked = task.unparked.take();
        self.outcome(task, (unparked || over).then_some(unparked))
    }

    /// What came before a cancellation is not lost.
    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    fn outcome<T>(&self, task: &Task<S>, out: Option<T>) -> Result<T, WaitError> {
        match (task.cancel.take(), out) {
            (None, Some(out)) => Ok(out),
            (Some(cancel), Some(out)) => {
                if cancel.lasts() {
                    task.cancel.set(Some(cancel));
                }
                Ok(out)
            }
            (cancel, None) => Err(self.cancelled(task, cancel)),
        }
    }

    /// Suspends the running task until [`Engine::resume`].
    pub fn suspend(&self) -> Result<(), WaitError> {
        let task = self.suspendable()?;
        task.unparked.set(false);
        task.yielded.set(true);
        self.leave(task, Wait::Inside(YIELD));
        task.yielded.set(false);
        let resumed = task.unparked.take() || task.cancel.get().is_none();
        self.outcome(task, resumed.then_some(()))
    }

    #[inline]
    fn suspendable(&self) -> Result<&Task<S>, WaitError> {
        let task = self.current.borrow().ok_or(WaitError::Outside)?;
        if !self.switch.can_switch() {
            return Err(WaitError::Blocked);
        }
        task.cancelled.set(false);
        match task.cancel.take() {
            None => Ok(task),
            cancel => Err(self.cancelled(task, cancel)),
        }
    }

    #[expect(clippy::unused_self, reason = "belongs to the engine's waits")]
    #[cold]
    fn cancelled(&self, task: &Task<S>, cancel: Option<Cancel>) -> WaitError {
        task.cancelled.set(true);
        task.cancellations.set(task.cancellations.get() + 1);
        WaitError::Cancelled(cancel.unwrap_or(Cancel::Return))
    }

    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    fn leave(&self, task: &Task<S>, wait: Wait) {
        task.wait.set(wait);
        task.state.set(State::Waiting);
        if matches!(wait, Wait::Inside(_)) {
            self.inside.set(self.inside.get() + 1);
        }
        self.switch.leave(task);
    }

    /// Enters a task that suspended itself, at once; returns when it waits again or ends. Where the running code cannot
    /// be suspended the loop enters it. `false`: it is not suspended, or is on its way already.
    pub fn resume(&self, id: TaskId) -> bool {
        let Some(task) = self.find(id) else { return false };
        if !Self::has_yielded(&task) {
            return false;
        }
        let on_its_way = task.unparked.get();
        if !self.switch.can_switch() {
            self.unpark(&task);
            return !on_its_way;
        }
        self.run_inside(&task);
        if on_its_way {
            // That was for the earlier call; this one is for a task that has yielded again.
            if !Self::has_yielded(&task) {
                return false;
            }
            self.run_inside(&task);
        }
        true
    }

    fn has_yielded(task: &Task<S>) -> bool {
        task.state.get() == State::Waiting && task.yielded.get()
    }

    /// Enters a task from the code of another one, or from outside the loop.
    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    fn run_inside(&self, task: &Rc<Task<S>>) {
        self.run(task);
        // Its driver has to learn that it has ended, or poll what it waits for now, or break that off.
        if task.state.get() == State::Ended || task.awaits_future() || task.cancel.get().is_some() {
            task.wake();
        }
    }

    /// Has the loop enter a task that parked. To be called once a park.
    pub fn unpark(&self, task: &Rc<Task<S>>) {
        if task.engine == self.number && task.state.get() == State::Waiting {
            task.unparked.set(true);
            task.wake();
        }
    }

    /// Whether a parked task may be entered at once, by [`Engine::enter_now`]: not where the running code cannot be
    /// suspended, nor when the loop was kept waiting long enough.
    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    pub fn enters_now(&self) -> bool {
        self.at_once.get() > 0 && self.switch.can_switch()
    }

    /// Enters a task that parked, and returns when it waits again or ends. To be called once a park, where
    /// [`Engine::enters_now`] says that it may.
    #[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
    #[inline(always)]
    pub fn enter_now(&self, task: &Rc<Task<S>>) {
        if task.engine == self.number && task.state.get() == State::Waiting {
            self.at_once.set(self.at_once.get().saturating_sub(1));
            task.unparked.set(true);
            self.run_inside(task);
        }
    }

    /// Breaks off what a task waits for. `false`: there is no such task, or it does not wait.
    pub fn cancel(&self, id: TaskId, cancel: Cancel) -> bool {
        let Some(task) = self.find(id) else { return false };
        if task.state.get() != State::Waiting || task.cancel.get().is_some() {
            return false;
        }
        task.cancel.set(Some(cancel));
        task.wake();
        true
    }

    /// Takes back a cancellation that the task has not met yet.
    pub fn take_back(&self, task: &Task<S>, cancel: Cancel) {
        if task.cancel.get() == Some(cancel) {
            task.cancel.set(None);
        }
    }

    /// Enters every waiting task with a cancellation, oldest first, and ends those that have not run, until none is
    /// left or `rounds` are over. Returns how many are left: they wait again and again, and are leaked.
    pub fn drain(&self, cancel: Cancel, rounds: usize) -> usize {
        for _ in 0..rounds {
            for task in self.ids().into_iter().filter_map(|id| self.find(id)) {
                match task.state.get() {
                    State::Waiting => {
                        task.cancel.set(Some(cancel));
                        self.run(&task);
                    }
                    // It has not begun, and is not to.
                    State::New => self.end(&task),
                    State::Running | State::Ended => {}
                }
            }
            if self.live() == 0 {
                return 0;
            }
        }
        self.tasks.borrow().len()
    }

    /// The task that runs now.
    #[inline]
    pub fn current(&self) -> Option<Rc<Task<S>>> {
        self.current.share()
    }

    /// Whether that is this one.
    #[inline]
    pub fn is_current(&self, task: &Rc<Task<S>>) -> bool {
        self.current.borrow().is_some_and(|current| std::ptr::eq(current, &raw const **task))
    }

    /// The id of the task that runs now, or -1.
    #[inline]
    pub fn current_id(&self) -> TaskId {
        self.current.borrow().map_or(-1, Task::id)
    }

    /// A task that has not ended.
    #[inline]
    pub fn find(&self, id: TaskId) -> Option<Rc<Task<S>>> {
        self.tasks.borrow().get(id).cloned()
    }

    /// The ids of all tasks that have not ended, in order of their making.
    pub fn ids(&self) -> Vec<TaskId> {
        let mut ids: Vec<_> = self.tasks.borrow().ids().collect();
        ids.sort_unstable();
        ids
    }

    /// How many tasks have not ended.
    pub fn live(&self) -> usize {
        self.tasks.borrow().len()
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.live() == 0 && self.holds.get() == 0
    }

    /// Counters.
    pub fn stats(&self) -> EngineStats {
        EngineStats {
            live: self.live(),
            peak: self.peak.get(),
            created: (self.next_id.get() - 1) as u64,
            switches: self.switches.get(),
        }
    }

    /// Something besides tasks begins to keep the engine busy (a timer).
    pub fn hold(&self) {
        self.holds.set(self.holds.get() + 1);
    }

    /// The end of a [`Engine::hold`].
    pub fn release(&self) {
        self.holds.set(self.holds.get().saturating_sub(1));
        if self.holds.get() == 0 {
            self.wake_idle();
        }
    }

    /// Ends a [`Engine::until_idle`] that waits.
    pub fn interrupt(&self) {
        self.interrupted.set(true);
        self.wake_idle();
        if let Some(waker) = self.interrupt_waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Resolves at the next [`Engine::interrupt`].
    pub fn interrupted(self: &Rc<Self>) -> impl Future<Output = ()> + use<S> {
        let engine = Rc::clone(self);
        std::future::poll_fn(move |cx| {
            if engine.interrupted.replace(false) {
                return Poll::Ready(());
            }
            *engine.interrupt_waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    fn wake_idle(&self) {
        if let Some(waker) = self.idle_waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// To be called when the runtime is about to park, every ready task having run: notices that none can go on.
    pub fn about_to_park(&self) {
        let live = self.tasks.borrow().len();
        if live > 0 && live == self.inside.get() && self.holds.get() == 0 && !self.stuck.replace(true) {
            self.wake_idle();
        }
    }

    /// Resolves when there is nothing left to do.
    pub fn until_idle(self: &Rc<Self>) -> impl Future<Output = Idle> + use<S> {
        let engine = Rc::clone(self);
        std::future::poll_fn(move |cx| {
            if engine.interrupted.replace(false) {
                return Poll::Ready(Idle::Interrupted);
            }
            if engine.is_idle() {
                return Poll::Ready(Idle::Empty);
            }
            let live = engine.live();
            if engine.stuck.replace(false) && live == engine.inside.get() && engine.holds.get() == 0 {
                return Poll::Ready(Idle::Stuck);
            }
            *engine.idle_waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
    }
}

/// The name of the wait that [`Engine::resume`] ends.
const YIELD: &str = "yield";
