//! What the hooks of libc calls have to know about the PHP code that led to them.

use std::ffi::{CStr, c_char};

use crate::sys;
use crate::value::Value;

/// Whether a libc call may let other coroutines run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It was not made for a function that PHP code called, or that cannot be suspended: it blocks as ever.
    Stay,
    /// It may.
    Wait,
    /// An exception is pending, such as a cancellation: what would wait fails.
    Fail,
}

/// For the libc call that is being made. `freeing`: it is one that freeing a value makes, and may wait there, too.
pub fn place(freeing: bool) -> Place {
    // SAFETY: reads the VM's state.
    match unsafe { sys::apus_hook_where(freeing) } {
        sys::apus_hook_place_APUS_HOOK_WAIT => Place::Wait,
        sys::apus_hook_place_APUS_HOOK_FAIL => Place::Fail,
        _ => Place::Stay,
    }
}

/// Whether the running call works on plain files alone, and nothing else is in the middle of something: another thread
/// may do it.
pub fn may_wait_on_file() -> bool {
    // SAFETY: reads the VM's state and the call's arguments.
    unsafe { sys::apus_file_may_wait() }
}

/// Whether the rest of an answer is still to come on a connection of PDO: an unbuffered result that nobody has read.
///
/// # Safety
/// `pdo` MUST be a PDO object.
pub unsafe fn leaves_unread(pdo: &Value) -> bool {
    // SAFETY: by contract; reads the connection's state.
    unsafe { sys::apus_pdo_leaves_unread(pdo.as_ptr()) }
}

/// Whether a connection of PDO is known to be as it was when it was made: ready for a question, not in a transaction,
/// without an error of the connection itself. `false` where that is not known.
///
/// # Safety
/// `pdo` MUST be a PDO object.
pub unsafe fn is_at_rest(pdo: &Value) -> bool {
    // SAFETY: by contract; reads the connection's state.
    unsafe { sys::apus_pdo_is_at_rest(pdo.as_ptr()) }
}

/// What tells the running call from others, as long as it runs.
pub fn running_call() -> usize {
    // SAFETY: reads a pointer.
    unsafe { sys::apus_running_call() as usize }
}

/// The function that runs, as PHP code calls it: `PDO::query()`.
pub fn running_function() -> String {
    function_of(std::ptr::null())
}

pub(crate) fn function_of(fiber: *const sys::apus_fiber) -> String {
    let (mut class, mut function) = (std::ptr::null(), std::ptr::null());
    // SAFETY: reads the VM's state, or that of a fiber that waits.
    unsafe { sys::apus_running_function(fiber, &raw mut class, &raw mut function) };
    // SAFETY: names of functions and classes end in NUL and live as long as these.
    let text = |name: *const c_char| (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
    match (text(class), text(function)) {
        (Some(class), Some(function)) => format!("{class}::{function}()"),
        (None, Some(function)) => format!("{function}()"),
        _ => "PHP code".to_owned(),
    }
}

/// Makes a resolver's state (resolver(3)) tell why a search failed.
///
/// # Safety
/// `state` MUST be NULL or point to a `struct __res_state`.
pub unsafe fn set_resolver_error(state: *mut std::ffi::c_void, error: i32) {
    if !state.is_null() {
        // SAFETY: by contract.
        unsafe { sys::apus_resolver_failed(state, error) };
    }
}
