//! Texts that are longer than their cell: blocks of a partition's heap, by size class, with a free list each.
//!
//! Blocks are neither split nor merged. So a class never holds more blocks than texts of its size were stored at once,
//! and a heap that has room for all rows in every class can never be full before the table is.

use super::TableError;
use super::segment::{FREE, HEAP_END, Segment};
use super::tx::Change;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of a word, by which blocks are measured.
pub(super) const WORD: usize = 8;
/// Classes of one word more each: 8 to 128 bytes.
const FINE: usize = 16;
/// Above, four classes to a doubling: up to 64 MiB.
pub(super) const CLASSES: usize = FINE + 4 * 19;
/// Most bytes of a partition's heap: what a reference can reach.
pub(super) const HEAP_MOST: u64 = 1 << 37;
/// Blocks from this size on give their memory back when they are freed.
pub(super) const RELEASED: usize = 1 << 16;

/// Longest text that a cell holds itself.
pub(super) const INLINE: usize = 7;
/// Low bits of a text cell: 0 to 7 are the length of a text that stands in the cell, this is a reference.
const REFERENCE: u64 = 8;
const TAG_BITS: u32 = 4;
const LEN_BITS: u32 = 26;

/// The class of a block for `len` bytes, at least one.
#[inline]
pub(super) fn class_of(len: usize) -> usize {
    let words = len.div_ceil(WORD).max(1);
    if words <= FINE {
        return words - 1;
    }
    // Sizes go 2^k * 5/4, 6/4, 7/4, 8/4: the two bits below the highest one of (words - 1) choose among them.
    let top = (words - 1).ilog2();
    FINE + 4 * (top as usize - 4) + (((words - 1) >> (top - 2)) & 3)
}

/// Bytes of the blocks of a class.
#[inline]
pub(super) fn class_bytes(class: usize) -> usize {
    if class < FINE {
        return (class + 1) * WORD;
    }
    let (doubling, quarter) = ((class - FINE) / 4, (class - FINE) % 4);
    (FINE << doubling) / 4 * (5 + quarter) * WORD
}

/// Bytes of heap that `texts` texts of up to `longest` bytes can ever need.
pub(super) fn reserve(texts: u64, longest: u32) -> u64 {
    if longest as usize <= INLINE {
        return 0;
    }
    // One block more a class: the new text is stored before the old one is freed.
    let each: u64 = (0..=class_of(longest as usize)).map(|class| class_bytes(class) as u64).sum();
    (texts + 1).saturating_mul(each)
}

/// Up to 7 bytes as a number, the first one lowest. Without a copy of unknown length, which would be a call.
#[inline]
pub(super) fn few(bytes: &[u8]) -> u64 {
    let word = |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
    match bytes.len() {
        0 => 0,
        // The first, the middle and the last one: some of them are the same.
        len @ 1..4 => byte(0) | byte(len / 2) | byte(len - 1),
        len => word(0) | word(len - 4) << (8 * (len - 4)),
    }
}

/// A text as it stands in a cell, when it is short enough.
#[inline]
pub(super) fn inline(text: &[u8]) -> Option<u64> {
    (text.len() <= INLINE).then(|| few(text) << 8 | text.len() as u64)
}

/// What a text cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// The text itself: its length, and the cell's bytes, of which it is those from the second on.
    Inline(usize, [u8; WORD]),
    /// A block: offset in the partition's heap, and bytes of the text.
    Block(usize, usize),
}

/// Reads a text cell's word. None: no such word is ever stored; what was read is wild.
#[inline]
pub(super) fn parse(word: u64) -> Option<Text> {
    let tag = word & ((1 << TAG_BITS) - 1);
    if tag == REFERENCE {
        let len = (word >> TAG_BITS) & ((1 << LEN_BITS) - 1);
        let at = (word >> (TAG_BITS + LEN_BITS)) as usize * WORD;
        return (len > INLINE as u64).then_some(Text::Block(at, len as usize));
    }
    (word & 0xff <= INLINE as u64).then(|| Text::Inline(tag as usize, word.to_le_bytes()))
}

fn reference(at: usize, len: usize) -> u64 {
    REFERENCE | (len as u64) << TAG_BITS | ((at / WORD) as u64) << (TAG_BITS + LEN_BITS)
}

/// The heap of one partition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heap<'a> {
    pub(super) segment: &'a Segment,
    /// Where the segment lies in the region.
    pub(super) segment_at: usize,
    /// Where the heap lies in the region.
    pub(super) base: usize,
    pub(super) bytes: usize,
}

impl Heap<'_> {
    /// Stores a text and gives the word for its cell.
    pub(super) fn store(self, change: &mut Change<'_>, text: &[u8]) -> Result<u64, TableError> {
        if let Some(word) = inline(text) {
            return Ok(word);
        }
        let class = class_of(text.len());
        let head = &self.segment.free[class];
        let region = change.region();
        let first = head.load(Relaxed);
        let at = if first == 0 {
            let at = self.segment.heap_end.load(Relaxed) as usize;
            let end = at + class_bytes(class);
            if end > self.bytes {
                return Err(TableError::NoMemory(format!("the {} bytes kept for texts are used up", self.bytes)));
            }
            change.put(self.segment_at + HEAP_END, end as u64);
            at
        } else {
            let at = (first as usize - 1) * WORD;
            let next = region.at::<AtomicU64>(self.base + at).load(Relaxed);
            change.put(self.segment_at + FREE + class * WORD, next);
            // The link of the free list stands in the block's first word: undoing must bring it back.
            change.put(self.base + at, 0);
            at
        };
        region.copy_in(self.base + at, text);
        Ok(reference(at, text.len()))
    }

    /// Frees the block of a text cell's word, if it has one. Gives its place when its memory is worth giving back once
    /// the change is complete.
    pub(super) fn free(self, change: &mut Change<'_>, word: u64) -> Option<(usize, usize)> {
        let Some(Text::Block(at, len)) = parse(word) else { return None };
        let class = class_of(len);
        let first = self.segment.free[class].load(Relaxed);
        change.put(self.base + at, first);
        change.put(self.segment_at + FREE + class * WORD, (at / WORD) as u64 + 1);
        let bytes = class_bytes(class);
        // The first word stays: it is the list's link.
        (bytes >= RELEASED).then_some((self.base + at + WORD, bytes - WORD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_fits_its_class_and_no_lower_one() {
        let mut lens: Vec<usize> = (1..5000).collect();
        lens.extend(
            (12..=26).flat_map(|bits: u32| [(1usize << bits) - 1, 1 << bits, (1 << bits) + 1, (1 << bits) / 4 * 5]),
        );
        for len in lens.into_iter().filter(|len| *len < 1 << 26) {
            let class = class_of(len);
            assert!(class < CLASSES, "{len}");
            assert!(class_bytes(class) >= len, "{len} in {}", class_bytes(class));
            assert!(class == 0 || class_bytes(class - 1) < len, "{len} in {}", class_bytes(class));
        }
        assert_eq!(class_of((1 << 26) - 1), CLASSES - 1);
        assert_eq!(class_bytes(CLASSES - 1), 1 << 26);
    }

    #[test]
    fn few_bytes_make_a_number() {
        for len in 0..8 {
            let mut bytes: Vec<u8> = (1..=len).map(|at| at * 31).collect();
            let number = few(&bytes);
            bytes.resize(8, 0);
            assert_eq!(number.to_le_bytes()[..], bytes);
        }
    }

    #[test]
    fn words_say_what_they_were_made_from() {
        for len in 0..=INLINE {
            let text = &b"abcdefg"[..len];
            let Some(Text::Inline(found, bytes)) = parse(inline(text).unwrap()) else { panic!("not inline") };
            assert_eq!(&bytes[1..=found], text);
        }
        let far = HEAP_MOST as usize - WORD;
        assert_eq!(parse(reference(far, (1 << 26) - 1)), Some(Text::Block(far, (1 << 26) - 1)));
        assert_eq!(parse(9), None);
        assert_eq!(parse(0x18), None);
        assert_eq!(inline(b"12345678"), None);
    }
}
