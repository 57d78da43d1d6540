//! One connection, one coroutine; one class, one autoloader at a time. See `shim/guard.c`.

use std::ffi::c_char;

use crate::sys;

/// What to do with a class that is to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nobody else is loading it: [`Autoload::end`] is called when the autoloader has returned.
    Ours,
    /// Somebody else was, and has ended.
    Loaded,
    /// Somebody else is, who needs what we are loading: load it nevertheless.
    Nested,
    /// An exception is pending.
    Failed,
}

/// Who knows which classes are being loaded.
pub trait Autoload {
    /// The class of this lower-case name is to be loaded; may wait.
    fn begin(name: &[u8]) -> Turn;
    /// The autoloader has returned.
    fn end(name: &[u8]);
}

/// At module start. `conflict` is told which coroutine waits in the connection that is to be used: it throws and says `true`, or
/// says `false` when that is the one that runs.
pub fn prepare(conflict: unsafe extern "C" fn(other: i64) -> bool) {
    // SAFETY: module start; the function lives for the process.
    unsafe { sys::apus_guard_startup(Some(conflict)) };
}

/// When all modules are loaded.
pub fn install<A: Autoload>() {
    unsafe extern "C" fn begin<A: Autoload>(name: *const c_char, len: usize) -> sys::apus_autoload_turn {
        // SAFETY: a string of PHP's, of that length.
        match A::begin(unsafe { std::slice::from_raw_parts(name.cast(), len) }) {
            Turn::Ours => sys::apus_autoload_turn_APUS_AUTOLOAD_OURS,
            Turn::Loaded => sys::apus_autoload_turn_APUS_AUTOLOAD_LOADED,
            Turn::Nested => sys::apus_autoload_turn_APUS_AUTOLOAD_NESTED,
            Turn::Failed => sys::apus_autoload_turn_APUS_AUTOLOAD_FAILED,
        }
    }
    unsafe extern "C" fn end<A: Autoload>(name: *const c_char, len: usize) {
        // SAFETY: a string of PHP's, of that length.
        A::end(unsafe { std::slice::from_raw_parts(name.cast(), len) });
    }
    let hooks = sys::apus_autoload_hooks { begin: Some(begin::<A>), end: Some(end::<A>) };
    // SAFETY: the tables of functions and classes are complete, and no PHP code runs; the hooks are copied.
    unsafe {
        sys::apus_guard_install();
        sys::apus_autoload_install(&raw const hooks);
    }
}

/// The connections that the running calls use, marked as waited in by one coroutine; until dropped.
pub struct Marks(sys::apus_guard_marks);

impl Marks {
    /// Marks them for coroutine `cid`.
    pub fn set(cid: i64) -> Self {
        // SAFETY: plain data.
        let mut marks = unsafe { std::mem::zeroed() };
        // SAFETY: the record is local; the VM's frames are read.
        unsafe { sys::apus_guard_mark(&raw mut marks, cid) };
        Self(marks)
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        // SAFETY: as it was filled.
        unsafe { sys::apus_guard_unmark(&raw const self.0) };
    }
}

/// A wait of the running call was broken off: whatever else would wait in it fails, and if an exception is pending, the call
/// ends with it.
pub fn broken_off() {
    // SAFETY: reads the VM's frames; keeps a reference of the exception.
    unsafe { sys::apus_guard_broken_off() };
}

/// Whether the call that was broken off leaves an answer to come in its connection, which the next call would take for its own.
pub fn leaves_answer() -> bool {
    // SAFETY: reads the VM's frames.
    unsafe { sys::apus_guard_leaves_answer() }
}

/// Whether the running call is one whose wait was broken off.
pub fn is_broken() -> bool {
    // SAFETY: reads a pointer.
    unsafe { sys::apus_guard_is_broken() }
}
