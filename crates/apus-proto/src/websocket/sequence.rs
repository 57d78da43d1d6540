//! Which frame may follow which (RFC 6455 section 5.4), for the side that sends.

use super::{Opcode, Utf8};

/// The rule that a fragment breaks which goes on with nothing.
pub const CONTINUES_NOTHING: &str = "a continuation frame may only follow the first fragment of a message, a frame of \
                                     text or bytes that is not the last of its message (RFC 6455 section 5.4)";
/// The rule that a message breaks which begins among the fragments of another.
pub const INTERRUPTS: &str = "the fragments of another message must end first: they go on with the opcode \
                              CONTINUATION, the last of them with the flag FIN (RFC 6455 section 5.4)";

/// Why a fragment that the program has compressed is not sent.
pub const NOT_AGREED: &str = "the other side takes no compressed messages: it did not agree to permessage-deflate";

/// The message whose fragments are being sent, if there is one.
#[derive(Debug, Default, Clone)]
pub struct Sequence {
    open: bool,
    /// Of a text message.
    text: Option<Utf8>,
}

impl Sequence {
    /// Whether a message has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// What stands after this frame; `compressed` is the first one of a message that the program has compressed, which
    /// is no text as it stands.
    ///
    /// # Errors
    /// Which rule does not allow the frame here. What stands is as before then.
    pub fn after(&self, opcode: Opcode, fin: bool, compressed: bool, payload: &[u8]) -> Result<Self, &'static str> {
        let mut next = match (opcode, self.open) {
            (Opcode::Close | Opcode::Ping | Opcode::Pong, _) => return Ok(self.clone()),
            (Opcode::Continuation, true) => self.clone(),
            (Opcode::Text, false) if !compressed => Self { open: true, text: Some(Utf8::default()) },
            (Opcode::Text | Opcode::Binary, false) => Self { open: true, text: None },
            (Opcode::Continuation, false) => return Err(CONTINUES_NOTHING),
            (Opcode::Text | Opcode::Binary, true) => return Err(INTERRUPTS),
        };
        if let Some(text) = &mut next.text
            && (!text.feed(payload) || (fin && !text.finish()))
        {
            return Err("the fragments of a text message must together be UTF-8 (RFC 6455 section 8.1)");
        }
        Ok(if fin { Self::default() } else { next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends one frame after the other: how many were allowed, and the rule that the next broke.
    fn send(frames: &[(Opcode, bool, &[u8])]) -> (usize, Option<&'static str>) {
        let mut sequence = Sequence::default();
        for (at, (opcode, fin, payload)) in frames.iter().enumerate() {
            match sequence.after(*opcode, *fin, false, payload) {
                Ok(next) => sequence = next,
                Err(rule) => return (at, Some(rule)),
            }
        }
        (frames.len(), None)
    }

    #[test]
    fn whole_messages_and_fragments_in_their_order_are_allowed() {
        let (text, binary, more, ping) = (Opcode::Text, Opcode::Binary, Opcode::Continuation, Opcode::Ping);
        let all: [(Opcode, bool, &[u8]); 9] = [
            (text, true, b"whole"),
            (text, false, b"\xc3"),
            (ping, true, b"between"),
            (more, false, b"\xa4"),
            (more, true, b""),
            (binary, false, b"\xff"),
            (more, true, b"\xff"),
            (binary, true, b""),
            (Opcode::Close, true, b""),
        ];
        assert_eq!(send(&all), (9, None));
        let compressed = Sequence::default().after(text, false, true, b"\xff").unwrap();
        assert!(compressed.after(more, true, false, b"\xff").is_ok_and(|after| !after.is_open()));
    }

    #[test]
    fn every_other_order_is_refused_with_its_rule() {
        let (text, binary, more) = (Opcode::Text, Opcode::Binary, Opcode::Continuation);
        let rule = |frames: &[(Opcode, bool, &[u8])]| {
            let (at, rule) = send(frames);
            assert_eq!(at, frames.len() - 1, "only the last is wrong");
            rule.unwrap()
        };
        assert!(rule(&[(more, true, b"")]).contains("continuation frame may only follow"));
        assert!(rule(&[(text, true, b""), (more, false, b"")]).contains("continuation frame may only follow"));
        assert!(rule(&[(text, false, b"a"), (text, true, b"b")]).contains("must end first"));
        assert!(rule(&[(binary, false, b"a"), (more, false, b""), (binary, false, b"b")]).contains("must end first"));
        assert!(rule(&[(text, false, b"\xff")]).contains("UTF-8"));
        assert!(rule(&[(text, false, b"\xc3"), (more, true, b"")]).contains("UTF-8"));
    }
}
