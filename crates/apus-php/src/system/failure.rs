//! What went wrong last, and numbers of errors as text.

use std::ffi::{CString, c_int};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use apus_coro::Wait;
use apus_zend::arg::{Give, Given, Want};
use apus_zend::engine::ClassEntry;
use apus_zend::{Call, Raise};

use crate::last_error;
use crate::runtime::State;
use crate::swoole::{self, There};
use crate::wait::wait;

/// A name has no address, or does not exist.
pub(super) const RESOLVE_FAILED: c_int = 711;
/// The name servers did not answer.
pub(super) const RESOLVE_TIMEOUT: c_int = 712;

/// Notes why a function returned `false`; `Apus\last_error()` tells it.
pub(crate) fn set_last_error(code: c_int) {
    last_error::fail(code.into());
}

/// The error number of a failed system call.
pub(super) fn errno() -> c_int {
    code(&std::io::Error::last_os_error())
}

/// The error number in an I/O error.
pub(super) fn code(error: &std::io::Error) -> c_int {
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// The text of an error number of the kernel's or of Apus.
pub(crate) fn strerror(code: c_int) -> String {
    match code {
        RESOLVE_FAILED => return "the name has no address, or does not exist".to_owned(),
        RESOLVE_TIMEOUT => return "the name servers did not answer".to_owned(),
        _ => {}
    }
    let text = std::io::Error::from_raw_os_error(code).to_string();
    let number = format!(" (os error {code})");
    text.strip_suffix(&number).map_or_else(|| text.clone(), str::to_owned)
}

/// The future's result; `None` when the time was over first. A future that is ready at once is so even within no time.
pub(super) async fn within<T>(limit: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    match limit {
        None => Some(future.await),
        Some(limit) if limit.is_zero() => {
            let mut future = pin!(future);
            poll_fn(|cx| {
                Poll::Ready(if let Poll::Ready(value) = future.as_mut().poll(cx) { Some(value) } else { None })
            })
            .await
        }
        Some(limit) => tokio::time::timeout(limit, future).await.ok(),
    }
}

/// Suspends the running coroutine for a job that the outside world ends. The inner error is an errno, with ETIMEDOUT
/// and ECANCELED for what ended the waiting.
pub(super) fn waited<T>(
    state: &State,
    what: &'static str,
    limit: Option<Duration>,
    job: impl Future<Output = Result<T, c_int>>,
) -> Result<Result<T, c_int>, Raise> {
    Ok(match wait(state, Wait::Outside(what), within(limit, job))? {
        Some(Some(result)) => result,
        Some(None) => Err(libc::ETIMEDOUT),
        None => Err(libc::ECANCELED),
    })
}

/// A function gives the value, or `false`; then the error is noted.
pub(crate) struct Noted<T>(pub(crate) Result<T, c_int>);

impl<T: Give> Give for Noted<T> {
    fn give(self, call: &Call) -> Result<(), Raise> {
        match self.0 {
            Ok(value) => value.give(call),
            Err(code) => {
                set_last_error(code);
                false.give(call)
            }
        }
    }
}

/// Bytes that name something to the C library: without NUL.
pub(crate) struct Text(pub(crate) CString);

impl Want<&[u8]> for Text {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        CString::new(given.value).map(Self).map_err(|_| given.value_error("must not contain any null bytes"))
    }
}

/// The same, not empty.
pub(crate) struct Name(pub(crate) CString);

impl Want<&[u8]> for Name {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        let Text(text) = Text::want(given)?;
        if text.is_empty() { Err(empty(&given)) } else { Ok(Self(text)) }
    }
}

/// There a file without a name is an error of the program, which nothing but it catches.
#[cold]
fn empty(given: &Given<&[u8]>) -> Raise {
    swoole::there_of(given.value_error("cannot be empty"), |message| {
        let name =
            ["Filename", "Path"].into_iter().find(|name| message.contains(&format!("(${})", name.to_lowercase())));
        name.map(|name| There::Error(ClassEntry::value_error(), format!("{name} cannot be empty")))
    })
}
