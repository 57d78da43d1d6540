//! `fread()`, `fwrite()` and `fgets()` that wait in a coroutine, for PHP's streams.
//!
//! The stream itself is used on this thread only, by PHP's own functions, so that buffers, filters and TLS stay whole.
//! What waits is either a descriptor's readiness, or another thread that fetches what a file's next read needs from the
//! disk.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::FileExt;

use apus_coro::TaskId;
use apus_zend::arg::{Any, Given, Want};
use apus_zend::stream::{self, Kind};
use apus_zend::{PhpString, Raise, Value, descriptor};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::failure::{Noted, code, waited};
use super::files::on_thread;
use super::ready::{READ, WRITE, ready};
use crate::descriptor::Number;
use crate::runtime::State;

/// What PHP's streams read ahead.
const CHUNK: usize = 8192;
/// The most that is fetched from the disk at one go.
const FETCH: usize = 1 << 20;
/// The longest line that `fgets()` gives in one piece.
const MAX_LINE: usize = 1 << 20;

/// Why a step did not happen: an exception, or an errno.
enum Stop {
    Raise(Raise),
    Failed(i32),
}

impl From<Raise> for Stop {
    fn from(raise: Raise) -> Self {
        Self::Raise(raise)
    }
}

/// A stream that a function works with.
struct Work {
    state: std::rc::Rc<State>,
    cid: TaskId,
    what: &'static str,
    stream: Value,
}

/// A descriptor of our own for the same open file.
fn copy_of(fd: RawFd) -> Result<File, i32> {
    fcntl_dupfd_cloexec(Number(fd), 0).map(File::from).map_err(Errno::raw_os_error)
}

/// Reads what the next read will want, so that it finds it in the page cache; blocks.
fn fetch(mut file: &File, len: usize) -> Result<(), i32> {
    let at = file.stream_position().map_err(|error| code(&error))?;
    let mut room = vec![0; len.min(FETCH)];
    let mut done = 0;
    while done < len {
        match file.read_at(&mut room, at + done as u64) {
            Ok(count) if count > 0 => done += count,
            // The end, or an error that the read itself will meet.
            _ => break,
        }
    }
    Ok(())
}

impl Work {
    fn of(stream: Any<'_>, what: &'static str) -> Result<Self, Raise> {
        let value = stream.value();
        if stream::kind(&value).is_none() {
            return Err(stream.type_error("an open stream"));
        }
        let state = State::get()?;
        crate::wait::expect_suspendable(&state, what)?;
        let cid = state.engine.current_id();
        Ok(Self { state, cid, what, stream: value })
    }

    fn wait<T>(&self, job: impl Future<Output = Result<T, i32>>) -> Result<T, Stop> {
        waited(&self.state, self.what, None, job)?.map_err(Stop::Failed)
    }

    /// Waits until a read of up to `len` bytes will not block. Others may close the stream meanwhile.
    fn readable(&self, len: usize) -> Result<(), Stop> {
        // Asked first: a TLS stream hands over what it has decrypted when it is asked for its descriptor.
        let kind = stream::kind(&self.stream);
        if descriptor::buffered(&self.stream) > 0 {
            return Ok(());
        }
        match kind {
            Some(Kind::Waitable(fd)) => self.wait(ready(self.cid, fd, READ)).map(drop),
            Some(Kind::File(fd)) => {
                let file = copy_of(fd).map_err(Stop::Failed)?;
                self.wait(on_thread(move || fetch(&file, len)))
            }
            Some(Kind::Other) => Ok(()),
            None => Err(Stop::Failed(libc::EBADF)),
        }
    }

    fn read(&self, len: usize) -> Result<PhpString, Stop> {
        self.readable(len)?;
        stream::read(&self.stream, len)?.ok_or(Stop::Failed(libc::EBADF))
    }

    /// Everything until the end.
    fn rest(&self) -> Result<Vec<u8>, Stop> {
        let mut bytes = Vec::new();
        while !stream::at_end(&self.stream) {
            let chunk = self.read(FETCH)?;
            bytes.extend_from_slice(chunk.as_bytes());
            // A stream that does not block gives nothing while there is nothing: its end is not told otherwise.
            if chunk.as_bytes().is_empty() && matches!(stream::kind(&self.stream), Some(Kind::Other) | None) {
                break;
            }
        }
        Ok(bytes)
    }

    fn line(&self) -> Result<Option<PhpString>, Stop> {
        while !stream::has_line(&self.stream, MAX_LINE) {
            let kind = stream::kind(&self.stream);
            if stream::has_line(&self.stream, MAX_LINE) {
                break;
            }
            match kind {
                Some(Kind::Waitable(fd)) => self.wait(ready(self.cid, fd, READ)).map(drop)?,
                Some(Kind::File(fd)) => {
                    let file = copy_of(fd).map_err(Stop::Failed)?;
                    self.wait(on_thread(move || fetch(&file, CHUNK)))?;
                }
                Some(Kind::Other) => break,
                None => return Err(Stop::Failed(libc::EBADF)),
            }
            stream::fill(&self.stream)?;
        }
        Ok(stream::line(&self.stream, MAX_LINE)?)
    }

    fn write(&self, bytes: &[u8]) -> Result<i64, Stop> {
        match stream::kind(&self.stream) {
            Some(Kind::File(fd)) if stream::write_beside(&self.stream) => {
                let (mut file, owned) = (copy_of(fd).map_err(Stop::Failed)?, bytes.to_vec());
                self.wait(on_thread(move || file.write_all(&owned).map_err(|error| code(&error))))?;
                stream::moved(&self.stream, bytes.len());
                Ok(bytes.len() as i64)
            }
            None => Err(Stop::Failed(libc::EBADF)),
            Some(_) => self.write_in_pieces(bytes),
        }
    }

    /// A descriptor that is ready takes this much without blocking.
    fn write_in_pieces(&self, bytes: &[u8]) -> Result<i64, Stop> {
        let mut written = 0;
        for piece in bytes.chunks(CHUNK / 2) {
            let mut piece = piece;
            while !piece.is_empty() {
                match stream::kind(&self.stream) {
                    Some(Kind::Waitable(fd)) => self.wait(ready(self.cid, fd, WRITE)).map(drop)?,
                    Some(_) => {}
                    None => return Err(Stop::Failed(libc::EBADF)),
                }
                match stream::write(&self.stream, piece)? {
                    Some(count) if count > 0 => {
                        piece = &piece[count..];
                        written += count as i64;
                    }
                    _ if written > 0 => return Ok(written),
                    _ => return Err(Stop::Failed(libc::EIO)),
                }
            }
        }
        Ok(written)
    }
}

fn returned<V>(result: Result<V, Stop>) -> Result<Noted<V>, Raise> {
    match result {
        Ok(value) => Ok(Noted(Ok(value))),
        Err(Stop::Raise(raise)) => Err(raise),
        Err(Stop::Failed(code)) => Ok(Noted(Err(code))),
    }
}

/// A number of bytes; 0 is the default.
pub(super) struct Length(usize);

impl Want<i64> for Length {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        given.number("0 or more bytes").map(Self)
    }
}

/// `System::fread()`.
pub(super) fn fread(stream: Any<'_>, Length(len): Length) -> Result<Noted<PhpString>, Raise> {
    let work = Work::of(stream, "Coroutine\\System::fread()")?;
    if len > 0 {
        return returned(work.read(len));
    }
    returned(work.rest().and_then(|bytes| Ok(PhpString::new(&bytes)?)))
}

/// `System::fgets()`.
pub(super) fn fgets(stream: Any<'_>) -> Result<Noted<Value>, Raise> {
    let line = Work::of(stream, "Coroutine\\System::fgets()")?.line();
    returned(line.map(|line| line.map_or_else(|| Value::bool(false), Value::from)))
}

/// `System::fwrite()`.
pub(super) fn fwrite(stream: Any<'_>, bytes: &[u8], Length(limit): Length) -> Result<Noted<i64>, Raise> {
    let limit = if limit == 0 { bytes.len() } else { limit.min(bytes.len()) };
    let work = Work::of(stream, "Coroutine\\System::fwrite()")?;
    returned(work.write(&bytes[..limit]))
}
