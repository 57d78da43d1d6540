//! One connection, one coroutine. See `shim/guard.c`.

use crate::sys;

/// Who is asked what the guard cannot know.
pub trait Guard {
    /// A coroutine is in the midst of a call on what is to be used: throws and says `true`; or says `false` when it has
    /// ended. `tree`: that is a tree of nodes.
    fn conflict(other: i64, tree: bool) -> bool;
    /// A coroutine is in the midst of a call on what the running function closes: whether that ends its wait.
    fn ends_wait(other: i64) -> bool;
    /// Lets those have their turn whose waits were ended, a millisecond where one turn was not enough. `false`: the
    /// wait was broken off.
    fn await_turn(again: bool) -> bool;
    /// A coroutine selects on what has changed.
    fn wake(other: i64);
    /// Another coroutine is freeing something of a connection that is to be used: waits until `freed()`. `false`: the
    /// wait was broken off.
    fn await_free() -> bool;
    /// What may have been waited for is freed.
    fn freed();
}

/// At module start.
pub fn prepare<G: Guard>() {
    unsafe extern "C" fn conflict<G: Guard>(other: i64, tree: bool) -> bool {
        std::panic::catch_unwind(|| G::conflict(other, tree)).unwrap_or(false)
    }
    unsafe extern "C" fn ends_wait<G: Guard>(other: i64) -> bool {
        std::panic::catch_unwind(|| G::ends_wait(other)).unwrap_or(false)
    }
    unsafe extern "C" fn await_turn<G: Guard>(again: bool) -> bool {
        std::panic::catch_unwind(|| G::await_turn(again)).unwrap_or(false)
    }
    unsafe extern "C" fn wake<G: Guard>(other: i64) {
        let _ = std::panic::catch_unwind(|| G::wake(other));
    }
    unsafe extern "C" fn await_free<G: Guard>() -> bool {
        std::panic::catch_unwind(G::await_free).unwrap_or(false)
    }
    unsafe extern "C" fn freed<G: Guard>() {
        let _ = std::panic::catch_unwind(G::freed);
    }
    let hooks = sys::apus_guard_hooks {
        conflict: Some(conflict::<G>),
        ends_wait: Some(ends_wait::<G>),
        await_turn: Some(await_turn::<G>),
        wake: Some(wake::<G>),
        await_free: Some(await_free::<G>),
        freed: Some(freed::<G>),
    };
    // SAFETY: module start; the hooks are copied, their functions live for the process.
    unsafe {
        sys::apus_guard_startup(&raw const hooks);
        sys::apus_marks_startup();
    }
}

/// At the end of a request, before Zend's memory goes: what was not freed while its connection was in use is freed now.
pub fn end_request() {
    // SAFETY: no coroutine is left.
    unsafe { sys::apus_guard_end_request() };
}

/// When all modules are loaded.
pub fn install() {
    // SAFETY: the tables of functions and classes are complete, and no PHP code runs.
    unsafe {
        sys::apus_guard_install();
        sys::apus_file_install();
    }
}

/// A wait of the running call was broken off: whatever else would wait in it fails, and if an exception is pending, the
/// call ends with it.
pub fn broken_off() {
    // SAFETY: reads the VM's frames; keeps a reference of the exception.
    unsafe { sys::apus_guard_broken_off() };
}

/// Whether the call that was broken off leaves an answer to come in its connection, which the next call would take for
/// its own.
pub fn leaves_answer() -> bool {
    // SAFETY: reads the VM's frames.
    unsafe { sys::apus_guard_leaves_answer() }
}

/// Whether the running call is one whose wait was broken off.
pub fn is_broken() -> bool {
    // SAFETY: reads a pointer.
    unsafe { sys::apus_guard_is_broken() }
}
