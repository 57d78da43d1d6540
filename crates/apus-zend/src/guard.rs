//! One connection, one coroutine. See `shim/guard.c`.

use crate::sys;

/// At module start. `conflict` is told which coroutine waits in the connection that is to be used: it throws and says `true`, or
/// says `false` when that is the one that runs.
pub fn prepare(conflict: unsafe extern "C" fn(other: i64) -> bool) {
    // SAFETY: module start; the function lives for the process.
    unsafe {
        sys::apus_guard_startup(Some(conflict));
        sys::apus_marks_startup();
    }
}

/// When all modules are loaded.
pub fn install() {
    // SAFETY: the tables of functions and classes are complete, and no PHP code runs.
    unsafe {
        sys::apus_guard_install();
        sys::apus_file_install();
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
