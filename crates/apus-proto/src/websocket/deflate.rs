//! permessage-deflate (RFC 7692): agreeing on it, and the two directions of it.

use std::fmt::Write as _;

use bytes::BytesMut;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::decoder::TOO_LARGE;
use super::{Role, Violation};

const BROKEN: Violation = Violation::data("a compressed message is broken");

const NAME: &str = "permessage-deflate";
/// What every compressed message ends with, and what is left away on the wire (RFC 7692 section 7.2.1).
pub(super) const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// The least window that zlib can make without a header.
const MIN_BITS: u8 = 9;
/// Room that is made at a time.
const STEP: usize = 16 << 10;

/// What both sides agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Params {
    /// Whether the server forgets its window after each message.
    pub server_no_context_takeover: bool,
    /// Whether the client does.
    pub client_no_context_takeover: bool,
    /// The window of what the server sends, as a power of two.
    pub server_max_window_bits: u8,
    /// The window of what the client sends.
    pub client_max_window_bits: u8,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: 15,
            client_max_window_bits: 15,
        }
    }
}

impl Params {
    /// What compresses the messages that `role` sends.
    pub fn deflater(&self, role: Role, level: u32) -> Deflater {
        match role {
            Role::Client => Deflater::new(self.client_max_window_bits, self.client_no_context_takeover, level),
            Role::Server => Deflater::new(self.server_max_window_bits, self.server_no_context_takeover, level),
        }
    }

    /// What decompresses the messages that `role` receives.
    pub fn inflater(&self, role: Role) -> Inflater {
        match role {
            Role::Client => Inflater::new(self.server_no_context_takeover),
            Role::Server => Inflater::new(self.client_no_context_takeover),
        }
    }

    /// The field value with which a server tells what it agreed to.
    pub fn to_field(self) -> String {
        let mut text = NAME.to_owned();
        if self.server_no_context_takeover {
            text.push_str("; server_no_context_takeover");
        }
        if self.client_no_context_takeover {
            text.push_str("; client_no_context_takeover");
        }
        if self.server_max_window_bits < 15 {
            let _ = write!(text, "; server_max_window_bits={}", self.server_max_window_bits);
        }
        if self.client_max_window_bits < 15 {
            let _ = write!(text, "; client_max_window_bits={}", self.client_max_window_bits);
        }
        text
    }
}

/// The field value with which a client offers the extension.
pub const OFFER: &str = "permessage-deflate; client_max_window_bits";

/// One element of `Sec-WebSocket-Extensions`, when it is well-formed and of our extension.
fn parse_element(element: &str, offer: bool) -> Option<Params> {
    let mut parts = element.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let mut params = Params::default();
    let mut seen = [false; 4];
    for part in parts {
        let (name, value) = match part.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
            None => (part, None),
        };
        let index = match (name, value) {
            ("server_no_context_takeover", None) => {
                params.server_no_context_takeover = true;
                0
            }
            ("client_no_context_takeover", None) => {
                params.client_no_context_takeover = true;
                1
            }
            ("server_max_window_bits", Some(value)) => {
                params.server_max_window_bits = window_bits(value)?;
                2
            }
            // In an offer the bare name says that the client could use a smaller window.
            ("client_max_window_bits", None) if offer => 3,
            ("client_max_window_bits", Some(value)) => {
                params.client_max_window_bits = window_bits(value)?;
                3
            }
            _ => return None,
        };
        if std::mem::replace(&mut seen[index], true) {
            return None;
        }
    }
    Some(params)
}

/// 8 to 15, without leading zeroes.
fn window_bits(value: &str) -> Option<u8> {
    let bits: u8 = value.parse().ok()?;
    ((8..=15).contains(&bits) && !value.starts_with(['0', '+'])).then_some(bits)
}

/// A server's choice among what a client offered in `Sec-WebSocket-Extensions`: the first that can be honoured.
pub fn choose(offers: &str) -> Option<Params> {
    // A hostile field must not cost more than its share.
    offers.split(',').take(16).find_map(|element| {
        let params = parse_element(element.trim(), true)?;
        (params.server_max_window_bits >= MIN_BITS).then_some(params)
    })
}

/// What a client reads in the server's answer to [`OFFER`]: none when the server declined.
///
/// # Errors
/// When the server answered with what was not offered or cannot be; the connection is to be failed (RFC 7692 section
/// 7.1).
pub fn answered(field: &str) -> Result<Option<Params>, Violation> {
    const WRONG: Violation =
        Violation::protocol("the server chose an extension that was not offered, or broke its grammar");
    if field.trim().is_empty() {
        return Ok(None);
    }
    if field.contains(',') {
        return Err(WRONG);
    }
    match parse_element(field.trim(), false) {
        Some(params) if params.client_max_window_bits >= MIN_BITS => Ok(Some(params)),
        _ => Err(WRONG),
    }
}

/// Compresses messages.
#[derive(Debug)]
pub struct Deflater {
    state: Compress,
    no_context: bool,
}

impl Deflater {
    fn new(bits: u8, no_context: bool, level: u32) -> Self {
        let level = Compression::new(level.min(9));
        Self { state: Compress::new_with_window_bits(level, false, bits.clamp(MIN_BITS, 15)), no_context }
    }

    /// The compressed form of one whole message, appended to `out`. `false`: zlib failed, which it has no reason to;
    /// the message can be sent as it is after that, and all later ones too.
    #[must_use]
    pub fn deflate(&mut self, mut input: &[u8], out: &mut BytesMut) -> bool {
        if input.is_empty() {
            // An empty stored block but for its tail: zlib has nothing to flush twice (RFC 7692 section 7.2.3.6).
            out.extend_from_slice(&[0]);
            return true;
        }
        let begin = out.len();
        let mut buffer = vec![0; STEP.min(input.len() / 2 + 64)];
        loop {
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let result = self.state.compress(input, &mut buffer, FlushCompress::Sync);
            let read = (self.state.total_in() - read) as usize;
            let written = (self.state.total_out() - written) as usize;
            input = &input[read..];
            out.extend_from_slice(&buffer[..written]);
            match result {
                // Room is left over: the flush is complete.
                Ok(_) if written < buffer.len() && input.is_empty() => break,
                Ok(_) if read > 0 || written > 0 => {}
                _ => return false,
            }
        }
        if out[begin..].ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        if self.no_context {
            self.state.reset();
        }
        true
    }
}

/// Decompresses messages.
#[derive(Debug)]
pub struct Inflater {
    state: Decompress,
    no_context: bool,
}

impl Inflater {
    /// Takes any window the other side may use.
    fn new(no_context: bool) -> Self {
        Self { state: Decompress::new(false), no_context }
    }

    /// Appends what a piece of a message becomes to `out`, which may grow to `limit` bytes.
    ///
    /// # Errors
    /// When the message would be larger than that, or is not a compressed one.
    pub fn inflate(&mut self, mut input: &[u8], out: &mut BytesMut, limit: usize) -> Result<(), Violation> {
        let mut unlimited = usize::MAX;
        self.inflate_some(&mut input, out, limit, &mut unlimited).map(drop)
    }

    /// Like [`inflate`](Self::inflate), as far as the budget reaches, from which the bytes that were read and written
    /// are taken. `input` is what is left; `true`: nothing is.
    ///
    /// # Errors
    /// As [`Inflater::inflate`].
    pub fn inflate_some(
        &mut self,
        input: &mut &[u8],
        out: &mut BytesMut,
        limit: usize,
        budget: &mut usize,
    ) -> Result<bool, Violation> {
        while *budget > 0 {
            let at = out.len();
            // One byte beyond the limit tells that it is passed.
            let room = (limit + 1 - at.min(limit)).min(STEP.max(input.len().saturating_mul(2).min(*budget)));
            out.resize(at + room, 0);
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let result = self.state.decompress(input, &mut out[at..], FlushDecompress::Sync);
            let read = (self.state.total_in() - read) as usize;
            let written = (self.state.total_out() - written) as usize;
            out.truncate(at + written);
            *input = &input[read..];
            *budget = budget.saturating_sub(read + written);
            if out.len() > limit {
                return Err(TOO_LARGE);
            }
            match result {
                // A block marked as the last one may end a message (RFC 7692 section 7.2.3.5): the next byte begins
                // anew.
                Ok(Status::StreamEnd) => self.state.reset(false),
                Ok(Status::Ok | Status::BufError) => {}
                Err(_) => return Err(BROKEN),
            }
            if written == room {
                continue;
            }
            if input.is_empty() {
                return Ok(true);
            }
            if read == 0 && written == 0 {
                return Err(BROKEN);
            }
        }
        Ok(false)
    }

    /// The message ends here.
    ///
    /// # Errors
    /// As [`Inflater::inflate`].
    pub fn finish(&mut self, out: &mut BytesMut, limit: usize) -> Result<(), Violation> {
        self.inflate(&TAIL, out, limit)?;
        self.end_message();
        Ok(())
    }

    /// All of a message, with [`TAIL`], was inflated.
    pub(super) fn end_message(&mut self) {
        if self.no_context {
            self.state.reset(false);
        }
    }
}
