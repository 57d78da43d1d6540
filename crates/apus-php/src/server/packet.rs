//! Datagrams: the event packet, and `Server::sendto()`.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use apus_coro::Wait;
use apus_net::{Datagram, Local, PacketApp};
use apus_zend::{Array, Callable, Raise, Value, engine};
use socket2::{SockAddr, Socket};
use tokio::io::Interest;

use super::core::{ServerCore, ServerHandle};
use super::event_object;
use super::events::Event;
use super::port_core::{Plan, PortCore};
use super::routing::dispatch::{Dispatch, Fate, Incoming, Parcel, Taker};
use super::serving::Serving;
use super::tcp::Caller;
use super::worker::lent_datagram;
use crate::descriptor;
use crate::exception::{self};
use crate::handling::Handling;
use crate::last_error;
use crate::runtime::State;
use crate::swoole::{self, There};
use crate::wait::{Deadline, may_wait, wait};

/// PHP behind one datagram port.
pub(super) struct PhpPackets {
    caller: Caller,
    packet: Option<Callable>,
    place: usize,
    /// The port that clients send to.
    server_port: u16,
    dispatch: Option<Rc<Dispatch>>,
}

impl PhpPackets {
    pub(super) fn new(serving: &Serving<'_>, port: &PortCore, place: usize, server_port: u16, plan: &Plan) -> Rc<Self> {
        let packet = serving.core.callback(port, Event::Packet);
        let dispatch = serving.core.dispatch.borrow().clone();
        Rc::new(Self { caller: Caller::new(serving, plan), packet, place, server_port, dispatch })
    }

    fn received(
        &self,
        callable: &Callable,
        (address, port): (&str, u16),
        data: &[u8],
    ) -> Result<Option<Handling>, Raise> {
        if self.caller.event_objects {
            let packet =
                event_object::packet(Value::string(data)?, (address, port), self.place as i64, self.server_port)?;
            return self.caller.begin(callable, [self.caller.server(), packet]);
        }
        let mut info = Array::new(4)?;
        info.set_str(b"address", address.as_bytes())?;
        info.set_int(b"port", i64::from(port))?;
        info.set_int(b"server_socket", self.place as i64)?;
        info.set_int(b"server_port", i64::from(self.server_port))?;
        self.caller.begin(callable, [self.caller.server(), Value::string(data)?, info.into()])
    }

    /// Too many coroutines: whoever floods the port must not flood the log. Whether that is why nothing began.
    fn is_flooded(&self, raise: Raise) -> bool {
        let state = &self.caller.handlers.state;
        match state.failed(raise) {
            Some(thrown) if thrown.is(exception::COROUTINE.get()) => return true,
            Some(thrown) => state.uncaught(thrown),
            None => {}
        }
        false
    }
}

/// An address as PHP is told it.
fn shown(from: &SockAddr) -> (String, u16) {
    match from.as_socket() {
        Some(addr) => (addr.ip().to_canonical().to_string(), addr.port()),
        None => (unix_name(from).unwrap_or_default(), 0),
    }
}

/// A path, or a name without a file, which begins with a null byte.
fn unix_name(from: &SockAddr) -> Option<String> {
    if let Some(path) = from.as_pathname() {
        return Some(path.display().to_string());
    }
    let name = from.as_abstract_namespace()?;
    Some(format!("\0{}", String::from_utf8_lossy(name)))
}

impl PhpPackets {
    /// Whether other workers may pass on what came to them.
    pub(super) fn is_dispatched(&self) -> bool {
        self.dispatch.is_some()
    }
}

impl Taker for PhpPackets {
    fn take(&self, parcel: &Parcel) -> Option<Handling> {
        let callable = self.packet.as_ref()?;
        let begun = self.received(callable, (&parcel.from.0, parcel.from.1), &parcel.data);
        begun.unwrap_or_else(|raise| {
            self.is_flooded(raise);
            None
        })
    }
}

impl PacketApp for PhpPackets {
    type Handling = Handling;

    fn on_packet(self: &Rc<Self>, socket: &Rc<Datagram>, from: &SockAddr, data: &[u8]) -> Option<Handling> {
        let callable = self.packet.as_ref()?;
        let (address, port) = shown(from);
        if let Some(dispatch) = &self.dispatch {
            let ip = from.as_socket().map(|addr| addr.ip().to_canonical());
            let incoming = Incoming { fd: 0, port: self.place as u16, from: (&address, port), ip, data };
            match dispatch.pass_on(&incoming) {
                Fate::Here => {}
                Fate::Dropped | Fate::Closed => return None,
                Fate::Elsewhere(handling) => return handling,
            }
        }
        self.received(callable, (&address, port), data).unwrap_or_else(|raise| {
            if self.is_flooded(raise) {
                socket.count_dropped();
            }
            None
        })
    }
}

/// `Server::sendto()`.
pub(super) fn sendto(server: &ServerHandle, host: String, port: i64, data: &[u8], place: i64) -> Result<bool, Raise> {
    send(server, "sendto()", &host, port, data, place)
}

/// Sends one datagram to an address; false when it is lost.
pub(super) fn send(
    core: &ServerCore,
    what: &str,
    host: &str,
    port: i64,
    data: &[u8],
    place: i64,
) -> Result<bool, Raise> {
    core.worker(what)?;
    let to = destination(host, port).map_err(|why| engine::throw_value_error(&why))?;
    let Some(socket) = choose(core, &to, place) else {
        if let Some(fd) = lent(&to, place) {
            return send_by(&Socket::from(fd), &to, data);
        }
        let text = format!("{what} needs a datagram port of the receiver's family: add one with listen()");
        let raise = exception::throw(exception::code::server::STATE, &text);
        return Err(if place < 0 { raise } else { swoole::there(raise, There::Quiet(i64::from(libc::EBADF))) });
    };
    loop {
        match socket.send_to(&to, data) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Ok(last_error::fail(i64::from(error.raw_os_error().unwrap_or(libc::EIO)))),
        }
        let state = State::get()?;
        if !may_wait(&state) {
            return Ok(last_error::fail(i64::from(libc::EAGAIN)));
        }
        let ready = std::future::poll_fn(|cx| socket.poll_sendable(cx));
        let limit = state.settings.borrow().socket_write_timeout;
        let ready = async { Deadline::after(limit.get()).keep(ready).await };
        if !matches!(wait(&state, Wait::Outside("Server::sendto()"), ready)?, Some(Some(Ok(())))) {
            return Ok(last_error::fail(i64::from(libc::EAGAIN)));
        }
    }
}

/// The socket of a port in a process that does not serve it: a task worker, one of `addProcess()`, the master.
fn lent(to: &SockAddr, place: i64) -> Option<OwnedFd> {
    lent_datagram(|at, socket| {
        let family = socket.local_addr().map(|local| local.family());
        family.is_ok_and(|family| family == to.family()) && (place < 0 || at as i64 == place)
    })
}

fn send_by(socket: &Socket, to: &SockAddr, data: &[u8]) -> Result<bool, Raise> {
    let sent = || socket.send_to_with_flags(data, to, libc::MSG_DONTWAIT).map(|_| ());
    let failed = |error: &io::Error| last_error::fail(i64::from(error.raw_os_error().unwrap_or(libc::EIO)));
    match sent() {
        Ok(()) => return Ok(true),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Ok(failed(&error)),
        Err(_) => {}
    }
    let state = State::get()?;
    if !may_wait(&state) {
        return Ok(last_error::fail(i64::from(libc::EAGAIN)));
    }
    let outcome = wait(&state, Wait::Outside("Server::sendto()"), async {
        let watch =
            socket.try_clone().and_then(|socket| descriptor::watch(OwnedFd::from(socket), Interest::WRITABLE))?;
        loop {
            let mut ready = watch.writable().await?;
            match sent() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                done => return done,
            }
        }
    })?;
    Ok(match outcome {
        Some(Ok(())) => true,
        Some(Err(error)) => failed(&error),
        None => last_error::fail(i64::from(libc::EAGAIN)),
    })
}

fn destination(host: &str, port: i64) -> Result<SockAddr, String> {
    let path = host.strip_prefix("unix:").unwrap_or(host);
    if path.starts_with(['/', '\0']) {
        return SockAddr::unix(path).map_err(|error| format!("\"{path}\" is no path of a Unix socket: {error}"));
    }
    let port = u16::try_from(port).map_err(|_| format!("Argument #2 ($port) must be from 0 to 65535, {port} given"))?;
    let ip: IpAddr = host.trim_start_matches('[').trim_end_matches(']').parse().map_err(|_| {
        format!("Argument #1 ($ip) must be an IP address or the path of a Unix socket, \"{host}\" given")
    })?;
    Ok(SocketAddr::new(ip, port).into())
}

/// The port that was asked for, or the first one of the receiver's family.
fn choose(core: &ServerCore, to: &SockAddr, place: i64) -> Option<Rc<Datagram>> {
    let fits = |socket: &Datagram| match socket.local() {
        Local::Tcp(addr) if addr.is_ipv4() => to.is_ipv4(),
        Local::Tcp(_) => to.is_ipv6(),
        Local::Unix(_) => to.is_unix(),
    };
    let datagrams = core.datagrams.borrow();
    let mut all = datagrams.iter().filter(|(at, socket)| fits(socket) && (place < 0 || *at as i64 == place));
    all.next().map(|(_, socket)| Rc::clone(socket))
}
