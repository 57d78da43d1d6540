//! Waking processes that sleep, several by one call of the kernel.
//!
//! On a core that they share, a front that wakes a process at once is interrupted by it, and by each further one: two
//! switches a request. So all processes sleep on a few words, 32 on each, for a bit of their own, and a front wakes
//! those to which it has handed something together.
//!
//! A front none of whose processes has anything to do wakes the one that it hands a request to at once, and lets it
//! [go first](Held::let_run) on a core that they share: a short answer is there when the front goes on, and the next
//! request is for the same process, whose memory is in the caches.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use std::time::Instant;

use super::{Channel, Handover, Held};
use crate::futex;
use crate::notifier::Heard;
use crate::region::Shared;

/// Processes that sleep on one word: the bits by which the kernel tells them apart.
const SLEEPERS: usize = u32::BITS as usize;

/// What processes sleep on: it grows whenever some of them are woken, so that none who is about to sleep misses it.
#[repr(C, align(64))]
#[derive(Debug)]
pub(super) struct WakeWord(AtomicU32);

// SAFETY: an atomic alone; zero is a word at which nobody was woken.
unsafe impl Shared for WakeWord {}

impl WakeWord {
    /// How many so many channels need.
    pub(super) fn count(channels: usize) -> usize {
        channels.div_ceil(SLEEPERS)
    }

    fn wake(&self, bits: u32) {
        self.0.fetch_add(1, SeqCst);
        futex::wake_bits(&self.0, bits);
    }
}

/// The processor that this runs on.
fn cpu() -> i32 {
    // SAFETY: reads what the kernel tells of this thread.
    unsafe { libc::sched_getcpu() }
}

impl Held {
    /// Lets the process run first if it last ran on this processor. For a front that waits for nothing else.
    pub fn let_run(&self) {
        if self.channel().cpu.load(Relaxed) == cpu() {
            // SAFETY: no memory is concerned.
            unsafe { libc::sched_yield() };
        }
    }
}

/// The bit of a channel's process.
fn bit(number: usize) -> u32 {
    1 << (number % SLEEPERS)
}

/// Whether the process sleeps: then the caller has to wake it.
fn undertakes(channel: &Channel) -> bool {
    fence(SeqCst);
    channel.asleep.load(Relaxed) != 0 && channel.asleep.swap(0, SeqCst) != 0
}

impl Handover {
    /// Wakes a channel's process if it sleeps.
    pub(super) fn wake(&self, number: usize) {
        if undertakes(&self.channels[number]) {
            self.rouse(number);
        }
    }

    /// The same, whatever it says of itself.
    pub(super) fn rouse(&self, number: usize) {
        self.wake_words[number / SLEEPERS].wake(bit(number));
    }

    /// Sleeps while `still` holds, until somebody wakes the process of this channel.
    pub(super) fn sleep(&self, number: usize, still: impl Fn() -> bool, until: Option<Instant>) -> Heard {
        let (channel, WakeWord(word)) = (&self.channels[number], &self.wake_words[number / SLEEPERS]);
        let before = word.load(SeqCst);
        channel.cpu.store(cpu(), Relaxed);
        channel.asleep.store(1, SeqCst);
        fence(SeqCst);
        let heard = if still() { futex::wait_bits(word, before, bit(number), until) } else { Heard::Something };
        channel.asleep.store(0, SeqCst);
        heard
    }
}

/// Processes that have been handed something, to be woken together: when it is dropped, at the latest.
#[derive(Debug)]
pub struct Wakes {
    handover: &'static Handover,
    /// A word of bits for each word that processes sleep on.
    bits: Vec<u32>,
    count: usize,
}

impl Wakes {
    pub(super) fn new(handover: &'static Handover) -> Self {
        Self { handover, bits: vec![0; handover.wake_words.len()], count: 0 }
    }

    /// How many are to be woken.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The process of a channel has been handed something.
    pub(super) fn add(&mut self, number: usize) {
        if undertakes(&self.handover.channels[number]) {
            self.bits[number / SLEEPERS] |= bit(number);
            self.count += 1;
        }
    }

    /// Wakes them.
    pub fn ring(&mut self) {
        if self.count == 0 {
            return;
        }
        self.count = 0;
        for (bits, word) in self.bits.iter_mut().zip(self.handover.wake_words) {
            if *bits != 0 {
                word.wake(std::mem::take(bits));
            }
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.ring();
    }
}
