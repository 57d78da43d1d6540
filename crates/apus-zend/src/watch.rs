//! Stopping PHP code from another thread for a moment, to look where it stands.

use crate::sys;

/// Registers what runs when PHP code is interrupted. To be called once, at module start; `hook` MUST NOT run PHP code.
pub fn on_interrupt(hook: unsafe extern "C" fn()) {
    // SAFETY: module start; the function lives for the process.
    unsafe { sys::apus_watch_startup(Some(hook)) };
}

/// Has the hook run at the next place where the running PHP code can be interrupted. From any thread.
pub fn interrupt() {
    // SAFETY: sets two atomics.
    unsafe { sys::apus_watch_interrupt() };
}

/// Takes back an [`interrupt`] that has not come to pass.
pub fn cancel() {
    // SAFETY: sets an atomic.
    unsafe { sys::apus_watch_cancel() };
}

/// Whether PHP's handlers of a signal are due (`pcntl_async_signals`); the caller MUST see to it that they run.
pub fn take_signal() -> bool {
    // SAFETY: reads and clears atomics.
    unsafe { sys::apus_watch_take_signal() }
}

/// The function of an extension that PHP's thread is in, looked at from another thread while that one is blocked.
pub fn blocked_function() -> Option<String> {
    let mut name = [0u8; 128];
    // SAFETY: room for that many bytes; nothing is read but through the kernel, which refuses what is not mapped.
    let len = unsafe { sys::apus_watch_function(name.as_mut_ptr().cast(), name.len()) };
    (len > 0).then(|| String::from_utf8_lossy(&name[..len]).into_owned())
}
