//! WebSockets with one coroutine a connection: `Response::upgrade()`, `recv()`, `push()`, `close()`.

use std::rc::Rc;

use apus_coro::Wait;
use apus_net::proto::websocket::{Opcode, close};
use apus_net::{Delivery, Kind, MessageConn};
use apus_zend::{Call, Raise};

use super::answer::Answer;
use super::head::Head;
use super::reply::Step;
use super::response::Response;
use crate::client::frame::{self, Outgoing};
use crate::connections;
use crate::exception::{self};
use crate::runtime::State;
use crate::wait::{time_limit, wait};

/// Fields of an answer to a handshake that the server sends by itself, or that it cannot have.
const OURS: [&[u8]; 6] = [
    b"upgrade",
    b"sec-websocket-accept",
    b"sec-websocket-extensions",
    b"sec-websocket-version",
    b"content-type",
    b"keepalive",
];

/// Field lines of an answer to a handshake.
#[derive(Default)]
pub(super) struct HandshakeLines {
    pub(super) bytes: Vec<u8>,
    /// Whether the program chose a subprotocol.
    pub(super) has_subprotocol: bool,
    /// Whether it has a Server field of its own.
    pub(super) has_server: bool,
}

impl HandshakeLines {
    /// Of what the program has set, those that the server sends by itself left out.
    pub(super) fn of(head: &Head) -> Self {
        let mut lines = Self::default();
        let mut wire = apus_net::ResponseHead::default();
        for (name, value) in head.lines() {
            lines.has_server |= name.eq_ignore_ascii_case(b"server");
            lines.has_subprotocol |= name.eq_ignore_ascii_case(b"sec-websocket-protocol");
            if !OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
                wire.push_field(name, value);
            }
        }
        lines.bytes = wire.lines;
        lines
    }
}

fn message_conn(response: &Response, what: &str) -> Result<Rc<MessageConn>, Raise> {
    response.message_conn.borrow().clone().ok_or_else(|| {
        exception::throw(
            exception::code::http::NOT_UPGRADED,
            &format!("{what} needs a WebSocket: call upgrade() before it"),
        )
    })
}

pub(super) fn upgrade(call: &Call) -> Result<(), Raise> {
    let response = call.this::<Response>()?;
    if response.message_conn.borrow().is_some() {
        return call.ret(true);
    }
    match response.accept_handshake(true)? {
        Some(message_conn) => {
            *response.message_conn.borrow_mut() = Some(message_conn);
            call.ret(true)
        }
        None => call.ret(false),
    }
}

pub(super) fn recv(call: &Call) -> Result<(), Raise> {
    let limit = time_limit(call, 0, -1.0)?;
    let message_conn = message_conn(call.this::<Response>()?, "recv()")?;
    let state = State::get()?;
    let waiting = Wait::Outside("Response::recv()");
    let received = match limit {
        None => wait(&state, waiting, message_conn.recv())?.map(Ok),
        Some(limit) => wait(&state, waiting, tokio::time::timeout(limit, message_conn.recv()))?,
    };
    match received {
        // Cancelled, or the time is over.
        None | Some(Err(_)) => call.ret(false),
        Some(Ok(None)) => call.ret_bytes(b""),
        Some(Ok(Some(message))) => {
            let config = message_conn.shows_closes();
            if matches!(message.kind, Kind::Close { .. }) && !config {
                return call.ret_bytes(b"");
            }
            call.ret(frame::of_message(&message.view(), message_conn.info().id())?)
        }
    }
}

pub(super) fn push(call: &Call) -> Result<(), Raise> {
    let message_conn = message_conn(call.this::<Response>()?, "push()")?;
    let frame = Outgoing::from_call(call, 0)?;
    if frame.opcode == Opcode::Close {
        let (code, reason) = frame.close_parts();
        return call.ret(message_conn.close(code, reason));
    }
    let delivery = connections::push(&message_conn, &frame, true)?;
    call.ret(matches!(delivery, Delivery::Sent | Delivery::Buffered))
}

/// `Swoole\Http\Response::ping()`: a ping of the WebSocket, or else of the connection.
pub(super) fn ping(call: &Call) -> Result<(), Raise> {
    let response = call.this::<Response>()?;
    let upgraded = response.message_conn.borrow().clone();
    let Some(message_conn) = upgraded else {
        return call.ret(matches!(response.answering()?, Answer::Here(responder) if responder.ping()));
    };
    let delivery = connections::push(&message_conn, &Outgoing::ping(call.bytes(0)?)?, true)?;
    call.ret(matches!(delivery, Delivery::Sent | Delivery::Buffered))
}

/// `Swoole\Http\Response::disconnect()`: a closing handshake of the WebSocket, which says why.
pub(super) fn disconnect(call: &Call) -> Result<(), Raise> {
    let message_conn = message_conn(call.this::<Response>()?, "disconnect()")?;
    let (code, reason) = (call.int(0, 1000)?, call.text(1)?);
    let code = u16::try_from(code).ok().filter(|code| crate::swoole::is_on() || close::is_sendable(*code));
    let Some(code) = code else {
        return Err(exception::throw(
            exception::code::http::NOT_UPGRADED,
            "the code of a close frame is 1000 to 1003, 1007 to 1014 or 3000 to 4999",
        ));
    };
    call.ret(message_conn.close(code, &reason))
}

pub(super) fn close(call: &Call) -> Result<(), Raise> {
    let response = call.this::<Response>()?;
    let upgraded = response.message_conn.borrow().clone();
    if let Some(message_conn) = upgraded {
        return call.ret(message_conn.close(close::NORMAL, ""));
    }
    let answer = response.answering()?;
    if answer.is_ended() {
        return call.ret(false);
    }
    match answer {
        Answer::Here(responder) => {
            responder.abort();
            call.ret(true)
        }
        Answer::Elsewhere(there) => {
            let head = apus_net::ResponseHead::default();
            call.ret(there.send(Step::Abort, &head, &Vec::new(), b"")?)
        }
    }
}
