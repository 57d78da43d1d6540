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
    /// A body of `total` bytes, of which `filled` are there. The kernel gives the memory pages only as they arrive, so a
    /// length that is announced and not sent costs nothing.
    Sized {
        bytes: Vec<u8>,
        filled: usize,
        total: usize,
    },
    /// Memory that grows with a chunked body.
    Growing(Vec<u8>),
    Form(Box<Form>),
}

/// Twice the memory, `total` at most; a failure is the client's answer, not the worker's end.
fn grow(bytes: &mut Vec<u8>, total: usize) -> Result<(), Reject> {
    let len = bytes.len().saturating_mul(2).min(total);
    bytes.try_reserve_exact(len - bytes.len()).map_err(|_| NO_MEMORY)?;
    bytes.resize(len, 0);
    Ok(())
}

impl Collecting {
    pub(crate) fn new(inner: Box<Inner>, decoder: BodyDecoder, config: &Config) -> Result<Self, Reject> {
        let form = if config.parse_multipart { Form::of(&inner, config)? } else { None };
        let into = match (form, &decoder) {
            (Some(form), _) => Collect::Form(Box::new(form)),
            (None, BodyDecoder::Length(length)) => {
                let length = usize::try_from(*length).map_err(|_| TOO_LARGE)?;
                Collect::Sized { bytes: vec![0; length.min(AT_ONCE)], filled: 0, total: length }
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
                    Collect::Sized { bytes, filled, total } => {
                        let to = *filled + data.len();
                        while to > bytes.len() && bytes.len() < *total {
                            grow(bytes, *total)?;
                        }
                        bytes.get_mut(*filled..to).ok_or(TOO_LARGE)?.copy_from_slice(data);
                        *filled = to;
                    }
                    Collect::Growing(bytes) => bytes.extend_from_slice(data),
                    Collect::Form(form) => form.feed(data)?,
                },
            }
        }
    }

    /// The body's own memory to read into, where there is some.
    pub(crate) fn space(&mut self) -> Result<Option<&mut [u8]>, Reject> {
        let Collect::Sized { bytes, filled, total } = &mut self.into else { return Ok(None) };
        if *filled == bytes.len() && bytes.len() < *total {
            grow(bytes, *total)?;
        }
        Ok((*filled < bytes.len()).then(|| &mut bytes[*filled..]))
    }

    /// `count` bytes were read into `space()`.
    pub(crate) fn filled(&mut self, count: usize) {
        if let (Collect::Sized { filled, .. }, BodyDecoder::Length(left)) = (&mut self.into, &mut self.decoder) {
            *filled += count;
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
