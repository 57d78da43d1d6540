//! `$_GET`, `$_POST`, `$_COOKIE`, `$_FILES`, `$_SERVER` and `$_REQUEST` of one request: the setting `superglobals`.

use apus_zend::object::Object;
use apus_zend::state::{Superglobals, server_base};
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value};

use super::fill;
use super::request::Request;

/// Those of a request object, for the coroutine that handles it.
pub(crate) fn of(object: &Object) -> Result<Superglobals, Raise> {
    let Some(request) = object.payload::<Request>() else {
        return Superglobals::new(std::array::from_fn(|_| Value::null()));
    };
    let property = |slot| -> Result<Value, Raise> {
        let value = fill::value(request, slot)?;
        if matches!(value.view(), View::Null) { Ok(Array::new(0)?.into()) } else { Ok(value) }
    };
    let [get, post, cookie] = [property(fill::GET)?, property(fill::POST)?, property(fill::COOKIE)?];
    let files = fill::files_by_attribute(request)?;
    let values = [get, post, cookie, files, server(request)?.into()];
    Superglobals::new(values)
}

/// What PHP has in `$_SERVER` behind a web server: the process's own, and the request's.
fn server(request: &Request) -> Result<Array, Raise> {
    let net = request.net();
    let conn = net.conn();
    let mut array = server_base()?;
    fields(request, &mut array)?;
    if let Some(host) = net.forwarded_host() {
        array.set_str(b"HTTP_HOST", host)?;
    }
    let path = net.path();
    let query = net.query();
    array.set_str(b"REQUEST_METHOD", net.method())?;
    match query {
        Some(query) => array.set_str(b"REQUEST_URI", &[path, b"?", query].concat())?,
        None => array.set_str(b"REQUEST_URI", path)?,
    }
    array.set_str(b"QUERY_STRING", query.unwrap_or_default())?;
    array.set_str(b"SERVER_PROTOCOL", net.version().as_str().as_bytes())?;
    array.set_str(b"SERVER_SOFTWARE", b"Apus")?;
    array.set_str(b"SERVER_NAME", host(net.forwarded_host().or(net.header(b"host")).unwrap_or_default()))?;
    array.set_str(b"SERVER_PORT", conn.local().port().to_string().as_bytes())?;
    if net.is_https() {
        array.set_str(b"HTTPS", b"on")?;
    }
    array.set_str(b"REMOTE_ADDR", net.remote_ip().as_bytes())?;
    array.set_str(b"REMOTE_PORT", net.remote_port().to_string().as_bytes())?;
    array.set_int(b"REQUEST_TIME", net.received_at() as i64)?;
    array.set(b"REQUEST_TIME_FLOAT", Value::float(net.received_at()))?;
    Ok(array)
}

/// A Host field without its port.
fn host(field: &[u8]) -> &[u8] {
    let end = match field.first() {
        Some(b'[') => field.iter().position(|&byte| byte == b']').map(|at| at + 1),
        _ => field.iter().position(|&byte| byte == b':'),
    };
    &field[..end.unwrap_or(field.len())]
}

/// The header fields (RFC 3875 section 4.1.18).
fn fields(request: &Request, array: &mut Array) -> Result<(), Raise> {
    let mut seen: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for (name, value) in request.net().headers() {
        // HTTP_PROXY means something to libraries, which take it for the administrator's word; and an underscore in a
        // field's name would stand for another field's hyphen.
        if name.eq_ignore_ascii_case(b"proxy") || name.contains(&b'_') {
            continue;
        }
        let mut key = Vec::with_capacity(5 + name.len());
        if !name.eq_ignore_ascii_case(b"content-type") && !name.eq_ignore_ascii_case(b"content-length") {
            key.extend_from_slice(b"HTTP_");
        }
        key.extend(name.iter().map(|&byte| if byte == b'-' { b'_' } else { byte.to_ascii_uppercase() }));
        match seen.iter_mut().find(|(other, _)| *other == key) {
            Some((_, earlier)) => {
                earlier.extend_from_slice(if key == b"HTTP_COOKIE" { b"; " } else { b", " });
                earlier.extend_from_slice(value);
            }
            None => seen.push((key, value.to_vec())),
        }
    }
    seen.iter().try_for_each(|(key, value)| array.set_str(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_no_part_of_the_name() {
        assert_eq!(host(b"a.example:80"), b"a.example");
        assert_eq!(host(b"[::1]:80"), b"[::1]");
        assert_eq!(host(b"a.example"), b"a.example");
        assert_eq!(host(b""), b"");
    }
}
