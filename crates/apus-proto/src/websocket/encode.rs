//! From messages to bytes.

use bytes::BytesMut;

use super::header::{Header, MAX_HEADER};
use super::{MAX_CONTROL, Opcode, apply_mask, close};

/// Appends one frame. `mask` is a key that nobody can foresee for a client, none for a server.
///
/// A control frame's payload is cut at 125 bytes: a longer one cannot be expressed.
pub fn encode(out: &mut BytesMut, opcode: Opcode, fin: bool, rsv1: bool, payload: &[u8], mask: Option<[u8; 4]>) {
    let payload = if opcode.is_control() { &payload[..payload.len().min(MAX_CONTROL)] } else { payload };
    let header = Header { fin, rsv1, opcode, mask, len: payload.len() as u64 };
    let mut head = [0; MAX_HEADER];
    let head = {
        let len = header.write(&mut head);
        &head[..len]
    };
    out.reserve(head.len() + payload.len());
    out.extend_from_slice(head);
    let at = out.len();
    out.extend_from_slice(payload);
    if let Some(key) = mask {
        apply_mask(&mut out[at..], key, 0);
    }
}

/// Writes the head of a server's data frame to the start of `out`, which has room for 10 bytes: how many it takes.
pub fn write_head(out: &mut [u8], opcode: Opcode, fin: bool, rsv1: bool, len: usize) -> usize {
    let mut head = [0; MAX_HEADER];
    let used = Header { fin, rsv1, opcode, mask: None, len: len as u64 }.write(&mut head);
    let used = used.min(out.len());
    out[..used].copy_from_slice(&head[..used]);
    used
}

/// The payload of a close frame, none for [`close::NO_STATUS`]; the reason is cut, at a character, so that it fits.
/// Whether the code may be sent is for the caller to say.
pub fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    if code == close::NO_STATUS {
        return Vec::new();
    }
    let mut end = reason.len().min(MAX_CONTROL - 2);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let mut payload = Vec::with_capacity(2 + end);
    payload.extend_from_slice(&code.to_be_bytes());
    payload.extend_from_slice(&reason.as_bytes()[..end]);
    payload
}

/// Appends a close frame; one without a code for [`close::NO_STATUS`].
pub fn encode_close(out: &mut BytesMut, code: u16, reason: &str, mask: Option<[u8; 4]>) {
    encode(out, Opcode::Close, true, false, &close_payload(code, reason), mask);
}
