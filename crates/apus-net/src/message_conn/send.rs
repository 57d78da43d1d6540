//! Sending over a message connection: at once where the socket takes it, else from memory, within bounds.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::task::Poll;

use apus_proto::websocket::{NOT_AGREED, Opcode, encode};
use bytes::{Bytes, BytesMut};

use super::{Carrier, MessageConn, Stage};
use crate::answer::SendError;
use crate::config::SendPolicy;
use crate::file_part::{FilePart, FileState, SendFile};
use crate::kill::Kill;
use crate::output::{OutputQueue, Sent, Sink, is_full, is_over_bound};
use crate::pool::Pool;

/// Messages up to this many bytes, those with a head of two, are put behind it on the stack; longer ones stay where
/// they are.
const SHORT: usize = 125;
/// The longest head of a frame that a server sends.
const MAX_HEAD: usize = 10;
/// To more receivers a message is sent between the turns of everything else. Each takes a system call of some
/// microseconds: to ten thousand at once, nobody else would be served for a tenth of a second.
const MANY: usize = 64;
/// Output that is held back leaves at the latest when it has so many bytes.
const HELD: usize = 64 * 1024;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// The kernel has it, or gets it at the end of this turn of the reactor.
    Sent,
    /// It waits in memory for the peer.
    Buffered,
    /// As much waits as is allowed, and `send_policy` is to wait: nothing was taken. Wait for
    /// [`MessageConn::writable`].
    Full,
    /// As much waits as is allowed, and `send_policy` is to drop, or to close: it is lost.
    Dropped,
    /// The message connection is closed or closing.
    Gone,
    /// The frame may not follow those before it, for this reason: nothing was taken.
    Misplaced(&'static str),
}

/// One message for many receivers, encoded once for each kind of them.
#[derive(Debug, Clone)]
pub struct Broadcast {
    opcode: Opcode,
    payload: Bytes,
    frame: std::cell::OnceCell<Bytes>,
    /// There are more than [`MANY`] receivers.
    spread: bool,
}

impl Broadcast {
    /// A message of that opcode for so many receivers; streams get its payload as it is.
    pub fn new(opcode: Opcode, payload: Bytes, receivers: usize) -> Self {
        Self { opcode, payload, frame: std::cell::OnceCell::new(), spread: receivers > MANY }
    }

    fn frame(&self) -> &Bytes {
        self.frame.get_or_init(|| {
            let mut frame = BytesMut::new();
            encode(&mut frame, self.opcode, true, false, &self.payload, None);
            frame.freeze()
        })
    }
}

impl MessageConn {
    /// Sends a WebSocket message or fragment. Compressed when it was agreed upon and the message is long enough, or
    /// `compress` asks for it; of a fragment that begins a message, `compress` says that the program has compressed it.
    pub fn push(self: &Rc<Self>, opcode: Opcode, fin: bool, compress: bool, payload: &[u8]) -> Delivery {
        if let Some(refused) = self.refused() {
            return refused;
        }
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        let (whole, ready) = (fin && begins, !fin && begins && compress);
        if ready && !self.agreed_deflate() {
            return Delivery::Misplaced(NOT_AGREED);
        }
        if (!whole || self.flags().fragments)
            && let Err(rule) = self.follow(opcode, fin, ready, payload)
        {
            return Delivery::Misplaced(rule);
        }
        if whole && let Some(frame) = self.deflated(opcode, payload, compress) {
            return self.transmit([&frame, &[]]);
        }
        if payload.len() <= SHORT {
            let mut frame = [0; 2 + SHORT];
            let len = apus_proto::websocket::write_head(&mut frame, opcode, fin, ready, payload.len());
            frame[len..len + payload.len()].copy_from_slice(payload);
            return self.transmit([&frame[..len + payload.len()], &[]]);
        }
        let mut head = [0; MAX_HEAD];
        let len = apus_proto::websocket::write_head(&mut head, opcode, fin, ready, payload.len());
        self.transmit([&head[..len], payload])
    }

    /// Notes a frame that is not a whole message, or that comes between the fragments of one.
    #[cold]
    fn follow(&self, opcode: Opcode, fin: bool, compressed: bool, payload: &[u8]) -> Result<(), &'static str> {
        if opcode.is_control() {
            return Ok(());
        }
        let open = self.with_extra(|extra| {
            extra.sequence = extra.sequence.after(opcode, fin, compressed, payload)?;
            Ok(extra.sequence.is_open())
        })?;
        self.set_flags(|flags| flags.fragments = open);
        Ok(())
    }

    /// Sends bytes over a stream.
    pub fn send(self: &Rc<Self>, data: &[u8]) -> Delivery {
        self.refused().unwrap_or_else(|| self.transmit([data, &[]]))
    }

    /// Sends a message that others get, too: those that are behind share its memory.
    pub fn send_shared(self: &Rc<Self>, message: &Broadcast) -> Delivery {
        if let Some(refused) = self.refused() {
            return refused;
        }
        if self.flags().fragments
            && let Err(rule) = self.follow(message.opcode, true, false, &message.payload)
        {
            return Delivery::Misplaced(rule);
        }
        let bytes = if self.is_websocket() { message.frame() } else { &message.payload };
        if message.spread {
            if self.may_wait(bytes.len()) {
                return self.send_soon(bytes.clone());
            }
            // Behind what is owed to it.
            self.settle();
            self.flush();
        }
        match self.try_now([bytes, &[]]) {
            Ok(count) if count == bytes.len() => Delivery::Sent,
            Ok(count) => {
                let rest = bytes.slice(count..);
                self.keep(|waiting, _| waiting.share(rest))
            }
            Err(gone) => gone,
        }
    }

    /// Whether so much more may wait in this worker for a while: little beside what programs may have waiting.
    fn may_wait(&self, bytes: usize) -> bool {
        let owed = self.conns.reactor().map_or(0, |reactor| reactor.owed_bytes());
        self.worker().output_bytes().saturating_add(owed + bytes) <= self.port.config.max_buffered / 4
    }

    /// Has bytes sent between the turns of everything else, behind what waits.
    fn send_soon(self: &Rc<Self>, bytes: Bytes) -> Delivery {
        if self.stage.get() == Stage::Closed {
            return Delivery::Gone;
        }
        if self.flags().batched {
            self.conns.batch.send();
        }
        self.settle();
        if self.out.borrow().is_none() {
            if let Some(reactor) = self.conns.reactor() {
                reactor.owe(self, bytes);
            }
            return Delivery::Buffered;
        }
        // What waits already is sent in its own time.
        let (waiting, blocked) = self.queue(|waiting, _| waiting.share(bytes));
        if !blocked && waiting >= HELD {
            self.flush();
        }
        self.look_at_level();
        Delivery::Buffered
    }

    /// What is owed to this message connection is put into its queue: something else follows, or it ends.
    #[inline]
    pub(crate) fn settle(&self) {
        if self.flags().owed
            && let Some(reactor) = self.conns.reactor()
        {
            reactor.settle();
        }
    }

    /// Puts what was owed into the queue.
    pub(super) fn queue_owed(&self, bytes: Bytes) {
        if self.stage.get() != Stage::Closed {
            let _ = self.queue(|waiting, _| waiting.share(bytes));
            self.look_at_level();
        }
    }

    /// Sends what was owed, while nothing else waits.
    pub(super) fn send_owed(self: &Rc<Self>, bytes: &Bytes) {
        if self.stage.get() == Stage::Closed {
            return;
        }
        if let Ok(count) = self.try_socket([bytes, &[]])
            && count < bytes.len()
        {
            let rest = bytes.slice(count..);
            let _ = self.keep(|waiting, _| waiting.share(rest));
        }
    }

    /// Sends a part of a file over a stream.
    pub fn send_file(self: &Rc<Self>, file: File, offset: u64, length: u64) -> Result<SendFile, SendError> {
        if let Some(refused) = self.refused() {
            return Err(if refused == Delivery::Gone { SendError::Closed } else { SendError::Full });
        }
        self.conns.batch.send();
        self.settle();
        let state = Rc::new(FileState::default());
        let kept = Rc::clone(&state);
        let _ = self.keep(|waiting, _| waiting.attach(FilePart::new(file, offset, length, kept)));
        self.wake_task();
        Ok(SendFile(state))
    }

    /// Ready when more can be sent, or with an error when the message connection is gone.
    pub fn writable(self: &Rc<Self>) -> impl Future<Output = Result<(), SendError>> + use<> {
        let conn = Rc::clone(self);
        poll_fn(move |cx| {
            if !conn.is_established() {
                return Poll::Ready(Err(SendError::Closed));
            }
            let below = conn.buffered() <= conn.port.config.low_watermark;
            if below && !conn.is_over_bound() {
                return Poll::Ready(Ok(()));
            }
            conn.waiters.register(cx.waker());
            if below {
                conn.worker().output_fell.register(cx.waker());
            }
            Poll::Pending
        })
    }

    /// Why nothing may be sent now.
    #[inline]
    fn refused(self: &Rc<Self>) -> Option<Delivery> {
        if !self.is_established() {
            return Some(Delivery::Gone);
        }
        if !self.is_over_bound() {
            return None;
        }
        Some(match self.port.config.send_policy {
            SendPolicy::Wait => Delivery::Full,
            SendPolicy::Drop => Delivery::Dropped,
            SendPolicy::Close => {
                self.kill(Kill::Reset);
                Delivery::Dropped
            }
        })
    }

    pub(crate) fn is_over_bound(&self) -> bool {
        is_over_bound(self.buffered(), &self.port.config, self.worker())
    }

    /// Sends or keeps bytes, whatever the bounds.
    pub(crate) fn transmit(self: &Rc<Self>, parts: [&[u8]; 2]) -> Delivery {
        match self.try_now(parts) {
            Ok(count) if count == parts[0].len() + parts[1].len() => Delivery::Sent,
            Ok(count) => self.keep(|waiting, pool| waiting.append(parts, count, pool)),
            Err(gone) => gone,
        }
    }

    /// Sends at once what the socket takes, when nothing waits, or leaves it to the batch of the turn: how many bytes.
    #[inline]
    fn try_now(self: &Rc<Self>, parts: [&[u8]; 2]) -> Result<usize, Delivery> {
        if self.stage.get() == Stage::Closed {
            return Err(Delivery::Gone);
        }
        self.settle();
        if self.out.borrow().is_some() {
            return Ok(0);
        }
        if self.conns.batch.put(self, parts) {
            return Ok(parts[0].len() + parts[1].len());
        }
        self.try_socket(parts)
    }

    /// Sends what the write batch gathered for this message connection.
    pub(crate) fn send_gathered(self: &Rc<Self>, bytes: &[u8]) {
        if self.stage.get() == Stage::Closed {
            return;
        }
        if let Ok(count) = self.try_socket([bytes, &[]])
            && count < bytes.len()
        {
            let _ = self.keep(|waiting, pool| waiting.append([bytes, &[]], count, pool));
        }
    }

    /// Sends at once what the socket takes: how many bytes.
    fn try_socket(self: &Rc<Self>, parts: [&[u8]; 2]) -> Result<usize, Delivery> {
        let io = self.io.borrow();
        let Some(mut carrier) = io.as_ref() else { return Err(Delivery::Gone) };
        let slices = [IoSlice::new(parts[0]), IoSlice::new(parts[1])];
        let used = if parts[1].is_empty() { 1 } else { 2 };
        loop {
            match carrier.write(&slices[..used], false) {
                Ok(count) => {
                    self.count_out(count as u64);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                Err(_) => {
                    drop(io);
                    self.kill(Kill::Now);
                    return Err(Delivery::Gone);
                }
            }
        }
    }

    /// Goes on with output that an HTTP connection had, and sends it.
    pub(crate) fn adopt(self: &Rc<Self>, queue: OutputQueue) {
        *self.out.borrow_mut() = Some(Box::new(queue));
        self.flush();
        self.look_at_level();
    }

    fn count_out(&self, count: u64) {
        let counter = &self.worker().counters.bytes_out;
        counter.set(counter.get() + count);
    }

    /// Changes what waits: how many bytes that are then, and whether the socket takes nothing now.
    fn queue(&self, change: impl FnOnce(&mut OutputQueue, &Pool)) -> (usize, bool) {
        let mut out = self.out.borrow_mut();
        let waiting = out.get_or_insert_default();
        change(waiting, &self.worker().pool);
        waiting.count(self.worker());
        (waiting.bytes(), waiting.is_blocked())
    }

    /// Changes what waits, and sees to it that it is sent in time.
    fn keep(self: &Rc<Self>, change: impl FnOnce(&mut OutputQueue, &Pool)) -> Delivery {
        let (bytes, blocked) = self.queue(change);
        if !blocked && bytes >= HELD {
            self.flush();
        } else if !blocked {
            self.wake_task();
        }
        self.look_at_level();
        Delivery::Buffered
    }

    /// Sends what was held back.
    pub(crate) fn flush(self: &Rc<Self>) {
        let sent = {
            let io = self.io.borrow();
            let Some(carrier) = io.as_ref() else { return };
            let ready = self.out.borrow().as_ref().is_some_and(|waiting| !waiting.is_blocked());
            if !ready {
                return;
            }
            self.send_waiting(carrier)
        };
        match sent {
            Ok(Sent::All) => {}
            Ok(Sent::Blocked | Sent::More) => self.wake_task(),
            Err(_) => self.kill(Kill::Now),
        }
    }

    /// One attempt to send all that waits.
    pub(super) fn send_waiting(&self, mut carrier: &Carrier) -> io::Result<Sent> {
        let sent = {
            let mut out = self.out.borrow_mut();
            let Some(waiting) = out.as_mut() else { return Ok(Sent::All) };
            let sent = waiting.flush(&mut carrier, self.worker());
            if waiting.is_empty() {
                *out = None;
            }
            sent?
        };
        self.look_at_level();
        Ok(sent)
    }

    /// Notes when the output that waits rises over the high or falls under the low watermark.
    fn look_at_level(&self) {
        let config = &self.port.config;
        let (bytes, full) = (self.buffered(), self.flags().full);
        if is_full(full, bytes, config) != full {
            self.set_flags(|flags| flags.full = !full);
            self.worker().metrics.pressure(&self.info, !full);
            self.wake_task();
        }
        if bytes <= config.low_watermark {
            self.waiters.wake_all();
        }
    }
}
