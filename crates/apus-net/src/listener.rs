//! Accepting connections.

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use socket2::{SockAddr, Socket};
use tokio::io::unix::AsyncFd;

use crate::app::App;
use crate::conn::{Conn, ConnInfo, ConnTask, Input, Io, Peer, Port};
use crate::control::Control;
use crate::message_conn::{self, MessageConn, Protocol};
use crate::registry::Entry;
use crate::sys;

/// Connections taken in one turn while few wait, so that other workers on the same socket take their share.
const BATCH: usize = 8;
/// Connections taken in one turn when more than [`MANY`] wait: all, up to so many, because a queue that overflows has
/// its clients try again after one second, and after three.
const MAX_BATCH: usize = 4096;
const MANY: usize = 64;
/// Tasks of new connections begun in one turn: the queue is looked at again before it can overflow.
const BORN: usize = 64;
/// Pause after accept failed for want of descriptors or memory: it would fail again at once.
const BACK_OFF: Duration = Duration::from_millis(100);
/// How long a worker with more connections than others leaves the next ones to them.
const GIVE_WAY: Duration = Duration::from_millis(1);
/// Milliseconds before the same trouble is told again.
const WARN_AGAIN: u64 = 60_000;
/// How often a worker without room asks whether there is some now (other workers' connections close unnoticed).
const ROOM_CHECK: Duration = Duration::from_millis(250);

/// Accepts on one socket until the worker drains.
pub(crate) async fn run<A: App>(app: Rc<A>, listener: AsyncFd<Socket>, port: Rc<Port>) {
    let control = Rc::clone(&port.control);
    let mut warned: Option<u64> = None;
    let mut batch = BATCH;
    let mut born = Born(VecDeque::new());
    while !control.is_draining() {
        let mut ready = None;
        if born.0.is_empty() {
            let stop = control.stop_accepting.notified();
            let readable = tokio::select! {
                biased;
                () = stop => return,
                readable = listener.readable() => readable,
            };
            let Ok(guard) = readable else { return };
            ready = Some(guard);
        }
        let accepted = accept_batch(&app, listener.get_ref(), &port, batch, &mut born);
        born.begin(if matches!(accepted, Batch::Empty | Batch::More) { BORN } else { usize::MAX });
        match accepted {
            Batch::Empty => {
                batch = BATCH;
                if let Some(mut guard) = ready {
                    guard.clear_ready();
                }
                if !born.0.is_empty() {
                    tokio::task::yield_now().await;
                }
            }
            Batch::More => {
                let waiting = sys::accept_queue(listener.get_ref()).unwrap_or(0);
                batch = if waiting > MANY { waiting.min(MAX_BATCH) } else { BATCH };
                tokio::task::yield_now().await;
            }
            Batch::Full => wait_for_room(&control).await,
            // One was taken all the same: others may be busy.
            Batch::Crowded => tokio::time::sleep(GIVE_WAY).await,
            Batch::Failed(error) => {
                let now = control.clock.now();
                if warned.is_none_or(|at| now.saturating_sub(at) >= WARN_AGAIN) {
                    warned = Some(now);
                    control.metrics.warn(&format!(
                        "cannot accept connections: {error}; trying again every {} ms (see ulimit -n)",
                        BACK_OFF.as_millis()
                    ));
                }
                tokio::time::sleep(BACK_OFF).await;
            }
        }
    }
    born.begin(usize::MAX);
}

/// Tasks of accepted connections that have not begun.
struct Born<A: App>(VecDeque<ConnTask<A>>);

impl<A: App> Born<A> {
    fn begin(&mut self, most: usize) {
        let count = most.min(self.0.len());
        for task in self.0.drain(..count) {
            tokio::task::spawn_local(task);
        }
    }
}

enum Batch {
    /// The queue is empty.
    Empty,
    /// There may be more.
    More,
    /// No further connection is allowed now.
    Full,
    /// Other workers have fewer connections.
    Crowded,
    Failed(io::Error),
}

fn accept_batch<A: App>(app: &Rc<A>, listener: &Socket, port: &Rc<Port>, most: usize, born: &mut Born<A>) -> Batch {
    let control = &port.control;
    control.clock.refresh();
    for round in 0..most {
        // The metrics first: they tell the operator that the server is full.
        if most <= BATCH && round > 0 && control.metrics.is_crowded() {
            return Batch::Crowded;
        }
        if !control.metrics.may_accept() || control.connections() >= port.config.max_connections {
            return Batch::Full;
        }
        match listener.accept4(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) {
            Ok((socket, addr)) => {
                born.0.extend(open(app, socket, &addr, port));
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN) => return Batch::Empty,
                // Out of descriptors or memory: the queue stays, and stays readable.
                Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => return Batch::Failed(error),
                // The connection died in the queue, or its network's error is reported here (accept(2)).
                _ => {}
            },
        }
    }
    Batch::More
}

/// Enters a new connection; its task, where it has one of its own.
fn open<A: App>(app: &Rc<A>, socket: Socket, addr: &SockAddr, port: &Rc<Port>) -> Option<ConnTask<A>> {
    let control = &port.control;
    let now = control.clock.wall();
    let info = Rc::new(ConnInfo {
        id: control.metrics.next_session(),
        peer: Peer::from_addr(addr),
        local: Rc::clone(&port.local),
        connected_at: now,
        last_request_at: now.into(),
        requests: 0.into(),
        websocket: false.into(),
        open: true.into(),
        gone: false.into(),
        peer_ip: std::cell::OnceCell::new(),
    });
    if port.config.stream {
        open_stream(app, socket, info, port);
        return None;
    }
    let conn = Rc::new(Conn::new(info, Rc::clone(port), Io::Fresh(socket)));
    control.opened(Entry::Http(Rc::clone(&conn)));
    app.on_connect(&conn.info);
    Some(ConnTask::new(Rc::clone(app), conn))
}

/// A connection of a stream port is a message connection from the start.
fn open_stream<A: App>(app: &Rc<A>, socket: Socket, info: Rc<ConnInfo>, port: &Rc<Port>) {
    if let Some(keepalive) = &port.config.keepalive {
        // A Unix socket has no keepalive, and needs none.
        let _ = socket.set_tcp_keepalive(keepalive);
    }
    let message_conn = Rc::new(MessageConn::new(info, Rc::clone(port), socket, Protocol::Stream));
    if port.config.delay_receive {
        message_conn.pause();
    }
    port.control.opened(Entry::MessageConn(Rc::clone(&message_conn)));
    app.on_connect(message_conn.info());
    message_conn::start(app, &message_conn, Input::default());
}

async fn wait_for_room(control: &Control) {
    tokio::select! {
        () = control.stop_accepting.notified() => {}
        () = control.room.notified() => {}
        () = tokio::time::sleep(ROOM_CHECK) => {}
    }
}
