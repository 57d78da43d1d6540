//! PHP's streams, used one step at a time, so that somebody else can wait between the steps.

use std::os::fd::RawFd;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{PhpString, Value, check};

/// What is behind a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A file of PHP's plain kind, which is always ready, though reading it may take its time.
    File(RawFd),
    /// A socket, pipe or terminal, whose descriptor tells when it is ready.
    Waitable(RawFd),
    /// Anything else: memory, a wrapper written in PHP, a compressed file.
    Other,
}

/// What is behind a value; `None`: it is no open stream.
pub fn kind(value: &Value) -> Option<Kind> {
    let mut fd = -1;
    // SAFETY: the value is alive; the shim contains a bailout.
    match unsafe { sys::apus_stream_look(value.as_ptr(), &raw mut fd) } {
        sys::apus_stream_kind_APUS_STREAM_NONE => None,
        sys::apus_stream_kind_APUS_STREAM_FILE => Some(Kind::File(fd)),
        sys::apus_stream_kind_APUS_STREAM_WAITABLE => Some(Kind::Waitable(fd)),
        _ => Some(Kind::Other),
    }
}

fn taken(status: sys::apus_status, string: *mut sys::zend_string) -> Result<Option<PhpString>, Raise> {
    // SAFETY: the shim hands over a reference.
    let string = NonNull::new(string).map(|raw| unsafe { PhpString::from_raw(raw) });
    check(status).map(|()| string)
}

/// What `fread()` gives.
pub fn read(value: &Value, len: usize) -> Result<Option<PhpString>, Raise> {
    let mut out = std::ptr::null_mut();
    // SAFETY: the value is alive; the shim contains a bailout.
    let status = unsafe { sys::apus_stream_read(value.as_ptr(), len, &raw mut out) };
    taken(status, out)
}

/// What `feof()` gives, without looking at the descriptor; a closed stream is at its end.
pub fn at_end(value: &Value) -> bool {
    // SAFETY: the value is alive; nothing is called that can bail out.
    unsafe { sys::apus_stream_eof(value.as_ptr()) }
}

/// Whether [`line`] has what it needs without reading: a line, `max` bytes, or the end.
pub fn has_line(value: &Value, max: usize) -> bool {
    // SAFETY: as above.
    unsafe { sys::apus_stream_has_line(value.as_ptr(), max) }
}

/// Reads ahead once.
pub fn fill(value: &Value) -> Result<(), Raise> {
    // SAFETY: the value is alive; the shim contains a bailout.
    check(unsafe { sys::apus_stream_fill(value.as_ptr()) })
}

/// What `fgets()` gives: a line of at most `max` bytes; `None` at the end.
pub fn line(value: &Value, max: usize) -> Result<Option<PhpString>, Raise> {
    let mut out = std::ptr::null_mut();
    // SAFETY: as above.
    let status = unsafe { sys::apus_stream_line(value.as_ptr(), max, &raw mut out) };
    taken(status, out)
}

/// What `fwrite()` does: how many bytes were taken; `None` when it failed.
pub fn write(value: &Value, bytes: &[u8]) -> Result<Option<usize>, Raise> {
    let mut written = -1;
    // SAFETY: as above; the bytes are read during the call only.
    check(unsafe { sys::apus_stream_write(value.as_ptr(), bytes.as_ptr().cast(), bytes.len(), &raw mut written) })?;
    Ok(usize::try_from(written).ok())
}

/// Prepares a file for bytes that are written to its descriptor beside PHP; [`moved`] then tells PHP how many. `false`:
/// a filter has to see them.
pub fn write_beside(value: &Value) -> bool {
    // SAFETY: the value is alive; a plain file's seek runs no PHP code.
    unsafe { sys::apus_stream_write_beside(value.as_ptr()) }
}

/// Bytes were written beside PHP.
pub fn moved(value: &Value, count: usize) {
    // SAFETY: the value is alive.
    unsafe { sys::apus_stream_moved(value.as_ptr(), count) };
}
