//! Output of a connection: what could not be sent at once, and a file that follows it.

use std::cell::RefMut;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use socket2::Socket;

use super::Conn;
use super::io::Direction;
use crate::file_part::{FilePart, Step};
use crate::pool::Pool;

/// Answers to pipelined requests leave together up to this many bytes.
const BATCH: usize = 64 * 1024;

/// Output that waits: first `buf` from `pos` on, then the shared body or the file.
#[derive(Default)]
pub(crate) struct Out {
    buf: Vec<u8>,
    pos: usize,
    shared: Option<SharedPart>,
    /// Nothing is queued behind it.
    file: Option<FilePart>,
    /// The socket took less than it was given: only its readiness helps.
    blocked: bool,
    written: u64,
}

/// A body that its owner keeps in memory for us. Nothing is queued behind it.
struct SharedPart {
    owner: Box<dyn AsRef<[u8]>>,
    pos: usize,
}

impl SharedPart {
    fn rest(&self) -> &[u8] {
        self.owner.as_ref().as_ref().get(self.pos..).unwrap_or_default()
    }
}

/// What became of an attempt to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    All,
    /// The socket is full.
    Blocked,
    /// There is more, and the socket may take it, but others come first.
    More,
    Broken,
}

impl Out {
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.pos < self.buf.len() || self.has_part()
    }

    /// Whether a shared body or a file waits, behind which nothing may be queued.
    #[inline]
    pub(crate) fn has_part(&self) -> bool {
        self.shared.is_some() || self.file.is_some()
    }

    /// Bytes in memory.
    #[inline]
    pub(crate) fn buffered(&self) -> usize {
        self.buf.len() - self.pos + self.shared.as_ref().map_or(0, |part| part.rest().len())
    }

    /// Bytes the kernel has taken so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Where to append.
    #[inline]
    pub(crate) fn buffer(&mut self, pool: &Pool) -> &mut Vec<u8> {
        if self.buf.capacity() == 0 {
            self.buf = pool.out_buffer();
        } else if self.pos > self.buf.len() / 2 {
            self.buf.drain(..self.pos);
            self.pos = 0;
        }
        &mut self.buf
    }

    /// Takes out what waits in memory, for whoever goes on with the connection.
    pub(crate) fn take_memory(&mut self, pool: &Pool) -> Vec<u8> {
        let mut waiting = std::mem::take(&mut self.buf);
        waiting.drain(..self.pos);
        self.pos = 0;
        if waiting.capacity() == 0 { pool.out_buffer() } else { waiting }
    }

    /// Queues a file. MUST be the last of its answer, and the next answer MUST wait for it.
    pub(crate) fn attach(&mut self, file: FilePart) {
        self.file = Some(file);
    }

    /// Queues a body from `pos` on. MUST be the last of its answer, and the next answer MUST wait for it.
    pub(crate) fn share(&mut self, owner: Box<dyn AsRef<[u8]>>, pos: usize) {
        self.shared = Some(SharedPart { owner, pos });
    }

    /// Gives the memory back once it is empty.
    #[inline]
    fn settle(&mut self, pool: &Pool) {
        if self.pos == self.buf.len() && self.buf.capacity() > 0 {
            self.pos = 0;
            pool.give_out(std::mem::take(&mut self.buf));
        }
    }

    pub(crate) fn discard(&mut self, pool: &Pool) {
        self.pos = self.buf.len();
        self.settle(pool);
        self.shared = None;
        self.file = None;
    }

    /// Sends `buf`, then `tail`: how much of `tail` the socket took, and whether it took all.
    fn send_memory(&mut self, socket: &Socket, tail: &[u8]) -> Result<(usize, Sent), io::Error> {
        let flags = libc::MSG_NOSIGNAL | if self.file.is_some() { libc::MSG_MORE } else { 0 };
        let mut used = 0;
        loop {
            let (head, tail) = (&self.buf[self.pos..], &tail[used..]);
            let total = head.len() + tail.len();
            if total == 0 {
                return Ok((used, Sent::All));
            }
            let sent = match (head.is_empty(), tail.is_empty()) {
                (false, true) => socket.send_with_flags(head, flags),
                (true, _) => socket.send_with_flags(tail, flags),
                (false, false) => socket.send_vectored_with_flags(&[IoSlice::new(head), IoSlice::new(tail)], flags),
            };
            match sent {
                Ok(count) => {
                    self.written += count as u64;
                    let from_head = count.min(self.buf.len() - self.pos);
                    self.pos += from_head;
                    used += count - from_head;
                    if count < total {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.blocked = true;
        Ok((used, Sent::Blocked))
    }

    /// Sends `buf` and the shared body behind it.
    fn send_shared(&mut self, socket: &Socket) -> Result<Sent, io::Error> {
        let Some(mut part) = self.shared.take() else { return Ok(self.send_memory(socket, &[])?.1) };
        let (used, sent) = self.send_memory(socket, part.rest())?;
        part.pos += used;
        if sent != Sent::All {
            self.shared = Some(part);
        }
        Ok(sent)
    }

    /// Sends some of the file.
    fn send_file(&mut self, socket: &Socket, pool: &Pool) -> Result<Sent, io::Error> {
        let Some(part) = &mut self.file else { return Ok(Sent::All) };
        if part.is_done() {
            self.file = None;
            return Ok(Sent::All);
        }
        match part.step(socket)? {
            Step::Sent(count) => self.written += count,
            Step::Read(bytes) => self.buffer(pool).extend_from_slice(&bytes),
            Step::Full => {
                self.blocked = true;
                return Ok(Sent::Blocked);
            }
        }
        Ok(Sent::More)
    }

    /// Sends what waits.
    fn send(&mut self, socket: &Socket, pool: &Pool) -> Result<Sent, io::Error> {
        let mut sent = self.send_shared(socket)?;
        if sent == Sent::All && self.file.is_some() {
            sent = self.send_file(socket, pool)?;
            if self.file.as_ref().is_some_and(FilePart::is_done) && self.buffered() == 0 {
                self.file = None;
                sent = Sent::All;
            }
        }
        self.settle(pool);
        Ok(sent)
    }
}

impl Conn {
    /// Lets `work` send on the socket, and counts what it sent.
    #[inline]
    fn send_with<R>(&self, out: &mut Out, work: impl FnOnce(&mut Out, &Socket) -> io::Result<R>) -> Option<R> {
        let bytes_out = &self.port.worker.counters.bytes_out;
        let io = self.io.borrow();
        let before = out.written;
        let result = work(out, io.as_ref()?.socket()).ok();
        bytes_out.set(bytes_out.get() + (out.written - before));
        result
    }

    /// Sends what was just appended to `out`. See [`push_tail`](Self::push_tail).
    #[inline]
    pub(crate) fn push(&self, mut out: RefMut<'_, Out>) -> usize {
        if self.held(&out, 0) {
            return out.buffered();
        }
        let sent = self.send_with(&mut out, |out, socket| out.send(socket, &self.port.worker.pool));
        self.pushed(out, sent.unwrap_or(Sent::Broken))
    }

    /// Sends what was just appended to `out`, and `tail` behind it, in one call of the kernel; or leaves both to the
    /// task when the socket is full or more answers follow in this very turn. `keep` stores the bytes of `tail` from
    /// the given one on. Returns the bytes left waiting.
    pub(crate) fn push_tail(
        &self,
        mut out: RefMut<'_, Out>,
        tail: &[u8],
        keep: impl FnOnce(&mut Out, &Pool, usize),
    ) -> usize {
        let pool = &self.port.worker.pool;
        if self.held(&out, tail.len()) {
            keep(&mut out, pool, 0);
            return out.buffered();
        }
        let sent = self.send_with(&mut out, |out, socket| {
            let (used, sent) = out.send_memory(socket, tail)?;
            if used < tail.len() {
                keep(out, pool, used);
            }
            out.settle(pool);
            Ok(sent)
        });
        self.pushed(out, sent.unwrap_or(Sent::Broken))
    }

    /// Whether output is left to the task.
    #[inline]
    fn held(&self, out: &Out, more: usize) -> bool {
        out.blocked || (self.pipelined.get() && self.in_poll.get() && out.buffered() + more < BATCH)
    }

    #[inline]
    fn pushed(&self, out: RefMut<'_, Out>, sent: Sent) -> usize {
        let waiting = out.buffered();
        drop(out);
        match sent {
            Sent::All => {}
            Sent::Blocked | Sent::More => self.wake_task(),
            Sent::Broken => self.break_off(),
        }
        waiting
    }

    /// Below this many waiting bytes writers go on.
    pub(crate) fn low_water(&self) -> usize {
        self.port.config.max_output / 2
    }

    /// Sends all that waits. Ready when nothing waits any more, or the connection broke.
    pub(crate) fn poll_output(&self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.broken.get() || !self.out.borrow().is_pending() {
                return Poll::Ready(());
            }
            let registered = self.register();
            let io = self.io.borrow();
            let Some(fd) = io.as_ref().filter(|_| registered.is_ok()) else {
                drop(io);
                self.break_off();
                return Poll::Ready(());
            };
            let Ok(mut guard) = ready!(fd.poll_ready(Direction::Write, cx)) else {
                drop(io);
                self.break_off();
                return Poll::Ready(());
            };
            let (sent, waiting) = {
                let mut out = self.out.borrow_mut();
                out.blocked = false;
                let sent = self.send_with(&mut out, |out, socket| out.send(socket, &self.port.worker.pool));
                (sent.unwrap_or(Sent::Broken), out.buffered())
            };
            if sent == Sent::Blocked {
                guard.clear_ready();
            }
            drop(guard);
            drop(io);
            if waiting <= self.low_water() {
                self.drained.wake_all();
            }
            match sent {
                Sent::All | Sent::Blocked => {}
                Sent::More => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Sent::Broken => self.break_off(),
            }
        }
    }
}
