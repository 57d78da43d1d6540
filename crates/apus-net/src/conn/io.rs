//! The socket of a connection: what is known of it, and who is told.

use std::cell::Cell;
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

    /// The kernel takes nothing more until an event tells of room.
    pub(super) fn no_room(&self) {
        self.set_ready(|ready| (ready.writable, ready.write_closed) = (false, false));
    }

    /// Nothing can be sent: an event tells when that changes.
    pub(super) fn await_room(&self) {
        self.set_ready(|ready| ready.awaits_room = true);
    }
}

/// How long connections have been run, by the clock that each request reads when it comes: while turns are short, no
/// reading more.
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
    /// The clock, in seconds, before a connection was run and after it: another where a request came. Whether one did.
    fn saw(&mut self, before: f64, after: f64) -> bool {
        let came = after.to_bits() != before.to_bits();
        if came {
            self.first.get_or_insert(after);
            self.last = after;
        }
        came
    }

    fn is_long(&self) -> bool {
        self.first.is_some_and(|first| self.last - first >= LONG.as_secs_f64())
    }
}

/// How often those who were woken by others that went on come before new requests.
const PUT_OFF: u8 = 4;

/// What runs the connections of a worker that speak HTTP.
pub(crate) struct Driving {
    conns: Runners<Conn>,
    /// The last turn to which requests came was long, so the next one may be after its first: the clock is read after
    /// each.
    slow: Cell<bool>,
    /// How often new requests were put off since one was begun.
    put_off: Cell<u8>,
}

impl Source for Driving {
    fn event(&self, key: Key, events: u32) -> bool {
        self.conns.event(key, events)
    }

    fn woken(&self, key: Key) -> bool {
        self.conns.woken(key)
    }

    fn run(&self, _cx: &mut std::task::Context<'_>) -> Pace {
        let mut turn = Turn::default();
        let resumed = self.conns.resumed();
        for _ in 0..resumed {
            let Some(key) = self.conns.next_resumed() else { break };
            self.run_one(key, &mut turn);
        }
        let waiting = self.conns.waiting();
        if resumed > 0 && waiting > 0 && self.puts_off() {
            return Pace::Done;
        }
        let mut pace = Pace::Done;
        for number in 1..=waiting {
            let Some(key) = self.conns.next() else { break };
            self.run_one(key, &mut turn);
            if turn.is_long() && number < waiting {
                pace = Pace::Later;
                break;
            }
        }
        if turn.first.is_some() {
            self.slow.set(turn.is_long());
        }
        pace
    }

    fn end(&self) {
        self.conns.end();
    }
}

impl Driving {
    fn new(conns: Runners<Conn>) -> Self {
        Self { conns, slow: Cell::new(false), put_off: Cell::new(0) }
    }

    #[inline]
    fn run_one(&self, key: Key, turn: &mut Turn) {
        self.conns.run(
            key,
            |_| {},
            |conn, runner| {
                let Some(bell) = conn.bell.get() else { return true };
                let clock = &conn.port.worker.clock;
                let before = clock.coarse();
                let ended = runner.run(&mut std::task::Context::from_waker(bell.waker()));
                let after = clock.coarse();
                if turn.saw(before, after) && self.slow.get() {
                    turn.saw(after, clock.wall());
                }
                ended
            },
        );
    }

    /// Those who went on have woken others: somebody got the connection of a pool that is idle until he is run. They
    /// are run first, but not for ever.
    fn puts_off(&self) -> bool {
        let times = self.put_off.get();
        let puts_off = times < PUT_OFF && self.conns.have_rung();
        self.put_off.set(if puts_off { times + 1 } else { 0 });
        if puts_off {
            self.conns.ask();
        }
        puts_off
    }
}

impl Conns {
    /// Makes what connections need.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        self.messages.prepare()?;
        if self.driving.get().is_none() {
            // There is one thread: nobody else can have made one.
            let _ = self.driving.set(self.events.add(|id| Rc::new(Driving::new(Runners::new(&self.events, id))))?);
        }
        Ok(())
    }

    /// Runs a connection from now on.
    pub(crate) fn drive(&self, conn: &Rc<Conn>, runner: Box<dyn Run>) {
        if let Some(driving) = self.driving.get()
            && let Err(error) = driving.conns.attach(conn, runner)
        {
            conn.port.worker.metrics.warn(&format!("a connection could not be begun, and is closed: {error}"));
        }
    }

    /// Has a connection run soon.
    #[inline]
    pub(super) fn wake(&self, conn: &Conn) {
        if let Some(driving) = self.driving.get() {
            driving.conns.wake(conn);
        }
    }
}

impl Drop for Conns {
    fn drop(&mut self) {
        if let Some(driving) = self.driving.get() {
            driving.conns.remove();
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
