//! PHP callables, resolved once and called often.

use std::ffi::CStr;
use std::mem::ManuallyDrop;

use crate::call::Raise;
use crate::sys;
use crate::value::{Value, check};

/// A PHP callable with its resolved function.
pub struct Callable(sys::apus_callable);

/// Why a value gave no [`Callable`].
#[must_use]
pub enum Uncallable {
    /// It cannot be called: why, in PHP's words.
    Not(String),
    /// Looking for its function, which may load a class, has thrown or met a fatal error.
    Raised(Raise),
}

impl Uncallable {
    /// What the search raised, or what `refuse` makes of the reason.
    pub fn or(self, refuse: impl FnOnce(&str) -> Raise) -> Raise {
        match self {
            Self::Not(why) => refuse(&why),
            Self::Raised(raise) => raise,
        }
    }
}

impl Callable {
    /// Resolves `value`.
    pub fn new(value: &mut Value) -> Result<Self, Uncallable> {
        // SAFETY: plain data that the shim fills.
        let mut out: sys::apus_callable = unsafe { std::mem::zeroed() };
        let (mut callable, mut error) = (false, std::ptr::null_mut());
        // SAFETY: the value is alive; the out pointers are local.
        let status =
            unsafe { sys::apus_callable_init(&raw mut out, value.as_ptr(), &raw mut callable, &raw mut error) };
        if callable {
            return Ok(Self(out));
        }
        let why = Self::message(error);
        Err(check(status).map_or_else(Uncallable::Raised, |()| Uncallable::Not(why)))
    }

    /// The same for a closure, the usual callable, at a fraction of the cost.
    ///
    /// # Safety
    /// `value` is alive and no reference.
    #[inline]
    pub(crate) unsafe fn of_closure(value: *mut sys::zval) -> Option<Self> {
        // SAFETY: plain data that the shim fills.
        let mut out: sys::apus_callable = unsafe { std::mem::zeroed() };
        // SAFETY: as promised; the out pointer is local.
        unsafe { sys::apus_callable_of_closure(&raw mut out, value) }.then_some(Self(out))
    }

    /// The function of this name, which PHP has.
    pub fn named(name: &str) -> Result<Self, Raise> {
        Self::new(&mut Value::string(name.as_bytes())?).map_err(|not| not.or(crate::engine::throw_error))
    }

    /// Why something cannot be called, in a message of the shim's, which is freed.
    fn message(error: *mut std::ffi::c_char) -> String {
        if error.is_null() {
            return "it is not callable".to_owned();
        }
        // SAFETY: a non-null message ends in NUL and is ours to free.
        unsafe {
            let text = CStr::from_ptr(error).to_string_lossy().into_owned();
            sys::apus_free_message(error);
            text
        }
    }

    /// Calls it on the running context and returns its result.
    pub fn call(&self, args: &[Value]) -> Result<Value, Raise> {
        let ret = Value::undef();
        // SAFETY: `Value` is a transparent zval; the shim neither keeps nor frees the arguments.
        check(unsafe {
            sys::apus_call(
                (&raw const self.0).cast_mut(),
                ret.as_ptr(),
                args.len() as u32,
                args.as_ptr().cast_mut().cast(),
            )
        })?;
        Ok(ret)
    }

    /// Another reference to the same callable.
    #[must_use]
    pub fn share(&self) -> Self {
        let mut raw = self.0;
        // SAFETY: the function value is alive; the copy gets a reference of its own.
        let function = unsafe { Value::copy_of((&raw const self.0.function).cast_mut()) };
        // SAFETY: `raw.function` is a bitwise copy without a reference, overwritten here.
        unsafe { function.move_into(&raw mut raw.function) };
        Self(raw)
    }

    /// Where its code begins: file and line; `None` for what is not written in PHP.
    pub fn place(&self) -> Option<(String, u32)> {
        let mut line = 0;
        // SAFETY: the function is alive as long as self; the out pointer is local.
        let file = unsafe { sys::apus_callable_file(&raw const self.0, &raw mut line) };
        if file.bytes.is_null() {
            return None;
        }
        // SAFETY: the shim gives the bytes of a string that the function holds.
        let file = unsafe { std::slice::from_raw_parts(file.bytes.cast(), file.len) };
        Some((String::from_utf8_lossy(file).into_owned(), line))
    }

    /// How many parameters it declares; `None` for one that takes any number.
    pub fn arity(&self) -> Option<usize> {
        // SAFETY: the function is alive as long as self.
        usize::try_from(unsafe { sys::apus_callable_arity(&raw const self.0) }).ok()
    }

    /// The PHP value.
    pub fn value(&self) -> Value {
        // SAFETY: alive as long as self.
        unsafe { Value::copy_of((&raw const self.0.function).cast_mut()) }
    }

    /// Gives it to the shim, which releases it.
    pub(crate) fn into_raw(self) -> sys::apus_callable {
        ManuallyDrop::new(self).0
    }

    pub(crate) fn raw(&self) -> sys::apus_callable {
        self.0
    }
}

impl Drop for Callable {
    fn drop(&mut self) {
        // SAFETY: gives back the one reference that self owns.
        unsafe { sys::apus_zval_release(&raw mut self.0.function) };
    }
}
