//! `Response::cookie()` and `rawcookie()`.

use std::time::{SystemTime, UNIX_EPOCH};

use apus_net::proto::cookie::{CookieError, SetCookie};
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Value};

use crate::exception::{self};
use crate::swoole::{self, There};

/// Writes the Set-Cookie field's value that the arguments of `cookie()` describe. Without a path the cookie is for the
/// whole site; in code written for Swoole for the folder of what was asked for, whatever the declaration there says.
pub(super) fn from_call(call: &Call, raw: bool, second: bool) -> Result<Vec<u8>, Raise> {
    let expires = call.int(2, 0)?;
    let cookie = SetCookie {
        name: call.bytes(0)?,
        value: call.bytes(1)?,
        raw,
        // In code written for Swoole a time before 1970 is none.
        expires: u64::try_from(expires).unwrap_or(u64::from(!second)),
        path: if call.count() > 3 || second { call.bytes(3)? } else { b"/" },
        domain: call.bytes(4)?,
        secure: call.bool(5, false)?,
        http_only: call.bool(6, false)?,
        same_site: call.bytes(7)?,
        priority: call.bytes(8)?,
        partitioned: call.bool(9, false)?,
        as_form: second,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let mut out = Vec::with_capacity(64);
    match cookie.write(&mut out, now) {
        Ok(()) => Ok(out),
        Err(error) => {
            let raise = exception::throw(exception::code::http::INVALID_COOKIE, &error.to_string());
            Err(match words_there(error) {
                Some(words) => swoole::there(raise, There::Text(words)),
                None => raise,
            })
        }
    }
}

/// What is said there of bytes that would end a cookie's part.
fn words_there(error: CookieError) -> Option<String> {
    let part = match error {
        CookieError::Name => "The name cannot contain \"=\",",
        CookieError::Value => "The value cannot contain",
        CookieError::Path => "The path option cannot contain",
        CookieError::Domain => "The domain option cannot contain",
        _ => return None,
    };
    Some(format!(r#"{part} ",", ";", " ", "\t", "\r", "\n", "\013", or "\014""#))
}

/// What a `Swoole\Http\Cookie` writes of itself; nothing when it has said why it cannot.
#[cold]
pub(super) fn of_object(call: &Call) -> Result<Vec<u8>, Raise> {
    let mut method = Array::new(2)?;
    method.push(call.value(0))?;
    method.push(Value::string(b"toString")?)?;
    let method = Callable::new(&mut Value::from(method));
    let method = method.map_err(|why| why.or(|_| call.type_error(0, "of type Swoole\\Http\\Cookie or string")))?;
    let text = method.call(&[])?;
    match text.view() {
        View::Str(bytes) => Ok(bytes.to_vec()),
        _ => Ok(Vec::new()),
    }
}
