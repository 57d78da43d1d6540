//! Numbers that processes share, many of them to a page, and waiting for one.
//!
//! # Whose a cell is
//!
//! A program makes numbers one by one, before it forks or after, and a page for each would be waste: so 64 lie in one
//! page, each on a cache line of its own, since processes that count different things must not slow each other down. A
//! process gives out cells only of pages that it mapped itself: a child begins a page of its own with its first number,
//! or it and its parent would hand out the same cells for different things.
//!
//! When a number goes, its cell can serve another one only if nobody else can have it. Who has it is known to the
//! process that made it: itself, and every process that it forked since, all of which go on using their copy for as
//! long as they please, and tell nobody when they stop. So a cell is used again if the process that made the number has
//! not forked since it was given out, and never otherwise; a forked child gives none back. (Counting references would
//! need a hook in each fork and an answer to a child that is killed; what is lost here is 64 bytes for each number that
//! a program makes, forks, and drops, which programs do once.)
//!
//! # Waiting
//!
//! [`Number::wake`] sets 0 to 1, [`Number::take`] 1 to 0, so that one wake-up lets one through, also when it comes
//! first. Sleepers are of two kinds: threads that sleep on the word itself, and event loops that listen to the page's
//! notifier. A waiter stores that it is there and then looks at the word again; a waker changes the word and then looks
//! who is there (all sequentially consistent, so one of them sees the other). A wake-up reaches all who wait and the
//! first to look takes it, so that one who is killed after he was woken leaves it to the next; and it is repeated if
//! the word was 1 already, because the one who made it so may have been killed before he woke anybody.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{
    AtomicI64, AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::futex;
use crate::notifier::{Heard, Notifier};
use crate::process_registry::Moment;
use crate::region::{Region, Shared};

/// Cells of a page.
const CELLS: usize = 64;

#[derive(Debug)]
#[repr(C, align(64))]
struct PageCell {
    long: AtomicI64,
    word: AtomicU32,
    /// Whether a thread has ever slept on the word.
    sleepers: AtomicU32,
    /// Whether anybody has ever listened to the page's notifier for this cell. Both stay set: to clear one would race
    /// with who sets it, and save a system call in programs that wait once.
    listeners: AtomicU32,
    /// How often [`Number::wake_some`] has woken.
    wakes: AtomicU32,
}

// SAFETY: atomics; zero is valid.
unsafe impl Shared for PageCell {}

#[derive(Debug)]
struct Page {
    region: Region,
    notifier: Notifier,
}

/// What this process can give out.
struct Arena {
    /// The process that it is of.
    line: u64,
    page: Option<&'static Page>,
    /// The first cell of the page that was never given out.
    next: usize,
    free: Vec<(&'static Page, usize)>,
}

static ARENA: Mutex<Arena> = Mutex::new(Arena { line: 0, page: None, next: 0, free: Vec::new() });
/// How a look at a number that is waited for ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It was 1, and is 0 now.
    Taken,
    /// It is 0.
    Zero,
    /// It is neither, so nobody waits for it.
    Other,
}

/// A number in shared memory: this process and all that it forks from now on see the same.
#[derive(Debug)]
pub struct Number {
    page: &'static Page,
    index: usize,
    /// The process that made it, and when among its forks.
    made: Moment,
}

impl Number {
    /// A new one: zero, in both widths.
    pub fn new() -> io::Result<Self> {
        let made = Moment::now();
        let mut arena = ARENA.lock().unwrap_or_else(PoisonError::into_inner);
        if arena.line != made.line {
            // The parent's pages stay mapped for the numbers that were inherited.
            *arena = Arena { line: made.line, page: None, next: 0, free: Vec::new() };
        }
        let (page, index) = arena.give_out()?;
        drop(arena);
        let place = page.place(index);
        place.long.store(0, Relaxed);
        place.word.store(0, Relaxed);
        place.sleepers.store(0, Relaxed);
        place.listeners.store(0, Relaxed);
        place.wakes.store(0, Relaxed);
        Ok(Self { page, index, made })
    }

    fn place(&self) -> &PageCell {
        self.page.place(self.index)
    }

    /// It as 32 bits: the ones that are waited for.
    #[inline]
    pub fn word(&self) -> &AtomicU32 {
        &self.place().word
    }

    /// It as 64 bits, which are others.
    #[inline]
    pub fn long(&self) -> &AtomicI64 {
        &self.place().long
    }

    /// Sets 1 to 0.
    pub fn take(&self) -> Look {
        match self.word().compare_exchange(1, 0, SeqCst, SeqCst) {
            Ok(_) => Look::Taken,
            Err(0) => Look::Zero,
            Err(_) => Look::Other,
        }
    }

    /// The same; when it is 0, [`fd`](Self::fd) has an event as soon as it was woken.
    pub fn take_or_register(&self) -> Look {
        match self.take() {
            Look::Zero => {
                self.place().listeners.store(1, SeqCst);
                self.take()
            }
            look => look,
        }
    }

    /// Sleeps until it is woken, if it is 0. Look again afterwards.
    pub fn sleep(&self, until: Option<Instant>) -> Heard {
        self.place().sleepers.store(1, SeqCst);
        futex::wait(self.word(), 0, until)
    }

    /// Sets 0 to 1, and wakes those who wait.
    pub fn wake(&self) {
        if let Err(2..) = self.word().compare_exchange(0, 1, SeqCst, SeqCst) {
            return;
        }
        if self.place().sleepers.load(SeqCst) != 0 {
            futex::wake_all(self.word());
        }
        if self.place().listeners.load(SeqCst) != 0 {
            self.page.notifier.notify_now();
        }
    }

    /// Sets 0 to 1, and wakes so many of the processes that sleep, and the coroutines that wait. Nothing is done where
    /// it is not 0.
    pub fn wake_some(&self, most: i32) {
        if self.word().compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            return;
        }
        self.place().wakes.fetch_add(1, SeqCst);
        if self.place().sleepers.load(SeqCst) != 0 {
            futex::wake(self.word(), most);
        }
        if self.place().listeners.load(SeqCst) != 0 {
            self.page.notifier.notify_now();
        }
    }

    /// Changes with each [`wake_some`](Self::wake_some), before anybody is told of it: who finds 0 after a notification
    /// knows by it whether it was woken.
    pub fn wakes(&self) -> u32 {
        self.place().wakes.load(SeqCst)
    }

    /// Has events when it, or another number of its page, may have been woken. To be watched edge-triggered and never
    /// to be read.
    pub fn fd(&self) -> BorrowedFd<'static> {
        self.page.notifier.fd()
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        if self.made == Moment::now() {
            ARENA.lock().unwrap_or_else(PoisonError::into_inner).free.push((self.page, self.index));
        }
    }
}

impl Page {
    fn place(&self, index: usize) -> &PageCell {
        self.region.at(index * size_of::<PageCell>())
    }
}

impl Arena {
    fn give_out(&mut self) -> io::Result<(&'static Page, usize)> {
        if let Some(cell) = self.free.pop() {
            return Ok(cell);
        }
        let page = match self.page {
            Some(page) if self.next < CELLS => page,
            _ => {
                let page = Page { region: Region::new(CELLS * size_of::<PageCell>())?, notifier: Notifier::new()? };
                let page: &'static Page = Box::leak(Box::new(page));
                (self.page, self.next) = (Some(page), 0);
                page
            }
        };
        self.next += 1;
        Ok((page, self.next - 1))
    }
}
