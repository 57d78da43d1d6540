//! Messages between the processes of a server: records in shared memory, and a bell for whoever sleeps.
//!
//! Every ordered pair of slots of the scoreboard has a [ring](crate::ring) of its own; every slot has an inbox: a bit
//! for each sender with something new, and a bell, an eventfd that the master makes before the first fork. A post is
//! one copy into the ring, one fence and, when the receiver sleeps, one `write(2)`; a take reads the records where they
//! lie.
//!
//! # Lives
//!
//! A slot has process after process. `life` is odd while one has it and grows with each birth and each death; the
//! master writes it, and the process itself when it retires. A record carries the life that it was posted for, so a
//! successor never reads what was meant for its predecessor, even where a poster had looked at the life just before the
//! death.
//!
//! # Why no wake-up is lost
//!
//! `epoch` counts how often the receiver has turned to its inbox; it alone writes it. `rung` is the last epoch in which
//! somebody rang. A poster publishes, sets its bit, loads `epoch`, and rings unless `rung` equals what it loaded: the
//! first post after each turn rings, the others do not. The receiver empties the bell, then raises `epoch`, then takes
//! the bits, then reads the rings.
//!
//! - *A poster that does not ring saw `rung` = `epoch` = e*: somebody rang after the receiver had raised `epoch` to e,
//!   so after it had emptied the bell before. That ring is in the bell still, or the receiver has emptied it since and
//!   turns to its inbox again. Setting the bit, loading `epoch`, raising `epoch` and taking the bits are sequentially
//!   consistent; the load gave e, so it precedes the raise to e + 1 in their order, and the bit precedes the take that
//!   follows. The receiver finds it.
//! - *A poster that finds its bit set leaves it*: a fence between `tail` and the look at the bit, and one between the
//!   taking of bits and the look at `tail`, mean that either the receiver has yet to take that bit, or it sees the new
//!   `tail`.
//! - *A poster killed after the publication and before the bit or the bell*: the master sets its bit and rings for it
//!   ([`IpcRings::close`]). `rung` is stored after the bell has rung, never before, so a poster killed in between makes
//!   others ring once too often; the other order would silence the receiver for good.
//! - *A receiver killed in the middle* leaves bits taken and records unread: its successor looks into every ring that
//!   was ever used.
//!
//! # What it costs
//!
//! The rings are one mapping without reserve: address space of slots² times the ring's size, memory only for pages that
//! were touched. A pair that never talks costs nothing, one whose receiver keeps up a few pages, one that was full once
//! its whole ring. The default size shares 256 MiB among all pairs, but a ring has at least 64 KiB: from 22 workers on
//! (64 slots) that is more than 256 MiB if every pair fills its ring. At 1,024 workers (3,072 slots) the mapping is 576
//! GiB of address space and 1.2 GiB of positions, of which again only the pages of pairs that talk are taken; bits and
//! inboxes are 3 MiB, and every process has 3,072 descriptors, the bells. Systems that allow no overcommit
//! (`vm.overcommit_memory` = 2) or limit address space refuse such a mapping: `ring_size` makes it smaller.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};

use crate::bits::Bits;
use crate::error::PostError;
use crate::ring::{Ends, Refused, Ring, Tag};
use crate::{log, sys};
use apus_shm::{self as shm, Shared};

/// What the default size of the rings shares out.
const BUDGET: usize = 256 << 20;
/// The smallest ring that the default gives, in bytes.
const SMALLEST: usize = 64 << 10;
/// The largest ring that the default gives, in bytes.
const LARGEST: usize = 1 << 20;
/// Bytes taken from one sender before the next one's turn.
const TURN: usize = 64 << 10;

/// A cache line of its own: its writer is not its neighbours' writer.
#[derive(Debug)]
#[repr(C, align(64))]
struct Line<T>(T);

#[derive(Debug)]
#[repr(C)]
struct Inbox {
    life: Line<AtomicU32>,
    epoch: Line<AtomicU64>,
    rung: Line<AtomicU64>,
}

// SAFETY: all fields are atomics; all-zero is the inbox of a slot that nobody ever had.
unsafe impl Shared for Inbox {}

/// All that the processes share for their messages.
#[derive(Debug)]
pub(crate) struct IpcRings {
    /// One a slot; inherited by every process.
    bells: Vec<OwnedFd>,
    inboxes: &'static [Inbox],
    /// A bit a sender, `words` words a receiver: something new.
    news: &'static [AtomicU64],
    /// Likewise: the ring was used at least once.
    known: &'static [AtomicU64],
    /// The positions of all rings, a receiver's side by side.
    ends: &'static [Ends],
    data: &'static [AtomicU64],
    words: usize,
    /// Bytes of one ring.
    ring_size: usize,
}

impl IpcRings {
    /// Maps rings for `slots` processes; `ring_size` in bytes, rounded up to a power of two, 0 for a size that suits.
    pub(crate) fn new(slots: usize, ring_size: usize) -> io::Result<&'static Self> {
        let pairs = slots.checked_mul(slots).ok_or(io::ErrorKind::OutOfMemory)?;
        let ring_size = match ring_size {
            0 => default_size(pairs),
            // Two pages at least, of the largest that kernels have.
            given => given.checked_next_power_of_two().ok_or(io::ErrorKind::OutOfMemory)?.max(8192),
        };
        let words = slots.div_ceil(64);
        let data = pairs.checked_mul(ring_size / 8).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Box::leak(Box::new(Self {
            bells: (0..slots).map(|_| sys::eventfd()).collect::<io::Result<_>>()?,
            inboxes: shm::map(slots)?,
            news: shm::map(slots * words)?,
            known: shm::map(slots * words)?,
            ends: shm::map(pairs)?,
            data: shm::map(data)?,
            words,
            ring_size,
        })))
    }

    fn slots(&self) -> usize {
        self.inboxes.len()
    }

    fn life(&self, slot: usize) -> Option<u32> {
        self.inboxes.get(slot).map(|inbox| inbox.life.0.load(Acquire)).filter(|life| life % 2 == 1)
    }

    /// Whether a process has the slot.
    pub(crate) fn is_live(&self, slot: usize) -> bool {
        self.life(slot).is_some()
    }

    fn ring(&self, to: usize, from: usize) -> Ring {
        let pair = to * self.slots() + from;
        let words = self.ring_size / 8;
        Ring::new(&self.ends[pair], &self.data[pair * words..][..words])
    }

    fn bits<'a>(&self, of: &'a [AtomicU64], to: usize) -> &'a [AtomicU64] {
        &of[to * self.words..][..self.words]
    }

    /// A process is about to be forked into this slot. Only the master calls this.
    pub(crate) fn open(&self, slot: usize) {
        let life = &self.inboxes[slot].life.0;
        life.store(life.load(Relaxed) | 1, Release);
    }

    /// The process of this slot is gone. What it published and did not announce is announced, who waits for room in its
    /// inbox is told to look again. Only the master calls this, once it has reaped the process and before the slot is
    /// used again.
    pub(crate) fn close(&self, slot: usize) {
        let life = &self.inboxes[slot].life.0;
        let now = life.load(Relaxed);
        life.store(now.wrapping_add(now % 2), Release);
        fence(SeqCst);
        let (word, bit) = (slot / 64, 1u64 << (slot % 64));
        for to in (0..self.slots()).filter(|to| self.bits(self.known, *to)[word].load(SeqCst) & bit != 0) {
            self.bits(self.news, to)[word].fetch_or(bit, SeqCst);
            self.ring_bell(to);
        }
        for from in self.senders(slot).filter(|from| self.ring(slot, *from).is_room_wanted()) {
            self.ring_bell(from);
        }
    }

    /// Wakes every process.
    #[cfg(test)]
    pub(crate) fn ring_all(&self) {
        self.bells.iter().for_each(|bell| sys::ring(bell.as_fd()));
    }

    /// Who ever posted to the slot.
    fn senders(&self, slot: usize) -> impl Iterator<Item = usize> {
        let words = self.bits(self.known, slot).iter().enumerate();
        words
            .flat_map(|(at, word)| Bits(word.load(SeqCst)).map(move |bit| at * 64 + bit))
            .filter(|from| *from < self.slots())
    }

    /// Wakes the process of a slot, unless somebody has since it last turned to its inbox.
    fn ring_bell(&self, slot: usize) {
        let inbox = &self.inboxes[slot];
        let epoch = inbox.epoch.0.load(SeqCst);
        if inbox.rung.0.load(SeqCst) != epoch {
            sys::ring(self.bells[slot].as_fd());
            inbox.rung.0.store(epoch, SeqCst);
        }
    }
}

/// The largest power of two that gives every pair its share of the budget, within the bounds.
fn default_size(pairs: usize) -> usize {
    let share = BUDGET / pairs.max(1);
    (1usize << share.max(1).ilog2()).clamp(SMALLEST, LARGEST)
}

/// A process's messages: what it sends to others, and what others sent to it. Slots are those of the scoreboard.
///
/// Records of one sender arrive in the order in which they were posted, each once. What a process had published when it
/// died still arrives. A reply to a slot may meet the successor of the process that asked: put a number into the
/// question that a successor does not know.
#[derive(Debug)]
pub struct IpcEndpoint {
    office: &'static IpcRings,
    slot: usize,
    life: u32,
    /// For each receiver, where it was when last looked at.
    heads: Box<[Cell<u64>]>,
    /// Bits taken from the inbox whose rings are not drained yet.
    taken: Box<[Cell<u64>]>,
    /// The sender whose turn is next.
    turn: Cell<usize>,
    taking: Cell<bool>,
}

impl IpcEndpoint {
    /// The messages of the process that has just been forked into `slot`.
    pub(crate) fn new(office: &'static IpcRings, slot: usize) -> Self {
        let ipc = Self {
            office,
            slot,
            life: office.inboxes[slot].life.0.load(Acquire),
            heads: (0..office.slots()).map(|_| Cell::new(0)).collect(),
            taken: office.bits(office.known, slot).iter().map(|word| Cell::new(word.load(SeqCst))).collect(),
            turn: Cell::new(0),
            taking: Cell::new(false),
        };
        // A predecessor's ring is nothing to this process; its own makes the first look.
        ipc.clear_signal();
        sys::ring(ipc.fd());
        ipc
    }

    /// The slot of this process: what the others post to.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The descriptor to watch: readable when there may be messages, when there may be room again where
    /// [`post`](Self::post) said `Full`, and when a process that was waited for is gone. It does not block. It is
    /// readable once at the beginning.
    ///
    /// When it is: [`clear_signal`](Self::clear_signal), then [`take`](Self::take) until that says that nothing is
    /// left, then post again what had found no room. With an edge-triggered watch (tokio's `AsyncFd`), clear the
    /// watch's readiness before `clear_signal`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.office.bells[self.slot].as_fd()
    }

    /// Makes the descriptor unreadable until something new comes. What came before must be taken after this, or it
    /// waits for the next post.
    pub fn clear_signal(&self) {
        sys::silence(self.fd());
        self.office.inboxes[self.slot].epoch.0.fetch_add(1, SeqCst);
    }

    /// Sends a record, its payload gathered from the parts, to the process that has `slot` now (which may be this one).
    ///
    /// Nothing is sent in part: on an error the receiver sees nothing. After `Full`, [`fd`](Self::fd) turns readable
    /// when a try makes sense again.
    pub fn post(&self, slot: usize, kind: u8, parts: &[&[u8]]) -> Result<(), PostError> {
        let life = self.office.life(slot).ok_or(PostError::Gone)?;
        let (ring, tag) = (self.office.ring(slot, self.slot), Tag { kind, life });
        let (word, bit) = (self.slot / 64, 1u64 << (self.slot % 64));
        if ring.is_new() {
            // Before the first publication: whoever looks for what a dead process left looks here.
            self.office.bits(self.office.known, slot)[word].fetch_or(bit, SeqCst);
        }
        let head = &self.heads[slot];
        let mut pushed = ring.push(head, tag, parts);
        if pushed == Err(Refused::Full) && self.room_wanted(slot) {
            pushed = ring.push(head, tag, parts);
        }
        match pushed {
            Ok(()) => {
                self.announce(slot);
                Ok(())
            }
            // Whoever died since the first look would be waited for in vain.
            Err(Refused::Full) if self.office.is_live(slot) => Err(PostError::Full),
            Err(Refused::Full) => Err(PostError::Gone),
            Err(Refused::TooLarge) => Err(PostError::TooLarge),
        }
    }

    fn announce(&self, slot: usize) {
        let (word, bit) = (self.slot / 64, 1u64 << (self.slot % 64));
        let news = &self.office.bits(self.office.news, slot)[word];
        fence(SeqCst);
        if news.load(Relaxed) & bit == 0 {
            news.fetch_or(bit, SeqCst);
        }
        self.office.ring_bell(slot);
    }

    /// Asks to be woken when there is room for any record in the ring to `slot`; `post` asks so by itself when it says
    /// `Full`. True when there is nothing to wait for: half of the ring is free now, or no process is there.
    pub fn room_wanted(&self, slot: usize) -> bool {
        if !self.office.is_live(slot) {
            return true;
        }
        let has_room = self.office.ring(slot, self.slot).want_room();
        if !has_room {
            // A receiver that knows of records drains them; this is for one that does not: a successor, or after spoilt
            // memory.
            self.announce(slot);
        }
        // Looked at again after `wanted` was stored: a death in between would not have seen it.
        has_room || !self.office.is_live(slot)
    }

    /// Gives received records to `read`, as sender's slot, kind and payload, until about `budget` bytes are used up
    /// (one record at least); whether there may be more. Senders take turns. The payload is the shared memory itself,
    /// and the sender's again when `read` returns. `read` may post; called from within `read`, `take` does nothing and
    /// says false.
    pub fn take(&self, budget: usize, mut read: impl FnMut(usize, u8, &[u8])) -> bool {
        if self.taking.replace(true) {
            return false;
        }
        let _taking = Taking(&self.taking);
        self.collect_news();
        let mut budget = budget.max(1);
        while budget > 0
            && let Some(from) = self.next_sender()
        {
            self.take_from(from, &mut budget, &mut read);
        }
        self.taken.iter().any(|word| word.get() != 0)
    }

    /// Takes the bits out of the inbox.
    fn collect_news(&self) {
        for (word, taken) in self.office.bits(self.office.news, self.slot).iter().zip(&self.taken) {
            if word.load(SeqCst) != 0 {
                taken.set(taken.get() | word.swap(0, SeqCst));
            }
        }
        fence(SeqCst);
    }

    /// The sender whose turn it is, of those with something new.
    fn next_sender(&self) -> Option<usize> {
        let (turn, words) = (self.turn.get(), self.taken.len());
        let first = turn / 64;
        // The word of the turn twice: from the turn on, and at last what is before it.
        let sender = (0..=words).find_map(|n| {
            let at = (first + n) % words;
            let mask = if n == 0 { u64::MAX << (turn % 64) } else { u64::MAX };
            Bits(self.taken[at].get() & mask).next().map(|bit| at * 64 + bit)
        })?;
        self.turn.set((sender + 1) % self.office.slots());
        Some(sender)
    }

    fn take_from(&self, from: usize, budget: &mut usize, read: &mut impl FnMut(usize, u8, &[u8])) {
        let word = &self.taken[from / 64];
        let bit = 1u64 << (from % 64);
        word.set(word.get() & !bit);
        if from >= self.office.slots() {
            return;
        }
        let turn = (*budget).min(TURN);
        let mut left = turn;
        let drained = self.office.ring(self.slot, from).drain(self.life, &mut left, &mut |kind, payload| {
            read(from, kind, payload);
        });
        *budget -= turn - left;
        match drained {
            Ok(drained) => {
                if drained.more {
                    word.set(word.get() | bit);
                }
                if drained.room {
                    self.office.ring_bell(from);
                }
            }
            Err(broken) => {
                log::error(format_args!(
                    "ipc from slot {from} to slot {}: spoilt shared memory (read to {}, written to {}); what was not read is lost",
                    self.slot, broken.head, broken.tail
                ));
                self.office.ring_bell(from);
            }
        }
    }

    /// Receives nothing new: from now on others find nobody here. What they posted before is still to be taken. For a
    /// process that ends: retire, take until nothing is left, leave. What somebody is posting at this very moment may
    /// be lost, as it would be in a crash.
    pub fn retire(&self) {
        // The next life, unless the master has given it already.
        let _ = self.office.inboxes[self.slot].life.0.compare_exchange(
            self.life,
            self.life.wrapping_add(1),
            SeqCst,
            Relaxed,
        );
    }

    /// The longest payload that [`post`](Self::post) takes, in bytes: cut longer ones.
    pub fn largest(&self) -> usize {
        Ring::largest(self.office.ring_size)
    }
}

/// Ends a `take` also when its closure unwinds.
struct Taking<'a>(&'a Cell<bool>);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offices(slots: usize) -> &'static IpcRings {
        let office = IpcRings::new(slots, 8192).unwrap();
        (0..slots).for_each(|slot| office.open(slot));
        office
    }

    fn all(ipc: &IpcEndpoint) -> Vec<(usize, u8, Vec<u8>)> {
        let mut got = Vec::new();
        while ipc.take(usize::MAX, |from, kind, payload| got.push((from, kind, payload.to_vec()))) {}
        got
    }

    /// How often the bell was rung since the last look.
    fn rings(ipc: &IpcEndpoint) -> u64 {
        let mut count = [0; 8];
        nix::unistd::read(ipc.fd(), &mut count).map_or(0, |_| u64::from_ne_bytes(count))
    }

    #[test]
    fn records_come_from_every_sender_and_from_oneself() {
        let office = offices(70);
        let (first, last) = (IpcEndpoint::new(office, 0), IpcEndpoint::new(office, 69));
        first.post(69, 1, &[b"to the ", b"last"]).unwrap();
        last.post(0, 2, &[b"to the first"]).unwrap();
        last.post(69, 3, &[]).unwrap();
        assert_eq!(all(&last), [(0, 1, b"to the last".to_vec()), (69, 3, Vec::new())]);
        assert_eq!(all(&first), [(69, 2, b"to the first".to_vec())]);
        assert_eq!(first.post(70, 0, &[]), Err(PostError::Gone));
        assert_eq!(first.post(1, 0, &[&vec![0; first.largest() + 1]]), Err(PostError::TooLarge));
    }

    #[test]
    fn the_bell_rings_once_between_two_looks() {
        let office = offices(3);
        let ipcs = [0, 1, 2].map(|slot| IpcEndpoint::new(office, slot));
        assert_eq!(ipcs.each_ref().map(rings), [1, 1, 1], "the first look is one's own doing");
        for _ in 0..3 {
            ipcs[0].clear_signal();
            (0..20).for_each(|n| ipcs[1 + n % 2].post(0, 0, &[b"x"]).unwrap());
            assert_eq!((rings(&ipcs[0]), all(&ipcs[0]).len()), (1, 20));
            assert_eq!(rings(&ipcs[0]), 0);
        }
    }

    #[test]
    fn senders_take_turns() {
        let office = offices(3);
        let (receiver, busy, idle) =
            (IpcEndpoint::new(office, 0), IpcEndpoint::new(office, 1), IpcEndpoint::new(office, 2));
        while busy.post(0, 0, &[&[0; 100]]).is_ok() {}
        let mut from = Vec::new();
        for _ in 0..3 {
            idle.post(0, 0, &[b"x"]).unwrap();
            assert!(receiver.take(300, |sender, _, _| from.push(sender)), "there is more");
        }
        assert!(from.iter().filter(|sender| **sender == 2).count() >= 1, "{from:?}");
    }

    #[test]
    fn a_full_ring_is_told_when_there_is_room_and_when_nobody_is_there() {
        let office = offices(2);
        let (sender, receiver) = (IpcEndpoint::new(office, 0), IpcEndpoint::new(office, 1));
        let fill = || {
            while sender.post(1, 0, &[&[0; 500]]).is_ok() {}
            sender.clear_signal();
            assert_eq!(sender.post(1, 0, &[&[0; 500]]), Err(PostError::Full));
            assert!(!sender.room_wanted(1));
        };
        fill();
        assert_eq!(rings(&sender), 0);
        all(&receiver);
        assert_eq!(rings(&sender), 1);
        fill();
        office.close(1);
        assert_eq!(rings(&sender), 1);
        assert_eq!(sender.post(1, 0, &[]), Err(PostError::Gone));
        assert!(sender.room_wanted(1));
    }

    #[test]
    fn a_successor_reads_nothing_of_its_predecessors_and_frees_their_rings() {
        let office = offices(2);
        let sender = IpcEndpoint::new(office, 0);
        let fill = || (0..1000).take_while(|_| sender.post(1, 5, &[&[0; 500]]).is_ok()).count();
        let most = fill();
        {
            let dead = IpcEndpoint::new(office, 1);
            dead.collect_news();
        }
        office.close(1);
        office.open(1);
        // The bits went with the predecessor, the records are there.
        let successor = IpcEndpoint::new(office, 1);
        assert_eq!(all(&successor), []);
        assert_eq!(fill(), most);
        assert_eq!(all(&successor).len(), most);
    }

    #[test]
    fn what_a_dead_sender_published_and_did_not_announce_arrives() {
        let office = offices(2);
        let (dead, receiver) = (IpcEndpoint::new(office, 0), IpcEndpoint::new(office, 1));
        receiver.clear_signal();
        assert_eq!(all(&receiver), []);
        dead.post(1, 0, &[b"announced"]).unwrap();
        assert_eq!((all(&receiver).len(), rings(&receiver)), (1, 1));
        receiver.clear_signal();
        let tag = Tag { kind: 3, life: receiver.life };
        office.ring(1, 0).push(&Cell::new(0), tag, &[b"not announced"]).unwrap();
        assert_eq!((all(&receiver).len(), rings(&receiver)), (0, 0));
        office.close(0);
        assert_eq!(rings(&receiver), 1);
        assert_eq!(all(&receiver), [(0, 3, b"not announced".to_vec())]);
    }

    #[test]
    fn who_retires_gets_what_was_sent_and_nothing_more() {
        let office = offices(2);
        let (sender, leaving) = (IpcEndpoint::new(office, 0), IpcEndpoint::new(office, 1));
        sender.post(1, 1, &[]).unwrap();
        leaving.retire();
        assert_eq!(sender.post(1, 2, &[]), Err(PostError::Gone));
        assert_eq!(all(&leaving), [(0, 1, Vec::new())]);
        leaving.post(0, 3, &[]).unwrap();
        assert_eq!(all(&sender), [(1, 3, Vec::new())]);
        office.close(1);
        office.open(1);
        let successor = IpcEndpoint::new(office, 1);
        leaving.retire();
        sender.post(1, 4, &[]).unwrap();
        assert_eq!(all(&successor), [(0, 4, Vec::new())]);
    }

    #[test]
    fn a_take_within_a_take_does_nothing_and_one_that_unwinds_ends() {
        let office = offices(1);
        let ipc = IpcEndpoint::new(office, 0);
        (0..3).for_each(|kind| ipc.post(0, kind, &[]).unwrap());
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ipc.take(usize::MAX, |_, kind, _| {
                assert_eq!(kind, 0);
                assert!(!ipc.take(usize::MAX, |_, _, _| panic!("there is no message")));
                ipc.post(0, 9, &[]).unwrap();
                std::panic::resume_unwind(Box::new(()));
            })
        }));
        assert!(unwound.is_err());
        ipc.post(0, 3, &[]).unwrap();
        assert_eq!(all(&ipc).iter().map(|(_, kind, _)| *kind).collect::<Vec<_>>(), [1, 2, 9, 3]);
    }

    #[test]
    fn rings_share_a_budget_within_bounds() {
        let size = |slots: usize| default_size(slots * slots) >> 10;
        assert_eq!([3, 12, 24, 48, 3072].map(size), [1024, 1024, 256, 64, 64]);
        assert_eq!(IpcRings::new(2, 100_000).unwrap().ring_size, 131_072);
        assert!(IpcRings::new(2, usize::MAX).is_err());
    }

    #[test]
    fn the_largest_server_can_be_mapped() {
        // The bells apart, which are descriptors: all that is mapped for 1,024 workers.
        let pairs = 3072 * 3072;
        assert!(shm::map::<Ends>(pairs).is_ok() && shm::map::<AtomicU64>(pairs * (SMALLEST / 8)).is_ok());
    }
}
