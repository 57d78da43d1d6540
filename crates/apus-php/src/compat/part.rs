//! A part of a string, decoded.

use apus_zend::value::ArrayView;
use apus_zend::{Callable, Raise, Value, engine};

/// `JSON_OBJECT_AS_ARRAY`
const OBJECT_AS_ARRAY: i64 = 1;

/// The bytes from `offset` on; a negative one counts from the end, and `length` 0 means all.
fn part(text: &[u8], offset: i64, length: i64) -> Result<&[u8], &'static str> {
    let Some(from) = if offset < 0 { offset.checked_add_unsigned(text.len() as u64) } else { Some(offset) }
        .and_then(|from| usize::try_from(from).ok())
    else {
        return Err("Offset must be not less than the negative length of the string");
    };
    let rest = text.get(from..).filter(|rest| !rest.is_empty());
    let rest = rest.ok_or("Offset must be less than the length of the string")?;
    let length = usize::try_from(length).ok().filter(|length| *length > 0).unwrap_or(rest.len());
    Ok(&rest[..length.min(rest.len())])
}

/// `swoole_substr_unserialize()`.
pub(super) fn unserialize(
    text: &[u8],
    offset: i64,
    length: i64,
    options: Option<ArrayView<'_>>,
) -> Result<Value, Raise> {
    let Ok(part) = part(text, offset, length) else { return Ok(Value::bool(false)) };
    let mut args = vec![Value::string(part)?];
    args.extend(options.map(ArrayView::value));
    Callable::named("unserialize")?.call(&args)
}

/// `swoole_substr_json_decode()`.
pub(super) fn json_decode(
    text: &[u8],
    offset: i64,
    length: i64,
    associative: bool,
    depth: i64,
    flags: i64,
) -> Result<Value, Raise> {
    if text.is_empty() {
        engine::warning("Non-empty string required")?;
        return Ok(Value::null());
    }
    match part(text, offset, length) {
        Ok(part) => {
            let associative = associative || flags & OBJECT_AS_ARRAY != 0;
            let args = [Value::string(part)?, Value::bool(associative), Value::int(depth), Value::int(flags)];
            Callable::named("json_decode")?.call(&args)
        }
        Err(why) => {
            engine::warning(why)?;
            Ok(Value::null())
        }
    }
}
