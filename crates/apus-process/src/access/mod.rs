//! The access log: a line for each answer, written by the master alone.
//!
//! A worker puts a record into a ring of its own and never waits: what finds no room is dropped, and counted. The
//! master takes the records a few times a second, or when a worker rings because much waits, makes lines of them and
//! writes those. A worker that is killed leaves its records in the ring, and the master takes them, too.

mod file;
mod format;

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use apus_options::Settings;
use apus_shm as shm;

use self::file::Target;
use self::format::Format;
use crate::error::Error;
use crate::log::{Level, Repeats};
use crate::ring::{Ends, Ring, Tag};
use crate::scoreboard::Scoreboard;
use crate::sys;

/// Bytes of a worker's ring: some thousand lines. Its memory is taken as it is used.
const RING: usize = 1 << 20;
/// Bytes put into a ring after which the master is rung for, without waiting for its turn.
const MUCH: usize = RING / 4;
/// Bytes of records that are taken from one ring at a time.
const BATCH: usize = 64 * 1024;
/// How often the rings are looked at.
pub(crate) const PERIOD: Duration = Duration::from_millis(200);
/// A ring has one writer and one reader at a time, and outlives both.
const TAG: Tag = Tag { kind: 0, life: 0 };

/// Too many answers for who writes them down.
static DROPPED: Repeats = Repeats::new(Level::Warning, "times lines of the access log were dropped").once_a_second();

/// An answer, to be logged.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// When the request's head was complete: seconds since 1970.
    pub received_at: f64,
    /// How long the answer took, in microseconds.
    pub micros: u64,
    /// Bytes of the answer's body.
    pub sent: u64,
    /// The status code.
    pub status: u16,
    /// What was noted of the request: the protocol (10, 11, 20), whether it came over TLS, the client's port, and
    /// texts, each behind its length in two bytes; 0xffff for none. They are the client's address, the method, the
    /// target, the host, the trace, and the fields that [`Worker::logged_fields`](crate::Worker::logged_fields) names.
    pub noted: &'a [u8],
}

const FIXED: usize = 30;

impl Access<'_> {
    fn fixed(&self, worker: u16) -> [u8; FIXED] {
        let mut fixed = [0; FIXED];
        fixed[..8].copy_from_slice(&self.received_at.to_ne_bytes());
        fixed[8..16].copy_from_slice(&self.micros.to_ne_bytes());
        fixed[16..24].copy_from_slice(&self.sent.to_ne_bytes());
        fixed[24..26].copy_from_slice(&self.status.to_ne_bytes());
        fixed[26..28].copy_from_slice(&worker.to_ne_bytes());
        fixed
    }

    /// The record and its worker; `None` for one that nobody has written.
    fn read(record: &[u8]) -> Option<(Access<'_>, u16)> {
        let (fixed, noted) = record.split_at_checked(FIXED)?;
        let word = |at: usize| Some(u64::from_ne_bytes(fixed.get(at..at + 8)?.try_into().ok()?));
        let half = |at: usize| Some(u16::from_ne_bytes(fixed.get(at..at + 2)?.try_into().ok()?));
        let received_at = f64::from_bits(word(0)?);
        Some((Access { received_at, micros: word(8)?, sent: word(16)?, status: half(24)?, noted }, half(26)?))
    }
}

/// The rings of all workers, and what is written of their records.
#[derive(Debug)]
pub(crate) struct AccessRings {
    ends: &'static [Ends],
    words: &'static [AtomicU64],
    bell: OwnedFd,
    format: Format,
    one_in: u64,
}

impl AccessRings {
    /// Maps them where the settings say so.
    pub(crate) fn open(settings: &Settings, slots: usize) -> Result<Option<&'static Self>, Error> {
        if settings.access_log.is_empty() {
            return Ok(None);
        }
        let format = Format::parse(&settings.access_log_format)
            .map_err(|reason| Error::Setting { setting: "access_log_format", reason })?;
        let map = || -> io::Result<(&'static [Ends], &'static [AtomicU64], OwnedFd)> {
            Ok((shm::map(slots)?, shm::map(slots * (RING / 8))?, sys::eventfd()?))
        };
        let (ends, words, bell) = map().map_err(Error::Rings)?;
        let one_in = u64::from(settings.access_log_sample.max(1));
        Ok(Some(Box::leak(Box::new(Self { ends, words, bell, format, one_in }))))
    }

    fn ring(&'static self, slot: usize) -> Option<Ring> {
        let words = self.words.get(slot * (RING / 8)..(slot + 1) * (RING / 8))?;
        Some(Ring::new(self.ends.get(slot)?, words))
    }
}

/// A worker's end.
#[derive(Debug)]
pub(crate) struct AccessWriter {
    rings: &'static AccessRings,
    ring: Ring,
    seen_head: Cell<u64>,
    /// Bytes put in since the master was rung for.
    unheard: Cell<usize>,
    /// Answers until the next one that is logged.
    skip: Cell<u64>,
}

impl AccessWriter {
    pub(crate) fn new(rings: &'static AccessRings, slot: usize) -> Option<Self> {
        let ring = rings.ring(slot)?;
        Some(Self { rings, ring, seen_head: Cell::new(0), unheard: Cell::new(0), skip: Cell::new(0) })
    }

    /// The names of the header fields that are logged, in lower case.
    pub(crate) fn fields(&self) -> &'static [String] {
        &self.rings.format.headers
    }

    /// Whether the trace is logged.
    pub(crate) fn wants_trace(&self) -> bool {
        self.rings.format.wants_trace()
    }

    /// Logs an answer, if it is one of those that are. False when there was no room.
    #[inline]
    pub(crate) fn put(&self, access: &Access<'_>, worker: u16) -> bool {
        // Failures of the server's own are always of interest.
        if self.rings.one_in > 1 && access.status < 500 {
            let left = self.skip.get();
            self.skip.set(if left == 0 { self.rings.one_in - 1 } else { left - 1 });
            if left > 0 {
                return true;
            }
        }
        let put = self.ring.push(&self.seen_head, TAG, &[&access.fixed(worker), access.noted]).is_ok();
        self.unheard.set(self.unheard.get() + FIXED + access.noted.len());
        if !put || self.unheard.get() >= MUCH {
            self.unheard.set(0);
            sys::ring(self.rings.bell.as_fd());
        }
        put
    }
}

/// The master's end.
#[derive(Debug)]
pub(crate) struct AccessLog {
    rings: &'static AccessRings,
    target: Target,
    line: Vec<u8>,
    /// What was known to be dropped.
    dropped: u64,
}

impl AccessLog {
    /// Opens what is written to.
    pub(crate) fn open(rings: &'static AccessRings, settings: &Settings) -> Result<Self, Error> {
        Ok(Self { rings, target: Target::open(settings)?, line: Vec::new(), dropped: 0 })
    }

    /// Readable when a worker has rung.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.rings.bell.as_fd()
    }

    /// Takes all records that stand in the rings now and writes them, as far as the target takes them.
    pub(crate) fn settle(&mut self, scoreboard: &Scoreboard) {
        sys::silence(self.rings.bell.as_fd());
        for slot in 0..scoreboard.slot_count() {
            self.take(slot);
        }
        let dropped = scoreboard.access_dropped();
        if dropped > self.dropped {
            let more = dropped - self.dropped;
            self.dropped = dropped;
            DROPPED.tell(format_args!(
                "{more} lines of the access log were dropped: they came faster than they are written"
            ));
        }
    }

    /// The same of one worker, also of one that is gone.
    pub(crate) fn take(&mut self, slot: usize) {
        let Some(ring) = self.rings.ring(slot).filter(|ring| !ring.is_new()) else { return };
        loop {
            // What the target does not take stays in the rings: there is no second place where it would pile up.
            if !self.target.is_ready() {
                return;
            }
            let (format, line) = (&self.rings.format, &mut self.line);
            let mut budget = BATCH;
            let drained = ring.drain(TAG.life, &mut budget, &mut |_, record| {
                if let Some((access, worker)) = Access::read(record) {
                    format.write(&access, worker, line);
                }
            });
            self.target.write(&self.line);
            self.line.clear();
            if !drained.is_ok_and(|drained| drained.more) {
                return;
            }
        }
    }

    /// Opens the file anew: somebody has renamed it.
    pub(crate) fn reopen(&mut self) {
        self.target.reopen();
    }
}
