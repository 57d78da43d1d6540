//! A part of a file on its way into a socket: sent by the kernel, or read and sent where the kernel cannot.

use std::cell::Cell;
use std::fs::File;
use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use socket2::Socket;

use crate::answer::SendError;
use crate::wake::WakerList;

/// Bytes that the kernel sends by itself before others have their turn.
const TURN: u64 = 1 << 20;
/// The same of bytes that are read, and sealed where TLS wants it: that takes ten times as long.
const COPIED_TURN: u64 = 128 << 10;
/// Bytes read at once from a file that the kernel cannot send by itself.
const READ: u64 = 64 * 1024;

/// What is left of a file that is being sent.
pub(crate) struct FilePart {
    file: File,
    offset: u64,
    left: u64,
    state: Rc<FileState>,
    /// The kernel refused sendfile(2) for it.
    by_copy: bool,
}

/// How the sending of a file went.
#[derive(Default)]
pub(crate) struct FileState {
    pub(crate) done: Cell<Option<Result<(), SendError>>>,
    pub(crate) waiting: WakerList,
}

impl FileState {
    fn finish(&self, result: Result<(), SendError>) {
        if self.done.get().is_none() {
            self.done.set(Some(result));
            self.waiting.wake_all();
        }
    }
}

impl Drop for FilePart {
    fn drop(&mut self) {
        self.state.finish(if self.left == 0 { Ok(()) } else { Err(SendError::Closed) });
    }
}

/// What one step came to.
pub(crate) enum FileStep {
    /// The socket took so many bytes.
    Sent(u64),
    /// The socket is full.
    Full,
    /// The next bytes, to be sent from memory before the rest.
    Read(Vec<u8>),
}

impl FilePart {
    /// `left` bytes from `offset` on; the result comes into `state`.
    pub(crate) fn new(file: File, offset: u64, left: u64, state: Rc<FileState>) -> Self {
        Self { file, offset, left, state, by_copy: false }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Bytes sent before others have their turn, into a socket or (`None`) where there is none to send into.
    pub(crate) fn turn(&self, socket: Option<&Socket>) -> u64 {
        if socket.is_some() && !self.by_copy { TURN } else { COPIED_TURN }
    }

    /// Sends some more of it into the socket, or reads it where there is none. A file that is shorter than it was is an
    /// error.
    pub(crate) fn step(&mut self, socket: Option<&Socket>) -> io::Result<FileStep> {
        if let Some(socket) = socket.filter(|_| !self.by_copy) {
            let turn = usize::try_from(self.left.min(TURN)).unwrap_or(usize::MAX);
            let offset = usize::try_from(self.offset).map_err(|_| io::ErrorKind::InvalidInput)?;
            return match socket.sendfile(&self.file, offset, NonZeroUsize::new(turn)) {
                Ok(count) => self.took(count).map(FileStep::Sent),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(FileStep::Sent(0)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(FileStep::Full),
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {
                    self.by_copy = true;
                    Ok(FileStep::Sent(0))
                }
                Err(error) => Err(error),
            };
        }
        let mut piece = vec![0; usize::try_from(self.left.min(READ)).unwrap_or(0)];
        let count = self.file.read_at(&mut piece, self.offset)?;
        self.took(count)?;
        piece.truncate(count);
        Ok(FileStep::Read(piece))
    }

    fn took(&mut self, count: usize) -> io::Result<u64> {
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.offset += count as u64;
        self.left -= count as u64;
        Ok(count as u64)
    }
}

/// Ready when the last byte of a file is with the kernel, or will never be.
pub struct SendFile(pub(crate) Rc<FileState>);

impl Future for SendFile {
    type Output = Result<(), SendError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.0.done.get() {
            return Poll::Ready(result);
        }
        self.0.waiting.register(cx.waker());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// A file of /proc has no sendfile(2): the kernel answers EINVAL.
    #[test]
    fn what_the_kernel_cannot_send_is_read() {
        let path = "/proc/self/cmdline";
        let whole = std::fs::read(path).unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let socket = Socket::from(std::os::fd::OwnedFd::from(ours));
        let state = Rc::new(FileState::default());
        let mut part = FilePart::new(File::open(path).unwrap(), 0, whole.len() as u64, Rc::clone(&state));
        let mut got = Vec::new();
        while !part.is_done() {
            match part.step(Some(&socket)).unwrap() {
                FileStep::Read(bytes) => got.extend(bytes),
                FileStep::Sent(0) => {}
                // A kernel that can: then it is in the socket.
                FileStep::Sent(count) => {
                    let mut bytes = vec![0; count as usize];
                    theirs.read_exact(&mut bytes).unwrap();
                    got.extend(bytes);
                }
                FileStep::Full => panic!("an empty socket is not full"),
            }
        }
        assert_eq!(got, whole);
        drop(part);
        assert_eq!(state.done.get(), Some(Ok(())));
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let socket = Socket::from(std::os::fd::OwnedFd::from(ours));
        let state = Rc::new(FileState::default());
        let mut part = FilePart::new(File::open("/dev/null").unwrap(), 0, 1, Rc::clone(&state));
        let error = (0..3).find_map(|_| part.step(Some(&socket)).err()).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        drop(part);
        assert_eq!(state.done.get(), Some(Err(SendError::Closed)));
    }
}
