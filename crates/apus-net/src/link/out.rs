//! Output of a link: what the socket did not take at once.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice};
use std::num::NonZeroUsize;
use std::rc::Rc;

use bytes::Bytes;
use socket2::Socket;

use crate::conn::FileState;
use crate::pool::Pool;

/// Bytes of small messages gathered in one piece of memory.
const GATHER: usize = 16 * 1024;
/// Pieces given to the kernel in one call.
const PIECES: usize = 16;
/// Bytes of a file sent before others have their turn.
const FILE_TURN: u64 = 1 << 20;

/// A piece of waiting output.
enum Piece {
    /// Gathered copies.
    Own(Vec<u8>),
    /// One encoding for many receivers.
    Shared(Bytes),
    File(Box<FilePiece>),
}

/// A part of a file.
struct FilePiece {
    file: File,
    offset: u64,
    left: u64,
    state: Rc<FileState>,
}

impl Drop for FilePiece {
    fn drop(&mut self) {
        self.state.finish(if self.left == 0 { Ok(()) } else { Err(crate::response::SendError::Closed) });
    }
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
        self.pieces.push_back(Piece::File(Box::new(FilePiece { file, offset, left: length, state })));
    }

    /// Sends until all is sent, the socket is full, or a file had its turn.
    pub(super) fn send(&mut self, socket: &Socket, pool: &Pool) -> io::Result<Sent> {
        loop {
            match self.pieces.front_mut() {
                None => return Ok(Sent::All),
                Some(Piece::File(part)) => {
                    if part.left > 0 && !send_file(part, socket, &mut self.written)? {
                        self.blocked = true;
                        return Ok(Sent::Blocked);
                    }
                    if part.left > 0 {
                        return Ok(Sent::More);
                    }
                    self.pieces.pop_front();
                }
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

/// Sends some of a file; `false`: the socket is full.
fn send_file(part: &mut FilePiece, socket: &Socket, written: &mut u64) -> io::Result<bool> {
    let turn = usize::try_from(part.left.min(FILE_TURN)).unwrap_or(usize::MAX);
    let offset = usize::try_from(part.offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    match socket.sendfile(&part.file, offset, NonZeroUsize::new(turn)) {
        // The file is shorter than it was.
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(count) => {
            part.offset += count as u64;
            part.left -= count as u64;
            *written += count as u64;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
