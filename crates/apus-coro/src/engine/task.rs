//! One coroutine, and the future that drives it.
//!
//! # Why the pointer to the awaited future is sound
//! 1. The future is pinned in the frame of [`crate::Engine::wait`] on the task's own stack.
//! 2. While the task is [`State::Waiting`] that frame is frozen: nothing runs on the stack, so the future neither moves
//!    nor is dropped.
//! 3. The pointer is set just before the stack is left, and cleared (by [`Task::take_slot`]) before it is entered
//!    again: whoever enters takes it first, so a future is never polled while its own stack runs.
//! 4. A stack that is never entered again is leaked by its owner with everything on it; the task then never polls.
//!
//! # Why the pointer to the running task is sound
//! [`Current`] counts nothing, because a switch would pay for it twice. Who enters a task has it, and keeps it until
//! the task leaves: [`Entered`] borrows it. So what runs on a task's stack may borrow the task from there: while the
//! stack is left nothing of it runs, and who enters it again has the task, too.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::ready::Ticket;
use crate::{Engine, Switch};

/// A coroutine's id: counted from 1, never used twice in a process.
pub type TaskId = i64;

/// What a task does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It was made and has not run.
    New,
    /// Its code runs, or has entered another task that runs.
    Running,
    /// It left its stack and waits.
    Waiting,
    /// It is over.
    Ended,
}

/// What a task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Something that the outside world brings: a time, a descriptor, a thread. The text names it.
    Outside(&'static str),
    /// Something that only another task can do. When every task waits so, none can ever go on.
    Inside(&'static str),
}

impl Wait {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Outside(name) | Self::Inside(name) => name,
        }
    }
}

/// How a wait is broken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancel {
    /// The waiting function returns its failure value.
    Return,
    /// The waiting function throws.
    Throw,
    /// The coroutine is to be unwound quietly, for good: its process ends.
    Unwind,
    /// The waiting function throws: the scope with this number is over. Kept for the next wait when this one ends well.
    Scope(u64),
    /// The waiting function throws that the time is over that the deadline with this number gave. Kept as `Scope` is.
    Deadline(u64),
}

impl Cancel {
    /// Whether it is about a stretch of code, not about one wait.
    pub(crate) fn lasts(self) -> bool {
        matches!(self, Self::Scope(_) | Self::Deadline(_))
    }
}

/// Something that a task can hold, and that is told when the task ends without having given it back.
pub trait Held {
    /// The task with this id has ended.
    fn abandoned(self: Rc<Self>, by: TaskId);
}

/// How whoever drives a task learns that it is to be looked at.
enum Waking {
    /// Nobody drives it.
    None,
    /// A [`Drive`] that is polled elsewhere.
    Drive(Waker),
    /// The engine itself.
    Engine(Ticket),
}

type Slot = NonNull<dyn Future<Output = ()>>;

/// One coroutine.
pub struct Task<S: Switch> {
    id: TaskId,
    parent: TaskId,
    pub(crate) state: Cell<State>,
    pub(crate) wait: Cell<Wait>,
    slot: Cell<Option<Slot>>,
    /// Somebody ended its park ([`crate::Engine::unpark`]).
    pub(crate) unparked: Cell<bool>,
    pub(crate) cancel: Cell<Option<Cancel>>,
    pub(crate) cancelled: Cell<bool>,
    /// It waits for [`crate::Engine::resume`].
    pub(crate) yielded: Cell<bool>,
    /// Waits that were cancelled so far.
    pub(crate) cancellations: Cell<u64>,
    waking: RefCell<Waking>,
    /// Who waits for its end, each under a key of its own.
    pub(crate) joiners: RefCell<Vec<(u64, Waker)>>,
    pub(crate) next_joiner: Cell<u64>,
    pub(crate) switches: Cell<u64>,
    held: RefCell<Vec<Rc<dyn Held>>>,
    /// The engine that made it: tasks of another one (before a fork) are not to be entered.
    pub(crate) engine: u64,
    data: S::Data,
}

impl<S: Switch> Task<S> {
    pub(crate) fn new(engine: u64, id: TaskId, parent: TaskId, data: S::Data) -> Rc<Self> {
        Rc::new(Self {
            id,
            parent,
            state: Cell::new(State::New),
            wait: Cell::new(Wait::Inside("start")),
            slot: Cell::new(None),
            unparked: Cell::new(false),
            cancel: Cell::new(None),
            cancelled: Cell::new(false),
            yielded: Cell::new(false),
            cancellations: Cell::new(0),
            waking: RefCell::new(Waking::None),
            joiners: RefCell::new(Vec::new()),
            next_joiner: Cell::new(0),
            switches: Cell::new(0),
            held: RefCell::new(Vec::new()),
            engine,
            data,
        })
    }

    /// The same in the memory of one that has ended and that only the caller knows.
    pub(crate) fn again(mut spare: Rc<Self>, id: TaskId, parent: TaskId, data: S::Data) -> Rc<Self> {
        let Some(task) = Rc::get_mut(&mut spare) else { return Self::new(spare.engine, id, parent, data) };
        task.id = id;
        task.parent = parent;
        task.state.set(State::New);
        task.wait.set(Wait::Inside("start"));
        task.slot.set(None);
        task.unparked.set(false);
        task.cancel.set(None);
        task.cancelled.set(false);
        task.yielded.set(false);
        task.cancellations.set(0);
        *task.waking.get_mut() = Waking::None;
        task.next_joiner.set(0);
        task.switches.set(0);
        task.data = data;
        spare
    }

    /// Its id.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The id of the task that made it, or -1.
    pub fn parent(&self) -> TaskId {
        self.parent
    }

    /// What it does now.
    pub fn state(&self) -> State {
        self.state.get()
    }

    /// What it waits for, or waited for last.
    pub fn wait(&self) -> Wait {
        self.wait.get()
    }

    /// Whether its last wait was cancelled.
    pub fn was_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// How many of its waits were cancelled so far.
    pub fn cancellations(&self) -> u64 {
        self.cancellations.get()
    }

    /// How often its stack was entered.
    pub fn switches(&self) -> u64 {
        self.switches.get()
    }

    /// Has `thing` told when the task ends without [`Task::give_back`].
    pub fn hold(&self, thing: Rc<dyn Held>) {
        self.held.borrow_mut().push(thing);
    }

    /// Takes back one [`Task::hold`]; the last, usually, is the first given back.
    pub fn give_back<T: Held>(&self, thing: &Rc<T>) {
        let at = self.held.borrow().iter().rposition(|held| std::ptr::addr_eq(Rc::as_ptr(held), Rc::as_ptr(thing)));
        if let Some(at) = at {
            let held = self.held.borrow_mut().swap_remove(at);
            drop(held);
        }
    }

    #[inline]
    pub(crate) fn abandon_held(&self) {
        if self.held.borrow().is_empty() {
            return;
        }
        for held in self.held.take() {
            held.abandoned(self.id);
        }
    }

    /// What it carries.
    pub fn data(&self) -> &S::Data {
        &self.data
    }

    pub(crate) fn set_slot(&self, future: Pin<&mut dyn Future<Output = ()>>) {
        // SAFETY: only the pointer is kept; the future stays pinned in the waiting frame (module rules 1 and 2).
        let future = unsafe { Pin::into_inner_unchecked(future) };
        let pointer: NonNull<dyn Future<Output = ()> + '_> = NonNull::from(future);
        // SAFETY: erases the lifetime of a pointee that outlives the wait (module rule 2).
        self.slot.set(Some(unsafe { std::mem::transmute::<NonNull<dyn Future<Output = ()> + '_>, Slot>(pointer) }));
    }

    pub(crate) fn take_slot(&self) -> Option<Slot> {
        self.slot.take()
    }

    /// Whether it waits for a future, and not for [`Engine::resume`] alone.
    pub(crate) fn awaits_future(&self) -> bool {
        self.slot.get().is_some()
    }

    /// Polls what the task waits for. `true`: the task can go on.
    pub(crate) fn poll_slot(&self, cx: &mut Context<'_>) -> bool {
        let Some(mut slot) = self.slot.get() else { return false };
        // SAFETY: the task waits, so the pointee is alive, pinned and not borrowed (module rules 1 to 3).
        let ready = unsafe { Pin::new_unchecked(slot.as_mut()) }.poll(cx).is_ready();
        if ready {
            self.slot.set(None);
        }
        ready
    }

    fn remember(&self, waker: &Waker) {
        let mut kept = self.waking.borrow_mut();
        match &mut *kept {
            Waking::Drive(kept) => kept.clone_from(waker),
            other => *other = Waking::Drive(waker.clone()),
        }
    }

    pub(crate) fn set_ticket(&self, ticket: Ticket) {
        *self.waking.borrow_mut() = Waking::Engine(ticket);
    }

    pub(crate) fn with_ticket<R>(&self, with: impl FnOnce(&Ticket) -> R) -> Option<R> {
        match &*self.waking.borrow() {
            Waking::Engine(ticket) => Some(with(ticket)),
            Waking::None | Waking::Drive(_) => None,
        }
    }

    #[inline]
    pub(crate) fn take_ticket(&self) -> Option<Ticket> {
        if matches!(*self.waking.borrow(), Waking::None) {
            return None;
        }
        match self.waking.replace(Waking::None) {
            Waking::Engine(ticket) => Some(ticket),
            Waking::None => None,
            drive @ Waking::Drive(_) => {
                self.waking.replace(drive);
                None
            }
        }
    }

    pub(crate) fn wake(&self) {
        match &*self.waking.borrow() {
            Waking::None => {}
            Waking::Drive(waker) => waker.wake_by_ref(),
            Waking::Engine(ticket) => ticket.notify(),
        }
    }
}

/// The task that runs, if one does.
pub(crate) struct Current<S: Switch>(Cell<*const Task<S>>);

impl<S: Switch> Current<S> {
    pub(crate) fn none() -> Self {
        Self(Cell::new(ptr::null()))
    }

    /// The task runs until the guard is dropped.
    #[inline]
    pub(crate) fn enter<'a>(&'a self, task: &'a Rc<Task<S>>) -> Entered<'a, S> {
        Entered { current: self, before: self.0.replace(Rc::as_ptr(task)), task: PhantomData }
    }

    /// It, for those that run on its stack.
    #[inline]
    pub(crate) fn borrow(&self) -> Option<&Task<S>> {
        // SAFETY: null, or a task that whoever entered it has (module rules).
        unsafe { self.0.get().as_ref() }
    }

    #[inline]
    pub(crate) fn share(&self) -> Option<Rc<Task<S>>> {
        let task = self.borrow()?;
        // SAFETY: it came from an `Rc` that lives (module rules), which gets one more reference for the one given away.
        unsafe {
            Rc::increment_strong_count(task);
            Some(Rc::from_raw(task))
        }
    }
}

/// See [`Current::enter`].
pub(crate) struct Entered<'a, S: Switch> {
    current: &'a Current<S>,
    before: *const Task<S>,
    task: PhantomData<&'a Rc<Task<S>>>,
}

impl<S: Switch> Entered<'_, S> {
    /// Whether it was entered from outside of all tasks.
    #[inline]
    pub(crate) fn is_outermost(&self) -> bool {
        self.before.is_null()
    }
}

impl<S: Switch> Drop for Entered<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.current.0.set(self.before);
    }
}

/// Drives one task to its end: polls what it waits for, and enters it when that is ready.
///
/// `Unpin` and small, so that it can live in a connection's task, or be handed to the runtime when that goes on
/// without. Dropped early, it leaves the task suspended; the engine still knows the task.
pub struct Drive<S: Switch> {
    engine: Rc<Engine<S>>,
    task: Rc<Task<S>>,
}

impl<S: Switch> Drive<S> {
    pub(crate) fn new(engine: Rc<Engine<S>>, task: Rc<Task<S>>) -> Self {
        Self { engine, task }
    }

    /// The task.
    pub fn task(&self) -> &Rc<Task<S>> {
        &self.task
    }
}

impl<S: Switch> Unpin for Drive<S> {}

impl<S: Switch> Future for Drive<S> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let task = &self.task;
        loop {
            match task.state.get() {
                State::Ended => return Poll::Ready(()),
                State::New => self.engine.run(task),
                State::Running => return Poll::Pending,
                State::Waiting => {
                    if task.cancel.get().is_none() && !task.unparked.get() && !task.poll_slot(cx) {
                        task.remember(cx.waker());
                        return Poll::Pending;
                    }
                    self.engine.run(task);
                }
            }
        }
    }
}
