//! PHP functions and methods called from the pool.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::rc::Rc;

use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Callable, Raise, Value, engine, sys};

use crate::coroutine::construct;
use crate::exception::{CANCELED, TIMEOUT};

/// What `@` leaves of `error_reporting`: the errors that nothing can go on after.
const SILENT: i64 = 4437;

/// `$object->name(...$args)`
pub(super) fn method(object: &Value, name: &str, args: &[Value]) -> Result<Value, Raise> {
    bound(object, name)?.call(args)
}

/// `[$object, 'name']`, to be called often.
pub(super) fn bound(object: &Value, name: &str) -> Result<Callable, Raise> {
    let mut pair = Array::new(2)?;
    pair.push(object.share())?;
    pair.push(Value::string(name.as_bytes())?)?;
    Callable::new(&mut pair.into()).map_err(|not| not.or(engine::throw_error))
}

/// `name(...$args)`
pub(super) fn function(name: &str, args: &[Value]) -> Result<Value, Raise> {
    Callable::named(name)?.call(args)
}

/// `new $name(...$args)`, autoloaded when it has to be.
pub(super) fn instantiate(name: &str, args: &[Value]) -> Result<Value, Raise> {
    let class: Value = construct("ReflectionClass", None, &[Value::string(name.as_bytes())?])?.into();
    method(&class, "newInstance", args)
}

/// A PHP string of `text`.
pub(super) fn text(text: &str) -> Result<Value, Raise> {
    Value::string(text.as_bytes())
}

/// Whether it is `false`, as many functions tell their failure.
pub(super) fn is_false(value: &Value) -> bool {
    matches!(value.view(), View::Bool(false))
}

/// The text of a string; empty for anything else.
pub(super) fn string(value: &Value) -> String {
    match value.view() {
        View::Str(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

/// The number of an integer, or of a string that holds one; 0 for anything else.
pub(super) fn integer(value: &Value) -> i64 {
    match value.view() {
        View::Int(number) => number,
        View::Bool(flag) => i64::from(flag),
        View::Str(bytes) => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or(0),
        _ => 0,
    }
}

/// Says something that went wrong and was put right. A handler of the program's own may turn it into an exception.
pub(super) fn warn(message: &str) -> Result<(), Raise> {
    engine::user_warning(message)
}

/// The error when an exception is pending, as a destructor may leave one.
pub(super) fn pending() -> Result<(), Raise> {
    Thrown::take().map_or(Ok(()), |thrown| Err(thrown.rethrow()))
}

/// Tries something that may fail as connections do: an exception is a failure (`None`), but for those that end the
/// coroutine.
pub(super) fn attempt<T>(body: impl FnOnce() -> Result<T, Raise>) -> Result<Option<T>, Raise> {
    match body() {
        Ok(value) => Ok(Some(value)),
        Err(Raise::Bailed) => Err(Raise::Bailed),
        Err(Raise::Thrown) => match Thrown::take() {
            Some(thrown) if ends_coroutine(&thrown) => Err(thrown.rethrow()),
            _ => Ok(None),
        },
    }
}

/// Whether it is no failure of a connection, but the end of the coroutine that runs.
pub(super) fn ends_coroutine(thrown: &Thrown) -> bool {
    thrown.kind() != ThrownKind::Exception || thrown.is(CANCELED.get()) || thrown.is(TIMEOUT.get())
}

/// The same with the messages of PHP off: a dead connection is no news.
pub(super) fn attempt_silently<T>(body: impl FnOnce() -> Result<T, Raise>) -> Result<Option<T>, Raise> {
    let before = function("error_reporting", &[Value::int(SILENT)])?;
    let result = attempt(body);
    // A pending exception would be taken for one of the call that restores the level.
    let thrown = Thrown::take();
    let restored = if matches!(result, Err(Raise::Bailed)) { Ok(()) } else { restore(&before) };
    match thrown {
        Some(thrown) => Err(thrown.rethrow()),
        None => restored.and(result),
    }
}

fn restore(level: &Value) -> Result<(), Raise> {
    function("error_reporting", &[level.share()]).map(drop)
}

/// A place in PHP code.
pub(super) struct Place {
    file: Rc<CStr>,
    line: u32,
}

thread_local! {
    /// The name of the file that was asked for last: mostly it is the next one's, too.
    static FILE: RefCell<Rc<CStr>> = RefCell::new(Rc::from(c"?"));
}

impl Place {
    /// Where the PHP code stands that runs.
    pub(super) fn here() -> Self {
        let mut file: *const c_char = std::ptr::null();
        let mut line = 0;
        // SAFETY: the out pointers are local.
        unsafe { sys::apus_position(&raw mut file, &raw mut line) };
        // SAFETY: a name that is not NULL ends in NUL, and lives as long as the code that runs.
        let name = if file.is_null() { c"?" } else { unsafe { CStr::from_ptr(file) } };
        let file = FILE.with_borrow_mut(|last| {
            if **last != *name {
                *last = Rc::from(name);
            }
            Rc::clone(last)
        });
        Self { file, line }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.to_string_lossy(), self.line)
    }
}

/// The object that a value is; an error that names `what` else.
pub(super) fn object(value: &Value, what: &str) -> Result<Object, Raise> {
    value.object().ok_or_else(|| engine::throw_error(&format!("{what} is missing: call parent::__construct() first")))
}
