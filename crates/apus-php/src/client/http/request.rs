//! From a client's properties to a request.

use std::path::PathBuf;

use apus_client::http::{self as client, Content, FormFile, Request, RequestBody, Sink};
use apus_client::types::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, TRANSFER_ENCODING,
};
use apus_client::types::{HeaderMap, HeaderValue, Method};
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, View};
use apus_zend::{Raise, Value};
use bytes::Bytes;

use super::{HttpClient, slot};
use crate::client::values::{self, form_fields, form_text, refused};

/// What accepts the codings that the decoder knows.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br");

/// The request that the properties describe.
pub(super) fn build(object: &Object, client: &HttpClient, path: &[u8]) -> Result<Request, Raise> {
    let target = values::target(path)?;
    let given = object.slot(slot::REQUEST_HEADERS);
    let mut headers = match given.view() {
        View::Array(fields) => values::headers(fields)?,
        _ => HeaderMap::new(),
    };
    // The length is what is sent, whatever was said about it.
    headers.remove(CONTENT_LENGTH);
    headers.remove(TRANSFER_ENCODING);
    let body = body(object, &mut headers)?;
    add_defaults(object, client, &mut headers)?;
    values::expect_bounded(object, &super::CLIENT_CLASS, &headers)?;
    let method = object.slot(slot::REQUEST_METHOD);
    let method = match method.view() {
        View::Str(name) if !name.is_empty() => values::method(name)?,
        _ if body.is_some() => Method::POST,
        _ => Method::GET,
    };
    Ok(Request { method, target, headers, body: body.unwrap_or_default(), sink: sink(object)?, websocket: None })
}

fn add_defaults(object: &Object, client: &HttpClient, headers: &mut HeaderMap) -> Result<(), Raise> {
    if !headers.contains_key(CONNECTION) {
        // In the order of there, which comes before the codings.
        let kept = client.settings.borrow().keep_alive;
        headers.insert(CONNECTION, HeaderValue::from_static(if kept { "keep-alive" } else { "close" }));
    }
    if client.settings.borrow().http_compression && !headers.contains_key(ACCEPT_ENCODING) {
        headers.insert(ACCEPT_ENCODING, CODINGS);
    }
    if let Some(authorization) = &*client.authorization.borrow() {
        headers.insert(AUTHORIZATION, authorization.clone());
    }
    let cookies = object.slot(slot::COOKIES);
    if let View::Array(cookies) = cookies.view()
        && let Some(field) = values::cookie_field(cookies, |name, value| client.cookies.text_of(name, value))
    {
        let field = HeaderValue::from_bytes(&field).map_err(|_| refused("a cookie's name holds control characters"))?;
        headers.insert(COOKIE, field);
    }
    Ok(())
}

/// The body, or none.
fn body(object: &Object, headers: &mut HeaderMap) -> Result<Option<RequestBody>, Raise> {
    let (data, uploads) = (object.slot(slot::REQUEST_BODY), object.slot(slot::UPLOAD_FILES));
    if let View::Array(files) = uploads.view()
        && !files.is_empty()
    {
        let fields = match data.view() {
            View::Array(fields) => form_fields(fields),
            _ => Vec::new(),
        };
        let form = client::form(&fields, &form_files(files)?).map_err(|failure| refused(&failure.message))?;
        let content_type = HeaderValue::from_str(&form.0).map_err(|_| refused("the form cannot be sent"))?;
        headers.insert(CONTENT_TYPE, content_type);
        return Ok(Some(form.1));
    }
    match data.view() {
        View::Null => Ok(None),
        View::Array(_) => {
            let body = RequestBody::bytes(form_text(&data)?);
            if !headers.contains_key(CONTENT_TYPE) {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
            }
            Ok(Some(body))
        }
        view => match values::scalar(view) {
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => Ok(Some(RequestBody::bytes(text))),
            None => Err(refused("$requestBody must be a string or an array of form fields")),
        },
    }
}

/// What `addFile()` and `addData()` collected.
fn form_files(files: ArrayView<'_>) -> Result<Vec<FormFile>, Raise> {
    let mut out = Vec::with_capacity(files.len());
    for (_, file) in files.iter() {
        let View::Array(file) = file.view() else {
            return Err(refused("$uploadFiles is filled by addFile() and addData()"));
        };
        let text = |key: &str| file.get(key).and_then(values::scalar).unwrap_or_default();
        let number = |key: &str| match file.get(key) {
            Some(View::Int(value)) => u64::try_from(value).unwrap_or(0),
            _ => 0,
        };
        let content = match file.get("content") {
            Some(View::Str(bytes)) => Content::Bytes(Bytes::copy_from_slice(bytes)),
            _ => Content::File {
                path: PathBuf::from(os_string(text("path"))),
                offset: number("offset"),
                len: number("size"),
            },
        };
        out.push(FormFile { name: text("name"), filename: text("filename"), content_type: text("type"), content });
    }
    Ok(out)
}

fn os_string(bytes: Vec<u8>) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

fn sink(object: &Object) -> Result<Sink, Raise> {
    let (file, offset) = (object.slot(slot::DOWNLOAD_FILE), object.slot(slot::DOWNLOAD_OFFSET));
    let View::Str(path) = file.view() else { return Ok(Sink::Memory) };
    if path.is_empty() || path.contains(&0) {
        return Err(refused("the file to download into must have a name without NUL bytes"));
    }
    let offset = match offset.view() {
        View::Int(offset) => {
            u64::try_from(offset).map_err(|_| refused("the offset to download to must be 0 or more"))?
        }
        _ => 0,
    };
    Ok(Sink::File { path: PathBuf::from(os_string(path.to_vec())), offset })
}

/// Forgets what belongs to one request only.
pub(super) fn forget(object: &Object) {
    object.set_slot(slot::UPLOAD_FILES, Value::null());
    object.set_slot(slot::DOWNLOAD_FILE, Value::null());
    object.set_slot(slot::DOWNLOAD_OFFSET, Value::int(0));
}
