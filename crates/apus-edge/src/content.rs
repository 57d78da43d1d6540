//! Sending a representation, or what a request wants of it: the one place for files of a directory and for those that a
//! program sends.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::rc::Rc;

use apus_net::proto::conditional::{Conditions, Part, Validators, Verdict};
use apus_net::proto::date::{imf_fixdate, parse_http_date};
use apus_net::{Responder, ResponseHead, SendError, WriteState};

/// Bytes read at once where several parts of a file are sent.
const READ: usize = 64 * 1024;

/// What is to be sent.
pub(crate) struct Content<'a> {
    /// The head with the fields that a 304 has, too: without Content-Type.
    pub(crate) head: ResponseHead,
    /// The media type.
    pub(crate) kind: &'a [u8],
    /// The entity tag with its quotes.
    pub(crate) etag: &'a [u8],
    /// Seconds since 1970; 0 for unknown.
    pub(crate) modified: u64,
    pub(crate) len: u64,
    pub(crate) source: Source,
}

/// Where its bytes are.
pub(crate) enum Source {
    Memory(Rc<dyn AsRef<[u8]>>),
    File(File),
}

/// Sends a file that a program has chosen; `head` is that of the whole file. What the program says itself of type,
/// state and ranges holds.
pub fn send_file(responder: &Responder, head: &ResponseHead, file: File, meta: &Metadata) -> Result<(), SendError> {
    let len = meta.len();
    let own = Own::of(&head.lines);
    if head.status != 200 || own.is_part {
        return responder.send_file(head, file, 0, len).map(drop);
    }
    let nanos = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    let asked = responder.asked();
    let now = asked.received_at as u64;
    let modified = match own.modified {
        Some(date) => parse_http_date(date, now).unwrap_or(0),
        None => u64::try_from(meta.mtime()).unwrap_or(0),
    };
    let etag = own.etag.map_or_else(|| etag(nanos, len).into_bytes(), <[u8]>::to_vec);
    let mut bare = ResponseHead { lines: Vec::with_capacity(head.lines.len() + 160), ..head.clone() };
    bare.lines.extend(own.without_type.iter().flat_map(|line| line.iter()));
    bare.has_content_type = false;
    bare.content_length = None;
    if own.modified.is_none() {
        bare.push_field(b"Last-Modified", &imf_fixdate(modified));
    }
    if own.etag.is_none() {
        bare.push_field(b"ETag", &etag);
    }
    let kind = own.kind.unwrap_or(b"application/octet-stream");
    let source = Source::File(file);
    let content = Content { head: bare, kind, etag: &etag, modified, len, source };
    content.send(&asked.conditions(), asked.get && !own.no_ranges, now, responder)
}

/// The entity tag of a file: when it was changed, in nanoseconds since 1970, and its length.
pub(crate) fn etag(nanos: i128, len: u64) -> String {
    format!("\"{nanos:x}-{len:x}\"")
}

/// What the lines of a head say of the representation.
#[derive(Default)]
struct Own<'a> {
    kind: Option<&'a [u8]>,
    etag: Option<&'a [u8]>,
    modified: Option<&'a [u8]>,
    /// No ranges are to be answered.
    no_ranges: bool,
    /// The program sends a part already.
    is_part: bool,
    /// All lines but that of the type.
    without_type: [&'a [u8]; 2],
}

impl<'a> Own<'a> {
    fn of(lines: &'a [u8]) -> Self {
        let mut own = Self { without_type: [lines, b""], ..Self::default() };
        let mut at = 0;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let start = at;
            at += line.len();
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            let is = |expected: &[u8]| name.eq_ignore_ascii_case(expected);
            match name.len() {
                4 if is(b"etag") => own.etag = Some(value),
                12 if is(b"content-type") => {
                    own.kind = Some(value);
                    own.without_type = [&lines[..start], &lines[at..]];
                }
                13 if is(b"last-modified") => own.modified = Some(value),
                13 if is(b"accept-ranges") => own.no_ranges = true,
                13 if is(b"content-range") => own.is_part = true,
                _ => {}
            }
        }
        own
    }
}

impl Content<'_> {
    /// Answers a GET (`get`) or HEAD that has these conditions and came at `now`, in seconds since 1970.
    pub(crate) fn send(
        mut self,
        conditions: &Conditions<'_>,
        get: bool,
        now: u64,
        responder: &Responder,
    ) -> Result<(), SendError> {
        // Its ranges and tag are those of the bytes as they are.
        self.head.plain = true;
        let current = Validators { etag: self.etag, modified: self.modified };
        let conditions = &conditions.clone().lenient(responder.is_lenient());
        match conditions.verdict(true, get, &current, self.len, now) {
            Verdict::Whole => {
                self.full(200, true);
                let whole = Part { first: 0, len: self.len };
                self.one(whole, responder)
            }
            Verdict::NotModified => {
                self.head.status = 304;
                responder.end(&self.head, b"")
            }
            Verdict::Failed => {
                responder.fail(412);
                Ok(())
            }
            Verdict::Unsatisfiable => {
                self.head.status = 416;
                self.head.push_field(b"Content-Range", format!("bytes */{}", self.len).as_bytes());
                responder.end(&self.head, b"")
            }
            Verdict::Parts(parts) => match parts[..] {
                [part] => {
                    self.full(206, !conditions.is_lenient());
                    self.head.push_field(b"Content-Range", content_range(part, self.len).as_bytes());
                    self.one(part, responder)
                }
                _ => self.several(&parts, !conditions.is_lenient(), responder),
            },
        }
    }

    /// Completes the head of an answer that has content. `tells`: that ranges can be asked for.
    fn full(&mut self, status: u16, tells: bool) {
        self.head.status = status;
        if tells && !has_accept_ranges(&self.head.lines) {
            self.head.push_field(b"Accept-Ranges", b"bytes");
        }
        self.head.push_field(b"Content-Type", self.kind);
        self.head.has_content_type = true;
    }

    fn one(self, part: Part, responder: &Responder) -> Result<(), SendError> {
        match self.source {
            Source::Memory(content) => {
                let range = part.first as usize..(part.first + part.len) as usize;
                let bytes = (*content).as_ref().get(range.clone()).unwrap_or_default();
                responder.end_shared(&self.head, bytes, || Box::new(Shared(Rc::clone(&content), range)))
            }
            Source::File(file) => responder.send_file(&self.head, file, part.first, part.len).map(drop),
        }
    }

    /// Several parts, as multipart/byteranges (RFC 9110 section 14.6).
    fn several(self, parts: &[Part], tells: bool, responder: &Responder) -> Result<(), SendError> {
        let boundary = boundary(self.etag);
        let mut head = self.head;
        head.status = 206;
        if tells {
            head.push_field(b"Accept-Ranges", b"bytes");
        }
        head.push_field(b"Content-Type", format!("multipart/byteranges; boundary={boundary}").as_bytes());
        head.has_content_type = true;
        let pieces: Vec<(Vec<u8>, Part)> = parts
            .iter()
            .enumerate()
            .map(|(at, part)| {
                let range = content_range(*part, self.len);
                let line_end = if at == 0 && !tells { "" } else { "\r\n" };
                let mut intro = format!("{line_end}--{boundary}\r\nContent-Type: ").into_bytes();
                intro.extend_from_slice(self.kind);
                intro.extend_from_slice(format!("\r\nContent-Range: {range}\r\n\r\n").as_bytes());
                (intro, *part)
            })
            .collect();
        let last = format!("\r\n--{boundary}--\r\n");
        match self.source {
            Source::Memory(content) => {
                let content = (*content).as_ref();
                let mut body = Vec::new();
                for (intro, part) in &pieces {
                    body.extend_from_slice(intro);
                    let range = part.first as usize..(part.first + part.len) as usize;
                    body.extend_from_slice(content.get(range).unwrap_or_default());
                }
                body.extend_from_slice(last.as_bytes());
                responder.end(&head, &body)
            }
            Source::File(file) => {
                let length = pieces.iter().map(|(intro, part)| intro.len() as u64 + part.len).sum::<u64>();
                head.content_length = Some(length + last.len() as u64);
                // The head leaves at once: from now on the answer has begun.
                responder.write(&head, b"")?;
                let responder = responder.clone();
                tokio::task::spawn_local(async move {
                    if stream(&head, &pieces, &last, &file, &responder).await.is_err() {
                        // The client sees that it has not got all.
                        responder.abort();
                    }
                });
                Ok(())
            }
        }
    }
}

/// Whether a head says already which ranges can be asked for.
fn has_accept_ranges(lines: &[u8]) -> bool {
    const NAME: &[u8] = b"accept-ranges:";
    lines
        .split(|byte| *byte == b'\n')
        .any(|line| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)))
}

async fn stream(
    head: &ResponseHead,
    pieces: &[(Vec<u8>, Part)],
    last: &str,
    file: &File,
    responder: &Responder,
) -> io::Result<()> {
    let mut buffer = vec![0; READ];
    for (intro, part) in pieces {
        write(head, intro, responder).await?;
        let (mut at, end) = (part.first, part.first + part.len);
        while at < end {
            let room = usize::try_from(end - at).unwrap_or(READ).min(READ);
            let count = file.read_at(&mut buffer[..room], at)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            write(head, &buffer[..count], responder).await?;
            at += count as u64;
        }
    }
    write(head, last.as_bytes(), responder).await?;
    responder.finish(head, &[]).map_err(io::Error::other)
}

/// Writes once there is room.
async fn write(head: &ResponseHead, bytes: &[u8], responder: &Responder) -> io::Result<()> {
    loop {
        match responder.write(head, bytes) {
            Ok(WriteState::Sent) => return Ok(()),
            Ok(WriteState::Buffered(_)) => return responder.writable().await.map_err(io::Error::other),
            Err(SendError::Full) => responder.writable().await.map_err(io::Error::other)?,
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

/// A part of what is in memory, for as long as the client takes to read it.
struct Shared(Rc<dyn AsRef<[u8]>>, Range<usize>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref().get(self.1.clone()).unwrap_or_default()
    }
}

fn content_range(part: Part, len: u64) -> String {
    format!("bytes {}-{}/{len}", part.first, part.first + part.len - 1)
}

/// What stands between parts. Nobody who could not write the file can choose content that holds it: it has the time
/// of the change in nanoseconds, or what else the program makes its tags of.
fn boundary(etag: &[u8]) -> String {
    let tag: String =
        etag.iter().filter(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').map(|byte| *byte as char).collect();
    format!("apus-part-{}", &tag[..tag.len().min(50)])
}
