//! Where the PHP code of another process stands, looked at from outside while it runs.

use std::ffi::{CStr, c_char, c_void};

use crate::sys;

/// The calls that the PHP code of a process is in, the innermost first: `#0 sleep() /srv/slow.php:3`. `None` when it
/// may not be looked at. What a running process changes meanwhile may be missing, or wrong.
///
/// The process MUST be a fork of this one.
pub fn calls(process: u32) -> Option<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    let process = i32::try_from(process).ok()?;
    // SAFETY: reads the other process's memory by copies; the vector lives through the call.
    let seen = unsafe { sys::apus_remote_calls(process, (&raw mut all).cast(), Some(tell)) };
    seen.then_some(all)
}

unsafe extern "C" fn tell(context: *mut c_void, name: *const c_char, file: *const c_char, line: u32) {
    // SAFETY: the vector of the frame below, and texts of the shim that end in NUL.
    let (all, name, file) =
        unsafe { (&mut *context.cast::<Vec<String>>(), CStr::from_ptr(name), CStr::from_ptr(file)) };
    let name = if name.is_empty() { "{main}".into() } else { format!("{}()", name.to_string_lossy()) };
    all.push(format!("#{} {name} {}:{line}", all.len(), file.to_string_lossy()));
}
