//! How a client's request can fail.

use std::io;

/// A name could not be resolved. Numbers from 200 on are not the kernel's; they are the ones PHP programs know.
pub const RESOLVE_FAILED: i32 = 711;
/// The peer's certificate was refused.
pub const TLS_REFUSED: i32 = 1014;
/// TLS could not be agreed upon.
pub const TLS_HANDSHAKE: i32 = 1018;
/// A proxy refused to make the connection.
pub const PROXY_REFUSED: i32 = 7103;
/// The answer is not HTTP, or breaks its grammar or a limit.
pub const INVALID_PROTOCOL: i32 = 7102;
/// The server's answer to a WebSocket handshake was wrong.
pub const HANDSHAKE_FAILED: i32 = 8504;

/// What was being done when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// No connection was made.
    Connect,
    /// The time was over.
    Timeout,
    /// The connection broke, or what came over it could not be used.
    Receive,
    /// The request could not be sent whole.
    Send,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What was being done.
    pub stage: Stage,
    /// The kernel's error number, or one of this module's.
    pub errno: i32,
    /// What happened, and what can be done about it.
    pub message: String,
}

impl Failure {
    /// A failure with its own words.
    pub fn new(stage: Stage, errno: i32, message: impl Into<String>) -> Self {
        Self { stage, errno, message: message.into() }
    }

    /// The time was over.
    pub fn timeout(what: &str) -> Self {
        Self::new(Stage::Timeout, libc::ETIMEDOUT, format!("{what} took longer than its time-out"))
    }

    /// What came breaks HTTP's rules or a limit.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(Stage::Receive, INVALID_PROTOCOL, message)
    }

    /// From what the kernel said.
    pub fn io(stage: Stage, error: &io::Error) -> Self {
        Self::new(stage, errno_of(error), error.to_string())
    }

    /// From what hyper said about a request whose connection was up.
    pub(crate) fn of_hyper(error: &hyper::Error) -> Self {
        // hyper 1 keeps this kind to itself but for its words.
        if error.is_parse() && error.to_string().contains("too large") {
            return Self::protocol(
                "the head of the response is larger than max_header_size, or has more than max_headers fields",
            );
        }
        if error.is_parse() || error.is_parse_status() {
            return Self::protocol(format!("the server's answer is not HTTP/1.1: {error}"));
        }
        let io = io_cause(error);
        if error.is_user() {
            let why = cause(error).map_or_else(|| error.to_string(), ToString::to_string);
            return Self::new(
                Stage::Send,
                io.map_or(libc::EIO, errno_of),
                format!("the request could not be sent: {why}"),
            );
        }
        match io {
            Some(io) if io.kind() == io::ErrorKind::BrokenPipe => {
                Self::new(Stage::Send, libc::EPIPE, "the server closed the connection while the request was sent")
            }
            // Not the kernel's: hyper's own about a body's framing.
            Some(io) if matches!(io.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                Self::protocol(format!("the answer's body is not framed as HTTP/1.1 demands: {io}"))
            }
            Some(io) => Self::new(Stage::Receive, errno_of(io), io.to_string()),
            None => Self::new(
                Stage::Receive,
                libc::ECONNRESET,
                "the server closed the connection before its answer was complete",
            ),
        }
    }
}

fn cause(error: &hyper::Error) -> Option<&(dyn std::error::Error + 'static)> {
    std::error::Error::source(error)
}

/// The kernel's error below a chain of others.
fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    let mut next = cause(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io);
        }
        next = error.source();
    }
    None
}

/// The number behind an error; the usual one of its kind when the kernel gave none.
pub(crate) fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or_else(|| match error.kind() {
        io::ErrorKind::TimedOut => libc::ETIMEDOUT,
        io::ErrorKind::BrokenPipe | io::ErrorKind::WriteZero => libc::EPIPE,
        io::ErrorKind::NotFound => libc::ENOENT,
        io::ErrorKind::PermissionDenied => libc::EACCES,
        io::ErrorKind::InvalidInput => libc::EINVAL,
        _ => libc::ECONNRESET,
    })
}
