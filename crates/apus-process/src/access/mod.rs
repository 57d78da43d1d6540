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
    /// The number of the host that the request was for, from 1 on; 0 for none of them.
    pub host: u16,
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
        fixed[28..30].copy_from_slice(&self.host.to_ne_bytes());
        fixed
    }

    /// The record and its worker; `None` for one that nobody has written.
    fn read(record: &[u8]) -> Option<(Access<'_>, u16)> {
        let (fixed, noted) = record.split_at_checked(FIXED)?;
        let word = |at: usize| Some(u64::from_ne_bytes(fixed.get(at..at + 8)?.try_into().ok()?));
        let half = |at: usize| Some(u16::from_ne_bytes(fixed.get(at..at + 2)?.try_into().ok()?));
        let received_at = f64::from_bits(word(0)?);
        let (micros, sent) = (word(8)?, word(16)?);
        Some((Access { received_at, micros, sent, status: half(24)?, host: half(28)?, noted }, half(26)?))
    }
}

/// The settings of one access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSettings {
    /// `access_log`.
    pub path: String,
    /// `access_log_format`.
    pub format: String,
    /// `access_log_sample`.
    pub sample: u32,
}

impl From<&Settings> for AccessSettings {
    fn from(settings: &Settings) -> Self {
        let Settings { access_log, access_log_format, access_log_sample, .. } = settings;
        Self { path: access_log.clone(), format: access_log_format.clone(), sample: *access_log_sample }
    }
}

/// Whether lines can be written as they are wanted.
pub(crate) fn check(settings: &AccessSettings) -> Result<(), Error> {
    Log::new(settings).map(drop)
}

/// Whether `access_log` names a file.
pub(crate) fn is_file(name: &str) -> bool {
    !name.is_empty() && name != file::STDOUT
}

/// What is written of the answers of some hosts.
#[derive(Debug)]
struct Log {
    path: String,
    format: Format,
    one_in: u64,
}

impl Log {
    /// Also of a format that nothing is written in, so that it is found to be wrong before it is needed.
    fn new(settings: &AccessSettings) -> Result<Self, Error> {
        let format = Format::parse(&settings.format)
            .map_err(|reason| Error::Setting { setting: "access_log_format", reason })?;
        Ok(Self { path: settings.path.clone(), format, one_in: u64::from(settings.sample.max(1)) })
    }
}

/// The rings of all workers, and what is written of their records.
#[derive(Debug)]
pub(crate) struct AccessRings {
    ends: &'static [Ends],
    words: &'static [AtomicU64],
    bell: OwnedFd,
    /// The server's, then what hosts have on their own.
    logs: Vec<Log>,
    /// The place among them of each host's log by the host's number; 0 is the server.
    by_host: Vec<usize>,
}

impl AccessRings {
    /// Maps them where the settings of the server, or those of its hosts, say so.
    pub(crate) fn open(
        settings: &Settings,
        of_hosts: &[AccessSettings],
        slots: usize,
    ) -> Result<Option<&'static Self>, Error> {
        let mut wanted = vec![AccessSettings::from(settings)];
        let mut by_host = vec![0];
        for of_host in of_hosts {
            by_host.push(wanted.iter().position(|known| known == of_host).unwrap_or(wanted.len()));
            if by_host.last() == Some(&wanted.len()) {
                wanted.push(of_host.clone());
            }
        }
        let logs = wanted.iter().map(Log::new).collect::<Result<Vec<_>, _>>()?;
        if logs.iter().all(|log| log.path.is_empty()) {
            return Ok(None);
        }
        let map = || -> io::Result<(&'static [Ends], &'static [AtomicU64], OwnedFd)> {
            Ok((shm::map(slots)?, shm::map(slots * (RING / 8))?, sys::eventfd()?))
        };
        let (ends, words, bell) = map().map_err(Error::Rings)?;
        Ok(Some(Box::leak(Box::new(Self { ends, words, bell, logs, by_host }))))
    }

    fn ring(&'static self, slot: usize) -> Option<Ring> {
        let words = self.words.get(slot * (RING / 8)..(slot + 1) * (RING / 8))?;
        Some(Ring::new(self.ends.get(slot)?, words))
    }

    /// The place of a host's log.
    #[inline]
    fn place(&self, host: u16) -> usize {
        self.by_host.get(usize::from(host)).copied().unwrap_or(0)
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
    /// Answers until the next one that is written to each log.
    skip: Vec<Cell<u64>>,
}

impl AccessWriter {
    pub(crate) fn new(rings: &'static AccessRings, slot: usize) -> Option<Self> {
        let ring = rings.ring(slot)?;
        let skip = rings.logs.iter().map(|_| Cell::new(0)).collect();
        Some(Self { rings, ring, seen_head: Cell::new(0), unheard: Cell::new(0), skip })
    }

    /// The names of the header fields that are logged of a host's answers, in lower case, and whether the trace is.
    /// `None`: they are not logged.
    pub(crate) fn wants(&self, host: u16) -> Option<(&'static [String], bool)> {
        let log = self.rings.logs.get(self.rings.place(host)).filter(|log| !log.path.is_empty())?;
        Some((&log.format.headers, log.format.wants_trace()))
    }

    /// Logs an answer, if it is one of those that are. False when there was no room.
    #[inline]
    pub(crate) fn put(&self, access: &Access<'_>, worker: u16) -> bool {
        let place = self.rings.place(access.host);
        let (Some(log), Some(skip)) = (self.rings.logs.get(place), self.skip.get(place)) else { return true };
        if log.path.is_empty() {
            return true;
        }
        // Failures of the server's own are always of interest.
        if log.one_in > 1 && access.status < 500 {
            let left = skip.get();
            skip.set(if left == 0 { log.one_in - 1 } else { left - 1 });
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

/// A file, or standard output, and the lines that it gets next.
#[derive(Debug)]
struct Destination {
    target: Target,
    lines: Vec<u8>,
}

/// The master's end.
#[derive(Debug)]
pub(crate) struct AccessLog {
    rings: &'static AccessRings,
    targets: Vec<Destination>,
    /// The place of each log's target; `None` for one that is not written.
    by_log: Vec<Option<usize>>,
    /// What was known to be dropped.
    dropped: u64,
}

impl AccessLog {
    /// Opens what is written to.
    pub(crate) fn open(rings: &'static AccessRings, settings: &Settings) -> Result<Self, Error> {
        let (mut targets, mut paths, mut by_log) = (Vec::new(), Vec::new(), Vec::new());
        for log in &rings.logs {
            let path = Some(log.path.as_str()).filter(|path| !path.is_empty());
            // Two logs with one file take turns in it.
            let known = path.and_then(|path| paths.iter().position(|known| *known == path));
            if let (Some(path), None) = (path, known) {
                targets.push(Destination { target: Target::open(path, settings)?, lines: Vec::new() });
                paths.push(path);
            }
            by_log.push(path.and(known.or(targets.len().checked_sub(1))));
        }
        Ok(Self { rings, targets, by_log, dropped: 0 })
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
            if !self.targets.iter_mut().all(|one| one.target.is_ready()) {
                return;
            }
            let (rings, targets, by_log) = (self.rings, &mut self.targets, &self.by_log);
            let mut budget = BATCH;
            let drained = ring.drain(TAG.life, &mut budget, &mut |_, record| {
                let Some((access, worker)) = Access::read(record) else { return };
                let place = rings.place(access.host);
                let target = by_log.get(place).copied().flatten().and_then(|at| targets.get_mut(at));
                if let (Some(log), Some(target)) = (rings.logs.get(place), target) {
                    log.format.write(&access, worker, &mut target.lines);
                }
            });
            for one in &mut self.targets {
                one.target.write(&one.lines);
                one.lines.clear();
            }
            if !drained.is_ok_and(|drained| drained.more) {
                return;
            }
        }
    }

    /// Opens the files anew: somebody has renamed them.
    pub(crate) fn reopen(&mut self) {
        self.targets.iter_mut().for_each(|one| one.target.reopen());
    }
}
