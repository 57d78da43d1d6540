//! Reading a whole body before the program sees the request.

use apus_proto::http1::{Framing, Reject};

use super::decode::{BodyDecoder, Piece, TOO_LARGE};
use super::form::Form;
use super::{Body, Collected};
use crate::config::Config;
use crate::request::Inner;

/// Bytes of an announced body that memory is reserved for at once; more as it arrives.
const AT_ONCE: usize = 8 << 20;
const NO_MEMORY: Reject = Reject::new(503, "not enough memory for the request body");

/// A request whose body is on its way.
pub(crate) struct Collecting {
    inner: Box<Inner>,
    decoder: BodyDecoder,
    into: Collect,
}

/// Where the bytes go.
pub(crate) enum Collect {
    /// A body of `total` bytes. The kernel gives the memory pages only as they arrive, so a length that is announced and
    /// not sent costs nothing.
    Sized {
        bytes: Vec<u8>,
        total: usize,
    },
    /// Memory that grows with a chunked body.
    Growing(Vec<u8>),
    Form(Box<Form>),
}

/// Makes room for the next bytes of a body of `total`; a failure is the client's answer, not the worker's end.
fn make_room(bytes: &mut Vec<u8>, total: usize) -> Result<(), Reject> {
    if bytes.len() < bytes.capacity() {
        return Ok(());
    }
    let capacity = bytes.capacity().saturating_mul(2).clamp(AT_ONCE.min(total), total);
    bytes.try_reserve_exact(capacity.saturating_sub(bytes.len())).map_err(|_| NO_MEMORY)
}

impl Collecting {
    pub(crate) fn new(inner: Box<Inner>, decoder: BodyDecoder, config: &Config) -> Result<Self, Reject> {
        let form = if config.parse_multipart { Form::of(&inner, config)? } else { None };
        let into = match (form, &decoder) {
            (Some(form), _) => Collect::Form(Box::new(form)),
            (None, BodyDecoder::Length(length)) => {
                let length = usize::try_from(*length).map_err(|_| TOO_LARGE)?;
                Collect::Sized { bytes: Vec::new(), total: length }
            }
            (None, BodyDecoder::Chunked { .. }) => Collect::Growing(Vec::new()),
        };
        Ok(Self { inner, decoder, into })
    }

    /// Takes bytes of the body: how many, and whether the body is complete.
    pub(crate) fn feed(&mut self, input: &[u8]) -> Result<(usize, bool), Reject> {
        let mut used = 0;
        loop {
            let (count, piece) = self.decoder.next(&input[used..])?;
            used += count;
            match piece {
                Piece::NeedMore => return Ok((used, false)),
                Piece::End => return Ok((used, true)),
                Piece::Data(data) => match &mut self.into {
                    Collect::Sized { bytes, total } => {
                        make_room(bytes, *total)?;
                        bytes.extend_from_slice(data);
                    }
                    Collect::Growing(bytes) => bytes.extend_from_slice(data),
                    Collect::Form(form) => form.feed(data)?,
                },
            }
        }
    }

    /// The body's own memory to read into, where its length is known, and how much is to be read.
    pub(crate) fn memory(&mut self) -> Result<Option<(&mut Vec<u8>, usize)>, Reject> {
        let Collect::Sized { bytes, total } = &mut self.into else { return Ok(None) };
        make_room(bytes, *total)?;
        let left = *total - bytes.len();
        Ok(Some((bytes, left)))
    }

    /// `count` bytes were read into `memory()`.
    pub(crate) fn received(&mut self, count: usize) {
        if let BodyDecoder::Length(left) = &mut self.decoder {
            *left = left.saturating_sub(count as u64);
        }
    }

    /// The complete request.
    pub(crate) fn finish(mut self) -> (Box<Inner>, Body) {
        let collected = match self.into {
            Collect::Sized { bytes, .. } | Collect::Growing(bytes) => Collected::Raw(bytes.into()),
            Collect::Form(form) => form.finish(),
        };
        let length = match self.inner.head.framing {
            Framing::Length(length) => Some(length),
            _ => None,
        };
        let trailers = self.decoder.take_trailers();
        (self.inner, Body::collected_from(collected, length, trailers))
    }
}
