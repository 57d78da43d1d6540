//! Descriptors that `Apus\Event` watches: a task for each direction, which starts a coroutine for every event.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::os::fd::RawFd;
use std::rc::{Rc, Weak};
use std::time::Duration;

use apus_coro::TaskId;
use apus_zend::{Callable, Raise, Value, descriptor};
use rustix::io::{Errno, ioctl_fionread, write};
use rustix::net::sockopt::socket_type;
use rustix::net::{SendFlags, SocketType, send};
use tokio::sync::Notify;

use super::ready::{READ, WRITE, epoll_bits, is_still, now, ready};
use crate::descriptor::Number;
use crate::hook::Reactor;
use crate::runtime::{Mode, Room, State};

/// Bytes that `Event::write()` keeps for a descriptor at most.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;
/// What a pipe or terminal that is writable takes without blocking, in bytes (`PIPE_BUF`).
const PIECE: usize = 4096;
/// No coroutine's id.
const NOBODY: TaskId = -1;
/// How often it is looked whether a callback that waits has taken what it was called for.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// When a callback is tried again that could not be started.
const TRY_AGAIN: Duration = Duration::from_millis(100);

type Slot = RefCell<Option<Rc<Callable>>>;

/// One watched descriptor.
pub(super) struct Watched {
    fd: RawFd,
    /// What `add()` was given, which callbacks get.
    value: Value,
    read: Slot,
    write: Slot,
    events: Cell<i64>,
    output: RefCell<VecDeque<u8>>,
    /// What is watched has changed, for the task of each direction.
    changed: [Notify; 2],
    gone: Cell<bool>,
    /// The coroutine of the last callback.
    last: Cell<TaskId>,
}

impl Watched {
    pub(super) fn new(fd: RawFd, value: Value, callbacks: [Option<Callable>; 2], events: i64) -> Rc<Self> {
        let [read, write] = callbacks.map(|callback| RefCell::new(callback.map(Rc::new)));
        Rc::new(Self {
            fd,
            value,
            read,
            write,
            events: Cell::new(events),
            output: RefCell::default(),
            changed: [const { Notify::const_new() }; 2],
            gone: Cell::new(false),
            last: Cell::new(NOBODY),
        })
    }

    /// Whether it has a callback for each of `events`.
    pub(super) fn answers(&self, events: i64) -> bool {
        (events & READ == 0 || self.read.borrow().is_some()) && (events & WRITE == 0 || self.write.borrow().is_some())
    }

    pub(super) fn events(&self) -> i64 {
        self.events.get()
    }

    /// Replaces the callbacks that are given, and the events.
    pub(super) fn set(&self, callbacks: [Option<Callable>; 2], events: i64) {
        for (slot, callback) in [&self.read, &self.write].into_iter().zip(callbacks) {
            if let Some(callback) = callback {
                // The old one is dropped after the borrow: its destructor may call back.
                let old = slot.borrow_mut().replace(Rc::new(callback));
                drop(old);
            }
        }
        self.events.set(events);
        self.notify();
    }

    fn notify(&self) {
        for changed in &self.changed {
            changed.notify_one();
        }
    }

    /// Sends what can be sent now, and keeps the rest. ENOBUFS: too much is waiting already.
    pub(super) fn send(&self, bytes: &[u8]) -> Result<(), c_int> {
        let waiting = self.output.borrow().len();
        if waiting + bytes.len() > MAX_OUTPUT {
            return Err(libc::ENOBUFS);
        }
        let sent = if waiting == 0 { send_now(self.fd, bytes)? } else { 0 };
        if sent < bytes.len() {
            self.output.borrow_mut().extend(&bytes[sent..]);
            self.notify();
        }
        Ok(())
    }

    /// Sends what was kept. What cannot be sent any more is dropped: the reader learns it from the descriptor.
    fn flush(&self) {
        let mut output = self.output.borrow_mut();
        while !output.is_empty() {
            match send_now(self.fd, output.as_slices().0) {
                Ok(0) => return,
                Ok(sent) => drop(output.drain(..sent)),
                Err(_) => output.clear(),
            }
        }
    }

    /// Bytes that PHP has read ahead.
    fn ahead(&self) -> usize {
        descriptor::buffered(&self.value)
    }

    /// Bytes that wait to be read, or -1.
    fn unread(&self) -> c_int {
        match unread(self.fd) {
            -1 => -1,
            count => count.saturating_add(c_int::try_from(self.ahead()).unwrap_or(c_int::MAX)),
        }
    }

    /// Whether an event is waited for: by the program, or to send what is kept.
    fn wants(&self, event: i64) -> bool {
        self.events.get() & event != 0 || event == WRITE && !self.output.borrow().is_empty()
    }

    /// Starts the callback of one event in a coroutine.
    fn call(&self, state: &Rc<State>, event: i64) -> Option<TaskId> {
        let callback = if event == READ { &self.read } else { &self.write };
        let callback = callback.borrow().as_ref().map(Rc::clone)?;
        let started = state.go(callback.share(), vec![self.value.share()], None);
        drop(callback);
        report(state, started).inspect(|&id| self.last.set(id))
    }
}

/// A coroutine that could not be started is an error that nobody caught.
pub(super) fn report(state: &Rc<State>, started: Result<TaskId, Raise>) -> Option<TaskId> {
    match started {
        Ok(id) => Some(id),
        Err(raise) => {
            state.report(raise);
            None
        }
    }
}

/// Sends without blocking; how much was taken.
fn send_now(fd: RawFd, bytes: &[u8]) -> Result<usize, c_int> {
    let mut sent = 0;
    let mut is_socket = true;
    while sent < bytes.len() {
        let rest = &bytes[sent..];
        // The descriptor's owner may have closed it, which is an error.
        let count = if is_socket {
            send(Number(fd), rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
        } else if now(fd, WRITE)? == 0 {
            return Ok(sent);
        } else {
            write(Number(fd), &rest[..rest.len().min(PIECE)])
        };
        match count {
            Ok(count) => sent += count,
            Err(Errno::NOTSOCK) if is_socket => is_socket = false,
            Err(Errno::AGAIN) => return Ok(sent),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.raw_os_error()),
        }
    }
    Ok(sent)
}

/// Bytes that wait to be read from a stream of bytes; -1 where that says nothing (datagrams may be of one size,
/// connections have none).
fn unread(fd: RawFd) -> c_int {
    let kind = socket_type(Number(fd)).unwrap_or(SocketType::STREAM);
    let count = if kind == SocketType::STREAM { ioctl_fionread(Number(fd)).ok() } else { None };
    count.and_then(|count| c_int::try_from(count).ok()).unwrap_or(-1)
}

/// Keeps the loop of a script going. A worker's goes on and ends by other rules.
pub(super) fn hold(state: &State) {
    if state.mode.get() == Mode::Script {
        state.engine.hold();
    }
}

/// The end of a [`hold`].
pub(super) fn release(state: &State) {
    if state.mode.get() == Mode::Script {
        state.engine.release();
    }
}

/// All watched descriptors of a thread. A task of the runtime owns it, so that it ends with that.
pub(super) struct Events {
    state: Weak<State>,
    watched: RefCell<BTreeMap<RawFd, Rc<Watched>>>,
    /// What runs after a turn of the loop: called first, called last.
    pub(super) cycles: [RefCell<Option<Rc<Callable>>>; 2],
    pub(super) cycling: Cell<bool>,
}

/// Where they are found.
#[derive(Default)]
pub(crate) struct Watching(RefCell<Weak<Events>>);

impl Room for Watching {
    /// Removes all entries: nothing holds the loop any more.
    fn end_all(&self, _state: &State) {
        let events = self.0.borrow().upgrade();
        if let Some(events) = events {
            events.clear();
        }
    }
}

/// Descriptors that `Event` watches.
pub(crate) fn watched_count(state: &State) -> usize {
    Events::existing(state).map_or(0, |events| events.watched.borrow().len())
}

impl Events {
    /// Those of this state, if there are any.
    pub(super) fn existing(state: &State) -> Option<Rc<Self>> {
        state.room::<Watching>().0.borrow().upgrade()
    }

    pub(super) fn get(state: &Rc<State>) -> Rc<Self> {
        if let Some(events) = Self::existing(state) {
            return events;
        }
        let events = Rc::new(Self {
            state: Rc::downgrade(state),
            watched: RefCell::default(),
            cycles: [const { RefCell::new(None) }; 2],
            cycling: Cell::new(false),
        });
        *state.room::<Watching>().0.borrow_mut() = Rc::downgrade(&events);
        let kept = Rc::clone(&events);
        state.spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        events
    }

    /// The entry of a value: by its descriptor, or, when that is closed, by the value itself.
    pub(super) fn find(&self, fd: Option<RawFd>, value: &Value) -> Option<Rc<Watched>> {
        let watched = self.watched.borrow();
        match fd {
            Some(fd) => watched.get(&fd).cloned(),
            None => watched.values().find(|entry| descriptor::same(&entry.value, value)).cloned(),
        }
    }

    /// Whether the entry of a descriptor is about a stream or socket that was closed: the number means something else
    /// now.
    pub(super) fn forget_stale(&self, fd: RawFd) -> Result<(), Raise> {
        let Some(entry) = self.watched.borrow().get(&fd).cloned() else { return Ok(()) };
        if descriptor::of(&entry.value)? != Some(fd) {
            self.remove(&entry);
        }
        Ok(())
    }

    pub(super) fn add(&self, state: &Rc<State>, entry: &Rc<Watched>) {
        hold(state);
        let old = self.watched.borrow_mut().insert(entry.fd, Rc::clone(entry));
        debug_assert!(old.is_none(), "callers look first");
        for event in [READ, WRITE] {
            state.spawn(watch(Rc::downgrade(state), Rc::clone(entry), event));
        }
    }

    pub(super) fn remove(&self, entry: &Rc<Watched>) -> bool {
        if entry.gone.replace(true) {
            return false;
        }
        let removed = self.watched.borrow_mut().remove(&entry.fd);
        entry.notify();
        if let Some(state) = self.state.upgrade() {
            release(&state);
        }
        removed.is_some()
    }

    /// Removes everything.
    pub(super) fn clear(&self) {
        let entries: Vec<_> = self.watched.borrow().values().cloned().collect();
        for entry in entries {
            self.remove(&entry);
        }
        for cycle in &self.cycles {
            let old = cycle.borrow_mut().take();
            drop(old);
        }
    }
}

/// Calls back for one event of a descriptor until it is removed or closed.
async fn watch(state: Weak<State>, entry: Rc<Watched>, event: i64) {
    let changed = &entry.changed[usize::from(event == WRITE)];
    while !entry.gone.get() {
        let wanted = entry.wants(event);
        let happened = tokio::select! {
            biased;
            () = changed.notified() => continue,
            // PHP has read ahead: the kernel has nothing of it to report.
            happened = async { Ok(READ) }, if wanted && event == READ && entry.ahead() > 0 => happened,
            // In the name of the last callback, which may itself wait for more.
            happened = ready(entry.last.get(), entry.fd, event), if wanted => happened,
        };
        let Some(state) = state.upgrade() else { return };
        let fired = match happened {
            Ok(_) if is_still(&entry.value, entry.fd) => fire(&state, &entry, event).await,
            _ => Err(libc::EBADF),
        };
        // It was closed, so there is nothing to watch any more.
        if fired.is_err()
            && let Some(events) = Events::existing(&state)
        {
            events.remove(&entry);
        }
    }
    drop(entry);
    State::catch_stray();
}

/// Waits as long as a coroutine waits for the same event, or was woken for it and has not run: it is who gets what
/// came.
async fn others_first(state: &State, entry: &Watched, event: i64) {
    let ran = |id: TaskId| state.engine.find(id).map(|task| task.switches());
    let mut last = None;
    while !entry.gone.get() {
        match state.room::<Reactor>().waiting(entry.fd, epoll_bits(event)) {
            Some(id) => last = ran(id).map(|count| (id, count)),
            None if last.is_some_and(|(id, count)| ran(id) == Some(count)) => {}
            None => return,
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Waits as long as a callback lives that has not taken anything of what it was called for.
async fn until_taken(state: &Rc<State>, entry: &Watched, callback: TaskId, mut there: c_int) {
    while there >= 0 && !entry.gone.get() && state.engine.find(callback).is_some() {
        let left = entry.unread();
        if left < there {
            return;
        }
        there = left;
        let ended = state.engine.all_ended(&[callback]);
        let _ = tokio::time::timeout(LOOK_AGAIN, ended).await;
    }
}

/// Waits as long as a callback for writing lives, and sends what is kept meanwhile.
async fn until_ended(state: &Rc<State>, entry: &Watched, callback: TaskId) {
    while !entry.gone.get() && state.engine.find(callback).is_some() {
        let _ = tokio::time::timeout(LOOK_AGAIN, state.engine.all_ended(&[callback])).await;
        entry.flush();
    }
}

async fn fire(state: &Rc<State>, entry: &Watched, event: i64) -> Result<(), c_int> {
    if event == WRITE {
        entry.flush();
    }
    // Those that were woken with us have their turn.
    tokio::task::yield_now().await;
    others_first(state, entry, event).await;
    let ahead = event == READ && entry.ahead() > 0;
    if entry.gone.get() || entry.events.get() & event == 0 || (now(entry.fd, event)? == 0 && !ahead) {
        return Ok(());
    }
    let there = entry.unread();
    match entry.call(state, event) {
        Some(callback) if event == READ => until_taken(state, entry, callback, there).await,
        Some(callback) => until_ended(state, entry, callback).await,
        None => tokio::time::sleep(TRY_AGAIN).await,
    }
    Ok(())
}
