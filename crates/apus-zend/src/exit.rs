//! `exit()` that throws an exception where the process is to go on.

use crate::engine::ClassEntry;
use crate::object::Object;
use crate::{Value, sys};

/// From now on `exit()` throws `class`, whose properties `flags` and `status` say where and what, while `place` is not
/// 0. To be called at module start; `place` MUST NOT panic.
pub fn throw_instead(class: ClassEntry, place: extern "C" fn() -> i64) {
    // SAFETY: module start; a registered class, and a function that lives as long as the process.
    unsafe { sys::apus_exit_install(class.as_ptr(), Some(place)) };
}

/// A property of such an exception; null when it cannot be read.
pub fn property(thrown: &Object, name: &std::ffi::CStr) -> Value {
    let value = Value::null();
    // SAFETY: the object is alive; the shim writes an owned value where nothing was that could leak.
    unsafe { sys::apus_exit_property(thrown.as_raw().as_ptr(), name.as_ptr(), value.as_ptr()) };
    value
}
