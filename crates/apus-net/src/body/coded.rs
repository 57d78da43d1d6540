//! Content codings of request bodies, taken off while they arrive, with a limit on what they become.

use std::io::{self, Write};

use apus_proto::coding::Coding;
use apus_proto::grammar::list_members;
use apus_proto::http1::Reject;
use brotli::DecompressorWriter;
use flate2::write::MultiGzDecoder;

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

const UNKNOWN: Reject = Reject::new(415, "this content coding is not understood here: gzip, br and zstd are");
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
    Zstd(Box<zstd::stream::write::Decoder<'static, Sink>>),
    Brotli(Box<DecompressorWriter<Sink>>),
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
            Coding::Brotli => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_BUFFER))),
            Coding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(sink).map_err(|_| BROKEN)?;
                decoder.window_log_max(ZSTD_WINDOW).map_err(|_| BROKEN)?;
                Decoder::Zstd(Box::new(decoder))
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
                Decoder::Zstd(decoder) => decoder.write_all(piece).and_then(|()| decoder.flush()),
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
            Decoder::Zstd(decoder) => decoder.flush(),
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
            Decoder::Zstd(decoder) => decoder.get_mut(),
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
            assert_eq!(decode(coding.name(), &body, 1000, 100_000), Err(413), "{coding:?}");
            assert_eq!(decode(coding.name(), b"no such thing at all", 1000, 100_000), Err(400), "{coding:?}");
        }
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
        for field in ["deflate", "gzip, br", "x", "compress"] {
            assert_eq!(uncoder(field, 1).err(), Some(415), "{field}");
        }
        assert!(uncoder("identity", 1).unwrap().is_none());
        assert!(uncoder("X-GZIP", 1).unwrap().is_some());
        assert_eq!(decode("gzip", b"", 1, 1), Ok(Vec::new()));
    }
}
