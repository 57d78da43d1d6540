//! Where tasks and reports lie: blocks of bytes in chains, an entry for each chain, and a tag that says what the chain
//! is.
//!
//! # Why nothing is lost or done twice, whoever is killed at whatever instruction
//!
//! Everything but the bytes of a payload is changed under one mutex, and *the tags are the truth*: each change of a
//! task's generation is one store of its tag. Free blocks, queues, clock, idle workers and counts are made of the tags
//! and entries, and made anew ([`Store::rebuild`]) by whoever gets the mutex after a holder's death. What an entry says
//! is stored before the tag that makes it count.
//!
//! Outside the mutex a process touches only payloads of chains whose tag names it (`Writing`, `Taken`, `Reading`). When
//! it dies the master gives those chains their next tag ([`super::TaskQueue::bury`]).

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::region::{Region, Shared};
use crate::robust::{Guard, RobustMutex};

/// Bytes of a block.
pub(super) const BLOCK: usize = 512;
/// Where blocks were used and none is any more, memory from this many bytes on is given back.
const GIVE_BACK: usize = 4 << 20;
/// The mutex is held for a microsecond as a rule: it is tried this often before the kernel is asked.
const SPINS: usize = 60;

/// A number that is only touched under the mutex. Block numbers and slots stand here one higher: 0 is none.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(super) struct Word(AtomicU32);

// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for Word {}

impl Word {
    #[inline]
    pub(super) fn get(&self) -> u32 {
        self.0.load(Relaxed)
    }

    #[inline]
    pub(super) fn set(&self, n: u32) {
        self.0.store(n, Relaxed);
    }

    #[inline]
    pub(super) fn add(&self, n: u32) {
        self.set(self.get().wrapping_add(n));
    }

    #[inline]
    pub(super) fn sub(&self, n: u32) {
        self.set(self.get().saturating_sub(n));
    }
}

/// The same with 64 bits.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(super) struct Wide(AtomicU64);

// SAFETY: an atomic integer; zero is valid.
unsafe impl Shared for Wide {}

impl Wide {
    #[inline]
    pub(super) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    pub(super) fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }

    #[inline]
    pub(super) fn next(&self) -> u64 {
        let n = self.get() + 1;
        self.set(n);
        n
    }
}

/// What the chain that begins at a block is; `Free` for every other block as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Free,
    /// The process of this slot writes its payload.
    Writing(u32),
    /// A task that waits in this queue.
    Queued(u32),
    /// A task that waits for its time.
    Delayed,
    /// A task that the process of this slot runs.
    Taken(u32),
    /// A task that is over: the chain that `Entry::reply` names becomes a report, this one free. Never seen outside the
    /// mutex but after a death.
    Ended(u32),
    /// A report for the process of this slot.
    Report(u32),
    /// A report that this process reads.
    Reading(u32),
}

impl Tag {
    fn encode(self) -> u64 {
        let (kind, number) = match self {
            Self::Free => (0, 0),
            Self::Writing(slot) => (1, slot),
            Self::Queued(queue) => (2, queue),
            Self::Delayed => (3, 0),
            Self::Taken(slot) => (4, slot),
            Self::Ended(slot) => (5, slot),
            Self::Report(slot) => (6, slot),
            Self::Reading(slot) => (7, slot),
        };
        kind << 32 | u64::from(number)
    }

    fn decode(bits: u64) -> Self {
        let number = bits as u32;
        match bits >> 32 {
            1 => Self::Writing(number),
            2 => Self::Queued(number),
            3 => Self::Delayed,
            4 => Self::Taken(number),
            5 => Self::Ended(number),
            6 => Self::Report(number),
            7 => Self::Reading(number),
            _ => Self::Free,
        }
    }
}

/// Whose room a chain takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pool {
    Tasks = 0,
    Reports = 1,
}

/// Of each block: the next one of its chain, or of the free ones.
#[derive(Debug)]
#[repr(C)]
struct Meta {
    tag: AtomicU64,
    next: Word,
    unused: Word,
}

// SAFETY: atomics; all-zero is a free block.
unsafe impl Shared for Meta {}

/// What is known of a chain, at its first block.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Entry {
    pub(super) id: Wide,
    /// Where it stands among others of its queue or inbox.
    pub(super) order: Wide,
    /// When it is due: microseconds of the monotonic clock.
    pub(super) due: Wide,
    /// Likewise by the calendar, in milliseconds since 1970; 0 where that does not matter.
    pub(super) wall: Wide,
    /// Microseconds between two runs; 0 for one run.
    pub(super) period: Wide,
    /// When it was handed over, in microseconds since 1970.
    pub(super) born: Wide,
    /// Bytes of the payload.
    pub(super) len: Wide,
    /// What only one of the tasks that wait has; 0 for nothing.
    pub(super) key: Wide,
    /// Slot of the process that handed it over, and that slot's generation then.
    pub(super) sender: Word,
    pub(super) sender_generation: Word,
    /// The program's own.
    pub(super) flags: Word,
    /// What is reported of it; of a report its kind.
    pub(super) wants: Word,
    pub(super) queue: Word,
    /// Whether nobody wants it any more.
    pub(super) cancelled: Word,
    pub(super) reply: Word,
    pub(super) last_block: Word,
    pub(super) blocks: Word,
    pub(super) pool: Word,
    /// Neighbours in its queue or inbox.
    pub(super) before: Word,
    pub(super) after: Word,
    /// Its place in the clock, counted from 1.
    pub(super) clock_at: Word,
    unused: Word,
}

// SAFETY: atomics; all-zero is an entry that says nothing.
unsafe impl Shared for Entry {}

/// A line of chains.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Line {
    pub(super) first: Word,
    pub(super) last: Word,
}

// SAFETY: atomics; all-zero is the empty line.
unsafe impl Shared for Line {}

/// The numbers that are not of a block.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Head {
    mutex: RobustMutex,
    /// The first free block that was used before.
    free: Word,
    /// The last block that was ever used, since all were free.
    touched: Word,
    pub(super) used: [Word; 2],
    pub(super) ids: Wide,
    pub(super) orders: Wide,
    pub(super) waiting: Word,
    pub(super) running: Word,
    /// Tasks in the clock.
    pub(super) clock: Word,
    /// Workers that have nothing to do.
    pub(super) idle: Word,
    /// The slot of the one among them that looks at the clock.
    pub(super) keeper: Word,
    /// Slots that wait for room.
    pub(super) interested: Word,
    /// Whether all who sleep are to look again, because lines were made anew.
    pub(super) alarm: Word,
    unused: Word,
}

// SAFETY: atomics and a mutex of the C library.
unsafe impl Shared for Head {}

/// What is known of a slot.
#[derive(Debug)]
#[repr(C)]
pub(super) struct SlotFacts {
    /// Grows with each death.
    pub(super) generation: Word,
    /// The number among task workers of the process that has it, while that is idle.
    pub(super) worker: Word,
    pub(super) interest: Word,
    unused: Word,
}

// SAFETY: atomics; all-zero is a slot that nobody had.
unsafe impl Shared for SlotFacts {}

/// The memory.
#[derive(Debug)]
pub(super) struct Store {
    region: Region,
    /// Blocks that each pool may take.
    pub(super) share: u32,
    pub(super) slots: usize,
    pub(super) queues: usize,
    at: Offsets,
}

#[derive(Debug, Clone, Copy)]
struct Offsets {
    places: usize,
    idle: usize,
    queues: usize,
    inboxes: usize,
    clock: usize,
    metas: usize,
    entries: usize,
    data: usize,
}

impl Store {
    /// Room for so many bytes of tasks, and of reports; processes in so many slots, and so many queues.
    pub(super) fn new(bytes: usize, slots: usize, queues: usize) -> io::Result<Self> {
        let too_much = || io::Error::from(io::ErrorKind::OutOfMemory);
        let share =
            u32::try_from(bytes.div_ceil(BLOCK)).ok().filter(|share| *share < u32::MAX / 4).ok_or_else(too_much)?;
        // Block 0 is none.
        let blocks = 2 * share as usize + 1;
        let mut end = 0usize;
        let mut part = |count: usize, size: usize| {
            let start = end.next_multiple_of(4096);
            end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(start)).ok_or_else(too_much)?;
            io::Result::Ok(start)
        };
        part(1, size_of::<Head>())?;
        let at = Offsets {
            places: part(slots, size_of::<SlotFacts>())?,
            idle: part(slots, size_of::<Word>())?,
            queues: part(queues, size_of::<Line>())?,
            inboxes: part(slots, size_of::<Line>())?,
            clock: part(blocks, size_of::<Word>())?,
            metas: part(blocks, size_of::<Meta>())?,
            entries: part(blocks, size_of::<Entry>())?,
            data: part(blocks, BLOCK)?,
        };
        let store = Self { region: Region::new(end)?, share, slots, queues, at };
        store.head().mutex.init()?;
        Ok(store)
    }

    pub(super) fn lock(&self) -> Guard<'_> {
        for _ in 0..SPINS {
            if let Some(guard) = self.head().mutex.try_lock(|| self.rebuild()) {
                return guard;
            }
            std::hint::spin_loop();
        }
        self.head().mutex.lock(|| self.rebuild())
    }

    pub(super) fn head(&self) -> &Head {
        self.region.at(0)
    }

    pub(super) fn place(&self, slot: usize) -> &SlotFacts {
        &self.region.slice(self.at.places, self.slots)[slot]
    }

    /// Slots of idle workers, the one that has been so longest first; `Head::idle` of them count.
    pub(super) fn idle(&self) -> &[Word] {
        self.region.slice(self.at.idle, self.slots)
    }

    pub(super) fn queue(&self, queue: usize) -> &Line {
        &self.region.slice(self.at.queues, self.queues)[queue]
    }

    pub(super) fn inbox(&self, slot: usize) -> &Line {
        &self.region.slice(self.at.inboxes, self.slots)[slot]
    }

    /// The heap of the tasks that wait for their time.
    pub(super) fn clock(&self) -> &[Word] {
        self.region.slice(self.at.clock, self.blocks())
    }

    /// Blocks, the unused number 0 included.
    fn blocks(&self) -> usize {
        2 * self.share as usize + 1
    }

    fn meta(&self, block: u32) -> &Meta {
        &self.region.slice(self.at.metas, self.blocks())[block as usize]
    }

    pub(super) fn entry(&self, block: u32) -> &Entry {
        &self.region.slice(self.at.entries, self.blocks())[block as usize]
    }

    pub(super) fn tag(&self, block: u32) -> Tag {
        Tag::decode(self.meta(block).tag.load(Relaxed))
    }

    /// The store that counts.
    pub(super) fn set_tag(&self, block: u32, tag: Tag) {
        self.meta(block).tag.store(tag.encode(), std::sync::atomic::Ordering::Release);
    }

    /// All chains, with their tags.
    pub(super) fn chains(&self) -> impl Iterator<Item = (u32, Tag)> {
        (1..=self.head().touched.get()).map(|block| (block, self.tag(block))).filter(|(_, tag)| *tag != Tag::Free)
    }

    /// Whether a payload would ever find room.
    pub(super) fn is_too_large(&self, len: usize) -> bool {
        len.div_ceil(BLOCK) > self.share as usize
    }

    /// A chain for so many bytes, without a tag yet; `None`: no room.
    pub(super) fn allocate(&self, pool: Pool, len: usize) -> Option<u32> {
        let head = self.head();
        let used = &head.used[pool as usize];
        let need = u32::try_from(len.div_ceil(BLOCK).max(1)).ok()?;
        if need > self.share.saturating_sub(used.get()) {
            return None;
        }
        let (mut first, mut last) = (0, 0);
        for _ in 0..need {
            let block = match head.free.get() {
                0 => {
                    head.touched.add(1);
                    head.touched.get()
                }
                free => {
                    head.free.set(self.meta(free).next.get());
                    free
                }
            };
            self.meta(block).next.set(0);
            if first == 0 {
                first = block;
            } else {
                self.meta(last).next.set(block);
            }
            last = block;
        }
        used.add(need);
        let entry = self.entry(first);
        entry.len.set(len as u64);
        entry.blocks.set(need);
        entry.last_block.set(last);
        entry.pool.set(pool as u32);
        entry.cancelled.set(0);
        entry.reply.set(0);
        entry.clock_at.set(0);
        Some(first)
    }

    /// Gives a chain's blocks back.
    pub(super) fn release(&self, block: u32) {
        self.set_tag(block, Tag::Free);
        let (head, entry) = (self.head(), self.entry(block));
        self.meta(entry.last_block.get()).next.set(head.free.get());
        head.free.set(block);
        head.used[(entry.pool.get() & 1) as usize].sub(entry.blocks.get());
        if head.used.iter().all(|used| used.get() == 0) && head.touched.get() as usize * BLOCK >= GIVE_BACK {
            self.give_back();
        }
    }

    /// Nothing is here: begins anew with the first block, and gives the memory back to the system.
    fn give_back(&self) {
        let touched = self.head().touched.get() as usize + 1;
        self.head().free.set(0);
        self.head().touched.set(0);
        self.region.release(self.at.metas, touched * size_of::<Meta>());
        self.region.release(self.at.entries, touched * size_of::<Entry>());
        self.region.release(self.at.data, touched * BLOCK);
    }

    /// Writes a payload into its chain.
    pub(super) fn fill(&self, block: u32, payload: &[u8]) {
        let mut at = block;
        for chunk in payload.chunks(BLOCK) {
            if at == 0 || at as usize >= self.blocks() {
                return;
            }
            self.region.copy_in(self.at.data + at as usize * BLOCK, chunk);
            at = self.meta(at).next.get();
        }
    }

    /// The payload of a chain.
    pub(super) fn read(&self, block: u32) -> Vec<u8> {
        let len = (self.entry(block).len.get() as usize).min(self.share as usize * BLOCK);
        let (mut payload, mut at) = (Vec::with_capacity(len + 8), block);
        // A chain that memory gone bad has made a circle of ends with the length.
        while payload.len() < len && at != 0 && (at as usize) < self.blocks() {
            let chunk = (len - payload.len()).min(BLOCK);
            self.region.copy_out(self.at.data + at as usize * BLOCK, chunk, &mut payload);
            at = self.meta(at).next.get();
        }
        payload
    }

    /// After a holder's death: makes everything anew that follows from the tags. May itself be broken off and begun
    /// again anywhere.
    fn rebuild(&self) {
        let ended: Vec<(u32, u32)> = self
            .chains()
            .filter(|(_, tag)| matches!(tag, Tag::Ended(_)))
            .map(|(block, _)| (block, self.entry(block).reply.get()))
            .collect();
        for (block, reply) in ended {
            if reply != 0 {
                self.set_tag(reply, Tag::Report(self.entry(reply).sender.get()));
            }
            self.set_tag(block, Tag::Free);
        }
        self.rebuild_free();
        super::lines::rebuild(self);
        self.head().alarm.set(1);
    }

    /// Every block that no chain holds is free.
    fn rebuild_free(&self) {
        let (head, mut used) = (self.head(), [0u32; 2]);
        let touched = head.touched.get().min(2 * self.share);
        head.touched.set(touched);
        let mut held = vec![false; touched as usize + 1];
        for (block, _) in self.chains() {
            used[(self.entry(block).pool.get() & 1) as usize] += self.entry(block).blocks.get();
            let mut at = block;
            while at != 0 && at <= touched && !held[at as usize] {
                held[at as usize] = true;
                at = self.meta(at).next.get();
            }
        }
        let mut free = 0;
        for block in (1..=touched).rev().filter(|block| !held[*block as usize]) {
            self.meta(block).next.set(free);
            free = block;
        }
        head.free.set(free);
        head.used.iter().zip(used).for_each(|(word, count)| word.set(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_survives_its_word() {
        let tags = [
            Tag::Free,
            Tag::Writing(1),
            Tag::Queued(7),
            Tag::Delayed,
            Tag::Taken(u32::MAX),
            Tag::Ended(0),
            Tag::Report(3),
            Tag::Reading(4),
        ];
        assert!(tags.iter().all(|tag| Tag::decode(tag.encode()) == *tag));
    }

    #[test]
    fn chains_hold_what_was_written_and_their_memory_comes_back() {
        let store = Store::new(64 << 20, 1, 1).unwrap();
        let payloads: Vec<Vec<u8>> = [0, 1, 511, 512, 513, 100_000, 20 << 20]
            .iter()
            .map(|len| (0..*len).map(|n| (n * 7) as u8).collect())
            .collect();
        let chains: Vec<u32> = payloads
            .iter()
            .map(|payload| {
                let chain = store.allocate(Pool::Tasks, payload.len()).unwrap();
                store.fill(chain, payload);
                store.set_tag(chain, Tag::Delayed);
                chain
            })
            .collect();
        assert!(chains.iter().zip(&payloads).all(|(chain, payload)| store.read(*chain) == *payload));
        store.rebuild();
        assert!(chains.iter().zip(&payloads).all(|(chain, payload)| store.read(*chain) == *payload));
        assert!(store.region.resident() > 20 << 20);
        for chain in chains {
            store.release(chain);
        }
        assert_eq!(store.head().used[0].get(), 0);
        assert!(store.region.resident() < 1 << 20, "{}", store.region.resident());
    }

    #[test]
    fn each_pool_is_bounded_by_itself_and_blocks_are_used_again() {
        let store = Store::new(10 * BLOCK, 1, 1).unwrap();
        for _ in 0..3 {
            let all: Vec<u32> = (0..5).map(|_| store.allocate(Pool::Tasks, BLOCK + 1).unwrap()).collect();
            assert_eq!(store.allocate(Pool::Tasks, 0), None);
            let report = store.allocate(Pool::Reports, 10 * BLOCK).unwrap();
            assert_eq!(store.allocate(Pool::Reports, 1), None);
            all.iter().chain([&report]).for_each(|chain| {
                store.set_tag(*chain, Tag::Delayed);
                store.release(*chain);
            });
        }
        assert_eq!(store.head().touched.get(), 20);
    }

    #[test]
    fn blocks_without_a_tag_are_free_after_a_death() {
        let store = Store::new(4 * BLOCK, 1, 1).unwrap();
        store.allocate(Pool::Tasks, 3 * BLOCK).unwrap();
        assert_eq!(store.allocate(Pool::Tasks, 2 * BLOCK), None);
        store.rebuild();
        assert!(store.allocate(Pool::Tasks, 4 * BLOCK).is_some());
    }
}
