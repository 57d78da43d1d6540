//! A dictionary: different texts of a column, each stored once and named by a code. Code 0 is the empty text, the
//! others count from 1 in the order in which the texts came. A text stays until the table is emptied: rows that no
//! longer have it do not give its code back.
//!
//! Texts are only ever added, so reading needs no lock: a code below the count names bytes that do not change. A text
//! is added under a mutex: bytes, the place where they lie, the slot of the hash table, then the count, which makes it
//! real. Who dies before has done nothing but to leave a slot with a code that will be another text's: a search
//! compares the text, so that slot is passed over.

use std::hash::{Hash, Hasher};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use super::layout::Area;
use super::schema::{Column, Kind};
use crate::region::Region;
use crate::robust::RobustMutex;

/// Bytes before what a snapshot holds: the mutex.
const MUTEX: usize = 4096;
/// Behind it: the count (excluding the empty text), the bytes used, and the hash's seed.
const HEADER: usize = 4096;

/// A dictionary's place and limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dictionary {
    base: usize,
    longest: u32,
    most: u32,
}

impl Dictionary {
    /// Bytes of address space that it needs; more than there is, when it cannot be.
    pub(crate) fn area_bytes(longest: u32, most: u32) -> u64 {
        let texts = u64::from(most).saturating_mul(u64::from(longest).next_multiple_of(8));
        texts.saturating_add(Self::texts(most) as u64).next_multiple_of(4096)
    }

    /// A dictionary at this offset of the region, of `area_bytes` bytes.
    pub(crate) fn new(region: &Region, base: usize, longest: u32, most: u32) -> io::Result<Self> {
        region.at::<RobustMutex>(base).init()?;
        Ok(Self { base, longest, most })
    }

    /// That of a column; one that is no dictionary has room for nothing.
    pub(crate) fn of(region: &Region, area: Area, column: &Column) -> io::Result<Self> {
        let (longest, most) = match column.kind {
            Kind::Dictionary { longest, most } => (longest, most),
            Kind::Int { .. } | Kind::Float | Kind::Text { .. } => (0, 0),
        };
        Self::new(region, area.offset, longest, most)
    }

    /// Where the slots of the hash table lie: 4 bytes each, at least two for each text.
    fn slots(most: u32) -> usize {
        MUTEX + HEADER + most as usize * 8
    }

    fn slot_count(most: u32) -> usize {
        (most as usize * 2).next_power_of_two()
    }

    /// Where the texts lie.
    fn texts(most: u32) -> usize {
        (Self::slots(most) + Self::slot_count(most) * 4).next_multiple_of(4096)
    }

    fn word<'a>(&self, region: &'a Region, at: usize) -> &'a AtomicU64 {
        region.at(self.base + MUTEX + at * 8)
    }

    fn count<'a>(&self, region: &'a Region) -> &'a AtomicU64 {
        self.word(region, 0)
    }

    /// Bytes of texts.
    fn end<'a>(&self, region: &'a Region) -> &'a AtomicU64 {
        self.word(region, 1)
    }

    /// Where a code's text lies (upper 40 bits, in words from the start of the texts) and how long it is (lower 26).
    fn place<'a>(&self, region: &'a Region, code: u32) -> &'a AtomicU64 {
        region.at(self.base + MUTEX + HEADER + (code as usize - 1) * 8)
    }

    fn hash(&self, region: &Region, text: &[u8]) -> usize {
        #[expect(deprecated, reason = "the standard library's keyed hash, whose key must be the same in every process")]
        let mut hasher =
            std::hash::SipHasher::new_with_keys(self.word(region, 2).load(Relaxed), self.word(region, 3).load(Relaxed));
        text.hash(&mut hasher);
        hasher.finish() as usize & (Self::slot_count(self.most) - 1)
    }

    /// Appends a code's text. False: there is no such code.
    pub(crate) fn text(&self, region: &Region, code: u32, into: &mut Vec<u8>) -> bool {
        if code == 0 {
            return true;
        }
        if code > self.most || u64::from(code) > self.count(region).load(Acquire) {
            return false;
        }
        let place = self.place(region, code).load(Relaxed);
        let (offset, len) = ((place >> 26) as usize * 8, (place & 0x3ff_ffff) as usize);
        let room = self.most as usize * (self.longest as usize).next_multiple_of(8);
        if len > self.longest as usize || offset + len.next_multiple_of(8) > room {
            return false;
        }
        region.copy_out(self.base + Self::texts(self.most) + offset, len, into);
        true
    }

    /// The code of a text that is there.
    pub(crate) fn lookup(&self, region: &Region, text: &[u8]) -> Option<u32> {
        if text.is_empty() { Some(0) } else { self.search(region, text).ok() }
    }

    /// The code, or the slot where it belongs.
    fn search(&self, region: &Region, text: &[u8]) -> Result<u32, usize> {
        let (first, slots) = (self.hash(region, text), Self::slot_count(self.most));
        let mut found = Vec::new();
        let count = self.count(region).load(Acquire).min(self.most.into());
        let mut vacant = None;
        for probe in 0..slots {
            let slot = (first + probe) & (slots - 1);
            let code = self.slot(region, slot).load(Relaxed);
            if code == 0 {
                return Err(vacant.unwrap_or(slot));
            }
            if u64::from(code) > count {
                vacant = vacant.or(Some(slot));
                continue;
            }
            let len = (self.place(region, code).load(Relaxed) & 0x3ff_ffff) as usize;
            found.clear();
            if len == text.len() && self.text(region, code, &mut found) && found == text {
                return Ok(code);
            }
        }
        Err(vacant.unwrap_or(first))
    }

    fn slot<'a>(&self, region: &'a Region, slot: usize) -> &'a AtomicU32 {
        region.at(self.base + Self::slots(self.most) + slot * 4)
    }

    /// The code of a text, which is added if it is not there. None: there is no room for another text. It is at most
    /// `longest` bytes long.
    pub(crate) fn code(&self, region: &Region, text: &[u8]) -> Option<u32> {
        if let Some(code) = self.lookup(region, text) {
            return Some(code);
        }
        if text.len() > self.longest as usize {
            return None;
        }
        // A death leaves nothing to repair: see the top.
        let _guard = region.at::<RobustMutex>(self.base).lock(|| ());
        self.seed(region);
        let slot = match self.search(region, text) {
            Ok(code) => return Some(code),
            Err(slot) => slot,
        };
        let count = self.count(region).load(Relaxed);
        if count >= u64::from(self.most) {
            return None;
        }
        let (code, end) = (count as u32 + 1, self.end(region).load(Relaxed) as usize);
        region.copy_in(self.base + Self::texts(self.most) + end, text);
        self.place(region, code).store((end as u64 / 8) << 26 | text.len() as u64, Relaxed);
        self.slot(region, slot).store(code, Release);
        self.end(region).store((end + text.len().next_multiple_of(8)) as u64, Relaxed);
        self.count(region).store(u64::from(code), Release);
        Some(code)
    }

    /// Texts come from clients: what they hash to must not be known to them.
    fn seed(&self, region: &Region) {
        if self.count(region).load(Relaxed) == 0 && self.word(region, 2).load(Relaxed) == 0 {
            let state = std::hash::RandomState::new();
            let random = |salt: u8| std::hash::BuildHasher::hash_one(&state, salt) | 1;
            self.word(region, 3).store(random(1), Relaxed);
            self.word(region, 2).store(random(2), Relaxed);
        }
    }

    /// Different texts in it, the empty one not counted.
    #[cfg(test)]
    pub(crate) fn len(&self, region: &Region) -> u64 {
        self.count(region).load(Relaxed)
    }

    /// Forgets all texts. Only when no row names a code any more and nobody adds one. May be broken off and begun
    /// again.
    pub(crate) fn clear(&self, region: &Region) {
        self.count(region).store(0, Relaxed);
        self.end(region).store(0, Relaxed);
        for slot in 0..Self::slot_count(self.most) {
            let slot = self.slot(region, slot);
            if slot.load(Relaxed) != 0 {
                slot.store(0, Relaxed);
            }
        }
    }

    /// What matters of its area: the header with the places, the slots, the texts.
    pub(crate) fn ranges(&self, region: &Region) -> [Area; 3] {
        let count = self.count(region).load(Acquire).min(u64::from(self.most)) as usize;
        let end = self.end(region).load(Relaxed) as usize;
        let slots = if count == 0 { 0 } else { Self::slot_count(self.most) * 4 };
        [
            (MUTEX, HEADER + count * 8),
            (Self::slots(self.most), slots.next_multiple_of(8)),
            (Self::texts(self.most), end),
        ]
        .map(|(at, bytes)| Area { offset: self.base + at, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(longest: u32, most: u32) -> (Region, Dictionary) {
        let region = Region::new(4096 + Dictionary::area_bytes(longest, most) as usize).unwrap();
        let dictionary = Dictionary::new(&region, 4096, longest, most).unwrap();
        (region, dictionary)
    }

    fn text(dictionary: &Dictionary, region: &Region, code: u32) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        dictionary.text(region, code, &mut text).then_some(text)
    }

    #[test]
    fn codes_count_up_and_a_full_one_says_so() {
        let (region, dictionary) = dictionary(20, 300);
        assert_eq!(dictionary.code(&region, b""), Some(0));
        assert_eq!(text(&dictionary, &region, 0), Some(Vec::new()));
        for round in 0..2 {
            for code in 1..=300 {
                assert_eq!(dictionary.lookup(&region, format!("text {code}").as_bytes()), (round == 1).then_some(code));
                assert_eq!(dictionary.code(&region, format!("text {code}").as_bytes()), Some(code));
            }
        }
        assert_eq!(dictionary.code(&region, b"another"), None);
        assert_eq!(dictionary.code(&region, b"longer than the longest"), None);
        assert_eq!(text(&dictionary, &region, 17), Some(b"text 17".to_vec()));
        assert_eq!(text(&dictionary, &region, 301), None);
        dictionary.clear(&region);
        assert_eq!(text(&dictionary, &region, 1), None);
        assert_eq!(dictionary.lookup(&region, b"text 17"), None);
        assert_eq!(dictionary.code(&region, b"text 17"), Some(1));
        assert_eq!(dictionary.len(&region), 1);
    }

    #[test]
    fn a_text_has_one_code_whoever_adds_it_and_whoever_dies() {
        let (region, dictionary) = dictionary(16, 4000);
        let words = |round: u32| (0..50).map(move |at| format!("w{}", round * 20 + at));
        for round in 0..40 {
            let children: Vec<_> = (0..3)
                // SAFETY: the child does plain memory work and ends by _exit or by the signal.
                .map(|_| match unsafe { libc::fork() } {
                    0 => loop {
                        for word in words(round) {
                            dictionary.code(&region, word.as_bytes());
                        }
                        dictionary.lookup(&region, b"0");
                        if dictionary.len(&region) >= u64::from(round * 20 + 50) {
                            // SAFETY: ends this process without running anything of the parent's.
                            unsafe { libc::_exit(0) };
                        }
                    },
                    child => child,
                })
                .collect();
            for (at, child) in children.into_iter().enumerate() {
                if at > 0 {
                    // SAFETY: the child just forked.
                    unsafe { libc::kill(child, libc::SIGKILL) };
                }
                let mut status = 0;
                // SAFETY: the child just forked.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
            }
            let mut codes: Vec<_> =
                words(round).map(|word| dictionary.code(&region, word.as_bytes()).unwrap()).collect();
            for (word, code) in words(round).zip(&codes) {
                assert_eq!(text(&dictionary, &region, *code), Some(word.into_bytes()));
            }
            codes.sort_unstable();
            codes.dedup();
            assert_eq!(codes.len(), 50);
            assert_eq!(dictionary.len(&region), u64::from(round * 20 + 50), "a text was added twice");
        }
    }
}
