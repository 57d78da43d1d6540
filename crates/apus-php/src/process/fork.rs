//! Making a child that runs PHP code, and ending it as PHP ends a script.

use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::{Callable, Raise, Value, engine, process};

use super::signals;
use super::sys::errno;
use crate::runtime::State;

/// The exit code after an uncaught exception: PHP's own.
pub(super) const FAILED: i32 = 255;

/// What a child does with the handlers of signals that it inherits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signals {
    /// Those of this module are the parent's: the default action takes their place.
    Default,
    /// The caller has set up what the child needs.
    Keep,
}

/// fork(2): 0 in the child, whose signals are blocked until [`begin_child`].
pub(super) fn fork() -> Result<libc::pid_t, i32> {
    // SAFETY: all-zero is a valid set; the calls fill them.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: PHP's thread forks, with no Rust lock held; threads that do not survive own nothing that the child uses.
    // What the child inherits of an event loop it forgets in `begin_child`. The sets are local.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let pid = libc::fork();
        let code = if pid < 0 { errno() } else { 0 };
        if pid == 0 {
            // A signal that comes before its parent's handlers are gone would be taken by them.
            State::forget();
            MASK.set(Some(before));
        } else {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
        if code == 0 { Ok(pid) } else { Err(code) }
    }
}

thread_local! {
    /// In a child that has not begun: the mask of its parent.
    static MASK: std::cell::Cell<Option<libc::sigset_t>> = const { std::cell::Cell::new(None) };
}

/// The first act of a child.
pub(super) fn begin_child(handlers: Signals) {
    State::forget();
    if handlers == Signals::Default {
        signals::forget();
        signals::reset_module();
    }
    if let Some(mask) = MASK.take() {
        // SAFETY: the parent's mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut()) };
    }
}

/// Calls `callable`, in a coroutine if asked to, and runs what coroutines it leaves to their end. Gives the exit code
/// of a process that does nothing else. An uncaught exception is reported as PHP does.
pub(super) fn run(callable: Callable, args: Vec<Value>, coroutine: bool) -> Result<i32, Raise> {
    ended(call(callable, args, coroutine))
}

fn call(callable: Callable, args: Vec<Value>, coroutine: bool) -> Result<(), Raise> {
    if coroutine {
        State::get()?.go(callable, args, None)?;
    } else {
        drop(callable.call(&args)?);
    }
    match State::existing() {
        Some(state) => state.run_to_end(),
        None => Ok(()),
    }
}

/// The exit code of code that ended so.
pub(super) fn ended(result: Result<(), Raise>) -> Result<i32, Raise> {
    match result {
        Ok(()) => Ok(0),
        Err(Raise::Bailed) => Err(Raise::Bailed),
        Err(Raise::Thrown) => match Thrown::take() {
            None => Ok(0),
            Some(thrown) => match thrown.kind() {
                ThrownKind::Exit => Ok(engine::exit_status()),
                ThrownKind::Graceful => Ok(0),
                ThrownKind::Fatal => Err(Raise::Bailed),
                ThrownKind::Exception => uncaught(thrown),
            },
        },
    }
}

fn uncaught(thrown: Thrown) -> Result<i32, Raise> {
    match thrown.give_to_handler() {
        Err(thrown) => Err(process::report_uncaught(&thrown)),
        Ok(Ok(())) => Ok(FAILED),
        Ok(Err(Raise::Bailed)) => Err(Raise::Bailed),
        // The handler's own exception, or its exit().
        Ok(Err(Raise::Thrown)) => match Thrown::take() {
            Some(thrown) if thrown.kind() == ThrownKind::Exit => Ok(engine::exit_status()),
            Some(thrown) => Err(process::report_uncaught(&thrown)),
            None => Ok(FAILED),
        },
    }
}
