//! The methods that set a request up, tell of an answer, or close: none of them waits.

use std::fs;
use std::path::PathBuf;

use apus_client::types::HeaderValue;
use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value};

use super::{HttpClient, slot, this};
use crate::client::{settings, values};

pub(super) fn construct(call: &Call) -> Result<(), Raise> {
    let endpoint = settings::endpoint(call, |tls| if tls { 443 } else { 80 })?;
    let (port, tls) = (i64::from(endpoint.port), endpoint.tls);
    call.construct(HttpClient::new(endpoint))?;
    let object = this(call)?;
    object.set_slot(slot::HOST, call.value(0));
    object.set_slot(slot::PORT, Value::int(port));
    object.set_slot(slot::SSL, Value::bool(tls));
    Ok(())
}

pub(super) fn set(call: &Call) -> Result<(), Raise> {
    let given = call.array(0)?;
    let client = call.this::<HttpClient>()?;
    let mut others = Array::new(given.len())?;
    for (key, value) in given.iter() {
        let mut value = value.value();
        if key != Key::Str(b"write_func") {
            others.set(&values::key_text(key), value)?;
        } else if !matches!(value.view(), View::Null) {
            values::write_func(&mut value)?;
        }
    }
    settings::apply(&client.settings, others.view())?;
    if given.get("defer").is_some() {
        client.defer.set(client.settings.borrow().defer);
    }
    merge_settings(&this(call)?, slot::SETTING, given)?;
    call.ret(true)
}

/// Adds settings to the property that tells them.
pub(in crate::client) fn merge_settings(
    object: &Object,
    slot: u32,
    given: apus_zend::value::ArrayView<'_>,
) -> Result<(), Raise> {
    let known = object.slot(slot);
    let mut all = Array::new(given.len())?;
    let mut add = |from: apus_zend::value::ArrayView<'_>| -> Result<(), Raise> {
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

pub(super) fn get_defer(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<HttpClient>()?.defer.get())
}

pub(super) fn set_defer(call: &Call) -> Result<(), Raise> {
    let defer = call.bool(0, true)?;
    call.this::<HttpClient>()?.defer.set(defer);
    call.ret(true)
}

pub(super) fn set_method(call: &Call) -> Result<(), Raise> {
    values::method(call.bytes(0)?)?;
    this(call)?.set_slot(slot::REQUEST_METHOD, call.value(0));
    call.ret(true)
}

pub(super) fn set_headers(call: &Call) -> Result<(), Raise> {
    values::headers(call.array(0)?)?;
    this(call)?.set_slot(slot::REQUEST_HEADERS, call.value(0));
    call.ret(true)
}

pub(super) fn set_basic_auth(call: &Call) -> Result<(), Raise> {
    let (user, password) = (call.bytes(0)?, call.bytes(1)?);
    if user.contains(&b':') {
        return Err(values::refused("a user name of Basic authentication holds no colon (RFC 7617 section 2)"));
    }
    let credentials = apus_client::http::basic_authorization(user, password);
    let mut value =
        HeaderValue::from_str(&credentials).map_err(|_| values::refused("these credentials cannot be sent"))?;
    value.set_sensitive(true);
    *call.this::<HttpClient>()?.authorization.borrow_mut() = Some(value);
    Ok(())
}

pub(super) fn set_cookies(call: &Call) -> Result<(), Raise> {
    call.array(0)?;
    this(call)?.set_slot(slot::COOKIES, call.value(0));
    call.ret(true)
}

pub(super) fn set_data(call: &Call) -> Result<(), Raise> {
    if !matches!(call.view(0), View::Array(_)) {
        call.bytes(0)?;
    }
    this(call)?.set_slot(slot::REQUEST_BODY, call.value(0));
    call.ret(true)
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

pub(super) fn add_file(call: &Call) -> Result<(), Raise> {
    let (path, name) = (call.bytes(0)?, call.bytes(1)?);
    let (offset, length) = (call.int(4, 0)?, call.int(5, 0)?);
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
    let guessed = mime_guess::from_path(&file).first_or_octet_stream();
    let mut array = Array::new(6)?;
    array.set_str(b"path", path)?;
    let content_type = call.opt_bytes(2)?.unwrap_or(guessed.essence_str().as_bytes());
    describe(&mut array, name, content_type, call.opt_bytes(3)?.unwrap_or(&own_name), size)?;
    array.set_int(b"offset", offset)?;
    add_upload(&this(call)?, array)?;
    call.ret(true)
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

fn property(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(this(call)?.slot(slot))
}

pub(super) fn get_body(call: &Call) -> Result<(), Raise> {
    property(call, slot::BODY)
}

pub(super) fn get_headers(call: &Call) -> Result<(), Raise> {
    property(call, slot::HEADERS)
}

pub(super) fn get_cookies(call: &Call) -> Result<(), Raise> {
    property(call, slot::COOKIES)
}

pub(super) fn get_status_code(call: &Call) -> Result<(), Raise> {
    property(call, slot::STATUS_CODE)
}

pub(super) fn get_header_out(call: &Call) -> Result<(), Raise> {
    let client = call.this::<HttpClient>()?;
    let head = client.head.borrow();
    if head.is_empty() { call.ret(false) } else { call.ret_bytes(head.as_bytes()) }
}

pub(super) fn get_peer_name(call: &Call) -> Result<(), Raise> {
    let facts = call.this::<HttpClient>()?.facts.borrow().clone();
    call.ret(values::address(facts.and_then(|facts| facts.peer))?)
}

pub(super) fn get_sock_name(call: &Call) -> Result<(), Raise> {
    let facts = call.this::<HttpClient>()?.facts.borrow().clone();
    call.ret(values::address(facts.and_then(|facts| facts.local))?)
}

pub(super) fn get_peer_cert(call: &Call) -> Result<(), Raise> {
    let facts = call.this::<HttpClient>()?.facts.borrow().clone();
    match facts.and_then(|facts| facts.certificate.clone()) {
        Some(certificate) => call.ret_bytes(certificate.as_bytes()),
        None => call.ret(false),
    }
}

pub(super) fn close(call: &Call) -> Result<(), Raise> {
    let client = call.this::<HttpClient>()?;
    let connected = client.is_connected();
    client.drop_connection();
    this(call)?.set_slot(slot::CONNECTED, Value::bool(false));
    call.ret(connected)
}

pub(super) fn destruct(call: &Call) -> Result<(), Raise> {
    // A subclass may have failed before it called parent::__construct().
    if let Some(client) = call.object()?.payload::<HttpClient>() {
        client.drop_connection();
    }
    Ok(())
}
