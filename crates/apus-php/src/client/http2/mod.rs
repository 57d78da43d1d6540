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
use apus_options::client::http::Settings;
use apus_zend::arg::{Any, Given, Made, OrFalse};
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Raise, Value, native};
use tokio::sync::Notify;

use super::busy::Busy;
use super::http::{merge_settings, sleep};
use super::{settings, values};
use crate::runtime::State;
use crate::wait::{Timeout, expect_suspendable, wait};

pub(super) use class::CLIENT_CLASS;
use class::slot::client_class as slot;
pub(super) use message::{REQUEST, RESPONSE};

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

/// `$this` of a method.
type Me<'c> = apus_zend::arg::Me<'c, Http2Client>;

fn construct(host: &[u8], port: i64, open_ssl: bool) -> Result<Made<Http2Client, 3>, Raise> {
    let endpoint = settings::endpoint(host, port, open_ssl)?;
    let port = Value::int(i64::from(endpoint.port));
    let client = Http2Client {
        endpoint,
        settings: RefCell::new(Settings::default()),
        connection: RefCell::new(None),
        connecting: Busy::default(),
        receiving: Busy::default(),
        closing: Rc::new(Notify::new()),
    };
    Ok(Made(client, [(slot::HOST, Value::string(host)?), (slot::PORT, port), (slot::SSL, Value::bool(open_ssl))]))
}

/// The same for code written for Swoole, where nobody is verified who was not to be.
fn construct_trusting(host: &[u8], port: i64, open_ssl: bool) -> Result<Made<Http2Client, 3>, Raise> {
    let made = construct(host, port, open_ssl)?;
    made.0.settings.borrow_mut().common.ssl_verify_peer = false;
    Ok(made)
}

fn destruct(object: Object) {
    // A subclass may have failed before it called parent::__construct().
    if let Some(client) = object.payload::<Http2Client>() {
        client.drop_connection();
    }
}

fn set(me: Me<'_>, given: ArrayView<'_>) -> Result<bool, Raise> {
    settings::apply(&me.settings, given, me.object.is_second(&CLIENT_CLASS))?;
    merge_settings(&me.object, slot::SETTING, given)?;
    Ok(true)
}

fn fail(object: &Object, errno: i64, message: &str) -> Result<(), Raise> {
    values::set_error(object, slot::ERR_CODE, errno, message)
}

/// What a method that waits begins with.
fn begin(name: &'static str) -> Result<Rc<State>, Raise> {
    let state = State::get()?;
    expect_suspendable(&state, name)?;
    Ok(state)
}

/// Waits for what a connection does, unless the client is closed or the time is over meanwhile. None: it failed, which
/// the properties tell.
fn during<T>(
    me: &Me<'_>,
    state: &State,
    name: &'static str,
    limit: Option<Duration>,
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<Option<T>, Raise> {
    let closing = Rc::clone(&me.closing);
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
    let open = me.connection.borrow().as_ref().is_some_and(|connection| connection.is_open());
    me.object.set_slot(slot::CONNECTED, Value::bool(open));
    match waited {
        Some(Ok(done)) => {
            fail(&me.object, 0, "")?;
            return Ok(Some(done));
        }
        Some(Err((errno, message))) => fail(&me.object, errno, &message)?,
        None => fail(&me.object, i64::from(libc::ECANCELED), "the coroutine was cancelled")?,
    }
    Ok(None)
}

/// The connection; none, which the properties tell, when there is none.
fn connection(me: &Me<'_>) -> Result<Option<Rc<Http2>>, Raise> {
    let held = me.connection.borrow().clone();
    if held.is_none() {
        me.object.set_slot(slot::CONNECTED, Value::bool(false));
        fail(&me.object, NO_CONNECTION, "the client is not connected: call connect() first")?;
    }
    Ok(held)
}

/// Has the connection do something within the client's `timeout`.
fn with_connection<T, F>(me: &Me<'_>, name: &'static str, act: impl FnOnce(Rc<Http2>) -> F) -> Result<Option<T>, Raise>
where
    F: Future<Output = Result<T, Failure>>,
{
    let state = begin(name)?;
    let Some(connection) = connection(me)? else { return Ok(None) };
    let limit = settings::whole(&me.settings.borrow(), &state);
    during(me, &state, name, limit, act(connection))
}

fn connect(me: Me<'_>) -> Result<bool, Raise> {
    const NAMES: (&str, &str) = ("Coroutine\\Http2\\Client::connect()", "connect()");
    let state = begin(NAMES.0)?;
    let in_use = me.connecting.enter(&state, NAME, NAMES.1)?;
    let open = me.connection.borrow().as_ref().is_some_and(|connection| connection.is_open());
    if open {
        fail(&me.object, i64::from(libc::EISCONN), "the client is connected already")?;
        return Ok(false);
    }
    me.drop_connection();
    let mut options = settings::http2(&me.settings.borrow(), &state);
    options.pieces = me.object.is_second(&CLIENT_CLASS);
    let endpoint = me.endpoint.clone();
    let made = during(&me, &state, NAMES.0, None, async move { Http2::connect(&endpoint, options).await });
    drop(in_use);
    let Some(made) = made? else { return Ok(false) };
    *me.connection.borrow_mut() = Some(Rc::new(made));
    me.object.set_slot(slot::CONNECTED, Value::bool(true));
    Ok(true)
}

fn send(me: Me<'_>, request: Object) -> Result<OrFalse<i64>, Raise> {
    let request = message::build(&request, me.settings.borrow().http_compression)?;
    values::expect_bounded(&me.object, &CLIENT_CLASS, &request.headers)?;
    let sent = with_connection(&me, "Coroutine\\Http2\\Client::send()", |connection| async move {
        connection.send(request).await
    })?;
    Ok(OrFalse(sent.map(i64::from)))
}

fn write(me: Me<'_>, id: i64, data: Any<'_>, end: bool) -> Result<bool, Raise> {
    let data = message::body(&data.value())?;
    let id = u32::try_from(id).unwrap_or(0);
    let written = with_connection(&me, "Coroutine\\Http2\\Client::write()", |connection| async move {
        connection.write(id, data, end).await
    })?;
    Ok(written.is_some())
}

fn recv(me: Me<'_>, timeout: Timeout) -> Result<OrFalse<Object>, Raise> {
    receive(&me, timeout, ("Coroutine\\Http2\\Client::recv()", "recv()"), false)
}

/// There it gives an answer in the pieces in which it comes, whatever its request said.
fn read(me: Me<'_>, timeout: Timeout) -> Result<OrFalse<Object>, Raise> {
    let second = me.object.is_second(&CLIENT_CLASS);
    receive(&me, timeout, ("Coroutine\\Http2\\Client::read()", "read()"), second)
}

fn receive(
    me: &Me<'_>,
    timeout: Timeout,
    names: (&'static str, &'static str),
    by_piece: bool,
) -> Result<OrFalse<Object>, Raise> {
    let state = begin(names.0)?;
    let in_use = me.receiving.enter(&state, NAME, names.1)?;
    let Some(connection) = connection(me)? else { return Ok(OrFalse(None)) };
    let limit = timeout.limit_or(|| settings::reading(&me.settings.borrow(), &state));
    let answer = during(me, &state, names.0, limit, connection.receive(by_piece));
    drop(in_use);
    me.object.set_slot(slot::SERVER_LAST_STREAM_ID, Value::int(i64::from(connection.last_answered())));
    let second = me.object.is_second(&CLIENT_CLASS);
    if second && let Some(said) = connection.said_goodbye() {
        // There a program learns by this that the server takes no further request.
        me.object.set_slot(slot::SERVER_LAST_STREAM_ID, Value::int(i64::from(said.last_stream)));
        fail(&me.object, i64::from(said.code), &String::from_utf8_lossy(&said.text))?;
    }
    answer?.map(|answer| message::object(&answer, second)).transpose().map(OrFalse)
}

fn ping(me: Me<'_>) -> Result<bool, Raise> {
    let answered =
        with_connection(&me, "Coroutine\\Http2\\Client::ping()", |connection| async move { connection.ping().await })?;
    Ok(answered.is_some())
}

fn go_away(me: Me<'_>, code: Given<i64>, _debug_data: &[u8]) -> Result<bool, Raise> {
    if code.value != 0 {
        return Err(code.value_error("must be 0 (NO_ERROR): this version announces no other reason"));
    }
    let Some(connection) = connection(&me)? else { return Ok(false) };
    let open = connection.is_open();
    connection.go_away();
    me.object.set_slot(slot::CONNECTED, Value::bool(false));
    Ok(open)
}

fn is_stream_exist(client: &Http2Client, id: i64) -> bool {
    let held = client.connection.borrow();
    let Some(connection) = &*held else { return false };
    // 0 is the connection itself.
    if id == 0 { connection.is_open() } else { u32::try_from(id).is_ok_and(|id| connection.has_stream(id)) }
}

fn stats(client: &Http2Client, key: Given<&[u8]>) -> Result<Value, Raise> {
    let mut array = Array::new(4)?;
    {
        let held = client.connection.borrow();
        let of = |get: fn(&Http2) -> u64| held.as_ref().map_or(0, |connection| get(connection) as i64);
        array.set_int(b"current_stream_id", of(|c| u64::from(c.last_sent())))?;
        array.set_int(b"last_stream_id", of(|c| u64::from(c.last_answered())))?;
        array.set_int(b"active_stream_num", of(|c| c.streams() as u64))?;
        array.set_int(b"max_stream_num", of(|c| c.max_streams() as u64))?;
    }
    if key.value.is_empty() {
        return Ok(array.into());
    }
    match std::str::from_utf8(key.value).ok().and_then(|key| array.view().get(key)) {
        Some(View::Int(value)) => Ok(Value::int(value)),
        _ => Err(key.value_error("must be current_stream_id, last_stream_id, active_stream_num or max_stream_num")),
    }
}

fn close(me: Me<'_>) -> bool {
    let closed = me.drop_connection();
    me.object.set_slot(slot::CONNECTED, Value::bool(false));
    closed
}
