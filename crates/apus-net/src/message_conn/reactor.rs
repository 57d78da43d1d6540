//! What waits for the sockets of all message connections: one epoll instance and one task of the runtime, whatever
//! their number.
//!
//! A task and a registration of the runtime's own would cost a message connection about 700 bytes and every message a
//! trip through the runtime's queue. So the epoll instance of this module is the only descriptor that the runtime
//! watches; its task asks it for the message connections that are ready and runs them in turn.
//!
//! Events are edge-triggered. A message connection remembers that it is readable or writable until a call of the kernel
//! says otherwise (`Flags::readable`, `Waiting::blocked`), so no event is lost whenever it comes. Keys carry a
//! generation, because an event for a message connection that has ended may stand behind the one that ended it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use slab::Slab;
use socket2::Socket;
use tokio::io::unix::AsyncFd;

use super::MessageConn;
use super::write_batch::{WriteBatch, WriteTurn};
use crate::sys;
use crate::wake::after_the_others;

/// Events taken from the kernel at once.
const EVENTS: usize = 256;
/// Message connections run before the runtime's other tasks have their turn.
const TURN: usize = 512;
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

/// A message connection's state machine.
pub(crate) trait Run {
    /// Works until something is missing. Whether the message connection has ended; then it is not run again.
    fn run(&mut self, cx: &mut Context<'_>) -> bool;
}

struct Attached {
    generation: u32,
    message_conn: Rc<MessageConn>,
    /// Taken out while it runs.
    runner: Option<Box<dyn Run>>,
}

/// The descriptor of the epoll instance, as the runtime wants it.
struct Watched(Epoll);

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.0.0.as_raw_fd()
    }
}

/// The message connections of a worker.
pub(crate) struct Reactor {
    epoll: AsyncFd<Watched>,
    entries: RefCell<Slab<Attached>>,
    generation: Cell<u32>,
    /// Keys of message connections that want to be run without an event.
    attention: RefCell<VecDeque<u64>>,
    /// Keys of message connections that have more to inflate, each in its turn.
    behind: RefCell<VecDeque<u64>>,
    /// Bytes that the message connection which runs may still inflate.
    pub(crate) budget: Cell<usize>,
    /// What is left of [`ALL_FREE`].
    free: Cell<usize>,
    driver: RefCell<Option<Waker>>,
    over: Cell<bool>,
    batch: Rc<WriteBatch>,
    /// Where the kernel writes; used in one place at a time.
    events: RefCell<Vec<EpollEvent>>,
}

impl Reactor {
    /// Makes it, and starts its task on this thread's runtime.
    pub(crate) fn start(batch: &Rc<WriteBatch>) -> io::Result<Rc<Self>> {
        let epoll = Watched(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?);
        let reactor = Rc::new(Self {
            epoll: sys::watch(epoll)?,
            entries: RefCell::default(),
            generation: Cell::new(0),
            attention: RefCell::default(),
            behind: RefCell::default(),
            budget: Cell::new(0),
            free: Cell::new(ALL_FREE),
            driver: RefCell::new(None),
            over: Cell::new(false),
            batch: Rc::clone(batch),
            events: RefCell::new(vec![EpollEvent::empty(); EVENTS]),
        });
        tokio::task::spawn_local(Driver(Rc::clone(&reactor)));
        Ok(reactor)
    }

    /// Has the kernel watch a socket; [`attach`](Self::attach) says for whom.
    pub(super) fn watch(&self, socket: &Socket, key: u64) -> io::Result<()> {
        let events = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
        self.epoll.get_ref().0.add(socket, EpollEvent::new(events, key)).map_err(Into::into)
    }

    /// Gives a message connection its runner, which is run soon.
    pub(crate) fn attach(&self, message_conn: &Rc<MessageConn>, runner: Box<dyn Run>) -> io::Result<()> {
        let generation = self.generation.get().wrapping_add(1);
        self.generation.set(generation);
        let index = self.entries.borrow_mut().insert(Attached {
            generation,
            message_conn: Rc::clone(message_conn),
            runner: Some(runner),
        });
        let key = u64::from(generation) << 32 | index as u64;
        message_conn.key.set(key);
        if let Err(error) = message_conn.watched(|socket| self.watch(socket, key)) {
            drop(self.entries.borrow_mut().try_remove(index));
            return Err(error);
        }
        self.wake(message_conn);
        Ok(())
    }

    /// Has a message connection run.
    pub(crate) fn wake(&self, message_conn: &MessageConn) {
        if message_conn.flags().queued || message_conn.key.get() == 0 {
            return;
        }
        message_conn.set_flags(|flags| flags.queued = true);
        self.attention.borrow_mut().push_back(message_conn.key.get());
        if let Some(driver) = &*self.driver.borrow() {
            driver.wake_by_ref();
        }
    }

    /// The worker's connections are given up: the task ends.
    pub(crate) fn end(&self) {
        self.over.set(true);
        if let Some(driver) = self.driver.borrow_mut().take() {
            driver.wake();
        }
    }

    /// Has a message connection go on inflating after those that inflate less.
    pub(crate) fn fall_behind(&self, message_conn: &MessageConn) {
        if !message_conn.flags().behind {
            message_conn.set_flags(|flags| flags.behind = true);
            self.behind.borrow_mut().push_back(message_conn.key.get());
        }
    }

    /// Runs a message connection, which may inflate so many bytes unless it is in line for that: how many it did.
    fn run(&self, key: u64, events: EpollFlags, budget: usize, cx: &mut Context<'_>) -> usize {
        let index = (key & u64::from(u32::MAX)) as usize;
        let taken = {
            let mut entries = self.entries.borrow_mut();
            let entry = entries.get_mut(index).filter(|entry| u64::from(entry.generation) == key >> 32);
            entry.and_then(|entry| entry.runner.take().map(|runner| (Rc::clone(&entry.message_conn), runner)))
        };
        let Some((message_conn, mut runner)) = taken else { return 0 };
        message_conn.note_events(events);
        let budget = if message_conn.flags().behind { 0 } else { budget };
        self.budget.set(budget);
        if runner.run(cx) {
            // Dropped outside the borrow: the end of a message connection calls the app.
            let entry = self.entries.borrow_mut().try_remove(index);
            drop(entry);
        } else if let Some(entry) = self.entries.borrow_mut().get_mut(index) {
            entry.runner = Some(runner);
        }
        budget.saturating_sub(self.budget.get())
    }

    /// Runs a message connection with its part of what may be inflated at once.
    fn run_freely(&self, key: u64, events: EpollFlags, cx: &mut Context<'_>) {
        let used = self.run(key, events, FREE.min(self.free.get()).max(LEAST), cx);
        self.free.set(self.free.get().saturating_sub(used));
    }

    /// Runs the message connections that asked for it; how many.
    fn run_attention(&self, cx: &mut Context<'_>) -> usize {
        let waiting = self.attention.borrow().len();
        for _ in 0..waiting {
            let Some(key) = self.attention.borrow_mut().pop_front() else { break };
            let index = (key & u64::from(u32::MAX)) as usize;
            if let Some(entry) = self.entries.borrow().get(index).filter(|e| u64::from(e.generation) == key >> 32) {
                entry.message_conn.set_flags(|flags| flags.queued = false);
            }
            self.run_freely(key, EpollFlags::empty(), cx);
        }
        waiting
    }

    /// Runs message connections that have much to inflate, as many as one turn has time for. Whether there are more.
    fn run_behind(&self, cx: &mut Context<'_>) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < INFLATE {
            let Some(key) = self.behind.borrow_mut().pop_front() else { break };
            let index = (key & u64::from(u32::MAX)) as usize;
            if let Some(entry) = self.entries.borrow().get(index).filter(|e| u64::from(e.generation) == key >> 32) {
                entry.message_conn.set_flags(|flags| flags.behind = false);
            }
            self.run(key, EpollFlags::empty(), SLICE, cx);
        }
        !self.behind.borrow().is_empty()
    }

    /// Runs the message connections that the kernel names; how many it named.
    fn run_events(&self, cx: &mut Context<'_>) -> usize {
        let mut events = self.events.take();
        let count = self.epoll.get_ref().0.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
        for event in &events[..count] {
            self.run_freely(event.data(), event.events(), cx);
        }
        *self.events.borrow_mut() = events;
        count
    }
}

/// The task.
struct Driver(Rc<Reactor>);

impl Driver {
    /// Runs the message connections that are ready, as long as it is this task's turn. Ready when the reactor is over.
    fn turn(&self, cx: &mut Context<'_>) -> Poll<()> {
        let reactor = &self.0;
        let mut run = 0;
        while !reactor.over.get() {
            run += reactor.run_attention(cx);
            match reactor.epoll.poll_read_ready(cx) {
                Poll::Pending if reactor.attention.borrow().is_empty() => return Poll::Pending,
                Poll::Pending => {}
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(mut guard)) => {
                    let count = reactor.run_events(cx);
                    if count < EVENTS {
                        // What becomes ready from now on is a new event of the epoll instance itself.
                        guard.clear_ready();
                    }
                    run += count;
                }
            }
            if run >= TURN {
                after_the_others(cx);
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        {
            let mut driver = self.0.driver.borrow_mut();
            if !driver.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                *driver = Some(cx.waker().clone());
            }
        }
        self.0.free.set(ALL_FREE);
        let turn = WriteTurn::new(&self.0.batch);
        let ended = self.turn(cx);
        drop(turn);
        if ended.is_pending() && !self.0.behind.borrow().is_empty() {
            let turn = WriteTurn::new(&self.0.batch);
            let more = self.0.run_behind(cx);
            drop(turn);
            if more {
                after_the_others(cx);
            }
        }
        ended
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Message connections that are left when the runtime goes know the others of their worker, and those know this
        // reactor: the circle ends here.
        let left = self.0.entries.take();
        drop(left);
    }
}
