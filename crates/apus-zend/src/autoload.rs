//! One class, one autoloader at a time. See `shim/autoload.c`.

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
    /// The class of this lower-case name is being declared, and needs another one first. `true`: nobody was loading it,
    /// and [`Autoload::end`] is called when the other one is there.
    fn claim(name: &[u8]) -> bool;
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
    unsafe extern "C" fn claim<A: Autoload>(name: *const c_char, len: usize) -> bool {
        // SAFETY: a string of PHP's, of that length.
        A::claim(unsafe { std::slice::from_raw_parts(name.cast(), len) })
    }
    let hooks = sys::apus_autoload_hooks { begin: Some(begin::<A>), end: Some(end::<A>), claim: Some(claim::<A>) };
    // SAFETY: no PHP code runs; the hooks are copied.
    unsafe { sys::apus_autoload_install(&raw const hooks) };
}
