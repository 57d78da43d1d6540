//! The methods that set a request up, tell of an answer, or close: none of them waits.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use apus_client::types::HeaderValue;
use apus_client::wire::Facts;
use apus_zend::arg::{Any, Made, OrFalse};
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Call, Raise, Value};

use super::{HttpClient, slot, this};
use crate::client::{settings, values};

/// `$this` of a method.
pub(super) type Me<'c> = apus_zend::arg::Me<'c, HttpClient>;

pub(super) fn construct(host: &[u8], port: i64, ssl: bool) -> Result<Made<HttpClient, 3>, Raise> {
    let endpoint = settings::endpoint(host, port, ssl)?;
    let port = Value::int(i64::from(endpoint.port));
    let told = [(slot::HOST, Value::string(host)?), (slot::PORT, port), (slot::SSL, Value::bool(ssl))];
    Ok(Made(HttpClient::new(endpoint), told))
}

/// Bytes that an answer may have for code written for Swoole, where it does not say how many.
const MOST_THERE: u64 = 1 << 30;

/// The same for code written for Swoole, where nobody is verified who was not to be.
pub(super) fn construct_trusting(host: &[u8], port: i64, ssl: bool) -> Result<Made<HttpClient, 3>, Raise> {
    let made = construct(host, port, ssl)?;
    let mut settings = made.0.settings.borrow_mut();
    settings.common.ssl_verify_peer = false;
    // Nothing bounds an answer there but memory.
    settings.package_max_length = MOST_THERE;
    drop(settings);
    Ok(made)
}

pub(super) fn set(me: Me<'_>, given: ArrayView<'_>) -> Result<bool, Raise> {
    let mut others = Array::new(given.len())?;
    for (key, value) in given.iter() {
        let mut value = value.value();
        if key != Key::Str(b"write_func") {
            others.set(&values::key_text(key), value)?;
        } else if !matches!(value.view(), View::Null) {
            values::write_func(&mut value)?;
        }
    }
    settings::apply(&me.settings, others.view(), me.object.is_second(&super::CLIENT_CLASS))?;
    if given.get("defer").is_some() {
        me.defer.set(me.settings.borrow().defer);
    }
    merge_settings(&me.object, slot::SETTING, given)?;
    Ok(true)
}

/// Adds settings to the property that tells them.
pub(in crate::client) fn merge_settings(object: &Object, slot: u32, given: ArrayView<'_>) -> Result<(), Raise> {
    let known = object.slot(slot);
    let mut all = Array::new(given.len())?;
    let mut add = |from: ArrayView<'_>| -> Result<(), Raise> {
        for (key, value) in from.iter() {
            all.set(&values::key_text(key), value.value())?;
        }
        Ok(())
    };
    if let View::Array(known) = known.view() {
        add(known)?;
    }
    add(given)?;
    object.set_slot(slot, all.into());
    Ok(())
}

pub(super) fn get_defer(client: &HttpClient) -> bool {
    client.defer.get()
}

pub(super) fn set_defer(client: &HttpClient, defer: bool) -> bool {
    client.defer.set(defer);
    true
}

pub(super) fn set_method(object: Object, method: &[u8]) -> Result<bool, Raise> {
    values::method(method)?;
    object.set_slot(slot::REQUEST_METHOD, Value::string(method)?);
    Ok(true)
}

pub(super) fn set_headers(object: Object, headers: ArrayView<'_>) -> Result<bool, Raise> {
    values::headers(headers)?;
    object.set_slot(slot::REQUEST_HEADERS, headers.value());
    Ok(true)
}

pub(super) fn set_basic_auth(client: &HttpClient, user: &[u8], password: &[u8]) -> Result<(), Raise> {
    if user.contains(&b':') {
        return Err(values::refused("a user name of Basic authentication holds no colon (RFC 7617 section 2)"));
    }
    let credentials = apus_client::http::basic_authorization(user, password);
    let mut value =
        HeaderValue::from_str(&credentials).map_err(|_| values::refused("these credentials cannot be sent"))?;
    value.set_sensitive(true);
    *client.authorization.borrow_mut() = Some(value);
    Ok(())
}

pub(super) fn set_cookies(object: Object, cookies: ArrayView<'_>) -> bool {
    object.set_slot(slot::COOKIES, cookies.value());
    true
}

pub(super) fn set_data(object: Object, data: Any<'_>) -> Result<bool, Raise> {
    if !matches!(data.view(), View::Array(_)) {
        data.bytes()?;
    }
    object.set_slot(slot::REQUEST_BODY, data.value());
    Ok(true)
}

/// Adds to `$uploadFiles`.
fn add_upload(object: &Object, file: Array) -> Result<(), Raise> {
    let known = object.slot(slot::UPLOAD_FILES);
    let mut files = Array::new(4)?;
    if let View::Array(known) = known.view() {
        for (_, value) in known.iter() {
            files.push(value.value())?;
        }
    }
    files.push(file.into())?;
    object.set_slot(slot::UPLOAD_FILES, files.into());
    Ok(())
}

fn describe(file: &mut Array, name: &[u8], content_type: &[u8], filename: &[u8], size: u64) -> Result<(), Raise> {
    file.set_str(b"name", name)?;
    file.set_str(b"type", content_type)?;
    file.set_str(b"filename", filename)?;
    file.set_int(b"size", i64::try_from(size).unwrap_or(i64::MAX))
}

pub(super) fn add_file(
    object: Object,
    path: &[u8],
    name: &[u8],
    content_type: Option<&[u8]>,
    filename: Option<&[u8]>,
    offset: i64,
    length: i64,
) -> Result<bool, Raise> {
    let file = PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path));
    let refused = |why: &str| values::refused(&format!("{} cannot be uploaded: {why}", file.display()));
    let meta = fs::metadata(&file).map_err(|error| refused(&error.to_string()))?;
    if !meta.is_file() {
        return Err(refused("it is not a regular file"));
    }
    let rest = u64::try_from(offset).ok().and_then(|offset| meta.len().checked_sub(offset));
    let size = match (rest, u64::try_from(length)) {
        (Some(rest), Ok(0)) => rest,
        (Some(rest), Ok(length)) if length <= rest => length,
        _ => {
            let text = format!("it has {} bytes, offset {offset} and length {length} lie outside", meta.len());
            return Err(refused(&text));
        }
    };
    let own_name = file.file_name().map(|name| name.as_encoded_bytes().to_vec()).unwrap_or_default();
    let guessed = apus_edge::types::plain(&file);
    let mut array = Array::new(6)?;
    array.set_str(b"path", path)?;
    let content_type = content_type.unwrap_or(guessed.as_bytes());
    describe(&mut array, name, content_type, filename.unwrap_or(&own_name), size)?;
    array.set_int(b"offset", offset)?;
    add_upload(&object, array)?;
    Ok(true)
}

pub(super) fn add_data(call: &Call) -> Result<(), Raise> {
    let (data, name) = (call.bytes(0)?, call.bytes(1)?);
    let mut array = Array::new(6)?;
    let content_type = call.opt_bytes(2)?.unwrap_or(b"application/octet-stream");
    describe(&mut array, name, content_type, call.opt_bytes(3)?.unwrap_or(name), data.len() as u64)?;
    array.set(b"content", call.value(0))?;
    add_upload(&this(call)?, array)?;
    call.ret(true)
}

pub(super) fn get_body(object: Object) -> Value {
    object.slot(slot::BODY)
}

pub(super) fn get_headers(object: Object) -> Value {
    object.slot(slot::HEADERS)
}

pub(super) fn get_cookies(object: Object) -> Value {
    object.slot(slot::COOKIES)
}

pub(super) fn get_status_code(object: Object) -> Value {
    object.slot(slot::STATUS_CODE)
}

pub(super) fn get_header_out(client: &HttpClient) -> OrFalse<String> {
    let head = client.head.borrow();
    OrFalse((!head.is_empty()).then(|| head.clone()))
}

/// An address of the connection.
fn address(client: &HttpClient, of: fn(&Facts) -> Option<SocketAddr>) -> Result<Value, Raise> {
    values::address(client.facts.borrow().as_ref().and_then(|facts| of(facts)))
}

pub(super) fn get_peer_name(client: &HttpClient) -> Result<Value, Raise> {
    address(client, |facts| facts.peer)
}

pub(super) fn get_sock_name(client: &HttpClient) -> Result<Value, Raise> {
    address(client, |facts| facts.local)
}

pub(super) fn get_peer_cert(client: &HttpClient) -> OrFalse<String> {
    OrFalse(client.facts.borrow().as_ref().and_then(|facts| facts.certificate.clone()))
}

pub(super) fn close(me: Me<'_>) -> Result<bool, Raise> {
    let (connected, waited_for) = (me.is_connected(), me.reading.is_taken() || me.writing.is_taken());
    me.drop_connection();
    me.object.set_slot(slot::SOCKET, Value::null());
    me.object.set_slot(slot::CONNECTED, Value::bool(false));
    if waited_for {
        crate::wait::let_go_on_there(&me.object)?;
    }
    Ok(connected)
}

pub(super) fn destruct(object: Object) {
    // A subclass may have failed before it called parent::__construct().
    if let Some(client) = object.payload::<HttpClient>() {
        client.drop_connection();
    }
}
