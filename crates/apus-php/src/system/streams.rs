//! `fread()`, `fwrite()` and `fgets()` that wait in a coroutine, for PHP's streams.
//!
//! The stream itself is used on this thread only, by PHP's own functions, so that buffers, filters and TLS stay whole. What
//! waits is either a descriptor's readiness, or another thread that fetches what a file's next read needs from the disk.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;

use apus_coro::TaskId;
use apus_zend::stream::{self, Kind};
use apus_zend::{Call, PhpString, Raise, Value, descriptor};

use super::failure::{code, errno, give, waited};
use super::files::on_thread;
use super::ready::{READ, WRITE, ready};
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
    // SAFETY: takes integers.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(errno());
    }
    // SAFETY: a new descriptor that nobody else owns.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(copy) }))
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
    fn of(call: &Call, what: &'static str) -> Result<Self, Raise> {
        let stream = call.value(0);
        if stream::kind(&stream).is_none() {
            return Err(call.type_error(0, "an open stream"));
        }
        let state = State::get()?;
        crate::wait::expect_suspendable(&state, what)?;
        let cid = state.engine.current_id();
        Ok(Self { state, cid, what, stream })
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

fn returned<V: Into<Value>>(call: &Call, result: Result<V, Stop>) -> Result<(), Raise> {
    match result {
        Ok(value) => call.ret(value),
        Err(Stop::Raise(raise)) => Err(raise),
        Err(Stop::Failed(code)) => give(call, Err::<V, _>(code)),
    }
}

/// A number of bytes; 0 is the default.
fn length(call: &Call, index: usize) -> Result<usize, Raise> {
    let given = call.int(index, 0)?;
    usize::try_from(given).map_err(|_| call.value_error(index, &format!("must be 0 or more bytes, {given} given")))
}

/// `System::fread()`.
pub(super) fn fread(call: &Call) -> Result<(), Raise> {
    let len = length(call, 1)?;
    let work = Work::of(call, "Coroutine\\System::fread()")?;
    if len > 0 {
        return returned(call, work.read(len));
    }
    match work.rest() {
        Ok(bytes) => call.ret_bytes(&bytes),
        Err(stop) => returned::<bool>(call, Err(stop)),
    }
}

/// `System::fgets()`.
pub(super) fn fgets(call: &Call) -> Result<(), Raise> {
    let work = Work::of(call, "Coroutine\\System::fgets()")?;
    match work.line() {
        Ok(None) => call.ret(false),
        Ok(Some(line)) => call.ret(line),
        Err(stop) => returned::<bool>(call, Err(stop)),
    }
}

/// `System::fwrite()`.
pub(super) fn fwrite(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(1)?;
    let limit = match length(call, 2)? {
        0 => bytes.len(),
        limit => limit.min(bytes.len()),
    };
    let work = Work::of(call, "Coroutine\\System::fwrite()")?;
    returned(call, work.write(&bytes[..limit]))
}
