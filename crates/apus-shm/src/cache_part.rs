//! One partition of a cache: a ring of entries with a hash index into it.
//!
//! Entries are appended at the head; room is made at the tail. An entry there that was read since it was written is
//! appended again, its mark cleared: CLOCK over the order of arrival. That is chosen before an exact order of use
//! because a read then writes nothing but a mark, and that once, so hot keys are read by many processes at once without
//! a lock and without a line of memory that wanders between processors; what is read once and never again leaves first;
//! and a ring has no holes, so every byte serves for values of any length.
//!
//! Writers hold the mutex, and make the sequence count odd while they write. Readers hold nothing: they read while it
//! is even, bounds-checked, and look at it again. A writer that is killed leaves a ring nobody can trust: who gets the
//! mutex next empties it. A cache may forget.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, fence};

use crate::region::{Region, Shared};
use crate::robust::{Guard, RobustMutex};

/// Bytes of an entry before its key.
const HEADER: usize = 40;
const WORD: usize = 8;
/// Bytes of the ring for each bucket of the index, and for each mark of a read.
const BUCKET_SPAN: usize = 128;
const MARK_SPAN: usize = 64;
/// Entries that one change appends again at most; then marks are ignored, so that a change takes bounded time.
const CHANCES: u32 = 64;
/// Reads attempted without the mutex.
const TRIES: u32 = 16;
/// Entries of one bucket that a reader without the mutex looks at: what it sees may be a circle.
const STEPS: u32 = 1000;
/// Producers of values at a time, see `cache_make.rs`.
pub(crate) const PRODUCERS: usize = 64;

const PAD: u64 = 0;
const BYTES: u64 = 1;
const INT: u64 = 2;
const DEAD: u64 = 3;

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored<'a> {
    /// An integer, which can be added to.
    Int(i64),
    /// Any bytes.
    Bytes(&'a [u8]),
}

/// What was found; bytes were appended to the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// An integer.
    Int(i64),
    /// Bytes.
    Bytes,
}

#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Head {
    mutex: RobustMutex,
    sequence: AtomicU64,
    /// Bytes ever appended, and ever given up again: both only grow, the place is the rest by the ring's size.
    appended: AtomicU64,
    given_up: AtomicU64,
    pub(crate) entries: AtomicU64,
    pub(crate) used: AtomicU64,
    pub(crate) evicted: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) emptied: AtomicU64,
}

// SAFETY: atomics and a mutex of the C library; zero is valid, and the mutex is initialised before its first use.
unsafe impl Shared for Head {}

#[cfg(test)]
impl Head {
    pub(crate) fn sequence_for_test(&self) -> &AtomicU64 {
        &self.sequence
    }
}

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Producer {
    pub(crate) hash: AtomicU64,
    /// The token of the process that makes the value; 0: nobody.
    pub(crate) owner: AtomicU64,
}

// SAFETY: atomics only; zero is valid.
unsafe impl Shared for Producer {}

/// Where the parts of a partition lie, from its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    buckets: usize,
    /// Offsets of the producers, the index, the marks and the ring.
    producers_at: usize,
    buckets_at: usize,
    marks_at: usize,
    ring_at: usize,
    /// Bytes of the ring, a multiple of 64.
    pub(crate) ring: usize,
    pub(crate) whole: usize,
}

impl Layout {
    /// A partition whose ring has about `ring` bytes.
    pub(crate) fn new(ring: usize) -> Self {
        let ring = ring.next_multiple_of(MARK_SPAN);
        let buckets = (ring / BUCKET_SPAN).max(1).next_power_of_two();
        let producers_at = size_of::<Head>();
        let buckets_at = producers_at + PRODUCERS * size_of::<Producer>();
        let marks_at = (buckets_at + buckets * size_of::<AtomicU32>()).next_multiple_of(64);
        let ring_at = (marks_at + ring / MARK_SPAN).next_multiple_of(64);
        Self {
            buckets,
            producers_at,
            buckets_at,
            marks_at,
            ring_at,
            ring,
            whole: (ring_at + ring).next_multiple_of(4096),
        }
    }
}

/// A partition of a region.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) region: &'a Region,
    pub(crate) base: usize,
    pub(crate) layout: Layout,
}

/// An entry's place in the ring, and what points to it.
#[derive(Clone, Copy)]
struct Hit {
    place: usize,
    before: Option<usize>,
}

/// An entry's first words.
#[derive(Clone, Copy)]
struct Entry {
    kind: u64,
    size: usize,
    hash: u64,
    next: u32,
    key: usize,
    value: usize,
    expires: u64,
}

impl Entry {
    fn is_over(&self, now: u64) -> bool {
        self.expires != 0 && self.expires <= now
    }

    fn value_at(&self) -> usize {
        HEADER + self.key.next_multiple_of(WORD)
    }
}

/// While this lives, readers know that the partition changes.
struct Change<'a>(&'a AtomicU64);

impl<'a> Change<'a> {
    fn begin(head: &'a Head) -> Self {
        head.sequence.store(head.sequence.load(Relaxed) | 1, Relaxed);
        fence(Release);
        Self(&head.sequence)
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.store((self.0.load(Relaxed) | 1).wrapping_add(1), Release);
    }
}

impl Part<'_> {
    pub(crate) fn head(&self) -> &Head {
        self.region.at(self.base)
    }

    pub(crate) fn init(&self) -> std::io::Result<()> {
        self.head().mutex.init()
    }

    pub(crate) fn producers(&self) -> &[Producer] {
        self.region.slice(self.base + self.layout.producers_at, PRODUCERS)
    }

    fn buckets(&self) -> &[AtomicU32] {
        self.region.slice(self.base + self.layout.buckets_at, self.layout.buckets)
    }

    fn mark(&self, place: usize) -> &AtomicU8 {
        self.region.at(self.base + self.layout.marks_at + place / MARK_SPAN)
    }

    fn word(&self, place: usize) -> &AtomicU64 {
        self.region.at(self.base + self.layout.ring_at + place)
    }

    /// Takes the mutex; a partition whose writer was killed is emptied first.
    pub(crate) fn lock(&self) -> Guard<'_> {
        self.head().mutex.lock(|| {
            self.head().emptied.fetch_add(1, Relaxed);
            self.empty();
        })
    }

    /// Forgets everything. Under the mutex; to be begun anew at any point.
    pub(crate) fn empty(&self) {
        let head = self.head();
        let _change = Change::begin(head);
        for bucket in self.buckets() {
            bucket.store(0, Relaxed);
        }
        for word in [&head.appended, &head.given_up, &head.entries, &head.used] {
            word.store(0, Relaxed);
        }
        self.region.release(self.base + self.layout.ring_at, self.layout.ring);
    }

    /// The entry at a place. `None`: what lies there cannot be one, which a reader without the mutex may see.
    fn entry(&self, place: usize) -> Option<Entry> {
        if !place.is_multiple_of(WORD) || place + HEADER > self.layout.ring {
            return None;
        }
        let load = |at: usize| self.word(place + at).load(Relaxed);
        let (first, links) = (load(0), load(16));
        let entry = Entry {
            kind: first >> 32,
            size: (first as u32 as usize) * WORD,
            hash: load(8),
            next: links as u32,
            key: (links >> 32) as usize,
            value: load(24) as usize,
            expires: load(32),
        };
        let inside = entry.key <= entry.size && entry.value <= entry.size && place + entry.size <= self.layout.ring;
        (inside && entry.value_at() + entry.value <= entry.size).then_some(entry)
    }

    fn has_key(&self, place: usize, key: &[u8]) -> bool {
        key.chunks(WORD).enumerate().all(|(number, chunk)| {
            let mut whole = [0; WORD];
            whole[..chunk.len()].copy_from_slice(chunk);
            self.word(place + HEADER + number * WORD).load(Relaxed) == u64::from_le_bytes(whole)
        })
    }

    fn bucket(&self, hash: u64) -> &AtomicU32 {
        &self.buckets()[hash as usize & (self.layout.buckets - 1)]
    }

    /// `Err`: what was read makes no sense, so that something changed meanwhile.
    fn find(&self, hash: u64, key: &[u8]) -> Result<Option<(Hit, Entry)>, ()> {
        let mut link = self.bucket(hash).load(Relaxed);
        let mut before = None;
        for _ in 0..STEPS {
            let Some(number) = link.checked_sub(1) else { return Ok(None) };
            let place = number as usize * WORD;
            let entry = self.entry(place).ok_or(())?;
            if entry.hash == hash && entry.key == key.len() && self.has_key(place, key) {
                return Ok(Some((Hit { place, before }, entry)));
            }
            before = Some(place);
            link = entry.next;
        }
        Err(())
    }

    /// The same under the mutex. A bucket with more than `STEPS` entries is none that chance makes: what lies beyond is
    /// not found.
    fn find_held(&self, hash: u64, key: &[u8]) -> Option<(Hit, Entry)> {
        self.find(hash, key).ok().flatten()
    }

    /// Reads an entry that has not run out; bytes are appended to `into`, if there is such.
    pub(crate) fn get(&self, hash: u64, key: &[u8], now: u64, mut into: Option<&mut Vec<u8>>) -> Option<Found> {
        let begin = into.as_ref().map_or(0, |into| into.len());
        let sequence = &self.head().sequence;
        for _ in 0..TRIES {
            let seen = sequence.load(Acquire);
            if seen & 1 == 0 {
                let unchanged = || {
                    fence(Acquire);
                    sequence.load(Relaxed) == seen
                };
                let read = self.read(hash, key, now, into.as_deref_mut(), unchanged);
                if unchanged()
                    && let Ok(found) = read
                {
                    return found;
                }
                if let Some(into) = &mut into {
                    into.truncate(begin);
                }
            }
            std::hint::spin_loop();
        }
        let _held = self.lock();
        self.read(hash, key, now, into, || true).ok().flatten()
    }

    fn read(
        &self,
        hash: u64,
        key: &[u8],
        now: u64,
        into: Option<&mut Vec<u8>>,
        unchanged: impl Fn() -> bool,
    ) -> Result<Option<Found>, ()> {
        let Some((hit, entry)) = self.find(hash, key)? else { return Ok(None) };
        // Before memory is taken for a length that may be none.
        if !unchanged() || (entry.kind == INT && entry.value != WORD) {
            return Err(());
        }
        if entry.is_over(now) {
            return Ok(None);
        }
        // A mark too much, when the place was given to another entry meanwhile, is a second chance too much and no
        // harm.
        if self.mark(hit.place).load(Relaxed) == 0 {
            self.mark(hit.place).store(1, Relaxed);
        }
        let at = hit.place + entry.value_at();
        if entry.kind == INT {
            return Ok(Some(Found::Int(self.word(at).load(Relaxed) as i64)));
        }
        if let Some(into) = into {
            self.region.copy_out(self.base + self.layout.ring_at + at, entry.value, into);
        }
        Ok(Some(Found::Bytes))
    }

    /// Writes an entry in place of one of the same key. Under the mutex. False: with `only_new`, there is one already.
    pub(crate) fn put(&self, hash: u64, key: &[u8], value: Stored<'_>, expires: u64, now: u64, only_new: bool) -> bool {
        let old = self.find_held(hash, key);
        if only_new && old.is_some_and(|(_, entry)| !entry.is_over(now)) {
            return false;
        }
        let _change = Change::begin(self.head());
        if let Some((hit, entry)) = old {
            self.bury(hit, &entry);
        }
        let len = match value {
            Stored::Int(_) => WORD,
            Stored::Bytes(bytes) => bytes.len(),
        };
        let size = Self::size_of(key.len(), len);
        let place = self.make_room(size, now);
        let at = self.base + self.layout.ring_at + place;
        let kind = if matches!(value, Stored::Int(_)) { INT } else { BYTES };
        let words = [kind << 32 | (size / WORD) as u64, hash, (key.len() as u64) << 32, len as u64, expires];
        for (number, word) in words.into_iter().enumerate() {
            self.word(place + number * WORD).store(word, Relaxed);
        }
        self.region.copy_in(at + HEADER, key);
        let value_at = HEADER + key.len().next_multiple_of(WORD);
        match value {
            Stored::Int(value) => self.word(place + value_at).store(value as u64, Relaxed),
            Stored::Bytes(bytes) => self.region.copy_in(at + value_at, bytes),
        }
        self.enter(place, hash, size);
        true
    }

    /// Bytes of an entry.
    pub(crate) fn size_of(key: usize, value: usize) -> usize {
        HEADER + key.next_multiple_of(WORD) + value.next_multiple_of(WORD)
    }

    /// Puts the entry that lies at the head into the index.
    fn enter(&self, place: usize, hash: u64, size: usize) {
        let bucket = self.bucket(hash);
        let links = self.word(place + 16);
        links.store(links.load(Relaxed) & !0xffff_ffff | u64::from(bucket.load(Relaxed)), Relaxed);
        self.mark(place).store(0, Relaxed);
        bucket.store((place / WORD) as u32 + 1, Relaxed);
        let head = self.head();
        add(&head.appended, size as u64);
        add(&head.entries, 1);
        add(&head.used, size as u64);
    }

    /// Takes an entry out of the index.
    fn unlink(&self, hit: Hit, entry: &Entry) {
        match hit.before {
            None => self.bucket(entry.hash).store(entry.next, Relaxed),
            Some(before) => {
                let links = self.word(before + 16);
                links.store(links.load(Relaxed) & !0xffff_ffff | u64::from(entry.next), Relaxed);
            }
        }
        let head = self.head();
        sub(&head.entries, 1);
        sub(&head.used, entry.size as u64);
    }

    fn bury(&self, hit: Hit, entry: &Entry) {
        self.unlink(hit, entry);
        self.word(hit.place).store(DEAD << 32 | (entry.size / WORD) as u64, Relaxed);
    }

    /// What lies before an entry in its bucket.
    fn hit_of(&self, place: usize, entry: &Entry) -> Option<Hit> {
        let mut link = self.bucket(entry.hash).load(Relaxed);
        let mut before = None;
        while let Some(number) = link.checked_sub(1) {
            let at = number as usize * WORD;
            if at == place {
                return Some(Hit { place, before });
            }
            before = Some(at);
            link = self.word(at + 16).load(Relaxed) as u32;
        }
        None
    }

    /// What appending `size` bytes takes: they lie in one piece.
    fn cost(&self, size: usize) -> (usize, usize) {
        let ring = self.layout.ring;
        let place = (self.head().appended.load(Relaxed) % ring as u64) as usize;
        let skipped = if ring - place < size { ring - place } else { 0 };
        (place, skipped)
    }

    fn free(&self) -> usize {
        let head = self.head();
        self.layout.ring - (head.appended.load(Relaxed) - head.given_up.load(Relaxed)) as usize
    }

    /// Makes room at the head, and says where. `size` is at most half of the ring.
    fn make_room(&self, size: usize, now: u64) -> usize {
        let mut chances = CHANCES;
        loop {
            let (place, skipped) = self.cost(size);
            if self.free() >= size + skipped {
                return self.skip(place, skipped);
            }
            self.give_up_oldest(now, &mut chances);
        }
    }

    /// Leaves the rest of the ring unused, where an entry does not fit into it.
    fn skip(&self, place: usize, skipped: usize) -> usize {
        if skipped == 0 {
            return place;
        }
        self.word(place).store(PAD << 32 | (skipped / WORD) as u64, Relaxed);
        add(&self.head().appended, skipped as u64);
        0
    }

    fn give_up_oldest(&self, now: u64, chances: &mut u32) {
        let head = self.head();
        let place = (head.given_up.load(Relaxed) % self.layout.ring as u64) as usize;
        let first = self.word(place).load(Relaxed);
        let size = (first as u32 as usize) * WORD;
        add(&head.given_up, size as u64);
        if first >> 32 == PAD || first >> 32 == DEAD {
            return;
        }
        let Some(entry) = self.entry(place) else { return };
        let Some(hit) = self.hit_of(place, &entry) else { return };
        self.unlink(hit, &entry);
        if entry.is_over(now) {
            add(&head.expired, 1);
            return;
        }
        let (to, skipped) = self.cost(size);
        let again = *chances > 0 && self.mark(place).load(Relaxed) != 0 && self.free() >= size + skipped;
        if !again {
            add(&head.evicted, 1);
            return;
        }
        *chances -= 1;
        // The two may overlap, the new place then lies before the old one: words are moved from the first on.
        let to = self.skip(to, skipped);
        for at in (0..size).step_by(WORD) {
            self.word(to + at).store(self.word(place + at).load(Relaxed), Relaxed);
        }
        self.enter(to, entry.hash, size);
    }

    /// Removes an entry. Under the mutex. False: there was none.
    pub(crate) fn remove(&self, hash: u64, key: &[u8], now: u64) -> bool {
        let Some((hit, entry)) = self.find_held(hash, key) else { return false };
        let _change = Change::begin(self.head());
        self.bury(hit, &entry);
        !entry.is_over(now)
    }

    /// Gives an entry another end. Under the mutex. False: there is none.
    pub(crate) fn touch(&self, hash: u64, key: &[u8], expires: u64, now: u64) -> bool {
        let Some((hit, _)) = self.find_held(hash, key).filter(|(_, entry)| !entry.is_over(now)) else { return false };
        self.word(hit.place + 32).store(expires, Relaxed);
        self.mark(hit.place).store(1, Relaxed);
        true
    }

    /// The integer of a key, and where it lies. Under the mutex. `Err`: what is there is no integer.
    pub(crate) fn number(&self, hash: u64, key: &[u8], now: u64) -> Result<Option<(i64, usize)>, ()> {
        let Some((hit, entry)) = self.find_held(hash, key).filter(|(_, entry)| !entry.is_over(now)) else {
            return Ok(None);
        };
        if entry.kind != INT {
            return Err(());
        }
        let at = hit.place + entry.value_at();
        self.mark(hit.place).store(1, Relaxed);
        Ok(Some((self.word(at).load(Relaxed) as i64, at)))
    }

    /// Overwrites an integer where [`number`](Self::number) said. One word: readers see the old one or the new one.
    pub(crate) fn set_number(&self, at: usize, value: i64) {
        self.word(at).store(value as u64, Relaxed);
    }
}

fn add(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(by), Relaxed);
}

fn sub(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Relaxed).wrapping_sub(by), Relaxed);
}
