//! Reading cells. Everything is checked before it is used: while somebody writes, what stands in memory may be
//! anything.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::heap::{self, Text, WORD};
use super::layout::{BLOCK_BITS, Finder};
use super::schema::{KEY_LONGEST, Key, Kind, RowBuffer};
use super::store::Store;
use super::tx;

/// Where a row's next row, hash and key lie in its head.
pub(super) const NEXT: usize = 0;
pub(super) const HASH: usize = 4;
pub(super) const KEY: usize = 8;

impl Store {
    /// The partition of a row.
    #[inline]
    pub(super) fn segment_of(&self, row: u32) -> usize {
        match self.plan.finder {
            Finder::Texts { .. } => (row >> self.plan.row_bits) as usize,
            Finder::Ids { .. } => (row >> BLOCK_BITS) as usize & (self.plan.partitions - 1),
        }
    }

    /// A cell as it stands, zero-extended; 0 for a number that no row can have.
    #[inline]
    pub(crate) fn raw(&self, row: u32, column: usize) -> u64 {
        let place = self.column(column);
        if row < self.rows_end() { tx::load_sized(self.region(), place.offset(row), place.width) } else { 0 }
    }

    /// Appends a text, of a text or dictionary column. False: what was read is wild.
    #[inline]
    pub(crate) fn text(&self, row: u32, column: usize, into: &mut Vec<u8>) -> bool {
        let word = self.raw(row, column);
        if row >= self.rows_end() {
            return false;
        }
        match self.column(column).kind {
            Kind::Text { longest } => self.block(self.segment_of(row), word, longest, into),
            Kind::Dictionary { .. } => match &self.dictionaries[column] {
                Some(dictionary) => word == 0 || dictionary.text(self.region(), word as u32, into),
                None => false,
            },
            Kind::Int { .. } | Kind::Float => false,
        }
    }

    /// Appends the text that a text cell's word means.
    #[inline]
    fn block(&self, segment: usize, word: u64, longest: u32, into: &mut Vec<u8>) -> bool {
        match heap::parse(word) {
            Some(Text::Inline(len, bytes)) => {
                into.extend_from_slice(&bytes[1..=len]);
                true
            }
            Some(Text::Block(at, len)) if len <= longest as usize && self.in_heap(at, len) => {
                self.region().copy_out(self.heap(segment).base + at, len, into);
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn in_heap(&self, at: usize, len: usize) -> bool {
        at + len.next_multiple_of(WORD) <= self.plan.heap_each
    }

    /// Whether a text cell's word means this text. False also for what is wild.
    #[inline]
    pub(super) fn same_text(&self, segment: usize, word: u64, text: &[u8]) -> bool {
        if let Some(short) = heap::inline(text) {
            return word == short;
        }
        let Some(Text::Block(at, len)) = heap::parse(word) else { return false };
        if len != text.len() || !self.in_heap(at, len) {
            return false;
        }
        let words: &[AtomicU64] = self.region().slice(self.heap(segment).base + at, len.div_ceil(WORD));
        let mut chunks = text.chunks_exact(WORD);
        let same = (&mut chunks).zip(words).all(|(chunk, word)| word.load(Relaxed).to_le_bytes() == chunk);
        let rest = chunks.remainder();
        same && (rest.is_empty() || words[words.len() - 1].load(Relaxed).to_le_bytes()[..rest.len()] == *rest)
    }

    /// Appends a row's cells. False: what was read is wild, or there is no such column.
    #[inline]
    pub(crate) fn read_row(&self, row: u32, columns: &[usize], into: &mut RowBuffer) -> bool {
        if row >= self.rows_end() {
            return false;
        }
        for &column in columns {
            let Some(place) = self.plan.places.get(column) else { return false };
            let word = tx::load_sized(self.region(), place.offset(row), place.width);
            match place.kind {
                Kind::Int { .. } => into.push_int(signed(place.kind, word)),
                Kind::Float => into.push_float(f64::from_bits(word)),
                Kind::Text { .. } | Kind::Dictionary { .. } => {
                    let start = into.bytes.len();
                    if !self.text(row, column, &mut into.bytes) {
                        return false;
                    }
                    into.push_text(start);
                }
            }
        }
        true
    }

    /// Sets the buffer's key to that of a row. False: there is no such row, or what was read is wild.
    #[inline]
    pub(crate) fn key_of(&self, row: u32, into: &mut RowBuffer) -> bool {
        if !self.exists(row) {
            return false;
        }
        let Some(head) = self.row_head(row) else {
            into.set_id(row.into());
            return true;
        };
        let word = self.region().at::<AtomicU64>(head + KEY).load(Relaxed);
        let start = into.bytes.len();
        let read = self.block(self.segment_of(row), word, KEY_LONGEST, &mut into.bytes);
        into.set_key_text(start);
        read && into.key() != Key::Text(b"")
    }

    /// Where the head of a row with a text key lies.
    #[inline]
    pub(super) fn row_head(&self, row: u32) -> Option<usize> {
        match self.plan.finder {
            Finder::Texts { heads, stride, .. } => Some(heads + row as usize * stride),
            Finder::Ids { .. } => None,
        }
    }

    /// Whether there is a row of this number.
    #[inline]
    pub(crate) fn exists(&self, row: u32) -> bool {
        if row >= self.rows_end() {
            return false;
        }
        let end = self.segment(self.segment_of(row)).end.load(Relaxed);
        match self.plan.finder {
            Finder::Texts { heads, stride, .. } => {
                let local = u64::from(row & ((1 << self.plan.row_bits) - 1));
                local < end && self.region().at::<AtomicU64>(heads + row as usize * stride + KEY).load(Relaxed) != 0
            }
            Finder::Ids { bits, blocks } => {
                self.in_use(blocks, row >> BLOCK_BITS) && self.bit_word(bits, row) >> (row & 63) & 1 != 0
            }
        }
    }

    #[inline]
    fn bit_word(&self, bits: usize, row: u32) -> u64 {
        self.region().at::<AtomicU64>(bits + (row >> 6) as usize * WORD).load(Relaxed)
    }

    /// Whether a block of ids was ever used.
    #[inline]
    fn in_use(&self, blocks: usize, block: u32) -> bool {
        self.bit_word(blocks, block) >> (block & 63) & 1 != 0
    }

    /// The first block of ids, from this one on, that was ever used.
    pub(super) fn next_block(&self, blocks: usize, from: u32) -> Option<u32> {
        let end = self.rows_end().div_ceil(1 << BLOCK_BITS);
        let mut at = from;
        while at < end {
            let above = self.bit_word(blocks, at) >> (at & 63);
            if above != 0 {
                return Some(at + above.trailing_zeros());
            }
            at = (at | 63) + 1;
        }
        None
    }

    /// The first row of this number or above.
    pub(crate) fn next_existing(&self, from: u32) -> Option<u32> {
        let mut row = from;
        while row < self.rows_end() {
            if self.exists(row) {
                return Some(row);
            }
            row = self.skip(row)?;
        }
        None
    }

    /// The next row that may exist, after one that does not.
    pub(super) fn skip(&self, row: u32) -> Option<u32> {
        match self.plan.finder {
            Finder::Texts { .. } => {
                let end = self.segment(self.segment_of(row)).end.load(Relaxed);
                let local = u64::from(row & ((1 << self.plan.row_bits) - 1));
                if local + 1 < end {
                    row.checked_add(1)
                } else {
                    ((row >> self.plan.row_bits) + 1).checked_shl(self.plan.row_bits)
                }
            }
            Finder::Ids { bits, blocks } => {
                let block = row >> BLOCK_BITS;
                if !self.in_use(blocks, block) {
                    return self.next_block(blocks, block + 1)?.checked_mul(1 << BLOCK_BITS);
                }
                let above = self.bit_word(bits, row) >> (row & 63) & !1;
                if above == 0 { (row | 63).checked_add(1) } else { Some(row + above.trailing_zeros()) }
            }
        }
    }

    /// A row's next in its bucket, its hash, and the word of its key.
    #[inline]
    pub(super) fn head_words(&self, head: usize) -> (u32, u32, u64) {
        let region = self.region();
        (
            region.at::<AtomicU32>(head + NEXT).load(Relaxed),
            region.at::<AtomicU32>(head + HASH).load(Relaxed),
            region.at::<AtomicU64>(head + KEY).load(Relaxed),
        )
    }
}

/// The value of an integer's bits.
#[inline]
pub(super) fn signed(kind: Kind, word: u64) -> i64 {
    match kind {
        Kind::Int { bytes: 1, signed: true } => (word as i8).into(),
        Kind::Int { bytes: 2, signed: true } => (word as i16).into(),
        Kind::Int { bytes: 4, signed: true } => (word as i32).into(),
        _ => word as i64,
    }
}
