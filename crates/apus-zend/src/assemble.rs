//! Making references, and objects without their constructors, from data that is not trusted.

use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{PhpString, Value, check};

/// Whether the memory limit was passed: some versions of PHP give more memory until the running function returns, and
/// end the script then.
pub fn is_exhausted() -> bool {
    // SAFETY: reads a value.
    unsafe { sys::apus_unpack_exhausted() }
}

/// A PHP reference (`&`).
pub struct Reference(Value);

impl Reference {
    /// One to null.
    pub fn new() -> Result<Self, Raise> {
        // SAFETY: allocation only; NULL tells a bailout.
        let raw = NonNull::new(unsafe { sys::apus_unpack_reference() }).ok_or(Raise::Bailed)?;
        let value = Value::undef();
        // SAFETY: the value held nothing; the one reference moves into it.
        unsafe {
            let zval = value.as_ptr();
            (*zval).value.ref_ = raw.as_ptr();
            (*zval).u1.type_info = sys::APUS_IS_REFERENCE_EX;
        }
        Ok(Self(value))
    }

    /// What it refers to from now on.
    pub fn set(&self, value: Value) {
        // SAFETY: the reference is alive; the old value is taken out before the new one is there, and released last.
        unsafe {
            let slot = &raw mut (*(*self.0.as_ptr()).value.ref_).val;
            let old = Value::undef();
            std::ptr::swap(old.as_ptr(), slot);
            value.move_into(slot);
            drop(old);
        }
    }

    /// Another user of it, to be put into an array or a property.
    pub fn share(&self) -> Value {
        let value = Value::undef();
        // SAFETY: the copy's bits are all of it; the reference is alive and gets another user.
        unsafe {
            let (from, to) = (self.0.as_ptr(), value.as_ptr());
            (*to).value = (*from).value;
            (*to).u1.type_info = (*from).u1.type_info;
            (*(*from).value.counted).gc.refcount += 1;
        }
        value
    }
}

/// Whether a value is a reference itself, which may lie in arrays and properties alone.
pub fn is_reference(value: &Value) -> bool {
    // SAFETY: initialised, as every value.
    u32::from(unsafe { (*value.as_ptr()).u1.v.type_ }) == sys::IS_REFERENCE
}

/// An object without its constructor having run.
pub struct Made {
    /// The object; null when `serialized`.
    pub object: Value,
    /// `__unserialize()` wants its contents.
    pub unserialize: bool,
    /// `__wakeup()` is to be called.
    pub wakeup: bool,
    /// Its class makes it from a text: [`read`](Self::read).
    pub serialized: bool,
    class: *mut sys::zend_class_entry,
}

/// An object of a class, whose name may have it loaded (PHP code runs); a class that is unknown or not allowed gives a
/// `__PHP_Incomplete_Class`.
pub fn object(class: &PhpString, allowed: bool) -> Result<Made, Raise> {
    // SAFETY: plain data that the shim fills.
    let mut made: sys::apus_made = unsafe { std::mem::zeroed() };
    // SAFETY: the name is alive; the out pointer is local.
    let status = unsafe { sys::apus_unpack_object(class.as_raw().as_ptr(), allowed, &raw mut made) };
    // SAFETY: the shim hands over a reference.
    let object = NonNull::new(made.object).map(|raw| unsafe { Value::from_object(raw) });
    check(status)?;
    let object = match object {
        Some(object) => object,
        None if made.serialized => Value::null(),
        None => return Err(Raise::Bailed),
    };
    Ok(Made { object, unserialize: made.unserialize, wakeup: made.wakeup, serialized: made.serialized, class: made.ce })
}

/// The object in a value; `None` for any other value.
fn raw(object: &Value) -> Option<*mut sys::zend_object> {
    let zval = object.as_ptr();
    // SAFETY: the tag tells that it is an object.
    unsafe { (u32::from((*zval).u1.v.type_) == sys::IS_OBJECT).then(|| (*zval).value.obj) }
}

impl Made {
    /// The object itself, if there is one by now.
    pub(crate) fn raw(&self) -> Option<*mut sys::zend_object> {
        raw(&self.object)
    }

    /// Has `Serializable::unserialize()` make the object.
    pub fn read(&mut self, text: &[u8]) -> Result<(), Raise> {
        let object = Value::undef();
        // SAFETY: a class that has the method; the bytes outlive the call; the value holds nothing yet.
        check(unsafe { sys::apus_unpack_text(self.class, object.as_ptr(), text.as_ptr().cast(), text.len()) })?;
        self.object = object;
        Ok(())
    }
}

/// Calls `__unserialize()` with `data`, or `__wakeup()` without, on an object that said it wants it.
pub fn finish(object: &Value, data: Option<&Value>) -> Result<(), Raise> {
    let Some(object) = raw(object) else { return Ok(()) };
    let data = data.map_or(std::ptr::null_mut(), Value::as_ptr);
    // SAFETY: both are alive during the call.
    check(unsafe { sys::apus_unpack_finish(object, data) })
}

/// The destructor of an object that was not finished is not to run.
pub fn spoil(object: &Value) {
    if let Some(object) = raw(object) {
        // SAFETY: alive; sets a flag.
        unsafe { sys::apus_unpack_spoiled(object) };
    }
}

/// A case of an enumeration. PHP code may run. `None`: there is no such class or case.
pub fn case(class: &PhpString, name: &PhpString) -> Result<Option<Value>, Raise> {
    let mut out = std::ptr::null_mut();
    // SAFETY: the strings are alive; the out pointer is local.
    check(unsafe { sys::apus_unpack_case(class.as_raw().as_ptr(), name.as_raw().as_ptr(), &raw mut out) })?;
    // SAFETY: the shim hands over a reference.
    Ok(NonNull::new(out).map(|raw| unsafe { Value::from_object(raw) }))
}
