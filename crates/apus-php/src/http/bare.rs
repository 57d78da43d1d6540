//! Answers over whatever a program has: a socket, or a stream of a server. What HTTP/1.1 needs is written here.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use apus_net::DEFAULT_TYPE;
use apus_net::proto::http1::Version;
use apus_net::proto::http1::response::{
    status_has_body, write_chunk, write_content_length, write_last_chunk, write_status_line,
};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Value};
use rustix::net::{SendFlags, Shutdown};

use super::answer::Answer;
use super::reply::{Reply, Step};
use super::request::Request;
use super::response::Response;
use crate::connections::{self, Carrier};
use crate::exception;
use crate::rescue::{self, Left};
use crate::socket::{as_socket, descriptor_of};

/// What takes the bytes.
enum Taker {
    /// A method, and what is passed to it before them.
    Method(Callable, Option<i64>),
    /// A connection that its worker has left behind, and that ends with this answer.
    Left(OwnedFd),
}

pub(super) struct Bare {
    taker: Taker,
    /// Whether the head was sent, and the body goes on in chunks.
    chunks: Cell<bool>,
}

impl Bare {
    /// Sends by that method of the object.
    pub(super) fn new(object: &Object, method: &str, first: Option<i64>) -> Result<Rc<Self>, Raise> {
        let mut pair = Array::new(2)?;
        pair.push(object.share().into())?;
        pair.push(Value::string(method.as_bytes())?)?;
        let mut pair = Value::from(pair);
        let refuse = |why: &str| exception::throw(exception::code::http::DETACHED, why);
        let send = Callable::new(&mut pair).map_err(|uncallable| uncallable.or(refuse))?;
        Ok(Rc::new(Self { taker: Taker::Method(send, first), chunks: Cell::new(false) }))
    }

    /// Sends over a connection that is nobody's any more.
    fn left(fd: OwnedFd) -> Rc<Self> {
        Rc::new(Self { taker: Taker::Left(fd), chunks: Cell::new(false) })
    }

    fn write(&self, reply: &Reply<'_>) -> Option<Vec<u8>> {
        let (head, body) = (reply.head(), reply.body());
        let has_body = status_has_body(head.status);
        let mut out = Vec::with_capacity(256 + head.lines.len() + body.len());
        let goes_on = self.chunks.get();
        if !goes_on {
            write_status_line(&mut out, Version::Http11, head.status, head.reason.as_deref());
            out.extend_from_slice(&head.lines);
            if !head.has_content_type && has_body {
                out.extend_from_slice(DEFAULT_TYPE);
            }
            out.extend_from_slice(if head.close || matches!(self.taker, Taker::Left(_)) {
                b"Connection: close\r\n"
            } else {
                b"Connection: keep-alive\r\n"
            });
        }
        match reply.step() {
            Step::Write if !goes_on => {
                out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                self.chunks.set(true);
                write_chunk(&mut out, body);
            }
            Step::Write => write_chunk(&mut out, body),
            Step::End if goes_on => {
                write_chunk(&mut out, body);
                write_last_chunk(&mut out, reply.trailers());
            }
            Step::End if has_body => {
                write_content_length(&mut out, body.len() as u64, 0);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(body);
            }
            Step::End => out.extend_from_slice(b"\r\n"),
            Step::File => {
                let content = reply.file_content()?;
                write_content_length(&mut out, content.len() as u64, 0);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(&content);
            }
            Step::Abort => return None,
        }
        Some(out)
    }
}

impl Carrier for Bare {
    fn has(&self, _id: i64) -> bool {
        true
    }

    fn carry(&self, _id: i64, reply: Vec<u8>) -> Result<bool, Raise> {
        let Some(reply) = Reply::decode(&reply) else { return Ok(false) };
        let Some(bytes) = self.write(&reply) else { return Ok(false) };
        let sent = match &self.taker {
            Taker::Method(send, Some(first)) => send.call(&[Value::int(*first), Value::string(&bytes)?])?,
            Taker::Method(send, None) => send.call(&[Value::string(&bytes)?])?,
            Taker::Left(fd) => {
                // What a client does not take at once, it does not get: the master waits for nobody.
                let sent = rustix::net::send(fd, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
                let whole = sent.is_ok_and(|sent| sent == bytes.len());
                if !whole || reply.step() != Step::Write {
                    let _ = rustix::net::shutdown(fd, Shutdown::Both);
                }
                return Ok(whole);
            }
        };
        Ok(!matches!(sent.view(), View::Bool(false) | View::Null))
    }
}

/// Whether this process has a stream connection with that id.
fn is_stream(id: i64) -> bool {
    let message_conn = connections::current_control().and_then(|control| control.message_conn(id));
    message_conn.is_some_and(|message_conn| !message_conn.is_websocket())
}

/// `Response::create()` with a socket, or with a server and the request that the program has parsed. `None`: it is to
/// be found by its connection's id.
fn create_bare(call: &Call) -> Result<Option<Object>, Raise> {
    let given = call.value(0);
    let (target, request) = match given.view() {
        View::Object(_) => (given.share(), None),
        View::Array(pair) => {
            let mut parts = pair.iter().map(|(_, value)| value.value());
            let (Some(target), request) = (parts.next(), parts.next()) else { return Ok(None) };
            (target, request)
        }
        _ => return Ok(None),
    };
    let mut fd = call.int(1, -1)?;
    let bare = match as_socket(&target) {
        Some(socket) => {
            fd = descriptor_of(&socket);
            Bare::new(&socket, "sendAll", None)?
        }
        None if connections::responder(fd).is_some() => return Ok(None),
        // Of a connection that sends bytes the program may know that they are HTTP.
        None if request.is_none() && !is_stream(fd) => return Ok(None),
        None => match target.object() {
            Some(server) => Bare::new(&server, "send", Some(fd))?,
            None => return Ok(None),
        },
    };
    if let Some(request) = request.as_ref().and_then(Value::object) {
        Request::tell_fd(&request, fd);
    }
    Ok(Some(Response::through(Answer::elsewhere(fd, bare), true)?))
}

pub(super) fn create(call: &Call) -> Result<(), Raise> {
    create_named(call, false)
}

pub(super) fn create_second(call: &Call) -> Result<(), Raise> {
    create_named(call, true)
}

fn create_named(call: &Call, second: bool) -> Result<(), Raise> {
    if second && let Some(object) = create_bare(call)? {
        return call.ret(object);
    }
    let fd = match (call.view(0), call.count()) {
        (View::Int(fd), 1) => fd,
        // A task's data may have come as text.
        (View::Str(fd), 1) => std::str::from_utf8(fd).ok().and_then(|fd| fd.parse().ok()).unwrap_or(-1),
        _ => call.int(1, -1)?,
    };
    let here = connections::responder(fd).map(Answer::Here);
    if here.is_none() {
        match rescue::take(fd) {
            Left::Nothing => {}
            Left::Taken => return call.ret(false),
            Left::Socket(left) => {
                return call.ret(Response::through(Answer::elsewhere(fd, Bare::left(left)), second)?);
            }
        }
    }
    // Others' are for code that was written for Swoole, where any process could answer.
    let answer = here.or_else(|| {
        let carrier = connections::carrier(fd).filter(|_| second)?;
        Some(Answer::elsewhere(fd, carrier))
    });
    match answer {
        Some(answer) => call.ret(Response::through(answer, second)?),
        None => call.ret(false),
    }
}
