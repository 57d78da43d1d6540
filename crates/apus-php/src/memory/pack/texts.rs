//! Which strings were written already.

use std::cell::Cell;

/// Places of the table at first, a power of two.
const FIRST: usize = 64;
/// Places looked at before a string is taken for a new one: strings of equal hash, which a client may choose, cost no
/// more than this.
const PROBES: usize = 16;
/// A table larger than this is not kept for the next value.
const KEPT: usize = 4096;

#[derive(Clone, Copy)]
struct Seen {
    hash: u64,
    /// Where its bytes lie in what was written.
    at: u32,
    len: u32,
}

/// The strings of a value so far, found by content. They are compared with what was written, so that nothing has to be
/// held.
#[derive(Default)]
pub(super) struct Texts {
    seen: Vec<Seen>,
    /// Number + 1 of a string by its hash; 0: none.
    places: Vec<u32>,
    /// Where the value's bytes begin.
    begin: usize,
}

thread_local! {
    static SPARE: Cell<Option<Texts>> = const { Cell::new(None) };
}

impl Texts {
    /// An empty table for a value whose bytes begin there.
    pub(super) fn take(begin: usize) -> Self {
        let mut this = SPARE.with(Cell::take).unwrap_or_default();
        this.begin = begin;
        this
    }

    /// Keeps the memory for the next value.
    pub(super) fn give_back(&mut self) {
        if self.places.len() <= KEPT {
            if !self.seen.is_empty() {
                self.places.fill(0);
                self.seen.clear();
            }
            SPARE.with(|spare| spare.set(Some(std::mem::take(self))));
        }
    }

    /// The number of a string that was written; `None`: it is new, and is to be written now, with a head of one byte
    /// below `short` bytes, else two.
    #[inline]
    pub(super) fn number(&mut self, written: &[u8], hash: u64, bytes: &[u8], short: u8) -> Option<usize> {
        if (self.seen.len() + 1) * 2 > self.places.len() {
            self.grow();
        }
        let mask = self.places.len() - 1;
        let number = self.seen.len();
        let head = if bytes.len() < usize::from(short) { 1 } else { 2 };
        let at = (written.len() - self.begin + head) as u32;
        let mut place = spread(hash) & mask;
        for _ in 0..PROBES {
            match self.places[place].checked_sub(1) {
                None => {
                    self.places[place] = number as u32 + 1;
                    break;
                }
                Some(found) => {
                    let seen = self.seen[found as usize];
                    if seen.hash == hash && seen.len as usize == bytes.len() {
                        let from = self.begin + seen.at as usize;
                        if &written[from..from + bytes.len()] == bytes {
                            return Some(found as usize);
                        }
                    }
                }
            }
            place = (place + 1) & mask;
        }
        self.seen.push(Seen { hash, at, len: bytes.len() as u32 });
        None
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.places.len() * 2).max(FIRST);
        self.places.clear();
        self.places.resize(size, 0);
        for (number, seen) in self.seen.iter().enumerate() {
            let mut place = spread(seen.hash) & (size - 1);
            for _ in 0..PROBES {
                if self.places[place] == 0 {
                    self.places[place] = number as u32 + 1;
                    break;
                }
                place = (place + 1) & (size - 1);
            }
        }
    }
}

/// PHP's hashes of similar strings follow each other in steps, which one multiplication would leave in runs of
/// neighbouring places.
fn spread(hash: u64) -> usize {
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed ^ (mixed >> 32)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a string as the encoder does, and says its number if it came before.
    fn write(texts: &mut Texts, out: &mut Vec<u8>, hash: u64, bytes: &[u8]) -> Option<usize> {
        let known = texts.number(out, hash, bytes, 32);
        if known.is_none() {
            out.push(bytes.len() as u8);
            if bytes.len() >= 32 {
                out.push(0);
            }
            out.extend_from_slice(bytes);
        }
        known
    }

    #[test]
    fn a_string_is_known_by_its_content() {
        let (mut texts, mut out) = (Texts::take(3), vec![0; 3]);
        let words: Vec<String> = (0..5000).map(|n| format!("word{n}").repeat(1 + n % 7)).collect();
        for (number, word) in words.iter().enumerate() {
            assert_eq!(write(&mut texts, &mut out, number as u64 * 31, word.as_bytes()), None);
        }
        let mut missed = 0;
        for (number, word) in words.iter().enumerate() {
            match write(&mut texts, &mut out, number as u64 * 31, word.as_bytes()) {
                Some(known) => assert_eq!(known, number),
                // Its place was too far from where its hash points: it is written again.
                None => missed += 1,
            }
        }
        assert!(missed < words.len() / 50, "{missed} of {} not found again", words.len());
    }

    #[test]
    fn strings_of_one_hash_are_numbered_but_not_all_found() {
        let (mut texts, mut out) = (Texts::take(0), Vec::new());
        for n in 0..100u32 {
            assert_eq!(write(&mut texts, &mut out, 7, &n.to_le_bytes()), None);
        }
        assert_eq!(write(&mut texts, &mut out, 7, &5u32.to_le_bytes()), Some(5));
        assert_eq!(write(&mut texts, &mut out, 7, &99u32.to_le_bytes()), None);
        assert_eq!(write(&mut texts, &mut out, 8 << 32, b"another"), None);
        assert_eq!(write(&mut texts, &mut out, 8 << 32, b"another"), Some(101));
    }

    #[test]
    fn a_table_that_was_given_back_is_empty() {
        let (mut texts, mut out) = (Texts::take(0), Vec::new());
        assert_eq!(write(&mut texts, &mut out, 1, b"ab"), None);
        texts.give_back();
        let (mut texts, mut out) = (Texts::take(0), Vec::new());
        assert_eq!(write(&mut texts, &mut out, 1, b"ab"), None);
        assert_eq!(write(&mut texts, &mut out, 1, b"ab"), Some(0));
    }
}
