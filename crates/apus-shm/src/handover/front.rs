//! The side that hands requests over and reads the answers.

use std::mem::ManuallyDrop;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use super::process::{FRAME, Frame, frame_of};
use super::ring::{Reader, Writer};
use super::state::State;
use super::{Channel, Handover, Kind, RING, Wakes, now_ms, show};

/// Bytes before the request's own: how many those are, and how many the body has.
pub(super) const PREFACE: usize = 16;

/// A front's seat.
#[derive(Debug)]
pub struct Front {
    handover: &'static Handover,
    number: usize,
}

impl Front {
    /// Takes a seat for the process of a slot; `None` when all are taken.
    pub fn sit(handover: &'static Handover, slot: usize) -> Option<Self> {
        let owner = u32::try_from(slot + 1).ok()?;
        let free = |number: &usize| handover.seats[*number].owner.compare_exchange(0, owner, SeqCst, SeqCst).is_ok();
        let number = (0..handover.seats.len()).find(free)?;
        Some(Self { handover, number })
    }

    /// To be watched edge-triggered, and never read.
    pub fn notifier(&self) -> BorrowedFd<'static> {
        self.handover.notifier(self.number)
    }

    /// From now on the next thing that happens notifies. Look at everything once more afterwards.
    pub fn listen(&self) {
        self.handover.seats[self.number].interest.store(1, SeqCst);
        std::sync::atomic::fence(SeqCst);
    }

    /// For the processes that this front is going to hand something.
    pub fn wakes(&self) -> Wakes {
        Wakes::new(self.handover)
    }

    /// Takes a process that waits.
    pub fn take(&self) -> Option<Held> {
        (0..self.handover.channels.len()).find_map(|number| {
            let channel = &self.handover.channels[number];
            let state = State::of(channel);
            if state.kind != Kind::Idle || channel.leave.load(Acquire) != 0 {
                return None;
            }
            let taken = State { kind: Kind::Taken, front: self.number as u16, ..state };
            state.replace(channel, taken).then(|| self.held(number, taken))
        })
    }

    /// A process that was given to this front because it waits for one; `known`: the channels that it has already.
    pub fn given(&self, known: impl Fn(usize) -> bool) -> Option<Held> {
        let of_this = |(number, channel): (usize, &Channel)| {
            let state = State::of(channel);
            let mine = matches!(state.kind, Kind::Taken | Kind::Dead) && usize::from(state.front) == self.number;
            (mine && !known(number)).then(|| self.held(number, State { kind: Kind::Taken, ..state }))
        };
        self.handover.channels.iter().enumerate().find_map(of_this)
    }

    /// Tells that the oldest request that waits for a process has done so for so many milliseconds; `None` for no such
    /// request. Look for an idle process once more after telling it first.
    pub fn waits(&self, millis: Option<u64>) {
        let since = millis.map_or(0, |millis| now_ms().saturating_sub(millis).max(1));
        self.handover.seats[self.number].waits_since.store(since, SeqCst);
        std::sync::atomic::fence(SeqCst);
    }

    fn held(&self, number: usize, state: State) -> Held {
        let channel = &self.handover.channels[number];
        // SAFETY: the rings are as long as the process lives, and the front that has the channel is their one other
        // end.
        let (to_process, to_front) = unsafe {
            (
                Writer::new(&channel.to_process, self.handover.ring(number, false)),
                Reader::new(&channel.to_front, self.handover.ring(number, true)),
            )
        };
        Held { handover: self.handover, number, state, to_process, to_front, begun: false }
    }
}

/// What a process answered, piece by piece.
#[derive(Debug, PartialEq, Eq)]
pub enum Pieces<'a> {
    /// Status and header lines, in the program's own form.
    Head(&'a [u8], &'a [u8]),
    /// Bytes of the body, in two parts where they lie around the ring's end.
    Body(&'a [u8], &'a [u8]),
    /// The answer is complete; the process is not done yet.
    Finished,
    /// The process is done.
    End,
}

/// A process that a front has.
#[derive(Debug)]
pub struct Held {
    handover: &'static Handover,
    number: usize,
    state: State,
    to_process: Writer<'static>,
    to_front: Reader<'static>,
    /// Whether a request was begun that has not ended.
    begun: bool,
}

impl Held {
    pub(super) fn channel(&self) -> &'static Channel {
        &self.handover.channels[self.number]
    }

    /// The number of its channel.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The slot of its process.
    pub fn process(&self) -> usize {
        usize::from(self.state.process)
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.channel().pid.load(Acquire)
    }

    /// The longest request that can be begun.
    pub const fn most() -> usize {
        RING - PREFACE
    }

    /// Begins a request, whose body has `body` bytes that are to follow; `script` is what is shown of it. Its process
    /// is one of those that `wakes` wakes.
    ///
    /// # Panics
    /// When it is longer than [`most`](Self::most).
    pub fn begin(&mut self, request: &[u8], body: u64, script: &[u8], wakes: &mut Wakes) {
        assert!(request.len() <= Self::most(), "a request of {} bytes is handed over", request.len());
        let channel = self.channel();
        channel.to_process.clear();
        channel.to_front.clear();
        channel.gone.store(0, Relaxed);
        show(channel, script);
        channel.began.store(now_ms(), Relaxed);
        // SAFETY: as when it was taken.
        unsafe {
            self.to_process = Writer::new(&channel.to_process, self.handover.ring(self.number, false));
            self.to_front = Reader::new(&channel.to_front, self.handover.ring(self.number, true));
        }
        self.to_process.put(&(request.len() as u64).to_le_bytes());
        self.to_process.put(&body.to_le_bytes());
        self.to_process.put(request);
        self.to_process.publish();
        self.begun = true;
        channel.request.fetch_add(1, SeqCst);
        wakes.add(self.number);
    }

    /// Hands over as much of the body as there is room for; how much that was.
    pub fn feed(&mut self, body: &[u8]) -> usize {
        let taken = body.len().min(self.to_process.room());
        if taken > 0 {
            self.to_process.put(&body[..taken]);
            self.to_process.publish();
            self.handover.wake(self.number);
        }
        taken
    }

    /// Whether its process has died.
    pub fn is_dead(&self) -> bool {
        State::of(self.channel()) != self.state
    }

    /// Whether there is something to look at: of the answer, or room for the body where `feeding`.
    pub fn has_news(&self, feeding: bool) -> bool {
        self.to_front.available() > 0 || feeding && self.to_process.room() > 0 || self.is_dead()
    }

    /// The next piece behind `skip` bytes, and how many bytes it takes.
    pub fn piece(&self, skip: usize) -> Option<(Pieces<'_>, usize)> {
        let mut head = [0; FRAME];
        if !self.to_front.copy(skip, &mut head) {
            return None;
        }
        let (frame, len) = frame_of(head);
        let (first, rest) = self.to_front.peek(skip + FRAME, len)?;
        let piece = match frame {
            Frame::Head => Pieces::Head(first, rest),
            Frame::Body => Pieces::Body(first, rest),
            Frame::Finished => Pieces::Finished,
            Frame::End => Pieces::End,
        };
        Some((piece, FRAME + len))
    }

    /// Bytes of the answer are dealt with.
    pub fn free(&mut self, len: usize) {
        if len > 0 {
            self.to_front.free(len);
            std::sync::atomic::fence(SeqCst);
            // One that waits for a request is not to be woken for room.
            if self.channel().wants_room.load(Relaxed) != 0 {
                self.handover.wake(self.number);
            }
        }
    }

    /// Nobody waits for the answer any more.
    pub fn gone(&self) {
        self.channel().gone.store(1, SeqCst);
        self.handover.wake(self.number);
    }

    /// The process has ended its request, or begun none: it is for whoever has waited longest. Whether that is this
    /// front, which is not notified then: see [`Front::given`].
    pub fn release(mut self) -> bool {
        self.begun = false;
        if self.is_dead() {
            return false;
        }
        let held = ManuallyDrop::new(self);
        held.channel().began.store(0, Relaxed);
        held.handover.offer(held.number, held.state, Some(usize::from(held.state.front)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let channel = self.channel();
        if self.is_dead() {
            let dead = State { kind: Kind::Dead, ..self.state };
            // It is nobody's now: the next process may have it. The master may have done it.
            let _ = dead.replace(channel, State { kind: Kind::Absent, ..dead });
        } else if self.begun {
            self.handover.abandon(self.number, usize::from(self.state.front));
        } else {
            channel.began.store(0, Relaxed);
            self.handover.offer(self.number, self.state, None);
        }
    }
}
