//! Messages over a socket: four bytes with the length in network order, then so many bytes; the answer looks the same.
//! One message a connection.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use apus_zend::object::Object;
use apus_zend::{Callable, Raise};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, SocketFlags, accept_with, recv};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::OwnedSemaphorePermit;

use super::core::PoolCore;
use super::receive::Receiver;
use super::worker::message_args;
use crate::descriptor::watch;
use crate::handlers::Handlers;
use crate::process::sys::{Blocked, block, deadline};
use crate::runtime::Outcome;

/// How long the other side may take to send its message, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(10);
const HEAD: usize = 4;
const CHUNK: usize = 65_536;

/// The next connection of a socket that listens; `None`: none waits.
pub(super) fn accept(fd: impl AsFd) -> Option<OwnedFd> {
    accept_with(fd, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC).ok()
}

/// A message as it comes.
struct Incoming {
    bytes: Vec<u8>,
    longest: usize,
}

impl Incoming {
    fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), longest }
    }

    /// Reads what is there: whether the message is complete. An error: it never will be.
    fn read(&mut self, stream: &OwnedFd) -> io::Result<bool> {
        loop {
            let wanted = match self.length()? {
                None => HEAD - self.bytes.len(),
                Some(length) if self.bytes.len() == HEAD + length => return Ok(true),
                Some(length) => HEAD + length - self.bytes.len(),
            };
            let before = self.bytes.len();
            self.bytes.resize(before + wanted.min(CHUNK), 0);
            let received = recv(stream, &mut self.bytes[before..], RecvFlags::empty()).map(|(n, _)| n);
            self.bytes.truncate(before + received.unwrap_or(0));
            match received {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// How long the message is, once its head has come.
    fn length(&self) -> io::Result<Option<usize>> {
        let Some(head) = self.bytes.first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_be_bytes(*head) as usize;
        if length > self.longest { Err(io::ErrorKind::InvalidData.into()) } else { Ok(Some(length)) }
    }

    fn message(&self) -> &[u8] {
        &self.bytes[HEAD..]
    }
}

/// What the callback has written, as it is sent; nothing when it has written nothing.
fn answer(core: &PoolCore, of: apus_coro::TaskId) -> Vec<u8> {
    let bytes = core.answers.borrow_mut().remove(&of).unwrap_or_default();
    if bytes.is_empty() {
        return bytes;
    }
    // `write()` bounds it.
    [&(bytes.len() as u32).to_be_bytes()[..], &bytes].concat()
}

/// Sends some of `bytes`: how many are left. An error: nobody wants them.
fn send(stream: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    match net::send(stream, bytes, SendFlags::NOSIGNAL) {
        Ok(n) => Ok(bytes.len() - n),
        Err(Errno::WOULDBLOCK) => Ok(bytes.len()),
        Err(error) => Err(error.into()),
    }
}

/// Serves a connection, blocking. One that does not send its message in time, or a broken one, is closed.
pub(super) fn serve_blocking(
    core: &PoolCore,
    object: &Object,
    callable: &Callable,
    stream: &OwnedFd,
) -> Result<(), Raise> {
    let until = deadline(Some(PATIENCE));
    let mut incoming = Incoming::new(core.longest.get());
    while let Ok(false) = incoming.read(stream) {
        if block(&[(stream.as_raw_fd(), PollFlags::IN)], until)? == Blocked::TimedOut {
            return Ok(());
        }
    }
    if !matches!(incoming.length(), Ok(Some(length)) if incoming.bytes.len() == HEAD + length) {
        return Ok(());
    }
    let args = message_args(object, incoming.message())?;
    core.answers.borrow_mut().insert(-1, Vec::new());
    let handled = callable.call(&args);
    let bytes = answer(core, -1);
    drop(handled?);
    let until = deadline(Some(PATIENCE));
    let mut left = bytes.len();
    while left > 0 {
        match send(stream, &bytes[bytes.len() - left..]) {
            Ok(now) if now < left => left = now,
            Ok(_) => {
                if block(&[(stream.as_raw_fd(), PollFlags::OUT)], until)? == Blocked::TimedOut {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    Ok(())
}

impl Receiver {
    /// The same in a coroutine.
    pub(super) async fn converse(&self, stream: OwnedFd, permit: OwnedSemaphorePermit) {
        let Ok(stream) = watch(stream, Interest::READABLE | Interest::WRITABLE) else { return };
        let mut incoming = Incoming::new(self.core.longest.get());
        let whole = tokio::time::timeout(PATIENCE, async {
            loop {
                match incoming.read(stream.get_ref()) {
                    Ok(true) => return true,
                    Err(_) => return false,
                    Ok(false) => match stream.readable().await {
                        Ok(mut ready) => ready.clear_ready(),
                        Err(_) => return false,
                    },
                }
            }
        });
        if !whole.await.unwrap_or(false) {
            return;
        }
        let bytes = self.answer_to(incoming.message()).await;
        drop(permit);
        let _ = tokio::time::timeout(PATIENCE, write_all(&stream, &bytes)).await;
    }

    async fn answer_to(&self, message: &[u8]) -> Vec<u8> {
        let thrown = Rc::new(RefCell::new(None));
        let into = Rc::clone(&thrown);
        let done = Rc::new(move |outcome| {
            if let Outcome::Threw(thrown) = outcome {
                *into.borrow_mut() = Some(thrown);
            }
        });
        let begun = message_args(&self.object, message)
            .and_then(|args| Handlers::new(&self.state, true).begin(self.callable.share(), args, Some(done)));
        let drive = match begun {
            Ok(Some(drive)) => drive,
            Ok(None) => return Vec::new(),
            Err(raise) => {
                self.state.report(raise);
                return Vec::new();
            }
        };
        let id = drive.task().id();
        self.core.answers.borrow_mut().insert(id, Vec::new());
        drive.await;
        let bytes = answer(&self.core, id);
        let thrown = thrown.take();
        if let Some(thrown) = thrown {
            self.state.uncaught(thrown);
        }
        bytes
    }
}

async fn write_all(stream: &AsyncFd<OwnedFd>, bytes: &[u8]) -> io::Result<()> {
    let mut left = bytes.len();
    while left > 0 {
        let now = send(stream.get_ref(), &bytes[bytes.len() - left..])?;
        if now == left {
            stream.writable().await?.clear_ready();
        }
        left = now;
    }
    Ok(())
}
