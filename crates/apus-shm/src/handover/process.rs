//! The side that runs what was handed over.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::Instant;

use super::front::PREFACE;
use super::ring::{Reader, Writer};
use super::state::State;
use super::{Channel, Handover, Kind, RING};
use crate::notifier::Heard;

/// Bytes before each piece of an answer.
pub(super) const FRAME: usize = 4;
/// The longest piece of a body.
const LONGEST: usize = 64 * 1024;
/// The longest head of an answer.
const LONGEST_HEAD: usize = RING / 2;
/// So much is not kept back for what may follow.
const ENOUGH: usize = 64 * 1024;

/// What a piece of an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Frame {
    Head = 0,
    Body = 1,
    Finished = 2,
    End = 3,
}

fn header(frame: Frame, len: usize) -> [u8; FRAME] {
    ((frame as u32) << 28 | len as u32).to_le_bytes()
}

pub(super) fn frame_of(header: [u8; FRAME]) -> (Frame, usize) {
    let word = u32::from_le_bytes(header);
    let frame = match word >> 28 {
        0 => Frame::Head,
        1 => Frame::Body,
        2 => Frame::Finished,
        _ => Frame::End,
    };
    (frame, (word & 0x0fff_ffff) as usize)
}

/// What a process that waits for requests meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// A request.
    Request,
    /// It is to leave: its channel is no longer its own.
    Leave,
    /// The time is over, or a signal came.
    Nothing,
}

/// A request as it was handed over.
#[derive(Debug, Default)]
pub struct Begin {
    /// The front's own form.
    pub request: Vec<u8>,
    /// Bytes of the body.
    pub body: u64,
}

/// The place of a process that runs scripts.
#[derive(Debug)]
pub struct ScriptSeat {
    handover: &'static Handover,
    number: usize,
    /// The number of the last request that was begun.
    seen: u32,
    to_process: Reader<'static>,
    to_front: Writer<'static>,
    /// Bytes of the body that are still to be read.
    body_left: u64,
    /// Where a piece of the body begins that may still grow.
    open: Option<u64>,
    /// Whether nobody is there any more who would read the answer.
    lost: bool,
    /// Whether the answer is complete.
    finished: bool,
}

impl ScriptSeat {
    /// Takes a channel for this process, which has this slot; `None` when there is none.
    pub fn join(handover: &'static Handover, slot: usize, pid: u32) -> Option<Self> {
        let process = u16::try_from(slot).ok()?;
        let number = (0..handover.channels.len()).find(|number| {
            let channel = &handover.channels[*number];
            let state = State::of(channel);
            let next = State { kind: Kind::Starting, process, front: 0, life: state.life.wrapping_add(1) };
            state.kind == Kind::Absent && state.replace(channel, next)
        })?;
        let channel = &handover.channels[number];
        channel.to_process.clear();
        channel.to_front.clear();
        for word in [&channel.leave, &channel.asleep, &channel.wants_room, &channel.gone] {
            word.store(0, Relaxed);
        }
        channel.began.store(0, Relaxed);
        channel.pid.store(pid, SeqCst);
        // SAFETY: the rings live as long as the process, which has the channel from here on.
        let (to_process, to_front) = unsafe {
            (
                Reader::new(&channel.to_process, handover.ring(number, false)),
                Writer::new(&channel.to_front, handover.ring(number, true)),
            )
        };
        let seen = channel.request.load(Acquire);
        Some(Self {
            handover,
            number,
            seen,
            to_process,
            to_front,
            body_left: 0,
            open: None,
            lost: false,
            finished: false,
        })
    }

    /// The number of its channel.
    #[cfg(test)]
    pub(super) fn number(&self) -> usize {
        self.number
    }

    fn channel(&self) -> &'static Channel {
        &self.handover.channels[self.number]
    }

    /// Takes requests from now on.
    pub fn ready(&self) {
        let state = State::of(self.channel());
        if state.kind == Kind::Starting {
            self.handover.offer(self.number, state, None);
        }
    }

    /// Waits for a request.
    pub fn wait(&mut self, until: Option<Instant>) -> Wait {
        let channel = self.channel();
        loop {
            let state = State::of(channel);
            match state.kind {
                Kind::Taken if channel.request.load(SeqCst) != self.seen => return Wait::Request,
                Kind::Abandoned => {
                    self.seen = channel.request.load(SeqCst);
                    channel.began.store(0, Relaxed);
                    self.handover.offer(self.number, state, None);
                    continue;
                }
                Kind::Idle if channel.leave.load(SeqCst) != 0 => {
                    if state.replace(channel, State { kind: Kind::Absent, ..state }) {
                        return Wait::Leave;
                    }
                    continue;
                }
                _ => {}
            }
            let unchanged = || {
                State::of(channel) == state
                    && channel.request.load(SeqCst) == self.seen
                    && (state.kind != Kind::Idle || channel.leave.load(SeqCst) == 0)
            };
            if self.handover.sleep(self.number, unchanged, until) != Heard::Something {
                return Wait::Nothing;
            }
        }
    }

    /// Begins the request that [`wait`](Self::wait) told of. False when it is none, or none any more.
    pub fn begin(&mut self, into: &mut Begin) -> bool {
        let channel = self.channel();
        self.seen = channel.request.load(SeqCst);
        // SAFETY: as in `join`; the front has emptied the rings for this request.
        unsafe {
            self.to_process = Reader::new(&channel.to_process, self.handover.ring(self.number, false));
            self.to_front = Writer::new(&channel.to_front, self.handover.ring(self.number, true));
        }
        (self.body_left, self.open, self.lost, self.finished) = (0, None, false, false);
        let mut preface = [0; PREFACE];
        if !self.to_process.copy(0, &mut preface) {
            return false;
        }
        let (len, body) = preface.split_at(8);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let (len, body) = (number(len), number(body));
        let Ok(len) = usize::try_from(len) else { return false };
        if len > RING - PREFACE {
            return false;
        }
        into.request.resize(len, 0);
        if !self.to_process.copy(PREFACE, &mut into.request) {
            return false;
        }
        self.to_process.free(PREFACE + len);
        (into.body, self.body_left) = (body, body);
        true
    }

    /// Reads what comes next of the body, and waits until `into` is full: PHP takes less for the end. Less at the end,
    /// or when the front is gone.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let wanted = usize::try_from(self.body_left).unwrap_or(usize::MAX).min(into.len());
        let mut read = 0;
        while read < wanted {
            let there = self.read_some(&mut into[read..wanted]);
            if there == 0 {
                break;
            }
            read += there;
        }
        read
    }

    /// What is there, and waits for the first of it; 0 when the front is gone.
    fn read_some(&mut self, into: &mut [u8]) -> usize {
        let channel = self.channel();
        loop {
            let there = self.to_process.available().min(into.len());
            if there > 0 {
                self.to_process.copy(0, &mut into[..there]);
                self.to_process.free(there);
                self.handover.notify(usize::from(State::of(channel).front));
                self.body_left -= there as u64;
                return there;
            }
            if State::of(channel).kind != Kind::Taken {
                self.body_left = 0;
                return 0;
            }
            let reader = self.to_process;
            self.handover.sleep(
                self.number,
                || reader.available() == 0 && State::of(channel).kind == Kind::Taken,
                None,
            );
        }
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_gone(&self) -> bool {
        self.lost || self.channel().gone.load(Acquire) != 0
    }

    /// Begins the answer. False when it is too long for a head, or nobody reads it.
    pub fn head(&mut self, head: &[u8]) -> bool {
        if head.len() > LONGEST_HEAD {
            return false;
        }
        self.open = None;
        self.make_room(FRAME + head.len()) && {
            self.to_front.put(&header(Frame::Head, head.len()));
            self.to_front.put(head);
            true
        }
    }

    /// Goes on with the body; waits for room. False when nobody reads it.
    pub fn body(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let begun = self.open.map(|at| (at, (self.to_front.at() - at) as usize - FRAME));
            let begun = begun.filter(|(_, len)| *len < LONGEST && self.to_front.room() > 0);
            let Some((at, len)) = begun.or_else(|| self.open_piece()) else { return false };
            let taken = bytes.len().min(LONGEST - len).min(self.to_front.room());
            self.to_front.put(&bytes[..taken]);
            self.to_front.correct(at, &header(Frame::Body, len + taken));
            bytes = &bytes[taken..];
            if self.to_front.unpublished() >= ENOUGH {
                self.publish();
            }
        }
        !self.is_gone()
    }

    /// Begins a piece of the body that may grow. `None` when nobody reads it.
    fn open_piece(&mut self) -> Option<(u64, usize)> {
        self.open = None;
        if !self.make_room(FRAME + 1) {
            return None;
        }
        let at = self.to_front.at();
        self.to_front.put(&header(Frame::Body, 0));
        self.open = Some(at);
        Some((at, 0))
    }

    /// Lets the front see what there is. False when nobody reads it.
    pub fn flush(&mut self) -> bool {
        if self.to_front.unpublished() > 0 {
            self.publish();
        }
        !self.is_gone()
    }

    /// The answer is complete, and the client is to have it now; the process goes on.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        self.open = None;
        if self.make_room(FRAME) {
            self.to_front.put(&header(Frame::Finished, 0));
        }
        self.publish();
    }

    /// The request is over. The rings are the front's from here on.
    pub fn end(&mut self) {
        self.open = None;
        if self.make_room(FRAME) {
            self.to_front.put(&header(Frame::End, 0));
        }
        // Before the front sees the end, and begins another.
        self.channel().began.store(0, Relaxed);
        self.publish();
    }

    fn publish(&mut self) {
        self.open = None;
        self.to_front.publish();
        let state = State::of(self.channel());
        if state.kind == Kind::Taken {
            self.handover.notify(usize::from(state.front));
        }
    }

    /// Waits for so much room. False when the front is gone: there will be none.
    fn make_room(&mut self, len: usize) -> bool {
        if self.to_front.room() >= len {
            return true;
        }
        self.publish();
        let channel = self.channel();
        loop {
            if State::of(channel).kind != Kind::Taken {
                self.lost = true;
                return false;
            }
            let writer = self.to_front;
            channel.wants_room.store(1, SeqCst);
            self.handover.sleep(self.number, || writer.room() < len && State::of(channel).kind == Kind::Taken, None);
            channel.wants_room.store(0, SeqCst);
            if writer.room() >= len {
                return true;
            }
        }
    }
}
