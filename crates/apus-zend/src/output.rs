//! Where PHP's output and its own log go.

use std::ffi::c_char;

use crate::sys;

/// What is printed with; it runs on PHP's thread, in the middle of PHP code, and MUST NOT panic or run PHP code.
pub type Writer = fn(&[u8]);

static WRITERS: std::sync::Mutex<(Writer, Writer)> = std::sync::Mutex::new((drop_all, drop_all));

fn drop_all(_: &[u8]) {}

fn writers() -> (Writer, Writer) {
    *WRITERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What PHP prints goes to `output` from now on, and what it logs to standard error to `log`, if given. PHP takes
/// neither for failed.
pub fn take(output: Writer, log: Option<Writer>) {
    *WRITERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = (output, log.unwrap_or(drop_all));
    // SAFETY: the functions live for the process, and keep to the rules of a writer as `output` and `log` do.
    unsafe { sys::apus_output_take(Some(to_output), log.map(|_| to_log as unsafe extern "C" fn(_, _))) };
}

/// PHP prints and logs as it did by itself.
pub fn give_back() {
    // SAFETY: puts back what stood there before; has no preconditions.
    unsafe { sys::apus_output_give_back() };
}

/// Opens /dev/null under those of the descriptors 0, 1 and 2 that are closed: else a connection would get the number,
/// and what is printed.
pub fn open_standard() {
    // SAFETY: opens a file; has no preconditions.
    unsafe { sys::apus_output_open_standard() };
}

unsafe extern "C" fn to_output(text: *const c_char, length: usize) {
    // SAFETY: PHP hands over `length` bytes, which live through the call.
    (writers().0)(unsafe { std::slice::from_raw_parts(text.cast(), length) });
}

unsafe extern "C" fn to_log(text: *const c_char, length: usize) {
    // SAFETY: the shim hands over `length` bytes, which live through the call.
    let text: &[u8] = unsafe { std::slice::from_raw_parts(text.cast(), length) };
    let mut line = Vec::with_capacity(length + 1);
    line.extend_from_slice(text);
    line.push(b'\n');
    (writers().1)(&line);
}
