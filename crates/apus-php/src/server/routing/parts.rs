//! Records that are longer than what carries them: cut, and put together again. No I/O.

use std::collections::HashMap;
use std::hash::Hash;

use super::record::Reader;

/// Bytes of a part's own head.
pub(super) const PART_HEAD: usize = 4 + 1 + 4 + 4;

/// The pieces of a record: the head of each part and up to two slices.
pub(super) struct Cut<'a> {
    number: u32,
    kind: u8,
    head: &'a [u8],
    tail: &'a [u8],
    at: usize,
    step: usize,
}

/// One part.
pub(super) struct Part<'a> {
    pub(super) head: [u8; PART_HEAD],
    pub(super) slices: [&'a [u8]; 2],
}

impl<'a> Cut<'a> {
    /// Cuts a record into parts of at most `largest` bytes; `number` tells it from the sender's others.
    pub(super) fn new(number: u32, kind: u8, head: &'a [u8], tail: &'a [u8], largest: usize) -> Self {
        Self { number, kind, head, tail, at: 0, step: largest.saturating_sub(PART_HEAD).max(1) }
    }

    fn total(&self) -> usize {
        self.head.len() + self.tail.len()
    }
}

impl<'a> Iterator for Cut<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let (total, from) = (self.total(), self.at);
        if from >= total {
            return None;
        }
        let to = total.min(from + self.step);
        self.at = to;
        let mut head = [0; PART_HEAD];
        head[..4].copy_from_slice(&self.number.to_le_bytes());
        head[4] = self.kind;
        head[5..9].copy_from_slice(&(total as u32).to_le_bytes());
        head[9..].copy_from_slice(&(from as u32).to_le_bytes());
        let split = self.head.len();
        let first = &self.head[from.min(split)..to.min(split)];
        let second = &self.tail[from.max(split) - split..to.max(split) - split];
        Some(Part { head, slices: [first, second] })
    }
}

struct Begun {
    number: u32,
    kind: u8,
    total: usize,
    bytes: Vec<u8>,
}

/// Puts parts together: for each sender the one record that it is sending.
pub(super) struct Assembler<S> {
    begun: HashMap<S, Begun>,
    /// The longest record that is put together.
    limit: usize,
}

impl<S: Copy + Eq + Hash> Assembler<S> {
    pub(super) fn new(limit: usize) -> Self {
        Self { begun: HashMap::new(), limit }
    }

    /// Takes a part; the kind and the bytes of the record when it is complete. Parts out of order, as after a sender
    /// that gave up half-way, end what was begun.
    pub(super) fn take(&mut self, from: S, part: &[u8]) -> Option<(u8, Vec<u8>)> {
        let mut at = Reader(part);
        let (number, kind, total, offset) = (at.u32()?, at.u8()?, at.u32()? as usize, at.u32()? as usize);
        let data = at.rest();
        if offset == 0 && total <= self.limit {
            self.begun.insert(from, Begun { number, kind, total, bytes: Vec::new() });
        }
        let begun = self.begun.get_mut(&from)?;
        let fits = (begun.number, begun.kind, begun.total, begun.bytes.len()) == (number, kind, total, offset);
        if !fits || offset + data.len() > total {
            self.begun.remove(&from);
            return None;
        }
        begun.bytes.extend_from_slice(data);
        if begun.bytes.len() < total {
            return None;
        }
        self.begun.remove(&from).map(|begun| (begun.kind, begun.bytes))
    }

    /// Who has begun a record.
    pub(super) fn senders(&self) -> impl Iterator<Item = S> {
        self.begun.keys().copied()
    }

    /// Drops what a sender has begun.
    pub(super) fn forget(&mut self, from: S) {
        self.begun.remove(&from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(number: u32, head: &[u8], tail: &[u8], largest: usize) -> Vec<Vec<u8>> {
        Cut::new(number, 9, head, tail, largest)
            .map(|part| [&part.head[..], part.slices[0], part.slices[1]].concat())
            .collect()
    }

    #[test]
    fn cut_and_put_together() {
        let tail: Vec<u8> = (0..1000u32).map(|at| at as u8).collect();
        for head in [&b""[..], b"h", b"a longer head"] {
            for largest in [PART_HEAD + 1, PART_HEAD + 7, 100, 1010, 5000] {
                let parts = parts(1, head, &tail, largest);
                assert!(parts.iter().all(|part| part.len() <= largest));
                let mut assembler = Assembler::new(2000);
                let mut whole = Vec::new();
                for part in &parts {
                    whole.extend(assembler.take('a', part));
                }
                assert_eq!(whole, [(9, [head, &tail].concat())]);
                assert_eq!(assembler.senders().count(), 0);
            }
        }
    }

    #[test]
    fn senders_do_not_mix() {
        let (one, two) = (parts(1, b"", &[1; 50], 40), parts(1, b"", &[2; 50], 40));
        let mut assembler = Assembler::new(100);
        assert_eq!((assembler.take(1, &one[0]), assembler.take(2, &two[0])), (None, None));
        assert_eq!(assembler.take(1, &one[1]), Some((9, vec![1; 50])));
        assembler.forget(2);
        assert_eq!(assembler.take(2, &two[1]), None);
    }

    #[test]
    fn a_sender_that_gave_up_half_way_is_replaced_by_its_next_record() {
        let (one, two) = (parts(1, b"", &[1; 90], 40), parts(2, b"", &[2; 50], 40));
        let mut assembler = Assembler::new(100);
        assert_eq!(assembler.take(1, &one[0]), None);
        assert_eq!((assembler.take(1, &two[0]), assembler.take(1, &two[1])), (None, Some((9, vec![2; 50]))));
        // Its other parts come too late.
        assert_eq!((assembler.take(1, &one[1]), assembler.senders().count()), (None, 0));
    }

    #[test]
    fn what_is_too_large_or_makes_no_sense_is_dropped() {
        let mut assembler = Assembler::new(40);
        for part in parts(1, b"", &[1; 50], 40) {
            assert_eq!(assembler.take(1, &part), None);
        }
        assert_eq!(assembler.take(1, b"short"), None);
        let mut lies = parts(1, b"", &[1; 30], 30);
        lies[1].extend_from_slice(&[0; 30]);
        assert_eq!((assembler.take(1, &lies[0]), assembler.take(1, &lies[1])), (None, None));
        assert_eq!(assembler.senders().count(), 0);
    }
}
