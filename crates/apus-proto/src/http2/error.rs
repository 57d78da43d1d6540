//! Error codes (RFC 9113 section 7), and what an error ends.

/// An error code. A peer may send others; they are kept as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// The end of a connection or stream without an error.
    pub const NO_ERROR: Self = Self(0x0);
    /// The peer broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// Something failed here.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More was sent than a window allows.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// SETTINGS were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    /// A frame for a stream whose half is closed.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame of a wrong size.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The stream was not looked at: the request may be sent again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(0x8);
    /// A field block cannot be read.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The other end of a tunnel is gone.
    pub const CONNECT_ERROR: Self = Self(0xa);
    /// The peer makes too much work.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// TLS is not good enough.
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    /// HTTP/1.1 has to be used instead.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    /// Its name; empty where it has none.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        NAMES.get(self.0 as usize).copied().unwrap_or_default()
    }
}

/// A frame that breaks the protocol (RFC 9113 section 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameError {
    /// The stream that ends by it; `None`: the connection does.
    pub stream: Option<u32>,
    /// What the peer is told.
    pub code: ErrorCode,
    /// What is wrong, for the log; no bytes of the peer's.
    pub reason: &'static str,
}

impl FrameError {
    /// An error that ends the connection.
    pub const fn connection(code: ErrorCode, reason: &'static str) -> Self {
        Self { stream: None, code, reason }
    }

    /// An error that ends one stream.
    pub const fn stream(stream: u32, code: ErrorCode, reason: &'static str) -> Self {
        Self { stream: Some(stream), code, reason }
    }

    pub(super) const fn protocol(reason: &'static str) -> Self {
        Self::connection(ErrorCode::PROTOCOL_ERROR, reason)
    }

    pub(super) const fn size(reason: &'static str) -> Self {
        Self::connection(ErrorCode::FRAME_SIZE_ERROR, reason)
    }
}

impl std::fmt::Display for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.reason)
    }
}

impl std::error::Error for FrameError {}
