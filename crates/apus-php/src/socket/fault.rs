//! What goes wrong on a network: a number for programs, a text for people.

use std::borrow::Cow;
use std::io;

use apus_client::tls::TlsError;
use apus_net::proto::framing::FramingError;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Raise, Value};

use crate::last_error;

/// A name could not be resolved.
pub(super) const DNS_FAILED: i32 = 711;
/// TLS was asked of a connection that has none.
pub(super) const SSL_NOT_READY: i32 = 1011;
/// The peer showed no certificate.
pub(super) const SSL_NO_CERTIFICATE: i32 = 1013;
/// The peer's certificate was refused.
pub(super) const SSL_REFUSED: i32 = 1014;
/// The peers could not agree on TLS.
pub(super) const SSL_HANDSHAKE: i32 = 1018;
/// A TLS setting cannot be honoured.
pub(super) const SSL_OPTIONS: i32 = 1019;
/// A message is longer than allowed.
pub(super) const PACKAGE_TOO_LARGE: i32 = 1201;
/// A message's length makes no sense.
pub(super) const PACKAGE_NO_LENGTH: i32 = 1202;
/// No message ends within the limit.
pub(super) const PACKAGE_ENDLESS: i32 = 1204;
/// The client is not connected.
pub(super) const NOT_CONNECTED: i32 = 5001;

/// Numbers of the system go up to this one (`EHWPOISON`); those above are ours.
const LAST_ERRNO: i32 = 133;

/// A failure of the network: a result, not an exception.
#[derive(Debug)]
pub(super) struct Fault {
    /// An errno, or one of this module's numbers, which lie above them.
    pub(super) code: i32,
    text: Cow<'static, str>,
    says: Says,
}

/// What a failure is under the names of Swoole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    /// One whose text says no more than its number.
    Number,
    /// One whose text is its own.
    Text,
    /// The end of the stream: the rest of a message is of no use.
    End,
}

/// What an operation on a socket gives.
pub(super) type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// A failure with a text of its own.
    pub(super) fn new(code: i32, text: impl Into<Cow<'static, str>>) -> Self {
        Self { code, text: text.into(), says: Says::Number }
    }

    /// A failure whose text is its own under all names.
    pub(super) fn with_own_text(code: i32, text: impl Into<Cow<'static, str>>) -> Self {
        Self { says: Says::Text, ..Self::new(code, text) }
    }

    /// The stream has ended inside a message.
    pub(super) fn cut_off(text: String) -> Self {
        Self { says: Says::End, ..Self::new(libc::ECONNRESET, text) }
    }

    /// A failure that the system knows by number.
    pub(super) fn errno(code: i32) -> Self {
        Self::new(code, strerror(code))
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// What was received. For code written for Swoole (`second`) a message that is cut off is the end of the stream: an
/// empty one.
pub(super) fn whole_or_end(outcome: Outcome<Vec<u8>>, second: bool) -> Outcome<Vec<u8>> {
    match outcome {
        Err(Fault { says: Says::End, .. }) if second => Ok(Vec::new()),
        other => other,
    }
}

/// The system's words for an error, or ours for a number of this module.
pub(super) fn strerror(code: i32) -> String {
    let own = match code {
        DNS_FAILED => "the name could not be resolved",
        SSL_NOT_READY => "the connection does not speak TLS",
        SSL_NO_CERTIFICATE => "the peer showed no certificate",
        NOT_CONNECTED => "the client is not connected: call connect() first",
        _ => "",
    };
    if !own.is_empty() {
        return own.to_owned();
    }
    let text = io::Error::from_raw_os_error(code).to_string();
    text.rsplit_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_owned()
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if let Some(code) = error.raw_os_error() {
            return Self::errno(code);
        }
        let code = match error.kind() {
            io::ErrorKind::TimedOut => return Self::errno(libc::ETIMEDOUT),
            io::ErrorKind::WouldBlock => return Self::errno(libc::EAGAIN),
            io::ErrorKind::UnexpectedEof => {
                return Self::new(libc::ECONNRESET, "the connection was cut off: the peer did not end TLS");
            }
            io::ErrorKind::InvalidData => libc::EPROTO,
            io::ErrorKind::InvalidInput => libc::EINVAL,
            io::ErrorKind::NotFound => libc::ENOENT,
            _ => libc::EIO,
        };
        Self::new(code, error.to_string())
    }
}

impl From<TlsError> for Fault {
    fn from(error: TlsError) -> Self {
        let code = match &error {
            TlsError::Options(_) | TlsError::Name(_) => SSL_OPTIONS,
            TlsError::Refused(_) => SSL_REFUSED,
            TlsError::Handshake(_) => SSL_HANDSHAKE,
            TlsError::Io(io) => io.raw_os_error().unwrap_or(SSL_HANDSHAKE),
        };
        Self::new(code, error.to_string())
    }
}

impl From<FramingError> for Fault {
    fn from(error: FramingError) -> Self {
        let code = match error {
            FramingError::TooLong { .. } => PACKAGE_TOO_LARGE,
            FramingError::Impossible { .. } | FramingError::Malformed(_) => PACKAGE_NO_LENGTH,
            FramingError::Endless { .. } => PACKAGE_ENDLESS,
        };
        Self::new(code, format!("{error}; the connection was closed"))
    }
}

/// Where an object keeps errCode and errMsg: the numbers of its declared properties.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub(super) code: u32,
    pub(super) text: u32,
}

impl Slots {
    /// Tells the object how the last operation went.
    pub(super) fn report<T>(self, object: &Object, outcome: &Outcome<T>) -> Result<(), Raise> {
        let (code, text, own) = match outcome {
            Err(fault) => (fault.code, fault.text(), fault.says == Says::Text),
            Ok(_) => (0, "", false),
        };
        // Writing nothing is the rule: an operation that succeeds follows one that did.
        if code == 0 && matches!(object.slot(self.code).view(), View::Int(0)) {
            return Ok(());
        }
        if code != 0 {
            last_error::fail(i64::from(code));
        }
        object.set_slot(self.code, Value::int(i64::from(code)));
        // There the text says no more than the number.
        let is_errno = (1..=LAST_ERRNO).contains(&code) && !own;
        let text = if is_errno && object.name_there().is_some() { strerror(code).into() } else { Cow::from(text) };
        object.set_slot(self.text, Value::string(text.as_bytes())?);
        Ok(())
    }
}
