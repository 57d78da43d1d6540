//! The runner of a message connection: reads messages, hands them to the app and sends what waits.

mod stream;
mod websocket;

use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use apus_proto::framing::Scan;
use apus_proto::websocket::Decoder;
use bytes::BytesMut;

use crate::account::Share;
use crate::app::App;
use crate::input::Input;
use crate::kill::Kill;
use crate::message_conn::{Message, MessageConn, OwnedMessage, Protocol, Stage};
use crate::pool::READ_SIZE;
use crate::runners::Run;

/// Messages handled before other connections have their turn.
const TURN: u32 = 64;
/// Bytes read away after our end before the peer is cut off.
const MAX_LINGER: u32 = 256 << 20;
/// Bytes read away before others have their turn.
const LINGER_TURN: u32 = 1 << 20;

/// What is being put together of a message that did not come whole.
pub(super) struct Partial {
    pub(super) decoder: Box<Decoder>,
    pub(super) input: BytesMut,
}

/// The state machine of one message connection.
pub(super) struct Runner<A: App> {
    pub(super) app: Rc<A>,
    pub(super) message_conn: Rc<MessageConn>,
    pub(super) input: Input,
    pub(super) partial: Option<Box<Partial>>,
    /// How far the input was looked at for the end of a message (streams).
    pub(super) scan: Scan,
    /// Our side is shut down; bytes read away since.
    lingering: Option<u32>,
    /// What is kept of messages that are not complete; idle message connections have none.
    share: Option<Box<Share>>,
    closed: bool,
}

/// What to do after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunStep {
    /// There may be another message in what was read.
    Again,
    /// Bytes are missing.
    Read,
    /// The program has to do something first.
    Hold,
    /// There is more to inflate than others should wait for.
    Later,
    End,
}

impl<A: App> Runner<A> {
    /// Works until something is missing. Whether the message connection has ended.
    fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let mut left = TURN;
        loop {
            if self.message_conn.kill.get() != Kill::No {
                return true;
            }
            self.tell_level();
            if self.message_conn.flags().eof
                && self.message_conn.handlers.get() == 0
                && self.message_conn.stage.get() == Stage::Open
            {
                // Nobody is left who would answer.
                self.message_conn.stage.set(Stage::Ending { since: self.message_conn.worker().clock.now() });
            }
            match self.message_conn.stage.get() {
                Stage::Closed => return true,
                Stage::Ending { .. } => return self.finish(),
                Stage::Open | Stage::CloseSent { .. } => {}
            }
            if left == 0 {
                self.flush();
                self.message_conn.wake_later();
                return false;
            }
            left -= 1;
            let step = if self.may_read() { self.step(cx) } else { RunStep::Hold };
            match step {
                RunStep::Again => {}
                RunStep::End => return true,
                RunStep::Later => {
                    self.flush();
                    self.account();
                    self.wait();
                    self.message_conn.conns.fall_behind(&self.message_conn);
                    return false;
                }
                RunStep::Hold => {
                    self.wait();
                    self.flush();
                    if !self.wants_another_look() {
                        return false;
                    }
                }
                RunStep::Read => {
                    self.flush();
                    match self.read() {
                        Poll::Pending => {
                            self.rest();
                            self.account();
                            if !self.wants_another_look() {
                                return false;
                            }
                        }
                        Poll::Ready(true) => {
                            self.message_conn.saw_input();
                            self.account();
                        }
                        Poll::Ready(false) => self.end_of_input(),
                    }
                }
            }
        }
    }

    /// Whether another message may be taken now.
    fn may_read(&self) -> bool {
        let (message_conn, flags) = (&self.message_conn, self.message_conn.flags());
        let may = !(flags.paused || flags.eof || flags.leaving);
        if !may || message_conn.has_mail() || message_conn.handlers.get() >= message_conn.port.config.concurrency {
            return false;
        }
        // Messages that handlers hold take memory of the program. Who sends large ones waits first, so that a few such
        // peers do not keep the others from being heard.
        let config = &message_conn.port.config;
        let short = message_conn.conns.pending() >= config.max_pending;
        let greedy = message_conn.handlers.get() > 0 || self.partial.is_some() || self.input.len() > READ_SIZE;
        let begun = self.partial.is_some() || self.input.len() > READ_SIZE;
        let crowded = begun && message_conn.worker().account.used() >= config.max_incoming;
        if crowded {
            message_conn.worker().account.press(config.max_incoming);
        }
        let room = (message_conn.pending.get() as u64) < config.max_message && !(short && greedy) && !crowded;
        if !room {
            message_conn.conns.starve(message_conn);
        }
        room
    }

    fn step(&mut self, cx: &mut Context<'_>) -> RunStep {
        match self.message_conn.protocol {
            Protocol::WebSocket => self.websocket_step(cx),
            Protocol::Stream => self.stream_step(cx),
        }
    }

    /// Whether sending changed what the runner has to do: it found the connection broken, or brought the output under a
    /// watermark; or the program closed the message connection.
    fn wants_another_look(&self) -> bool {
        let (message_conn, flags) = (&self.message_conn, self.message_conn.flags());
        message_conn.kill.get() != Kill::No
            || flags.full != flags.full_told
            || !matches!(message_conn.stage.get(), Stage::Open | Stage::CloseSent { .. })
    }

    /// Counts what is kept of messages that are not complete, or that `recv` has not taken.
    fn account(&mut self) {
        let parts = self.partial.as_ref().map_or(0, |partial| partial.decoder.held() + partial.input.len());
        let kept = parts + self.input.len().saturating_sub(READ_SIZE) + self.message_conn.mail_bytes();
        if kept == 0 {
            self.share = None;
            return;
        }
        let message_conn = &self.message_conn;
        let share = self.share.get_or_insert_with(|| {
            let weak: Weak<MessageConn> = Rc::downgrade(message_conn);
            Box::new(Share::new(&message_conn.worker().account, weak))
        });
        share.set(kept);
    }

    /// This side does not read for now: it is not the peer that brings nothing.
    fn wait(&self) {
        if let Some(share) = &self.share {
            share.wait();
        }
    }

    /// Sends what waits.
    fn flush(&mut self) {
        if matches!(self.message_conn.poll_output(), Poll::Ready(Err(_))) {
            self.message_conn.kill(Kill::Now);
        }
    }

    /// Reads once; `false`: the peer sends nothing more.
    fn read(&mut self) -> Poll<bool> {
        let pool = &self.message_conn.worker().pool;
        let message_conn = &self.message_conn;
        let received = match &mut self.partial {
            None => {
                let received = message_conn.poll_recv(&mut (&mut self.input, pool));
                if let Poll::Ready(Ok(count)) = received {
                    self.input.filled(count);
                }
                received
            }
            // A message in parts is likely a large one.
            Some(partial) => pool.with_scratch(|scratch| {
                let received = message_conn.poll_recv(scratch);
                if let Poll::Ready(Ok(count)) = received {
                    partial.input.extend_from_slice(&scratch[..count]);
                }
                received
            }),
        };
        received.map(|received| matches!(received, Ok(1..)))
    }

    /// Nothing to do until the peer sends more: an idle message connection owns no buffer.
    fn rest(&mut self) {
        self.input.release(&self.message_conn.worker().pool);
    }

    /// The peer closed its side: a WebSocket is over; a stream's answers are still sent.
    fn end_of_input(&mut self) {
        let message_conn = &self.message_conn;
        message_conn.info.gone.set(true);
        if message_conn.is_websocket() {
            return message_conn.kill(Kill::Now);
        }
        message_conn.set_flags(|flags| flags.eof = true);
    }

    /// Tells the app when much output waits, and when it does no more.
    fn tell_level(&self) {
        let flags = self.message_conn.flags();
        if flags.full != flags.full_told {
            self.message_conn.set_flags(|told| told.full_told = flags.full);
            self.app.on_pressure(&self.message_conn, flags.full);
        }
    }

    /// Hands a message to the app, or to `recv`.
    pub(super) fn hand_over(app: &Rc<A>, message_conn: &Rc<MessageConn>, message: Message<'_>, cx: &mut Context<'_>) {
        let info = &message_conn.info;
        info.requests.set(info.requests.get() + 1);
        if message_conn.flags().pull {
            return message_conn.deliver(OwnedMessage::from(message));
        }
        let bytes = message.data.len();
        let Some(mut handling) = app.on_message(message_conn, message) else { return };
        if Pin::new(&mut handling).poll(cx).is_pending() {
            message_conn.handlers.set(message_conn.handlers.get() + 1);
            message_conn.pending.set(message_conn.pending.get() + bytes);
            message_conn.conns.take_pending(bytes);
            let handler = Handler::<A> { handling, message_conn: Rc::clone(message_conn), bytes };
            message_conn.conns.events.spawn(handler);
        }
    }

    /// Waits until handlers are over and the output is sent, shuts our side down and waits for the peer's end.
    fn finish(&mut self) -> bool {
        let message_conn = Rc::clone(&self.message_conn);
        message_conn.conns.batch.send();
        message_conn.settle();
        match message_conn.poll_output() {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(_)) => return true,
            Poll::Pending => return false,
        }
        if message_conn.flags().eof || message_conn.kill.get() != Kill::No {
            return true;
        }
        let polite = message_conn.flags().parted;
        if self.lingering.is_none() {
            if !message_conn.shut_down() {
                return true;
            }
            self.lingering = Some(0);
            self.input.consume(usize::MAX);
            self.rest();
        }
        let taken = self.lingering.get_or_insert(0);
        let turn = taken.saturating_add(LINGER_TURN);
        message_conn.worker().pool.with_scratch(|scratch| {
            while *taken < MAX_LINGER {
                if *taken >= turn {
                    message_conn.wake_later();
                    return false;
                }
                match message_conn.poll_recv(scratch) {
                    // Who has said goodbye sends nothing more.
                    Poll::Pending => return polite,
                    Poll::Ready(Ok(count @ 1..)) => *taken += count as u32,
                    Poll::Ready(_) => return true,
                }
            }
            true
        })
    }

    /// Ends the message connection: once, however it ends.
    fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let message_conn = Rc::clone(&self.message_conn);
        if message_conn.kill.get() != Kill::Reset {
            message_conn.conns.batch.send();
            message_conn.settle();
            message_conn.flush();
        }
        self.share = None;
        message_conn.finish();
        self.input.consume(usize::MAX);
        self.rest();
        message_conn.conns.registry.borrow_mut().remove(message_conn.info.id);
        message_conn.worker().closed(&message_conn.info);
        self.app.on_close(&message_conn.info);
    }
}

/// Starts a message connection, with what was read of its connection already.
pub(crate) fn start<A: App>(app: &Rc<A>, message_conn: &Rc<MessageConn>, input: Input) {
    let runner = Runner {
        app: Rc::clone(app),
        message_conn: Rc::clone(message_conn),
        input,
        partial: None,
        scan: Scan::default(),
        lingering: None,
        share: None,
        closed: false,
    };
    if let Err(error) = message_conn.conns.run(message_conn, Box::new(runner)) {
        message_conn.worker().metrics.warn(&format!("a connection could not be watched, and is closed: {error}"));
    }
}

impl<A: App> Run for Runner<A> {
    /// The next message of a connection that has none. An end or an error is left to be found again.
    fn read_ahead(&mut self) {
        let message_conn = &self.message_conn;
        let flags = message_conn.flags();
        let rests = self.partial.is_none() && self.input.is_empty() && message_conn.handlers.get() == 0;
        let open = message_conn.stage.get() == Stage::Open && message_conn.kill.get() == Kill::No;
        let may_read = !(flags.paused || flags.eof || flags.leaving || flags.pull);
        if rests && open && may_read && message_conn.may_receive() && self.read() == Poll::Ready(true) {
            self.message_conn.saw_input();
        }
    }

    fn run(&mut self, cx: &mut Context<'_>) -> bool {
        self.message_conn.set_flags(|flags| flags.running = true);
        let ended = self.work(cx);
        self.message_conn.set_flags(|flags| flags.running = false);
        if ended {
            self.close();
        }
        ended
    }
}

impl<A: App> Drop for Runner<A> {
    fn drop(&mut self) {
        // Only when the runtime goes away, or the app panicked.
        self.close();
    }
}

/// A handler that waits: it goes on beside its message connection's task.
struct Handler<A: App> {
    handling: A::Handling,
    message_conn: Rc<MessageConn>,
    /// Of the message that it holds.
    bytes: usize,
}

impl<A: App> Unpin for Handler<A> {}

impl<A: App> Future for Handler<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.handling).poll(cx)
    }
}

impl<A: App> Drop for Handler<A> {
    fn drop(&mut self) {
        let message_conn = &self.message_conn;
        let before = message_conn.handlers.get();
        message_conn.handlers.set(before - 1);
        message_conn.pending.set(message_conn.pending.get().saturating_sub(self.bytes));
        message_conn.conns.give_pending(self.bytes);
        // Only a message connection that did not read for want of places, or that is ending, has anything to do.
        if before >= message_conn.port.config.concurrency || message_conn.flags().eof {
            message_conn.wake_task();
        }
    }
}
