//! Writing to what somebody else reads (a terminal, a pipe to a collector, the journal's socket) without ever waiting
//! for them.
//!
//! Standard output and error are shared with processes that count on their blocking, so their flags are left alone. A
//! pipe or a terminal is opened a second time, which gives a description of its own; a socket takes the flag with each
//! call.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, send};
use nix::sys::stat::fstat;

/// Bytes that are kept for a reader that does not keep up. What comes beyond them is lost, and counted.
pub(super) const MOST_HELD: usize = 1 << 20;
/// What a pipe that is writable takes at once (pipe(7)).
const PIPE_BUF: usize = 4096;

/// How a target is written to without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A regular file, or a description of our own that does not block.
    Plain,
    /// A socket, with the flag in each call.
    Send,
    /// What could not be opened again (another user's terminal): asked before each small piece. Another process may be
    /// faster, and then this one waits: there is no better way.
    Asked,
}

/// Something to write to, and what it has not taken yet.
#[derive(Debug)]
pub(crate) struct Sink {
    file: File,
    way: Way,
    held: VecDeque<u8>,
    /// Writes that were dropped, wholly or in part.
    lost: u64,
    /// The process that holds bytes: a forked child must not write them, too.
    owner: u32,
}

impl Sink {
    /// For a file that was opened for writing with `O_NONBLOCK`.
    pub(crate) fn of_file(file: File) -> Self {
        Self::new(file, Way::Plain)
    }

    fn new(file: File, way: Way) -> Self {
        Self { file, way, held: VecDeque::new(), lost: 0, owner: std::process::id() }
    }

    /// For a descriptor that others use, too.
    fn of_shared(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let shared = File::from(fd.try_clone_to_owned()?);
        let kind = shared.metadata()?.file_type();
        if kind.is_socket() {
            return Ok(Self::new(shared, Way::Send));
        }
        if !kind.is_fifo() && !kind.is_char_device() {
            return Ok(Self::new(shared, Way::Plain));
        }
        let again = OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(format!("/proc/self/fd/{}", shared.as_raw_fd()));
        Ok(match again {
            Ok(own) => Self::new(own, Way::Plain),
            Err(_) => Self::new(shared, Way::Asked),
        })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Writes what the target takes, and holds the rest. What fails for good is dropped: there is nowhere to report it.
    pub(crate) fn write(&mut self, bytes: &[u8], pid: u32) {
        if self.owner != pid {
            (self.owner, self.lost) = (pid, 0);
            self.held.clear();
        }
        self.write_held();
        let mut taken = 0;
        if self.held.is_empty() {
            match self.put(bytes) {
                Some(count) => taken = count,
                None => return,
            }
        }
        let rest = &bytes[taken..];
        let room = MOST_HELD - self.held.len();
        // A line that was begun is completed as far as it can be; others stay whole.
        if rest.len() <= room || taken > 0 {
            self.held.extend(&rest[..rest.len().min(room)]);
        }
        self.lost += u64::from(rest.len() > room);
    }

    /// Writes what was held, as far as it is taken. Once all of it is, gives how many writes were lost meanwhile.
    pub(crate) fn flush(&mut self) -> u64 {
        self.write_held();
        if self.held.is_empty() { std::mem::take(&mut self.lost) } else { 0 }
    }

    fn write_held(&mut self) {
        while !self.held.is_empty() {
            match self.put(self.held.as_slices().0) {
                Some(0) => return,
                Some(count) => drop(self.held.drain(..count)),
                None => self.held.clear(),
            }
        }
    }

    /// Whether it holds bytes of this process, or has to tell that some were lost.
    pub(crate) fn is_waiting(&self) -> bool {
        (!self.held.is_empty() || self.lost > 0) && self.owner == std::process::id()
    }

    /// How much of it was taken before the target was full; `None` when it takes nothing any more.
    fn put(&self, bytes: &[u8]) -> Option<usize> {
        let mut done = 0;
        while done < bytes.len() {
            match self.put_once(&bytes[done..]) {
                Ok(0) => return None,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return None,
            }
        }
        Some(done)
    }

    fn put_once(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.way {
            Way::Plain => (&self.file).write(bytes),
            Way::Send => Ok(send(self.file.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL)?),
            Way::Asked => {
                let mut ask = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
                if poll(&mut ask, PollTimeout::ZERO)? == 0 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                (&self.file).write(&bytes[..bytes.len().min(PIPE_BUF)])
            }
        }
    }
}

/// Standard output or error, whatever that is at the time: programs may point it elsewhere.
#[derive(Debug)]
pub(super) struct Standard {
    /// Device and inode of what the sink was made for.
    known: Option<(u64, u64)>,
    sink: Option<Sink>,
}

impl Standard {
    pub(super) const NEW: Self = Self { known: None, sink: None };

    /// Writes to what stands behind `fd` now.
    pub(super) fn write(&mut self, fd: BorrowedFd<'_>, bytes: &[u8], pid: u32) {
        match self.sink(fd) {
            Ok(Some(sink)) => sink.write(bytes, pid),
            Ok(None) => {}
            // What has to be told may be just that: no descriptor is left.
            Err(_) => write_directly(fd, bytes),
        }
    }

    /// The sink of what stands behind `fd` now; `None` when nothing does. An error is looked into again the next time.
    pub(super) fn sink(&mut self, fd: BorrowedFd<'_>) -> io::Result<Option<&mut Sink>> {
        let about = fstat(fd).ok().map(|about| (about.st_dev, about.st_ino));
        if about != self.known || about.is_none() {
            (self.known, self.sink) = (None, None);
            // A standard descriptor is inherited by programs. One that would not be is something else's (a connection
            // of ours), which got the number because the program closed it.
            let standard = fcntl(fd, FcntlArg::F_GETFD).is_ok_and(|flags| flags & FdFlag::FD_CLOEXEC.bits() == 0);
            self.sink = if standard { Some(Sink::of_shared(fd)?) } else { None };
            self.known = about;
        }
        Ok(self.sink.as_mut())
    }

    /// The sink, if something was written.
    pub(super) fn existing(&mut self) -> Option<&mut Sink> {
        self.sink.as_mut()
    }
}

/// As much as is taken without waiting; the rest is lost.
fn write_directly(fd: BorrowedFd<'_>, bytes: &[u8]) {
    for piece in bytes.chunks(PIPE_BUF) {
        let mut ask = [PollFd::new(fd, PollFlags::POLLOUT)];
        let ready = poll(&mut ask, PollTimeout::ZERO).is_ok_and(|ready| ready > 0);
        if !ready || nix::unistd::write(fd, piece).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn all(sink: &mut Sink, mut reader: impl Read, mut until: usize) -> Vec<u8> {
        let mut got = Vec::new();
        while until > 0 {
            let mut piece = vec![0; until.min(65536)];
            let count = reader.read(&mut piece).unwrap();
            got.extend(&piece[..count]);
            until -= count;
            sink.flush();
        }
        got
    }

    #[test]
    fn a_stalled_pipe_holds_some_and_counts_the_rest() {
        let (reader, writer) = io::pipe().unwrap();
        let mut sink = Sink::of_shared(writer.as_fd()).unwrap();
        assert_eq!(sink.way, Way::Plain);
        let (line, pid) = ([b'x'; 1000], std::process::id());
        for _ in 0..2000 {
            sink.write(&line, pid);
        }
        assert!(sink.is_waiting() && sink.lost > 0);
        let kept = 2_000_000 - sink.lost as usize * 1000;
        assert!(kept > MOST_HELD - 1000);
        let lost = sink.lost;
        let mut got = vec![0; kept];
        for piece in got.chunks_mut(4096) {
            (&reader).read_exact(piece).unwrap();
            sink.write_held();
        }
        assert!(got.iter().all(|byte| *byte == b'x'));
        assert_eq!(sink.flush(), lost);
        assert!(!sink.is_waiting());
        // The flags of the shared description are as they were.
        let flags = fcntl(writer.as_fd(), FcntlArg::F_GETFL).unwrap();
        assert_eq!(flags & libc::O_NONBLOCK, 0);
    }

    #[test]
    fn a_stalled_socket_is_not_waited_for() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut sink = Sink::of_shared(ours.as_fd()).unwrap();
        assert_eq!(sink.way, Way::Send);
        let piece = vec![b'y'; 900_000];
        sink.write(&piece, std::process::id());
        assert!(sink.is_waiting());
        assert_eq!(all(&mut sink, theirs, piece.len()), piece);
        assert_eq!(sink.flush(), 0);
        assert!(!sink.is_waiting());
    }

    #[test]
    fn what_cannot_be_opened_again_is_asked() {
        let (reader, writer) = io::pipe().unwrap();
        let mut sink = Sink::new(File::from(writer.as_fd().try_clone_to_owned().unwrap()), Way::Asked);
        sink.write(&vec![b'z'; 100_000], std::process::id());
        assert!(sink.is_waiting());
        assert_eq!(all(&mut sink, reader, 100_000).len(), 100_000);
    }

    #[test]
    fn a_reader_that_is_gone_is_nothing() {
        let (reader, writer) = io::pipe().unwrap();
        let mut sink = Sink::of_shared(writer.as_fd()).unwrap();
        drop(reader);
        sink.write(b"unheard", std::process::id());
        assert!(!sink.is_waiting());
    }

    #[test]
    fn a_forked_child_does_not_repeat_what_its_parent_holds() {
        let (reader, writer) = io::pipe().unwrap();
        let mut sink = Sink::of_shared(writer.as_fd()).unwrap();
        sink.write(&vec![b'p'; 100_000], 1);
        sink.owner = 1;
        assert!(!sink.is_waiting());
        drop(all(&mut sink, &reader, 1));
        sink.write(b"child", 2);
        assert!(sink.held.len() <= b"child".len());
    }

    #[test]
    fn what_is_closed_on_exec_is_not_standard() {
        let (_reader, writer) = io::pipe().unwrap();
        let mut standard = Standard::NEW;
        assert!(standard.sink(writer.as_fd()).unwrap().is_none());
        let open = File::from(writer.as_fd().try_clone_to_owned().unwrap());
        fcntl(&open, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let mut standard = Standard::NEW;
        let ino = |file: &File| file.metadata().unwrap().ino();
        assert_eq!(standard.sink(open.as_fd()).unwrap().map(|sink| ino(sink.file())), Some(ino(&open)));
    }
}
