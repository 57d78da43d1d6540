//! Reading a whole body before the program sees the request.

use std::rc::Rc;

use apus_proto::http1::{Framing, Noted, Reject, Trailer};

use super::coded::Uncoder;
use super::decode::{BodyDecoder, Piece, TOO_LARGE};
use super::form::Form;
use super::spool::Spool;
use super::{Body, Collected};
use crate::account::{Share, leaving_reserve};
use crate::config::Config;
use crate::head_bytes::Inner;

/// Bytes of an announced body that memory is reserved for at once; more as it arrives.
const AT_ONCE: usize = 8 << 20;
pub(crate) const NO_MEMORY: Reject = Reject::new(503, "not enough memory for the request body");

/// A request whose body is on its way.
pub(crate) struct Collecting {
    inner: Box<Inner>,
    decoder: BodyDecoder,
    into: Collect,
    /// What takes the body's content coding off.
    uncoder: Option<Box<Uncoder>>,
    config: Rc<Config>,
    /// Of the worker's memory.
    share: Share,
}

/// Where the bytes go.
pub(crate) enum Collect {
    /// A body of `total` bytes. The kernel gives the memory pages only as they arrive, so a length that is announced
    /// and not sent costs nothing.
    Sized {
        bytes: Vec<u8>,
        total: usize,
    },
    /// Memory that grows with a chunked body.
    Growing(Vec<u8>),
    /// A body for which the worker has no memory left.
    File(Spool),
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
    pub(crate) fn new(
        inner: Box<Inner>,
        decoder: BodyDecoder,
        config: &Rc<Config>,
        share: Share,
    ) -> Result<Self, Reject> {
        let mut uncoder = None;
        if config.decode_ratio > 0 && inner.head.noted.has(Noted::CONTENT_ENCODING) {
            uncoder = Uncoder::of(&inner, config.max_body, config.decode_ratio)?.map(Box::new);
        }
        let form = if config.parse_multipart { Form::of(&inner, config)? } else { None };
        let into = match (form, &decoder) {
            (Some(form), _) => Collect::Form(Box::new(form)),
            _ if uncoder.is_some() => Collect::Growing(Vec::new()),
            (None, BodyDecoder::Length(length)) => {
                let length = usize::try_from(*length).map_err(|_| TOO_LARGE)?;
                Collect::Sized { bytes: Vec::new(), total: length }
            }
            (None, BodyDecoder::Chunked { .. } | BodyDecoder::Stream { .. }) => Collect::Growing(Vec::new()),
        };
        Ok(Self { inner, decoder, into, uncoder, config: Rc::clone(config), share })
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
                Piece::Data(data) if self.uncoder.is_some() => self.uncode(data)?,
                Piece::Data(data) => self.store(data)?,
            }
        }
    }

    #[cold]
    fn uncode(&mut self, data: &[u8]) -> Result<(), Reject> {
        let Some(mut uncoder) = self.uncoder.take() else { return Ok(()) };
        uncoder.push(data, |data| self.store(data))?;
        self.uncoder = Some(uncoder);
        Ok(())
    }

    /// The body has come. What it was sent in is nothing that the program has to know.
    #[cold]
    fn uncoded(&mut self, uncoder: &mut Uncoder) -> Result<(), Reject> {
        uncoder.finish(|data| self.store(data))?;
        self.inner.forget_coding();
        Ok(())
    }

    fn store(&mut self, data: &[u8]) -> Result<(), Reject> {
        if let Collect::Form(form) = &mut self.into {
            return form.feed(data, &mut self.share);
        }
        if matches!(self.into, Collect::Sized { .. } | Collect::Growing(_))
            && !self.share.take(data.len(), self.bound())
        {
            self.spool()?;
        }
        match &mut self.into {
            Collect::Sized { bytes, total } => {
                make_room(bytes, *total)?;
                bytes.extend_from_slice(data);
            }
            Collect::Growing(bytes) => {
                bytes.try_reserve(data.len()).map_err(|_| NO_MEMORY)?;
                bytes.extend_from_slice(data);
            }
            Collect::File(spool) => return spool.append(data).map(drop).map_err(|_| self.no_room()),
            Collect::Form(_) => {}
        }
        Ok(())
    }

    /// Bytes that all bodies of the worker together may have in memory.
    fn bound(&self) -> usize {
        leaving_reserve(self.config.max_incoming)
    }

    /// Goes on in a file.
    #[cold]
    fn spool(&mut self) -> Result<(), Reject> {
        let bytes = match &mut self.into {
            Collect::Sized { bytes, .. } | Collect::Growing(bytes) => std::mem::take(bytes),
            Collect::File(_) | Collect::Form(_) => return Ok(()),
        };
        let spooled = Spool::create(&self.config.upload_dir).and_then(|mut spool| spool.append(&bytes).map(|_| spool));
        self.into = Collect::File(spooled.map_err(|_| self.no_room())?);
        self.share.set(0);
        Ok(())
    }

    /// Neither memory nor a file can be had.
    fn no_room(&self) -> Reject {
        self.share.press(self.config.max_incoming);
        NO_MEMORY
    }

    /// The body's own memory to read into, where its length is known, and how much is to be read at most.
    pub(crate) fn memory(&mut self) -> Result<Option<(&mut Vec<u8>, usize)>, Reject> {
        let room = self.share.room(self.bound());
        if room == 0 {
            self.spool()?;
        }
        let Collect::Sized { bytes, total } = &mut self.into else { return Ok(None) };
        make_room(bytes, *total)?;
        let left = *total - bytes.len();
        Ok(Some((bytes, left.min(room))))
    }

    /// `count` bytes were read into `memory()`.
    pub(crate) fn received(&mut self, count: usize) {
        // `memory` left room for them.
        self.share.take(count, usize::MAX);
        if let BodyDecoder::Length(left) = &mut self.decoder {
            *left = left.saturating_sub(count as u64);
        }
    }

    /// The complete request.
    pub(crate) fn finish(mut self) -> Result<(Box<Inner>, Body), Reject> {
        let trailers = self.decoder.take_trailers();
        self.finish_with(trailers)
    }

    /// The same, with trailer fields that came by themselves.
    pub(crate) fn finish_with(mut self, trailers: Vec<Trailer>) -> Result<(Box<Inner>, Body), Reject> {
        let coded = self.uncoder.take();
        if let Some(mut uncoder) = coded {
            self.uncoded(&mut uncoder)?;
        }
        let collected = match self.into {
            Collect::Sized { bytes, .. } | Collect::Growing(bytes) => Collected::Raw(bytes.into()),
            Collect::File(spool) => Collected::Raw(spool.map().map_err(|_| NO_MEMORY)?),
            Collect::Form(form) => form.finish()?,
        };
        let length = match self.inner.head.framing {
            Framing::Length(length) => Some(length),
            _ => None,
        };
        self.share.settle();
        Ok((self.inner, Body::collected_from(collected, length, trailers, self.share)))
    }
}
