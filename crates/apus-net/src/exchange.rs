//! The exchange that a connection is in: one request and its answer. What becomes of the answer is known here alone.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::io::Write as _;
use std::num::NonZeroU64;

use apus_proto::coding::Accepted;
use apus_proto::http1::{Noted, Version};

use crate::asked::Asked;
use crate::coding::Encoder;
use crate::head_bytes::Inner;

use crate::method::Method;

/// How far the answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AnswerPhase {
    /// No exchange yet, or one that the program never sees.
    #[default]
    None,
    /// The request is on its way: the program does not know of it.
    Arriving,
    /// The request is with the program; nothing is sent yet.
    Open,
    /// The head is sent, the body follows piece by piece.
    Body(BodyOut),
    /// Everything is sent or queued.
    Answered,
    /// The connection ended first, or the program gave the answer up.
    Lost,
}

/// How the body of an answer is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyOut {
    Chunked,
    /// Bytes still to come.
    Length(u64),
    /// By the end of the connection (HTTP/1.0, and what follows a 2xx to CONNECT).
    UntilClose,
    /// HEAD, 204, 205, 304: whatever is written goes nowhere.
    Suppressed,
    /// Through the exchange's encoder. The program has ended the answer, or not.
    Coded {
        chunked: bool,
        ended: bool,
    },
}

/// What of the request's body nobody has read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum UnreadBody {
    #[default]
    Nothing,
    /// Little, or of unknown length: worth reading away to keep the connection.
    Small,
    /// Much, or the client waits for a 100: the connection ends with the answer.
    Large,
}

/// The state of the current exchange. `seq` tells a late responder that its exchange is over.
#[derive(Default)]
pub(crate) struct Exchange {
    pub(crate) seq: Cell<u32>,
    phase: Cell<AnswerPhase>,
    /// Responders of this exchange that are alive.
    pub(crate) responders: Cell<u32>,
    /// A dropped responder does not mean the end: another will be made by session id.
    pub(crate) detached: Cell<bool>,
    pub(crate) method: Cell<Method>,
    /// The request was HEAD.
    pub(crate) head_only: Cell<bool>,
    /// The request was CONNECT.
    pub(crate) connect: Cell<bool>,
    pub(crate) version: Cell<Version>,
    /// The connection may stay open after this exchange.
    pub(crate) persist: Cell<bool>,
    pub(crate) unread: Cell<UnreadBody>,
    /// The client waits for a 100 before it sends the body.
    pub(crate) expects_continue: Cell<bool>,
    pub(crate) received_at: Cell<f64>,
    /// Bytes of the answer's body.
    pub(crate) sent: Cell<u64>,
    /// What was noted of the request for the line that is logged of it.
    pub(crate) entry: RefCell<Vec<u8>>,
    /// The head that it was noted of, where the same one of this connection has the same entry.
    pub(crate) entry_of: Cell<Option<NonZeroU64>>,
    /// Field lines that its answer gets besides its own: first the one that tells the trace, so many bytes.
    pub(crate) added: RefCell<Vec<u8>>,
    traced: Cell<usize>,
    /// Status of the head that was sent.
    pub(crate) status: Cell<u16>,
    /// Which fields the request has that the answer may depend on.
    noted: Cell<Noted>,
    /// The conditions of a GET or HEAD.
    asked: RefCell<Option<Box<Asked>>>,
    /// Codings that the client accepts, where `noted` has Accept-Encoding.
    accepted: Cell<Accepted>,
    /// What codes the answer's body.
    pub(crate) encoder: RefCell<Option<Box<Encoder>>>,
}

impl Exchange {
    /// Begins the lines that its answer gets besides its own; `trace` is the one that tells the trace.
    pub(crate) fn begin_added(&self, trace: Option<(&str, &dyn Display)>) {
        let mut added = self.added.borrow_mut();
        added.clear();
        if let Some((name, trace)) = trace {
            // Writing to a vector cannot fail.
            let _ = write!(added, "{name}: {trace}\r\n");
        }
        self.traced.set(added.len());
    }

    /// Puts lines in the place of those that were added before, but for the trace.
    pub(crate) fn add(&self, lines: &[u8]) {
        let mut added = self.added.borrow_mut();
        added.truncate(self.traced.get());
        added.extend_from_slice(lines);
    }

    /// Begins the next exchange.
    #[inline]
    pub(crate) fn begin(&self, version: Version, method: &[u8], persist: bool, received_at: f64) {
        self.seq.set(self.seq.get().wrapping_add(1));
        self.phase.set(AnswerPhase::Arriving);
        self.responders.set(0);
        self.detached.set(false);
        let method = Method::of(method);
        self.method.set(method);
        self.head_only.set(method == Method::Head);
        self.connect.set(method == Method::Connect);
        self.version.set(version);
        self.persist.set(persist);
        self.received_at.set(received_at);
        self.sent.set(0);
    }

    /// A piece of the answer's body is sent or queued.
    #[inline]
    pub(crate) fn count_sent(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }

    /// How far the answer is.
    #[inline]
    pub(crate) fn phase(&self) -> AnswerPhase {
        self.phase.get()
    }

    /// Whether the program has the request and can still answer it.
    #[inline]
    pub(crate) fn is_answerable(&self) -> bool {
        matches!(self.phase.get(), AnswerPhase::Open | AnswerPhase::Body(_))
    }

    /// Whether the program may still say something of the answer.
    #[inline]
    pub(crate) fn is_programs(&self) -> bool {
        match self.phase.get() {
            AnswerPhase::Open => true,
            AnswerPhase::Body(body) => !matches!(body, BodyOut::Coded { ended: true, .. }),
            _ => false,
        }
    }

    /// The program gets the request.
    #[inline]
    pub(crate) fn open(&self) {
        self.phase.set(AnswerPhase::Open);
    }

    /// The head is sent, or bytes of the body: this is how the rest goes out.
    #[inline]
    pub(crate) fn set_body(&self, body: BodyOut) {
        self.phase.set(AnswerPhase::Body(body));
    }

    /// Notes what the request says of its answer.
    #[inline]
    pub(crate) fn note(&self, inner: &Inner) {
        self.noted.set(inner.head.noted);
        if !inner.head.noted.is_none() {
            self.note_fields(inner);
        }
    }

    #[cold]
    fn note_fields(&self, Inner { bytes, head, .. }: &Inner) {
        let get = head.method.of(bytes) == b"GET";
        if head.noted.has(Noted::CONDITIONAL) && (get || self.head_only.get()) {
            let fields = head.headers.iter().map(|(name, value)| (name.of(bytes), value.of(bytes)));
            *self.asked.borrow_mut() = Some(Box::new(Asked::new(get, self.received_at.get(), fields)));
        }
        if head.noted.has(Noted::ACCEPT_ENCODING) {
            let lines = head.headers.iter().filter(|(name, _)| name.of(bytes).eq_ignore_ascii_case(b"accept-encoding"));
            self.accepted.set(Accepted::read(lines.map(|(_, value)| value.of(bytes))));
        }
    }

    /// Whether the client says which codings it accepts.
    #[inline]
    pub(crate) fn negotiates(&self) -> bool {
        self.noted.get().has(Noted::ACCEPT_ENCODING)
    }

    /// Codings that the client accepts.
    pub(crate) fn accepted(&self) -> Accepted {
        if self.negotiates() { self.accepted.get() } else { Accepted::default() }
    }

    /// The conditions of the request, for who answers it.
    pub(crate) fn take_asked(&self) -> Asked {
        let asked = self.asked.take().map(|asked| *asked);
        let get = !self.head_only.get();
        asked.unwrap_or_else(|| Asked::new(get, self.received_at.get(), std::iter::empty()))
    }

    /// Keeps nothing of a request that is answered.
    #[inline]
    pub(crate) fn forget(&self) {
        if !self.noted.get().is_none() {
            self.asked.take();
        }
    }

    /// Ends the answer. Whether it was open until now.
    #[inline]
    pub(crate) fn end(&self, answered: bool) -> bool {
        let was_open = self.is_answerable();
        if was_open {
            if matches!(self.phase.get(), AnswerPhase::Body(BodyOut::Coded { .. })) {
                self.encoder.take();
            }
            self.phase.set(if answered { AnswerPhase::Answered } else { AnswerPhase::Lost });
        }
        was_open
    }

    /// A request that the program does not see is refused. Whether its answer has no body.
    pub(crate) fn refuse(&self) -> bool {
        let head_only = self.phase.get() == AnswerPhase::Arriving && self.head_only.get();
        self.phase.set(AnswerPhase::None);
        self.unread.set(UnreadBody::Nothing);
        head_only
    }
}
