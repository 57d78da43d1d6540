//! Settings (RFC 9113 section 6.5.2, RFC 8441 section 3, RFC 9218 section 2.1).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{DEFAULT_FRAME, ErrorCode, FrameError, MAX_FRAME, MAX_WINDOW};

/// One setting; the value is one that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Bytes of the dynamic table that the sender decodes with.
    HeaderTableSize(u32),
    /// Whether the sender takes pushes.
    EnablePush(bool),
    /// Streams that the sender lets be open at once.
    MaxConcurrentStreams(u32),
    /// What the window of a new stream begins with.
    InitialWindowSize(u32),
    /// The longest payload that the sender takes.
    MaxFrameSize(u32),
    /// The largest list of fields that the sender takes.
    MaxHeaderListSize(u32),
    /// Whether extended CONNECT may be used (RFC 8441).
    EnableConnectProtocol(bool),
    /// The sender does without the priorities of RFC 7540 (RFC 9218).
    NoRfc7540Priorities(bool),
}

impl Setting {
    /// Reads a setting; `None` for one that is not known.
    pub(super) fn read(id: u16, value: u32) -> Result<Option<Self>, FrameError> {
        let switch = |reason| match value {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FrameError::protocol(reason)),
        };
        Ok(Some(match id {
            0x1 => Self::HeaderTableSize(value),
            0x2 => Self::EnablePush(switch("ENABLE_PUSH that is no switch")?),
            0x3 => Self::MaxConcurrentStreams(value),
            0x4 if value > MAX_WINDOW => {
                return Err(FrameError::connection(ErrorCode::FLOW_CONTROL_ERROR, "INITIAL_WINDOW_SIZE too large"));
            }
            0x4 => Self::InitialWindowSize(value),
            0x5 if !(DEFAULT_FRAME..=MAX_FRAME).contains(&(value as usize)) => {
                return Err(FrameError::protocol("MAX_FRAME_SIZE out of its range"));
            }
            0x5 => Self::MaxFrameSize(value),
            0x6 => Self::MaxHeaderListSize(value),
            0x8 => Self::EnableConnectProtocol(switch("ENABLE_CONNECT_PROTOCOL that is no switch")?),
            0x9 => Self::NoRfc7540Priorities(switch("NO_RFC7540_PRIORITIES that is no switch")?),
            _ => return Ok(None),
        }))
    }

    /// As it stands on the wire.
    pub(super) fn parts(self) -> (u16, u32) {
        match self {
            Self::HeaderTableSize(value) => (0x1, value),
            Self::EnablePush(on) => (0x2, on.into()),
            Self::MaxConcurrentStreams(value) => (0x3, value),
            Self::InitialWindowSize(value) => (0x4, value),
            Self::MaxFrameSize(value) => (0x5, value),
            Self::MaxHeaderListSize(value) => (0x6, value),
            Self::EnableConnectProtocol(on) => (0x8, on.into()),
            Self::NoRfc7540Priorities(on) => (0x9, on.into()),
        }
    }
}

/// What the value of `HTTP2-Settings` stands for (RFC 7540 section 3.2.1); `None` where it is not base64url.
pub fn upgrade_settings(value: &[u8]) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(value).ok()
}
