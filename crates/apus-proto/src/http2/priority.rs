//! Priorities of streams (RFC 9218).

use crate::grammar::list_members;

/// How urgent an answer is, and whether parts of it are of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// 0 to 7; the lowest goes first.
    pub urgency: u8,
    /// Its parts are of use: it shares the connection with others of its urgency.
    pub incremental: bool,
}

impl Default for Priority {
    fn default() -> Self {
        Self { urgency: 3, incremental: false }
    }
}

impl Priority {
    /// Reads the value of a Priority field or of a `PRIORITY_UPDATE` frame: a dictionary of RFC 8941. What is not
    /// understood counts for nothing, as a hint may.
    pub fn parse(value: &[u8]) -> Self {
        let mut priority = Self::default();
        for member in list_members(value) {
            // Parameters of a member mean nothing yet.
            let member = member.split(|&byte| byte == b';').next().unwrap_or_default();
            match member.trim_ascii_end() {
                [b'u', b'=', digit @ b'0'..=b'7'] => priority.urgency = digit - b'0',
                b"i" | b"i=?1" => priority.incremental = true,
                b"i=?0" => priority.incremental = false,
                _ => {}
            }
        }
        priority
    }
}
