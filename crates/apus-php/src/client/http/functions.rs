//! `Apus\Coroutine\Http\request()`, `get()` and `post()`: one request by its URL.

use apus_client::http::endpoint;
use apus_zend::class::{Class, Method};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, engine, handler};

use super::{HttpClient, execute, request, slot};
use crate::client::{settings, values};
use crate::exception::{self, CLIENT, entry};
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
    Err(exception::throw(&CLIENT, "REQUEST", &text))
}

fn request_url(call: &Call) -> Result<(), Raise> {
    call.expect(2, 6)?;
    let method = call.bytes(1)?.to_ascii_uppercase();
    let data = (call.count() > 2).then(|| call.value(2));
    one(call, &method, data, &Arguments { options: 3, headers: 4, cookies: 5 }, "Coroutine\\Http\\request()")
}

fn get_url(call: &Call) -> Result<(), Raise> {
    call.expect(1, 4)?;
    one(call, b"GET", None, &Arguments { options: 1, headers: 2, cookies: 3 }, "Coroutine\\Http\\get()")
}

fn post_url(call: &Call) -> Result<(), Raise> {
    call.expect(2, 5)?;
    let data = Some(call.value(1));
    one(call, b"POST", data, &Arguments { options: 2, headers: 3, cookies: 4 }, "Coroutine\\Http\\post()")
}

/// `Apus\Coroutine\Http\ClientProxy`.
pub(in crate::client) static PROXY: Class = Class {
    name: "Apus\\Coroutine\\Http\\ClientProxy",
    modifiers: "",
    extends: "Apus\\Coroutine\\Http\\Client",
    implements: &[],
    doc: "The answer to a request that Apus\\Coroutine\\Http\\request(), get() or post() made: getStatusCode(), getHeaders(),\n\
          getCookies() and getBody() tell it.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[],
    native: true,
    lazy: None,
    entry: entry!(),
};

/// What all three take and throw.
const DOC: &str = "@param string $url of http or https\n@param array|null $options settings, as Client::set() takes them\n\
     @param array|null $headers header fields, name => value\n@param array|null $cookies cookies, name => value\n\
     @throws \\Apus\\Client\\Exception REQUEST when there is no answer; ARGUMENT, OPTION\n\
     @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE, CANNOT_SWITCH\n\
     @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\nWaits.\n@since 0.1.0";

/// All functions.
pub(in crate::client) static ALL: &[Method] = &[
    Method {
        decl: "function Apus\\Coroutine\\Http\\request(string $url, string $method, mixed $data = null, ?array $options = null, ?array $headers = null, ?array $cookies = null): Apus\\Coroutine\\Http\\ClientProxy",
        doc: const_format::concatcp!(
            "Makes one request over a connection of its own, and waits for its answer.\n\
             @param string|array|null $data the body: bytes, or the fields of a form\n",
            DOC
        ),
        handler: Some(handler!(request_url)),
    },
    Method {
        decl: "function Apus\\Coroutine\\Http\\get(string $url, ?array $options = null, ?array $headers = null, ?array $cookies = null): Apus\\Coroutine\\Http\\ClientProxy",
        doc: const_format::concatcp!("The same as request() with GET.\n", DOC),
        handler: Some(handler!(get_url)),
    },
    Method {
        decl: "function Apus\\Coroutine\\Http\\post(string $url, mixed $data, ?array $options = null, ?array $headers = null, ?array $cookies = null): Apus\\Coroutine\\Http\\ClientProxy",
        doc: const_format::concatcp!(
            "The same as request() with POST.\n@param string|array $data the body: bytes, or the fields of a form\n",
            DOC
        ),
        handler: Some(handler!(post_url)),
    },
];
