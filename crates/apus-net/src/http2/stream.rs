//! A stream, and all of a connection.

use std::collections::VecDeque;

use apus_proto::http2::Priority;
use bytes::Bytes;
use slab::Slab;

/// Streams that are remembered after their end, so that what still comes for them is judged rightly.
const REMEMBERED: usize = 256;

/// How far our answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// No final head was given.
    None,
    /// The body goes on.
    Open,
    /// All of it was given.
    Given,
    /// All of it is on its way.
    Sent,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own; hardly a combination is excluded")]
pub(super) struct Stream {
    pub(super) id: u32,
    /// The peer may send more.
    pub(super) remote_open: bool,
    pub(super) answer: Answer,
    /// It was broken off by either side.
    pub(super) reset: bool,
    /// Somebody answers it.
    pub(super) handled: bool,
    /// Nobody wants the rest of the body.
    pub(super) discards: bool,
    /// What the peer may still send. Below zero where our setting was made smaller.
    pub(super) receive_window: i64,
    /// Bytes that were shown to the handler and not taken.
    pub(super) held: u32,
    /// Bytes that were taken, and that the peer may send again but was not told so.
    pub(super) released: u32,
    /// What is missing of Content-Length.
    pub(super) missing: Option<u64>,
    /// What we may send. Below zero where the peer made its setting smaller.
    pub(super) send_window: i64,
    pub(super) queue: VecDeque<Bytes>,
    pub(super) queued: usize,
    /// Lines of the trailer section, which follows the queue.
    pub(super) trailers: Option<Box<[u8]>>,
    pub(super) priority: Priority,
    /// Its answer is sent and nobody handles it, but the peer has not ended it: the timer has seen it so.
    pub(super) lingers: bool,
    /// The schedule has it.
    pub(super) scheduled: bool,
    /// Its writer waits for room.
    pub(super) full: bool,
    /// Since when its window keeps it from sending, in milliseconds.
    pub(super) stalled: Option<u64>,
}

impl Stream {
    /// A stream with nobody who says how urgent it is takes turns with others.
    pub(super) fn new(id: u32, receive_window: i64, send_window: i64, priority: Option<Priority>) -> Self {
        Self {
            id,
            remote_open: true,
            answer: Answer::None,
            reset: false,
            handled: true,
            discards: false,
            receive_window,
            held: 0,
            released: 0,
            missing: None,
            send_window,
            queue: VecDeque::new(),
            queued: 0,
            trailers: None,
            priority: priority.unwrap_or(Priority { incremental: true, ..Priority::default() }),
            lingers: false,
            scheduled: false,
            full: false,
            stalled: None,
        }
    }

    /// The protocol knows it as open or half-closed.
    pub(super) fn is_open(&self) -> bool {
        !self.reset && (self.remote_open || self.answer != Answer::Sent)
    }
}

/// Why a stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Both sides have said all.
    Complete,
    /// We broke it off: the peer may not know yet.
    ResetByUs,
    /// The peer did.
    ResetByPeer,
}

/// All streams that are open or handled, by id.
#[derive(Debug, Default)]
pub(super) struct Streams {
    slots: Slab<Stream>,
    /// Sorted: new ones come last.
    index: Vec<(u32, u32)>,
    /// Those the protocol knows as open.
    pub(super) open: u32,
    ended: VecDeque<(u32, End)>,
}

impl Streams {
    fn place(&self, id: u32) -> Option<(usize, usize)> {
        let at = self.index.binary_search_by_key(&id, |entry| entry.0).ok()?;
        Some((at, self.index[at].1 as usize))
    }

    pub(super) fn get(&self, id: u32) -> Option<&Stream> {
        self.slots.get(self.place(id)?.1)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        let (_, slot) = self.place(id)?;
        self.slots.get_mut(slot)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.slots.iter_mut().map(|(_, stream)| stream)
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Adds a stream whose id is higher than all others.
    pub(super) fn add(&mut self, stream: Stream) {
        let id = stream.id;
        let slot = self.slots.insert(stream);
        self.index.push((id, slot as u32));
        self.open += 1;
    }

    pub(super) fn remove(&mut self, id: u32) {
        if let Some((at, slot)) = self.place(id) {
            self.index.remove(at);
            self.slots.remove(slot);
        }
        if self.index.is_empty() && self.slots.capacity() > 16 {
            self.slots = Slab::new();
            self.index = Vec::new();
        }
    }

    pub(super) fn remember(&mut self, id: u32, end: End) {
        if self.ended.len() >= REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((id, end));
    }

    pub(super) fn end_of(&self, id: u32) -> Option<End> {
        self.ended.iter().rev().find(|(ended, _)| *ended == id).map(|(_, end)| *end)
    }

    /// Bytes that they take, bodies included.
    pub(super) fn footprint(&self) -> usize {
        let queues = |stream: &Stream| {
            let trailers = stream.trailers.as_deref().map_or(0, <[u8]>::len);
            stream.queued + stream.queue.capacity() * size_of::<Bytes>() + trailers
        };
        let queued: usize = self.slots.iter().map(|(_, stream)| queues(stream)).sum();
        queued
            + self.slots.capacity() * size_of::<Stream>()
            + self.index.capacity() * size_of::<(u32, u32)>()
            + self.ended.capacity() * size_of::<(u32, End)>()
    }
}
