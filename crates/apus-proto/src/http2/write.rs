//! Frames as they are written.

use super::frame::{FrameHeader, HEADER_LEN, flag, kind};
use super::{ErrorCode, Setting};

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&FrameHeader { len: payload.len(), kind, flags, stream }.to_bytes());
    out.extend_from_slice(payload);
}

/// DATA. The data has to fit the peer's frames and windows.
pub fn data(stream: u32, data: &[u8], end_stream: bool, out: &mut Vec<u8>) {
    frame(kind::DATA, if end_stream { flag::END_STREAM } else { 0 }, stream, data, out);
}

/// Begins HEADERS: the field block is appended to `out` behind it, and [`end_headers`] is called with what this gives.
#[must_use]
pub fn begin_headers(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; HEADER_LEN]);
    out.len()
}

/// Ends HEADERS, whose field block begins at `block` of `out`. What does not fit one frame goes into CONTINUATION.
pub fn end_headers(block: usize, stream: u32, end_stream: bool, max_frame: usize, out: &mut Vec<u8>) {
    let len = out.len() - block;
    let mut header = FrameHeader {
        len: len.min(max_frame),
        kind: kind::HEADERS,
        flags: if end_stream { flag::END_STREAM } else { 0 },
        stream,
    };
    if len <= max_frame {
        header.flags |= flag::END_HEADERS;
    } else {
        let rest = out.split_off(block + max_frame);
        let mut pieces = rest.chunks(max_frame.max(1)).peekable();
        while let Some(piece) = pieces.next() {
            let last = if pieces.peek().is_none() { flag::END_HEADERS } else { 0 };
            frame(kind::CONTINUATION, last, stream, piece, out);
        }
    }
    out[block - HEADER_LEN..block].copy_from_slice(&header.to_bytes());
}

/// `RST_STREAM`.
pub fn reset(stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
    frame(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

/// SETTINGS.
pub fn settings(settings: &[Setting], out: &mut Vec<u8>) {
    let len = settings.len() * 6;
    out.extend_from_slice(&FrameHeader { len, kind: kind::SETTINGS, flags: 0, stream: 0 }.to_bytes());
    for setting in settings {
        let (id, value) = setting.parts();
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// SETTINGS with ACK.
pub fn settings_ack(out: &mut Vec<u8>) {
    frame(kind::SETTINGS, flag::ACK, 0, &[], out);
}

/// PING.
pub fn ping(ack: bool, data: [u8; 8], out: &mut Vec<u8>) {
    frame(kind::PING, if ack { flag::ACK } else { 0 }, 0, &data, out);
}

/// GOAWAY.
pub fn go_away(last_stream: u32, code: ErrorCode, debug: &[u8], out: &mut Vec<u8>) {
    let len = 8 + debug.len();
    out.extend_from_slice(&FrameHeader { len, kind: kind::GOAWAY, flags: 0, stream: 0 }.to_bytes());
    out.extend_from_slice(&last_stream.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
    out.extend_from_slice(debug);
}

/// `WINDOW_UPDATE`, of the connection where the stream is 0.
pub fn window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    frame(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes(), out);
}
