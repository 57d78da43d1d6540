//! The coroutine engine: a coroutine is an async task around a stack that can be left and entered again.
//!
//! Generic over [`Switch`], which does the switching; this crate knows no PHP. One engine lives on one thread, with one
//! tokio current-thread runtime as the only scheduler.
//!
//! A coroutine's code runs on its own stack. When it has to wait it calls [`Engine::wait`] with any future: the future
//! stays where it is, on that stack; the task keeps a pointer to it ([`engine::task`] tells why that is sound), leaves
//! the stack, and whoever drives the task polls the future and enters the stack again when it is ready. So a wait costs
//! one switch pair and no allocation, however the future is made.
//!
//! Two kinds of drivers: [`Drive`] is a future for one task, a part of the request that the task handles; all others
//! are driven by the engine itself ([`Engine::driver`]), in one runtime task, by a queue of their own
//! ([`engine::ready`]).

mod engine;
mod join;
#[cfg(test)]
mod no_stacks;

pub use engine::task::{Cancel, Drive, Held, State, Task, TaskId, Wait};
pub use engine::{Engine, EngineStats, Idle, WaitError};
pub use join::AllEnded;

/// What is fetched of a task before it is entered, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Foresight {
    /// The task itself.
    Task,
    /// What its data refers to.
    Record,
    /// What that refers to: its stack.
    Stack,
}

/// How stacks are switched, and what a coroutine carries.
///
/// The implementor owns the unsafe part: [`Engine`] promises to enter only tasks that are not running, and to leave
/// only the task that runs.
pub trait Switch: Sized + 'static {
    /// What a task carries for the implementor (its stack, its job).
    type Data: 'static;

    /// Enters the task's stack from the running one, whichever that is. Returns when the task leaves it:
    /// `true` while it is unfinished, `false` when it has ended.
    fn enter(&self, task: &Task<Self>) -> bool;

    /// Leaves the running stack, which is the task's, towards whoever entered it. Returns when it is entered again.
    fn leave(&self, task: &Task<Self>);

    /// A waiting task is entered soon, unless something comes between: has the processor fetch what that needs, one
    /// step after the other, as each is found by what the one before it fetched.
    fn foresee(&self, _task: &Task<Self>, _step: Foresight) {}

    /// Whether the running code may be suspended.
    fn can_switch(&self) -> bool;

    /// The task has ended and its stack is free. Called once, on the stack of whoever entered it last.
    fn ended(&self, task: &Task<Self>);
}
