//! Connections that the thread's [`Loop`] drives: which is found by what key, which has to be run, and running one.
//!
//! Events are edge-triggered. A connection remembers that it is readable or writable until a call of the kernel says
//! otherwise, so no event is lost whenever it comes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Context;

use apus_loop::{Key, Loop, SourceId};
use nix::sys::epoll::EpollFlags;
use slab::Slab;

/// Connections that are read for before the first of them is run.
const TOGETHER: usize = 32;

/// A connection's state machine.
pub(crate) trait Run {
    /// Works until something is missing. Whether the connection has ended; then it is not run again.
    fn run(&mut self, cx: &mut Context<'_>) -> bool;

    /// It is about to be run, after others of its kind: takes what has come, where that is what it would do first. MUST
    /// NOT run any, nor attach or wake them.
    fn read_ahead(&mut self) {}
}

/// What such a connection keeps for this.
pub(crate) trait Driven {
    /// Its key; none before it is attached.
    fn key(&self) -> Option<Key>;

    /// Whether it is in the list of those to run; returns what it was.
    fn set_queued(&self, queued: bool) -> bool;

    /// What the kernel says of it; whether it has to be run for that.
    fn note_events(&self, events: EpollFlags) -> bool;

    /// It is attached under this key: has the loop watch its socket, where it has one to be watched.
    fn begin(&self, of: &Rc<Loop>, key: Key) -> io::Result<()>;

    /// One of its bells was rung.
    fn answer_bell(&self) {}
}

struct Attached<C> {
    key: Key,
    conn: Rc<C>,
    /// Taken out while it runs.
    runner: Option<Box<dyn Run>>,
}

/// Connections of one kind.
pub(crate) struct Runners<C> {
    of: Rc<Loop>,
    id: SourceId,
    entries: RefCell<Slab<Attached<C>>>,
    /// Those to run.
    attention: RefCell<VecDeque<Key>>,
    /// Those to run before them: a bell was rung, so they are in the midst of something.
    resumed: RefCell<VecDeque<Key>>,
}

impl<C: Driven> Runners<C> {
    pub(crate) fn new(of: &Rc<Loop>, id: SourceId) -> Self {
        Self {
            of: Rc::clone(of),
            id,
            entries: RefCell::default(),
            attention: RefCell::default(),
            resumed: RefCell::default(),
        }
    }

    /// Gives a connection its runner, which is run soon.
    pub(crate) fn attach(&self, conn: &Rc<C>, runner: Box<dyn Run>) -> io::Result<()> {
        let key = {
            let mut entries = self.entries.borrow_mut();
            let vacant = entries.vacant_entry();
            let key = Key::new(self.id, vacant.key() as u32, self.of.next_generation());
            vacant.insert(Attached { key, conn: Rc::clone(conn), runner: Some(runner) });
            key
        };
        if let Err(error) = conn.begin(&self.of, key) {
            let removed = self.entries.borrow_mut().try_remove(key.place());
            drop(removed);
            return Err(error);
        }
        self.wake(conn);
        Ok(())
    }

    /// Has a connection run.
    #[inline]
    pub(crate) fn wake(&self, conn: &C) {
        if Self::queue(conn, &self.attention) {
            self.ask();
        }
    }

    /// Has whom they belong to run.
    pub(crate) fn ask(&self) {
        self.of.ask(self.id);
    }

    /// Notes that a connection is to be run; whether that is news.
    fn queue(conn: &C, queue: &RefCell<VecDeque<Key>>) -> bool {
        let Some(key) = conn.key() else { return false };
        let news = !conn.set_queued(true);
        if news {
            queue.borrow_mut().push_back(key);
        }
        news
    }

    fn with<R>(&self, key: Key, work: impl FnOnce(&C) -> R) -> Option<R> {
        let entries = self.entries.borrow();
        entries.get(key.place()).filter(|entry| entry.key == key).map(|entry| work(&entry.conn))
    }

    /// Passes on what the kernel reports; whether there is somebody to run.
    pub(crate) fn event(&self, key: Key, events: u32) -> bool {
        let events = EpollFlags::from_bits_truncate(events as i32);
        self.with(key, |conn| conn.note_events(events) && Self::queue(conn, &self.attention)).unwrap_or(false)
    }

    /// A bell was rung; whether there is somebody to run.
    pub(crate) fn woken(&self, key: Key) -> bool {
        let noted = self.with(key, |conn| {
            conn.answer_bell();
            Self::queue(conn, &self.resumed)
        });
        noted.unwrap_or(false)
    }

    /// Those that are to be run now.
    pub(crate) fn waiting(&self) -> usize {
        self.attention.borrow().len()
    }

    /// The next of those to run.
    pub(crate) fn next(&self) -> Option<Key> {
        self.first(&self.attention)
    }

    /// To be called before each one of so many that are run in a turn, with its number from 0 on: from time to time it
    /// reads for the next ones. Reading in turn with handlers evicts each other's code from the caches.
    #[inline]
    pub(crate) fn read_ahead(&self, number: usize, of: usize) {
        let count = TOGETHER.min(of - number);
        if number.is_multiple_of(TOGETHER) && count > 1 {
            self.read_for(count);
        }
    }

    fn read_for(&self, count: usize) {
        let (attention, mut entries) = (self.attention.borrow(), self.entries.borrow_mut());
        for key in attention.iter().take(count) {
            if let Some(entry) = entries.get_mut(key.place()).filter(|entry| entry.key == *key)
                && let Some(runner) = &mut entry.runner
            {
                runner.read_ahead();
            }
        }
    }

    /// Those whose bells were rung.
    pub(crate) fn resumed(&self) -> usize {
        self.resumed.borrow().len()
    }

    /// Whether somebody has rung a bell since the turn began: the next one has him run.
    pub(crate) fn have_rung(&self) -> bool {
        self.of.have_rung()
    }

    /// The next of those.
    pub(crate) fn next_resumed(&self) -> Option<Key> {
        self.first(&self.resumed)
    }

    fn first(&self, queue: &RefCell<VecDeque<Key>>) -> Option<Key> {
        let key = queue.borrow_mut().pop_front()?;
        self.with(key, |conn| conn.set_queued(false));
        Some(key)
    }

    /// Runs a connection, once `before` has seen it.
    pub(crate) fn run(&self, key: Key, before: impl FnOnce(&C), work: impl FnOnce(&C, &mut dyn Run) -> bool) {
        let taken = {
            let mut entries = self.entries.borrow_mut();
            let entry = entries.get_mut(key.place()).filter(|entry| entry.key == key);
            entry.and_then(|entry| entry.runner.take().map(|runner| (Rc::clone(&entry.conn), runner)))
        };
        let Some((conn, mut runner)) = taken else { return };
        before(&conn);
        // One whose app panicked ends, and all others go on.
        let ended = catch_unwind(AssertUnwindSafe(|| work(&conn, &mut *runner))).unwrap_or(true);
        if ended {
            // Dropped outside the borrow: the end of a connection calls the app.
            let entry = self.entries.borrow_mut().try_remove(key.place());
            drop((entry, runner));
        } else if let Some(entry) = self.entries.borrow_mut().get_mut(key.place()) {
            entry.runner = Some(runner);
        }
    }

    /// Gives up all connections: they know the others of their worker, and those know this. The circle ends here.
    pub(crate) fn end(&self) {
        let left = self.entries.take();
        drop(left);
    }

    /// Nothing is run any more.
    pub(crate) fn remove(&self) {
        self.of.remove(self.id);
    }
}
