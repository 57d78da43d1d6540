//! What comes over a message connection.

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text of a WebSocket.
    Text,
    /// Bytes of a WebSocket.
    Binary,
    /// A ping, where the port asks to see them.
    Ping,
    /// A pong, where the port asks to see them.
    Pong,
    /// The peer's close frame, where the port asks to see them.
    Close {
        /// Its code, if it gave one.
        code: Option<u16>,
    },
    /// A message of a stream port.
    Data,
}

/// A message that the program is shown. Whoever keeps it copies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its bytes; the reason of a close frame.
    pub data: &'a [u8],
    /// Whether it came compressed.
    pub compressed: bool,
}

/// A message that waits for [`MessageConn::recv`](super::MessageConn::recv).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedMessage {
    /// What it is.
    pub kind: Kind,
    /// Its bytes; the reason of a close frame.
    pub data: Vec<u8>,
    /// Whether it came compressed.
    pub compressed: bool,
}

impl OwnedMessage {
    /// As a borrowed message.
    pub fn view(&self) -> Message<'_> {
        Message { kind: self.kind, data: &self.data, compressed: self.compressed }
    }
}

impl From<Message<'_>> for OwnedMessage {
    fn from(message: Message<'_>) -> Self {
        Self { kind: message.kind, data: message.data.to_vec(), compressed: message.compressed }
    }
}
