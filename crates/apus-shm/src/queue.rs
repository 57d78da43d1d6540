//! A queue of messages between any number of processes, bounded by bytes.
//!
//! # Why no accepted message is lost or torn, whoever is killed at whatever instruction
//!
//! Messages lie in a ring of bytes, each behind a word that holds its length, at multiples of eight; one may go on at
//! the first byte when it comes to the last. Where they begin, how many bytes they take and how many there are (the
//! [`Positions`]) stands twice, and `turn` says by its lowest bit which of the two holds.
//!
//! 1. **Changing.** Everything below is done by who holds the mutex. A producer writes the message behind the last one,
//!    into bytes that the positions do not cover; then the new positions into the place that does not hold; then
//!    `turn`, by one store. Killed before that store he has changed nothing: the next one writes over it. After it the
//!    message is there whole. A consumer copies the first message out, and then moves the positions the same way:
//!    killed before, the message is still the queue's; after, it is his. So the state is right at any instruction, and
//!    there is nothing that a repair would have to do when the mutex is opened by a death.
//! 2. **Memory order.** Bytes, positions and interests are ordered by the mutex alone (it is an acquire and release),
//!    also after a death, when the kernel's marking takes the place of the release: the dead run no more, and what they
//!    had stored is in the coherent memory of the machine. [`SharedQueue::len`] and the like read without the mutex:
//!    they load `turn` (Acquire), the positions, fence (Acquire), and load `turn` again. A producer fences (Release)
//!    between its reading of `turn`, which under the mutex comes after the store that made it, and its first store into
//!    the other place; so a reader that has seen any of its stores sees at its second look at least the `turn` before,
//!    which is not the one that it began with two changes earlier, and begins again.
//! 3. **Waking.** See the head of `notifier.rs`: a process that finds nothing, or no room, registers its
//!    interest under the mutex; one that brings it notifies before it publishes.
//! 4. **Trust.** Positions and lengths come from memory that a program gone astray could have spoilt. They are looked
//!    at before any byte is touched; what cannot be is taken for an empty queue, so that nobody reads or writes outside
//!    it.
//!
//! When the last message is taken the next one begins at the first byte: a queue whose consumers keep up takes few
//! pages, whatever its size.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use crate::notifier::Notifier;
use crate::region::{Region, Shared};
use crate::robust::{Guard, RobustMutex};

/// Bytes before each message.
const HEADER: u64 = 8;
/// Where the messages begin in the mapping.
const DATA: usize = 4096;
/// Tries to get the mutex before the kernel is asked: it is held for less than a microsecond as a rule.
const SPINS: usize = 60;
/// Tries to read the positions without the mutex.
const GLANCES: usize = 50;

/// Why a message was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no room for it now.
    #[error("the queue is full")]
    Full,
    /// It is longer than the longest that this queue takes.
    #[error("the message is longer than the longest that the queue takes")]
    TooLarge,
    /// The queue was closed.
    #[error("the queue is closed")]
    Closed,
}

/// Why there was no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// None is there now.
    Empty,
    /// None is there, and none will come.
    Closed,
}

/// Where the messages lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Positions {
    /// Offset of the first one.
    head: u64,
    /// Bytes that they take, headers included.
    used: u64,
    count: u64,
    /// All that were ever accepted.
    pushed: u64,
}

#[derive(Debug)]
#[repr(C, align(32))]
struct EndsCopy([AtomicU64; 4]);

#[derive(Debug)]
#[repr(C)]
struct Ends {
    mutex: RobustMutex,
    /// Changes made so far; the lowest bit says which place holds.
    turn: AtomicU64,
    closed: AtomicU64,
    /// What the listeners of `arrivals` wait for: 0, or 1 message.
    message_wanted: AtomicU64,
    /// What the listeners of `room` wait for: 0, or the fewest bytes.
    room_wanted: AtomicU64,
    places: [EndsCopy; 2],
}

// SAFETY: atomics and a mutex of the C library; all-zero is the empty queue.
unsafe impl Shared for Ends {}

/// What a queue holds, and has held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueStats {
    /// Messages in it.
    pub count: u64,
    /// Bytes that they take, eight more for each and rounded up to eight.
    pub bytes: u64,
    /// Messages ever accepted.
    pub pushed: u64,
    /// Messages ever taken.
    pub popped: u64,
}

/// The queue. Made before the fork; every process forked later has it.
#[derive(Debug)]
pub struct SharedQueue {
    region: Region,
    capacity: u64,
    longest: u64,
    arrivals: Notifier,
    room: Notifier,
}

impl SharedQueue {
    /// Room for messages of `bytes` in all, eight more counted for each and the sum rounded up to a page; the longest
    /// takes `longest` bytes, at most `bytes`.
    pub fn new(bytes: usize, longest: usize) -> io::Result<Self> {
        let whole =
            bytes.max(longest).checked_add(HEADER as usize).and_then(|size| size.checked_next_multiple_of(DATA));
        let (capacity, size) =
            whole.and_then(|whole| Some((whole, whole.checked_add(DATA)?))).ok_or(io::ErrorKind::OutOfMemory)?;
        let queue = Self {
            region: Region::new(size)?,
            capacity: capacity as u64,
            longest: longest as u64,
            arrivals: Notifier::new()?,
            room: Notifier::new()?,
        };
        queue.ends().mutex.init()?;
        Ok(queue)
    }

    /// Adds a message, the parts one behind the other. When this returns `Ok` the message survives this process.
    pub fn try_push(&self, parts: &[&[u8]]) -> Result<(), Refused> {
        self.push(parts, false)
    }

    /// The same; when it is full, [`writable_fd`](Self::writable_fd) has an event as soon as there is room for this
    /// message.
    pub fn push_or_register(&self, parts: &[&[u8]]) -> Result<(), Refused> {
        self.push(parts, true)
    }

    /// Takes the oldest message, its bytes appended to `into`.
    pub fn try_pop(&self, into: &mut Vec<u8>) -> Option<()> {
        self.try_take(|first, second| copy(first, second, into)).ok()
    }

    /// The same; when there is none, [`readable_fd`](Self::readable_fd) has an event as soon as one has come, or the
    /// queue is closed.
    pub fn pop_or_register(&self, into: &mut Vec<u8>) -> Result<(), Nothing> {
        self.take_or_register(|first, second| copy(first, second, into))
    }

    /// Shows the oldest message to `read`, in two parts, of which the second is empty as a rule; it is taken when
    /// `read` has returned. Until then all others wait: `read` copies and does nothing else.
    pub fn try_take<R>(&self, read: impl FnOnce(&[u8], &[u8]) -> R) -> Result<R, Nothing> {
        self.take(false, read)
    }

    /// The same, registering as [`pop_or_register`](Self::pop_or_register).
    pub fn take_or_register<R>(&self, read: impl FnOnce(&[u8], &[u8]) -> R) -> Result<R, Nothing> {
        self.take(true, read)
    }

    /// No message is accepted from now on; those that are there can be taken. Everybody who waits is woken.
    pub fn close(&self) {
        let _held = self.lock();
        self.arrivals.notify_now();
        self.room.notify_now();
        self.ends().closed.store(1, Relaxed);
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.ends().closed.load(Relaxed) != 0
    }

    /// Has events when there may be a message. To be watched edge-triggered (`EPOLLET`, as the runtime's `AsyncFd`
    /// does, or by a [`Watch`](crate::Watch)) and never to be read: register, then wait for an event, then look again.
    pub fn readable_fd(&self) -> BorrowedFd<'_> {
        self.arrivals.fd()
    }

    /// The same for room.
    pub fn writable_fd(&self) -> BorrowedFd<'_> {
        self.room.fd()
    }

    /// Messages in it.
    pub fn len(&self) -> u64 {
        self.glance().count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that its messages take, eight more for each and rounded up to eight.
    pub fn bytes(&self) -> u64 {
        self.glance().used
    }

    /// Bytes that its messages may take, counted in the same way.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that one message may have.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Bytes of memory that it takes now, over all processes.
    pub fn resident(&self) -> usize {
        self.region.resident()
    }

    /// What it holds, and has held.
    pub fn stats(&self) -> QueueStats {
        let at = self.glance();
        QueueStats { count: at.count, bytes: at.used, pushed: at.pushed, popped: at.pushed.saturating_sub(at.count) }
    }

    fn ends(&self) -> &Ends {
        const { assert!(size_of::<Ends>() <= DATA, "the ends lie before the messages") };
        self.region.at(0)
    }

    fn lock(&self) -> Guard<'_> {
        let mutex = &self.ends().mutex;
        for _ in 0..SPINS {
            // The positions are right at any instruction: no repair.
            if let Some(held) = mutex.try_lock(|| ()) {
                return held;
            }
            std::hint::spin_loop();
        }
        mutex.lock(|| ())
    }

    fn push(&self, parts: &[&[u8]], interest: bool) -> Result<(), Refused> {
        let len = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        if len > self.longest {
            return Err(Refused::TooLarge);
        }
        let (ends, size) = (self.ends(), record_size(len));
        let _held = self.lock();
        if self.is_closed() {
            return Err(Refused::Closed);
        }
        let at = self.positions();
        if size > self.capacity - at.used {
            if interest {
                Notifier::register(&ends.room_wanted, size);
            }
            return Err(Refused::Full);
        }
        self.write(at, len, parts);
        self.arrivals.notify(&ends.message_wanted, 1);
        self.publish(Positions { used: at.used + size, count: at.count + 1, pushed: at.pushed + 1, ..at });
        Ok(())
    }

    fn take<R>(&self, interest: bool, read: impl FnOnce(&[u8], &[u8]) -> R) -> Result<R, Nothing> {
        let ends = self.ends();
        let _held = self.lock();
        let at = self.positions();
        let Some((len, size)) = self.first(at) else {
            if at.used > 0 {
                // Spoilt: what is there cannot be read, and room is needed for what comes.
                self.publish(Positions { pushed: at.pushed, ..Positions::default() });
            }
            if self.is_closed() {
                return Err(Nothing::Closed);
            }
            if interest {
                Notifier::register(&ends.message_wanted, 1);
            }
            return Err(Nothing::Empty);
        };
        let (first, second) = self.message(at.head, len);
        let got = read(first, second);
        let next = if size == at.used {
            Positions { pushed: at.pushed, ..Positions::default() }
        } else {
            Positions { head: self.wrap(at.head + size), used: at.used - size, count: at.count.saturating_sub(1), ..at }
        };
        self.room.notify(&ends.room_wanted, self.capacity - next.used);
        self.publish(next);
        Ok(got)
    }

    /// The positions that hold, if they are possible. Under the mutex.
    fn positions(&self) -> Positions {
        self.checked(self.place(self.ends().turn.load(Relaxed)))
    }

    fn place(&self, turn: u64) -> Positions {
        let EndsCopy([head, used, count, pushed]) = &self.ends().places[(turn & 1) as usize];
        Positions {
            head: head.load(Relaxed),
            used: used.load(Relaxed),
            count: count.load(Relaxed),
            pushed: pushed.load(Relaxed),
        }
    }

    fn checked(&self, at: Positions) -> Positions {
        let possible = at.head < self.capacity
            && at.used <= self.capacity
            && (at.head | at.used).is_multiple_of(8)
            && (at.used == 0) == (at.count == 0);
        if possible { at } else { Positions { pushed: at.pushed, ..Positions::default() } }
    }

    /// Makes `next` hold. Under the mutex.
    fn publish(&self, next: Positions) {
        let turn = self.ends().turn.load(Relaxed).wrapping_add(1);
        fence(Release);
        let EndsCopy([head, used, count, pushed]) = &self.ends().places[(turn & 1) as usize];
        head.store(next.head, Relaxed);
        used.store(next.used, Relaxed);
        count.store(next.count, Relaxed);
        pushed.store(next.pushed, Relaxed);
        self.ends().turn.store(turn, Release);
    }

    /// The positions at some moment of this call.
    fn glance(&self) -> Positions {
        for _ in 0..GLANCES {
            let turn = self.ends().turn.load(Acquire);
            let at = self.place(turn);
            fence(Acquire);
            if self.ends().turn.load(Relaxed) == turn {
                return self.checked(at);
            }
        }
        let _held = self.lock();
        self.positions()
    }

    /// Length of the first message, and the bytes that it takes.
    fn first(&self, at: Positions) -> Option<(u64, u64)> {
        if at.used < HEADER {
            return None;
        }
        let len = self.region.at::<AtomicU64>(DATA + at.head as usize).load(Relaxed);
        (len <= self.longest && record_size(len) <= at.used).then(|| (len, record_size(len)))
    }

    /// The bytes of a message at an offset that holds its length.
    fn message(&self, head: u64, len: u64) -> (&[u8], &[u8]) {
        let start = self.wrap(head + HEADER);
        let first = len.min(self.capacity - start);
        let bytes = |offset: u64, len: u64| {
            let place: &[AtomicU8] = self.region.slice(DATA + offset as usize, len as usize);
            // SAFETY: `slice` has looked that the bytes lie inside the mapping. The caller holds the mutex as long as
            // the slices live, the positions cover the bytes, and nobody writes to what they cover.
            unsafe { std::slice::from_raw_parts(place.as_ptr().cast::<u8>(), place.len()) }
        };
        (bytes(start, first), bytes(0, len - first))
    }

    /// Writes a message behind the last one, where there is room for it.
    fn write(&self, at: Positions, len: u64, parts: &[&[u8]]) {
        let tail = self.wrap(at.head + at.used);
        self.region.at::<AtomicU64>(DATA + tail as usize).store(len, Relaxed);
        let mut offset = self.wrap(tail + HEADER);
        for part in parts {
            let (first, second) = part.split_at(part.len().min((self.capacity - offset) as usize));
            self.write_bytes(offset, first);
            self.write_bytes(0, second);
            offset = self.wrap(offset + part.len() as u64);
        }
    }

    fn write_bytes(&self, offset: u64, bytes: &[u8]) {
        let place: &[AtomicU8] = self.region.slice(DATA + offset as usize, bytes.len());
        // SAFETY: `slice` has looked that the bytes lie inside the mapping, which no part overlaps. The caller holds
        // the mutex, and nobody reads what the positions do not cover. The memory is that of atomics, so writing
        // through a shared reference is allowed.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr().cast::<u8>().cast_mut(), bytes.len()) };
    }

    /// An offset below twice the capacity as one in the ring.
    fn wrap(&self, offset: u64) -> u64 {
        if offset >= self.capacity { offset - self.capacity } else { offset }
    }
}

fn copy(first: &[u8], second: &[u8], into: &mut Vec<u8>) {
    into.reserve(first.len() + second.len());
    into.extend_from_slice(first);
    into.extend_from_slice(second);
}

/// Bytes that a message takes.
fn record_size(len: u64) -> u64 {
    HEADER + len.next_multiple_of(8)
}
