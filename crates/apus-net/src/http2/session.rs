//! A connection: what it consists of, and the frames one after the other.

use apus_proto::http1::RequestHead;
use apus_proto::http2::frame::{HEADER_LEN, Settings, kind, too_long};
use apus_proto::http2::hpack::Encoder;
use apus_proto::http2::{
    DEFAULT_FRAME, ErrorCode, Frame, FrameError, FrameHeader, HeadDecoder, KnownLines, PREFACE, Priority, Setting,
    write,
};

use super::Limits;
use super::control::Going;
use super::head_block::HeadBlock;
use super::stream::{End, Stream, Streams};
use crate::mux::{Budget, Schedule};

/// The window that both sides begin with (RFC 9113 section 6.9.2).
pub(super) const FIRST_WINDOW: u32 = 65_535;

/// What has happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A request: its head is in the memory that [`Session::read`] was given. Whoever handles it calls
    /// [`Session::finish`] at the end, whatever happens to the stream.
    Request {
        /// Its stream.
        stream: u32,
        /// There is no body.
        end_stream: bool,
    },
    /// A piece of a body. It counts against the windows until [`Session::consumed`].
    Data {
        /// Its stream.
        stream: u32,
        /// The piece; may be empty at the end.
        data: &'a [u8],
        /// The body is complete.
        end_stream: bool,
    },
    /// The end of a body, with a trailer section: the fields are the `headers` of the head that [`Session::read`] was
    /// given.
    Trailers {
        /// Its stream.
        stream: u32,
    },
    /// The stream is broken off, by the peer or because of what it sent. Nothing can be sent on it any more. What its
    /// handler holds of the body counts against the connection's window as before: [`Session::discard`] if it is
    /// dropped.
    Reset {
        /// The stream.
        stream: u32,
        /// Why.
        code: ErrorCode,
    },
}

/// How far [`Session::read`] came.
#[derive(Debug, PartialEq, Eq)]
pub struct Read<'a> {
    /// Bytes of the input that are done with.
    pub used: usize,
    /// What happened; `None`: more input is needed, or room for output ([`Session::wants_input`]).
    pub event: Option<Event<'a>>,
}

/// The connection is over: send what [`Session::fill`] still gives, and close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", code.name())]
pub struct Closed {
    /// What the peer is told.
    pub code: ErrorCode,
    /// What is wrong, for the log.
    pub reason: &'static str,
}

/// What the peer's settings say.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeerSettings {
    pub(super) max_frame: usize,
    pub(super) window: u32,
}

/// A server's side of a connection. See the [module](crate::http2) for how it is driven.
#[derive(Debug)]
pub struct Session {
    pub(super) limits: Limits,
    pub(super) heads: HeadDecoder,
    pub(super) encoder: Encoder,
    /// Lines of heads that were sent.
    pub(super) known_lines: KnownLines,
    pub(super) peer: PeerSettings,
    pub(super) streams: Streams,
    pub(super) schedule: Schedule,
    /// Control frames and heads that are to be sent before any data.
    pub(super) out: Vec<u8>,
    /// Bytes of the client's preface that have not come.
    preface: usize,
    /// The client's first SETTINGS have come.
    pub(super) greeted: bool,
    /// Until when our settings have to be acknowledged.
    pub(super) settings_due: Option<u64>,
    /// The window that new streams of the peer begin with.
    pub(super) first_window: u32,
    /// What the peer may still send on the connection.
    pub(super) receive_window: i64,
    /// Bytes that were taken, and that the peer may send again but was not told so.
    pub(super) released: u32,
    /// What we may send on the connection.
    pub(super) send_window: i64,
    /// The highest stream that the peer has begun.
    pub(super) highest: u32,
    /// A head that is not complete.
    pub(super) block: Option<HeadBlock>,
    /// Priorities of streams that have not begun.
    pub(super) early: Vec<(u32, Priority)>,
    pub(super) control: Budget,
    pub(super) resets: Budget,
    /// Streams broken off that were not taken yet: by the peer, and by us.
    pub(super) broken_off: (u64, u64),
    pub(super) going: Going,
    pub(super) closed: Option<Closed>,
    /// Bytes of bodies that wait, of all streams.
    pub(super) queued: usize,
    /// Streams whose writers may go on.
    pub(super) writable: Vec<u32>,
    /// Since when output has waited, and the bytes of bodies that were sent since.
    pub(super) waiting: Option<(u64, u64)>,
}

impl Session {
    /// A connection on which the client's preface comes next.
    pub fn new(limits: Limits, now: u64) -> Self {
        let mut session = Self {
            heads: HeadDecoder::default(),
            encoder: Encoder::new(limits.encoder_table),
            known_lines: KnownLines::default(),
            peer: PeerSettings { max_frame: DEFAULT_FRAME, window: FIRST_WINDOW },
            streams: Streams::default(),
            schedule: Schedule::default(),
            out: Vec::new(),
            preface: PREFACE.len(),
            greeted: false,
            settings_due: (limits.settings_timeout > 0).then(|| now + limits.settings_timeout),
            first_window: limits.stream_window.max(FIRST_WINDOW),
            receive_window: limits.connection_window.max(FIRST_WINDOW).into(),
            released: 0,
            send_window: FIRST_WINDOW.into(),
            highest: 0,
            block: None,
            early: Vec::new(),
            control: Budget::new(limits.control_budget.0, limits.control_budget.1, now),
            resets: Budget::new(limits.reset_budget.0, limits.reset_budget.1, now),
            broken_off: (0, 0),
            going: Going::No,
            closed: None,
            queued: 0,
            writable: Vec::new(),
            waiting: None,
            limits,
        };
        session.greet();
        session
    }

    /// A connection that was upgraded from HTTP/1.1 (RFC 7540 section 3.2): `settings` is what `HTTP2-Settings` stood
    /// for, and the request, whose body is complete, becomes stream 1.
    pub fn upgraded(limits: Limits, settings: &[u8], now: u64) -> Result<Self, Closed> {
        let mut session = Self::new(limits, now);
        let read = Settings::new(settings).and_then(|settings| session.take_settings(settings));
        read.map_err(|error| Closed { code: error.code, reason: error.reason })?;
        session.highest = 1;
        let mut stream = Stream::new(1, session.first_window.into(), session.peer.window.into(), None);
        stream.remote_open = false;
        session.streams.add(stream);
        Ok(session)
    }

    fn greet(&mut self) {
        let limits = &self.limits;
        let mut settings = vec![
            Setting::MaxConcurrentStreams(limits.max_streams),
            Setting::MaxHeaderListSize(u32::try_from(limits.head.list.max_list).unwrap_or(u32::MAX)),
            Setting::InitialWindowSize(limits.stream_window),
            Setting::NoRfc7540Priorities(true),
        ];
        if limits.max_frame > DEFAULT_FRAME {
            settings.push(Setting::MaxFrameSize(limits.max_frame as u32));
        }
        settings.push(Setting::HeaderTableSize(limits.decoder_table as u32));
        if limits.head.connect_protocol {
            settings.push(Setting::EnableConnectProtocol(true));
        }
        write::settings(&settings, &mut self.out);
        if let more @ 1.. = limits.connection_window.saturating_sub(FIRST_WINDOW) {
            write::window_update(0, more, &mut self.out);
        }
        if limits.decoder_table > apus_proto::http2::hpack::DEFAULT_TABLE {
            self.heads.blocks().set_limit(limits.decoder_table);
        }
    }

    /// Whether [`read`](Self::read) may be called: not while the peer leaves too many answers to what it asked unread.
    pub fn wants_input(&self) -> bool {
        self.closed.is_none() && self.out.len() <= self.limits.max_control
    }

    /// Reads frames until something happens that concerns a handler. `now` is any clock's time in milliseconds.
    ///
    /// `input` begins with what was not used before; the longest frame has to fit it: nine bytes more than
    /// [`Limits::max_frame`]. `bytes` and `head` are only written where the event says so.
    pub fn read<'a>(
        &mut self,
        input: &'a [u8],
        now: u64,
        bytes: &mut Vec<u8>,
        head: &mut RequestHead,
    ) -> Result<Read<'a>, Closed> {
        if let Some(closed) = self.closed {
            return Err(closed);
        }
        let mut used = self.preface(input)?;
        while self.preface == 0 && self.wants_input() {
            let rest = &input[used..];
            let Some(header) = FrameHeader::parse(rest) else { break };
            self.expected(header).map_err(|error| self.close(error))?;
            let Some(payload) = rest.get(HEADER_LEN..HEADER_LEN + header.len) else { break };
            used += HEADER_LEN + header.len;
            let event = match Frame::parse(header, payload) {
                Ok(frame) => self.frame(frame, header.len, now, bytes, head),
                Err(error) => Err(error),
            };
            let event = match event {
                Ok(event) => event,
                Err(error) => self.fail(error, now)?,
            };
            if event.is_some() {
                return Ok(Read { used, event });
            }
        }
        Ok(Read { used, event: None })
    }

    fn preface(&mut self, input: &[u8]) -> Result<usize, Closed> {
        if self.preface == 0 {
            return Ok(0);
        }
        let expected = &PREFACE[PREFACE.len() - self.preface..];
        let len = expected.len().min(input.len());
        if input[..len] != expected[..len] {
            return Err(self.close(FrameError::connection(ErrorCode::PROTOCOL_ERROR, "wrong preface")));
        }
        self.preface -= len;
        Ok(len)
    }

    /// What can be said of a frame before its payload is there.
    fn expected(&self, header: FrameHeader) -> Result<(), FrameError> {
        too_long(header, self.limits.max_frame)?;
        let wrong = |reason| Err(FrameError::connection(ErrorCode::PROTOCOL_ERROR, reason));
        if !self.greeted && header.kind != kind::SETTINGS {
            return wrong("no SETTINGS at the beginning");
        }
        match &self.block {
            Some(block) if header.kind != kind::CONTINUATION || header.stream != block.stream => {
                wrong("another frame inside a field block")
            }
            None if header.kind == kind::CONTINUATION => wrong("CONTINUATION without a head"),
            _ => Ok(()),
        }
    }

    fn frame<'a>(
        &mut self,
        frame: Frame<'a>,
        len: usize,
        now: u64,
        bytes: &mut Vec<u8>,
        head: &mut RequestHead,
    ) -> Result<Option<Event<'a>>, FrameError> {
        match frame {
            Frame::Data { stream, data, end_stream } => self.take_data(stream, data, len, end_stream, now),
            Frame::Headers { stream, block, end_stream, end_headers, depends_on } => {
                let begun = HeadBlock::new(stream, end_stream, depends_on, now)?;
                if end_headers {
                    return self.take_block(&begun, block, now, bytes, head);
                }
                self.block = Some(begun);
                self.continue_block(block)?;
                Ok(None)
            }
            Frame::Continuation { block, end_headers, .. } => {
                self.continue_block(block)?;
                if !end_headers {
                    return Ok(None);
                }
                let Some(mut whole) = self.block.take() else { return Ok(None) };
                let block = std::mem::take(&mut whole.bytes);
                self.take_block(&whole, &block, now, bytes, head)
            }
            Frame::Reset { stream, code } => {
                self.broken_off.0 += 1;
                self.take_reset(stream, code, now)
            }
            Frame::WindowUpdate { stream, increment } => {
                self.spend_control(1, now)?;
                self.take_window(stream, increment).map(|()| None)
            }
            other => self.take_control(other, now).map(|()| None),
        }
    }

    /// A frame that breaks the protocol: its stream ends, or the connection.
    fn fail<'a>(&mut self, error: FrameError, now: u64) -> Result<Option<Event<'a>>, Closed> {
        let Some(stream) = error.stream else { return Err(self.close(error)) };
        if self.is_idle(stream) {
            return Err(self.close(FrameError { stream: None, ..error }));
        }
        if !self.resets.spend(1, now) {
            return Err(self.close(TOO_MANY_RESETS));
        }
        let handled = self.break_off(stream, error.code);
        Ok(handled.then_some(Event::Reset { stream, code: error.code }))
    }

    /// How many streams were broken off since the last time: by the peer, and by us.
    pub fn take_broken_off(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.broken_off)
    }

    /// Ends a stream with `RST_STREAM`. Tells whether a handler has to know.
    pub(super) fn break_off(&mut self, stream: u32, code: ErrorCode) -> bool {
        write::reset(stream, code, &mut self.out);
        self.broken_off.1 += 1;
        if self.streams.get(stream).is_none() {
            self.streams.remember(stream, End::ResetByUs);
        }
        self.end_stream(stream, End::ResetByUs)
    }

    /// Ends the connection: everything that was not sent is dropped for GOAWAY.
    pub(super) fn close(&mut self, error: FrameError) -> Closed {
        let closed = Closed { code: error.code, reason: error.reason };
        if self.closed.is_none() {
            write::go_away(self.highest, error.code, error.reason.as_bytes(), &mut self.out);
            self.closed = Some(closed);
            self.block = None;
        }
        closed
    }

    /// A stream that neither side has begun.
    pub(super) fn is_idle(&self, stream: u32) -> bool {
        // We begin none.
        stream.is_multiple_of(2) || stream > self.highest
    }

    /// Bytes that the connection takes beside what its handlers hold.
    pub fn footprint(&self) -> usize {
        size_of::<Self>()
            + self.heads.footprint()
            + self.encoder.footprint()
            + self.known_lines.footprint()
            + self.streams.footprint()
            + self.out.capacity()
            + self.block.as_ref().map_or(0, |block| block.bytes.capacity())
            + self.early.capacity() * size_of::<(u32, Priority)>()
            + self.writable.capacity() * size_of::<u32>()
    }
}

pub(super) const TOO_MANY_RESETS: FrameError =
    FrameError::connection(ErrorCode::ENHANCE_YOUR_CALM, "too many streams broken off");
