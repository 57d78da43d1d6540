//! What waits for a peer, of whichever kind of connection: copies, memory that is shared or lent, and parts of files,
//! in order. Bounds and watermarks stand in [`limits`]; a [`Sink`] takes it.
//!
//! The usual output is one buffer that leaves in one call of the kernel, so the newest copies lie outside of the list
//! of pieces, which is made only when something else is queued or much waits.

mod limits;
mod sink;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use bytes::Bytes;

use crate::file_part::{FilePart, FileStep};
use crate::pool::Pool;

use limits::Window;
pub(crate) use limits::{is_full, is_over_bound};
pub(crate) use sink::Sink;

/// Copies gathered in one piece of memory.
const GATHER: usize = 64 * 1024;
/// Pieces given to the kernel in one call.
const SLICES: usize = 16;

/// What waits behind nothing else than what was queued before it.
enum Piece {
    Own(Vec<u8>),
    /// One encoding for many receivers.
    Shared(Bytes),
    /// Memory that its owner keeps for us, from this byte on.
    Lent(Box<dyn AsRef<[u8]>>, usize),
    File(Box<FilePart>),
}

impl Piece {
    /// Its bytes, where they are in memory.
    fn memory(&self) -> Option<&[u8]> {
        match self {
            Self::Own(bytes) => Some(bytes),
            Self::Shared(bytes) => Some(bytes),
            Self::Lent(owner, from) => Some((**owner).as_ref().get(*from..).unwrap_or_default()),
            Self::File(_) => None,
        }
    }
}

/// What became of an attempt to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    All,
    /// The peer takes nothing more for now.
    Blocked,
    /// There is more, and the peer may take it, but others come first.
    More,
}

/// Output that waits.
#[derive(Default)]
pub(crate) struct OutputQueue {
    /// What goes before `newest`.
    pieces: VecDeque<Piece>,
    /// Bytes of the first piece that are sent.
    first_sent: usize,
    /// Bytes of all pieces in memory that are not.
    in_pieces: usize,
    newest: Vec<u8>,
    /// Bytes of `newest` that are sent: none as long as there are pieces.
    newest_sent: usize,
    /// The sink took less than it was given: only its readiness helps.
    blocked: bool,
    /// Bytes that the sink has taken.
    written: u64,
    window: Option<Window>,
    /// Bytes that the worker counts of this.
    counted: usize,
}

impl OutputQueue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.len() == self.newest_sent && self.pieces.is_empty()
    }

    /// Bytes in memory that wait.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.in_pieces + self.newest.len() - self.newest_sent
    }

    /// Whether something waits that is not a copy: it holds a descriptor, or memory of somebody else.
    #[inline]
    pub(crate) fn holds_part(&self) -> bool {
        self.pieces.iter().any(|piece| !matches!(piece, Piece::Own(_)))
    }

    pub(crate) fn has_file(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::File(_)))
    }

    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Only its readiness helps: whoever sends unblocks it first.
    #[inline]
    pub(crate) fn block(&mut self) {
        self.blocked = true;
    }

    /// The sink may take more.
    #[inline]
    pub(crate) fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Where to append.
    #[inline]
    pub(crate) fn buffer(&mut self, pool: &Pool) -> &mut Vec<u8> {
        if self.newest.len() >= GATHER {
            self.seal();
        }
        if self.newest.capacity() == 0 {
            self.newest = pool.out_buffer();
        }
        &mut self.newest
    }

    /// Keeps copies of the parts, from byte `from` on.
    pub(crate) fn append(&mut self, parts: [&[u8]; 2], from: usize, pool: &Pool) {
        let split = from.min(parts[0].len());
        let (first, second) = (&parts[0][split..], &parts[1][from - split..]);
        let total = first.len() + second.len();
        if total > GATHER {
            // Much at once has memory of its own, of just that size.
            self.seal();
            self.newest = Vec::with_capacity(total);
        }
        let buffer = self.buffer(pool);
        buffer.extend_from_slice(first);
        buffer.extend_from_slice(second);
    }

    /// Keeps another reference to bytes that many receive.
    pub(crate) fn share(&mut self, bytes: Bytes) {
        self.queue(Piece::Shared(bytes));
    }

    /// Keeps memory of somebody else, from byte `from` on.
    pub(crate) fn lend(&mut self, owner: Box<dyn AsRef<[u8]>>, from: usize) {
        self.queue(Piece::Lent(owner, from));
    }

    pub(crate) fn attach(&mut self, file: FilePart) {
        self.queue(Piece::File(Box::new(file)));
    }

    fn queue(&mut self, piece: Piece) {
        let memory = piece.memory().map(<[u8]>::len);
        if memory == Some(0) {
            return;
        }
        self.seal();
        self.in_pieces += memory.unwrap_or(0);
        self.pieces.push_back(piece);
    }

    /// Makes a piece of the newest copies.
    fn seal(&mut self) {
        let left = self.newest.len() - self.newest_sent;
        if left == 0 {
            self.newest.clear();
            self.newest_sent = 0;
            return;
        }
        if self.pieces.is_empty() {
            self.first_sent = self.newest_sent;
        }
        self.newest_sent = 0;
        self.in_pieces += left;
        self.pieces.push_back(Piece::Own(std::mem::take(&mut self.newest)));
    }

    /// Forgets what waits.
    pub(crate) fn discard(&mut self, pool: &Pool) {
        self.pieces = VecDeque::new();
        (self.first_sent, self.in_pieces, self.newest_sent) = (0, 0, 0);
        pool.give_out(std::mem::take(&mut self.newest));
    }

    /// Sends until all is sent, the sink is full, or files had their turn.
    #[inline]
    pub(crate) fn send(&mut self, sink: &mut impl Sink, pool: &Pool) -> io::Result<Sent> {
        if self.pieces.is_empty() {
            return self.send_memory(sink, &[], pool).map(|(_, sent)| sent);
        }
        self.send_pieces(sink, pool)
    }

    fn send_pieces(&mut self, sink: &mut impl Sink, pool: &Pool) -> io::Result<Sent> {
        let before = self.written;
        while !self.is_empty() {
            let sent = match self.pieces.front_mut() {
                Some(Piece::File(part)) if part.is_done() => {
                    self.pieces.pop_front();
                    Sent::All
                }
                Some(Piece::File(part)) if self.written - before >= part.turn(sink.file_target()) => Sent::More,
                Some(Piece::File(_)) if sink.waits() => {
                    self.blocked = true;
                    Sent::Blocked
                }
                Some(Piece::File(part)) => match part.step(sink.file_target())? {
                    FileStep::Sent(count) => {
                        self.written += count;
                        Sent::All
                    }
                    FileStep::Read(bytes) => {
                        self.in_pieces += bytes.len();
                        self.pieces.push_front(Piece::Own(bytes));
                        Sent::All
                    }
                    FileStep::Full => {
                        self.blocked = true;
                        Sent::Blocked
                    }
                },
                _ => self.send_memory(sink, &[], pool)?.1,
            };
            if sent != Sent::All {
                return Ok(sent);
            }
        }
        Ok(Sent::All)
    }

    /// Sends what is in memory up to the next file, and `tail` behind it, in one call where it is not too many pieces:
    /// how much of `tail` was taken, and whether the sink took all that it was given.
    #[inline]
    pub(crate) fn send_memory(&mut self, sink: &mut impl Sink, tail: &[u8], pool: &Pool) -> io::Result<(usize, Sent)> {
        let (given, result) = if self.pieces.is_empty() {
            let newest = &self.newest[self.newest_sent..];
            match (newest.is_empty(), tail.is_empty()) {
                (true, true) => return Ok((0, Sent::All)),
                (false, true) => (newest.len(), write(sink, &[IoSlice::new(newest)], false)),
                (true, false) => (tail.len(), write(sink, &[IoSlice::new(tail)], false)),
                (false, false) => {
                    (newest.len() + tail.len(), write(sink, &[IoSlice::new(newest), IoSlice::new(tail)], false))
                }
            }
        } else {
            self.write_pieces(sink, tail)
        };
        let taken = match result {
            Ok(taken) => taken,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        let of_tail = self.took(taken, pool);
        if taken == given {
            return Ok((of_tail, Sent::All));
        }
        self.blocked = true;
        Ok((of_tail, Sent::Blocked))
    }

    /// Gives the sink the first pieces in memory, and what follows them: how much it was, and how much it took.
    fn write_pieces(&self, sink: &mut impl Sink, tail: &[u8]) -> (usize, io::Result<usize>) {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let (mut used, mut given) = (0, 0);
        let mut file_follows = false;
        let behind = [&self.newest[..], tail];
        for memory in self.pieces.iter().map(Piece::memory).chain(behind.into_iter().map(Some)) {
            let Some(memory) = memory else {
                file_follows = true;
                break;
            };
            if used == SLICES {
                break;
            }
            let memory = if used == 0 { &memory[self.first_sent..] } else { memory };
            slices[used] = IoSlice::new(memory);
            used += 1;
            given += memory.len();
        }
        let taken = if used == 0 { Ok(0) } else { write(sink, &slices[..used], file_follows) };
        (given, taken)
    }

    /// Takes out what was sent: how much of it was neither in pieces nor in the newest copies.
    #[inline]
    fn took(&mut self, mut count: usize, pool: &Pool) -> usize {
        self.written += count as u64;
        if !self.pieces.is_empty() {
            count = self.took_pieces(count, pool);
        }
        let newest = count.min(self.newest.len() - self.newest_sent);
        self.newest_sent += newest;
        if self.newest_sent == self.newest.len() {
            self.newest_sent = 0;
            pool.give_out(std::mem::take(&mut self.newest));
        }
        count - newest
    }

    fn took_pieces(&mut self, mut count: usize, pool: &Pool) -> usize {
        while let Some(piece) = self.pieces.front() {
            let Some(memory) = piece.memory() else { return count };
            let left = memory.len() - self.first_sent;
            let taken = count.min(left);
            self.in_pieces -= taken;
            count -= taken;
            if taken < left {
                self.first_sent += taken;
                return count;
            }
            self.first_sent = 0;
            if let Some(Piece::Own(bytes)) = self.pieces.pop_front() {
                pool.give_out(bytes);
            }
        }
        // An idle connection owns nothing.
        self.pieces = VecDeque::new();
        count
    }
}

/// Writes once, whatever interrupts it.
#[inline]
fn write(sink: &mut impl Sink, slices: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
    loop {
        match sink.write(slices, more) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
