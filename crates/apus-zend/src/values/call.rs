//! Native functions and methods: their arguments, their result, and how they fail.

use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::callable::Callable;
use crate::engine::{self, ClassEntry};
use crate::object::{self, Native, Object};
use crate::sys;
use crate::value::{ArrayView, PhpString, Value, View, check, raised};

/// Why a native function does not return normally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Raise {
    /// A PHP exception is pending.
    Thrown,
    /// A fatal error has been reported; everything up to the next guard must be left at once.
    Bailed,
}

/// One call of a native function.
pub struct Call {
    ex: *mut sys::zend_execute_data,
    ret: *mut sys::zval,
}

/// Runs a native function's body for Zend.
///
/// A panic becomes a PHP `Error`; a bailout goes on only when nothing is left on this frame that needs a drop.
///
/// # Safety
/// To be called by Zend as a function handler only, with its `execute_data` and return value.
// A coroutine that goes on after a switch returns through every frame in between, and the processor predicts none of
// these returns: so this is a part of each handler.
#[expect(clippy::inline_always, reason = "measured: 5 ns a switch")]
#[inline(always)]
pub unsafe fn enter(ex: *mut sys::zend_execute_data, ret: *mut sys::zval, body: impl Fn(&Call) -> Result<(), Raise>) {
    let call = Call { ex, ret };
    let result = catch_unwind(AssertUnwindSafe(|| body(&call)));
    let bailed = match result {
        Ok(Ok(()) | Err(Raise::Thrown)) => false,
        Ok(Err(Raise::Bailed)) => true,
        Err(panic) => {
            throw_panic(&*panic);
            false
        }
    };
    if engine::take_bailed() || bailed {
        // SAFETY: this frame owns nothing any more, so the longjmp that leaves it skips no drop.
        unsafe { sys::apus_bailout() };
    }
}

#[cold]
#[inline(never)]
fn throw_panic(panic: &(dyn std::any::Any + Send)) {
    let _ = engine::throw_error(&format!("internal error in Apus, please report it: {}", panic_text(panic)));
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

/// Makes the handler that Zend calls for a native function's body, a `fn(&Call) -> Result<(), Raise>`, which takes so
/// many arguments at least and at most. `within AROUND, CLASS` has the body called by `AROUND(call, &CLASS, body)`, for
/// a second declaration.
#[macro_export]
macro_rules! handler {
    (|$call:ident| $typed:expr, $least:expr, $most:expr) => {{
        #[inline]
        fn typed($call: &$crate::Call) -> Result<(), $crate::Raise> {
            $crate::arg::Give::give($typed, $call)
        }
        $crate::handler!(typed, $least, $most)
    }};
    (within $around:path, $class:path, $body:expr, $least:expr, $most:expr) => {{
        #[inline]
        fn within(call: &$crate::Call) -> Result<(), $crate::Raise> {
            $around(call, &$class, $body)
        }
        $crate::handler!(within, $least, $most)
    }};
    ($body:path, $least:expr, $most:expr) => {{
        unsafe extern "C" fn handle(ex: *mut $crate::sys::zend_execute_data, ret: *mut $crate::sys::zval) {
            // SAFETY: Zend calls this as a function handler.
            unsafe {
                $crate::call::enter(ex, ret, |call| {
                    call.expect($least, $most)?;
                    $body(call)
                });
            }
        }
        handle
    }};
}

/// Makes a body of a call that takes its arguments by their types.
#[macro_export]
macro_rules! given {
    (|$call:ident| $typed:expr) => {
        |$call: &$crate::Call| $crate::arg::Give::give($typed, $call)
    };
}

impl Call {
    /// How many arguments were passed.
    #[inline]
    pub fn count(&self) -> usize {
        // SAFETY: Zend's frame is alive during the call, and holds the number there.
        unsafe { (*self.ex).This.u2.num_args as usize }
    }

    /// Throws `ArgumentCountError` unless between `min` and `max` arguments were passed.
    #[inline]
    pub fn expect(&self, min: u32, max: u32) -> Result<(), Raise> {
        if (min as usize..=max as usize).contains(&self.count()) {
            return Ok(());
        }
        // SAFETY: Zend's frame is alive during the call.
        check(unsafe { sys::apus_check_arg_count(self.ex, min, max) })
    }

    #[inline]
    fn raw(&self, index: usize) -> Option<*mut sys::zval> {
        // The arguments follow the frame, which takes up whole zvals.
        const FRAME: usize = size_of::<sys::zend_execute_data>().div_ceil(size_of::<sys::zval>());
        if index >= self.count() {
            return None;
        }
        // SAFETY: the index is below the argument count, so the slot exists; a reference holds its value as long as it
        // lives.
        unsafe {
            let arg = self.ex.cast::<sys::zval>().add(FRAME + index);
            let reference = u32::from((*arg).u1.v.type_) == sys::IS_REFERENCE;
            Some(if reference { &raw mut (*(*arg).value.ref_).val } else { arg })
        }
    }

    /// The argument as it is; `Null` when not passed.
    #[inline]
    pub fn view(&self, index: usize) -> View<'_> {
        // SAFETY: arguments live as long as the call.
        self.raw(index).map_or(View::Null, |zval| unsafe { View::of(zval) })
    }

    /// The bytes of an argument that is a string already, and needs no conversion.
    #[inline]
    pub fn string(&self, index: usize) -> Option<&[u8]> {
        // SAFETY: arguments live as long as the call; the union member is read under its own tag.
        unsafe {
            let zval = self.raw(index).filter(|zval| u32::from((**zval).u1.v.type_) == sys::IS_STRING)?;
            Some(string_bytes((*zval).value.str_))
        }
    }

    /// Another reference to the argument; `null` when not passed.
    pub fn value(&self, index: usize) -> Value {
        // SAFETY: arguments live as long as the call.
        self.raw(index).map_or_else(Value::null, |zval| unsafe { Value::copy_of(zval) })
    }

    /// Assigns to an argument that was passed by reference. A typed property behind the reference may refuse the value.
    pub fn assign(&self, index: usize, value: Value) -> Result<(), Raise> {
        if index >= self.count() {
            return Ok(());
        }
        let value = ManuallyDrop::new(value);
        // SAFETY: the slot exists; the value's reference moves to the shim.
        check(unsafe { sys::apus_arg_assign(self.ex, index as u32, value.as_ptr()) })
    }

    fn convert(
        &self,
        index: usize,
        kind: sys::apus_arg_kind,
        nullable: bool,
    ) -> Result<Option<sys::apus_arg_value>, Raise> {
        if index >= self.count() {
            return Ok(None);
        }
        let mut is_null = false;
        // SAFETY: a union of plain data, which the shim fills when it reports success and not null.
        let mut out: sys::apus_arg_value = unsafe { std::mem::zeroed() };
        // SAFETY: the index is below the argument count; out pointers are local.
        check(unsafe { sys::apus_arg_convert(self.ex, index as u32, kind, nullable, &raw mut is_null, &raw mut out) })?;
        Ok((!is_null).then_some(out))
    }

    /// An integer; `None` when null or not passed.
    pub fn opt_int(&self, index: usize) -> Result<Option<i64>, Raise> {
        // SAFETY: the kind that was asked for is the union member that was filled.
        Ok(self.convert(index, sys::apus_arg_kind_APUS_ARG_LONG, true)?.map(|v| unsafe { v.l }))
    }

    /// An integer, or `default` when not passed.
    #[inline]
    pub fn int(&self, index: usize, default: i64) -> Result<i64, Raise> {
        // What is an integer already needs no conversion.
        if let View::Int(value) = self.view(index) {
            return Ok(value);
        }
        // SAFETY: as in `opt_int`.
        Ok(self.convert(index, sys::apus_arg_kind_APUS_ARG_LONG, false)?.map_or(default, |v| unsafe { v.l }))
    }

    /// A float, or `default` when not passed.
    pub fn float(&self, index: usize, default: f64) -> Result<f64, Raise> {
        // SAFETY: as in `opt_int`.
        Ok(self.convert(index, sys::apus_arg_kind_APUS_ARG_DOUBLE, false)?.map_or(default, |v| unsafe { v.d }))
    }

    /// A boolean, or `default` when not passed.
    #[inline]
    pub fn bool(&self, index: usize, default: bool) -> Result<bool, Raise> {
        if index >= self.count() {
            return Ok(default);
        }
        // SAFETY: as in `opt_int`.
        Ok(self.convert(index, sys::apus_arg_kind_APUS_ARG_BOOL, false)?.map_or(default, |v| unsafe { v.b }))
    }

    /// The bytes of a string (converted by PHP's rules); `None` when null or not passed.
    #[inline]
    pub fn opt_bytes(&self, index: usize) -> Result<Option<&[u8]>, Raise> {
        if let Some(bytes) = self.string(index) {
            return Ok(Some(bytes));
        }
        let value = self.convert(index, sys::apus_arg_kind_APUS_ARG_STRING, true)?;
        // SAFETY: the string lives in the argument slot (a conversion is stored there) as long as the call.
        Ok(value.map(|v| unsafe { string_bytes(v.s) }))
    }

    /// The bytes of a string; empty when not passed.
    #[inline]
    pub fn bytes(&self, index: usize) -> Result<&[u8], Raise> {
        if let Some(bytes) = self.string(index) {
            return Ok(bytes);
        }
        let value = self.convert(index, sys::apus_arg_kind_APUS_ARG_STRING, false)?;
        // SAFETY: as in `opt_bytes`.
        Ok(value.map_or(&[][..], |v| unsafe { string_bytes(v.s) }))
    }

    /// A string as text, with anything that is not UTF-8 replaced.
    pub fn text(&self, index: usize) -> Result<String, Raise> {
        self.bytes(index).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// An array; `None` when null or not passed.
    pub fn opt_array(&self, index: usize) -> Result<Option<ArrayView<'_>>, Raise> {
        let value = self.convert(index, sys::apus_arg_kind_APUS_ARG_ARRAY, true)?;
        // SAFETY: the array lives in the argument slot as long as the call.
        Ok(value.map(|v| unsafe { ArrayView::of(v.a) }))
    }

    /// An array, which null is not.
    pub fn array(&self, index: usize) -> Result<ArrayView<'_>, Raise> {
        let value = self.convert(index, sys::apus_arg_kind_APUS_ARG_ARRAY, false)?;
        // SAFETY: as in `opt_array`.
        value.map(|v| unsafe { ArrayView::of(v.a) }).ok_or_else(|| self.type_error(index, "of type array"))
    }

    /// A callable, resolved once.
    #[inline]
    pub fn callable(&self, index: usize) -> Result<Callable, Raise> {
        // SAFETY: arguments live as long as the call, and references among them were followed.
        if let Some(closure) = self.raw(index).and_then(|zval| unsafe { Callable::of_closure(zval) }) {
            return Ok(closure);
        }
        self.other_callable(index)
    }

    fn other_callable(&self, index: usize) -> Result<Callable, Raise> {
        let mut value = self.value(index);
        Callable::new(&mut value).map_err(|not| {
            not.or(|why| Self::arg_error(ClassEntry::type_error(), index, &format!("must be a valid callback, {why}")))
        })
    }

    /// Throws `class`, a `TypeError` or `ValueError`, as PHP words it: `f(): Argument #1 ($name) TEXT`.
    fn arg_error(class: ClassEntry, index: usize, text: &str) -> Raise {
        // SAFETY: the text is copied; Zend names the running function, which is the caller's.
        raised(unsafe { sys::apus_arg_error(class.as_ptr(), index as u32, text.as_ptr().cast(), text.len()) })
    }

    /// Throws the `ValueError` that says what argument `index` must be: `must be …`.
    pub fn value_error(&self, index: usize, text: &str) -> Raise {
        value_error(index, text)
    }

    /// Throws the `TypeError` that says what argument `index` must hold: `must …`.
    pub fn content_error(&self, index: usize, text: &str) -> Raise {
        content_error(index, text)
    }

    /// The name of the running function, without that of its class.
    pub fn function_name(&self) -> String {
        // SAFETY: Zend's frame is alive during the call, and so is the function, which has a name.
        let name = unsafe { (*(*self.ex).func).common.function_name };
        // SAFETY: as above.
        NonNull::new(name)
            .map_or_else(String::new, |name| unsafe { string_bytes(name.as_ptr()) }.escape_ascii().to_string())
    }

    /// The object that the method was called on.
    #[inline]
    pub fn this_object(&self) -> Result<NonNull<sys::zend_object>, Raise> {
        // SAFETY: Zend's frame is alive during the call; the tag tells that the value is an object.
        let object = unsafe {
            let this = &(*self.ex).This;
            if u32::from(this.u1.v.type_) == sys::IS_OBJECT { this.value.obj } else { std::ptr::null_mut() }
        };
        NonNull::new(object).ok_or_else(|| engine::throw_error("this method needs an object"))
    }

    /// The same with a reference of its own: others may let go of it while a method waits.
    pub fn object(&self) -> Result<Object, Raise> {
        // SAFETY: $this is alive during the call.
        Ok(unsafe { Object::share_raw(self.this_object()?) })
    }

    /// The Rust value behind the object that the method was called on.
    #[inline]
    pub fn this<T: Native>(&self) -> Result<&T, Raise> {
        let object = self.this_object()?;
        // SAFETY: $this stays alive during the call.
        unsafe { object::payload::<T>(object) }.ok_or_else(|| not_constructed(T::NAME, object))
    }

    /// Gives `$this` its Rust value (in a constructor). Throws when it has one already.
    pub fn construct<T: Native>(&self, payload: T) -> Result<(), Raise> {
        let object = self.this_object()?;
        // SAFETY: $this is alive and of a class that Apus registered as native.
        if unsafe { object::attach(object, payload) } {
            return Ok(());
        }
        Err(constructed_before(T::NAME, object))
    }

    /// Throws the `TypeError` that says what argument `index` must be.
    pub fn type_error(&self, index: usize, expected: &str) -> Raise {
        let expected = CString::new(expected).unwrap_or_default();
        let mut null = Value::null();
        let arg = self.raw(index).unwrap_or(null.as_ptr());
        // SAFETY: the text ends in NUL; the argument is alive.
        let raise = raised(unsafe { sys::apus_arg_type_error(index as u32, expected.as_ptr(), arg) });
        null = Value::undef();
        drop(null);
        raise
    }

    /// Returns a value.
    pub fn ret(&self, value: impl Into<Value>) -> Result<(), Raise> {
        // SAFETY: Zend's return slot is writable and holds null.
        unsafe { value.into().move_into(self.ret) };
        Ok(())
    }

    /// Returns a string.
    pub fn ret_bytes(&self, bytes: &[u8]) -> Result<(), Raise> {
        self.ret(PhpString::new(bytes)?)
    }
}

#[cold]
fn not_constructed(class: &str, object: NonNull<sys::zend_object>) -> Raise {
    match object::name_there(object) {
        Some(name) => engine::throw_error(&format!("{name}: must call constructor first")),
        None => engine::throw_error(&format!("{class} was not constructed: call parent::__construct() first")),
    }
}

#[cold]
fn constructed_before(class: &str, object: NonNull<sys::zend_object>) -> Raise {
    match object::name_there(object) {
        Some(name) if name == "Swoole\\Coroutine\\Channel" => {
            engine::throw_error("channel has already been constructed")
        }
        Some(name) => engine::throw_error(&format!("Constructor of {name} can only be called once")),
        None => engine::throw_error(&format!("{class} is already constructed")),
    }
}

/// Throws the `ValueError` that says what argument `index` of the running function must be: `must be …`.
#[cold]
pub fn value_error(index: usize, text: &str) -> Raise {
    Call::arg_error(ClassEntry::value_error(), index, text)
}

/// Throws the `TypeError` that says what argument `index` of the running function must hold: `must …`.
#[cold]
pub fn content_error(index: usize, text: &str) -> Raise {
    Call::arg_error(ClassEntry::type_error(), index, text)
}

#[inline]
unsafe fn string_bytes<'a>(string: *mut sys::zend_string) -> &'a [u8] {
    // SAFETY: the caller passes a live string.
    unsafe { std::slice::from_raw_parts((&raw const (*string).val).cast::<u8>(), (*string).len) }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::float(value)
    }
}
