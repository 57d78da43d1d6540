//! Sending over an HTTP connection.

use std::cell::RefMut;
use std::io;
use std::task::{Context, Poll};

use super::Conn;
use crate::kill::Kill;
use crate::message_conn::Delivery;
use crate::output::{OutputQueue, Sent, is_over_bound};
use crate::pool::Pool;
use crate::wire::Wire;

/// Answers to pipelined requests leave together up to this many bytes.
const BATCH: usize = 64 * 1024;

impl Conn {
    /// Lets `work` send on the socket, and counts what it sent; nothing when the connection is broken.
    #[inline]
    fn send_with<R>(
        &self,
        out: &mut OutputQueue,
        work: impl FnOnce(&mut OutputQueue, &Pool, &Wire) -> io::Result<R>,
    ) -> Option<R> {
        let io = self.io.borrow();
        let wire = io.as_ref()?;
        out.counting(&self.port.worker, |out, pool| work(out, pool, wire)).ok()
    }

    /// Sends what was just appended to `out`. See [`push_tail`](Self::push_tail).
    #[inline]
    pub(crate) fn push(&self, mut out: RefMut<'_, OutputQueue>) -> usize {
        if self.held(&out, 0) {
            return self.left(&mut out);
        }
        let sent = self.send_with(&mut out, |out, pool, mut wire| out.send(&mut wire, pool));
        self.pushed(out, sent)
    }

    /// Sends what was just appended to `out`, and `tail` behind it, in one call of the kernel; or leaves both to the
    /// task when the socket is full or more answers follow in this very turn. `keep` stores the bytes of `tail` from
    /// the given one on. Returns the bytes left waiting.
    pub(crate) fn push_tail(
        &self,
        mut out: RefMut<'_, OutputQueue>,
        tail: &[u8],
        keep: impl FnOnce(&mut OutputQueue, &Pool, usize),
    ) -> usize {
        let worker = &self.port.worker;
        if self.held(&out, tail.len()) {
            keep(&mut out, &worker.pool, 0);
            return self.left(&mut out);
        }
        let sent = self.send_with(&mut out, |out, pool, mut wire| {
            let (used, sent) = out.send_memory(&mut wire, tail, pool)?;
            if used < tail.len() {
                keep(out, pool, used);
            }
            Ok(sent)
        });
        self.pushed(out, sent)
    }

    /// Sends bytes that are no part of an answer, behind what waits. `None` where the connection carries streams, or is
    /// one: bytes have no place among their frames.
    pub(crate) fn send_raw(&self, data: &[u8]) -> Option<Delivery> {
        if self.muxed.is_some() || self.mux.get().is_some() {
            return None;
        }
        if self.broken.get() || !matches!(self.kill.get(), Kill::No) {
            return Some(Delivery::Gone);
        }
        let mut out = self.out.borrow_mut();
        if is_over_bound(out.bytes(), &self.port.config, &self.port.worker) {
            return Some(Delivery::Dropped);
        }
        out.append([data, &[]], 0, &self.port.worker.pool);
        Some(if self.push(out) == 0 { Delivery::Sent } else { Delivery::Buffered })
    }

    /// Whether output is left to the task.
    #[inline]
    fn held(&self, out: &OutputQueue, more: usize) -> bool {
        out.is_blocked() || (self.pipelined.get() && self.in_poll.get() && out.bytes() + more < BATCH)
    }

    /// Output stays with the task, here or that of the connection which carries the stream: how much it is.
    fn left(&self, out: &mut OutputQueue) -> usize {
        self.count_output(out);
        if self.muxed.is_some() {
            self.touch();
        }
        out.bytes()
    }

    #[inline]
    fn pushed(&self, out: RefMut<'_, OutputQueue>, sent: Option<Sent>) -> usize {
        let (waiting, more) = (out.bytes(), !out.is_empty() || self.wire_waits());
        drop(out);
        match sent {
            // Behind a file more may wait than one call takes.
            Some(_) if more => self.wake_task(),
            Some(_) => {}
            None => self.break_off(),
        }
        waiting
    }

    /// Whether bytes wait that TLS has sealed already.
    #[inline]
    fn wire_waits(&self) -> bool {
        self.io.borrow().as_ref().is_some_and(Wire::waits)
    }

    /// Sends all that waits. Ready when nothing waits any more, or the connection broke.
    pub(crate) fn poll_output(&self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let sealed = self.wire_waits();
            if self.broken.get() || (!sealed && self.out.borrow().is_empty()) {
                return Poll::Ready(());
            }
            if self.register().is_err() {
                self.break_off();
                return Poll::Ready(());
            }
            if !self.ready.get().may_write() {
                self.await_room();
                return Poll::Pending;
            }
            if sealed {
                let flushed = self.io.borrow().as_ref().map_or(Ok(()), Wire::flush);
                match flushed {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.no_room(),
                    Err(_) => {
                        self.break_off();
                        return Poll::Ready(());
                    }
                }
                continue;
            }
            let (sent, waiting) = {
                let mut out = self.out.borrow_mut();
                out.unblock();
                let sent = self.send_with(&mut out, |out, pool, mut wire| out.send(&mut wire, pool));
                (sent, out.bytes())
            };
            if sent == Some(Sent::Blocked) {
                self.no_room();
            }
            if waiting <= self.port.config.low_watermark {
                self.drained.wake_all();
            }
            match sent {
                Some(Sent::All | Sent::Blocked) => {}
                Some(Sent::More) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                None => self.break_off(),
            }
        }
    }
}
