//! `Apus\Coroutine\Http\request()`, `get()` and `post()`: one request by its URL.

use apus_client::http::endpoint;
use apus_zend::arg::Any;
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Raise, Value, engine};

use super::{HttpClient, execute, request, slot};
use crate::client::{settings, values};
use crate::exception::{self};
use crate::runtime::State;
use crate::wait::expect_suspendable;

/// What the last three arguments of all these functions are.
struct Extra<'c> {
    options: Option<ArrayView<'c>>,
    headers: Option<ArrayView<'c>>,
    cookies: Option<ArrayView<'c>>,
}

/// Makes one request, and gives the client that made it.
fn one(url: &str, method: &[u8], data: Option<Value>, extra: &Extra<'_>, name: &'static str) -> Result<Object, Raise> {
    let state = State::get()?;
    expect_suspendable(&state, name)?;
    let (endpoint, target) = endpoint(url.trim())
        .ok_or_else(|| values::refused(&format!("\"{}\" is no URL of http or https", url.escape_debug())))?;
    let client = HttpClient::new(endpoint);
    client.settings.borrow_mut().keep_alive = false;
    if let Some(options) = extra.options {
        settings::apply(&client.settings, options, false)?;
    }
    let object = Object::new(PROXY.get(), client)?;
    let Some(client) = object.payload::<HttpClient>() else { return Err(engine::throw_error("no client was made")) };
    object.set_slot(slot::HOST, Value::string(client.endpoint.host.as_bytes())?);
    object.set_slot(slot::PORT, Value::int(i64::from(client.endpoint.port)));
    object.set_slot(slot::SSL, Value::bool(client.endpoint.tls));
    object.set_slot(slot::REQUEST_METHOD, Value::string(method)?);
    if let Some(data) = data {
        object.set_slot(slot::REQUEST_BODY, data);
    }
    for (slot, given) in [(slot::REQUEST_HEADERS, extra.headers), (slot::COOKIES, extra.cookies)] {
        if let Some(array) = given {
            object.set_slot(slot, array.value());
        }
    }
    let request = request::build(&object, client, target.as_bytes())?;
    let answered = match execute::exchange(&object, client, &state, request, (name, "request()"))? {
        Some(finished) => execute::finish(&object, client, finished)?,
        None => false,
    };
    if answered {
        return Ok(object);
    }
    let why = values::scalar(object.slot(slot::ERR_CODE + 1).view()).unwrap_or_default();
    let text = format!("{} {url}: {}", String::from_utf8_lossy(method), String::from_utf8_lossy(&why));
    Err(exception::throw(exception::code::client::REQUEST, &text))
}

fn request_url(
    url: String,
    method: &[u8],
    data: Any<'_>,
    options: Option<ArrayView<'_>>,
    headers: Option<ArrayView<'_>>,
    cookies: Option<ArrayView<'_>>,
) -> Result<Object, Raise> {
    let data = data.is_passed().then(|| data.value());
    let extra = Extra { options, headers, cookies };
    one(&url, &method.to_ascii_uppercase(), data, &extra, "Coroutine\\Http\\request()")
}

fn get_url(
    url: String,
    options: Option<ArrayView<'_>>,
    headers: Option<ArrayView<'_>>,
    cookies: Option<ArrayView<'_>>,
) -> Result<Object, Raise> {
    one(&url, b"GET", None, &Extra { options, headers, cookies }, "Coroutine\\Http\\get()")
}

fn post_url(
    url: String,
    data: Value,
    options: Option<ArrayView<'_>>,
    headers: Option<ArrayView<'_>>,
    cookies: Option<ArrayView<'_>>,
) -> Result<Object, Raise> {
    one(&url, b"POST", Some(data), &Extra { options, headers, cookies }, "Coroutine\\Http\\post()")
}

apus_zend::stub!("client/http/functions");
