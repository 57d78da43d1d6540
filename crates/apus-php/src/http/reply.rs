//! An answer from another process than the one that has the connection, as bytes; and its doing there.
//!
//! ```text
//! step u8, flags u8, status u16, content length u64, reason u16 + bytes, lines u32 + bytes,
//! trailers u16, each u16 + name, u32 + value; the body (of a file: offset u64, length u64, path)
//! ```

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use apus_loop::disk::open_regular;
use apus_net::{Responder, ResponseHead, SendError};
use apus_zend::Raise;

use super::answer::Answer;
use crate::{exception, last_error};

/// What is to be done of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A piece of the body; the first one has the head before it.
    Write,
    /// The last piece.
    End,
    /// A file is the body.
    File,
    /// The connection is cut.
    Abort,
}

const STEPS: [Step; 4] = [Step::Write, Step::End, Step::File, Step::Abort];

/// Field lines behind the body.
pub(super) type Trailers = Vec<(Vec<u8>, Vec<u8>)>;

fn flags(head: &ResponseHead) -> u8 {
    let each = [
        head.has_date,
        head.has_server,
        head.has_content_type,
        head.close,
        head.tell_keep_alive,
        head.content_length.is_some(),
        head.plain,
    ];
    each.iter().enumerate().fold(0, |flags, (bit, on)| flags | u8::from(*on) << bit)
}

/// Writes it down.
pub(super) fn encode(step: Step, head: &ResponseHead, trailers: &Trailers, body: &[u8]) -> Vec<u8> {
    let reason = head.reason.as_deref().unwrap_or_default();
    let mut out = Vec::with_capacity(32 + reason.len() + head.lines.len() + body.len());
    out.extend_from_slice(&[step as u8, flags(head)]);
    out.extend_from_slice(&head.status.to_le_bytes());
    out.extend_from_slice(&head.content_length.unwrap_or_default().to_le_bytes());
    put_short(&mut out, reason);
    put_long(&mut out, &head.lines);
    out.extend_from_slice(&(trailers.len() as u16).to_le_bytes());
    for (name, value) in trailers.iter().take(usize::from(u16::MAX)) {
        put_short(&mut out, name);
        put_long(&mut out, value);
    }
    out.extend_from_slice(body);
    out
}

/// What is longer than its length can say is cut.
fn put_short(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn put_long(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The body of a file's answer.
pub(super) fn file(path: &Path, offset: u64, length: u64) -> Vec<u8> {
    [&offset.to_le_bytes()[..], &length.to_le_bytes(), path.as_os_str().as_bytes()].concat()
}

/// Opens a file and checks that it has the part that is to be sent. A length of 0 means: to its end.
pub(super) fn open_part(path: &Path, offset: i64, length: i64) -> Result<(File, u64), Raise> {
    let failed =
        |why: &str| exception::throw(exception::code::http::FILE, &format!("{} cannot be sent: {why}", path.display()));
    let (file, meta) = open_regular(path).map_err(|error| failed(&error.to_string()))?;
    let rest = u64::try_from(offset).ok().and_then(|offset| meta.len().checked_sub(offset));
    let Some(rest) = rest else {
        return Err(failed(&format!("offset {offset} lies outside its {} bytes", meta.len())));
    };
    match u64::try_from(length) {
        Ok(0) => Ok((file, rest)),
        Ok(length) if length <= rest => Ok((file, length)),
        _ => Err(failed(&format!("it has {rest} bytes from offset {offset} on, {length} were asked for"))),
    }
}

/// Sends a part of a file; of a whole one what the request wants of it.
pub(super) fn send_part(
    responder: &Responder,
    head: &ResponseHead,
    file: File,
    (offset, length): (u64, u64),
    whole: bool,
) -> Result<(), SendError> {
    if whole && let Ok(meta) = file.metadata() {
        return apus_edge::send_file(responder, head, file, &meta);
    }
    responder.send_file(head, file, offset, length).map(drop)
}

/// One that was read.
pub(crate) struct Reply<'a> {
    step: Step,
    head: ResponseHead,
    trailers: Vec<(&'a [u8], &'a [u8])>,
    body: &'a [u8],
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(first)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn short(&mut self) -> Option<&'a [u8]> {
        let len = u16::from_le_bytes(self.number()?);
        self.take(usize::from(len))
    }

    fn long(&mut self) -> Option<&'a [u8]> {
        let len = u32::from_le_bytes(self.number()?);
        self.take(len as usize)
    }
}

impl<'a> Reply<'a> {
    /// `None` for what makes no sense.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut at = Reader(bytes);
        let [step, flags] = at.number()?;
        let step = *STEPS.get(usize::from(step))?;
        let on = |bit: u8| flags & 1 << bit != 0;
        let mut head = ResponseHead::new(u16::from_le_bytes(at.number()?));
        let length = u64::from_le_bytes(at.number()?);
        let reason = at.short()?;
        head.reason = (!reason.is_empty()).then(|| reason.to_vec());
        head.lines = at.long()?.to_vec();
        (head.has_date, head.has_server, head.has_content_type) = (on(0), on(1), on(2));
        (head.close, head.tell_keep_alive) = (on(3), on(4));
        head.content_length = on(5).then_some(length);
        head.plain = on(6);
        let count = u16::from_le_bytes(at.number()?);
        let trailers = (0..count).map(|_| Some((at.short()?, at.long()?))).collect::<Option<Vec<_>>>()?;
        Some(Self { step, head, trailers, body: at.0 })
    }

    pub(super) fn step(&self) -> Step {
        self.step
    }

    pub(super) fn head(&self) -> &ResponseHead {
        &self.head
    }

    pub(super) fn trailers(&self) -> &[(&'a [u8], &'a [u8])] {
        &self.trailers
    }

    pub(super) fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Of a file's answer: what it has, in memory. `None` when it cannot be read, or is longer than a string may be.
    pub(super) fn file_content(&self) -> Option<Vec<u8>> {
        let mut at = Reader(self.body);
        let (offset, length) = (u64::from_le_bytes(at.number()?), u64::from_le_bytes(at.number()?));
        let (mut file, meta) = open_regular(Path::new(std::ffi::OsStr::from_bytes(at.0))).ok()?;
        let length = length.min(meta.len().checked_sub(offset)?);
        let mut content = Vec::new();
        content.try_reserve_exact(usize::try_from(length).ok()?).ok()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        file.take(length).read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// Does it. `Full`: nothing was done, for as much waits for the client as its port allows.
    pub(crate) fn perform(&self, responder: &Responder) -> Result<(), SendError> {
        match self.step {
            Step::Write => responder.write(&self.head, self.body).map(drop),
            Step::End if self.trailers.is_empty() => responder.end(&self.head, self.body),
            Step::End => {
                if !self.body.is_empty() {
                    responder.write(&self.head, self.body)?;
                }
                responder.finish(&self.head, &self.trailers)
            }
            Step::File => self.send_file(responder),
            Step::Abort => {
                responder.abort();
                Ok(())
            }
        }
    }

    /// The other process has looked at the file; one that is gone since then is an answer that failed.
    fn send_file(&self, responder: &Responder) -> Result<(), SendError> {
        let mut at = Reader(self.body);
        let part = at.number().zip(at.number()).map(|(o, l)| (u64::from_le_bytes(o), u64::from_le_bytes(l)));
        let path = Path::new(std::ffi::OsStr::from_bytes(at.0));
        match (part, open_regular(path)) {
            (Some((0, u64::MAX)), Ok((file, _))) => send_part(responder, &self.head, file, (0, 0), true),
            (Some((offset, length)), Ok((file, meta)))
                if offset.checked_add(length).is_some_and(|end| end <= meta.len()) =>
            {
                responder.send_file(&self.head, file, offset, length).map(drop)
            }
            _ => {
                responder.fail(500);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> ResponseHead {
        let mut head = ResponseHead::new(404);
        head.reason = Some(b"Gone Fishing".to_vec());
        head.push_field(b"X-A", b"1");
        (head.has_server, head.close, head.content_length, head.plain) = (true, true, Some(7), true);
        head
    }

    #[test]
    fn replies_survive_the_way() {
        let trailers = vec![(b"t".to_vec(), b"v".to_vec()), (b"u".to_vec(), Vec::new())];
        for step in STEPS {
            let bytes = encode(step, &head(), &trailers, b"body");
            let reply = Reply::decode(&bytes).unwrap();
            assert_eq!((reply.step, reply.body), (step, &b"body"[..]));
            assert_eq!((reply.head.status, reply.head.content_length), (404, Some(7)));
            assert_eq!(reply.head.reason, head().reason);
            assert_eq!(reply.head.lines, head().lines);
            assert!(reply.head.has_server && reply.head.close && !reply.head.has_date && !reply.head.tell_keep_alive);
            assert_eq!(reply.trailers, [(&b"t"[..], &b"v"[..]), (&b"u"[..], &b""[..])]);
            for len in 0..bytes.len() - 4 {
                assert!(Reply::decode(&bytes[..len]).is_none(), "cut to {len}");
            }
        }
        assert!(Reply::decode(&[9; 40]).is_none());
    }
}

thread_local! {
    /// Bytes that `end()` takes of code written for Swoole: its `buffer_output_size`, where that is given.
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Has `end()` refuse longer answers in this process.
pub(crate) fn bound_answers(most: usize) {
    MOST.set(most);
}

/// Bytes that `end()` takes.
pub(super) fn most() -> usize {
    MOST.get()
}

/// `SWOOLE_ERROR_DATA_LENGTH_TOO_LARGE`
const TOO_LARGE: i64 = 1203;

/// An answer is too long: none is given, as there.
#[cold]
pub(super) fn refuse_long(answer: &Answer, length: usize) -> bool {
    if let Answer::Here(responder) = answer {
        responder.abort();
    }
    let most = MOST.get();
    apus_process::log::warning(format_args!(
        "ProcessFactory::finish() (ERRNO {TOO_LARGE}): The length of data [{length}] exceeds the output buffer \
         size[{most}], please use the sendfile, chunked transfer mode or adjust the output_buffer_size"
    ));
    last_error::fail(TOO_LARGE)
}
