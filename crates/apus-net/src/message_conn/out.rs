//! Output of a message connection: what the socket did not take at once.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice};
use std::rc::Rc;

use bytes::Bytes;
use socket2::Socket;

use crate::file_part::{FilePart, FileState, Step};
use crate::pool::Pool;

/// Bytes of small messages gathered in one piece of memory.
const GATHER: usize = 16 * 1024;
/// Pieces given to the kernel in one call.
const PIECES: usize = 16;

/// A piece of waiting output.
enum Piece {
    /// Gathered copies.
    Own(Vec<u8>),
    /// One encoding for many receivers.
    Shared(Bytes),
    File(Box<FilePart>),
}

/// What waits. An idle connection has none of it.
#[derive(Default)]
pub(super) struct Waiting {
    pieces: VecDeque<Piece>,
    /// How much of the first piece is sent.
    pos: usize,
    /// Bytes in memory.
    bytes: usize,
    /// The socket took less than it was given: only its readiness helps.
    pub(super) blocked: bool,
    /// Bytes that the kernel took since something waits.
    pub(super) written: u64,
    /// When the current window of the least rate began, and what the peer had taken by then.
    pub(super) window: Option<(u64, u64)>,
}

/// What became of an attempt to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    All,
    Blocked,
    /// There is more, and the socket may take it, but others come first.
    More,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn has_file(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::File(_)))
    }

    /// Keeps copies of the parts, from byte `from` on.
    pub(super) fn append(&mut self, parts: [&[u8]; 2], from: usize, pool: &Pool) {
        let split = from.min(parts[0].len());
        let (first, second) = (&parts[0][split..], &parts[1][from - split..]);
        let total = first.len() + second.len();
        if total == 0 {
            return;
        }
        self.bytes += total;
        if let Some(Piece::Own(last)) = self.pieces.back_mut()
            && last.len() + total <= GATHER
        {
            last.extend_from_slice(first);
            last.extend_from_slice(second);
            return;
        }
        let mut piece = if total <= GATHER { pool.out_buffer() } else { Vec::with_capacity(total) };
        piece.extend_from_slice(first);
        piece.extend_from_slice(second);
        self.pieces.push_back(Piece::Own(piece));
    }

    /// Keeps another reference to bytes that many receive.
    pub(super) fn share(&mut self, bytes: Bytes) {
        self.bytes += bytes.len();
        self.pieces.push_back(Piece::Shared(bytes));
    }

    pub(super) fn attach(&mut self, file: File, offset: u64, length: u64, state: Rc<FileState>) {
        self.pieces.push_back(Piece::File(Box::new(FilePart::new(file, offset, length, state))));
    }

    /// Sends until all is sent, the socket is full, or a file had its turn.
    pub(super) fn send(&mut self, socket: &Socket, pool: &Pool) -> io::Result<Sent> {
        loop {
            match self.pieces.front_mut() {
                None => return Ok(Sent::All),
                Some(Piece::File(part)) if part.is_done() => {
                    self.pieces.pop_front();
                }
                Some(Piece::File(part)) => match part.step(socket)? {
                    Step::Sent(count) => {
                        self.written += count;
                        if !part.is_done() {
                            return Ok(Sent::More);
                        }
                    }
                    Step::Read(bytes) => {
                        self.bytes += bytes.len();
                        self.pieces.push_front(Piece::Own(bytes));
                    }
                    Step::Full => {
                        self.blocked = true;
                        return Ok(Sent::Blocked);
                    }
                },
                Some(_) => match self.send_memory(socket) {
                    Ok((count, all)) => {
                        self.sent(count, pool);
                        if !all {
                            self.blocked = true;
                            return Ok(Sent::Blocked);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.blocked = true;
                        return Ok(Sent::Blocked);
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }

    /// Sends the pieces up to the next file in one call: how much was taken, and whether it was all that was given.
    fn send_memory(&self, socket: &Socket) -> io::Result<(usize, bool)> {
        let mut slices = [IoSlice::new(&[]); PIECES];
        let (mut used, mut total) = (0, 0);
        for (at, piece) in self.pieces.iter().take(PIECES).enumerate() {
            let bytes = match piece {
                Piece::Own(bytes) => &bytes[..],
                Piece::Shared(bytes) => &bytes[..],
                Piece::File(_) => break,
            };
            let bytes = if at == 0 { &bytes[self.pos..] } else { bytes };
            slices[at] = IoSlice::new(bytes);
            used = at + 1;
            total += bytes.len();
        }
        let count = match used {
            1 => socket.send_with_flags(&slices[0], libc::MSG_NOSIGNAL)?,
            _ => socket.send_vectored_with_flags(&slices[..used], libc::MSG_NOSIGNAL)?,
        };
        Ok((count, count == total))
    }

    /// Takes out what was sent.
    fn sent(&mut self, mut count: usize, pool: &Pool) {
        self.written += count as u64;
        self.bytes -= count;
        while let Some(piece) = self.pieces.front() {
            let len = match piece {
                Piece::Own(bytes) => bytes.len(),
                Piece::Shared(bytes) => bytes.len(),
                Piece::File(_) => return,
            };
            if self.pos + count < len {
                self.pos += count;
                return;
            }
            count -= len - self.pos;
            self.pos = 0;
            if let Some(Piece::Own(bytes)) = self.pieces.pop_front() {
                pool.give_out(bytes);
            }
        }
    }
}
