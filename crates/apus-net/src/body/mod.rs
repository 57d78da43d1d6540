//! The body of a request: collected before the program sees the request, or read while it arrives.

mod coded;
mod collect;
mod decode;
mod form;
mod spool;
mod stream;
mod temp;

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

pub(crate) use collect::Collecting;
pub(crate) use decode::{BodyDecoder, Piece};
pub(crate) use form::Form;
pub use stream::ReadChunk;
pub(crate) use stream::{BodyStream, Source};
pub use temp::TempFile;
pub(crate) use temp::sweep as sweep_temporary_files;

use crate::account::Share;

/// Why a body could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The client closed or reset the connection first.
    #[error("the client left before the end of the body")]
    Disconnected,
    /// The client sent less than the minimum rate.
    #[error("the body arrived too slowly")]
    TooSlow,
    /// The body is longer than the port allows.
    #[error("the body is larger than the port's limit")]
    TooLarge,
    /// The body's framing is broken.
    #[error("malformed body: {0}")]
    Malformed(&'static str),
    /// The response ended, so the rest of the body is gone.
    #[error("the body cannot be read after the response has ended")]
    Ended,
}

/// What PHP calls `UPLOAD_ERR_…`; the discriminants are PHP's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum UploadError {
    /// The file is complete.
    Ok = 0,
    /// Larger than `upload_max_filesize`.
    IniSize = 1,
    /// Larger than the form's own `MAX_FILE_SIZE`.
    FormSize = 2,
    /// The part ended early.
    Partial = 3,
    /// No file was chosen.
    NoFile = 4,
    /// The directory for uploads is missing.
    NoTmpDir = 6,
    /// The disk did not take it.
    CantWrite = 7,
}

/// A file of a multipart form, spooled to disk.
#[derive(Debug)]
pub struct UploadedFile {
    /// Name of the form field.
    pub field: Vec<u8>,
    /// File name as the client sent it.
    pub filename: Vec<u8>,
    /// Media type as the client sent it; empty when it sent none.
    pub content_type: Vec<u8>,
    /// Where the bytes are; `None` when `error` is not `Ok`.
    pub tmp: Option<TempFile>,
    /// Size in bytes; 0 when `error` is not `Ok`.
    pub size: u64,
    /// What went wrong.
    pub error: UploadError,
}

/// A body that was read before the request was handed over.
#[derive(Debug)]
pub enum Collected {
    /// The bytes as sent (after removal of the chunked coding).
    Raw(Bytes),
    /// A multipart form.
    Form {
        /// Name and value of each field, in order.
        fields: Vec<(Bytes, Bytes)>,
        /// The files, in order.
        files: Vec<UploadedFile>,
    },
}

/// The body of one request. Small, for a request is moved a few times.
pub struct Body {
    kind: Kind,
    content_length: Option<u64>,
}

enum Kind {
    Empty,
    Whole(Box<Whole>),
    Stream(Rc<BodyStream>),
}

/// A body that was waited for.
struct Whole {
    body: Collected,
    /// What `read_chunk` has handed out.
    read: Cell<usize>,
    trailers: Vec<(Vec<u8>, Vec<u8>)>,
    /// What it takes of the worker's memory.
    _share: Share,
}

impl Body {
    #[inline]
    pub(crate) fn empty(content_length: Option<u64>) -> Self {
        Self { kind: Kind::Empty, content_length }
    }

    pub(crate) fn collected_from(
        body: Collected,
        content_length: Option<u64>,
        trailers: Vec<(Vec<u8>, Vec<u8>)>,
        share: Share,
    ) -> Self {
        let whole = Whole { body, read: Cell::new(0), trailers, _share: share };
        Self { kind: Kind::Whole(Box::new(whole)), content_length }
    }

    pub(crate) fn streamed(stream: Rc<BodyStream>, content_length: Option<u64>) -> Self {
        Self { kind: Kind::Stream(stream), content_length }
    }

    /// The whole body; `None` when the port streams bodies and this request has one.
    pub fn collected(&self) -> Option<&Collected> {
        static NOTHING: Collected = Collected::Raw(Bytes::new());
        match &self.kind {
            Kind::Empty => Some(&NOTHING),
            Kind::Whole(whole) => Some(&whole.body),
            Kind::Stream(_) => None,
        }
    }

    /// The length the client announced; `None` with the chunked coding or without a body.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// The next bytes, at most `max`; `None` at the end. In streaming mode the socket is read only while such a future
    /// waits. A multipart form that was collected reads as empty. The future borrows nothing.
    pub fn read_chunk(&self, max: usize) -> ReadChunk {
        match &self.kind {
            Kind::Stream(stream) => ReadChunk::from_stream(Rc::clone(stream), max),
            Kind::Whole(whole) => ReadChunk::done(whole.next(max)),
            Kind::Empty => ReadChunk::done(None),
        }
    }

    /// Trailer fields (RFC 9110 section 6.5); in streaming mode empty until the end was read.
    pub fn trailers(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        match &self.kind {
            Kind::Stream(stream) => stream.trailers(),
            Kind::Whole(whole) => whole.trailers.clone(),
            Kind::Empty => Vec::new(),
        }
    }
}

impl Whole {
    fn next(&self, max: usize) -> Option<Bytes> {
        let Collected::Raw(bytes) = &self.body else { return None };
        let from = self.read.get();
        let to = from.saturating_add(max.max(1)).min(bytes.len());
        self.read.set(to);
        (from < to).then(|| bytes.slice(from..to))
    }
}
