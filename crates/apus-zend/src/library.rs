//! PHP code that comes with the module. See `shim/library.c`.

use std::ffi::{CStr, c_char};

use crate::sys;

/// A source text; all of it lives as long as the process.
#[repr(transparent)]
pub struct Source(pub(crate) sys::apus_library_source);

// SAFETY: its pointers are to constants.
unsafe impl Sync for Source {}

impl Source {
    /// The file `name` with the text `code`, which begins with `<?php`. It declares the class of this lower-case name;
    /// the name is empty if it declares functions.
    pub const fn new(name: &'static CStr, code: &'static str, class: &'static CStr) -> Self {
        Self(sys::apus_library_source {
            name: name.as_ptr(),
            code: code.as_ptr().cast(),
            len: code.len(),
            class: class.as_ptr(),
            class_len: class.count_bytes(),
        })
    }
}

/// Who knows the sources.
pub trait Library {
    /// The source of the class of this lower-case name; called whenever PHP looks for a class that there is not.
    fn class(lc_name: &[u8]) -> Option<&'static Source>;
    /// The sources of functions, which every request has from its beginning.
    fn functions() -> &'static [Source];
}

/// At module start: PHP finds these classes and functions.
pub fn install<L: Library>() {
    unsafe extern "C" fn class<L: Library>(name: *const c_char, len: usize) -> *const sys::apus_library_source {
        // SAFETY: a string of PHP's, of that length.
        let found = L::class(unsafe { std::slice::from_raw_parts(name.cast(), len) });
        found.map_or(std::ptr::null(), |source| &raw const source.0)
    }
    unsafe extern "C" fn functions<L: Library>(count: *mut usize) -> *const sys::apus_library_source {
        let sources = L::functions();
        // SAFETY: the caller's variable.
        unsafe { *count = sources.len() };
        sources.as_ptr().cast()
    }
    let hooks = sys::apus_library_hooks { class: Some(class::<L>), functions: Some(functions::<L>) };
    // SAFETY: module start, no PHP code runs; the hooks are copied.
    unsafe { sys::apus_library_install(&raw const hooks) };
}

/// Which of PHP's functions are others for code written for Swoole.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct StandIns {
    /// Those of ext/sockets are the library's in coroutines: `socket_create()` is `swoole_socket_create()`.
    pub sockets: bool,
    /// `curl_init()` makes a handle of the library.
    pub curl: bool,
    /// `stream_select()` and `stream_socket_shutdown()` do as there in coroutines.
    pub streams: bool,
    /// So does `proc_open()`.
    pub processes: bool,
}

impl StandIns {
    /// Has them stand in from now on.
    pub fn set(self) {
        let Self { sockets, curl, streams, processes } = self;
        // SAFETY: this thread's table of functions, whose records stay where they are.
        unsafe { sys::apus_stand_in(sys::apus_stand_ins { sockets, curl, streams, processes }) };
    }
}
