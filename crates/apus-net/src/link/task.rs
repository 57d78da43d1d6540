//! The runner of a link: reads messages, hands them to the app and sends what waits.

use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use apus_proto::framing::Scan;
use apus_proto::websocket::{Decoder, close};
use bytes::BytesMut;

use super::reactor::Run;
use super::{Link, Message, OwnedMessage, Protocol, Stage};
use crate::account::{Holder, Share};
use crate::app::App;
use crate::conn::{Input, Kill};
use crate::pool::READ_SIZE;

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

/// The state machine of one link.
pub(super) struct Runner<A: App> {
    pub(super) app: Rc<A>,
    pub(super) link: Rc<Link>,
    pub(super) input: Input,
    pub(super) partial: Option<Box<Partial>>,
    /// How far the input was looked at for the end of a message (streams).
    pub(super) scan: Scan,
    /// Our side is shut down; bytes read away since.
    lingering: Option<u32>,
    /// What is kept of messages that are not complete; idle links have none.
    share: Option<Box<Share>>,
    closed: bool,
}

/// What to do after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
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
    /// Works until something is missing. Whether the link has ended.
    fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let mut left = TURN;
        loop {
            if self.link.kill.get() != Kill::No {
                return true;
            }
            self.tell_level();
            if self.link.flags().eof && self.link.handlers.get() == 0 && self.link.stage.get() == Stage::Open {
                // Nobody is left who would answer.
                self.link.stage.set(Stage::Ending { since: self.link.control().clock.now() });
            }
            match self.link.stage.get() {
                Stage::Closed => return true,
                Stage::Ending { .. } => return self.finish(),
                Stage::Open | Stage::CloseSent { .. } => {}
            }
            if left == 0 {
                self.flush();
                self.link.wake_later();
                return false;
            }
            left -= 1;
            let step = if self.may_read() { self.step(cx) } else { Step::Hold };
            match step {
                Step::Again => {}
                Step::End => return true,
                Step::Later => {
                    self.flush();
                    self.account();
                    self.wait();
                    self.link.control().fall_behind(&self.link);
                    return false;
                }
                Step::Hold => {
                    self.wait();
                    self.flush();
                    if !self.wants_another_look() {
                        return false;
                    }
                }
                Step::Read => {
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
                            self.link.saw_input();
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
        let (link, flags) = (&self.link, self.link.flags());
        let may = !(flags.paused || flags.eof || flags.leaving);
        if !may || link.has_mail() || link.handlers.get() >= link.port.config.concurrency {
            return false;
        }
        // Messages that handlers hold take memory of the program. Who sends large ones waits first, so that a few such peers do
        // not keep the others from being heard.
        let config = &link.port.config;
        let short = link.control().pending() >= config.max_pending;
        let greedy = link.handlers.get() > 0 || self.partial.is_some() || self.input.len() > READ_SIZE;
        let begun = self.partial.is_some() || self.input.len() > READ_SIZE;
        let crowded = begun && link.control().account.used() >= config.max_incoming;
        if crowded {
            link.control().account.press(config.max_incoming);
        }
        let room = (link.pending.get() as u64) < config.max_body && !(short && greedy) && !crowded;
        if !room {
            link.control().starve(link);
        }
        room
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        match self.link.protocol {
            Protocol::WebSocket => self.websocket_step(cx),
            Protocol::Stream => self.stream_step(cx),
        }
    }

    /// Whether sending changed what the runner has to do: it found the connection broken, or brought the output under a
    /// watermark; or the program closed the link.
    fn wants_another_look(&self) -> bool {
        let (link, flags) = (&self.link, self.link.flags());
        link.kill.get() != Kill::No
            || flags.full != flags.full_told
            || !matches!(link.stage.get(), Stage::Open | Stage::CloseSent { .. })
    }

    /// Counts what is kept of messages that are not complete, or that `recv` has not taken.
    fn account(&mut self) {
        let parts = self.partial.as_ref().map_or(0, |partial| partial.decoder.held() + partial.input.len());
        let kept = parts + self.input.len().saturating_sub(READ_SIZE) + self.link.mail_bytes();
        if kept == 0 {
            self.share = None;
            return;
        }
        let link = &self.link;
        let share = self.share.get_or_insert_with(|| {
            let weak: Weak<Link> = Rc::downgrade(link);
            Box::new(Share::new(&link.control().account, weak))
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
        if matches!(self.link.poll_output(), Poll::Ready(Err(_))) {
            self.link.kill(Kill::Now);
        }
    }

    /// Reads once; `false`: the peer sends nothing more.
    fn read(&mut self) -> Poll<bool> {
        let pool = &self.link.control().pool;
        let link = &self.link;
        let received = match &mut self.partial {
            None => {
                let received = link.poll_recv(&mut (&mut self.input, pool));
                if let Poll::Ready(Ok(count)) = received {
                    self.input.filled(count);
                }
                received
            }
            // A message in parts is likely a large one.
            Some(partial) => pool.with_scratch(|scratch| {
                let received = link.poll_recv(scratch);
                if let Poll::Ready(Ok(count)) = received {
                    partial.input.extend_from_slice(&scratch[..count]);
                }
                received
            }),
        };
        received.map(|received| matches!(received, Ok(1..)))
    }

    /// Nothing to do until the peer sends more: an idle link owns no buffer.
    fn rest(&mut self) {
        self.input.release(&self.link.control().pool);
    }

    /// The peer closed its side: a WebSocket is over; a stream's answers are still sent.
    fn end_of_input(&mut self) {
        let link = &self.link;
        link.info.gone.set(true);
        if link.is_websocket() {
            return link.kill(Kill::Now);
        }
        link.set_flags(|flags| flags.eof = true);
    }

    /// Tells the app when much output waits, and when it does no more.
    fn tell_level(&self) {
        let flags = self.link.flags();
        if flags.full != flags.full_told {
            self.link.set_flags(|told| told.full_told = flags.full);
            self.app.on_pressure(&self.link, flags.full);
        }
    }

    /// Hands a message to the app, or to `recv`.
    pub(super) fn hand_over(app: &Rc<A>, link: &Rc<Link>, message: Message<'_>, cx: &mut Context<'_>) {
        let info = &link.info;
        info.requests.set(info.requests.get() + 1);
        if link.flags().pull {
            return link.deliver(OwnedMessage::from(message));
        }
        let bytes = message.data.len();
        let Some(mut handling) = app.on_message(link, message) else { return };
        if Pin::new(&mut handling).poll(cx).is_pending() {
            link.handlers.set(link.handlers.get() + 1);
            link.pending.set(link.pending.get() + bytes);
            link.control().take_pending(bytes);
            tokio::task::spawn_local(Handler::<A> { handling, link: Rc::clone(link), bytes });
        }
    }

    /// Waits until handlers are over and the output is sent, shuts our side down and waits for the peer's end.
    fn finish(&mut self) -> bool {
        let link = Rc::clone(&self.link);
        link.control().send_outbox();
        match link.poll_output() {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(_)) => return true,
            Poll::Pending => return false,
        }
        if link.flags().eof || link.kill.get() != Kill::No {
            return true;
        }
        let polite = link.flags().parted;
        if self.lingering.is_none() {
            if !link.shut_down() {
                return true;
            }
            self.lingering = Some(0);
            self.input.consume(usize::MAX);
            self.rest();
        }
        let taken = self.lingering.get_or_insert(0);
        let turn = taken.saturating_add(LINGER_TURN);
        link.control().pool.with_scratch(|scratch| {
            while *taken < MAX_LINGER {
                if *taken >= turn {
                    link.wake_later();
                    return false;
                }
                match link.poll_recv(scratch) {
                    // Who has said goodbye sends nothing more.
                    Poll::Pending => return polite,
                    Poll::Ready(Ok(count @ 1..)) => *taken += count as u32,
                    Poll::Ready(_) => return true,
                }
            }
            true
        })
    }

    /// Ends the link: once, however it ends.
    fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let link = Rc::clone(&self.link);
        if link.kill.get() != Kill::Reset {
            link.control().send_outbox();
        }
        self.share = None;
        link.finish();
        self.input.consume(usize::MAX);
        self.rest();
        link.control().closed(&link.info);
        self.app.on_close(&link.info);
    }
}

/// Starts a link, with what was read of its connection already.
pub(crate) fn start<A: App>(app: &Rc<A>, link: &Rc<Link>, input: Input) {
    let control = Rc::clone(link.control());
    let runner = Runner {
        app: Rc::clone(app),
        link: Rc::clone(link),
        input,
        partial: None,
        scan: Scan::default(),
        lingering: None,
        share: None,
        closed: false,
    };
    if let Err(error) = control.run_link(link, Box::new(runner)) {
        control.metrics.warn(&format!("a connection could not be watched, and is closed: {error}"));
    }
}

impl Holder for Link {
    fn give_up(self: Rc<Self>) {
        self.control().metrics.refused(&self.info, "too much memory is taken by messages that are not complete");
        if self.is_websocket() {
            self.close(close::TRY_AGAIN_LATER, "the server is busy");
        }
        self.kill(Kill::Now);
    }
}

impl<A: App> Run for Runner<A> {
    fn run(&mut self, cx: &mut Context<'_>) -> bool {
        self.link.set_flags(|flags| flags.running = true);
        let ended = self.work(cx);
        self.link.set_flags(|flags| flags.running = false);
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

/// A handler that waits: it goes on beside its link's task.
struct Handler<A: App> {
    handling: A::Handling,
    link: Rc<Link>,
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
        let link = &self.link;
        let before = link.handlers.get();
        link.handlers.set(before - 1);
        link.pending.set(link.pending.get().saturating_sub(self.bytes));
        link.control().give_pending(self.bytes);
        // Only a link that did not read for want of places, or that is ending, has anything to do.
        if before >= link.port.config.concurrency || link.flags().eof {
            link.wake_task();
        }
    }
}
