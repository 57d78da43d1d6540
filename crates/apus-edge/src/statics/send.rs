//! Sending a page, or what a request wants of it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use apus_net::proto::conditional::{Conditions, Part, Validators, Verdict};
use apus_net::{Request, Responder, ResponseHead, SendError, WriteState};

use super::find::Page;

/// Bytes read at once where several parts of a file are sent.
const READ: usize = 64 * 1024;

/// What a request says, kept for after it.
pub(super) struct Asking {
    /// GET, not HEAD.
    get: bool,
    /// Seconds since 1970.
    pub(super) received_at: f64,
    pub(super) query: Option<Box<[u8]>>,
    /// The fields that may make it conditional.
    fields: Vec<Field>,
}

/// Name and value.
type Field = (Box<[u8]>, Box<[u8]>);

impl Asking {
    pub(super) fn of(request: &Request) -> Self {
        let matters = |name: &[u8]| {
            name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(b"if-")) || name.eq_ignore_ascii_case(b"range")
        };
        Self {
            get: request.method() == b"GET",
            received_at: request.received_at(),
            query: request.query().map(Into::into),
            fields: request
                .headers()
                .filter(|(name, _)| matters(name))
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }

    /// Sends a page; `file` is open where it is not in memory.
    pub(super) fn send(&self, page: &Rc<Page>, responder: &Responder, file: Option<File>) {
        let conditions = Conditions::read(self.fields.iter().map(|(name, value)| (&**name, &**value)));
        let content = Content { page, file };
        content.send(verdict(page, &conditions, self.get, self.received_at), responder);
    }
}

/// Sends a page that is in memory.
pub(super) fn from_memory(page: &Rc<Page>, request: &Request, responder: &Responder) {
    let conditions = Conditions::read(request.headers());
    let verdict = verdict(page, &conditions, request.method() == b"GET", request.received_at());
    Content { page, file: None }.send(verdict, responder);
}

/// Sends a document of our own.
pub(super) fn html(responder: &Responder, text: &str) {
    let mut head = ResponseHead::new(200);
    head.push_field(b"Content-Type", b"text/html; charset=UTF-8");
    head.has_content_type = true;
    // A client that is gone needs no answer.
    let _ = responder.end(&head, text.as_bytes());
}

fn verdict(page: &Page, conditions: &Conditions<'_>, get: bool, now: f64) -> Verdict {
    let current = Validators { etag: page.etag.as_bytes(), modified: page.modified };
    conditions.verdict(true, get, &current, page.len, now as u64)
}

struct Content<'a> {
    page: &'a Rc<Page>,
    file: Option<File>,
}

impl Content<'_> {
    fn send(self, verdict: Verdict, responder: &Responder) {
        // A client that is gone needs no answer.
        let _ = match verdict {
            Verdict::Whole => {
                let (head, part) = (self.head(200), Part { first: 0, len: self.page.len });
                self.one(&head, part, responder)
            }
            Verdict::NotModified => responder.end(&self.bare(304), b""),
            Verdict::Failed => return responder.fail(412),
            Verdict::Unsatisfiable => {
                let mut head = self.bare(416);
                head.push_field(b"Content-Range", format!("bytes */{}", self.page.len).as_bytes());
                responder.end(&head, b"")
            }
            Verdict::Parts(parts) => match parts[..] {
                [part] => {
                    let mut head = self.head(206);
                    head.push_field(b"Content-Range", content_range(part, self.page.len).as_bytes());
                    self.one(&head, part, responder)
                }
                _ => return self.several(&parts, responder),
            },
        };
    }

    /// A head with the fields that a 304 has, too.
    fn bare(&self, status: u16) -> ResponseHead {
        let mut head = ResponseHead::new(status);
        head.lines.clone_from(&self.page.lines);
        head
    }

    fn head(&self, status: u16) -> ResponseHead {
        let mut head = self.bare(status);
        head.push_field(b"Accept-Ranges", b"bytes");
        head.push_field(b"Content-Type", self.page.kind.as_bytes());
        head.has_content_type = true;
        head
    }

    fn one(self, head: &ResponseHead, part: Part, responder: &Responder) -> Result<(), SendError> {
        match (&self.page.body, self.file) {
            (Some(body), _) => {
                let range = part.first as usize..(part.first + part.len) as usize;
                responder.end_shared(head, &body[range.clone()], || Box::new(Shared(Rc::clone(self.page), range)))
            }
            (None, Some(file)) => responder.send_file(head, file, part.first, part.len).map(drop),
            (None, None) => {
                responder.fail(500);
                Ok(())
            }
        }
    }

    /// Several parts, as multipart/byteranges (RFC 9110 section 14.6).
    fn several(self, parts: &[Part], responder: &Responder) {
        let boundary = boundary(self.page);
        let mut head = self.bare(206);
        head.push_field(b"Accept-Ranges", b"bytes");
        head.push_field(b"Content-Type", format!("multipart/byteranges; boundary={boundary}").as_bytes());
        head.has_content_type = true;
        let pieces: Vec<(String, Part)> = parts
            .iter()
            .map(|part| {
                let (kind, range) = (&self.page.kind, content_range(*part, self.page.len));
                (format!("\r\n--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: {range}\r\n\r\n"), *part)
            })
            .collect();
        let last = format!("\r\n--{boundary}--\r\n");
        match (&self.page.body, self.file) {
            (Some(content), _) => {
                let mut body = Vec::new();
                for (intro, part) in &pieces {
                    body.extend_from_slice(intro.as_bytes());
                    body.extend_from_slice(&content[part.first as usize..(part.first + part.len) as usize]);
                }
                body.extend_from_slice(last.as_bytes());
                // A client that is gone needs no answer.
                let _ = responder.end(&head, &body);
            }
            (None, Some(file)) => {
                let length = pieces.iter().map(|(intro, part)| intro.len() as u64 + part.len).sum::<u64>();
                head.content_length = Some(length + last.len() as u64);
                let responder = responder.clone();
                tokio::task::spawn_local(async move {
                    if stream(&head, &pieces, &last, &file, &responder).await.is_err() {
                        // The client sees that it has not got all.
                        responder.abort();
                    }
                });
            }
            (None, None) => responder.fail(500),
        }
    }
}

async fn stream(
    head: &ResponseHead,
    pieces: &[(String, Part)],
    last: &str,
    file: &File,
    responder: &Responder,
) -> io::Result<()> {
    let mut buffer = vec![0; READ];
    for (intro, part) in pieces {
        write(head, intro.as_bytes(), responder).await?;
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

/// A part of a page, for as long as the client takes to read it.
struct Shared(Rc<Page>, Range<usize>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.body.as_deref().and_then(|body| body.get(self.1.clone())).unwrap_or_default()
    }
}

fn content_range(part: Part, len: u64) -> String {
    format!("bytes {}-{}/{len}", part.first, part.first + part.len - 1)
}

/// What stands between parts. Nobody who could not write the file can choose content that holds it: it has the time
/// of the change in nanoseconds.
fn boundary(page: &Page) -> String {
    format!("apus-part-{}", page.etag.trim_matches('"'))
}
