//! What an answer begins with, and why nothing of one was sent.

use apus_proto::http1::response as wire;

/// Head of an answer. `lines` and `reason` are sent as they are: whoever fills them has validated them
/// ([`apus_proto::http1::response::is_field_name`], [`is_field_value`](apus_proto::http1::response::is_field_value)).
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each tells of one field line")]
pub struct ResponseHead {
    /// The status code, 200..=999; anything else is sent as 500.
    pub status: u16,
    /// A reason phrase of one's own.
    pub reason: Option<Vec<u8>>,
    /// Field lines, each `Name: value CRLF`. MUST NOT hold Content-Length, Transfer-Encoding, Connection or Keep-Alive.
    pub lines: Vec<u8>,
    /// `lines` has a Date.
    pub has_date: bool,
    /// `lines` has a Server.
    pub has_server: bool,
    /// `lines` has a Content-Type. Without one, an answer with a body gets PHP's default.
    pub has_content_type: bool,
    /// Length of a body that is sent with `write`, or that 304 or an answer to HEAD without a body tells of. `end`
    /// knows the length by itself.
    pub content_length: Option<u64>,
    /// Digits that the program has given it, where zeros stand before the others.
    pub length_digits: u8,
    /// The program wants no Content-Length. There is none over HTTP/2, which needs none, and over HTTP/1 for an empty
    /// body, to which the client will count whatever the program sends by itself.
    pub untold_length: bool,
    /// The connection ends with this answer.
    pub close: bool,
    /// A client that has a persistent connection anyway (HTTP/1.1) is told so, too.
    pub tell_keep_alive: bool,
    /// No coding is to be applied to the body.
    pub plain: bool,
}

impl ResponseHead {
    /// A head without fields.
    pub fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The status as it is sent: an interim or impossible one would leave the client without an answer.
    #[inline]
    pub(crate) fn final_status(&self) -> u16 {
        if (200..=999).contains(&self.status) { self.status } else { 500 }
    }

    /// Appends a field line that was validated.
    pub fn push_field(&mut self, name: &[u8], value: &[u8]) {
        wire::write_field(&mut self.lines, name, value);
    }
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerState {
    /// Nothing is sent: the head can still be changed.
    Open,
    /// The head is sent, the body is not complete.
    Begun,
    /// It is complete.
    Answered,
    /// The exchange ended without an answer, or with a part of one.
    Lost,
    /// It was left to somebody else.
    Detached,
}

/// Why nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The answer has ended.
    #[error("the response has ended")]
    Ended,
    /// The head was sent already, and this needs to send one.
    #[error("the head of the response has been sent")]
    HeadSent,
    /// The client is gone.
    #[error("the client closed the connection")]
    Closed,
    /// As much output waits as the port allows: wait with [`Responder::writable`](crate::Responder::writable).
    #[error("the client reads too slowly: the output buffer is full")]
    Full,
    /// More or less was written than Content-Length promised.
    #[error("the body does not have the length that Content-Length promised")]
    Length,
}
