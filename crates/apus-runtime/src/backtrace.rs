//! A backtrace as text, in the form of PHP's `debug_print_backtrace()`.

use std::fmt::Write as _;

use apus_zend::value::{ArrayView, View};
use apus_zend::{Callable, Value};

/// One frame a line, each with its end.
pub fn text(trace: &Value) -> String {
    let View::Array(frames) = trace.view() else { return String::new() };
    let mut text = String::new();
    for (at, (_, frame)) in frames.iter().enumerate() {
        if let View::Array(frame) = frame.view() {
            let _ = writeln!(text, "#{at} {}", frame_text(frame));
        }
    }
    text
}

/// `/file.php(7): Class->method()`
fn frame_text(frame: ArrayView<'_>) -> String {
    let text = |key| match frame.get(key) {
        Some(View::Str(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let place = match frame.get("line") {
        Some(View::Int(line)) => format!("{}({line}): ", text("file")),
        _ => "[internal function]: ".to_owned(),
    };
    format!("{place}{}{}{}({})", text("class"), text("type"), text("function"), arguments(frame))
}

/// Numbers and the kinds of everything else: values may be large or secret.
fn arguments(frame: ArrayView<'_>) -> String {
    let Some(View::Array(args)) = frame.get("args") else { return String::new() };
    let one = |value: Value| match value.view() {
        View::Int(value) => value.to_string(),
        View::Str(_) => "'...'".to_owned(),
        View::Array(_) => "Array".to_owned(),
        View::Object(_) => format!("Object({})", class_of(&value)),
        View::Null => "NULL".to_owned(),
        View::Bool(value) => value.to_string(),
        View::Float(value) => value.to_string(),
        View::Other => "Resource".to_owned(),
    };
    args.iter().map(|(_, value)| one(value.value())).collect::<Vec<_>>().join(", ")
}

fn class_of(object: &Value) -> String {
    let name = Callable::named("get_class").and_then(|get| get.call(&[object.share()]));
    match name.as_ref().map(Value::view) {
        Ok(View::Str(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => String::new(),
    }
}
