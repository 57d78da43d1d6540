//! What a process that PHP code manages needs of Zend: handlers of signals between two opcodes, and the report of an
//! exception that ends it.

use crate::call::Raise;
use crate::engine::Thrown;
use crate::sys;

/// Registers what runs at the next place where PHP code can be interrupted after [`signal_due`]. To be called once, at
/// module start. `hook` may run PHP code and leave an exception pending; `true` tells that a fatal error was reported.
pub fn on_signal(hook: unsafe extern "C" fn() -> bool) {
    // SAFETY: module start; the function lives for the process.
    unsafe { sys::apus_signal_startup(Some(hook)) };
}

/// Has the hook run soon. Async-signal-safe.
pub fn signal_due() {
    // SAFETY: sets two atomics.
    unsafe { sys::apus_signal_due() };
}

/// Reports an exception as PHP does when nobody catches it: a fatal error, which ends the script. Whoever gets the
/// result MUST return it up to the native function's caller.
pub fn report_uncaught(thrown: &Thrown) -> Raise {
    // SAFETY: alive as long as `thrown`; guarded by the shim.
    let _ = unsafe { sys::apus_report_uncaught(thrown.object().as_raw().as_ptr()) };
    Raise::Bailed
}
