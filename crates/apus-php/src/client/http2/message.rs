//! `Apus\Http2\Request` and `Apus\Http2\Response`.

use apus_client::http2::{Http2Request, Http2Response};
use apus_client::types::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST};
use apus_client::types::{HeaderMap, HeaderValue};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value};
use bytes::Bytes;

use self::slot::{request, response};
use crate::client::cookies::Written;
use crate::client::values::{self, refused};

/// `$statusCode` of a stream that the server broke off.
const RESET: i64 = -3;

/// A piece of a body: bytes, or the fields of a form.
pub(super) fn body(data: &Value) -> Result<Bytes, Raise> {
    match data.view() {
        View::Null => Ok(Bytes::new()),
        View::Array(_) => Ok(values::form_text(data)?.into()),
        view => match values::scalar(view) {
            Some(text) => Ok(text.into()),
            None => Err(refused("the data must be a string or an array of form fields")),
        },
    }
}

/// The request that an object describes.
pub(super) fn build(object: &Object, compression: bool) -> Result<Http2Request, Raise> {
    let text = |slot: u32| values::scalar(object.slot(slot).view()).unwrap_or_default();
    let truth = |slot: u32| matches!(object.slot(slot).view(), View::Bool(true));
    let given = object.slot(request::HEADERS);
    let mut headers = if let View::Array(fields) = given.view() {
        values::headers(fields)?
    } else {
        object.set_slot(request::HEADERS, Array::new(0)?.into());
        HeaderMap::new()
    };
    let authority = headers.remove(HOST).and_then(|host| host.to_str().ok().map(str::to_owned));
    let data = object.slot(request::DATA);
    let (body, open) = (body(&data)?, truth(request::PIPELINE));
    if matches!(data.view(), View::Array(_)) && !headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    }
    headers.remove(CONTENT_LENGTH);
    if !body.is_empty() && !open {
        headers.insert(CONTENT_LENGTH, body.len().into());
    }
    if compression && !headers.contains_key(ACCEPT_ENCODING) {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br"));
    }
    let cookies = object.slot(request::COOKIES);
    if let View::Array(cookies) = cookies.view()
        && let Some(field) = values::cookie_field(cookies, |_, _| None)
    {
        let field = HeaderValue::from_bytes(&field).map_err(|_| refused("a cookie's name holds control characters"))?;
        headers.insert(COOKIE, field);
    }
    let method = text(request::METHOD);
    Ok(Http2Request {
        method: values::method(if method.is_empty() { b"GET" } else { &method })?,
        target: values::target(&text(request::PATH))?,
        headers,
        authority,
        body,
        open,
        by_piece: truth(request::USE_PIPELINE_READ),
    })
}

/// The object of an answer.
pub(super) fn object(answer: &Http2Response, second: bool) -> Result<Object, Raise> {
    let object = Object::plain(RESPONSE.named(second))?;
    object.set_slot(response::STREAM_ID, Value::int(i64::from(answer.stream)));
    object.set_slot(response::ERR_CODE, Value::int(answer.error));
    object.set_slot(response::STATUS_CODE, Value::int(answer.status.map_or(RESET, i64::from)));
    object.set_slot(response::PIPELINE, Value::bool(answer.more));
    let headers = if second { values::last_of_headers } else { values::header_array };
    object.set_slot(response::HEADERS, headers(&answer.headers)?.into());
    if let Some(lines) = values::set_cookie_list(&answer.headers)? {
        object.set_slot(response::SET_COOKIE_HEADERS, lines.into());
        let cookies = Written::default().merged(&Value::null(), values::set_cookie_lines(&answer.headers))?;
        object.set_slot(response::COOKIES, cookies);
    }
    object.set_slot(response::DATA, Value::string(&answer.data)?);
    Ok(object)
}

apus_zend::stub!("client/http2/message");
