//! What runs all message connections: no task and no registration of the runtime's own, which would cost each about 700
//! bytes, and every message a trip through the runtime's queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::task::Context;
use std::time::{Duration, Instant};

use apus_loop::{Key, Loop, Pace, Source};
use bytes::Bytes;

use super::MessageConn;
use super::write_batch::{WriteBatch, WriteTurn};
use crate::runners::{Run, Runners};

/// Bytes that a message connection inflates when it is run, before those that inflate less come first.
const FREE: usize = 32 << 10;
/// Bytes that all message connections of a turn together inflate in this way.
const ALL_FREE: usize = 512 << 10;
/// What is left to each when that is used up: enough for small messages.
const LEAST: usize = 1 << 10;
/// Bytes that one of the others inflates at a time.
const SLICE: usize = 64 << 10;
/// How long all of them together may take before the runtime's other tasks have their turn; the slice that has begun is
/// ended.
const INFLATE: Duration = Duration::from_millis(2);

/// How long message connections are sent what many get before others have their turn.
const SPREAD: Duration = Duration::from_millis(1);

/// What a message connection has still to be sent: while it is here, nothing else waits for that. `None`: it waits in
/// the connection's own queue.
struct Owed {
    message_conn: Rc<MessageConn>,
    bytes: Option<Bytes>,
}

/// The message connections of a worker.
pub(crate) struct Reactor {
    runners: Runners<MessageConn>,
    /// Keys of message connections that have more to inflate, each in its turn.
    behind: RefCell<VecDeque<Key>>,
    /// What many get, and to whom it has still to be sent.
    owed: RefCell<VecDeque<Owed>>,
    /// Bytes of it.
    owed_bytes: Cell<usize>,
    /// Bytes that the message connection which runs may still inflate.
    pub(crate) budget: Cell<usize>,
    batch: Rc<WriteBatch>,
}

impl Reactor {
    /// Makes it a part of the loop.
    pub(crate) fn start(of: &Rc<Loop>, batch: &Rc<WriteBatch>) -> io::Result<Rc<Self>> {
        of.add(|id| {
            Rc::new(Self {
                runners: Runners::new(of, id),
                behind: RefCell::default(),
                owed: RefCell::default(),
                owed_bytes: Cell::new(0),
                budget: Cell::new(0),
                batch: Rc::clone(batch),
            })
        })
    }

    /// Gives a message connection its runner, which is run soon.
    pub(crate) fn attach(&self, message_conn: &Rc<MessageConn>, runner: Box<dyn Run>) -> io::Result<()> {
        self.runners.attach(message_conn, runner)
    }

    /// Has a message connection run.
    pub(crate) fn wake(&self, message_conn: &MessageConn) {
        self.runners.wake(message_conn);
    }

    /// The worker's connections are given up.
    pub(crate) fn remove(&self) {
        self.runners.remove();
    }

    /// Has a message connection go on inflating after those that inflate less.
    pub(crate) fn fall_behind(&self, message_conn: &MessageConn) {
        if let Some(key) = message_conn.key.get()
            && !message_conn.flags().behind
        {
            message_conn.set_flags(|flags| flags.behind = true);
            self.behind.borrow_mut().push_back(key);
        }
    }

    /// Has bytes sent to a message connection, for which nothing waits, between the turns of everything else.
    pub(crate) fn owe(&self, message_conn: &Rc<MessageConn>, bytes: Bytes) {
        let mut owed = self.owed.borrow_mut();
        if owed.is_empty() {
            self.runners.ask();
        }
        self.owed_bytes.set(self.owed_bytes.get() + bytes.len());
        message_conn.set_flags(|flags| flags.owed = true);
        owed.push_back(Owed { message_conn: Rc::clone(message_conn), bytes: Some(bytes) });
    }

    /// Bytes that are owed.
    pub(crate) fn owed_bytes(&self) -> usize {
        self.owed_bytes.get()
    }

    /// Puts what is owed into the queues of the connections, because something else follows it for one of them. For all
    /// at once: to look for one among thousands again and again would take long.
    pub(crate) fn settle(&self) {
        for owed in self.owed.borrow_mut().iter_mut() {
            if let Some(bytes) = owed.bytes.take() {
                self.count_settled(&owed.message_conn, bytes.len());
                owed.message_conn.queue_owed(bytes);
            }
        }
    }

    fn count_settled(&self, message_conn: &MessageConn, bytes: usize) {
        message_conn.set_flags(|flags| flags.owed = false);
        self.owed_bytes.set(self.owed_bytes.get() - bytes);
    }

    /// Sends what many get, to as many as one turn has time for.
    fn send_owed(&self) {
        let begin = Instant::now();
        while begin.elapsed() < SPREAD {
            let Some(Owed { message_conn, bytes }) = self.owed.borrow_mut().pop_front() else { break };
            match bytes {
                Some(bytes) => {
                    self.count_settled(&message_conn, bytes.len());
                    message_conn.send_owed(&bytes);
                }
                None => message_conn.flush(),
            }
        }
    }

    /// Runs a message connection, which may inflate so many bytes unless it is in line for that: how many it did.
    fn run_one(&self, key: Key, budget: usize, in_line: bool, cx: &mut Context<'_>) -> usize {
        let given = Cell::new(0);
        let before = |message_conn: &MessageConn| {
            if in_line {
                message_conn.set_flags(|flags| flags.behind = false);
            }
            given.set(if message_conn.flags().behind { 0 } else { budget });
            self.budget.set(given.get());
        };
        self.runners.run(key, before, |_, runner| runner.run(cx));
        given.get().saturating_sub(self.budget.get())
    }

    /// Runs the message connections that have something to do, each with its part of what may be inflated at once.
    /// Whether some are left for the next turn, because handlers took long: see `conn/io.rs`.
    fn run_waiting(&self, turn: &WriteTurn, cx: &mut Context<'_>) -> bool {
        let mut free = ALL_FREE;
        let waiting = self.runners.waiting();
        for number in 0..waiting {
            self.runners.read_ahead(number, waiting);
            let Some(key) = self.runners.next() else { break };
            free = free.saturating_sub(self.run_one(key, FREE.min(free).max(LEAST), false, cx));
            if turn.is_long() && number + 1 < waiting {
                return true;
            }
        }
        false
    }

    /// Runs message connections that have much to inflate, as many as one turn has time for.
    fn run_behind(&self, cx: &mut Context<'_>) {
        let begin = Instant::now();
        while begin.elapsed() < INFLATE {
            let Some(key) = self.behind.borrow_mut().pop_front() else { break };
            self.run_one(key, SLICE, true, cx);
        }
    }
}

impl Source for Reactor {
    fn event(&self, key: Key, events: u32) -> bool {
        self.runners.event(key, events)
    }

    fn run(&self, cx: &mut Context<'_>) -> Pace {
        let turn = WriteTurn::new(&self.batch);
        let cut = self.run_waiting(&turn, cx);
        drop(turn);
        if !self.behind.borrow().is_empty() {
            let turn = WriteTurn::new(&self.batch);
            self.run_behind(cx);
            drop(turn);
        }
        self.send_owed();
        let done = !cut && self.behind.borrow().is_empty() && self.owed.borrow().is_empty();
        if done { Pace::Done } else { Pace::Later }
    }

    fn end(&self) {
        let owed = self.owed.take();
        drop(owed);
        self.runners.end();
    }
}
