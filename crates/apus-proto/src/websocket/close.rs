//! Close codes (RFC 6455 section 7.4 and the registry that it opened).

/// The purpose of the connection is fulfilled.
pub const NORMAL: u16 = 1000;
/// A server goes down, or a page is left.
pub const GOING_AWAY: u16 = 1001;
/// The protocol was broken.
pub const PROTOCOL_ERROR: u16 = 1002;
/// Never on the wire: a close frame without a code came.
pub const NO_STATUS: u16 = 1005;
/// Text that is not UTF-8, or a compressed message that is broken.
pub const INVALID_DATA: u16 = 1007;
/// A message is larger than the receiver allows.
pub const TOO_BIG: u16 = 1009;
/// The server is overloaded.
pub const TRY_AGAIN_LATER: u16 = 1013;

/// Whether the code may stand in a close frame.
pub fn is_sendable(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
