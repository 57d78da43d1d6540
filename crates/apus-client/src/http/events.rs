//! A stream of events whose end nothing tells, taken as it comes.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;

use http::header::CONTENT_TYPE;
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Connection;

/// Whether a response is one (`text/event-stream`, of the HTML standard).
pub(super) fn are_told(headers: &http::HeaderMap) -> bool {
    const TYPE: &[u8] = b"text/event-stream";
    let given = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    given.get(..TYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(TYPE))
}

/// A descriptor from which the events can be read, and what sees to it: to be run by the loop. It ends, and the
/// connection with it, when the server ends the stream or the descriptor is closed.
///
/// # Errors
/// The system gave no descriptors.
pub fn pour(connection: Connection, events: Incoming) -> io::Result<(OwnedFd, impl Future<Output = ()>)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((theirs.into(), async move {
        // Whoever reads sees an end, whatever it was.
        let _ = run(ours, events).await;
        drop(connection);
    }))
}

async fn run(to: UnixStream, mut events: Incoming) -> io::Result<()> {
    let (mut closed, mut to) = tokio::net::UnixStream::from_std(to)?.into_split();
    let mut nothing = [0; 256];
    loop {
        let next = poll_fn(|cx| Pin::new(&mut events).poll_frame(cx));
        let frame = tokio::select! {
            frame = next => frame,
            read = closed.read(&mut nothing) => match read? {
                0 => return Ok(()),
                // The server takes nothing more of this request.
                _ => continue,
            },
        };
        let Some(Ok(frame)) = frame else { return Ok(()) };
        if let Ok(data) = frame.into_data() {
            to.write_all(&data).await?;
        }
    }
}
