//! The answer of a script on its way to the client.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use apus_net::{Gone, Responder, ResponseHead, Writable, WriteState};
use apus_shm::handover::{Held, Pieces};

use super::dispatcher::{Active, Process};
use super::form;
use super::refresh::is_page;

/// What a look at an answer came to.
enum Look {
    /// There is nothing more for now.
    Nothing,
    /// The client does not take more for now.
    Full,
    /// The process is done.
    End,
    /// The process died; it was killed for its silence.
    Dead(bool),
}

/// An answer as far as it has come.
struct Relay<'a> {
    process: Process,
    responder: &'a Responder,
    /// What the process has not been given yet of the body.
    body: &'a [u8],
    head: Option<ResponseHead>,
    /// What is added to the body where it is a page.
    tail: Option<String>,
    /// The client has it all, or is gone: what comes is thrown away.
    over: bool,
    told_gone: bool,
    /// Waits for room in the output.
    writable: Option<Pin<Box<Writable>>>,
}

/// Gives a client the answer to the request that the process has begun.
pub(super) async fn relay(process: Process, responder: &Responder, body: &[u8], tail: Option<String>) {
    let mut relay = Relay { process, responder, body, head: None, tail, over: false, told_gone: false, writable: None };
    let mut gone = std::pin::pin!(responder.gone());
    poll_fn(|cx| relay.poll(cx, gone.as_mut())).await;
}

/// Bytes of a body that is for the server itself.
const MOST: usize = 256 * 1024;

/// The whole answer to the request that the process has begun, for the server itself. Else the status that the client
/// gets in its place; `None` where that has left.
pub(super) async fn whole_of(
    mut process: Process,
    responder: &Responder,
) -> Result<(ResponseHead, Vec<u8>), Option<u16>> {
    let (mut head, mut body) = (ResponseHead::new(200), Vec::new());
    let mut gone = std::pin::pin!(responder.gone());
    let look = poll_fn(|cx| {
        if gone.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        process.register(cx);
        match process.with(|active| gather(active, &mut head, &mut body)).unwrap_or(Look::Dead(false)) {
            Look::Nothing => Poll::Pending,
            look => Poll::Ready(Some(look)),
        }
    });
    let answered = match look.await {
        Some(Look::End) => Ok((head, body)),
        Some(Look::Dead(condemned)) => Err(Some(if condemned { 504 } else { 502 })),
        // Who goes on writing is left to the dispatcher.
        Some(Look::Nothing | Look::Full) => return Err(Some(500)),
        None => return Err(None),
    };
    process.ended();
    answered
}

/// Takes what there is of an answer; `Full` where it is longer than it may be.
fn gather(active: &mut Active, head: &mut ResponseHead, body: &mut Vec<u8>) -> Look {
    let mut copy = Vec::new();
    while let Some((piece, len)) = active.held.piece(0) {
        active.silent_since = Some(Instant::now());
        let end = piece == Pieces::End;
        match piece {
            Pieces::Head(first, rest) => *head = form::head(joined(first, rest, &mut copy)),
            Pieces::Body(first, rest) if body.len() + first.len() + rest.len() <= MOST => {
                body.extend_from_slice(first);
                body.extend_from_slice(rest);
            }
            Pieces::Body(..) => return Look::Full,
            Pieces::Finished | Pieces::End => {}
        }
        active.held.free(len);
        if end {
            return Look::End;
        }
    }
    if active.held.is_dead() && active.held.piece(0).is_none() { Look::Dead(active.condemned) } else { Look::Nothing }
}

/// Copies both parts into one.
fn joined<'a>(first: &'a [u8], rest: &[u8], into: &'a mut Vec<u8>) -> &'a [u8] {
    if rest.is_empty() {
        return first;
    }
    into.clear();
    into.extend_from_slice(first);
    into.extend_from_slice(rest);
    into
}

impl Relay<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, gone: Pin<&mut Gone>) -> Poll<()> {
        if let Some(writable) = &mut self.writable {
            if writable.as_mut().poll(cx).is_pending() {
                return self.watch(cx, gone);
            }
            self.writable = None;
        }
        match self.look() {
            Look::Nothing => self.watch(cx, gone),
            Look::Full => {
                let mut writable = Box::pin(self.responder.writable());
                if writable.as_mut().poll(cx).is_ready() {
                    cx.waker().wake_by_ref();
                } else {
                    self.writable = Some(writable);
                }
                self.watch(cx, gone)
            }
            Look::End => {
                self.process.ended();
                if !self.over {
                    // It has ended without an answer.
                    self.responder.fail(500);
                }
                Poll::Ready(())
            }
            Look::Dead(condemned) => {
                self.process.ended();
                if !self.over {
                    self.responder.fail(if condemned { 504 } else { 502 });
                }
                Poll::Ready(())
            }
        }
    }

    /// Waits for the process, and for the client's leaving. What came while it was looked at wakes at once.
    fn watch(&mut self, cx: &mut Context<'_>, gone: Pin<&mut Gone>) -> Poll<()> {
        if !self.told_gone && gone.poll(cx).is_ready() {
            self.tell_gone();
        }
        self.process.register(cx);
        let waits_for_client = self.writable.is_some();
        let news = self.process.with(|active| {
            active.feeding = !self.body.is_empty();
            active.silent_since = (!waits_for_client).then(|| active.silent_since.unwrap_or_else(Instant::now));
            !waits_for_client && active.held.has_news(active.feeding)
        });
        if news == Some(true) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    fn tell_gone(&mut self) {
        self.told_gone = true;
        self.over = true;
        self.body = &[];
        self.process.with(|active| active.held.gone());
    }

    /// Deals with all that there is.
    fn look(&mut self) -> Look {
        let Self { process, responder, body, head, tail, over, .. } = self;
        let looked = process.with(|active| {
            let fed = active.held.feed(body);
            *body = &body[fed..];
            let look = answer(active, responder, head, tail, over);
            if matches!(look, Look::Nothing) && active.held.is_dead() && active.held.piece(0).is_none() {
                return Look::Dead(active.condemned);
            }
            look
        });
        if self.over && self.responder.peer_gone() && !self.told_gone {
            self.tell_gone();
        }
        looked.unwrap_or(Look::Dead(false))
    }
}

/// How many bytes the body has if the whole answer is there.
fn whole(held: &Held) -> Option<usize> {
    let (mut skip, mut body) = (0, 0);
    loop {
        let (piece, len) = held.piece(skip)?;
        match piece {
            Pieces::Head(..) => {}
            Pieces::Body(first, rest) => body += first.len() + rest.len(),
            Pieces::Finished | Pieces::End => return Some(body),
        }
        skip += len;
    }
}

/// The head of the answer; `tail` is taken away where that is no page.
fn head_of(bytes: &[u8], tail: &mut Option<String>) -> ResponseHead {
    let mut head = form::head(bytes);
    match tail {
        Some(tail) if is_page(&head) => {
            head.content_length = head.content_length.map(|length| length.saturating_add(tail.len() as u64));
        }
        _ => *tail = None,
    }
    head
}

/// Goes on with the answer.
fn answer(
    active: &mut Active,
    responder: &Responder,
    head: &mut Option<ResponseHead>,
    tail: &mut Option<String>,
    over: &mut bool,
) -> Look {
    let mut copy = Vec::new();
    // Of an answer that is all there, the body in one.
    let mut all: Option<Vec<u8>> = None;
    let complete = if responder.is_open() && !*over { whole(&active.held) } else { None };
    loop {
        let Some((piece, len)) = active.held.piece(0) else { return Look::Nothing };
        active.silent_since = Some(Instant::now());
        match piece {
            Pieces::Head(first, rest) => *head = Some(head_of(joined(first, rest, &mut copy), tail)),
            Pieces::Body(..) if *over => {}
            Pieces::Body(first, rest) => {
                let begun = head.get_or_insert_with(|| ResponseHead::new(200));
                match complete {
                    Some(total) if rest.is_empty() && first.len() == total && tail.is_none() => {
                        *over = true;
                        // A client that is gone needs no answer.
                        let _ = responder.end(begun, first);
                    }
                    Some(total) => {
                        let all = all.get_or_insert_with(|| Vec::with_capacity(total));
                        all.extend_from_slice(first);
                        all.extend_from_slice(rest);
                    }
                    None => match write(responder, begun, joined(first, rest, &mut copy)) {
                        Wrote::Taken => {}
                        Wrote::Full => return Look::Full,
                        Wrote::Over => *over = true,
                    },
                }
            }
            Pieces::Finished | Pieces::End => {
                let end = piece == Pieces::End;
                if !*over && (end || head.is_some()) {
                    *over = true;
                    let head = head.get_or_insert_with(|| ResponseHead::new(200));
                    let mut body = all.take().unwrap_or_default();
                    body.extend(tail.take().into_iter().flat_map(String::into_bytes));
                    let _ = responder.end(head, &body);
                }
                active.held.free(len);
                if end {
                    return Look::End;
                }
                continue;
            }
        }
        active.held.free(len);
    }
}

/// What became of a piece of a body.
enum Wrote {
    Taken,
    Full,
    Over,
}

fn write(responder: &Responder, head: &ResponseHead, body: &[u8]) -> Wrote {
    match responder.write(head, body) {
        Ok(WriteState::Sent | WriteState::Buffered(_)) => Wrote::Taken,
        Err(apus_net::SendError::Full) => Wrote::Full,
        Err(_) => Wrote::Over,
    }
}
