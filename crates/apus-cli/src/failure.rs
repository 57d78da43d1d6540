//! Why a command did not do what was asked, and the exit code that says so to a script.

use std::fmt;

/// The kinds of failure; each is one exit code, listed in `apus help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The operation was tried and failed.
    Failed = 1,
    /// The arguments cannot be used as given (clap uses the same code).
    Usage = 2,
    /// No running server fits the request.
    NotRunning = 3,
    /// Several running servers fit, and none was named.
    Several = 4,
    /// PHP or the module was not found, or they do not fit each other.
    Environment = 5,
}

/// A failure: what is wrong in one line, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Decides the exit code.
    pub(crate) kind: Kind,
    message: String,
    advice: Option<String>,
}

/// What every command returns.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure of `kind` that `message` describes.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), advice: None }
    }

    /// The commonest kind: tried and failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Adds what the reader can do next; shown indented under the message.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for line in self.advice.iter().flat_map(|advice| advice.lines()) {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_indented_under_the_message() {
        let failure = Failure::failed("no such file").advise("try this\nor that");
        assert_eq!(failure.to_string(), "no such file\n  try this\n  or that");
        assert_eq!(failure.kind as u8, 1);
    }
}
