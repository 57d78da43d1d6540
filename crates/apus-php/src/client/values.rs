//! Between PHP arrays and what goes over the wire.

use apus_client::types::header::COOKIE;
use apus_client::types::{HeaderMap, HeaderName, HeaderValue, Method};
use apus_net::proto::query;
use apus_zend::class::Class;
use apus_zend::engine::ClassEntry;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value};
use bytes::Bytes;

use crate::exception::{self};
use crate::last_error;
use crate::swoole::{self, There};

/// A scalar as text; none for what has no textual form.
pub(super) fn scalar(view: View<'_>) -> Option<Vec<u8>> {
    Some(match view {
        View::Str(bytes) => bytes.to_vec(),
        View::Int(value) => value.to_string().into_bytes(),
        View::Float(value) => value.to_string().into_bytes(),
        View::Bool(true) => b"1".to_vec(),
        View::Bool(false) => Vec::new(),
        _ => return None,
    })
}

/// A key of an array as text.
pub(super) fn key_text(key: Key<'_>) -> Vec<u8> {
    match key {
        Key::Str(bytes) => bytes.to_vec(),
        Key::Index(index) => (index as i64).to_string().into_bytes(),
    }
}

pub(crate) fn refused(text: &str) -> Raise {
    exception::throw(exception::code::client::ARGUMENT, text)
}

/// Header fields from `name => value`, where a value may be a list of several; null leaves one out.
pub(super) fn headers(given: ArrayView<'_>) -> Result<HeaderMap, Raise> {
    let mut headers = HeaderMap::with_capacity(given.len());
    for (key, value) in given.iter() {
        let Key::Str(name) = key else { continue };
        match value.view() {
            View::Null => {}
            View::Array(values) => {
                for (_, value) in values.iter() {
                    add_header(&mut headers, name, value.view())?;
                }
            }
            value => add_header(&mut headers, name, value)?,
        }
    }
    Ok(headers)
}

fn add_header(headers: &mut HeaderMap, name: &[u8], value: View<'_>) -> Result<(), Raise> {
    let wrong = || {
        let text = format!(
            "header \"{}\": a name is a token, a value is text without control characters, line breaks above all (RFC 9110 section 5)",
            String::from_utf8_lossy(name).escape_debug()
        );
        refused(&text)
    };
    let value = scalar(value).ok_or_else(wrong)?;
    let parsed = HeaderName::from_bytes(name).map_err(|_| wrong())?;
    let value = HeaderValue::from_bytes(value.trim_ascii()).map_err(|_| wrong())?;
    headers.append(parsed, value);
    Ok(())
}

/// A method.
pub(super) fn method(name: &[u8]) -> Result<Method, Raise> {
    Method::from_bytes(name).map_err(|_| {
        refused(&format!(
            "method \"{}\" is no token (RFC 9110 section 9.1)",
            String::from_utf8_lossy(name).escape_debug()
        ))
    })
}

/// Path and query as they are put on the wire: what a URL cannot hold is percent-encoded, a fragment is cut off.
pub(super) fn target(path: &[u8]) -> Result<String, Raise> {
    if path.iter().any(u8::is_ascii_control) {
        return Err(refused("the path holds control characters: encode it with rawurlencode()"));
    }
    let path = path.split(|&byte| byte == b'#').next().unwrap_or_default();
    if path == b"*" {
        return Ok("*".to_owned());
    }
    let mut text = String::with_capacity(path.len() + 1);
    if path.first() != Some(&b'/') {
        text.push('/');
    }
    for &byte in path {
        match byte {
            b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80.. => {
                text.push('%');
                for nibble in [byte >> 4, byte & 15] {
                    text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0').to_ascii_uppercase());
                }
            }
            _ => text.push(char::from(byte)),
        }
    }
    Ok(text)
}

/// The setting that receives a body.
pub(super) fn write_func(value: &mut Value) -> Result<Callable, Raise> {
    Callable::new(value).map_err(|not| {
        let name =
            if let View::Str(name) = value.view() { String::from_utf8_lossy(name).into_owned() } else { String::new() };
        not.or(|why| {
            let raise =
                exception::throw(exception::code::client::OPTION, &format!("write_func must be callable: {why}"));
            swoole::there(raise, There::Text(format!("function '{name}' is not callable")))
        })
    })
}

/// A form as PHP's `http_build_query()` writes it.
pub(super) fn form_text(fields: &Value) -> Result<Vec<u8>, Raise> {
    let text = Callable::named("http_build_query")?.call(&[fields.share()])?;
    Ok(match text.view() {
        View::Str(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    })
}

/// Names and values of a form, nested arrays as `a[b][c]`.
pub(super) fn form_fields(given: ArrayView<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut fields = Vec::new();
    collect(given, None, 0, &mut fields);
    fields
}

/// How deep the arrays of a form may be nested; deeper ones are left out.
const MAX_DEPTH: usize = 32;

fn collect(given: ArrayView<'_>, prefix: Option<&[u8]>, depth: usize, fields: &mut Vec<(Vec<u8>, Vec<u8>)>) {
    for (key, value) in given.iter() {
        let key = key_text(key);
        let name = match prefix {
            None => key,
            Some(prefix) => [prefix, b"[", &key, b"]"].concat(),
        };
        match value.view() {
            View::Array(inner) if depth < MAX_DEPTH => collect(inner, Some(&name), depth + 1, fields),
            value => fields.extend(scalar(value).map(|text| (name, text))),
        }
    }
}

/// The value of `Cookie`, or none without cookies.
pub(super) fn cookie_field(cookies: ArrayView<'_>, raw: impl Fn(&[u8], &[u8]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let mut field: Vec<u8> = Vec::new();
    for (key, value) in cookies.iter() {
        let name = key_text(key);
        let Some(value) = scalar(value.view()).filter(|value| !value.is_empty()) else { continue };
        if !field.is_empty() {
            field.extend_from_slice(b"; ");
        }
        field.extend_from_slice(&name);
        field.push(b'=');
        match raw(&name, &value) {
            Some(raw) => field.extend_from_slice(&raw),
            None => query::percent_encode(&mut field, &value),
        }
    }
    (!field.is_empty()).then_some(field)
}

/// Bytes of all header fields, and of one cookie, that a client of Swoole's names sends.
const MOST_FIELDS: usize = 64 << 10;
const MOST_COOKIE: usize = 4 << 10;

/// Throws, under the names of Swoole, for a request whose fields or cookies are larger than there.
pub(super) fn expect_bounded(object: &Object, class: &Class, headers: &HeaderMap) -> Result<(), Raise> {
    if !object.is_second(class) {
        return Ok(());
    }
    let fields: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let cookies = headers.get(COOKIE).map_or(&b""[..], HeaderValue::as_bytes);
    let text = if cookies.split(|byte| *byte == b';').any(|cookie| cookie.trim_ascii().len() > MOST_COOKIE) {
        "HTTP cookie header is too large"
    } else if fields > MOST_FIELDS {
        "HTTP header block is too large"
    } else {
        return Ok(());
    };
    let class = object.name_there().and_then(|name| ClassEntry::find(&format!("{name}\\Exception")));
    let said = There::Error(class.unwrap_or_else(swoole::error_class), text.to_owned());
    Err(swoole::there(refused(text), said))
}

/// Header fields of an answer as PHP has them: lower-case names, several lines of one name as an array.
pub(super) fn header_array(fields: &[(HeaderName, Bytes)]) -> Result<Array, Raise> {
    let mut array = Array::new(fields.len())?;
    for (at, (name, value)) in fields.iter().enumerate() {
        if fields[..at].iter().any(|(earlier, _)| earlier == name) {
            continue;
        }
        let mut others = fields[at + 1..].iter().filter(|(other, _)| other == name).map(|(_, value)| value).peekable();
        if others.peek().is_none() {
            array.set_str(name.as_str().as_bytes(), value)?;
            continue;
        }
        let mut several = Array::new(2)?;
        several.push(Value::string(value)?)?;
        for other in others {
            several.push(Value::string(other)?)?;
        }
        array.set(name.as_str().as_bytes(), several.into())?;
    }
    Ok(array)
}

/// The same as code written for Swoole has those of HTTP/2: of several lines of one name the last.
pub(super) fn last_of_headers(fields: &[(HeaderName, Bytes)]) -> Result<Array, Raise> {
    let mut array = Array::new(fields.len())?;
    for (name, value) in fields {
        array.set_str(name.as_str().as_bytes(), value)?;
    }
    Ok(array)
}

/// The lines of `Set-Cookie`.
pub(super) fn set_cookie_lines(fields: &[(HeaderName, Bytes)]) -> impl Iterator<Item = &Bytes> {
    fields.iter().filter(|(name, _)| name == apus_client::types::header::SET_COOKIE).map(|(_, value)| value)
}

/// The lines of `Set-Cookie` as a PHP list; `None` where there are none.
pub(super) fn set_cookie_list(fields: &[(HeaderName, Bytes)]) -> Result<Option<Array>, Raise> {
    let mut lines = set_cookie_lines(fields).peekable();
    if lines.peek().is_none() {
        return Ok(None);
    }
    let mut list = Array::new(2)?;
    for line in lines {
        list.push(Value::string(line)?)?;
    }
    Ok(Some(list))
}

/// Writes what went wrong into the properties `errCode` and `errMsg`, whose slots follow each other.
pub(super) fn set_error(object: &Object, slot: u32, errno: i64, message: &str) -> Result<(), Raise> {
    if errno != 0 {
        last_error::fail(errno);
    }
    object.set_slot(slot, Value::int(errno));
    object.set_slot(slot + 1, Value::string(message.as_bytes())?);
    Ok(())
}

/// `['address' => …, 'port' => …]`, or false.
pub(super) fn address(address: Option<std::net::SocketAddr>) -> Result<Value, Raise> {
    let Some(address) = address else { return Ok(Value::bool(false)) };
    let mut array = Array::new(2)?;
    array.set_str(b"address", address.ip().to_string().as_bytes())?;
    array.set_int(b"port", i64::from(address.port()))?;
    Ok(array.into())
}
