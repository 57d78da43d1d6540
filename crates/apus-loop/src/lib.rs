//! The events of a thread: one epoll instance for all descriptors that are ours to watch, and one task of the runtime
//! that passes its events on and runs what they concern, turn after turn.
//!
//! A task and a registration of the runtime's own cost a connection some hundred bytes and every event a trip through
//! the runtime's queue, and an epoll instance a kind of descriptor costs a call of the kernel a turn. Here everything
//! that belongs to a request is one turn: its connection's event, its handler, the events of the descriptors that the
//! handler waits for. While turns bring events, the kernel is asked again at once, and the runtime's own wait is left
//! out; it is entered when nothing is left to do, or when [`TURNS`] or [`LONG`] is over, so that its timers, its
//! descriptors and its other tasks have their turn.
//!
//! The instance is nested in the runtime's. What the kernel reports is edge-triggered there: an event that comes after
//! the last look is a new edge, so that none is lost between the look and the sleep.
//!
//! A [`Source`] is what owns descriptors: connections, the descriptors of hooks, a timer. It gets their events and the
//! wake-ups of its [bells](Bell), and notes them; what it has noted it does when it is [run](Source::run), with nothing
//! of the loop borrowed.

mod bell;
pub mod disk;
mod guests;
mod heat;
mod key;
mod soon;
mod watch;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use slab::Slab;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::has_budget_remaining;

pub use bell::Bell;
pub use key::{Key, SourceId};
pub use soon::Soon;

use bell::Queue;
use guests::{GUESTS, Guests};
use heat::Heat;
use watch::{Instance, watch};

/// Events taken from the kernel at once.
const EVENTS: usize = 256;
/// Turns before the runtime has its turn.
const TURNS: usize = 64;
/// The same as time; a turn that has begun is ended. A source whose own work takes longer leaves the rest of it for
/// [later](Pace::Later), so that what others wait for is seen meanwhile.
pub const LONG: Duration = Duration::from_millis(1);
/// While it is in vain, one turn of so many asks the kernel once more before the runtime waits.
const RARE: u8 = 16;
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Whether a source has more to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// It waits for events, wake-ups, or whoever [asks](Loop::ask).
    Done,
    /// It goes on when the runtime's other tasks have had their turn.
    Later,
}

/// Descriptors by number.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn at(fd: RawFd) -> (usize, u64) {
        // One that is none is the last.
        let fd = usize::try_from(fd).unwrap_or(RawFd::MAX as usize);
        (fd / 64, 1 << (fd % 64))
    }

    fn holds(&self, fd: RawFd) -> bool {
        let (word, bit) = Self::at(fd);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn put(&mut self, fd: RawFd, held: bool) {
        let (word, bit) = Self::at(fd);
        if held && self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits = if held { *bits | bit } else { *bits & !bit };
        }
    }
}

fn all_of_a_connection() -> epoll::EventFlags {
    epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET
}

/// What owns descriptors that a loop watches.
pub trait Source {
    /// The kernel reports this of one of its descriptors (`EPOLL*`). To be noted; whether it has to be run.
    fn event(&self, _key: Key, _events: u32) -> bool {
        false
    }

    /// One of its bells was rung. To be noted; whether it has to be run.
    fn woken(&self, _key: Key) -> bool {
        false
    }

    /// Does what was noted.
    fn run(&self, _cx: &mut Context<'_>) -> Pace {
        Pace::Done
    }

    /// All that is run in this turn has run: see [`Loop::ask_at_end`].
    fn turn_ends(&self) {}

    /// The loop is over, and nothing of it is run any more: gives up what it holds.
    fn end(&self) {}
}

struct Entry {
    source: Rc<dyn Source>,
    /// It is in the list of those to run.
    asked: Cell<bool>,
}

/// The events of a thread.
pub struct Loop {
    epoll: Rc<OwnedFd>,
    sources: RefCell<Slab<Entry>>,
    guests: Rc<Guests>,
    /// Sources to run.
    asked: RefCell<Vec<u16>>,
    /// Sources to tell of the turn's end.
    at_end: RefCell<Vec<u16>>,
    queue: Arc<Queue>,
    generation: Cell<u32>,
    watched: RefCell<Numbers>,
    heat: Heat,
    /// Where the kernel writes, and what is taken from the queue: used in one place at a time.
    events: RefCell<Vec<epoll::Event>>,
    keys: RefCell<Vec<u64>>,
}

impl Loop {
    /// A loop; [`driver`](Self::driver) MUST be spawned on the thread's runtime.
    pub fn new() -> io::Result<Rc<Self>> {
        let this = Self {
            epoll: Rc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?),
            sources: RefCell::default(),
            guests: Rc::default(),
            asked: RefCell::default(),
            at_end: RefCell::default(),
            queue: Arc::default(),
            generation: Cell::new(0),
            watched: RefCell::default(),
            heat: Heat::new(RARE),
            events: RefCell::default(),
            keys: RefCell::default(),
        };
        let guests = Rc::<Guests>::clone(&this.guests);
        this.add(|id| {
            debug_assert_eq!(id, GUESTS);
            guests
        })?;
        Ok(Rc::new(this))
    }

    /// Takes a source in, until [`remove`](Self::remove).
    pub fn add<S: Source + 'static>(&self, make: impl FnOnce(SourceId) -> Rc<S>) -> io::Result<Rc<S>> {
        let mut sources = self.sources.borrow_mut();
        let vacant = sources.vacant_entry();
        if vacant.key() >= key::SOURCES {
            return Err(io::Error::other("too many servers on one thread"));
        }
        let source = make(SourceId(vacant.key() as u16));
        vacant.insert(Entry { source: Rc::<S>::clone(&source), asked: Cell::new(false) });
        Ok(source)
    }

    /// Nothing is passed on to the source any more.
    pub fn remove(&self, id: SourceId) {
        let removed = self.sources.borrow_mut().try_remove(usize::from(id.0));
        drop(removed);
    }

    /// A number that no key of the last million had.
    pub fn next_generation(&self) -> u32 {
        let generation = self.generation.get().wrapping_add(1);
        self.generation.set(generation);
        generation
    }

    /// A waker for any thread, by which [`Source::woken`] is called with `key`.
    pub fn bell(&self, key: Key) -> Bell {
        Bell::new(key, &self.queue)
    }

    /// Whether bells were rung that are not passed on yet.
    #[inline]
    pub fn have_rung(&self) -> bool {
        self.queue.has_keys()
    }

    /// Has a source run.
    #[inline]
    pub fn ask(&self, id: SourceId) {
        let sources = self.sources.borrow();
        if let Some(entry) = sources.get(usize::from(id.0))
            && !entry.asked.replace(true)
        {
            self.asked.borrow_mut().push(id.0);
            self.queue.rouse();
        }
    }

    /// Has a source told of the [turn's end](Source::turn_ends), once, however often this is called in a turn.
    #[inline]
    pub fn ask_at_end(&self, id: SourceId) {
        let mut at_end = self.at_end.borrow_mut();
        if !at_end.contains(&id.0) {
            at_end.push(id.0);
            self.queue.rouse();
        }
    }

    /// Whether something is to be run or passed on.
    #[inline]
    fn has_work(&self) -> bool {
        !self.asked.borrow().is_empty() || self.have_rung()
    }

    /// Polls a future beside everything else, as a part of this loop's turns: for the first time before any source is
    /// run that is not run now.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.guests.add(self, Box::pin(future));
    }

    /// Watches a connection edge-triggered for all that can happen to it, until [`unwatch`](Self::unwatch).
    pub fn watch(&self, fd: BorrowedFd<'_>, key: Key) -> io::Result<()> {
        epoll::add(&*self.epoll, fd, epoll::EventData::new_u64(key.bits()), all_of_a_connection())?;
        self.watched.borrow_mut().put(fd.as_raw_fd(), true);
        Ok(())
    }

    /// From now on the events of a connection that is watched have another key.
    pub fn rewatch(&self, fd: BorrowedFd<'_>, key: Key) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key.bits());
        epoll::modify(&*self.epoll, fd, data, all_of_a_connection()).map_err(Into::into)
    }

    /// A connection is about to be closed; the kernel forgets it then.
    pub fn unwatch(&self, fd: RawFd) {
        self.watched.borrow_mut().put(fd, false);
    }

    /// Whether the descriptor is one of those that [`watch`](Self::watch) is at, so that nobody else may register it.
    #[inline]
    pub fn is_watched(&self, fd: RawFd) -> bool {
        self.watched.borrow().holds(fd)
    }

    /// Watches a descriptor edge-triggered for something to read.
    pub fn watch_readable(&self, fd: BorrowedFd<'_>, key: Key) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&*self.epoll, fd, epoll::EventData::new_u64(key.bits()), flags).map_err(Into::into)
    }

    /// The task that drives it, for the thread's runtime: its I/O MUST be enabled. Ends with an error when the runtime
    /// cannot watch the epoll instance.
    pub fn driver(self: &Rc<Self>) -> impl Future<Output = io::Result<()>> + use<> {
        Driver { of: Rc::clone(self), instance: None, task: None }
    }

    /// Passes on what the kernel reports: how much it was.
    fn take_events(&self) -> usize {
        let mut events = self.events.take();
        events.clear();
        events.reserve(EVENTS);
        // Nothing of it can fail but memory: then there are no events.
        let _ = epoll::wait(&*self.epoll, spare_capacity(&mut events), Some(&NOW));
        for event in &events {
            let (data, flags) = (event.data, event.flags);
            let key = Key::of(data.u64());
            self.pass_on(key, |source| source.event(key, flags.bits()));
        }
        let count = events.len();
        self.events.replace(events);
        count
    }

    /// Passes on which bells were rung.
    fn take_keys(&self) {
        let mut keys = self.keys.take();
        self.queue.take(&mut keys);
        for bits in keys.drain(..) {
            let key = Key::of(bits);
            self.pass_on(key, |source| source.woken(key));
        }
        self.keys.replace(keys);
    }

    #[inline]
    fn pass_on(&self, key: Key, what: impl FnOnce(&dyn Source) -> bool) {
        let Some(source) = self.sources.borrow().get(key.source()).map(|entry| Rc::clone(&entry.source)) else {
            return;
        };
        if what(&*source) {
            self.ask(SourceId(key.source() as u16));
        }
    }

    /// Runs the sources that want it: whether any did, and the slowest's pace.
    fn run_asked(&self, cx: &mut Context<'_>) -> Option<Pace> {
        let mut pace = None;
        let mut asked = self.asked.take();
        let mut later = Vec::new();
        for id in asked.drain(..) {
            if self.guests.are_woken() {
                // What the last source has begun (the open event of a connection, say) comes before what the next one
                // has heard of it.
                let _ = self.guests.run(cx);
            }
            let source = {
                let sources = self.sources.borrow();
                let Some(entry) = sources.get(usize::from(id)) else { continue };
                entry.asked.set(false);
                Rc::clone(&entry.source)
            };
            let its = source.run(cx);
            if its == Pace::Later {
                later.push(id);
            }
            if pace != Some(Pace::Later) {
                pace = Some(its);
            }
        }
        {
            let mut next = self.asked.borrow_mut();
            if next.is_empty() {
                *next = asked;
            }
        }
        for id in later {
            self.ask(SourceId(id));
        }
        if !self.at_end.borrow().is_empty() {
            self.end_turn();
        }
        pace
    }

    #[inline(never)]
    fn end_turn(&self) {
        // Who asks meanwhile is told at the end of the next.
        let mut at_end = self.at_end.take();
        for id in at_end.drain(..) {
            let source = self.sources.borrow().get(usize::from(id)).map(|entry| Rc::clone(&entry.source));
            if let Some(source) = source {
                source.turn_ends();
            }
        }
        let mut next = self.at_end.borrow_mut();
        if next.is_empty() {
            *next = at_end;
        }
    }
}

impl Loop {
    fn end(&self) {
        let sources = self.sources.take();
        for (_, entry) in &sources {
            entry.source.end();
        }
    }
}

impl AsRawFd for Loop {
    /// The epoll instance, for sources whose descriptors need another kind of registration. What is registered MUST
    /// carry a [`Key`].
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

/// The task.
struct Driver {
    of: Rc<Loop>,
    instance: Option<AsyncFd<Instance>>,
    /// What wakes it, as the queue of the bells knows.
    task: Option<Waker>,
}

/// Has the task polled again once the runtime has looked at what its descriptors bring. After a plain wake-up it would
/// do so only every 61 polls.
pub fn after_the_others(cx: &mut Context<'_>) {
    let _ = pin!(tokio::task::yield_now()).poll(cx);
}

/// Turns, until nothing is left to do.
fn turns(of: &Loop, instance: &AsyncFd<Instance>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    let mut begin = None;
    for turn in 0..TURNS {
        let (count, told) = match instance.poll_read_ready(cx) {
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(mut guard)) => {
                let count = of.take_events();
                if count < EVENTS {
                    // What becomes ready from now on is a new event of the epoll instance itself.
                    guard.clear_ready();
                }
                (count, true)
            }
            // The runtime was not asked since the last turn; the kernel is, when nothing else is to be done and while
            // that is likely to pay.
            Poll::Pending if turn > 0 && !of.has_work() && of.heat.is_hot() => {
                let count = of.take_events();
                of.heat.brought(count > 0);
                (count, false)
            }
            Poll::Pending => (0, false),
        };
        of.take_keys();
        let pace = of.run_asked(cx);
        if pace == Some(Pace::Later) || !has_budget_remaining() {
            break;
        }
        if count == 0 && !told && pace.is_none() && !of.has_work() && of.queue.sleep() {
            return Poll::Pending;
        }
        if turn > 0 && begin.get_or_insert_with(Instant::now).elapsed() >= LONG {
            break;
        }
    }
    after_the_others(cx);
    Poll::Pending
}

impl Future for Driver {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let instance = match &mut this.instance {
            Some(instance) => instance,
            none => none.insert(watch(Instance(Rc::clone(&this.of.epoll)))?),
        };
        if !this.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            this.of.queue.set_task(cx.waker());
            this.task = Some(cx.waker().clone());
        }
        this.of.queue.awake();
        turns(&this.of, instance, cx)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.of.end();
    }
}

#[cfg(test)]
mod tests;
