//! Closures as places in a program's code, which another process of the same program finds again.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{Value, check};

/// Where the code of a closure is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The class of the method that it is written in; empty for none.
    pub scope: Vec<u8>,
    /// The function or method; empty for the main script.
    pub function: Vec<u8>,
    /// Its place among the closures written there.
    pub number: u32,
    /// Its first and last line.
    pub lines: (u32, u32),
    /// The class whose private members it may use; empty for none.
    pub bound: Vec<u8>,
}

/// What a closure is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// Written in the program.
    Written(Place),
    /// Made of a function, or of a method of a class.
    Named {
        /// The class; empty for a function.
        scope: Vec<u8>,
        /// The name.
        function: Vec<u8>,
    },
    /// Written outside functions in an included file, or made by `eval()`.
    Unknown,
}

/// The running script is the main one: closures written in it are found from now on.
pub fn remember_main_script() {
    // SAFETY: looks at the frames of the running code.
    unsafe { sys::apus_closure_main() };
}

fn bytes(raw: sys::apus_bytes) -> Vec<u8> {
    // SAFETY: the shim gives the bytes of strings that are alive, never a null pointer.
    unsafe { std::slice::from_raw_parts(raw.bytes.cast(), raw.len) }.to_vec()
}

fn raw(bytes: &[u8]) -> sys::apus_bytes {
    sys::apus_bytes { bytes: bytes.as_ptr().cast(), len: bytes.len() }
}

/// What a closure is.
///
/// # Safety
/// `closure` is an object of the class Closure.
pub unsafe fn look(closure: &Value) -> Code {
    // SAFETY: plain data that the shim fills.
    let mut place: sys::apus_closure_place = unsafe { std::mem::zeroed() };
    // SAFETY: a closure, as promised; the names in `place` are read while it is alive.
    match unsafe { sys::apus_closure_find(closure.as_ptr(), &raw mut place) } {
        sys::apus_closure_kind_APUS_CLOSURE_WRITTEN => Code::Written(Place {
            scope: bytes(place.scope),
            function: bytes(place.function),
            number: place.number,
            lines: (place.first_line, place.last_line),
            bound: bytes(place.bound),
        }),
        sys::apus_closure_kind_APUS_CLOSURE_NAMED => {
            Code::Named { scope: bytes(place.scope), function: bytes(place.function) }
        }
        _ => Code::Unknown,
    }
}

/// The object that a closure is bound to.
///
/// # Safety
/// `closure` is an object of the class Closure.
pub unsafe fn this(closure: &Value) -> Option<Value> {
    // SAFETY: a closure, as promised; it holds its object as long as it lives.
    unsafe { NonNull::new(sys::apus_closure_this(closure.as_ptr())).map(|object| Value::copy_of(object.as_ptr())) }
}

/// The closure of a place, bound to an object; `None` when this process has no such code. May load classes.
pub fn make(place: &Place, this: Option<&Value>) -> Result<Option<Value>, Raise> {
    let raw = sys::apus_closure_place {
        scope: raw(&place.scope),
        function: raw(&place.function),
        number: place.number,
        first_line: place.lines.0,
        last_line: place.lines.1,
        bound: raw(&place.bound),
    };
    let out = Value::undef();
    let this = this.map_or(std::ptr::null_mut(), Value::as_ptr);
    // SAFETY: the place and the object live through the call; the out pointer is local.
    check(unsafe { sys::apus_closure_make(&raw const raw, this, out.as_ptr()) })?;
    // SAFETY: the shim wrote a value or left it undefined.
    let made = unsafe { u32::from((*out.as_ptr()).u1.v.type_) } == sys::IS_OBJECT;
    Ok(made.then_some(out))
}

/// Gives a closure just made a variable that it uses.
///
/// # Safety
/// `closure` is an object of the class Closure that [`make`] made.
pub unsafe fn bind(closure: &Value, name: &[u8], value: Value) -> Result<(), Raise> {
    let value = ManuallyDrop::new(value);
    // SAFETY: a closure, as promised; the value's reference moves to it.
    check(unsafe { sys::apus_closure_bind(closure.as_ptr(), name.as_ptr().cast(), name.len(), value.as_ptr()) })
}
