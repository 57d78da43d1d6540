//! What a server says when it ends a connection. `h2` acts on it, and keeps the text of a connection that ends well to
//! itself.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use apus_proto::http2::frame::{Frame, FrameHeader, HEADER_LEN, kind};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::forward::forward_write;

/// Bytes of a GOAWAY that are kept: more of its text is of no use to anybody.
const MAX_KEPT: usize = 1024;

/// A GOAWAY (RFC 9113 section 6.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoAway {
    /// Why, by the numbers of RFC 9113 section 7.
    pub code: u32,
    /// The highest stream that the server acts on.
    pub last_stream: u32,
    /// What else it had to say.
    pub text: Vec<u8>,
}

/// The last that was heard.
pub(super) type Heard = Rc<RefCell<Option<GoAway>>>;

/// Where in the frames a stream of bytes stands.
#[derive(Default)]
struct Scan {
    /// What there is of a header that is not complete, or of a GOAWAY's payload.
    kept: Vec<u8>,
    /// The frame whose payload comes, and how much of that is missing.
    frame: Option<(FrameHeader, usize)>,
}

impl Scan {
    fn feed(&mut self, mut bytes: &[u8], heard: &Heard) {
        while !bytes.is_empty() {
            let taken = match self.frame {
                None => self.feed_header(bytes),
                Some((header, missing)) => self.feed_payload(header, missing, bytes),
            };
            bytes = &bytes[taken..];
            if let Some((header, 0)) = self.frame {
                self.end(header, heard);
            }
        }
    }

    fn feed_header(&mut self, bytes: &[u8]) -> usize {
        let taken = (HEADER_LEN - self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..taken]);
        if let Some(header) = FrameHeader::parse(&self.kept) {
            self.kept.clear();
            self.frame = Some((header, header.len));
        }
        taken
    }

    fn feed_payload(&mut self, header: FrameHeader, missing: usize, bytes: &[u8]) -> usize {
        let taken = missing.min(bytes.len());
        if header.kind == kind::GOAWAY {
            let room = MAX_KEPT - self.kept.len();
            self.kept.extend_from_slice(&bytes[..taken.min(room)]);
        }
        self.frame = Some((header, missing - taken));
        taken
    }

    fn end(&mut self, mut header: FrameHeader, heard: &Heard) {
        self.frame = None;
        header.len = self.kept.len();
        if header.kind == kind::GOAWAY
            && let Ok(Frame::GoAway { last_stream, code, debug }) = Frame::parse(header, &self.kept)
        {
            heard.replace(Some(GoAway { code: code.0, last_stream, text: debug.to_vec() }));
        }
        self.kept.clear();
    }
}

/// A connection to a server, whose last GOAWAY is kept.
pub(super) struct Hearing<W> {
    wire: W,
    scan: Scan,
    heard: Heard,
}

impl<W> Hearing<W> {
    pub(super) fn new(wire: W) -> (Self, Heard) {
        let heard = Heard::default();
        (Self { wire, scan: Scan::default(), heard: Rc::clone(&heard) }, heard)
    }
}

impl<W: AsyncRead + Unpin> AsyncRead for Hearing<W> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.wire).poll_read(cx, buf))?;
        let Self { scan, heard, .. } = &mut *self;
        scan.feed(&buf.filled()[before..], heard);
        Poll::Ready(Ok(()))
    }
}

macro_rules! wire_of {
    ($hearing:expr, $wire:ident => $body:expr) => {{
        let Hearing { wire: $wire, .. } = $hearing;
        $body
    }};
}

forward_write!([W: AsyncWrite + Unpin] Hearing<W>, wire_of);

#[cfg(test)]
mod tests {
    use apus_proto::http2::ErrorCode;
    use apus_proto::http2::write;

    use super::*;

    /// What is heard of bytes that come in pieces of that size.
    fn heard(bytes: &[u8], piece: usize) -> Option<GoAway> {
        let (mut scan, heard) = (Scan::default(), Heard::default());
        bytes.chunks(piece).for_each(|piece| scan.feed(piece, &heard));
        heard.take()
    }

    #[test]
    fn the_last_goaway_is_heard_among_other_frames_in_any_pieces() {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&FrameHeader { len: 0, kind: kind::SETTINGS, flags: 0, stream: 0 }.to_bytes());
        bytes.extend_from_slice(&FrameHeader { len: 5, kind: kind::DATA, flags: 0, stream: 1 }.to_bytes());
        bytes.extend_from_slice(b"hello");
        write::go_away(u32::MAX >> 1, ErrorCode::NO_ERROR, b"", &mut bytes);
        write::go_away(7, ErrorCode::ENHANCE_YOUR_CALM, b"why", &mut bytes);
        let said = GoAway { code: ErrorCode::ENHANCE_YOUR_CALM.0, last_stream: 7, text: b"why".to_vec() };
        for piece in 1..=bytes.len() {
            assert_eq!(heard(&bytes, piece).as_ref(), Some(&said), "in pieces of {piece}");
        }
        assert_eq!(heard(&bytes[..bytes.len() - 1], 4).map(|heard| heard.code), Some(0), "one that is not complete");
    }

    #[test]
    fn of_a_long_one_the_beginning_is_kept() {
        let mut bytes = Vec::new();
        write::go_away(1, ErrorCode::NO_ERROR, &[b'x'; 5000], &mut bytes);
        write::go_away(1, ErrorCode::NO_ERROR, b"after", &mut bytes);
        let first = heard(&bytes[..9 + 8 + 5000], 100).unwrap();
        assert_eq!(first.text, [b'x'; MAX_KEPT - 8]);
        assert_eq!(heard(&bytes, 100).unwrap().text, b"after");
    }
}
