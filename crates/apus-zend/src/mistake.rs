//! What PHP code does in vain. See `shim/mistakes.c`.

use std::ffi::c_char;
use std::ptr::NonNull;

use crate::sys;

/// What a coroutine has just done, that may be a mistake.
#[derive(Debug, Clone, Copy)]
pub enum Doing<'a> {
    /// It called `header()`, or another function that sets the head of an answer of PHP's own.
    Call(&'a str),
    /// It read a superglobal, and has none of its own.
    Superglobal(&'a str),
    /// It is about to write a superglobal that all coroutines have in common.
    Shared(&'a str),
    /// It opened `php://input`.
    Input,
    /// It wrote a property that the class of this object does not declare.
    Property(NonNull<sys::zend_object>, &'a str),
}

/// Who looks at it. It runs in the middle of PHP code, and MUST NOT run any.
pub trait Look {
    /// The running coroutine has done this.
    fn look(doing: Doing<'_>);
}

/// To be called at module start.
pub fn prepare<L: Look>() {
    unsafe extern "C" fn look<L: Look>(
        kind: sys::apus_mistake,
        name: *const c_char,
        len: usize,
        of: *mut sys::zend_object,
    ) {
        // SAFETY: a string of PHP's, of that length.
        let name = String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(name.cast(), len) });
        let doing = match (kind, NonNull::new(of)) {
            (sys::apus_mistake_APUS_MISTAKE_CALL, _) => Doing::Call(&name),
            (sys::apus_mistake_APUS_MISTAKE_SUPERGLOBAL, _) => Doing::Superglobal(&name),
            (sys::apus_mistake_APUS_MISTAKE_SHARED, _) => Doing::Shared(&name),
            (sys::apus_mistake_APUS_MISTAKE_PROPERTY, Some(object)) => Doing::Property(object, &name),
            _ => Doing::Input,
        };
        drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| L::look(doing))));
    }
    // SAFETY: module start; the hook lives for the process.
    unsafe { sys::apus_mistakes_startup(Some(look::<L>)) };
}
