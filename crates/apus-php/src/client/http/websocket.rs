//! `push()`, `recv()`, `ping()` and `disconnect()`: the client as a WebSocket.

use std::rc::Rc;
use std::time::Duration;

use apus_client::failure::{Failure, Stage};
use apus_client::proto::websocket::{Event, Opcode};
use apus_client::websocket::WebSocket;
use apus_coro::Wait;
use apus_options::client::http::Settings;
use apus_zend::arg::{Given, This};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value};

use super::execute::{fail, receive_deferred, sleep};
use super::plain::Me;
use super::{CLIENT_CLASS, HttpClient, NAME, slot};
use crate::client::frame::{self, Outgoing};
use crate::client::{settings, values};
use crate::exception::{self};
use crate::runtime::State;
use crate::wait::{Timeout, expect_suspendable, wait};

/// `$errCode` of a WebSocket that is closed.
const UNCONNECTED: i64 = 8503;
/// The same in code written for Swoole: `SWOOLE_ERROR_CLIENT_NO_CONNECTION`.
const NO_CONNECTION: i64 = 5001;
/// How long `disconnect()` waits for the server's close frame.
const GOODBYE: Duration = Duration::from_secs(1);

/// How an attempt to use the WebSocket ended.
enum Ended<T> {
    Done(T),
    Failed(Failure),
    /// The time was over; the WebSocket goes on.
    Deferred,
    /// The program closed the client.
    Closed,
}

/// The WebSocket; none, told by the properties, when it is closed. Throws when there was none.
fn websocket(object: &Object, client: &HttpClient) -> Result<Option<Rc<WebSocket>>, Raise> {
    client.heed_shown();
    let held = client.websocket.borrow().clone();
    match held {
        Some(websocket) if !websocket.is_closed() => return Ok(Some(websocket)),
        Some(_) => client.drop_connection(),
        None if !client.was_websocket.get() => {
            let text = "this client speaks no WebSocket: call upgrade() first, and look at its result";
            return Err(exception::throw(exception::code::client::STATE, text));
        }
        None => {}
    }
    object.set_slot(slot::CONNECTED, Value::bool(false));
    let code = if object.is_second(&CLIENT_CLASS) { NO_CONNECTION } else { UNCONNECTED };
    values::set_error(object, slot::ERR_CODE, code, "the WebSocket is closed")?;
    Ok(None)
}

/// Writes down how it ended, and closes what is of no further use.
fn settle(object: &Object, client: &HttpClient, websocket: &Rc<WebSocket>, ended: &Ended<()>) -> Result<bool, Raise> {
    match ended {
        Ended::Done(()) => return Ok(true),
        Ended::Deferred => fail(object, &Failure::timeout("the WebSocket"))?,
        Ended::Closed => {
            fail(object, &Failure::new(Stage::Receive, libc::ECONNRESET, "the client was closed meanwhile"))?;
        }
        Ended::Failed(failure) => {
            let same = client.websocket.borrow().as_ref().is_some_and(|held| Rc::ptr_eq(held, websocket));
            if same {
                client.drop_connection();
            }
            fail(object, failure)?;
        }
    }
    let open = client.websocket.borrow().is_some();
    object.set_slot(slot::CONNECTED, Value::bool(open));
    Ok(false)
}

/// Sends a frame, and waits until it has left.
fn send(me: &Me<'_>, outgoing: &Outgoing<'_>, names: (&'static str, &'static str)) -> Result<bool, Raise> {
    let (client, object): (&HttpClient, _) = (me, &me.object);
    let state = State::get()?;
    expect_suspendable(&state, names.0)?;
    client.writing.check(&state, NAME, names.1)?;
    let Some(websocket) = websocket(object, client)? else { return Ok(false) };
    let ready = outgoing.compress && !outgoing.fin;
    websocket.after(outgoing.opcode, outgoing.fin, ready, &outgoing.payload).map_err(frame::misplaced)?;
    let in_use = client.writing.enter(&state, NAME, names.1)?;
    let limit = write_limit(&client.settings.borrow(), &state);
    let closing = Rc::clone(&client.closing);
    // Made here, not when first polled: a close() before that counts, too.
    let closed = closing.notified();
    let waited = wait(&state, Wait::Outside(names.0), async {
        // What this side may compress it does, where the server agreed.
        let compress = if outgoing.fin { websocket.compresses() } else { ready };
        tokio::select! {
            biased;
            sent = websocket.send(outgoing.opcode, outgoing.fin, &outgoing.payload, compress) => match sent {
                Ok(()) => Ended::Done(()),
                Err(failure) => Ended::Failed(failure),
            },
            () = closed => Ended::Closed,
            () = sleep(limit) => Ended::Deferred,
        }
    })?;
    drop(in_use);
    if let Some(ended) = waited {
        return settle(object, client, &websocket, &ended);
    }
    fail(object, &Failure::new(Stage::Send, libc::ECANCELED, "the coroutine was cancelled"))?;
    Ok(false)
}

fn write_limit(settings: &Settings, state: &State) -> Option<Duration> {
    settings::limit(settings.common.write_timeout, settings::whole(settings, state))
}

pub(super) fn push(call: &Call) -> Result<(), Raise> {
    let outgoing = Outgoing::from_call(call, 0)?;
    let sent = send(&Me::this(call)?, &outgoing, ("Coroutine\\Http\\Client::push()", "push()"))?;
    call.ret(sent)
}

pub(super) fn ping(me: Me<'_>, data: Given<&[u8]>) -> Result<bool, Raise> {
    if data.value.len() > 125 {
        return Err(data.value_error("must have 125 bytes at most"));
    }
    let payload = data.value.into();
    let outgoing = Outgoing { opcode: Opcode::Ping, fin: true, compress: false, mask: true, payload };
    send(&me, &outgoing, ("Coroutine\\Http\\Client::ping()", "ping()"))
}

/// The next thing for the program: pings are answered, pongs skipped, unless it wants them.
async fn next(websocket: &WebSocket, settings: &Settings) -> Result<Event, Failure> {
    loop {
        match websocket.receive().await? {
            Event::Ping(payload) if !settings.open_websocket_ping_frame => {
                // A server that closes meanwhile is noticed by the next read.
                let _ = websocket.pong(&payload).await;
            }
            Event::Pong(_) if !settings.open_websocket_pong_frame => {}
            event => return Ok(event),
        }
    }
}

pub(super) fn recv(me: Me<'_>, timeout: Timeout) -> Result<Value, Raise> {
    const NAMES: (&str, &str) = ("Coroutine\\Http\\Client::recv()", "recv()");
    let (client, object): (&HttpClient, _) = (&me, &me.object);
    if client.deferred.borrow().is_some() {
        return receive_deferred(&me, timeout).map(Value::bool);
    }
    let state = State::get()?;
    expect_suspendable(&state, NAMES.0)?;
    client.reading.check(&state, NAME, NAMES.1)?;
    let settings = client.settings.borrow().clone();
    let limit = timeout.limit_or(|| settings::reading(&settings, &state));
    let Some(websocket) = websocket(object, client)? else { return Ok(Value::bool(false)) };
    let in_use = client.reading.enter(&state, NAME, NAMES.1)?;
    let closing = Rc::clone(&client.closing);
    // Made here, not when first polled: a close() before that counts, too.
    let closed = closing.notified();
    let waited = wait(&state, Wait::Outside(NAMES.0), async {
        tokio::select! {
            biased;
            received = next(&websocket, &settings) => match received {
                Ok(event) => Ended::Done(event),
                Err(failure) => Ended::Failed(failure),
            },
            () = closed => Ended::Closed,
            () = sleep(limit) => Ended::Deferred,
        }
    })?;
    drop(in_use);
    let ended = match waited {
        None => {
            fail(object, &Failure::new(Stage::Receive, libc::ECANCELED, "the coroutine was cancelled"))?;
            return Ok(Value::bool(false));
        }
        Some(Ended::Done(event)) => return deliver(object, client, &websocket, &event, &settings),
        Some(Ended::Failed(failure)) => Ended::Failed(failure),
        Some(Ended::Deferred) => Ended::Deferred,
        Some(Ended::Closed) => Ended::Closed,
    };
    settle(object, client, &websocket, &ended).map(Value::bool)
}

fn deliver(
    object: &Object,
    client: &HttpClient,
    websocket: &Rc<WebSocket>,
    event: &Event,
    settings: &Settings,
) -> Result<Value, Raise> {
    if let Event::Close { code, reason } = event {
        // There whoever looks at the frame closes the connection.
        if !(settings.open_websocket_close_frame && object.is_second(&CLIENT_CLASS)) {
            client.drop_connection();
        }
        object.set_slot(slot::CONNECTED, Value::bool(false));
        if !settings.open_websocket_close_frame {
            let code = code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
            let text = format!("the server closed the WebSocket: {code} {}", String::from_utf8_lossy(reason));
            values::set_error(object, slot::ERR_CODE, 0, text.trim_end())?;
            return Value::string(b"");
        }
    }
    frame::of_event(event, i64::from(websocket.facts().fd)).map(Into::into)
}

pub(super) fn disconnect(me: Me<'_>, code: i64, reason: &[u8]) -> Result<bool, Raise> {
    const NAMES: (&str, &str) = ("Coroutine\\Http\\Client::disconnect()", "disconnect()");
    let payload = frame::close_payload(code, reason)?;
    let (client, object): (&HttpClient, _) = (&me, &me.object);
    let state = State::get()?;
    expect_suspendable(&state, NAMES.0)?;
    client.writing.check(&state, NAME, NAMES.1)?;
    if object.is_second(&CLIENT_CLASS) && client.websocket.borrow().as_ref().is_some_and(|held| held.is_closed()) {
        client.drop_connection();
        return Ok(true);
    }
    let Some(websocket) = websocket(object, client)? else { return Ok(false) };
    let in_use = client.writing.enter(&state, NAME, NAMES.1)?;
    // Where another coroutine receives, the server's close frame comes to that one.
    let alone = !client.reading.is_taken();
    let waited = wait(&state, Wait::Outside(NAMES.0), async {
        let said = tokio::time::timeout(GOODBYE, websocket.send(Opcode::Close, true, &payload, false)).await;
        let answer = async {
            while let Ok(event) = websocket.receive().await
                && !matches!(event, Event::Close { .. })
            {}
        };
        if alone {
            let _ = tokio::time::timeout(GOODBYE, answer).await;
        }
        said.is_ok_and(|said| said.is_ok())
    });
    drop(in_use);
    if alone {
        client.drop_connection();
        object.set_slot(slot::CONNECTED, Value::bool(false));
    }
    Ok(waited?.unwrap_or(false))
}
