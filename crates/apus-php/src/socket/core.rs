//! What `Coroutine\Socket`, `Coroutine\Client` and `Client` are made of: one socket, its two directions, what was read
//! ahead of it, TLS over it, and its limits of time.
//!
//! Everything here is a future's single poll or does not wait at all; [`super::run`] does the waiting. The descriptor
//! is looked up at each poll, so closing takes it away at once: the loop forgets it before its number can be used anew,
//! and who waited is told through its direction.

use std::cell::{Cell, RefCell};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use apus_client::tls::{TlsOptions, TlsStream};
use apus_net::proto::framing::{Framing, Scan};
use apus_zend::Value;
use bytes::{Buf as _, BytesMut};
use socket2::{SockAddr, Socket};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use super::descriptor::{Descriptor, Way, Wire, recv};
use super::direction::Direction;
use super::fault::{Fault, Outcome};
use crate::wait::Timeout;

/// What one read takes at most when nobody asks for more, bytes.
pub(super) const CHUNK: usize = 65_536;

thread_local! {
    /// Where bytes land first, so that a coroutine that waits for data holds no buffer.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK].into_boxed_slice());
}

/// A socket's own limits of time; `None` takes the engine's.
#[derive(Clone, Copy, Default)]
pub(super) struct Limits {
    pub(super) connect: Option<Timeout>,
    pub(super) read: Option<Timeout>,
    pub(super) write: Option<Timeout>,
}

/// TLS to be spoken: how, and for which name.
#[derive(Clone, Default)]
pub(super) struct TlsPlan {
    pub(super) options: TlsOptions,
    /// Empty for the host that was connected to.
    pub(super) host: String,
    /// Whether to speak it from the start of a connection.
    pub(super) from_start: bool,
}

/// One socket.
pub(super) struct Sock {
    descriptor: RefCell<Option<Rc<Descriptor>>>,
    pub(super) domain: i32,
    pub(super) kind: i32,
    pub(super) protocol: i32,
    pub(super) reader: Direction,
    pub(super) writer: Direction,
    tls: RefCell<Option<TlsStream<Wire>>>,
    /// Bytes that were read and not yet asked for.
    ahead: RefCell<BytesMut>,
    /// How far `ahead` was searched for the end of a message.
    scan: Cell<Scan>,
    pub(super) framing: RefCell<Option<Rc<Framing>>>,
    pub(super) limits: Cell<Limits>,
    pub(super) plan: RefCell<TlsPlan>,
    /// The host that was connected to.
    pub(super) host: RefCell<String>,
    /// Whether it was accepted: the server's side of TLS.
    pub(super) accepted: Cell<bool>,
    /// Whether a stream of the program's stands for the same connection.
    pub(super) shared: Cell<bool>,
    /// The stream of PHP's that it is a copy of, which ends with it in code written for Swoole.
    pub(super) origin: RefCell<Option<Value>>,
    /// Whether reading and writing were shut down, for code written for Swoole.
    ended: Cell<(bool, bool)>,
}

impl Sock {
    /// A new socket.
    pub(super) fn open(domain: i32, kind: i32, protocol: i32) -> io::Result<Self> {
        let socket = Socket::new(domain.into(), kind.into(), (protocol != 0).then_some(protocol.into()))?;
        Self::adopt(socket, domain, kind, protocol)
    }

    /// Takes over a socket.
    pub(super) fn adopt(socket: Socket, domain: i32, kind: i32, protocol: i32) -> io::Result<Self> {
        if kind == libc::SOCK_STREAM && super::address::has_ports(domain) {
            // Not worth a failure: a protocol that is not TCP has no such option.
            let _ = socket.set_tcp_nodelay(true);
        }
        Ok(Self {
            descriptor: RefCell::new(Some(Rc::new(Descriptor::new(socket)?))),
            domain,
            kind,
            protocol,
            reader: Direction::new(Way::Read),
            writer: Direction::new(Way::Write),
            tls: RefCell::new(None),
            ahead: RefCell::new(BytesMut::new()),
            scan: Cell::new(Scan::default()),
            framing: RefCell::new(None),
            limits: Cell::new(Limits::default()),
            plan: RefCell::new(TlsPlan::default()),
            host: RefCell::new(String::new()),
            accepted: Cell::new(false),
            shared: Cell::new(false),
            origin: RefCell::new(None),
            ended: Cell::default(),
        })
    }

    /// The descriptor, unless closed.
    pub(super) fn descriptor(&self) -> Outcome<Rc<Descriptor>> {
        self.descriptor.borrow().clone().ok_or_else(|| Fault::errno(libc::EBADF))
    }

    /// Its number; -1 when closed.
    pub(super) fn fd(&self) -> i32 {
        self.descriptor.borrow().as_ref().map_or(-1, |descriptor| descriptor.socket().as_raw_fd())
    }

    /// Whether it was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.descriptor.borrow().is_none()
    }

    /// Whether it carries a stream of bytes.
    pub(super) fn is_stream(&self) -> bool {
        self.kind == libc::SOCK_STREAM
    }

    /// Whether TLS is spoken.
    pub(super) fn is_secure(&self) -> bool {
        self.tls.borrow().is_some()
    }

    /// The direction of a direction.
    pub(super) fn direction(&self, way: Way) -> &Direction {
        match way {
            Way::Read => &self.reader,
            Way::Write => &self.writer,
        }
    }

    /// Whether a coroutine uses it now.
    pub(super) fn is_in_use(&self) -> bool {
        self.reader.owner() != 0 || self.writer.owner() != 0
    }

    /// Closes it. Who waits gets `errno`. `false`: it was closed already.
    pub(super) fn close(&self, errno: i32) -> bool {
        let Some(descriptor) = self.descriptor.take() else { return false };
        if let Some(mut tls) = self.tls.take() {
            // Says goodbye if that can be done at once; nobody waits for it.
            let _ = descriptor.at_once(|| Pin::new(&mut tls).poll_shutdown(&mut Context::from_waker(Waker::noop())));
        }
        drop(descriptor);
        self.ahead.borrow_mut().clear();
        self.scan.set(Scan::default());
        self.writer.stop(errno);
        self.reader.stop(errno);
        true
    }

    /// One attempt on the bare socket.
    pub(super) fn poll_io<T>(
        &self,
        cx: &mut Context<'_>,
        way: Way,
        attempt: impl FnMut(&Socket) -> io::Result<(T, bool)>,
    ) -> Poll<Outcome<T>> {
        let descriptor = self.descriptor()?;
        descriptor.poll_io(cx, way, attempt).map_err(Fault::from)
    }

    /// Reads once, at most `most` bytes, and hands them to `take`. 0 bytes: the end.
    fn poll_read<T>(&self, cx: &mut Context<'_>, most: usize, take: impl FnOnce(&[u8]) -> T) -> Poll<Outcome<T>> {
        SCRATCH.with(|scratch| {
            let mut scratch = scratch.borrow_mut();
            let most = most.min(scratch.len());
            let room = &mut scratch[..most];
            let n = if let Some(tls) = &mut *self.tls.borrow_mut() {
                let mut buf = ReadBuf::new(room);
                ready!(Pin::new(tls).poll_read(cx, &mut buf))?;
                buf.filled().len()
            } else {
                ready!(self.poll_io(cx, Way::Read, |socket| recv(socket, room, 0).map(|n| (n, n < room.len()))))?
            };
            Poll::Ready(Ok(take(&scratch[..n])))
        })
    }

    /// Waits for bytes and puts them behind those that were read ahead. 0: the end.
    pub(super) fn poll_fill(&self, cx: &mut Context<'_>) -> Poll<Outcome<usize>> {
        self.poll_read(cx, CHUNK, |bytes| {
            self.ahead.borrow_mut().extend_from_slice(bytes);
            bytes.len()
        })
    }

    /// Bytes, at most `most`, appended to `out`: those that were read ahead, else new ones. 0: the end.
    pub(super) fn poll_recv(&self, cx: &mut Context<'_>, out: &mut Vec<u8>, most: usize) -> Poll<Outcome<usize>> {
        let taken = self.take_ahead(out, most);
        if taken > 0 || most == 0 {
            return Poll::Ready(Ok(taken));
        }
        self.poll_read(cx, most, |bytes| {
            out.extend_from_slice(bytes);
            bytes.len()
        })
    }

    /// Takes what was read ahead, at most `most` bytes.
    pub(super) fn take_ahead(&self, out: &mut Vec<u8>, most: usize) -> usize {
        let mut ahead = self.ahead.borrow_mut();
        let n = most.min(ahead.len());
        out.extend_from_slice(&ahead[..n]);
        ahead.advance(n);
        self.scan.set(Scan::default());
        if ahead.is_empty() && ahead.capacity() > 4 * CHUNK {
            // One large message must not keep its memory for as long as the connection lives.
            *ahead = BytesMut::new();
        }
        n
    }

    /// Gives bytes back that were taken and could not be delivered.
    pub(super) fn put_back(&self, bytes: &[u8]) {
        let mut ahead = self.ahead.borrow_mut();
        let mut whole = BytesMut::with_capacity(bytes.len() + ahead.len());
        whole.extend_from_slice(bytes);
        whole.extend_from_slice(&ahead);
        *ahead = whole;
        self.scan.set(Scan::default());
    }

    /// Looks at what was read ahead.
    pub(super) fn with_ahead<T>(&self, look: impl FnOnce(&[u8], &mut Scan) -> T) -> T {
        let mut scan = self.scan.get();
        let result = look(&self.ahead.borrow(), &mut scan);
        self.scan.set(scan);
        result
    }

    /// What is there to be read, without taking it and without waiting. Empty: the end.
    pub(super) fn peek(&self, most: usize) -> Outcome<Vec<u8>> {
        let mut cx = Context::from_waker(Waker::noop());
        let descriptor = self.descriptor()?;
        if self.is_secure() && self.with_ahead(|bytes, _| bytes.is_empty()) {
            match descriptor.at_once(|| self.poll_fill(&mut cx)) {
                Poll::Ready(filled) => filled.map(drop)?,
                Poll::Pending => return Err(Fault::errno(libc::EAGAIN)),
            }
        }
        let ahead = self.with_ahead(|bytes, _| bytes[..most.min(bytes.len())].to_vec());
        if !ahead.is_empty() || self.is_secure() {
            return Ok(ahead);
        }
        SCRATCH.with(|scratch| {
            let mut scratch = scratch.borrow_mut();
            let most = most.min(scratch.len());
            let n = recv(descriptor.socket(), &mut scratch[..most], libc::MSG_PEEK | libc::MSG_DONTWAIT)?;
            Ok(scratch[..n].to_vec())
        })
    }

    /// Writes once: how many bytes the kernel, or TLS, took.
    pub(super) fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Outcome<usize>> {
        if let Some(tls) = &mut *self.tls.borrow_mut() {
            return Pin::new(tls).poll_write(cx, bytes).map_err(Fault::from);
        }
        self.poll_io(cx, Way::Write, |socket| {
            socket.send_with_flags(bytes, libc::MSG_NOSIGNAL).map(|n| (n, n < bytes.len()))
        })
    }

    /// Has TLS write out what it took; nothing to do without.
    pub(super) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<Outcome<()>> {
        match &mut *self.tls.borrow_mut() {
            Some(tls) => Pin::new(tls).poll_flush(cx).map_err(Fault::from),
            None => Poll::Ready(Ok(())),
        }
    }

    /// A datagram and its sender.
    pub(super) fn poll_recv_from(&self, cx: &mut Context<'_>) -> Poll<Outcome<(Vec<u8>, SockAddr)>> {
        SCRATCH.with(|scratch| {
            let mut scratch = scratch.borrow_mut();
            let (n, from) = ready!(self.poll_io(cx, Way::Read, |socket| {
                // SAFETY: initialised bytes are valid as maybe-uninitialised ones, and the kernel writes initialised
                // ones.
                let room = unsafe { &mut *(std::ptr::from_mut(&mut scratch[..]) as *mut [MaybeUninit<u8>]) };
                socket.recv_from(room).map(|got| (got, false))
            }))?;
            Poll::Ready(Ok((scratch[..n].to_vec(), from)))
        })
    }

    /// A connection that came in.
    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<Outcome<Sock>> {
        let socket = ready!(self.poll_io(cx, Way::Read, |socket| socket.accept().map(|(got, _)| (got, false))))?;
        let sock = Self::adopt(socket, self.domain, self.kind, self.protocol)?;
        sock.accepted.set(true);
        Poll::Ready(Ok(sock))
    }

    /// Begins to speak TLS over it, with what shook hands.
    pub(super) fn set_tls(&self, tls: TlsStream<Wire>) {
        *self.tls.borrow_mut() = Some(tls);
    }

    /// Asks TLS something; `None` without.
    pub(super) fn with_tls<T>(&self, ask: impl FnOnce(&TlsStream<Wire>) -> T) -> Option<T> {
        self.tls.borrow().as_ref().map(ask)
    }

    /// Ends one direction or both: `SHUT_RD`, `SHUT_WR` or `SHUT_RDWR`.
    pub(super) fn shutdown(&self, how: std::net::Shutdown) -> Outcome<()> {
        let descriptor = self.descriptor()?;
        if how != std::net::Shutdown::Read
            && let Some(tls) = &mut *self.tls.borrow_mut()
        {
            let _ = descriptor.at_once(|| Pin::new(tls).poll_shutdown(&mut Context::from_waker(Waker::noop())));
        }
        match descriptor.socket().shutdown(how) {
            // TLS has ended its direction by itself.
            Err(error) if error.kind() != io::ErrorKind::NotConnected || !self.is_secure() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The same as there: each direction once, and a peer that has left is no failure.
    pub(super) fn shutdown_once(&self, how: std::net::Shutdown) -> Outcome<()> {
        use std::net::Shutdown;
        let (read, write) = self.ended.get();
        let before = match how {
            Shutdown::Read => read,
            Shutdown::Write => write,
            Shutdown::Both => read && write,
        };
        if before {
            return Err(Fault::errno(libc::ENOTCONN));
        }
        let was_connected = self.accepted.get() || !self.host.borrow().is_empty();
        let (read_now, write_now) = match self.shutdown(how) {
            Ok(()) => (how != Shutdown::Write, how != Shutdown::Read),
            Err(fault) if fault.code == libc::ENOTCONN && was_connected => (true, true),
            Err(fault) => return Err(fault),
        };
        self.ended.set((read || read_now, write || write_now));
        Ok(())
    }

    /// Whether the peer is still there, as far as is known here: nothing is sent.
    pub(super) fn is_alive(&self) -> Outcome<()> {
        let descriptor = self.descriptor()?;
        if self.with_ahead(|bytes, _| !bytes.is_empty()) {
            return Ok(());
        }
        match recv(descriptor.socket(), &mut [0], libc::MSG_PEEK | libc::MSG_DONTWAIT) {
            Ok(0) if self.is_stream() => Err(Fault::errno(libc::ECONNRESET)),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
