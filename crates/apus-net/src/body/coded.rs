//! Content codings of request bodies, taken off while they arrive, with a limit on what they become.

use std::io::{self, Write};

use apus_proto::coding::Coding;
use apus_proto::grammar::list_members;
use apus_proto::http1::Reject;
use brotli::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, InBuffer, Operation, OutBuffer};

use super::decode::TOO_LARGE;
use crate::head_bytes::Inner;

/// What is given to a decoder at a time, so that little is decoded beyond a limit.
const SLICE: usize = 4 << 10;
/// The window that Brotli's decoder works in.
const BROTLI_BUFFER: usize = 16 << 10;
/// The largest window of Zstandard, as a power of two: 8 MiB, which every decoder is to have (RFC 8878 section 3.1.1).
const ZSTD_WINDOW: u32 = 23;
/// What a body may become in any case, however little has come of it.
const FREE: u64 = 64 << 10;

const UNKNOWN: Reject = Reject::new(415, "this content coding is not understood here: gzip, deflate, br and zstd are");
const BROKEN: Reject = Reject::new(400, "the coded body is broken");
const BOMB: Reject = Reject::new(413, "the body becomes many times larger than it was sent");

/// What came out and was not taken, and how much may still come.
#[derive(Default)]
struct Sink {
    out: Vec<u8>,
    room: u64,
    over: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(room) = self.room.checked_sub(bytes.len() as u64) else {
            self.over = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        self.room = room;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Decoder {
    Gzip(Box<MultiGzDecoder<Sink>>),
    Deflate(Inflate),
    Zstd(Unzstd),
    Brotli(Box<DecompressorWriter<Sink>>),
}

/// Deflate in zlib's format, or without its head as some clients send it.
struct Inflate {
    /// There from the first byte on, which tells the one from the other.
    state: Option<Decompress>,
    sink: Sink,
    /// The data has come to its end.
    ended: bool,
}

impl Inflate {
    fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(first) = bytes.first() else { return Ok(()) };
        // RFC 1950 section 2.2: zlib's head begins with its method, 8. Deflated data begins so in no encoder's hands:
        // it would be a block that is stored, with bits set that are to be zero.
        let state = self.state.get_or_insert_with(|| Decompress::new(first & 0x0f == 8));
        let mut room = [0; SLICE];
        while !self.ended {
            let before = (state.total_in(), state.total_out());
            self.ended = state.decompress(bytes, &mut room, FlushDecompress::None)? == Status::StreamEnd;
            bytes = &bytes[(state.total_in() - before.0) as usize..];
            let given = (state.total_out() - before.1) as usize;
            self.sink.write_all(&room[..given])?;
            if bytes.is_empty() && given < room.len() {
                return Ok(());
            }
        }
        if bytes.is_empty() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

/// Zstandard, in one frame or several.
struct Unzstd {
    state: zstd::stream::raw::Decoder<'static>,
    sink: Sink,
    /// The last frame has come to its end.
    ended: bool,
}

impl Unzstd {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut bytes = InBuffer::around(bytes);
        let mut room = [0; SLICE];
        loop {
            let mut out = OutBuffer::around(&mut room[..]);
            // What it still needs of the frame.
            self.ended = self.state.run(&mut bytes, &mut out)? == 0;
            let given = out.pos();
            self.sink.write_all(&room[..given])?;
            if bytes.pos() == bytes.src.len() && (self.ended || given < room.len()) {
                return Ok(());
            }
        }
    }
}

/// Takes the coding of a body off.
pub(super) struct Uncoder {
    decoder: Decoder,
    /// Bytes that have come, and that came out.
    taken: u64,
    given: u64,
    /// The most that may come out, and the most for each byte that has come.
    max: u64,
    ratio: u64,
}

impl Uncoder {
    /// For the coding that a request names; none where it names none.
    pub(super) fn of(inner: &Inner, max: u64, ratio: u32) -> Result<Option<Self>, Reject> {
        let Inner { bytes, head, .. } = inner;
        let lines = head.headers.iter().filter(|(name, _)| name.of(bytes).eq_ignore_ascii_case(b"content-encoding"));
        let mut names = lines
            .flat_map(|(_, value)| list_members(value.of(bytes)))
            .filter(|name| !name.eq_ignore_ascii_case(b"identity"));
        let Some(name) = names.next() else { return Ok(None) };
        // One in another only makes bombs.
        let (Some(coding), None) = (Coding::named(name), names.next()) else { return Err(UNKNOWN) };
        let sink = Sink::default();
        let decoder = match coding {
            Coding::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(sink))),
            Coding::Deflate => Decoder::Deflate(Inflate { state: None, sink, ended: false }),
            Coding::Brotli => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_BUFFER))),
            Coding::Zstd => {
                let mut state = zstd::stream::raw::Decoder::new().map_err(|_| BROKEN)?;
                state.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW)).map_err(|_| BROKEN)?;
                Decoder::Zstd(Unzstd { state, sink, ended: false })
            }
        };
        Ok(Some(Self { decoder, taken: 0, given: 0, max, ratio: ratio.into() }))
    }

    /// Takes a piece, and gives what it becomes to `each`.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), Reject>,
    ) -> Result<(), Reject> {
        for piece in bytes.chunks(SLICE) {
            self.taken += piece.len() as u64;
            self.run(|decoder| match decoder {
                Decoder::Gzip(decoder) => decoder.write_all(piece),
                Decoder::Deflate(decoder) => decoder.push(piece),
                Decoder::Zstd(decoder) => decoder.push(piece),
                Decoder::Brotli(decoder) => decoder.write_all(piece),
            })?;
            self.give(&mut each)?;
        }
        Ok(())
    }

    /// The body has ended, and its coding must have, too.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&[u8]) -> Result<(), Reject>) -> Result<(), Reject> {
        if self.taken == 0 {
            return Ok(());
        }
        self.run(|decoder| match decoder {
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Deflate(Inflate { ended: true, .. }) | Decoder::Zstd(Unzstd { ended: true, .. }) => Ok(()),
            Decoder::Deflate(_) | Decoder::Zstd(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Decoder::Brotli(decoder) => decoder.close(),
        })?;
        self.give(&mut each)
    }

    fn run(&mut self, work: impl FnOnce(&mut Decoder) -> io::Result<()>) -> Result<(), Reject> {
        let allowed = FREE.max(self.taken.saturating_mul(self.ratio));
        let room = self.max.min(allowed).saturating_sub(self.given);
        self.sink().room = room;
        let done = work(&mut self.decoder);
        if self.sink().over {
            return Err(if allowed < self.max { BOMB } else { TOO_LARGE });
        }
        done.map_err(|_| BROKEN)
    }

    fn sink(&mut self) -> &mut Sink {
        match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => &mut decoder.sink,
            Decoder::Zstd(decoder) => &mut decoder.sink,
            Decoder::Brotli(decoder) => decoder.get_mut(),
        }
    }

    fn give(&mut self, each: &mut impl FnMut(&[u8]) -> Result<(), Reject>) -> Result<(), Reject> {
        let out = std::mem::take(&mut self.sink().out);
        self.given += out.len() as u64;
        if out.is_empty() { Ok(()) } else { each(&out) }
    }
}

#[cfg(test)]
mod tests {
    use apus_proto::http1::{Limits, parse_request};

    use super::*;
    use crate::coding::Encoder;

    fn uncoder(field: &str, max: u64) -> Result<Option<Uncoder>, u16> {
        let bytes = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: {field}\r\nContent-Length: 9\r\n\r\n");
        let mut head = apus_proto::http1::RequestHead::default();
        parse_request(bytes.as_bytes(), &Limits::default(), &mut head).unwrap();
        Uncoder::of(&Inner::of(bytes.as_bytes(), head), max, 100).map_err(|reject| reject.status)
    }

    fn decode(field: &str, body: &[u8], piece: usize, max: u64) -> Result<Vec<u8>, u16> {
        let mut uncoder = uncoder(field, max)?.unwrap();
        let mut out = Vec::new();
        let mut each = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        for piece in body.chunks(piece) {
            uncoder.push(piece, &mut each).map_err(|reject| reject.status)?;
        }
        uncoder.finish(&mut each).map_err(|reject| reject.status)?;
        Ok(out)
    }

    #[test]
    fn whatever_the_pieces_the_body_comes_out() {
        for coding in Coding::ALL {
            let content: Vec<u8> = (0..60_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
            let body = Encoder::new(coding, 3).unwrap().finish(&content).unwrap();
            for piece in [1, 1000, 1 << 20] {
                assert_eq!(decode(coding.name(), &body, piece, 1 << 20).as_ref(), Ok(&content), "{coding:?}");
            }
            let cut = decode(coding.name(), &body[..body.len() - 1], 1000, 1 << 20);
            assert_eq!(cut.map(|out| out.len()), Err(400), "{coding:?}");
            assert_eq!(decode(coding.name(), &body, 1000, 100_000), Err(413), "{coding:?}");
            assert_eq!(decode(coding.name(), b"no such thing at all", 1000, 100_000), Err(400), "{coding:?}");
        }
    }

    #[test]
    fn deflate_is_understood_with_zlibs_head_and_without() {
        for content in [&b"deflated"[..], &[0xff; 7_000]] {
            let zlib = Encoder::new(Coding::Deflate, 6).unwrap().finish(content).unwrap();
            let raw = &zlib[2..zlib.len() - 4];
            for (body, piece) in [(&zlib[..], 1), (&zlib, 5000), (raw, 1), (raw, 5000)] {
                assert_eq!(decode("deflate", body, piece, 1 << 20).as_deref(), Ok(content));
            }
            assert_eq!(decode("deflate", &raw[..raw.len() - 1], 1, 1 << 20), Err(400));
        }
        assert_eq!(decode("deflate", b"", 1, 1), Ok(Vec::new()));
    }

    #[test]
    fn a_bomb_is_refused_before_it_goes_off() {
        for coding in Coding::ALL {
            let body = Encoder::new(coding, 9).unwrap().finish(&vec![0; 32 << 20]).unwrap();
            assert_eq!(decode(coding.name(), &body, 1 << 20, u64::MAX), Err(413), "{coding:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused_and_identity_is_nothing() {
        for field in ["gzip, deflate", "gzip, br", "x", "compress"] {
            assert_eq!(uncoder(field, 1).err(), Some(415), "{field}");
        }
        assert!(uncoder("identity", 1).unwrap().is_none());
        assert!(uncoder("X-GZIP", 1).unwrap().is_some());
        assert_eq!(decode("gzip", b"", 1, 1), Ok(Vec::new()));
    }
}
