//! Callables on their way to another process: names and objects are values; a closure is where its code stands, what it
//! uses and its object.

use apus_zend::closure::{self, Code, Place};
use apus_zend::engine::ClassEntry;
use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Callable, Raise, Value, engine};

use crate::exception::{self};

/// What the first element says of an array that stands for a closure. No class has that name, so no callable begins
/// with it.
const CLOSURE: &[u8] = b"\0closure";

fn refused(text: &str) -> Raise {
    exception::throw(exception::code::task::CALLABLE, text)
}

fn is_closure(value: &Value) -> bool {
    match (value.view(), ClassEntry::find("Closure")) {
        (View::Object(object), Some(class)) => object.is_of(class),
        _ => false,
    }
}

fn call_method(object: &Value, name: &str, args: &[Value]) -> Result<Value, Raise> {
    let mut pair = Array::new(2)?;
    pair.push(object.share())?;
    pair.push(Value::string(name.as_bytes())?)?;
    let mut pair: Value = pair.into();
    Callable::new(&mut pair).map_err(|not| not.or(refused))?.call(args)
}

/// The variables that a closure uses, by name.
fn used(closure: &Value) -> Result<Value, Raise> {
    let class = ClassEntry::find("ReflectionFunction").ok_or_else(|| refused("PHP has no ReflectionFunction"))?;
    let reflection: Value = Object::plain(class)?.into();
    call_method(&reflection, "__construct", &[closure.share()])?;
    call_method(&reflection, "getClosureUsedVariables", &[])
}

/// What a callable is sent as.
pub(super) fn take_apart(callable: &Value) -> Result<Value, Raise> {
    if !is_closure(callable) {
        return Ok(callable.share());
    }
    // SAFETY: it is a closure.
    let (code, this) = unsafe { (closure::look(callable), closure::this(callable)) };
    let place = match code {
        Code::Written(place) => place,
        Code::Named { scope, function } => return named(&scope, &function, this),
        Code::Unknown => {
            let text = "the closure cannot be sent to another process: its code stands outside functions in an included file, or was made by \
                        eval(); write it inside a function or method, or pass the name of one";
            return Err(refused(text));
        }
    };
    let mut parts = Array::new(9)?;
    parts.push(Value::string(CLOSURE)?)?;
    for name in [&place.scope, &place.function, &place.bound] {
        parts.push(Value::string(name)?)?;
    }
    for number in [place.number, place.lines.0, place.lines.1] {
        parts.push(Value::int(i64::from(number)))?;
    }
    parts.push(this.unwrap_or_else(Value::null))?;
    parts.push(used(callable)?)?;
    Ok(parts.into())
}

/// A closure that was made of a function or method.
fn named(scope: &[u8], function: &[u8], this: Option<Value>) -> Result<Value, Raise> {
    if scope.is_empty() {
        return Value::string(function);
    }
    let mut pair = Array::new(2)?;
    pair.push(this.map_or_else(|| Value::string(scope), Ok)?)?;
    pair.push(Value::string(function)?)?;
    Ok(pair.into())
}

/// The callable that was sent.
pub(super) fn restore(sent: Value) -> Result<Value, Raise> {
    let View::Array(array) = sent.view() else { return Ok(sent) };
    let parts: Vec<Value> = array.iter().map(|(_, part)| part.value()).collect();
    let [mark, scope, function, bound, number, first, last, this, used] = &parts[..] else { return Ok(sent) };
    if !matches!(mark.view(), View::Str(CLOSURE)) {
        return Ok(sent);
    }
    let text = |value: &Value| match value.view() {
        View::Str(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    };
    let int = |value: &Value| match value.view() {
        View::Int(n) => u32::try_from(n).unwrap_or(0),
        _ => 0,
    };
    let place = Place {
        scope: text(scope),
        function: text(function),
        number: int(number),
        lines: (int(first), int(last)),
        bound: text(bound),
    };
    let this = Some(this).filter(|this| matches!(this.view(), View::Object(_)));
    let Some(closure) = closure::make(&place, this)? else { return Err(missing(&place)) };
    if let View::Array(used) = used.view() {
        for (key, value) in used.iter() {
            let Key::Str(name) = key else { continue };
            // SAFETY: a closure just made.
            unsafe { closure::bind(&closure, name, value.value())? };
        }
    }
    Ok(closure)
}

fn missing(place: &Place) -> Raise {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let within = match (place.scope.is_empty(), place.function.is_empty()) {
        (_, true) => "the main script".to_owned(),
        (true, false) => format!("{}()", text(&place.function)),
        (false, false) => format!("{}::{}()", text(&place.scope), text(&place.function)),
    };
    engine::throw_error(&format!(
        "the task worker does not know the closure at line {} of {within}: it has not loaded that code, or another version of it",
        place.lines.0
    ))
}
