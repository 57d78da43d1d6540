//! The exchange that a connection is in: one request and its answer. What becomes of the answer is known here alone.

use std::cell::Cell;

use apus_proto::http1::Version;

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
    /// Status of the head that was sent.
    pub(crate) status: Cell<u16>,
}

impl Exchange {
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

    /// Ends the answer. Whether it was open until now.
    #[inline]
    pub(crate) fn end(&self, answered: bool) -> bool {
        let was_open = self.is_answerable();
        if was_open {
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
