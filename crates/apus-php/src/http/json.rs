//! `Apus\Http\Request::json()`.

use apus_zend::value::View;
use apus_zend::{Call, Callable, Raise, Value};

use super::request::{self, Request};
use crate::exception;

fn refused(why: &str) -> Raise {
    exception::throw(exception::code::http::JSON, &format!("the request's body is not JSON: {why}"))
}

pub(super) fn json(call: &Call) -> Result<(), Raise> {
    let assoc = call.bool(0, true)?;
    let depth = call.int(1, 512)?;
    if !(1..=i64::from(i32::MAX)).contains(&depth) {
        return Err(call.value_error(1, &format!("must be between 1 and {}, {depth} given", i32::MAX)));
    }
    let body = request::whole_body(call.this::<Request>()?)?.ok_or_else(|| refused("it is a multipart form"))?;
    if body.is_empty() {
        return Err(refused("it is empty"));
    }
    // PHP's own function, with its limits and messages. Nothing else runs between these calls.
    let text = Value::string(&body)?;
    let value = Callable::named("json_decode")?.call(&[text, Value::bool(assoc), Value::int(depth)])?;
    if matches!(value.view(), View::Null) {
        let error = Callable::named("json_last_error")?.call(&[])?;
        if !matches!(error.view(), View::Int(0)) {
            let message = Callable::named("json_last_error_msg")?.call(&[])?;
            return Err(refused(match message.view() {
                View::Str(text) => std::str::from_utf8(text).unwrap_or_default(),
                _ => "syntax error",
            }));
        }
    }
    call.ret(value)
}
