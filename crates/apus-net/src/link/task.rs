//! The task of a link: one future that reads messages, hands them to the app and sends what waits.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_proto::framing::Scan;
use apus_proto::websocket::Decoder;
use bytes::BytesMut;

use super::{Link, Message, OwnedMessage, Protocol, Stage};
use crate::app::App;
use crate::conn::{Input, Kill};

/// Messages handled before other connections have their turn.
const TURN: u32 = 64;
/// Bytes read away after our end before the peer is cut off.
const MAX_LINGER: usize = 1 << 20;

/// What is being put together of a message that did not come whole.
pub(super) struct Partial {
    pub(super) decoder: Box<Decoder>,
    pub(super) input: BytesMut,
}

/// The future of one link.
pub(crate) struct LinkTask<A: App> {
    pub(super) app: Rc<A>,
    pub(super) link: Rc<Link>,
    pub(super) input: Input,
    pub(super) partial: Option<Box<Partial>>,
    /// How far the input was looked at for the end of a message (streams).
    pub(super) scan: Scan,
    /// Our side is shut down; bytes read away since.
    lingering: Option<usize>,
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
    End,
}

impl<A: App> LinkTask<A> {
    pub(crate) fn new(app: Rc<A>, link: Rc<Link>, input: Input) -> Self {
        Self { app, link, input, partial: None, scan: Scan::default(), lingering: None, closed: false }
    }

    /// Works until something is missing. Whether the link has ended.
    fn run(&mut self, cx: &mut Context<'_>) -> bool {
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
                Stage::Ending { .. } => return self.finish(cx),
                Stage::Open | Stage::CloseSent { .. } => {}
            }
            if left == 0 {
                self.flush(cx);
                cx.waker().wake_by_ref();
                return false;
            }
            left -= 1;
            let step = if self.may_read() { self.step(cx) } else { Step::Hold };
            match step {
                Step::Again => {}
                Step::End => return true,
                Step::Hold => {
                    self.flush(cx);
                    return self.link.kill.get() != Kill::No;
                }
                Step::Read => {
                    self.flush(cx);
                    match self.read(cx) {
                        Poll::Pending => {
                            self.rest();
                            // Sending may have found the connection broken, or the program have closed it.
                            if self.link.kill.get() == Kill::No
                                && !matches!(self.link.stage.get(), Stage::Ending { .. })
                            {
                                return false;
                            }
                        }
                        Poll::Ready(true) => self.link.saw_input(),
                        Poll::Ready(false) => self.end_of_input(),
                    }
                }
            }
        }
    }

    /// Whether another message may be taken now.
    fn may_read(&self) -> bool {
        let flags = self.link.flags();
        !flags.paused
            && !flags.eof
            && !self.link.has_mail()
            && self.link.handlers.get() < self.link.port.config.concurrency
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        match self.link.protocol {
            Protocol::WebSocket => self.websocket_step(cx),
            Protocol::Stream => self.stream_step(cx),
        }
    }

    /// Lets what was held back leave.
    fn flush(&mut self, cx: &mut Context<'_>) {
        let link = &self.link;
        if link.flags().held {
            link.set_flags(|flags| flags.held = false);
            link.flush();
        }
        if matches!(link.poll_output(cx), Poll::Ready(Err(_))) {
            link.kill(Kill::Now);
        }
    }

    /// Reads once; `false`: the peer sends nothing more.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let pool = &self.link.control().pool;
        let link = &self.link;
        let received = match &mut self.partial {
            None => {
                let received = link.poll_recv(cx, &mut (&mut self.input, pool));
                if let Poll::Ready(Ok(count)) = received {
                    self.input.filled(count);
                }
                received
            }
            // A message in parts is likely a large one.
            Some(partial) => pool.with_scratch(|scratch| {
                let received = link.poll_recv(cx, scratch);
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
        let Some(mut handling) = app.on_message(link, message) else { return };
        if Pin::new(&mut handling).poll(cx).is_pending() {
            link.handlers.set(link.handlers.get() + 1);
            tokio::task::spawn_local(Handler::<A> { handling, link: Rc::clone(link) });
        }
    }

    /// Waits until handlers are over and the output is sent, shuts our side down and waits for the peer's end.
    fn finish(&mut self, cx: &mut Context<'_>) -> bool {
        let link = Rc::clone(&self.link);
        link.set_flags(|flags| flags.held = false);
        link.flush();
        match link.poll_output(cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(_)) => return true,
            Poll::Pending => return false,
        }
        if link.flags().eof || link.kill.get() != Kill::No {
            return true;
        }
        if self.lingering.is_none() {
            if !link.shut_down() {
                return true;
            }
            self.lingering = Some(self.input.len());
            self.input.consume(usize::MAX);
            self.rest();
        }
        let taken = self.lingering.get_or_insert(0);
        link.control().pool.with_scratch(|scratch| {
            while *taken < MAX_LINGER {
                match link.poll_recv(cx, scratch) {
                    Poll::Pending => return false,
                    Poll::Ready(Ok(count @ 1..)) => *taken += count,
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
        link.finish();
        self.input.consume(usize::MAX);
        self.rest();
        link.control().closed(&link.info);
        self.app.on_close(&link.info);
    }
}

impl<A: App> Unpin for LinkTask<A> {}

impl<A: App> Future for LinkTask<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.link.set_task(cx);
        this.link.set_flags(|flags| flags.in_poll = true);
        let ended = this.run(cx);
        this.link.set_flags(|flags| flags.in_poll = false);
        if !ended {
            return Poll::Pending;
        }
        this.close();
        Poll::Ready(())
    }
}

impl<A: App> Drop for LinkTask<A> {
    fn drop(&mut self) {
        // Only when the runtime goes away, or the app panicked.
        self.close();
    }
}

/// A handler that waits: it goes on beside its link's task.
struct Handler<A: App> {
    handling: A::Handling,
    link: Rc<Link>,
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
        // Only a link that did not read for want of places, or that is ending, has anything to do.
        if before >= link.port.config.concurrency || link.flags().eof {
            link.wake_task();
        }
    }
}
