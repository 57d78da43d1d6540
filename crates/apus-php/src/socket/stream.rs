//! Operations on a stream of bytes that take several reads or writes. What they have done when they are broken off is
//! kept outside their futures, so that nothing is lost.

use std::cell::Cell;
use std::fs::File;
use std::future::poll_fn;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apus_loop::disk::{self, open_regular};
use apus_zend::Raise;

use super::core::{CHUNK, Sock};
use super::descriptor::Pace;
use super::fault::{Fault, Outcome};
use super::run::Session;

/// Bytes of a file that are read at a time.
const FILE_CHUNK: usize = 256 << 10;

/// Some bytes, at most `most`; none at the end.
pub(super) fn recv(sock: &Sock, session: &Session<'_>, most: usize) -> Result<Outcome<Vec<u8>>, Raise> {
    let mut out = Vec::new();
    let outcome = session.run(poll_fn(|cx| sock.poll_recv(cx, &mut out, most)));
    deliver(sock, out, outcome)
}

/// `most` bytes, fewer only at the end. After a failure the outcome is what came before it, if anything did.
pub(super) fn recv_all(
    sock: &Sock,
    session: &Session<'_>,
    most: usize,
) -> Result<(Outcome<Vec<u8>>, Option<Fault>), Raise> {
    let mut out = Vec::new();
    let outcome = session.run(async {
        while out.len() < most {
            let left = most - out.len();
            if poll_fn(|cx| sock.poll_recv(cx, &mut out, left)).await? == 0 {
                break;
            }
        }
        Ok(())
    });
    match outcome {
        Ok(Err(fault)) if !out.is_empty() => Ok((Ok(out), Some(fault))),
        other => deliver(sock, out, other).map(|outcome| (outcome, None)),
    }
}

/// Gives what was read, or the failure; bytes that an exception keeps from their reader are put back.
fn deliver<T>(sock: &Sock, out: Vec<u8>, outcome: Result<Outcome<T>, Raise>) -> Result<Outcome<Vec<u8>>, Raise> {
    match outcome {
        Ok(Ok(_)) => Ok(Ok(out)),
        other => {
            if !out.is_empty() {
                sock.put_back(&out);
            }
            other.map(|outcome| outcome.map(|_| Vec::new()))
        }
    }
}

/// One line with its end, which is `\n` or `\r`: at most `most` bytes, and what is left without an end at the end.
pub(super) fn recv_line(sock: &Sock, session: &Session<'_>, most: usize) -> Result<Outcome<Vec<u8>>, Raise> {
    let mut searched = 0;
    let mut ended = false;
    loop {
        let found = sock.with_ahead(|bytes, _| {
            let within = &bytes[searched.min(bytes.len())..most.min(bytes.len())];
            let line = within.iter().position(|&b| b == b'\n' || b == b'\r').map(|at| searched + at + 1);
            searched += within.len();
            line.or_else(|| (bytes.len() >= most || ended).then_some(most.min(bytes.len())))
        });
        if let Some(length) = found {
            let mut out = Vec::with_capacity(length);
            sock.take_ahead(&mut out, length);
            return Ok(Ok(out));
        }
        match session.run(poll_fn(|cx| sock.poll_fill(cx)))? {
            Ok(0) => ended = true,
            Ok(_) => {}
            Err(fault) => return Ok(Err(fault)),
        }
    }
}

/// Bytes through the read-ahead buffer: what it holds, filled by one large read when it is empty.
pub(super) fn recv_with_buffer(sock: &Sock, session: &Session<'_>, most: usize) -> Result<Outcome<Vec<u8>>, Raise> {
    if sock.with_ahead(|bytes, _| bytes.is_empty())
        && let Err(fault) = session.run(poll_fn(|cx| sock.poll_fill(cx)))?
    {
        return Ok(Err(fault));
    }
    let mut out = Vec::new();
    sock.take_ahead(&mut out, most.min(CHUNK));
    Ok(Ok(out))
}

/// Sends once: how many bytes were taken.
pub(super) fn send(sock: &Sock, session: &Session<'_>, bytes: &[u8]) -> Result<Outcome<usize>, Raise> {
    session.run(async {
        let sent = poll_fn(|cx| sock.poll_send(cx, bytes)).await?;
        poll_fn(|cx| sock.poll_flush(cx)).await?;
        Ok(sent)
    })
}

async fn write_all(sock: &Sock, bytes: &[u8], sent: &Cell<usize>) -> Outcome<()> {
    let mut left = bytes;
    while !left.is_empty() {
        let n = poll_fn(|cx| sock.poll_send(cx, left)).await?;
        sent.set(sent.get() + n);
        left = &left[n..];
    }
    poll_fn(|cx| sock.poll_flush(cx)).await
}

/// Sends all. After a failure the outcome is how many bytes were taken before it, if any were.
pub(super) fn send_all(
    sock: &Sock,
    session: &Session<'_>,
    bytes: &[u8],
) -> Result<(Outcome<usize>, Option<Fault>), Raise> {
    let sent = Cell::new(0);
    let outcome = session.run(write_all(sock, bytes, &sent))?;
    Ok(match (outcome, sent.get()) {
        (Ok(()), n) => (Ok(n), None),
        (Err(fault), 0) => (Err(fault), None),
        (Err(fault), n) => (Ok(n), Some(fault)),
    })
}

/// Sends `length` bytes of a regular file from `offset` on; 0 for all that follow.
pub(super) fn send_file(
    sock: &Sock,
    session: &Session<'_>,
    path: PathBuf,
    offset: u64,
    length: u64,
) -> Result<Outcome<()>, Raise> {
    let pace = session.pace();
    session.run_apart(async move {
        let (file, size) = apart(pace, move || open(&path)).await?;
        let file = Arc::new(file);
        let end = if length == 0 { size } else { offset.saturating_add(length) };
        if offset >= size || end > size {
            return Err(Fault::new(
                libc::EINVAL,
                format!("the file has {size} bytes: offset and length reach beyond it"),
            ));
        }
        let mut at = offset;
        while at < end {
            let most = usize::try_from(end - at).unwrap_or(FILE_CHUNK).min(FILE_CHUNK);
            let reader = Arc::clone(&file);
            let chunk = apart(pace, move || read(&reader, at, most)).await?;
            write_all(sock, &chunk, &Cell::new(0)).await?;
            at += chunk.len() as u64;
        }
        Ok(())
    })
}

fn open(path: &Path) -> Outcome<(File, u64)> {
    match open_regular(path) {
        Ok((file, about)) => Ok((file, about.len())),
        Err(error) if error.raw_os_error().is_none() => Err(Fault::new(libc::EINVAL, "not a regular file")),
        Err(error) => Err(error.into()),
    }
}

fn read(file: &File, at: u64, most: usize) -> Outcome<Vec<u8>> {
    let mut chunk = vec![0; most];
    let n = file.read_at(&mut chunk, at)?;
    if n == 0 {
        return Err(Fault::new(libc::EIO, "the file became shorter while it was sent"));
    }
    chunk.truncate(n);
    Ok(chunk)
}

/// Runs what may block on a disk: beside the loop in a coroutine, else here.
async fn apart<T: Send + 'static>(pace: Pace, job: impl FnOnce() -> Outcome<T> + Send + 'static) -> Outcome<T> {
    match pace {
        Pace::Loop(_) => match disk::start(job).await {
            Ok(outcome) => outcome,
            Err(error) => Err(Fault::new(libc::EIO, error.to_string())),
        },
        Pace::Block(_) | Pace::Try => job(),
    }
}
