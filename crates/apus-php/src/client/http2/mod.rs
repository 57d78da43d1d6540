//! `Apus\Coroutine\Http2\Client`.

mod class;
mod message;

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use apus_client::connect::Endpoint;
use apus_client::failure::Failure;
use apus_client::http2::Http2;
use apus_coro::Wait;
use apus_options::client_http::Settings;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, native};
use tokio::sync::Notify;

use super::busy::Busy;
use super::http::{merge_settings, sleep};
use super::{settings, values};
use crate::runtime::State;
use crate::wait::{expect_suspendable, wait};

pub(super) use class::CLIENT_CLASS;
pub(super) use message::{REQUEST, RESPONSE};

/// Where the declared properties stand.
mod slot {
    pub(super) const ERR_CODE: u32 = 0;
    pub(super) const SETTING: u32 = 4;
    pub(super) const CONNECTED: u32 = 6;
    pub(super) const HOST: u32 = 7;
    pub(super) const PORT: u32 = 8;
    pub(super) const SSL: u32 = 9;
    pub(super) const SERVER_LAST_STREAM_ID: u32 = 10;
}

const NAME: &str = "Apus\\Coroutine\\Http2\\Client";
/// `$errCode` of a client that is not connected.
const NO_CONNECTION: i64 = 5001;

/// What is behind a client object.
struct Http2Client {
    endpoint: Endpoint,
    settings: RefCell<Settings>,
    connection: RefCell<Option<Rc<Http2>>>,
    connecting: Busy,
    receiving: Busy,
    closing: Rc<Notify>,
}

native!(Http2Client, "Apus\\Coroutine\\Http2\\Client");

impl Http2Client {
    fn drop_connection(&self) -> bool {
        let held = self.connection.borrow_mut().take();
        if let Some(connection) = &held {
            connection.close();
        }
        self.closing.notify_waiters();
        held.is_some()
    }
}

fn this(call: &Call) -> Result<Object, Raise> {
    call.object()
}

fn construct(call: &Call) -> Result<(), Raise> {
    let endpoint = settings::endpoint(call, |tls| if tls { 443 } else { 80 })?;
    let (port, tls) = (i64::from(endpoint.port), endpoint.tls);
    call.construct(Http2Client {
        endpoint,
        settings: RefCell::new(Settings::default()),
        connection: RefCell::new(None),
        connecting: Busy::default(),
        receiving: Busy::default(),
        closing: Rc::new(Notify::new()),
    })?;
    let object = this(call)?;
    object.set_slot(slot::HOST, call.value(0));
    object.set_slot(slot::PORT, Value::int(port));
    object.set_slot(slot::SSL, Value::bool(tls));
    Ok(())
}

fn destruct(call: &Call) -> Result<(), Raise> {
    if let Some(client) = call.object()?.payload::<Http2Client>() {
        client.drop_connection();
    }
    Ok(())
}

fn set(call: &Call) -> Result<(), Raise> {
    let given = call.array(0)?;
    settings::apply(&call.this::<Http2Client>()?.settings, given)?;
    merge_settings(&this(call)?, slot::SETTING, given)?;
    call.ret(true)
}

fn fail(object: &Object, errno: i64, message: &str) -> Result<(), Raise> {
    values::set_error(object, slot::ERR_CODE, errno, message)
}

/// Waits for what a connection does, unless the client is closed or the time is over meanwhile. None: it failed, which the
/// properties tell.
fn during<T>(
    object: &Object,
    client: &Http2Client,
    state: &State,
    name: &'static str,
    limit: Option<Duration>,
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<Option<T>, Raise> {
    let closing = Rc::clone(&client.closing);
    // Made here, not when first polled: a close() before that counts, too.
    let closed = closing.notified();
    let waited = wait(state, Wait::Outside(name), async {
        tokio::select! {
            biased;
            done = future => done.map_err(|failure| (i64::from(failure.errno), failure.message)),
            () = closed => Err((i64::from(libc::ECONNRESET), "the client was closed meanwhile".to_owned())),
            () = sleep(limit) => Err((i64::from(libc::ETIMEDOUT), format!("{name} took longer than its time-out"))),
        }
    })?;
    let open = client.connection.borrow().as_ref().is_some_and(|connection| connection.is_open());
    object.set_slot(slot::CONNECTED, Value::bool(open));
    match waited {
        Some(Ok(done)) => {
            fail(object, 0, "")?;
            return Ok(Some(done));
        }
        Some(Err((errno, message))) => fail(object, errno, &message)?,
        None => fail(object, i64::from(libc::ECANCELED), "the coroutine was cancelled")?,
    }
    Ok(None)
}

/// The connection; none, which the properties tell, when there is none.
fn connection(object: &Object, client: &Http2Client) -> Result<Option<Rc<Http2>>, Raise> {
    let held = client.connection.borrow().clone();
    if held.is_none() {
        object.set_slot(slot::CONNECTED, Value::bool(false));
        fail(object, NO_CONNECTION, "the client is not connected: call connect() first")?;
    }
    Ok(held)
}

fn connect(call: &Call) -> Result<(), Raise> {
    const NAMES: (&str, &str) = ("Coroutine\\Http2\\Client::connect()", "connect()");
    call.expect(0, 0)?;
    let client = call.this::<Http2Client>()?;
    let object = this(call)?;
    let state = State::get()?;
    expect_suspendable(&state, NAMES.0)?;
    let in_use = client.connecting.enter(&state, NAME, NAMES.1)?;
    let open = client.connection.borrow().as_ref().is_some_and(|connection| connection.is_open());
    if open {
        fail(&object, i64::from(libc::EISCONN), "the client is connected already")?;
        return call.ret(false);
    }
    client.drop_connection();
    let options = settings::http2(&client.settings.borrow(), &state);
    let endpoint = client.endpoint.clone();
    let made = during(&object, client, &state, NAMES.0, None, async move { Http2::connect(&endpoint, options).await });
    drop(in_use);
    let Some(made) = made? else { return call.ret(false) };
    *client.connection.borrow_mut() = Some(Rc::new(made));
    object.set_slot(slot::CONNECTED, Value::bool(true));
    call.ret(true)
}

fn send(call: &Call) -> Result<(), Raise> {
    const NAME: &str = "Coroutine\\Http2\\Client::send()";
    call.expect(1, 1)?;
    let client = call.this::<Http2Client>()?;
    let object = this(call)?;
    let request = message::build(call, client.settings.borrow().http_compression)?;
    let state = State::get()?;
    expect_suspendable(&state, NAME)?;
    let Some(connection) = connection(&object, client)? else { return call.ret(false) };
    let limit = settings::whole(&client.settings.borrow(), &state);
    match during(&object, client, &state, NAME, limit, connection.send(request))? {
        Some(id) => call.ret(i64::from(id)),
        None => call.ret(false),
    }
}

fn write(call: &Call) -> Result<(), Raise> {
    const NAME: &str = "Coroutine\\Http2\\Client::write()";
    call.expect(2, 3)?;
    let id = call.int(0, 0)?;
    let data = message::body(&call.value(1))?;
    let end = call.bool(2, false)?;
    let client = call.this::<Http2Client>()?;
    let object = this(call)?;
    let state = State::get()?;
    expect_suspendable(&state, NAME)?;
    let Some(connection) = connection(&object, client)? else { return call.ret(false) };
    let limit = settings::whole(&client.settings.borrow(), &state);
    let id = u32::try_from(id).unwrap_or(0);
    call.ret(during(&object, client, &state, NAME, limit, connection.write(id, data, end))?.is_some())
}

fn recv(call: &Call) -> Result<(), Raise> {
    const NAMES: (&str, &str) = ("Coroutine\\Http2\\Client::recv()", "recv()");
    call.expect(0, 1)?;
    let client = call.this::<Http2Client>()?;
    let object = this(call)?;
    let state = State::get()?;
    expect_suspendable(&state, NAMES.0)?;
    let in_use = client.receiving.enter(&state, NAME, NAMES.1)?;
    let Some(connection) = connection(&object, client)? else { return call.ret(false) };
    let fallback = {
        let settings = client.settings.borrow();
        settings::limit(settings.read_timeout, settings::whole(&settings, &state))
    };
    let limit = settings::argument(call, 0, fallback)?;
    let answer = during(&object, client, &state, NAMES.0, limit, connection.receive());
    drop(in_use);
    object.set_slot(slot::SERVER_LAST_STREAM_ID, Value::int(i64::from(connection.last_answered())));
    match answer? {
        Some(answer) => call.ret(message::object(&answer)?),
        None => call.ret(false),
    }
}

fn ping(call: &Call) -> Result<(), Raise> {
    const NAME: &str = "Coroutine\\Http2\\Client::ping()";
    call.expect(0, 0)?;
    let client = call.this::<Http2Client>()?;
    let object = this(call)?;
    let state = State::get()?;
    expect_suspendable(&state, NAME)?;
    let Some(connection) = connection(&object, client)? else { return call.ret(false) };
    let limit = settings::whole(&client.settings.borrow(), &state);
    call.ret(during(&object, client, &state, NAME, limit, connection.ping())?.is_some())
}

fn go_away(call: &Call) -> Result<(), Raise> {
    let code = call.int(0, 0)?;
    call.bytes(1)?;
    if code != 0 {
        return Err(call.value_error(0, "must be 0 (NO_ERROR): this version announces no other reason"));
    }
    let client = call.this::<Http2Client>()?;
    let object = this(call)?;
    let Some(connection) = connection(&object, client)? else { return call.ret(false) };
    let open = connection.is_open();
    connection.go_away();
    object.set_slot(slot::CONNECTED, Value::bool(false));
    call.ret(open)
}

fn is_stream_exist(call: &Call) -> Result<(), Raise> {
    let id = call.int(0, 0)?;
    let client = call.this::<Http2Client>()?;
    let held = client.connection.borrow();
    let Some(connection) = &*held else { return call.ret(false) };
    // 0 is the connection itself.
    let exists =
        if id == 0 { connection.is_open() } else { u32::try_from(id).is_ok_and(|id| connection.has_stream(id)) };
    call.ret(exists)
}

fn stats(call: &Call) -> Result<(), Raise> {
    let key = call.bytes(0)?;
    let client = call.this::<Http2Client>()?;
    let mut array = Array::new(4)?;
    {
        let held = client.connection.borrow();
        let of = |get: fn(&Http2) -> u64| held.as_ref().map_or(0, |connection| get(connection) as i64);
        array.set_int(b"current_stream_id", of(|c| u64::from(c.last_sent())))?;
        array.set_int(b"last_stream_id", of(|c| u64::from(c.last_answered())))?;
        array.set_int(b"active_stream_num", of(|c| c.streams() as u64))?;
        array.set_int(b"max_stream_num", of(|c| c.max_streams() as u64))?;
    }
    if key.is_empty() {
        return call.ret(array);
    }
    match std::str::from_utf8(key).ok().and_then(|key| array.view().get(key)) {
        Some(View::Int(value)) => call.ret(value),
        _ => Err(call.value_error(0, "must be current_stream_id, last_stream_id, active_stream_num or max_stream_num")),
    }
}

fn close(call: &Call) -> Result<(), Raise> {
    let closed = call.this::<Http2Client>()?.drop_connection();
    this(call)?.set_slot(slot::CONNECTED, Value::bool(false));
    call.ret(closed)
}
