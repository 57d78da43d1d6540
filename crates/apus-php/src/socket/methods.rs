//! The methods of `Apus\Coroutine\Socket`.

use std::future::poll_fn;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, descriptor, native};
use socket2::SockAddr;

use super::address::{self, has_ports, to_array};
use super::core::{CHUNK, Sock};
use super::descriptor::Way;
use super::fault::{Fault, Outcome, Slots};
use super::object::{answer, answer_part, bytes, count, done, length, name_of, port, this};
use super::run::{Caller, Kind, Session, Span};
use super::serve::connection;
use super::settings::Given;
use super::{connect, option, packet, stream, table};
use crate::exception::{self};
use crate::wait::seconds;

/// The numbers of the declared properties.
pub(super) const FD: u32 = 0;
const DOMAIN: u32 = 1;
const TYPE: u32 = 2;
const PROTOCOL: u32 = 3;
pub(super) const SLOTS: Slots = Slots { code: 4, text: 5 };

/// Behind an `Apus\Coroutine\Socket`.
pub(super) struct SocketObject {
    pub(super) sock: Rc<Sock>,
    pub(super) given: Given,
}
native!(SocketObject, "Apus\\Coroutine\\Socket");

impl SocketObject {
    fn new(sock: Rc<Sock>) -> Self {
        Self { sock, given: Given::default() }
    }
}

pub(super) fn fill(object: &Object, sock: &Sock) {
    let numbers = [(FD, sock.fd()), (DOMAIN, sock.domain), (TYPE, sock.kind), (PROTOCOL, sock.protocol)];
    for (slot, number) in numbers {
        object.set_slot(slot, Value::int(i64::from(number)));
    }
}

/// A new `Coroutine\Socket` of a socket.
pub(super) fn wrap(sock: &Rc<Sock>) -> Result<Object, Raise> {
    let object = Object::new(table::SOCKET.get(), SocketObject::new(Rc::clone(sock)))?;
    fill(&object, sock);
    Ok(object)
}

fn sock(call: &Call) -> Result<Rc<Sock>, Raise> {
    Ok(Rc::clone(&call.this::<SocketObject>()?.sock))
}

macro_rules! kind {
    ($name:literal, $way:ident, $span:ident) => {
        Kind { name: concat!("Coroutine\\Socket::", $name, "()"), way: Way::$way, span: Span::$span }
    };
}

/// Runs `operation` with the socket's direction taken.
fn with<T>(
    call: &Call,
    kind: Kind,
    timeout: f64,
    operation: impl FnOnce(&Rc<Sock>, &Session<'_>) -> Result<T, Raise>,
) -> Result<T, Raise> {
    let sock = sock(call)?;
    let caller = Caller::find(kind.name, false)?;
    let session = Session::begin(&sock, caller, kind, timeout)?;
    operation(&sock, &session)
}

pub(super) fn construct(call: &Call) -> Result<(), Raise> {
    let (domain, kind, protocol) = (call.int(0, 0)?, call.int(1, 0)?, call.int(2, 0)?);
    let narrow = |index: usize, value: i64| {
        i32::try_from(value)
            .map_err(|_| call.value_error(index, &format!("must be a number of socket(2), {value} given")))
    };
    let (domain, kind, protocol) = (narrow(0, domain)?, narrow(1, kind)?, narrow(2, protocol)?);
    let sock = Sock::open(domain, kind, protocol).map_err(|error| {
        let why = Fault::from(error);
        let text =
            format!("a socket of domain {domain}, type {kind}, protocol {protocol} could not be made: {}", why.text());
        exception::throw(exception::code::client::ARGUMENT, &text)
    })?;
    let sock = Rc::new(sock);
    call.construct(SocketObject::new(Rc::clone(&sock)))?;
    fill(&this(call)?, &sock);
    Ok(())
}

pub(super) fn bind(call: &Call) -> Result<(), Raise> {
    let (host, port) = (call.bytes(0)?, port(call, 1)?);
    let outcome = bind_to(&*sock(call)?, host, port);
    answer(call, SLOTS, outcome, done)
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

pub(super) fn listen(call: &Call) -> Result<(), Raise> {
    let backlog = call.int(0, 512)?.clamp(0, i64::from(i32::MAX)) as i32;
    let outcome = sock(call)?.descriptor().and_then(|descriptor| Ok(descriptor.socket().listen(backlog)?));
    answer(call, SLOTS, outcome, done)
}

pub(super) fn accept(call: &Call) -> Result<(), Raise> {
    let timeout = seconds(call, 0, 0.0)?;
    let outcome = with(call, kind!("accept", Read, Read), timeout, |sock, session| {
        session.run(poll_fn(|cx| sock.poll_accept(cx)))
    })?;
    let given = &call.this::<SocketObject>()?.given;
    answer(call, SLOTS, outcome, |sock| connection(&Rc::new(sock), given.clone()).map(Value::from))
}

pub(super) fn connect(call: &Call) -> Result<(), Raise> {
    let (host, port, timeout) = (call.bytes(0)?, port(call, 1)?, seconds(call, 2, 0.0)?);
    let outcome = with(call, kind!("connect", Write, Connect), timeout, |sock, session| {
        if has_ports(sock.domain) && port == 0 && sock.is_stream() {
            return Err(call.value_error(1, "must be the port to connect to, 1 to 65535"));
        }
        let pace = session.pace();
        if let Err(fault) = session.run_apart(connect::connect(sock, host, port, pace))? {
            return Ok(Err(fault));
        }
        if sock.plan.borrow().from_start { session.run_apart(connect::shake(sock, pace)) } else { Ok(Ok(())) }
    })?;
    answer(call, SLOTS, outcome, done)
}

pub(super) fn check_liveness(call: &Call) -> Result<(), Raise> {
    answer(call, SLOTS, sock(call)?.is_alive(), done)
}

/// The lane that an event constant means.
fn way(call: &Call, default: i64) -> Result<Way, Raise> {
    match call.int(0, default)? {
        512 => Ok(Way::Read),
        1024 => Ok(Way::Write),
        other => Err(call.value_error(0, &format!("must be Apus\\EVENT_READ or Apus\\EVENT_WRITE, {other} given"))),
    }
}

pub(super) fn get_bound_cid(call: &Call) -> Result<(), Raise> {
    let way = way(call, 512)?;
    call.ret(sock(call)?.lane(way).owner())
}

pub(super) fn cancel(call: &Call) -> Result<(), Raise> {
    let way = way(call, 512)?;
    call.ret(sock(call)?.lane(way).stop(libc::ECANCELED))
}

pub(super) fn peek(call: &Call) -> Result<(), Raise> {
    let most = length(call, 0, CHUNK as i64)?;
    answer(call, SLOTS, sock(call)?.peek(most), bytes)
}

pub(super) fn recv(call: &Call) -> Result<(), Raise> {
    let (most, timeout) = (length(call, 0, CHUNK as i64)?, seconds(call, 1, 0.0)?);
    let outcome = with(call, kind!("recv", Read, Read), timeout, |sock, session| stream::recv(sock, session, most))?;
    answer(call, SLOTS, outcome, bytes)
}

pub(super) fn recv_all(call: &Call) -> Result<(), Raise> {
    let (most, timeout) = (length(call, 0, CHUNK as i64)?, seconds(call, 1, 0.0)?);
    let outcome =
        with(call, kind!("recvAll", Read, Read), timeout, |sock, session| stream::recv_all(sock, session, most))?;
    answer_part(call, SLOTS, outcome, bytes)
}

pub(super) fn recv_line(call: &Call) -> Result<(), Raise> {
    let (most, timeout) = (length(call, 0, CHUNK as i64)?, seconds(call, 1, 0.0)?);
    let outcome =
        with(call, kind!("recvLine", Read, Read), timeout, |sock, session| stream::recv_line(sock, session, most))?;
    answer(call, SLOTS, outcome, bytes)
}

pub(super) fn recv_with_buffer(call: &Call) -> Result<(), Raise> {
    let (most, timeout) = (length(call, 0, CHUNK as i64)?, seconds(call, 1, 0.0)?);
    let outcome = with(call, kind!("recvWithBuffer", Read, Read), timeout, |sock, session| {
        stream::recv_with_buffer(sock, session, most)
    })?;
    answer(call, SLOTS, outcome, bytes)
}

pub(super) fn recv_packet(call: &Call) -> Result<(), Raise> {
    let timeout = seconds(call, 0, 0.0)?;
    let tell = call.this::<SocketObject>()?.given.tell();
    let outcome = with(call, kind!("recvPacket", Read, Read), timeout, |sock, session| {
        packet::recv_packet(sock, session, tell.as_deref())
    })?;
    closed_by_framing(call)?;
    answer(call, SLOTS, outcome, bytes)
}

/// A socket that was closed has no number any more.
fn closed_by_framing(call: &Call) -> Result<(), Raise> {
    let object = this(call)?;
    if sock(call)?.is_closed() {
        object.set_slot(FD, Value::int(-1));
    }
    Ok(())
}

pub(super) fn send(call: &Call) -> Result<(), Raise> {
    let (data, timeout) = (call.bytes(0)?, seconds(call, 1, 0.0)?);
    let outcome = with(call, kind!("send", Write, Write), timeout, |sock, session| stream::send(sock, session, data))?;
    answer(call, SLOTS, outcome, count)
}

pub(super) fn send_all(call: &Call) -> Result<(), Raise> {
    let (data, timeout) = (call.bytes(0)?, seconds(call, 1, 0.0)?);
    let outcome =
        with(call, kind!("sendAll", Write, Write), timeout, |sock, session| stream::send_all(sock, session, data))?;
    answer_part(call, SLOTS, outcome, count)
}

/// The lengths that a read vector asks for.
fn lengths(call: &Call) -> Result<Vec<usize>, Raise> {
    let mut lengths = Vec::new();
    let mut total: usize = 0;
    for (_, item) in call.array(0)?.iter() {
        match item.view() {
            View::Int(n @ 1..) => lengths.push(n as usize),
            _ => return Err(call.content_error(0, "must hold lengths of 1 or more bytes only")),
        }
        total = total.saturating_add(lengths.last().copied().unwrap_or(0));
    }
    if lengths.is_empty() || i64::try_from(total).is_err() {
        return Err(call.value_error(0, "must hold one length at least, and a sum that an int can hold"));
    }
    Ok(lengths)
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

pub(super) fn read_vector(call: &Call) -> Result<(), Raise> {
    let (lengths, timeout) = (lengths(call)?, seconds(call, 1, 0.0)?);
    let most = lengths.iter().sum();
    let outcome =
        with(call, kind!("readVector", Read, Read), timeout, |sock, session| stream::recv(sock, session, most))?;
    answer(call, SLOTS, outcome, |bytes| scatter(&bytes, &lengths))
}

pub(super) fn read_vector_all(call: &Call) -> Result<(), Raise> {
    let (lengths, timeout) = (lengths(call)?, seconds(call, 1, 0.0)?);
    let most = lengths.iter().sum();
    let outcome =
        with(call, kind!("readVectorAll", Read, Read), timeout, |sock, session| stream::recv_all(sock, session, most))?;
    answer_part(call, SLOTS, outcome, |bytes| scatter(&bytes, &lengths))
}

/// The strings of a write vector, one after the other: one copy and one system call.
fn gathered(call: &Call) -> Result<Vec<u8>, Raise> {
    let mut bytes = Vec::new();
    for (_, item) in call.array(0)?.iter() {
        match item.view() {
            View::Str(part) => bytes.extend_from_slice(part),
            _ => return Err(call.content_error(0, "must hold strings only")),
        }
    }
    Ok(bytes)
}

pub(super) fn write_vector(call: &Call) -> Result<(), Raise> {
    let (data, timeout) = (gathered(call)?, seconds(call, 1, 0.0)?);
    let outcome =
        with(call, kind!("writeVector", Write, Write), timeout, |sock, session| stream::send(sock, session, &data))?;
    answer(call, SLOTS, outcome, count)
}

pub(super) fn write_vector_all(call: &Call) -> Result<(), Raise> {
    let (data, timeout) = (gathered(call)?, seconds(call, 1, 0.0)?);
    let outcome = with(call, kind!("writeVectorAll", Write, Write), timeout, |sock, session| {
        stream::send_all(sock, session, &data)
    })?;
    answer_part(call, SLOTS, outcome, count)
}

/// The arguments of the three methods that send a file: path, offset, length.
pub(super) fn file_arguments(call: &Call) -> Result<(PathBuf, u64, u64), Raise> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(call.bytes(0)?));
    let number = |index: usize| {
        let given = call.int(index, 0)?;
        u64::try_from(given).map_err(|_| call.value_error(index, &format!("must be 0 or more, {given} given")))
    };
    Ok((path, number(1)?, number(2)?))
}

pub(super) fn send_file(call: &Call) -> Result<(), Raise> {
    let (path, offset, length) = file_arguments(call)?;
    let outcome = with(call, kind!("sendFile", Write, Write), 0.0, |sock, session| {
        stream::send_file(sock, session, path, offset, length)
    })?;
    answer(call, SLOTS, outcome, done)
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

pub(super) fn sendto(call: &Call) -> Result<(), Raise> {
    let (host, port, data) = (call.bytes(0)?, port(call, 1)?, call.bytes(2)?);
    let outcome = with(call, kind!("sendto", Write, Write), 0.0, |sock, session| {
        send_datagram(sock, session, (host, port), data)
    })?;
    answer(call, SLOTS, outcome, count)
}

pub(super) fn recvfrom(call: &Call) -> Result<(), Raise> {
    let timeout = seconds(call, 1, 0.0)?;
    let outcome = with(call, kind!("recvfrom", Read, Read), timeout, |sock, session| {
        session.run(poll_fn(|cx| sock.poll_recv_from(cx)))
    })?;
    let outcome = match outcome {
        Ok((data, from)) => {
            call.assign(0, to_array(&from, false)?.into())?;
            Ok(data)
        }
        Err(fault) => Err(fault),
    };
    answer(call, SLOTS, outcome, bytes)
}

fn option_numbers(call: &Call) -> Result<(i32, i32), Raise> {
    let narrow = |index: usize| {
        let given = call.int(index, 0)?;
        i32::try_from(given).map_err(|_| call.value_error(index, "must be a number of socket(7)"))
    };
    Ok((narrow(0)?, narrow(1)?))
}

pub(super) fn get_option(call: &Call) -> Result<(), Raise> {
    let (level, name) = option_numbers(call)?;
    let outcome = option::get(&*sock(call)?, level, name)?;
    answer(call, SLOTS, outcome, Ok)
}

pub(super) fn set_option(call: &Call) -> Result<(), Raise> {
    let (level, name) = option_numbers(call)?;
    let outcome = option::set(&*sock(call)?, level, name, call, 2)?;
    answer(call, SLOTS, outcome, done)
}

pub(super) fn set_protocol(call: &Call) -> Result<(), Raise> {
    let object = call.this::<SocketObject>()?;
    object.given.take(call.array(0)?)?;
    object.given.install(&object.sock)?;
    call.ret(true)
}

pub(super) fn ssl_handshake(call: &Call) -> Result<(), Raise> {
    let outcome = with(call, kind!("sslHandshake", Write, Connect), 0.0, |sock, session| {
        // Shaking hands reads, too: nobody else may meanwhile.
        let _reading = sock.reader.claim(session.caller_id(), "Coroutine\\Socket::sslHandshake()")?;
        session.run_apart(connect::shake(sock, session.pace()))
    })?;
    answer(call, SLOTS, outcome, done)
}

/// What `SHUT_RD`, `SHUT_WR` and `SHUT_RDWR` mean.
pub(super) fn direction(call: &Call, default: i64) -> Result<Shutdown, Raise> {
    match call.int(0, default)? {
        0 => Ok(Shutdown::Read),
        1 => Ok(Shutdown::Write),
        2 => Ok(Shutdown::Both),
        other => Err(call.value_error(0, &format!("must be 0 (reading), 1 (writing) or 2 (both), {other} given"))),
    }
}

pub(super) fn shutdown(call: &Call) -> Result<(), Raise> {
    let how = direction(call, 2)?;
    answer(call, SLOTS, sock(call)?.shutdown(how), done)
}

pub(super) fn close(call: &Call) -> Result<(), Raise> {
    sock(call)?.close(libc::ECANCELED);
    this(call)?.set_slot(FD, Value::int(-1));
    answer(call, SLOTS, Ok(()), done)
}

pub(super) fn is_closed(call: &Call) -> Result<(), Raise> {
    call.ret(sock(call)?.is_closed())
}

fn name(call: &Call, peer: bool) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let outcome = name_of(&sock(call)?, peer);
    answer(call, SLOTS, outcome, |address| to_array(&address, false).map(Value::from))
}

pub(super) fn getpeername(call: &Call) -> Result<(), Raise> {
    name(call, true)
}

pub(super) fn getsockname(call: &Call) -> Result<(), Raise> {
    name(call, false)
}

pub(super) fn import(call: &Call) -> Result<(), Raise> {
    let Some(fd) = descriptor::of(&call.value(0))? else {
        return Err(call.type_error(0, "of type resource (an open stream) or Socket"));
    };
    // SAFETY: the stream keeps its descriptor open during the call.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    let Ok(sock) = adopt_copy(borrowed) else { return call.ret(false) };
    call.ret(wrap(&Rc::new(sock))?)
}

/// A socket over a descriptor of its own for what `fd` stands for: each side closes its own.
fn adopt_copy(fd: BorrowedFd<'_>) -> Outcome<Sock> {
    let own: OwnedFd = fd.try_clone_to_owned()?;
    let socket = socket2::Socket::from(own);
    let domain = i32::from(socket.local_addr()?.domain());
    let kind = i32::from(socket.r#type()?);
    let protocol = socket.protocol()?.map_or(0, i32::from);
    Ok(Sock::adopt(socket, domain, kind, protocol)?)
}
