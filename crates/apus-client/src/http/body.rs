//! Bodies of requests: bytes, files and forms with files, described first and read when they are sent.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use apus_loop::disk::{self, Started};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

/// What is read from a file, and given to the connection, at a time.
const BLOCK: usize = 128 << 10;

/// One piece of a body.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Bytes.
    Bytes(Bytes),
    /// A part of a file.
    File {
        /// Where it is.
        path: PathBuf,
        /// Bytes from its start.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { len, .. } => *len,
        }
    }
}

/// A body that can be sent, more than once if need be.
#[derive(Debug, Clone, Default)]
pub struct RequestBody {
    pieces: Vec<Piece>,
}

impl RequestBody {
    /// A body of bytes.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { pieces: if bytes.is_empty() { Vec::new() } else { vec![Piece::Bytes(bytes)] } }
    }

    /// A body of several pieces.
    pub fn of(pieces: Vec<Piece>) -> Self {
        Self { pieces }
    }

    /// Its length.
    pub fn len(&self) -> u64 {
        self.pieces.iter().map(Piece::len).sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn sending(&self) -> Sending {
        Sending {
            pieces: self.pieces.iter().cloned().collect(),
            left: self.len(),
            state: State::Idle,
            active: Rc::new(Cell::new(Instant::now())),
        }
    }
}

/// A part of an open file.
struct Part {
    file: Arc<File>,
    at: u64,
    left: u64,
}

/// Where a body stands. What runs on another thread owns all it touches, so a body that is dropped harms nothing.
enum State {
    /// The next piece is to be begun.
    Idle,
    /// A file is being opened: it, where to begin, how much to send.
    Opening(Started<io::Result<File>>, u64, u64),
    /// A block is being read.
    Reading(Started<io::Result<Bytes>>, Part),
    /// A block of a file is to be read.
    Open(Part),
}

/// A body on its way.
pub(crate) struct Sending {
    pieces: VecDeque<Piece>,
    left: u64,
    state: State,
    active: Rc<Cell<Instant>>,
}

impl Sending {
    /// When some of it was taken last.
    pub(crate) fn active(&self) -> Rc<Cell<Instant>> {
        Rc::clone(&self.active)
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            match std::mem::replace(&mut self.state, State::Idle) {
                State::Idle => match self.pieces.pop_front() {
                    None => return Poll::Ready(None),
                    Some(Piece::Bytes(bytes)) if bytes.is_empty() => {}
                    Some(Piece::Bytes(mut bytes)) => {
                        // In blocks, so that what is asked for next tells how far the sending has come.
                        let block = bytes.split_to(bytes.len().min(BLOCK));
                        if !bytes.is_empty() {
                            self.pieces.push_front(Piece::Bytes(bytes));
                        }
                        return Poll::Ready(Some(Ok(block)));
                    }
                    Some(Piece::File { path, offset, len }) => {
                        let opening = disk::start(move || {
                            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
                            disk::open_regular(&path).map(|(file, _)| file).map_err(named)
                        });
                        self.state = State::Opening(opening, offset, len);
                    }
                },
                State::Opening(mut opening, at, left) => match Pin::new(&mut opening).poll(cx) {
                    Poll::Pending => {
                        self.state = State::Opening(opening, at, left);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(Ok(file))) => self.state = State::Open(Part { file: Arc::new(file), at, left }),
                    Poll::Ready(failed) => return Poll::Ready(Some(Err(failure(failed)))),
                },
                State::Open(part) if part.left == 0 => {}
                State::Open(part) => {
                    let (file, at, len) = (Arc::clone(&part.file), part.at, part.left.min(BLOCK as u64) as usize);
                    self.state = State::Reading(disk::start(move || read_block(&file, at, len)), part);
                }
                State::Reading(mut reading, mut part) => match Pin::new(&mut reading).poll(cx) {
                    Poll::Pending => {
                        self.state = State::Reading(reading, part);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(Ok(block))) => {
                        part.at += block.len() as u64;
                        part.left -= block.len() as u64;
                        self.state = State::Open(part);
                        return Poll::Ready(Some(Ok(block)));
                    }
                    Poll::Ready(failed) => return Poll::Ready(Some(Err(failure(failed)))),
                },
            }
        }
    }
}

/// What kept a job on another thread from its result: its own error, or that the runtime ends.
fn failure<T>(of: io::Result<io::Result<T>>) -> io::Error {
    of.and_then(|done| done).err().unwrap_or_else(|| io::ErrorKind::Other.into())
}

fn read_block(file: &File, at: u64, len: usize) -> io::Result<Bytes> {
    let mut block = vec![0; len];
    file.read_exact_at(&mut block, at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "a file is shorter than the part of it that was to be sent")
        }
        _ => error,
    })?;
    Ok(block.into())
}

impl http_body::Body for Sending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let piece = ready!(self.poll_piece(cx));
        self.active.set(Instant::now());
        if let Some(Ok(bytes)) = &piece {
            self.left -= bytes.len() as u64;
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
