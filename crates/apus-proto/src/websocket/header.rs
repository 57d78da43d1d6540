//! The head of a frame (RFC 6455 section 5.2).

use super::{Opcode, Role, Violation};

/// The most bytes that a control frame may carry.
pub const MAX_CONTROL: usize = 125;

/// The longest head: two bytes, a length of eight, a key of four.
pub(crate) const MAX_HEADER: usize = 14;

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Whether it is the last fragment of its message.
    pub fin: bool,
    /// The bit that permessage-deflate uses on a message's first frame.
    pub rsv1: bool,
    /// What the frame is.
    pub opcode: Opcode,
    /// The key that the payload is masked with.
    pub mask: Option<[u8; 4]>,
    /// Bytes of payload.
    pub len: u64,
}

impl Header {
    /// Reads the head that `bytes` begin with: it and its length, or none when more bytes are needed.
    ///
    /// # Errors
    /// When bytes that are there already break the protocol for one who receives as `role`; without one, masked and
    /// unmasked frames are taken.
    pub fn parse(bytes: &[u8], role: Option<Role>, rsv1_allowed: bool) -> Result<Option<(Self, usize)>, Violation> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        let (fin, rsv1) = (first & 0x80 != 0, first & 0x40 != 0);
        if first & 0x30 != 0 || (rsv1 && !rsv1_allowed) {
            return Err(Violation::protocol("a reserved bit is set that no extension gives a meaning"));
        }
        let opcode = Opcode::from_number(first & 0x0f)
            .ok_or(const { Violation::protocol("the frame has an opcode that is not known") })?;
        if opcode.is_control() && !fin {
            return Err(Violation::protocol("a control frame is fragmented"));
        }
        if rsv1 && (opcode.is_control() || opcode == Opcode::Continuation) {
            return Err(Violation::protocol("only the first frame of a message can say that it is compressed"));
        }
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        let masked = second & 0x80 != 0;
        match (role, masked) {
            (Some(Role::Server), false) => return Err(Violation::protocol("a client's frame is not masked")),
            (Some(Role::Client), true) => return Err(Violation::protocol("a server's frame is masked")),
            _ => {}
        }
        let short = second & 0x7f;
        if opcode.is_control() && usize::from(short) > MAX_CONTROL {
            return Err(Violation::protocol("a control frame has more than 125 bytes"));
        }
        let Some((len, at)) = payload_length(short, &bytes[2..])? else { return Ok(None) };
        let at = at + 2;
        if !masked {
            return Ok(Some((Self { fin, rsv1, opcode, mask: None, len }, at)));
        }
        let Some(key) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) else { return Ok(None) };
        Ok(Some((Self { fin, rsv1, opcode, mask: Some(*key), len }, at + 4)))
    }

    /// Writes the head into `out`; gives back how many bytes it takes.
    pub(crate) fn write(&self, out: &mut [u8; MAX_HEADER]) -> usize {
        out[0] = u8::from(self.fin) << 7 | u8::from(self.rsv1) << 6 | self.opcode.number();
        let masked = u8::from(self.mask.is_some()) << 7;
        let mut at = match self.len {
            0..=125 => {
                out[1] = masked | self.len as u8;
                2
            }
            126..=0xffff => {
                out[1] = masked | 0x7e;
                out[2..4].copy_from_slice(&(self.len as u16).to_be_bytes());
                4
            }
            _ => {
                out[1] = masked | 0x7f;
                out[2..10].copy_from_slice(&self.len.to_be_bytes());
                10
            }
        };
        if let Some(key) = self.mask {
            out[at..at + 4].copy_from_slice(&key);
            at += 4;
        }
        at
    }
}

/// The payload's length, and how many further bytes told it.
fn payload_length(short: u8, rest: &[u8]) -> Result<Option<(u64, usize)>, Violation> {
    const LONG: Violation = Violation::protocol("the payload's length is not written in its shortest form");
    match short {
        126 => {
            let Some(bytes) = rest.first_chunk::<2>() else { return Ok(None) };
            let len = u16::from_be_bytes(*bytes);
            if len < 126 { Err(LONG) } else { Ok(Some((u64::from(len), 2))) }
        }
        127 => {
            let Some(bytes) = rest.first_chunk::<8>() else { return Ok(None) };
            let len = u64::from_be_bytes(*bytes);
            if len >> 63 != 0 {
                return Err(Violation::protocol("the payload's length has its highest bit set"));
            }
            if len <= 0xffff { Err(LONG) } else { Ok(Some((len, 8))) }
        }
        _ => Ok(Some((u64::from(short), 0))),
    }
}
