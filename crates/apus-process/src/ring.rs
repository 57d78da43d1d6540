//! One ring of records in shared memory, from one process to one other.
//!
//! # Why it is sound without a lock, whoever is killed at whatever instruction
//!
//! A ring is an array of words and two positions, both counted in bytes since the ring was made and never wrapped (2^64
//! bytes are not written in a life): `tail`, up to where records are published, written only by the producer; `head`,
//! up to where they are read, written only by the consumer. What lies in `head..tail` belongs to the consumer, the rest
//! to the producer. "The producer" is whichever process has the sending slot now, "the consumer" whichever has the
//! receiving one: the master gives a slot to a new process only when it has reaped the old one, so there is never more
//! than one of each, and fork and wait order their memory.
//!
//! 1. **Publishing.** The producer writes header and payload behind `tail` and then stores the new `tail` with Release.
//!    The consumer loads `tail` with Acquire and so sees all bytes of what it covers. A producer killed before that
//!    store has published nothing: its successor writes over the torn bytes. After it, the record is whole. There is no
//!    instruction in between.
//! 2. **Freeing.** The consumer stores `head` with Release after the last look at a record; the producer loads it with
//!    Acquire before it writes into the space. A consumer killed while it reads leaves `head`: its successor meets the
//!    record again, and passes it over, because each record carries the *life* of the process that it was meant for
//!    (see `ipc.rs`).
//! 3. **Waiting for room.** The producer stores `wanted`, fences, and looks at `head` once more; the consumer stores
//!    `head`, fences, and looks at `wanted`. Of two such pairs with sequentially consistent fences at least one side
//!    sees the other's store: either the producer finds the room, or the consumer finds that room is wanted and wakes
//!    it. `wanted` that a dead producer left wakes its successor in vain, once.
//! 4. **Trust.** Positions and headers come from memory that any process of the server could spoil. Both sides check
//!    them each time: alignment, `tail - head` within the ring, a record within what is published and within the ring's
//!    end. What does not fit makes the consumer, who alone may move `head`, give up what is in the ring ([`Broken`]);
//!    the producer then finds it empty.
//!
//! Records are contiguous, so that a payload is one slice of the ring itself: where one would not fit before the end, a
//! pad record takes the rest of the lap. A record takes at most a quarter of the ring; when half of it is free, any
//! record fits, pad included, which is why the consumer wakes a waiting producer at half and not before.
//!
//! Memory is taken by the page when first touched. So a producer that comes to the next page and finds the ring empty
//! begins the lap anew, at the first word: a ring whose consumer keeps up takes two pages, whatever its size, and stays
//! in the processor's cache. `base` is the position that stands at the first word; the producer alone writes it, and
//! only while `head` = `tail`, when the consumer has no business with the words. The consumer looks at it after the
//! `tail` that it belongs to, and it cannot change again until `head` has reached that `tail`.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};

use apus_shm::Shared;

/// Bytes of a record before its payload: one word, length below, tag above.
const HEADER: u64 = 8;
/// In place of a length: nothing more in this lap.
const PAD: u32 = u32::MAX;
/// What the kernel gives memory by.
const PAGE: u64 = 4096;

/// What the producer writes, on a cache line of its own.
#[derive(Debug)]
#[repr(C, align(64))]
struct Producer {
    tail: AtomicU64,
    base: AtomicU64,
}

/// What the consumer writes, except `wanted`.
#[derive(Debug)]
#[repr(C, align(64))]
struct Consumer {
    head: AtomicU64,
    /// 1 while the producer waits for room.
    wanted: AtomicU32,
}

/// The positions of a ring.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ends {
    producer: Producer,
    consumer: Consumer,
}

// SAFETY: all fields are atomics; all-zero is the empty ring.
unsafe impl Shared for Ends {}

/// What a record is: a kind that means something to the program, and the life of the process that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) kind: u8,
    pub(crate) life: u32,
}

impl Tag {
    /// Lives are told apart by their low 24 bits: a stale record would have to outlive sixteen million restarts.
    const LIFE: u32 = 0xff_ffff;

    fn pack(self) -> u32 {
        u32::from(self.kind) << 24 | self.life & Self::LIFE
    }
}

/// The ring did not take the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No room now.
    Full,
    /// More than a quarter of the ring.
    TooLarge,
}

/// Positions or a header that no producer wrote. What was in the ring is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

/// What a look into a ring came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drained {
    /// Whether records are left that were published when the look began.
    pub(crate) more: bool,
    /// Whether the producer waits for room, and half of the ring is free: wake it.
    pub(crate) room: bool,
}

/// A view of one ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    ends: &'static Ends,
    /// A power of two long, at least two pages.
    words: &'static [AtomicU64],
}

impl Ring {
    pub(crate) fn new(ends: &'static Ends, words: &'static [AtomicU64]) -> Self {
        debug_assert!(words.len().is_power_of_two() && words.len() as u64 * 8 >= 2 * PAGE);
        Self { ends, words }
    }

    /// The longest payload that a ring of this many bytes takes.
    pub(crate) const fn largest(bytes: usize) -> usize {
        bytes / 4 - HEADER as usize
    }

    fn capacity(self) -> u64 {
        self.words.len() as u64 * 8
    }

    /// Whether nothing was ever published.
    pub(crate) fn is_new(self) -> bool {
        self.ends.producer.tail.load(Relaxed) == 0
    }

    /// Publishes a record made of the parts, one behind the other. Only the producer calls this; `seen_head` is its own
    /// memory of where the consumer was, which saves a look at the consumer's cache line for most records.
    pub(crate) fn push(self, seen_head: &Cell<u64>, tag: Tag, parts: &[&[u8]]) -> Result<(), Refused> {
        let len = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        if len > Self::largest(self.capacity() as usize) {
            return Err(Refused::TooLarge);
        }
        let size = record_size(len as u64);
        // Aligned by every producer; rounded up in case a stray write was here.
        let tail = aligned(self.ends.producer.tail.load(Relaxed));
        if self.goes_back(tail, size, seen_head) {
            self.ends.producer.base.store(tail, Relaxed);
        }
        let offset = self.offset(tail);
        let lap = self.capacity() - offset;
        let pad = if size > lap { lap } else { 0 };
        if !self.has_room(tail, pad + size, seen_head) {
            return Err(Refused::Full);
        }
        if pad > 0 {
            self.words[(offset / 8) as usize].store(u64::from(PAD), Relaxed);
        }
        let start = tail.wrapping_add(pad);
        let place = self.offset(start);
        self.words[(place / 8) as usize].store(u64::from(tag.pack()) << 32 | len as u64, Relaxed);
        // SAFETY: `has_room` says that `pad + size` bytes behind `tail` are the producer's, and the record does not
        // cross the end of the lap (a pad moved it, or it fits). So `len` bytes from `place + HEADER` lie within
        // `words`, and no other process touches them until `tail` covers them. The memory is that of atomics, so
        // writing through a shared reference is allowed.
        unsafe {
            let mut to = self.words.as_ptr().cast::<u8>().cast_mut().add((place + HEADER) as usize);
            for part in parts {
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
                to = to.add(part.len());
            }
        }
        self.ends.producer.tail.store(start.wrapping_add(size), Release);
        Ok(())
    }

    /// The place of a position in the ring.
    fn offset(self, position: u64) -> u64 {
        // Aligned by every producer; made so in case a stray write was here.
        position.wrapping_sub(self.ends.producer.base.load(Relaxed)) & (self.capacity() - 1) & !7
    }

    /// Whether a record that leads into the next page should rather begin at the first one, because the ring is empty.
    fn goes_back(self, tail: u64, size: u64, seen_head: &Cell<u64>) -> bool {
        let offset = self.offset(tail);
        // Looked at once a page: it costs the consumer's cache line.
        if offset / PAGE == (offset + size) / PAGE {
            return false;
        }
        seen_head.set(self.ends.consumer.head.load(Acquire));
        seen_head.get() == tail
    }

    fn has_room(self, tail: u64, needed: u64, seen_head: &Cell<u64>) -> bool {
        let fits = |head: u64| {
            let used = tail.wrapping_sub(head);
            used <= self.capacity() && self.capacity() - used >= needed
        };
        fits(seen_head.get()) || {
            seen_head.set(self.ends.consumer.head.load(Acquire));
            fits(seen_head.get())
        }
    }

    /// Says that the producer waits for room; true when half of the ring is free already, so that there is nothing to
    /// wait for.
    pub(crate) fn want_room(self) -> bool {
        self.ends.consumer.wanted.store(1, Relaxed);
        fence(SeqCst);
        let used = self.ends.producer.tail.load(Relaxed).wrapping_sub(self.ends.consumer.head.load(Acquire));
        used <= self.capacity() / 2
    }

    /// Whether the producer waits for room.
    pub(crate) fn is_room_wanted(self) -> bool {
        self.ends.consumer.wanted.load(Relaxed) != 0
    }

    /// Gives the records published so far to `read`, oldest first, until `budget` bytes are used up, one record at
    /// least. Records for another life are passed over. Only the consumer calls this.
    pub(crate) fn drain(
        self,
        life: u32,
        budget: &mut usize,
        read: &mut dyn FnMut(u8, &[u8]),
    ) -> Result<Drained, Broken> {
        let tail = self.ends.producer.tail.load(Acquire);
        let mut head = self.ends.consumer.head.load(Relaxed);
        while head != tail {
            let Some((size, record)) = self.record(head, tail) else {
                self.ends.consumer.head.store(aligned(tail), Release);
                return Err(Broken { head, tail });
            };
            head = head.wrapping_add(size);
            // Dropped when `read` has returned, or unwound.
            let _freed = Freed(&self.ends.consumer.head, head);
            if let Record::Sent(tag, payload) = record
                && tag & Tag::LIFE == life & Tag::LIFE
            {
                read((tag >> 24) as u8, payload);
            }
            *budget = budget.saturating_sub(size as usize);
            if *budget == 0 {
                break;
            }
        }
        let half_free = tail.wrapping_sub(head) <= self.capacity() / 2;
        Ok(Drained { more: head != tail, room: half_free && self.grant_room() })
    }

    /// The record at `head`, and the bytes it takes; `None` when that is no record.
    fn record(self, head: u64, tail: u64) -> Option<(u64, Record)> {
        let used = tail.wrapping_sub(head);
        if used > self.capacity() || !(head | tail).is_multiple_of(8) {
            return None;
        }
        let place = self.offset(head);
        let lap = (self.capacity() - place).min(used);
        let header = self.words[(place / 8) as usize].load(Relaxed);
        if header as u32 == PAD {
            // A pad is published with the record behind it, so the whole lap lies before `tail`.
            return (lap == self.capacity() - place).then_some((lap, Record::Pad));
        }
        let len = u64::from(header as u32);
        let size = record_size(len);
        if size > lap || size > self.capacity() / 4 {
            return None;
        }
        // SAFETY: the record lies within the lap, so within `words`. It was published, so the producer leaves it alone
        // until `head` passes it, which the caller has happen after the last use. The lifetime is the mapping's; only
        // `drain` sees it, and hands it on shorter.
        let payload = unsafe {
            let from = self.words.as_ptr().cast::<u8>().add((place + HEADER) as usize);
            std::slice::from_raw_parts(from, len as usize)
        };
        Some((size, Record::Sent((header >> 32) as u32, payload)))
    }

    /// Takes note that the producer waits for room; whether it did.
    fn grant_room(self) -> bool {
        fence(SeqCst);
        self.is_room_wanted() && self.ends.consumer.wanted.swap(0, Relaxed) != 0
    }
}

/// What stands in a ring.
enum Record {
    /// The rest of a lap.
    Pad,
    /// A packed tag and a payload, which is good until `head` passes it.
    Sent(u32, &'static [u8]),
}

/// Gives the producer the space up to a position.
struct Freed<'a>(&'a AtomicU64, u64);

impl Drop for Freed<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Release);
    }
}

/// The next position that a record may begin at: where both sides go on after a stray write.
fn aligned(position: u64) -> u64 {
    position.wrapping_add(7) & !7
}

fn record_size(len: u64) -> u64 {
    HEADER + len.next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use apus_shm as shm;

    const LIFE: u32 = 1;

    fn ring(bytes: usize) -> Ring {
        Ring::new(&shm::map::<Ends>(1).unwrap()[0], shm::map(bytes / 8).unwrap())
    }

    fn tag(kind: u8) -> Tag {
        Tag { kind, life: LIFE }
    }

    /// All that is in the ring, as kinds and payloads.
    fn drain(ring: Ring) -> Vec<(u8, Vec<u8>)> {
        let mut got = Vec::new();
        let drained =
            ring.drain(LIFE, &mut usize::MAX.clone(), &mut |kind, payload| got.push((kind, payload.to_vec()))).unwrap();
        assert!(!drained.more);
        got
    }

    #[test]
    fn parts_arrive_as_one_payload() {
        let (ring, head) = (ring(8192), Cell::new(0));
        assert!(ring.is_new());
        ring.push(&head, tag(7), &[b"one ", b"", b"record"]).unwrap();
        ring.push(&head, tag(255), &[]).unwrap();
        assert!(!ring.is_new());
        assert_eq!(drain(ring), [(7, b"one record".to_vec()), (255, Vec::new())]);
        assert_eq!(drain(ring), []);
    }

    #[test]
    fn the_largest_record_fits_and_the_next_one_is_refused_for_good() {
        let (ring, head, largest) = (ring(8192), Cell::new(0), Ring::largest(8192));
        assert_eq!(ring.push(&head, tag(0), &[&vec![1; largest], b"x"]), Err(Refused::TooLarge));
        assert_eq!(ring.push(&head, tag(0), &[&[1; 300][..]; 7]), Err(Refused::TooLarge));
        for _ in 0..100 {
            ring.push(&head, tag(0), &[&vec![1; largest]]).unwrap();
            assert_eq!(drain(ring), [(0, vec![1; largest])]);
        }
    }

    /// A stream of numbers that looks random and is the same each time.
    fn numbers(mut state: u64) -> impl FnMut() -> usize {
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        }
    }

    #[test]
    fn any_sequence_of_pushes_and_drains_is_a_queue() {
        for seed in 0..20 {
            let (ring, head, mut next) = (ring(8192), Cell::new(0), numbers(seed));
            let (mut model, mut refused) = (VecDeque::new(), 0);
            for n in 0..20_000usize {
                if next() % 3 > 0 {
                    let record = (n as u8, vec![n as u8; next() % if next() % 4 == 0 { 2041 } else { 60 }]);
                    match ring.push(&head, tag(record.0), &[&record.1]) {
                        Ok(()) => model.push_back(record),
                        Err(why) => refused += usize::from(why == Refused::Full),
                    }
                } else {
                    let mut budget = next() % 400 + 1;
                    let drained = ring.drain(LIFE, &mut budget, &mut |kind, payload| {
                        assert_eq!(model.pop_front(), Some((kind, payload.to_vec())));
                    });
                    assert_eq!(drained.unwrap().more, !model.is_empty());
                }
            }
            assert_eq!(drain(ring), Vec::from(model));
            assert!(refused > 0, "the ring was never full");
        }
    }

    #[test]
    fn two_threads_pass_records_in_order() {
        const RECORDS: u64 = 300_000;
        let ring = ring(16_384);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (head, filling) = (Cell::new(0), [0xab; 300]);
                for n in 0..RECORDS {
                    let parts = [&n.to_ne_bytes()[..], &filling[..(n % 300) as usize]];
                    while ring.push(&head, tag(n as u8), &parts).is_err() {
                        std::thread::yield_now();
                    }
                }
            });
            let mut expected = 0;
            while expected < RECORDS {
                let drained = ring.drain(LIFE, &mut 10_000, &mut |kind, payload| {
                    assert_eq!((kind, &payload[..8]), (expected as u8, &expected.to_ne_bytes()[..]));
                    assert!(
                        payload.len() as u64 == 8 + expected % 300 && payload[8..].iter().all(|byte| *byte == 0xab)
                    );
                    expected += 1;
                });
                if drained.unwrap() == (Drained { more: false, room: false }) {
                    std::thread::yield_now();
                }
            }
        });
    }

    #[test]
    fn a_ring_whose_consumer_keeps_up_takes_few_pages() {
        let (ring, head) = (ring(1 << 20), Cell::new(0));
        for n in 0..100_000usize {
            ring.push(&head, tag(0), &[&[1; 500][..n % 500]]).unwrap();
            drain(ring);
        }
        let touched = ring.words.iter().rposition(|word| word.load(Relaxed) != 0).unwrap() * 8;
        assert!(touched < 2 * PAGE as usize, "{touched} bytes");
    }

    #[test]
    fn records_for_another_life_are_passed_over() {
        let (ring, head) = (ring(8192), Cell::new(0));
        for life in [LIFE + 2, LIFE, 3, LIFE] {
            ring.push(&head, Tag { kind: life as u8, life }, &[b"x"]).unwrap();
        }
        assert_eq!(drain(ring), [(1, b"x".to_vec()), (1, b"x".to_vec())]);
    }

    #[test]
    fn room_is_granted_once_and_at_half() {
        let (ring, head) = (ring(8192), Cell::new(0));
        let fill = || while ring.push(&head, tag(0), &[&[0; 1000]]).is_ok() {};
        let take = |budget: usize| ring.drain(LIFE, &mut budget.clone(), &mut |_, _| {}).unwrap();
        fill();
        assert!(!ring.want_room());
        assert_eq!(take(2000), Drained { more: true, room: false });
        assert_eq!(take(2200), Drained { more: true, room: true });
        assert_eq!(take(usize::MAX), Drained { more: false, room: false });
        assert!(ring.want_room(), "nothing to wait for");
        fill();
        assert!(!ring.want_room());
        assert_eq!(take(usize::MAX), Drained { more: false, room: true });
    }

    #[test]
    fn spoilt_memory_loses_what_was_there_and_no_more() {
        let (ring, head) = (ring(8192), Cell::new(0));
        let spoilers: [&dyn Fn(); 7] = [
            &|| ring.words.iter().for_each(|word| word.store(4000, Relaxed)),
            &|| ring.words.iter().for_each(|word| word.store(u64::MAX >> 1, Relaxed)),
            &|| ring.words.iter().for_each(|word| word.store(u64::from(PAD), Relaxed)),
            &|| ring.ends.producer.tail.store(ring.ends.producer.tail.load(Relaxed) + 3, Relaxed),
            &|| ring.ends.producer.tail.store(1 << 40, Relaxed),
            &|| ring.ends.producer.base.store(ring.ends.producer.base.load(Relaxed) + 4096, Relaxed),
            &|| ring.ends.consumer.head.store(1 << 50, Relaxed),
        ];
        for spoil in spoilers {
            ring.push(&head, tag(0), &[b"lost"]).unwrap();
            spoil();
            assert!(ring.drain(LIFE, &mut 100_000, &mut |_, _| panic!("nothing good was there")).is_err());
            assert!(ring.push(&head, tag(9), &[b"good"]).is_ok());
            assert_eq!(drain(ring), [(9, b"good".to_vec())]);
        }
    }

    #[test]
    fn a_reader_that_unwinds_has_read_its_record() {
        let (ring, head) = (ring(8192), Cell::new(0));
        ring.push(&head, tag(1), &[b"a"]).unwrap();
        ring.push(&head, tag(2), &[b"b"]).unwrap();
        let unwound = std::panic::catch_unwind(|| {
            ring.drain(LIFE, &mut 1000, &mut |_, _| std::panic::resume_unwind(Box::new(())))
        });
        assert!(unwound.is_err());
        assert_eq!(drain(ring), [(2, b"b".to_vec())]);
    }
}
