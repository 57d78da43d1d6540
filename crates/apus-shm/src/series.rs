//! Numbers that processes share, found by labels: the series of one metric.
//!
//! # Why nothing is half-written, whoever is killed at whatever instruction
//!
//! A series belongs to a slot of an open-addressed table: its key (a hash of the labels, 0 for a free slot), its labels
//! as text, and its words. Series are made and never removed, and all that changes afterwards is words, each by one
//! atomic operation: finding and counting take no lock.
//!
//! A new series is made under a robust mutex: its labels are written into a free slot, and then its key, by one store.
//! Killed before that store, the maker leaves a free slot, whose text the next one writes over; after it the series is
//! whole. How many there are is counted beside it, and counted anew when the mutex was opened by a death.
//!
//! # Bounds
//!
//! There are at most as many series as was asked for, so memory is bounded whatever clients make labels of. What finds
//! no room is counted in one series more, whose labels are all [`OTHER`].

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::region::{Region, Shared};
use crate::robust::RobustMutex;

/// Series that one metric may have.
pub const SERIES_MOST: usize = 10_000;
/// Every label of the series that counts what found no room.
pub const OTHER: &str = "other";
/// Bytes of a label that are kept, a multiple of 8.
pub const LABEL_MOST: usize = 128;

const WORD: usize = 8;
/// Words of a label's place: its length, and its bytes.
const LABEL_WORDS: usize = 1 + LABEL_MOST / WORD;

#[derive(Debug)]
#[repr(C, align(64))]
struct Head {
    making: RobustMutex,
    /// Series made.
    made: AtomicU32,
    /// Whether somebody has found no room, and was told so.
    told: AtomicU32,
}

// SAFETY: atomics and a mutex of the C library, which is initialised before anybody else can see it.
unsafe impl Shared for Head {}

/// Where the words of some labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The slot.
    pub slot: usize,
    /// There was no room for these labels, for the first time, over all processes.
    pub is_first_without_room: bool,
}

impl Place {
    fn of(slot: usize) -> Self {
        Self { slot, is_first_without_room: false }
    }
}

/// The series of a metric. Made before the processes that share it are forked.
#[derive(Debug)]
pub struct Series {
    region: Region,
    hasher: RandomState,
    /// Labels of each series.
    labels: usize,
    /// Numbers of each series.
    words: usize,
    most: usize,
    /// Slots of the table: a power of two, at least twice as many as series.
    slots: usize,
    /// The slot of what finds no room.
    other: usize,
    /// Where the words and the texts begin.
    words_at: usize,
    texts_at: usize,
}

impl Series {
    /// At most `most` series (1 to [`SERIES_MOST`]) of `words` numbers, told apart by `labels` labels.
    pub fn new(labels: usize, words: usize, most: usize) -> io::Result<Self> {
        // Without labels there is one series; with them one more than is asked for.
        let most = if labels == 0 { 1 } else { most.clamp(1, SERIES_MOST) + 1 };
        let slots = (most * 2).next_power_of_two();
        let words_at = size_of::<Head>() + slots * WORD;
        let texts_at = words_at + slots * words * WORD;
        let region = Region::new(texts_at + slots * labels * LABEL_WORDS * WORD)?;
        region.at::<Head>(0).making.init()?;
        let hasher = RandomState::new();
        let mut series = Self { region, hasher, labels, words, most, slots, other: 0, words_at, texts_at };
        series.other = series.find_clean(&vec![OTHER.as_bytes(); labels]).slot;
        Ok(series)
    }

    fn head(&self) -> &Head {
        self.region.at(0)
    }

    fn keys(&self) -> &[AtomicU64] {
        self.region.slice(size_of::<Head>(), self.slots)
    }

    /// The words of a slot.
    #[inline]
    pub fn words(&self, slot: usize) -> &[AtomicU64] {
        self.region.slice(self.words_at + slot * self.words * WORD, self.words)
    }

    fn text_at(&self, slot: usize, label: usize) -> usize {
        self.texts_at + (slot * self.labels + label) * LABEL_WORDS * WORD
    }

    fn key(&self, labels: &[&[u8]]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for label in labels {
            hasher.write(label);
            hasher.write_u8(0xff);
        }
        hasher.finish().max(1)
    }

    /// The slot of some labels, or the free one where they would be.
    #[inline]
    fn look(&self, key: u64, labels: &[&[u8]]) -> Result<usize, usize> {
        let (keys, mask) = (self.keys(), self.slots - 1);
        let mut slot = key as usize & mask;
        loop {
            match keys[slot].load(Acquire) {
                0 => return Err(slot),
                found if found == key && self.is_of(slot, labels) => return Ok(slot),
                // At least half of the slots are free.
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn is_of(&self, slot: usize, labels: &[&[u8]]) -> bool {
        labels.iter().enumerate().all(|(at, label)| {
            let text: &[AtomicU64] = self.region.slice(self.text_at(slot, at), LABEL_WORDS);
            text[0].load(Relaxed) == label.len() as u64
                && label.chunks(WORD).zip(&text[1..]).all(|(chunk, word)| word.load(Relaxed) == padded(chunk))
        })
    }

    /// Where the series of these labels is; makes it where there is room. There must be as many labels as the metric
    /// has. Of a label [`LABEL_MOST`] bytes count, and what is not UTF-8 counts as U+FFFD.
    #[inline]
    pub fn find(&self, labels: &[&[u8]]) -> Place {
        debug_assert_eq!(labels.len(), self.labels, "of the caller");
        // Nothing is to be found.
        if labels.is_empty() {
            return Place::of(self.other);
        }
        match self.look(self.key(labels), labels) {
            Ok(slot) => Place::of(slot),
            Err(_) => self.find_clean(labels),
        }
    }

    /// The slot of these labels, if there is one.
    pub fn peek(&self, labels: &[&[u8]]) -> Option<usize> {
        let clean: Vec<_> = labels.iter().map(|label| clean(label)).collect();
        let clean: Vec<&[u8]> = clean.iter().map(|label| label.as_bytes()).collect();
        self.look(self.key(&clean), &clean).ok()
    }

    #[cold]
    fn find_clean(&self, labels: &[&[u8]]) -> Place {
        let clean: Vec<_> = labels.iter().map(|label| clean(label)).collect();
        let clean: Vec<&[u8]> = clean.iter().map(|label| label.as_bytes()).collect();
        let key = self.key(&clean);
        let found = self.look(key, &clean).ok().or_else(|| self.make(key, &clean));
        found.map_or_else(|| self.without_room(), Place::of)
    }

    fn without_room(&self) -> Place {
        let told = &self.head().told;
        // Read first: what many processes write is slow to read for all of them.
        let is_first_without_room = told.load(Relaxed) == 0 && told.swap(1, Relaxed) == 0;
        Place { slot: self.other, is_first_without_room }
    }

    fn make(&self, key: u64, labels: &[&[u8]]) -> Option<usize> {
        let made = &self.head().made;
        if made.load(Relaxed) as usize >= self.most {
            return None;
        }
        let _guard = self.head().making.lock(|| made.store(self.count(), Relaxed));
        // Another process may have made it meanwhile, or the last that there was room for.
        let slot = match self.look(key, labels) {
            Ok(slot) => return Some(slot),
            Err(_) if made.load(Relaxed) as usize >= self.most => return None,
            Err(slot) => slot,
        };
        for (at, label) in labels.iter().enumerate() {
            let place = self.text_at(slot, at);
            self.region.at::<AtomicU64>(place).store(label.len() as u64, Relaxed);
            self.region.copy_in(place + WORD, label);
        }
        self.keys()[slot].store(key, Release);
        made.fetch_add(1, Relaxed);
        Some(slot)
    }

    fn count(&self) -> u32 {
        self.keys().iter().filter(|key| key.load(Relaxed) != 0).count() as u32
    }

    /// All series: their labels, and their words. What found no room is there once it counted something.
    pub fn all(&self) -> Vec<(Vec<String>, &[AtomicU64])> {
        let is_there = |slot: usize, key: &AtomicU64| {
            let counts = || self.words(slot).iter().any(|word| word.load(Relaxed) != 0);
            key.load(Acquire) != 0 && (slot != self.other || self.labels == 0 || counts())
        };
        let slots = self.keys().iter().enumerate().filter(|(slot, key)| is_there(*slot, key));
        let mut all: Vec<_> = slots.map(|(slot, _)| (self.texts(slot), self.words(slot))).collect();
        all.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    fn texts(&self, slot: usize) -> Vec<String> {
        let text = |at: usize| {
            let place = self.text_at(slot, at);
            let len = self.region.at::<AtomicU64>(place).load(Relaxed).min(LABEL_MOST as u64);
            let mut bytes = Vec::new();
            self.region.copy_out(place + WORD, len as usize, &mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        (0..self.labels).map(text).collect()
    }
}

/// Up to eight bytes as a word, as [`Region::copy_in`] writes them.
#[inline]
fn padded(chunk: &[u8]) -> u64 {
    if let Ok(whole) = chunk.try_into() {
        return u64::from_le_bytes(whole);
    }
    chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// A label as it is kept.
fn clean(label: &[u8]) -> Cow<'_, str> {
    let mut text = String::from_utf8_lossy(label);
    if text.len() > LABEL_MOST {
        let end = (0..=LABEL_MOST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.to_mut().truncate(end);
    }
    text
}

/// Adds to a word that holds a float.
#[inline]
pub fn add_float(word: &AtomicU64, by: f64) {
    let mut old = word.load(Relaxed);
    while let Err(now) = word.compare_exchange_weak(old, (f64::from_bits(old) + by).to_bits(), Relaxed, Relaxed) {
        old = now;
    }
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
