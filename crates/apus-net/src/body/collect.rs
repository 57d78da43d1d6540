//! Reading a whole body before the program sees the request.

use apus_proto::http1::{Framing, Reject};

use super::decode::{BodyDecoder, Piece, TOO_LARGE};
use super::form::Form;
use super::{Body, Collected};
use crate::config::Config;
use crate::request::Inner;

/// A request whose body is on its way.
pub(crate) struct Collecting {
    inner: Box<Inner>,
    decoder: BodyDecoder,
    into: Collect,
}

/// Where the bytes go.
pub(crate) enum Collect {
    /// Memory of the announced length, of which `filled` bytes are there. The kernel gives it pages only as they arrive.
    Sized {
        bytes: Vec<u8>,
        filled: usize,
    },
    /// Memory that grows with a chunked body.
    Growing(Vec<u8>),
    Form(Box<Form>),
}

impl Collecting {
    pub(crate) fn new(inner: Box<Inner>, decoder: BodyDecoder, config: &Config) -> Result<Self, Reject> {
        let form = if config.parse_multipart { Form::of(&inner, config)? } else { None };
        let into = match (form, &decoder) {
            (Some(form), _) => Collect::Form(Box::new(form)),
            (None, BodyDecoder::Length(length)) => {
                let length = usize::try_from(*length).map_err(|_| TOO_LARGE)?;
                Collect::Sized { bytes: vec![0; length], filled: 0 }
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
                    Collect::Sized { bytes, filled } => {
                        let to = *filled + data.len();
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
    pub(crate) fn space(&mut self) -> Option<&mut [u8]> {
        match &mut self.into {
            Collect::Sized { bytes, filled } if *filled < bytes.len() => Some(&mut bytes[*filled..]),
            _ => None,
        }
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
