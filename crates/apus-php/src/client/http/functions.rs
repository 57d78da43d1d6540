//! `Apus\Coroutine\Http\request()`, `get()` and `post()`: one request by its URL.

use apus_client::http::endpoint;
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, engine};

use super::{HttpClient, execute, request, slot};
use crate::client::{settings, values};
use crate::exception::{self};
use crate::runtime::State;
use crate::wait::expect_suspendable;

/// Where the arguments that all three functions take begin.
struct Arguments {
    options: usize,
    headers: usize,
    cookies: usize,
}

/// Makes one request, and gives the client that made it.
fn one(call: &Call, method: &[u8], data: Option<Value>, at: &Arguments, name: &'static str) -> Result<(), Raise> {
    let state = State::get()?;
    expect_suspendable(&state, name)?;
    let url = call.text(0)?;
    let (endpoint, target) = endpoint(url.trim())
        .ok_or_else(|| values::refused(&format!("\"{}\" is no URL of http or https", url.escape_debug())))?;
    let client = HttpClient::new(endpoint);
    client.settings.borrow_mut().keep_alive = false;
    if let Some(options) = call.opt_array(at.options)? {
        settings::apply(&client.settings, options)?;
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
    if call.opt_array(at.headers)?.is_some() {
        object.set_slot(slot::REQUEST_HEADERS, call.value(at.headers));
    }
    if call.opt_array(at.cookies)?.is_some() {
        object.set_slot(slot::COOKIES, call.value(at.cookies));
    }
    let request = request::build(&object, client, target.as_bytes())?;
    let answered = match execute::exchange(&object, client, &state, request, (name, "request()"))? {
        Some(finished) => execute::finish(&object, client, finished)?,
        None => false,
    };
    if answered {
        return call.ret(object);
    }
    let why = values::scalar(object.slot(slot::ERR_CODE + 1).view()).unwrap_or_default();
    let text = format!("{} {url}: {}", String::from_utf8_lossy(method), String::from_utf8_lossy(&why));
    Err(exception::throw(exception::code::client::REQUEST, &text))
}

fn request_url(call: &Call) -> Result<(), Raise> {
    let method = call.bytes(1)?.to_ascii_uppercase();
    let data = (call.count() > 2).then(|| call.value(2));
    one(call, &method, data, &Arguments { options: 3, headers: 4, cookies: 5 }, "Coroutine\\Http\\request()")
}

fn get_url(call: &Call) -> Result<(), Raise> {
    one(call, b"GET", None, &Arguments { options: 1, headers: 2, cookies: 3 }, "Coroutine\\Http\\get()")
}

fn post_url(call: &Call) -> Result<(), Raise> {
    let data = Some(call.value(1));
    one(call, b"POST", data, &Arguments { options: 2, headers: 3, cookies: 4 }, "Coroutine\\Http\\post()")
}

apus_zend::stub!("client/http/functions");
