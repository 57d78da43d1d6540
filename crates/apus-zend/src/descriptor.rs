//! The descriptor behind a PHP value.

use std::os::fd::RawFd;

use crate::call::Raise;
use crate::sys;
use crate::value::{Value, check};

/// The descriptor of an integer, a stream resource, a `Socket` of ext/sockets (which need not be loaded), or an object
/// of Apus with a descriptor in its property `fd`, `sock` or `pipe`. `None`: it has none, or is closed.
///
/// An integer is taken as it is: whether that descriptor is open is the caller's question to the kernel. The owner may
/// close the descriptor at any time. PHP code may run (the `stream_cast` of a stream wrapper in PHP), whose exception
/// is the error.
pub fn of(value: &Value) -> Result<Option<RawFd>, Raise> {
    let mut fd = -1;
    // SAFETY: the value is alive; the shim contains a bailout.
    check(unsafe { sys::apus_descriptor(value.as_ptr(), &raw mut fd) })?;
    Ok((fd >= 0).then_some(fd))
}

/// Bytes that PHP has read ahead from a stream: there is something to read even when its descriptor is not readable.
pub fn buffered(value: &Value) -> usize {
    // SAFETY: the value is alive; nothing is called that can bail out.
    unsafe { sys::apus_descriptor_buffered(value.as_ptr()) }
}

/// Whether two values are the very same object or resource.
pub fn same(one: &Value, other: &Value) -> bool {
    let (one, other) = (one.as_ptr(), other.as_ptr());
    // SAFETY: both are alive; an object's and a resource's value is a pointer.
    unsafe {
        let kind = u32::from((*one).u1.v.type_);
        kind == u32::from((*other).u1.v.type_)
            && matches!(kind, sys::IS_OBJECT | sys::IS_RESOURCE)
            && (*one).value.ptr == (*other).value.ptr
    }
}

/// A stream over a copy of a socket's descriptor, which its owner keeps; null where there is no room for one.
pub fn stream_over(fd: RawFd) -> Result<Value, Raise> {
    let stream = Value::null();
    // SAFETY: the shim writes an owned value where nothing was that could leak, and contains a bailout.
    check(unsafe { sys::apus_descriptor_stream(fd, stream.as_ptr()) })?;
    Ok(stream)
}
