//! Datagram ports: UDP and Unix datagram sockets.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use socket2::{SockAddr, Socket};
use tokio::io::unix::AsyncFd;

use crate::control::Control;
use crate::info::Local;
use crate::sys;
use crate::worker::Worker;

/// Datagrams taken in one turn, before other sockets have theirs.
const BATCH: usize = 32;
/// The longest datagram that is received, bytes: above that of UDP (65,507), and of Unix sockets as Linux is set up
/// (212,992).
const MAX_DATAGRAM: usize = 256 << 10;
/// Milliseconds before the same trouble is told again.
const WARN_AGAIN: u64 = 60_000;

/// What answers datagrams.
///
/// Everything runs on the worker's one thread; no borrow of the port is held while it is called.
pub trait PacketApp: 'static {
    /// The handling of one datagram.
    type Handling: Future<Output = ()> + Unpin + 'static;

    /// A datagram has arrived. `None`: it is done with. A returned future is polled at once; when it has to wait, the
    /// runtime goes on with it, and the port with the next datagram.
    fn on_packet(self: &Rc<Self>, socket: &Rc<Datagram>, from: &SockAddr, data: &[u8]) -> Option<Self::Handling>;
}

/// A datagram socket of this worker. Other workers may share it; each datagram reaches one of them.
pub struct Datagram {
    fd: AsyncFd<Socket>,
    local: Local,
    worker: Rc<Worker>,
    /// Handlers at once, beyond which datagrams are dropped.
    most: usize,
    running: Cell<usize>,
    dropped: Cell<u64>,
    /// When dropping, or trouble with receiving, was last told of.
    warned: Cell<Option<u64>>,
}

impl Datagram {
    /// Takes a bound datagram socket, for at most `most` handlers at once. MUST be called within the runtime.
    ///
    /// # Errors
    /// When the socket cannot be registered with the runtime.
    pub fn new(fd: OwnedFd, most: usize, control: &Control) -> io::Result<Rc<Self>> {
        let socket = Socket::from(fd);
        socket.set_nonblocking(true)?;
        let local = Local::from_addr(&socket.local_addr()?);
        Ok(Rc::new(Self {
            fd: sys::register(socket)?,
            local,
            worker: Rc::clone(&control.worker),
            most,
            running: Cell::new(0),
            dropped: Cell::new(0),
            warned: Cell::new(None),
        }))
    }

    /// The address that it is bound to.
    pub fn local(&self) -> &Local {
        &self.local
    }

    /// Datagrams that were dropped because no handler could begin.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// Handlers that run now.
    pub fn running(&self) -> usize {
        self.running.get()
    }

    /// Sends one datagram without waiting.
    ///
    /// # Errors
    /// The kernel's: `WouldBlock` when its queue is full (see [`sendable`](Self::sendable)), `EMSGSIZE` for a datagram
    /// that is too long, and what the network says.
    pub fn send_to(&self, to: &SockAddr, data: &[u8]) -> io::Result<()> {
        loop {
            match self.fd.get_ref().send_to(data, to) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    let sent = result?;
                    let out = &self.worker.counters.bytes_out;
                    out.set(out.get() + sent as u64);
                    return Ok(());
                }
            }
        }
    }

    /// Ready when there may be room for another datagram after `send_to` would have blocked.
    ///
    /// # Errors
    /// When the runtime is shutting down.
    pub fn poll_sendable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.fd.poll_write_ready(cx))?.clear_ready();
        // What became writable in between must not be missed.
        match self.fd.poll_write_ready(cx) {
            Poll::Ready(result) => Poll::Ready(result.map(drop)),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Says what an operator should know, at most once a minute.
    fn warn(&self, text: impl FnOnce() -> String) {
        let now = self.worker.clock.now();
        if self.warned.get().is_none_or(|at| now.saturating_sub(at) >= WARN_AGAIN) {
            self.warned.set(Some(now));
            self.worker.metrics.warn(&text());
        }
    }

    /// Counts a datagram for which no handler could begin; an operator is told now and then.
    pub fn count_dropped(&self) {
        self.dropped.set(self.dropped.get() + 1);
        self.warn(|| {
            format!(
                "a datagram port drops what it receives: {} handlers of it run already, {} datagrams dropped so far",
                self.running.get(),
                self.dropped.get()
            )
        });
    }

    /// Whether a handler may begin; else the datagram counts as dropped.
    fn admit(&self) -> bool {
        let free = self.running.get() < self.most;
        if !free {
            self.count_dropped();
        }
        free
    }
}

impl std::fmt::Debug for Datagram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Datagram").field("local", &self.local).field("running", &self.running).finish_non_exhaustive()
    }
}

/// A handler that outlives its turn, counted while it runs.
struct Running<F> {
    handling: F,
    socket: Rc<Datagram>,
}

impl<F: Future<Output = ()> + Unpin> Future for Running<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.handling).poll(cx)
    }
}

impl<F> Drop for Running<F> {
    fn drop(&mut self) {
        self.socket.running.set(self.socket.running.get() - 1);
    }
}

/// Hands every datagram of the socket to `app` until the worker drains. Handlers that still run then go on.
pub async fn serve_datagrams<A: PacketApp>(app: Rc<A>, socket: Rc<Datagram>) {
    let worker = Rc::clone(&socket.worker);
    // Lent to each turn, and given back before anything waits: a port holds no buffer twice.
    let buffer = RefCell::new(vec![0; MAX_DATAGRAM]);
    while !worker.is_draining() {
        let stop = worker.stop_accepting.notified();
        let ready = tokio::select! {
            biased;
            () = stop => return,
            ready = socket.fd.readable() => ready,
        };
        let Ok(mut guard) = ready else { return };
        if turn(&app, &socket, &buffer).await {
            tokio::task::yield_now().await;
        } else {
            guard.clear_ready();
        }
    }
}

/// Receives a batch; whether there may be more.
async fn turn<A: PacketApp>(app: &Rc<A>, socket: &Rc<Datagram>, buffer: &RefCell<Vec<u8>>) -> bool {
    socket.worker.clock.refresh();
    for _ in 0..BATCH {
        let mut bytes = buffer.take();
        let received = receive(socket, &mut bytes);
        let handling = match &received {
            Ok((count, from)) if socket.admit() => app.on_packet(socket, from, &bytes[..*count]),
            _ => None,
        };
        buffer.replace(bytes);
        match received {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            // An ICMP error of an earlier datagram of ours, or one that is too long: the next one may be well.
            Err(error) => socket.warn(|| format!("a datagram port could not receive: {error}")),
        }
        if let Some(handling) = handling {
            begin(socket, handling).await;
        }
        if socket.worker.is_draining() {
            return false;
        }
    }
    true
}

/// Polls the handling once; when it has to wait, the runtime goes on with it.
async fn begin<F: Future<Output = ()> + Unpin + 'static>(socket: &Rc<Datagram>, handling: F) {
    socket.running.set(socket.running.get() + 1);
    let mut running = Running { handling, socket: Rc::clone(socket) };
    if poll_fn(|cx| Poll::Ready(Pin::new(&mut running).poll(cx))).await.is_pending() {
        tokio::task::spawn_local(running);
    }
}

fn receive(socket: &Datagram, bytes: &mut [u8]) -> io::Result<(usize, SockAddr)> {
    let (count, from) = sys::receive_from(socket.fd.get_ref(), bytes)?;
    if count == bytes.len() {
        return Err(io::Error::other(format!("a datagram of {count} bytes or more is too long")));
    }
    let counter = &socket.worker.counters.bytes_in;
    counter.set(counter.get() + count as u64);
    Ok((count, from))
}
