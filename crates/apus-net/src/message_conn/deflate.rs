//! permessage-deflate on a message connection (RFC 7692): with contexts of its own where both sides keep them, else
//! with the worker's.

use std::cell::RefCell;

use apus_proto::websocket::deflate::{Deflater, Params};
use apus_proto::websocket::{Decoder, Limits, Opcode, Role, encode};
use bytes::BytesMut;

use super::MessageConn;

/// Decoders kept for message connections without a context of their own.
const KEEP: usize = 32;

/// What a message connection agreed upon.
pub(crate) struct Agreed {
    params: Params,
    /// Its own compressor, where the context is kept between messages or its window is not the usual one.
    own: Option<Deflater>,
}

/// What the message connections of a worker share that keep no context.
#[derive(Default)]
pub(crate) struct Shared {
    deflater: RefCell<Option<Deflater>>,
    #[allow(clippy::vec_box, reason = "a decoder moves as one pointer")]
    decoders: RefCell<Vec<Box<Decoder>>>,
}

impl Agreed {
    pub(crate) fn new(params: Params) -> Self {
        Self { params, own: None }
    }

    /// Whether the decompressor keeps its context between messages.
    fn keeps_inflater(&self) -> bool {
        !self.params.client_no_context_takeover
    }

    fn keeps_deflater(&self) -> bool {
        !self.params.server_no_context_takeover || self.params.server_max_window_bits != 15
    }
}

impl MessageConn {
    /// A decoder for messages that did not come whole, or compressed.
    pub(crate) fn take_decoder(&self) -> Box<Decoder> {
        let config = &self.port.config;
        let max = usize::try_from(config.max_message).unwrap_or(usize::MAX);
        let limits = Limits { max_frame: max, max_message: max, lenient: config.lenient };
        let extra = self.extra.borrow();
        match extra.as_ref().and_then(|extra| extra.deflate.as_ref()) {
            None => Box::new(Decoder::new(Role::Server, limits, None)),
            Some(agreed) if agreed.keeps_inflater() => {
                Box::new(Decoder::new(Role::Server, limits, Some(agreed.params.inflater(Role::Server))))
            }
            Some(agreed) => {
                let kept = self.conns.deflate.decoders.borrow_mut().pop();
                kept.map_or_else(
                    || Box::new(Decoder::new(Role::Server, limits, Some(agreed.params.inflater(Role::Server)))),
                    |mut decoder| {
                        decoder.set_limits(limits);
                        decoder
                    },
                )
            }
        }
    }

    /// Gives an idle decoder back, unless it holds the context of this very message connection.
    pub(crate) fn give_decoder(&self, decoder: Box<Decoder>) -> Option<Box<Decoder>> {
        let extra = self.extra.borrow();
        match extra.as_ref().and_then(|extra| extra.deflate.as_ref()) {
            None => None,
            Some(agreed) if agreed.keeps_inflater() => Some(decoder),
            Some(_) => {
                let mut kept = self.conns.deflate.decoders.borrow_mut();
                if kept.len() < KEEP {
                    kept.push(decoder);
                }
                None
            }
        }
    }

    pub(crate) fn agreed_deflate(&self) -> bool {
        self.extra.borrow().as_ref().is_some_and(|extra| extra.deflate.is_some())
    }

    /// The frame of a compressed message, where compression is agreed upon and worth it, or asked for.
    pub(crate) fn deflated(&self, opcode: Opcode, payload: &[u8], asked: bool) -> Option<BytesMut> {
        let config = &self.port.config;
        let mut extra = self.extra.borrow_mut();
        let agreed = extra.as_mut()?.deflate.as_mut()?;
        if !asked && payload.len() < config.compression_threshold {
            return None;
        }
        let mut shared = self.conns.deflate.deflater.borrow_mut();
        let slot = if agreed.keeps_deflater() { &mut agreed.own } else { &mut *shared };
        let deflater = slot.get_or_insert_with(|| agreed.params.deflater(Role::Server, config.compression_level));
        let mut compressed = BytesMut::new();
        if !deflater.deflate(payload, &mut compressed) {
            return None;
        }
        let mut frame = BytesMut::new();
        encode(&mut frame, opcode, true, true, &compressed, None);
        Some(frame)
    }
}
