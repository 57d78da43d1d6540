//! The methods of `Apus\Coroutine\Socket`.

use std::future::poll_fn;
use std::os::fd::{AsRawFd as _, RawFd};
use std::rc::Rc;

use apus_zend::arg::{Any, Given, Made, Me, Variable, Want};
use apus_zend::engine::ClassEntry;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, View};
use apus_zend::{Array, Raise, Value, native};
use socket2::SockAddr;

use super::address::{self, has_ports, to_array};
use super::core::Sock;
use super::descriptor::Way;
use super::fault::{Fault, Outcome, Slots, whole_or_end};
use super::import::{close_stream, import, import_second};
use super::object::{
    AnyLength, Direction, Extent, FilePath, Length, Port, answer, answer_part, bytes, count, done, name_of,
};
use super::run::{Caller, Kind, Session, Span};
use super::serve::connection;
use super::settings;
use super::{connect, methods, option, packet, stream};
use crate::exception;
use crate::swoole::{self, There};
use crate::wait::Timeout;

pub(super) const FD: u32 = slot::socket::FD;
pub(super) const SLOTS: Slots = Slots { code: slot::socket::ERR_CODE, text: slot::socket::ERR_MSG };

/// Behind an `Apus\Coroutine\Socket`.
pub(super) struct SocketObject {
    pub(super) sock: Rc<Sock>,
    pub(super) given: settings::Given,
}
native!(SocketObject, "Apus\\Coroutine\\Socket");

impl SocketObject {
    fn new(sock: Rc<Sock>) -> Self {
        Self { sock, given: settings::Given::default() }
    }
}

/// What the properties show of a socket.
fn shown(sock: &Sock) -> [(u32, Value); 4] {
    [
        (FD, sock.fd()),
        (slot::socket::DOMAIN, sock.domain),
        (slot::socket::TYPE, sock.kind),
        (slot::socket::PROTOCOL, sock.protocol),
    ]
    .map(|(slot, number)| (slot, Value::int(i64::from(number))))
}

pub(super) fn fill(object: &Object, sock: &Sock) {
    for (slot, value) in shown(sock) {
        object.set_slot(slot, value);
    }
}

/// A new `Coroutine\Socket` of a socket.
pub(super) fn wrap(sock: &Rc<Sock>, second: bool) -> Result<Object, Raise> {
    let socket = SocketObject::new(Rc::clone(sock));
    if second {
        socket.given.trust();
    }
    let object = Object::new(SOCKET.named(second), socket)?;
    fill(&object, sock);
    Ok(object)
}

macro_rules! kind {
    ($name:literal, $way:ident, $span:ident) => {
        Kind { name: concat!("Coroutine\\Socket::", $name, "()"), way: Way::$way, span: Span::$span }
    };
}

/// Runs `operation` with the socket's direction taken.
fn with<T>(
    socket: &SocketObject,
    kind: Kind,
    timeout: Timeout,
    operation: impl FnOnce(&Rc<Sock>, &Session<'_>) -> Result<T, Raise>,
) -> Result<T, Raise> {
    let caller = Caller::find(kind.name, false)?;
    let session = Session::begin(&socket.sock, caller, kind, timeout)?;
    operation(&socket.sock, &session)
}

/// A number of socket(2).
#[derive(Clone, Copy)]
pub(super) struct Number(i32);

impl Want<i64> for Number {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number("a number of socket(2)").map(Self)
    }
}

pub(super) fn construct(
    Number(domain): Number,
    Number(kind): Number,
    Number(protocol): Number,
) -> Result<Made<SocketObject, 4>, Raise> {
    let sock = Sock::open(domain, kind, protocol).map_err(|error| {
        let why = Fault::from(error);
        let text =
            format!("a socket of domain {domain}, type {kind}, protocol {protocol} could not be made: {}", why.text());
        let raise = exception::throw(exception::code::client::ARGUMENT, &text);
        swoole::there(raise, There::Failure(text, why.code.into()))
    })?;
    let shown = shown(&sock);
    Ok(Made(SocketObject::new(Rc::new(sock)), shown))
}

/// The same for code written for Swoole.
pub(super) fn construct_trusting(
    domain: Number,
    kind: Number,
    protocol: Number,
) -> Result<Made<SocketObject, 4>, Raise> {
    let made = construct(domain, kind, protocol)?;
    made.0.given.trust();
    Ok(made)
}

pub(super) fn bind(socket: Me<'_, SocketObject>, host: &[u8], port: Port) -> Result<Value, Raise> {
    let outcome = bind_to(&socket.sock, host, port.number);
    answer(&socket.object, SLOTS, outcome, done)
}

/// Binds to an address, not a name.
pub(super) fn bind_to(sock: &Sock, host: &[u8], port: u16) -> Outcome<()> {
    let descriptor = sock.descriptor()?;
    let Some(address) = address::literal(sock.domain, host, port)? else {
        let text = format!(
            "\"{}\" is no address of this socket's family: bind() takes no names",
            String::from_utf8_lossy(host)
        );
        return Err(Fault::new(libc::EINVAL, text));
    };
    if sock.is_stream() && has_ports(sock.domain) {
        descriptor.socket().set_reuse_address(true)?;
    }
    Ok(descriptor.socket().bind(&address)?)
}

pub(super) fn listen(socket: Me<'_, SocketObject>, backlog: i64) -> Result<Value, Raise> {
    let backlog = backlog.clamp(0, i64::from(i32::MAX)) as i32;
    let outcome = socket.sock.descriptor().and_then(|descriptor| Ok(descriptor.socket().listen(backlog)?));
    answer(&socket.object, SLOTS, outcome, done)
}

pub(super) fn accept(socket: Me<'_, SocketObject>, timeout: Timeout) -> Result<Value, Raise> {
    let outcome = with(&socket, kind!("accept", Read, Read), timeout, |sock, session| {
        session.run(poll_fn(|cx| sock.poll_accept(cx)))
    })?;
    let (given, second) = (&socket.given, socket.object.is_second(&SOCKET));
    answer(&socket.object, SLOTS, outcome, |sock| connection(&Rc::new(sock), given.clone(), second).map(Value::from))
}

pub(super) fn connect(socket: Me<'_, SocketObject>, host: &[u8], port: Port, timeout: Timeout) -> Result<Value, Raise> {
    let outcome = with(&socket, kind!("connect", Write, Connect), timeout, |sock, session| {
        if has_ports(sock.domain) && sock.is_stream() {
            port.expect()?;
        }
        let pace = session.pace();
        if let Err(fault) = session.run_apart(connect::connect(sock, host, port.number, pace))? {
            return Ok(Err(fault));
        }
        if sock.plan.borrow().from_start { session.run_apart(connect::shake(sock, pace)) } else { Ok(Ok(())) }
    })?;
    answer(&socket.object, SLOTS, outcome, done)
}

pub(super) fn check_liveness(socket: Me<'_, SocketObject>) -> Result<Value, Raise> {
    answer(&socket.object, SLOTS, socket.sock.is_alive(), done)
}

impl Want<i64> for Way {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        match given.value {
            512 => Ok(Self::Read),
            1024 => Ok(Self::Write),
            _ => Err(given.must_be("Apus\\EVENT_READ or Apus\\EVENT_WRITE")),
        }
    }
}

pub(super) fn get_bound_cid(socket: &SocketObject, way: Way) -> i64 {
    socket.sock.direction(way).owner()
}

pub(super) fn cancel(socket: &SocketObject, way: Way) -> bool {
    socket.sock.direction(way).stop(libc::ECANCELED)
}

pub(super) fn peek(socket: Me<'_, SocketObject>, Length(most): Length) -> Result<Value, Raise> {
    answer(&socket.object, SLOTS, socket.sock.peek(most), bytes)
}

/// Returns the bytes that an operation gives.
fn received(
    socket: &Me<'_, SocketObject>,
    kind: Kind,
    timeout: Timeout,
    operation: impl FnOnce(&Sock, &Session<'_>) -> Result<Outcome<Vec<u8>>, Raise>,
) -> Result<Value, Raise> {
    let outcome = with(socket, kind, timeout, |sock, session| operation(sock, session))?;
    answer(&socket.object, SLOTS, outcome, bytes)
}

pub(super) fn recv(socket: Me<'_, SocketObject>, Length(most): Length, timeout: Timeout) -> Result<Value, Raise> {
    received(&socket, kind!("recv", Read, Read), timeout, |sock, session| stream::recv(sock, session, most))
}

/// The receiving methods of code written for Swoole.
macro_rules! of_any_length {
    ($($name:ident: $of:ident),*) => {
        $(pub(super) fn $name(
            socket: Me<'_, SocketObject>,
            length: AnyLength,
            timeout: Timeout,
        ) -> Result<Value, Raise> {
            $of(socket, length.length(), timeout)
        })*
    };
}
of_any_length!(recv_any: recv, recv_all_any: recv_all, recv_line_any: recv_line);
of_any_length!(recv_with_buffer_any: recv_with_buffer);

pub(super) fn recv_all(socket: Me<'_, SocketObject>, Length(most): Length, timeout: Timeout) -> Result<Value, Raise> {
    let outcome =
        with(&socket, kind!("recvAll", Read, Read), timeout, |sock, session| stream::recv_all(sock, session, most))?;
    answer_part(&socket.object, SLOTS, outcome, bytes)
}

pub(super) fn recv_line(socket: Me<'_, SocketObject>, Length(most): Length, timeout: Timeout) -> Result<Value, Raise> {
    received(&socket, kind!("recvLine", Read, Read), timeout, |sock, session| stream::recv_line(sock, session, most))
}

pub(super) fn recv_with_buffer(
    socket: Me<'_, SocketObject>,
    Length(most): Length,
    timeout: Timeout,
) -> Result<Value, Raise> {
    received(&socket, kind!("recvWithBuffer", Read, Read), timeout, |sock, session| {
        stream::recv_with_buffer(sock, session, most)
    })
}

pub(super) fn recv_packet(socket: Me<'_, SocketObject>, timeout: Timeout) -> Result<Value, Raise> {
    let tell = socket.given.tell();
    let outcome = with(&socket, kind!("recvPacket", Read, Read), timeout, |sock, session| {
        packet::recv_packet(sock, session, tell.as_deref())
    })?;
    if socket.sock.is_closed() {
        // The framing was broken: a socket that was closed has no number any more.
        socket.object.set_slot(FD, Value::int(-1));
    }
    let outcome = whole_or_end(outcome, socket.object.is_second(&SOCKET));
    answer(&socket.object, SLOTS, outcome, bytes)
}

fn send_some(socket: &Me<'_, SocketObject>, data: &[u8], timeout: Timeout, kind: Kind) -> Result<Value, Raise> {
    let outcome = with(socket, kind, timeout, |sock, session| stream::send(sock, session, data))?;
    answer(&socket.object, SLOTS, outcome, count)
}

fn send_whole(socket: &Me<'_, SocketObject>, data: &[u8], timeout: Timeout, kind: Kind) -> Result<Value, Raise> {
    let outcome = with(socket, kind, timeout, |sock, session| stream::send_all(sock, session, data))?;
    answer_part(&socket.object, SLOTS, outcome, count)
}

pub(super) fn send(socket: Me<'_, SocketObject>, data: &[u8], timeout: Timeout) -> Result<Value, Raise> {
    send_some(&socket, data, timeout, kind!("send", Write, Write))
}

pub(super) fn send_all(socket: Me<'_, SocketObject>, data: &[u8], timeout: Timeout) -> Result<Value, Raise> {
    send_whole(&socket, data, timeout, kind!("sendAll", Write, Write))
}

/// What is thrown there of an item of a vector.
fn item_there(raise: Raise, text: &str) -> Raise {
    let class = ClassEntry::find("Swoole\\Coroutine\\Socket\\Exception").unwrap_or_else(ClassEntry::type_error);
    swoole::there(raise, There::Error(class, text.to_owned()))
}

/// The type of a value, as PHP names it in messages.
fn type_name(view: View<'_>) -> &'static str {
    match view {
        View::Null => "null",
        View::Bool(_) => "bool",
        View::Int(_) => "int",
        View::Float(_) => "float",
        View::Str(_) => "string",
        View::Array(_) => "array",
        View::Object(_) => "object",
        View::Other => "resource",
    }
}

/// The lengths that a read vector asks for.
fn lengths(given: Given<ArrayView<'_>>) -> Result<Vec<usize>, Raise> {
    let mut lengths = Vec::new();
    let mut total: usize = 0;
    for (at, (_, item)) in given.value.iter().enumerate() {
        match item.view() {
            View::Int(n @ 1..) => lengths.push(n as usize),
            other => {
                let raise = given.content_error("must hold lengths of 1 or more bytes only");
                return Err(match other {
                    View::Int(_) => item_there(raise, &format!("Item #[{at}] must be greater than 0")),
                    other => {
                        item_there(raise, &format!("Item #[{at}] must be of type int, {} given", type_name(other)))
                    }
                });
            }
        }
        total = total.saturating_add(lengths.last().copied().unwrap_or(0));
    }
    if lengths.is_empty() || i64::try_from(total).is_err() {
        return Err(given.value_error("must hold one length at least, and a sum that an int can hold"));
    }
    Ok(lengths)
}

/// Parts of a vector at most under the names of Swoole: what one system call takes.
const IOV_MAX: usize = 1024;

/// The mistake of a vector with more parts than code written for Swoole may give.
fn too_many(parts: ArrayView<'_>) -> Option<Fault> {
    let many = parts.len() > IOV_MAX && swoole::is_on();
    many.then(|| Fault::with_own_text(libc::EINVAL, format!("The maximum of iov count is {IOV_MAX}")))
}

fn scatter(bytes: &[u8], lengths: &[usize]) -> Result<Value, Raise> {
    let mut array = Array::new(lengths.len())?;
    let mut left = bytes;
    for &length in lengths {
        if left.is_empty() {
            break;
        }
        let (part, rest) = left.split_at(length.min(left.len()));
        array.push(Value::string(part)?)?;
        left = rest;
    }
    Ok(array.into())
}

pub(super) fn read_vector(
    socket: Me<'_, SocketObject>,
    parts: Given<ArrayView<'_>>,
    timeout: Timeout,
) -> Result<Value, Raise> {
    if let Some(fault) = too_many(parts.value) {
        return answer(&socket.object, SLOTS, Err::<(), _>(fault), done);
    }
    let lengths = lengths(parts)?;
    let most = lengths.iter().sum();
    let outcome =
        with(&socket, kind!("readVector", Read, Read), timeout, |sock, session| stream::recv(sock, session, most))?;
    answer(&socket.object, SLOTS, outcome, |bytes| scatter(&bytes, &lengths))
}

pub(super) fn read_vector_all(
    socket: Me<'_, SocketObject>,
    parts: Given<ArrayView<'_>>,
    timeout: Timeout,
) -> Result<Value, Raise> {
    if let Some(fault) = too_many(parts.value) {
        return answer(&socket.object, SLOTS, Err::<(), _>(fault), done);
    }
    let lengths = lengths(parts)?;
    let most = lengths.iter().sum();
    let outcome = with(&socket, kind!("readVectorAll", Read, Read), timeout, |sock, session| {
        stream::recv_all(sock, session, most)
    })?;
    answer_part(&socket.object, SLOTS, outcome, |bytes| scatter(&bytes, &lengths))
}

/// The strings of a write vector, one after the other: one copy and one system call.
fn gathered(given: Given<ArrayView<'_>>) -> Result<Vec<u8>, Raise> {
    let mut bytes = Vec::new();
    for (at, (_, item)) in given.value.iter().enumerate() {
        match item.view() {
            View::Str(part) => bytes.extend_from_slice(part),
            other => {
                let text = format!("Item #[{at}] must be of type string, {} given", type_name(other));
                return Err(item_there(given.content_error("must hold strings only"), &text));
            }
        }
    }
    Ok(bytes)
}

/// Sends the parts as one text, as `send` does.
fn send_parts(
    socket: &Me<'_, SocketObject>,
    parts: Given<ArrayView<'_>>,
    send: impl FnOnce(&[u8]) -> Result<Value, Raise>,
) -> Result<Value, Raise> {
    match too_many(parts.value) {
        Some(fault) => answer(&socket.object, SLOTS, Err::<(), _>(fault), done),
        None => send(&gathered(parts)?),
    }
}

pub(super) fn write_vector(
    socket: Me<'_, SocketObject>,
    parts: Given<ArrayView<'_>>,
    timeout: Timeout,
) -> Result<Value, Raise> {
    send_parts(&socket, parts, |bytes| send_some(&socket, bytes, timeout, kind!("writeVector", Write, Write)))
}

pub(super) fn write_vector_all(
    socket: Me<'_, SocketObject>,
    parts: Given<ArrayView<'_>>,
    timeout: Timeout,
) -> Result<Value, Raise> {
    send_parts(&socket, parts, |bytes| send_whole(&socket, bytes, timeout, kind!("writeVectorAll", Write, Write)))
}

pub(super) fn send_file(
    socket: Me<'_, SocketObject>,
    FilePath(path): FilePath,
    Extent(offset): Extent,
    Extent(length): Extent,
) -> Result<Value, Raise> {
    let outcome = with(&socket, kind!("sendFile", Write, Write), Timeout::ZERO, |sock, session| {
        stream::send_file(sock, session, path, offset, length)
    })?;
    answer(&socket.object, SLOTS, outcome, done)
}

/// Sends a datagram.
pub(super) fn send_datagram(
    sock: &Sock,
    session: &Session<'_>,
    (host, port): (&[u8], u16),
    data: &[u8],
) -> Result<Outcome<usize>, Raise> {
    let known = match address::literal(sock.domain, host, port) {
        Ok(known) => known,
        Err(fault) => return Ok(Err(fault)),
    };
    if let Some(to) = known {
        return session.run(send_to(sock, &to, data));
    }
    let pace = session.pace();
    session.run_apart(async move {
        let addresses = address::resolve(sock.domain, host, port, pace).await?;
        let Some(to) = addresses.first() else { return Err(Fault::errno(libc::EADDRNOTAVAIL)) };
        send_to(sock, to, data).await
    })
}

async fn send_to(sock: &Sock, to: &SockAddr, data: &[u8]) -> Outcome<usize> {
    poll_fn(|cx| {
        sock.poll_io(cx, Way::Write, |socket| {
            socket.send_to_with_flags(data, to, libc::MSG_NOSIGNAL).map(|n| (n, false))
        })
    })
    .await
}

pub(super) fn sendto(socket: Me<'_, SocketObject>, host: &[u8], port: Port, data: &[u8]) -> Result<Value, Raise> {
    let outcome = with(&socket, kind!("sendto", Write, Write), Timeout::ZERO, |sock, session| {
        send_datagram(sock, session, (host, port.number), data)
    })?;
    answer(&socket.object, SLOTS, outcome, count)
}

pub(super) fn recvfrom(socket: Me<'_, SocketObject>, peer: Variable<'_>, timeout: Timeout) -> Result<Value, Raise> {
    let outcome = with(&socket, kind!("recvfrom", Read, Read), timeout, |sock, session| {
        session.run(poll_fn(|cx| sock.poll_recv_from(cx)))
    })?;
    let outcome = match outcome {
        Ok((data, from)) => {
            peer.assign(to_array(&from, false)?.into())?;
            Ok(data)
        }
        Err(fault) => Err(fault),
    };
    answer(&socket.object, SLOTS, outcome, bytes)
}

/// A level, or an option, of socket(7).
#[derive(Clone, Copy)]
pub(super) struct OptionNumber(i32);

impl Want<i64> for OptionNumber {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        i32::try_from(given.value).map(Self).map_err(|_| given.value_error("must be a number of socket(7)"))
    }
}

/// Code written for Swoole is warned of an option that the system refuses.
fn warn_of_option<T>(
    socket: &Me<'_, SocketObject>,
    outcome: &Outcome<T>,
    what: impl FnOnce(RawFd) -> String,
) -> Result<(), Raise> {
    let Err(fault) = outcome else { return Ok(()) };
    let Ok(descriptor) = socket.sock.descriptor() else { return Ok(()) };
    if !socket.object.is_second(&SOCKET) {
        return Ok(());
    }
    let what = what(descriptor.socket().as_raw_fd());
    crate::swoole::warning(&format!("{what}, Error: {}[{}]", fault.text(), fault.code))
}

pub(super) fn get_option(
    socket: Me<'_, SocketObject>,
    level: OptionNumber,
    name: OptionNumber,
) -> Result<Value, Raise> {
    let outcome = option::get(&socket.sock, level.0, name.0)?;
    warn_of_option(&socket, &outcome, |fd| format!("getsockopt({fd}, {}, {})", level.0, name.0))?;
    answer(&socket.object, SLOTS, outcome, Ok)
}

pub(super) fn set_option(
    socket: Me<'_, SocketObject>,
    level: OptionNumber,
    name: OptionNumber,
    value: Any<'_>,
) -> Result<Value, Raise> {
    let outcome = option::set(&socket.sock, level.0, name.0, value)?;
    warn_of_option(&socket, &outcome, |fd| format!("setsockopt({fd}) failed"))?;
    answer(&socket.object, SLOTS, outcome, done)
}

pub(super) fn set_protocol(socket: Me<'_, SocketObject>, settings: ArrayView<'_>) -> Result<bool, Raise> {
    socket.given.take(settings, socket.object.is_second(&SOCKET))?;
    socket.given.install(&socket.sock)?;
    Ok(true)
}

pub(super) fn ssl_handshake(socket: Me<'_, SocketObject>) -> Result<Value, Raise> {
    let outcome = with(&socket, kind!("sslHandshake", Write, Connect), Timeout::ZERO, |sock, session| {
        // Shaking hands reads, too: nobody else may meanwhile.
        let _reading = sock.reader.claim(session.caller_id(), "Coroutine\\Socket::sslHandshake()")?;
        session.run_apart(connect::shake(sock, session.pace()))
    })?;
    answer(&socket.object, SLOTS, outcome, done)
}

pub(super) fn shutdown(socket: Me<'_, SocketObject>, Direction(how): Direction) -> Result<Value, Raise> {
    let sock = &socket.sock;
    let outcome = if socket.object.is_second(&SOCKET) { sock.shutdown_once(how) } else { sock.shutdown(how) };
    answer(&socket.object, SLOTS, outcome, done)
}

pub(super) fn close(socket: Me<'_, SocketObject>) -> Result<Value, Raise> {
    let waited_for = socket.sock.is_in_use();
    if socket.sock.shared.get() && socket.object.is_second(&SOCKET) {
        // There the stream that it came of ends with it.
        let _ = socket.sock.shutdown(std::net::Shutdown::Both);
    }
    socket.sock.close(libc::ECANCELED);
    socket.object.set_slot(FD, Value::int(-1));
    if let Some(stream) = socket.sock.origin.take() {
        close_stream(stream)?;
    }
    if waited_for {
        crate::wait::let_go_on_there(&socket.object)?;
    }
    answer(&socket.object, SLOTS, Ok(()), done)
}

pub(super) fn is_closed(socket: &SocketObject) -> bool {
    socket.sock.is_closed()
}

fn name(socket: &Me<'_, SocketObject>, peer: bool) -> Result<Value, Raise> {
    let outcome = name_of(&socket.sock, peer);
    answer(&socket.object, SLOTS, outcome, |address| to_array(&address, false).map(Value::from))
}

pub(super) fn getpeername(socket: Me<'_, SocketObject>) -> Result<Value, Raise> {
    name(&socket, true)
}

pub(super) fn getsockname(socket: Me<'_, SocketObject>) -> Result<Value, Raise> {
    name(&socket, false)
}

apus_zend::stub!("socket/table");
