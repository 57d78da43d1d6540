//! What `Coroutine\Client` and the blocking `Client` have in common: a connection that they make themselves.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use apus_client::tls::TlsStream;
use apus_zend::object::Object;
use apus_zend::value::ArrayView;
use apus_zend::{Raise, Value};
use socket2::SockAddr;

use super::address::{has_ports, to_array};
use super::core::{Limits, Sock};
use super::fault::{Fault, NOT_CONNECTED, Outcome, SSL_NO_CERTIFICATE, SSL_NOT_READY, Slots};
use super::methods::{bind_to, send_datagram};
use super::object::{Extent, FilePath, Port, answer, name_of};
use super::run::{Caller, Kind, Session};
use super::settings::{Given, merged};
use super::{connect, kept, stream};
use crate::exception;
use crate::wait::Timeout;

/// The type of a client: its kind of socket, and flags.
pub(super) const SOCK_TCP: i64 = 1;
pub(super) const SOCK_UDP: i64 = 2;
pub(super) const SOCK_TCP6: i64 = 3;
pub(super) const SOCK_UDP6: i64 = 4;
pub(super) const UNIX_STREAM: i64 = 5;
pub(super) const UNIX_DGRAM: i64 = 6;
pub(super) const SSL: i64 = 512;
pub(super) const ASYNC: i64 = 1024;
pub(super) const SYNC: i64 = 2048;
/// Closing leaves the connection to the next client of the same server.
pub(super) const KEEP: i64 = 4096;

/// Where a class keeps what both classes have.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) slots: Slots,
    pub(super) fd: u32,
    pub(super) kind: u32,
    pub(super) setting: u32,
    /// `$connected`, where the class has it.
    pub(super) connected: Option<u32>,
    /// Whether code outside coroutines may wait.
    pub(super) blocking: bool,
}

/// A client's connection and what it is to be made of.
pub(super) struct Peer {
    domain: i32,
    kind: i32,
    secure: bool,
    given: Given,
    sock: RefCell<Option<Rc<Sock>>>,
    connected: Cell<bool>,
    keeps: bool,
    /// Under which name the connection is kept, and how often it was taken up.
    kept_as: RefCell<Vec<u8>>,
    uses: Cell<i64>,
    /// Code written for Swoole has closed it while somebody waited, who is to close it, too.
    left_open: Cell<bool>,
}

/// `SWOOLE_ERROR_CO_SOCKET_CLOSE_WAIT`
const CLOSE_WAIT: i32 = 10_019;

impl Peer {
    /// A client of that type; `None`: there is no such type.
    pub(super) fn new(kind: i64) -> Option<Self> {
        let (domain, socket) = match kind & !(SSL | SYNC | KEEP) {
            SOCK_TCP => (libc::AF_INET, libc::SOCK_STREAM),
            SOCK_UDP => (libc::AF_INET, libc::SOCK_DGRAM),
            SOCK_TCP6 => (libc::AF_INET6, libc::SOCK_STREAM),
            SOCK_UDP6 => (libc::AF_INET6, libc::SOCK_DGRAM),
            UNIX_STREAM => (libc::AF_UNIX, libc::SOCK_STREAM),
            UNIX_DGRAM => (libc::AF_UNIX, libc::SOCK_DGRAM),
            _ => return None,
        };
        let secure = kind & SSL != 0;
        if secure && socket != libc::SOCK_STREAM {
            return None;
        }
        Some(Self {
            domain,
            kind: socket,
            secure,
            given: Given::default(),
            sock: RefCell::new(None),
            connected: Cell::new(false),
            keeps: kind & KEEP != 0 && socket == libc::SOCK_STREAM,
            kept_as: RefCell::default(),
            uses: Cell::new(0),
            left_open: Cell::new(false),
        })
    }

    /// How often its connection was taken up from an earlier client.
    pub(super) fn uses(&self) -> i64 {
        self.uses.get()
    }

    /// Takes up a connection that was kept under that name.
    pub(super) fn take_up(&self, name: Vec<u8>) -> Result<bool, Raise> {
        let kept = if self.keeps && !self.connected.get() { kept::take(&name) } else { None };
        self.kept_as.replace(name);
        self.uses.set(kept.as_ref().map_or(0, |(_, uses)| *uses));
        let Some((sock, _)) = kept else { return Ok(false) };
        self.given.install(&sock)?;
        self.sock.replace(Some(sock));
        self.connected.set(true);
        Ok(true)
    }

    /// Leaves the connection to the next client; `false`: it is to be closed.
    pub(super) fn leave(&self) -> bool {
        if !self.keeps || !self.connected.get() {
            return false;
        }
        let Some(sock) = self.sock().ok().filter(|sock| sock.is_alive().is_ok()) else { return false };
        let kept = kept::keep(self.kept_as.borrow().clone(), sock, self.uses.get());
        if kept {
            self.connected.set(false);
            drop(self.sock.take());
        }
        kept
    }

    /// Whether it carries datagrams.
    pub(super) fn is_datagram(&self) -> bool {
        self.kind == libc::SOCK_DGRAM
    }

    /// The settings.
    pub(super) fn given(&self) -> &Given {
        &self.given
    }

    /// The connection, or why there is none.
    pub(super) fn sock(&self) -> Outcome<Rc<Sock>> {
        match &*self.sock.borrow() {
            Some(sock) if self.connected.get() && !sock.is_closed() => Ok(Rc::clone(sock)),
            _ => Err(Fault::errno(NOT_CONNECTED)),
        }
    }

    /// The socket of a client that need not be connected: datagrams can go anywhere.
    fn any_sock(&self) -> Result<Outcome<Rc<Sock>>, Raise> {
        let known = self.sock.borrow().clone().filter(|sock| !sock.is_closed());
        match known {
            Some(sock) => Ok(Ok(sock)),
            None if self.is_datagram() => self.open(),
            None => Ok(Err(Fault::errno(NOT_CONNECTED))),
        }
    }

    fn open(&self) -> Result<Outcome<Rc<Sock>>, Raise> {
        let sock = match Sock::open(self.domain, self.kind, 0) {
            Ok(sock) => Rc::new(sock),
            Err(error) => return Ok(Err(error.into())),
        };
        self.given.install(&sock)?;
        let (host, port) = {
            let settings = self.given.settings.borrow();
            (settings.common.bind_address.clone(), settings.common.bind_port)
        };
        if self.domain == libc::AF_UNIX && self.is_datagram() && host.is_empty() {
            // Without a name nobody could answer it: the kernel gives one, which is no file.
            if let Err(fault) = bind_to(&sock, b"", 0) {
                return Ok(Err(fault));
            }
        } else if !host.is_empty() || port != 0 {
            let any = if self.domain == libc::AF_INET6 { "::" } else { "0.0.0.0" };
            let host = if host.is_empty() { any } else { &host };
            if let Err(fault) = bind_to(&sock, host.as_bytes(), port) {
                return Ok(Err(fault));
            }
        }
        *self.sock.borrow_mut() = Some(Rc::clone(&sock));
        Ok(Ok(sock))
    }

    fn connect(
        &self,
        kind: Kind,
        blocking: bool,
        host: &[u8],
        port: u16,
        timeout: Timeout,
    ) -> Result<Outcome<()>, Raise> {
        let caller = Caller::find(kind.name, blocking)?;
        if self.connected.get() {
            return Ok(Err(Fault::new(libc::EISCONN, "the client is connected already: close() it first")));
        }
        let under_way = self.sock.borrow().clone().filter(|sock| sock.writer.owner() != 0);
        let sock = match under_way {
            Some(sock) => sock,
            None => match self.open()? {
                Ok(sock) => sock,
                Err(fault) => return Ok(Err(fault)),
            },
        };
        let session = Session::begin(&sock, caller, kind, timeout)?;
        let outcome = self.shake_hands(&sock, &session, host, port)?;
        drop(session);
        // Another coroutine may have closed the client meanwhile.
        let outcome = if sock.is_closed() { outcome.and(Err(Fault::errno(libc::ECANCELED))) } else { outcome };
        if outcome.is_ok() {
            self.connected.set(true);
        } else {
            sock.close(libc::ECANCELED);
        }
        Ok(outcome)
    }

    fn shake_hands(&self, sock: &Sock, session: &Session<'_>, host: &[u8], port: u16) -> Result<Outcome<()>, Raise> {
        let pace = session.pace();
        if let Err(fault) = session.run_apart(connect::connect(sock, host, port, pace))? {
            return Ok(Err(fault));
        }
        let speak_tls = !self.is_datagram() && (self.secure || sock.plan.borrow().from_start);
        if speak_tls { session.run_apart(connect::shake(sock, pace)) } else { Ok(Ok(())) }
    }

    fn close(&self, errno: i32) -> bool {
        self.connected.set(false);
        let sock = self.sock.take();
        sock.is_some_and(|sock| sock.close(errno))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.close(libc::ECANCELED);
    }
}

/// What a method of either class works on: the object, where it keeps its state, and its connection.
pub(super) type Client<'a> = (&'a Object, Layout, &'a Peer);

/// `connect()`.
pub(super) fn connect_to(
    (object, layout, peer): Client<'_>,
    kind: Kind,
    host: &[u8],
    port: Port,
    timeout: Timeout,
) -> Result<Value, Raise> {
    if has_ports(peer.domain) {
        port.expect()?;
    }
    peer.left_open.set(false);
    let outcome = peer.connect(kind, layout.blocking, host, port.number, timeout)?;
    // What the blocking client may take to connect, it may take for anything.
    if layout.blocking
        && outcome.is_ok()
        && !timeout.is_zero()
        && let Ok(sock) = peer.sock()
    {
        let own = sock.limits.get();
        let each = Some(timeout);
        sock.limits.set(Limits { read: own.read.or(each), write: own.write.or(each), ..own });
    }
    show(object, layout, peer);
    answer(object, layout.slots, outcome, super::object::done)
}

/// Shows the state of the connection in the object's properties.
pub(super) fn show(object: &Object, layout: Layout, peer: &Peer) {
    let fd = peer.sock.borrow().as_ref().map_or(-1, |sock| sock.fd());
    object.set_slot(layout.fd, Value::int(i64::from(fd)));
    if let Some(slot) = layout.connected {
        object.set_slot(slot, Value::bool(peer.connected.get()));
    }
}

/// `set()`.
pub(super) fn set((object, layout, peer): Client<'_>, given: ArrayView<'_>) -> Result<bool, Raise> {
    peer.given.take(given, object.is_second(&super::client::CLIENT) || object.is_second(&super::client::BLOCKING))?;
    let setting = merged(&object.slot(layout.setting), given)?;
    object.set_slot(layout.setting, setting.into());
    let sock = peer.sock.borrow().clone();
    if let Some(sock) = sock {
        peer.given.install(&sock)?;
    }
    Ok(true)
}

/// Runs `operation` on the connection, with its direction taken.
pub(super) fn with<T>(
    (_, layout, peer): Client<'_>,
    kind: Kind,
    timeout: Timeout,
    operation: impl FnOnce(&Rc<Sock>, &Session<'_>) -> Result<Outcome<T>, Raise>,
) -> Result<Outcome<T>, Raise> {
    let caller = Caller::find(kind.name, layout.blocking)?;
    let sock = match peer.sock() {
        Ok(sock) => sock,
        Err(fault) => return Ok(Err(fault)),
    };
    let session = Session::begin(&sock, caller, kind, timeout)?;
    operation(&sock, &session)
}

/// A connection that its framing closed is a connection no more.
pub(super) fn after_receiving((object, layout, peer): Client<'_>) {
    let closed = peer.sock.borrow().as_ref().is_some_and(|sock| sock.is_closed());
    if closed && peer.connected.replace(false) {
        show(object, layout, peer);
    }
}

/// `close()`.
pub(super) fn close((object, layout, peer): Client<'_>) -> Result<Value, Raise> {
    let waited_for = peer.sock.borrow().as_ref().is_some_and(|sock| sock.is_in_use());
    let left = peer.left_open.take();
    let closed = peer.close(libc::ECANCELED) || left;
    show(object, layout, peer);
    // There a connection that somebody waits for is closed by who leaves it last.
    let leaves = waited_for && !layout.blocking && object.name_there().is_some();
    if waited_for {
        peer.left_open.set(leaves);
        crate::wait::let_go_on_there(object)?;
    }
    let outcome = match (closed, leaves) {
        (true, true) => Err(Fault::new(CLOSE_WAIT, "others wait for the connection, and have been told")),
        (true, false) => Ok(()),
        (false, _) => Err(Fault::errno(NOT_CONNECTED)),
    };
    answer(object, layout.slots, outcome, super::object::done)
}

/// `isConnected()`.
pub(super) fn is_connected((_, _, peer): Client<'_>) -> bool {
    peer.sock().and_then(|sock| sock.is_alive()).is_ok()
}

/// `getsockname()` and `getpeername()`.
pub(super) fn name((object, layout, peer): Client<'_>, of_peer: bool) -> Result<Value, Raise> {
    let sock = peer.sock.borrow().clone().ok_or_else(|| Fault::errno(NOT_CONNECTED));
    let outcome: Outcome<SockAddr> = sock.and_then(|sock| name_of(&sock, of_peer));
    answer(object, layout.slots, outcome, |address| to_array(&address, true).map(Value::from))
}

/// `sendto()`.
pub(super) fn sendto(
    (object, layout, peer): Client<'_>,
    kind: Kind,
    to: (&[u8], Port),
    data: &[u8],
) -> Result<Value, Raise> {
    if !peer.is_datagram() {
        return Err(exception::throw(
            exception::code::client::STATE,
            "sendto() is for clients of datagrams (SOCK_UDP, SOCK_UDP6, UNIX_DGRAM): use send() on a connection",
        ));
    }
    let caller = Caller::find(kind.name, layout.blocking)?;
    let outcome = match peer.any_sock()? {
        Ok(sock) => {
            let session = Session::begin(&sock, caller, kind, Timeout::ZERO)?;
            send_datagram(&sock, &session, (to.0, to.1.number), data)?
        }
        Err(fault) => Err(fault),
    };
    show(object, layout, peer);
    answer(object, layout.slots, outcome, super::object::done)
}

/// `sendfile()`.
pub(super) fn sendfile(
    client: Client<'_>,
    kind: Kind,
    FilePath(path): FilePath,
    (offset, length): (Extent, Extent),
) -> Result<Value, Raise> {
    let (object, layout, _) = client;
    let outcome =
        with(client, kind, Timeout::ZERO, |sock, session| stream::send_file(sock, session, path, offset.0, length.0))?;
    answer(object, layout.slots, outcome, super::object::done)
}

/// Receives a datagram and its sender, at most `most` bytes of it.
pub(super) fn recv_from(
    (_, layout, peer): Client<'_>,
    kind: Kind,
    most: usize,
) -> Result<Outcome<(Vec<u8>, SockAddr)>, Raise> {
    let caller = Caller::find(kind.name, layout.blocking)?;
    let sock = match peer.any_sock()? {
        Ok(sock) => sock,
        Err(fault) => return Ok(Err(fault)),
    };
    let session = Session::begin(&sock, caller, kind, Timeout::ZERO)?;
    let outcome = session.run(poll_fn(|cx| sock.poll_recv_from(cx)))?;
    Ok(outcome.map(|(mut data, from)| {
        data.truncate(most);
        (data, from)
    }))
}

/// `enableSSL()`.
pub(super) fn enable_ssl(client: Client<'_>, kind: Kind) -> Result<Value, Raise> {
    let (object, layout, _) = client;
    let outcome = with(client, kind, Timeout::ZERO, |sock, session| {
        // Shaking hands reads, too: nobody else may meanwhile.
        let _reading = sock.reader.claim(session.caller_id(), kind.name)?;
        session.run_apart(connect::shake(sock, session.pace()))
    })?;
    answer(object, layout.slots, outcome, super::object::done)
}

/// `getPeerCert()`.
pub(super) fn peer_cert((object, layout, peer): Client<'_>) -> Result<Value, Raise> {
    let outcome = peer.sock().and_then(|sock| {
        let pem = sock.with_tls(TlsStream::peer_certificate_pem).ok_or_else(|| Fault::errno(SSL_NOT_READY))?;
        pem.ok_or_else(|| Fault::errno(SSL_NO_CERTIFICATE))
    });
    answer(object, layout.slots, outcome, |pem| Value::string(pem.as_bytes()))
}

/// `verifyPeerCert()`.
pub(super) fn verify_cert((object, layout, peer): Client<'_>, allow: bool) -> Result<Value, Raise> {
    let outcome = peer.sock().and_then(|sock| {
        let verified = sock.with_tls(|tls| tls.verify_peer(allow)).ok_or_else(|| Fault::errno(SSL_NOT_READY))?;
        Ok(verified?)
    });
    answer(object, layout.slots, outcome, super::object::done)
}

/// Bytes that are there now, without waiting; `EAGAIN` when there are none.
pub(super) fn recv_now(sock: &Sock, most: usize) -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    let descriptor = sock.descriptor()?;
    let mut cx = Context::from_waker(Waker::noop());
    match descriptor.at_once(|| sock.poll_recv(&mut cx, &mut out, most)) {
        Poll::Ready(outcome) => outcome.map(|_| out),
        Poll::Pending => Err(Fault::errno(libc::EAGAIN)),
    }
}

/// The socket that `exportSocket()` gives, the same object each time.
pub(super) fn export(
    peer: &Peer,
    kept: &RefCell<Option<(Rc<Sock>, Object)>>,
    second: bool,
) -> Result<Outcome<Object>, Raise> {
    let sock = match peer.sock() {
        Ok(sock) => sock,
        Err(fault) => return Ok(Err(fault)),
    };
    let known = kept.borrow().as_ref().filter(|(known, _)| Rc::ptr_eq(known, &sock)).map(|(_, object)| object.share());
    if let Some(object) = known {
        return Ok(Ok(object));
    }
    let object = super::methods::wrap(&sock, second)?;
    let _old = kept.replace(Some((sock, object.share())));
    Ok(Ok(object))
}

/// The methods that both classes have, by `of`: what makes a [`Client`] of `$this`.
macro_rules! shared_methods {
    ($object:ty, $class:literal) => {
        pub(super) fn set(client: Me<'_, $object>, settings: ArrayView<'_>) -> Result<bool, Raise> {
            peer::set(of(&client), settings)
        }

        pub(super) fn sendfile(
            client: Me<'_, $object>,
            path: FilePath,
            offset: Extent,
            length: Extent,
        ) -> Result<Value, Raise> {
            peer::sendfile(of(&client), peer::kind!($class, "sendfile", Write, Write), path, (offset, length))
        }

        pub(super) fn sendto(client: Me<'_, $object>, host: &[u8], port: Port, data: &[u8]) -> Result<Value, Raise> {
            peer::sendto(of(&client), peer::kind!($class, "sendto", Write, Write), (host, port), data)
        }

        pub(super) fn peer_cert(client: Me<'_, $object>) -> Result<Value, Raise> {
            peer::peer_cert(of(&client))
        }

        pub(super) fn verify_cert(client: Me<'_, $object>, allow: bool) -> Result<Value, Raise> {
            peer::verify_cert(of(&client), allow)
        }

        pub(super) fn is_connected(client: Me<'_, $object>) -> bool {
            peer::is_connected(of(&client))
        }

        pub(super) fn getsockname(client: Me<'_, $object>) -> Result<Value, Raise> {
            peer::name(of(&client), false)
        }

        pub(super) fn getpeername(client: Me<'_, $object>) -> Result<Value, Raise> {
            peer::name(of(&client), true)
        }
    };
}
pub(super) use shared_methods;

/// An operation of a class.
macro_rules! kind {
    ($class:literal, $name:literal, $way:ident, $span:ident) => {
        $crate::socket::run::Kind {
            name: concat!($class, "::", $name, "()"),
            way: $crate::socket::descriptor::Way::$way,
            span: $crate::socket::run::Span::$span,
        }
    };
}
pub(super) use kind;
