//! The socket of a connection: what is known of it, and who is told.

use std::io;
use std::rc::Rc;

use apus_loop::{Key, LONG, Loop, Pace, Source};
use nix::sys::epoll::EpollFlags;

use super::{Conn, Conns};
use crate::runners::{Driven, Run, Runners};

/// What epoll has told of a socket, until a call of the kernel says otherwise.
#[derive(Debug, Default, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts in one cell")]
pub(super) struct Readiness {
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// The peer sends nothing more.
    pub(super) read_closed: bool,
    /// It takes nothing more.
    pub(super) write_closed: bool,
    /// The connection waits until it can send.
    awaits_room: bool,
    /// It is in the list of those to run.
    queued: bool,
}

impl Readiness {
    /// Whether reading may bring something.
    #[inline]
    pub(super) fn may_read(self) -> bool {
        self.readable || self.read_closed
    }

    /// Whether writing may take something.
    #[inline]
    pub(super) fn may_write(self) -> bool {
        self.writable || self.write_closed
    }
}

impl Driven for Conn {
    #[inline]
    fn key(&self) -> Option<Key> {
        self.key.get()
    }

    #[inline]
    fn set_queued(&self, queued: bool) -> bool {
        let before = self.ready.get();
        self.ready.set(Readiness { queued, ..before });
        before.queued
    }

    fn note_events(&self, events: EpollFlags) -> bool {
        let has = |flags| events.contains(flags);
        let mut ready = self.ready.get();
        let gone = has(EpollFlags::EPOLLHUP);
        let closed = gone || has(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP);
        let failed = gone || has(EpollFlags::EPOLLOUT | EpollFlags::EPOLLERR) || events == EpollFlags::EPOLLERR;
        let (input, room) = (has(EpollFlags::EPOLLIN) || closed, has(EpollFlags::EPOLLOUT) || failed);
        ready.readable |= has(EpollFlags::EPOLLIN);
        ready.writable |= has(EpollFlags::EPOLLOUT);
        ready.read_closed |= closed;
        ready.write_closed |= failed;
        let concerned = input || (room && ready.awaits_room);
        ready.awaits_room &= !room;
        self.ready.set(ready);
        concerned
    }

    /// Its socket is watched only once it has to be waited for: a connection that brings its request at once and ends
    /// with the answer never is, which saves a call of the kernel.
    fn begin(&self, of: &Rc<Loop>, key: Key) -> io::Result<()> {
        self.key.set(Some(key));
        let _ = self.bell.set(of.bell(key));
        Ok(())
    }

    fn answer_bell(&self) {
        if let Some(bell) = self.bell.get() {
            bell.answer();
        }
    }
}

impl Conn {
    /// Has epoll watch the socket, if it does not yet.
    #[inline]
    pub(super) fn register(&self) -> io::Result<()> {
        let io = self.io.borrow();
        let Some(wire) = io.as_ref() else { return Err(io::ErrorKind::NotConnected.into()) };
        if wire.is_watched() {
            return Ok(());
        }
        let Some(key) = self.key.get() else { return Err(io::ErrorKind::NotConnected.into()) };
        wire.watch(&self.conns.events, key)
    }

    #[inline]
    pub(super) fn set_ready(&self, change: impl FnOnce(&mut Readiness)) {
        let mut ready = self.ready.get();
        change(&mut ready);
        self.ready.set(ready);
    }

    /// The kernel takes nothing more for now.
    pub(super) fn no_room(&self) {
        self.set_ready(|ready| (ready.writable, ready.write_closed) = (false, false));
    }

    /// Nothing can be sent: an event tells when that changes.
    pub(super) fn await_room(&self) {
        self.set_ready(|ready| ready.awaits_room = true);
    }
}

/// How long connections have been run, by the clock that each request reads when it comes: no reading more.
///
/// Were all that wait run first, new requests that compute for a while would hold up those that have begun and wait for
/// a database: all would compute, then all would wait, and the processor with them. So a turn is short, and those that
/// go on come first in it.
#[derive(Default)]
struct Turn {
    first: Option<f64>,
    last: f64,
}

impl Turn {
    /// The clock, in seconds, before a connection was run and after it: another where a request came.
    fn saw(&mut self, before: f64, after: f64) {
        if after.to_bits() != before.to_bits() {
            self.first.get_or_insert(after);
            self.last = after;
        }
    }

    fn is_long(&self) -> bool {
        self.first.is_some_and(|first| self.last - first >= LONG.as_secs_f64())
    }
}

/// What runs the connections of a worker that speak HTTP.
pub(crate) struct Driving(Runners<Conn>);

impl Source for Driving {
    fn event(&self, key: Key, events: u32) -> bool {
        self.0.event(key, events)
    }

    fn woken(&self, key: Key) -> bool {
        self.0.woken(key)
    }

    fn run(&self, _cx: &mut std::task::Context<'_>) -> Pace {
        let mut turn = Turn::default();
        for _ in 0..self.0.resumed() {
            let Some(key) = self.0.next_resumed() else { break };
            self.run_one(key, &mut turn);
        }
        let waiting = self.0.waiting();
        for number in 1..=waiting {
            let Some(key) = self.0.next() else { break };
            self.run_one(key, &mut turn);
            if turn.is_long() && number < waiting {
                return Pace::Later;
            }
        }
        Pace::Done
    }

    fn end(&self) {
        self.0.end();
    }
}

impl Driving {
    #[inline]
    fn run_one(&self, key: Key, turn: &mut Turn) {
        self.0.run(
            key,
            |_| {},
            |conn, runner| {
                let Some(bell) = conn.bell.get() else { return true };
                let clock = &conn.port.worker.clock;
                let before = clock.coarse();
                let ended = runner.run(&mut std::task::Context::from_waker(bell.waker()));
                turn.saw(before, clock.coarse());
                ended
            },
        );
    }
}

impl Conns {
    /// Makes what connections need.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        self.messages.prepare()?;
        if self.driving.get().is_none() {
            // There is one thread: nobody else can have made one.
            let _ = self.driving.set(self.events.add(|id| Rc::new(Driving(Runners::new(&self.events, id))))?);
        }
        Ok(())
    }

    /// Runs a connection from now on.
    pub(crate) fn drive(&self, conn: &Rc<Conn>, runner: Box<dyn Run>) {
        if let Some(driving) = self.driving.get()
            && let Err(error) = driving.0.attach(conn, runner)
        {
            conn.port.worker.metrics.warn(&format!("a connection could not be begun, and is closed: {error}"));
        }
    }

    /// Has a connection run soon.
    #[inline]
    pub(super) fn wake(&self, conn: &Conn) {
        if let Some(driving) = self.driving.get() {
            driving.0.wake(conn);
        }
    }
}

impl Drop for Conns {
    fn drop(&mut self) {
        if let Some(driving) = self.driving.get() {
            driving.0.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn a_turn_is_long_when_a_request_comes_a_millisecond_after_its_first() {
        let mut turn = Turn::default();
        // Nothing came to the first two: the clock stands where the turn before has left it.
        turn.saw(5.0, 5.0);
        turn.saw(5.0, 5.0);
        turn.saw(5.0, 90.0);
        assert!(!turn.is_long(), "one request is run, however long ago the last one was");
        turn.saw(90.0, 90.000_9);
        assert!(!turn.is_long());
        turn.saw(90.000_9, 90.001_1);
        assert!(turn.is_long());
        // Somebody sets the machine's clock back.
        turn.saw(90.001_1, 10.0);
        assert!(!turn.is_long());
    }
}
