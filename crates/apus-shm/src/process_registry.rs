//! Which processes live: how they know of each other's death without trusting process ids.
//!
//! Each process that needs it has an *entry*: a robust mutex in shared memory that it takes once and never releases.
//! The kernel opens that at the moment of its death, whatever killed it; so whoever can take an entry's mutex knows for
//! certain that its process is dead. Entries are used again, each time under a new generation, and what a process
//! writes anywhere is its [`ProcessToken`], made of both: the token of a dead process is never taken for its
//! successor's.
//!
//! All processes that share something share the table of entries: it was mapped before the first thing that they share
//! was made, by the same process or by one that this descends from. One entry a process, not one for each thing: at a
//! death the kernel looks through 2,048 held mutexes and no more.
//!
//! Entries are begun, and looked at, under one short mutex, so nobody sees one between its taking and its new
//! generation. A process that is killed between the two leaves an open mutex under the old generation, which is dead
//! under that, too.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use crate::region::{Region, Shared};
use crate::robust::RobustMutex;

/// Processes that have an entry at a time. An entry takes memory when it is first used.
pub(crate) const MAX_PROCESSES: usize = 8192;

/// How often this process has forked.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// How many forks lie between the process that first asked and this one.
static LINE: AtomicU64 = AtomicU64::new(0);

extern "C" fn forked() {
    FORKS.fetch_add(1, Relaxed);
}

extern "C" fn born() {
    LINE.fetch_add(1, Relaxed);
}

/// What a process can compare to know whether it is still the one that it was, and whether it has forked since. Of two
/// processes that have the same value in their own memory neither descends from the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Changes in a child.
    pub(crate) line: u64,
    /// Changes in a parent.
    pub(crate) forks: u64,
}

impl Moment {
    pub(crate) fn now() -> Self {
        static COUNTED: Once = Once::new();
        // SAFETY: the functions take nothing, and do what is safe after a fork: they add to an atomic.
        COUNTED.call_once(|| _ = unsafe { libc::pthread_atfork(None, Some(forked), Some(born)) });
        Self { line: LINE.load(Relaxed), forks: FORKS.load(Relaxed) }
    }
}

/// The process that something belongs to: a process that is forked off it later has what belongs to its parent in its
/// memory, too, and knows it by this. Process ids would do as well, but are a system call each, and are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkEpoch(u64);

impl ForkEpoch {
    /// The calling process.
    pub fn now() -> Self {
        Self(Moment::now().line)
    }

    /// Whether this is still the calling process.
    pub fn is_now(self) -> bool {
        self == Self::now()
    }
}

/// Names a process: generation above, place plus 1 below. Never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessToken(u64);

impl ProcessToken {
    fn new(generation: u32, index: usize) -> Self {
        Self(u64::from(generation) << 32 | (index as u64 + 1))
    }

    /// What [`word`](Self::word) gave; `None` for 0.
    pub(crate) fn of(word: u64) -> Option<Self> {
        (word as u32 != 0).then_some(Self(word))
    }

    pub(crate) fn word(self) -> u64 {
        self.0
    }

    /// Its place in the table, below [`MAX_PROCESSES`].
    pub(crate) fn index(self) -> usize {
        (self.0 as u32 as usize - 1).min(MAX_PROCESSES - 1)
    }

    pub(crate) fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Entry {
    alive: RobustMutex,
    generation: AtomicU32,
    pid: AtomicU32,
}

// SAFETY: atomics and a mutex of the C library; zero is valid, and the mutex is initialised before its first use.
unsafe impl Shared for Entry {}

#[derive(Debug)]
#[repr(C)]
struct Head {
    mutex: RobustMutex,
    /// Entries whose mutex was initialised.
    begun: AtomicU32,
}

// SAFETY: as above.
unsafe impl Shared for Head {}

/// The entries of the processes that share anything.
#[derive(Debug)]
pub(crate) struct ProcessRegistry(Region);

/// This process's token, and the fork epoch that it is of.
static ME: Mutex<Option<(u64, ProcessToken)>> = Mutex::new(None);

impl ProcessRegistry {
    /// The table of this process: the one that it inherited, or a new one.
    pub(crate) fn table() -> io::Result<&'static Self> {
        static TABLE: OnceLock<ProcessRegistry> = OnceLock::new();
        if let Some(table) = TABLE.get() {
            return Ok(table);
        }
        let table = Self(Region::new(size_of::<Head>().next_multiple_of(64) + MAX_PROCESSES * size_of::<Entry>())?);
        table.head().mutex.init()?;
        Ok(TABLE.get_or_init(|| table))
    }

    /// This process's token, if it has begun an entry.
    pub(crate) fn existing_me() -> Option<ProcessToken> {
        let me = ME.lock().unwrap_or_else(PoisonError::into_inner);
        me.filter(|(line, _)| *line == Moment::now().line).map(|(_, id)| id)
    }

    /// This process's token. `None`: there are [`MAX_PROCESSES`] already.
    pub(crate) fn me(&self) -> Option<ProcessToken> {
        if let Some(me) = Self::existing_me() {
            return Some(me);
        }
        let id = self.begin()?;
        *ME.lock().unwrap_or_else(PoisonError::into_inner) = Some((Moment::now().line, id));
        Some(id)
    }

    fn begin(&self) -> Option<ProcessToken> {
        let _held = self.head().mutex.lock(|| ());
        let begun = self.begun();
        let dead = (0..begun).find_map(|index| self.entry(index).alive.try_lock(|| ()).map(|alive| (index, alive)));
        let (index, alive) = match dead {
            Some(found) => found,
            None if begun < MAX_PROCESSES => {
                // Killed before it is counted, this is done once more, with a mutex that nobody has seen.
                self.entry(begun).alive.init().ok()?;
                self.head().begun.store(begun as u32 + 1, Relaxed);
                (begun, self.entry(begun).alive.lock(|| ()))
            }
            None => return None,
        };
        // Given back by nobody but the kernel.
        std::mem::forget(alive);
        let entry = self.entry(index);
        let generation = entry.generation.load(Relaxed).wrapping_add(1);
        entry.pid.store(std::process::id(), Relaxed);
        entry.generation.store(generation, Relaxed);
        Some(ProcessToken::new(generation, index))
    }

    /// How many places of the table are in use, or were.
    pub(crate) fn begun(&self) -> usize {
        (self.head().begun.load(Relaxed) as usize).min(MAX_PROCESSES)
    }

    /// The process of a token, if that has not died.
    pub(crate) fn living(&self, id: ProcessToken) -> Option<u32> {
        let _held = self.head().mutex.lock(|| ());
        let entry = self.entry(id.index());
        let lives = id.index() < self.begun()
            && entry.generation.load(Relaxed) == id.generation()
            && (Self::existing_me() == Some(id) || entry.alive.try_lock(|| ()).is_none());
        lives.then(|| entry.pid.load(Relaxed))
    }

    fn head(&self) -> &Head {
        self.0.at(0)
    }

    fn entry(&self, index: usize) -> &Entry {
        self.0.at(size_of::<Head>().next_multiple_of(64) + index * size_of::<Entry>())
    }
}
