//! The codings themselves, piece by piece.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};

use apus_proto::coding::Coding;
use brotli::CompressorWriter;
use brotli::enc::BrotliEncoderParams;
use flate2::{Compress, Crc, FlushCompress, Status};

use super::MAX_ENCODERS;

/// gzip's head (RFC 1952): deflate, no name, no time, an unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Windows of brotli and Zstandard are of 256 KiB: memory of an answer that is long under way.
const WINDOW_BITS: u32 = 18;
/// What brotli's encoder hands over at once.
const BROTLI_BUFFER: usize = 16 << 10;
/// Deflate states kept for the next answer: making one costs more than a short answer's coding.
const SPARES: usize = 4;

thread_local! {
    static SPARE: RefCell<Vec<(Kind, Compress)>> = const { RefCell::new(Vec::new()) };
    /// Encoders of this thread that are alive.
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

/// What follows the bytes that are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// More will.
    No,
    /// The client is to see all so far.
    Yes,
}

/// Codes the body of one answer.
pub(crate) struct Encoder {
    state: State,
    _alive: Alive,
}

enum State {
    Deflate(Box<Deflate>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
    Brotli(Box<CompressorWriter<Vec<u8>>>),
}

/// Deflated data in the frame of gzip or of zlib.
struct Deflate {
    /// Always there until `drop`.
    state: Option<Compress>,
    kind: Kind,
    crc: Crc,
    begun: bool,
    /// It came to its end.
    ended: bool,
}

/// What a deflate state can be used again for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    level: u32,
    /// gzip's frame is written here, zlib's by the state.
    gzip: bool,
}

/// Counts it.
struct Alive;

impl Encoder {
    /// An encoder; `None` where there are as many as may be.
    pub(crate) fn new(coding: Coding, level: u32) -> Option<Self> {
        if ALIVE.get() >= MAX_ENCODERS {
            return None;
        }
        let state = match coding {
            Coding::Gzip | Coding::Deflate => {
                State::Deflate(Box::new(Deflate::new(Kind { level: level.min(9), gzip: coding == Coding::Gzip })))
            }
            Coding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), level.min(19) as i32).ok()?;
                encoder.window_log(WINDOW_BITS).ok()?;
                State::Zstd(Box::new(encoder))
            }
            Coding::Brotli => {
                let quality = level.min(11) as i32;
                let params = BrotliEncoderParams { quality, lgwin: WINDOW_BITS as i32, ..Default::default() };
                State::Brotli(Box::new(CompressorWriter::with_params(Vec::new(), BROTLI_BUFFER, &params)))
            }
        };
        ALIVE.set(ALIVE.get() + 1);
        Some(Self { state, _alive: Alive })
    }

    /// Codes a piece: what is to be sent of it now.
    pub(crate) fn push(&mut self, bytes: &[u8], flush: Flush) -> io::Result<Vec<u8>> {
        match &mut self.state {
            State::Deflate(deflate) => {
                let mut out = Vec::with_capacity(bytes.len() / 4 + 64);
                deflate.push(bytes, flush, &mut out)?;
                Ok(out)
            }
            State::Zstd(encoder) => {
                encoder.write_all(bytes)?;
                if flush == Flush::Yes {
                    encoder.flush()?;
                }
                Ok(std::mem::take(encoder.get_mut()))
            }
            State::Brotli(encoder) => {
                encoder.write_all(bytes)?;
                if flush == Flush::Yes {
                    encoder.flush()?;
                }
                Ok(std::mem::take(encoder.get_mut()))
            }
        }
    }

    /// Ends the coding, with the last bytes before its end.
    pub(crate) fn finish(mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = self.push(bytes, Flush::No)?;
        match self.state {
            State::Deflate(mut deflate) => deflate.finish(&mut out)?,
            State::Zstd(encoder) => out.append(&mut encoder.finish()?),
            State::Brotli(encoder) => out.append(&mut encoder.into_inner()),
        }
        Ok(out)
    }
}

impl Deflate {
    fn new(kind: Kind) -> Self {
        let spare = SPARE.with(|spare| {
            let mut spare = spare.borrow_mut();
            let at = spare.iter().position(|(of, _)| *of == kind)?;
            Some(spare.swap_remove(at).1)
        });
        let state = spare.unwrap_or_else(|| Compress::new(flate2::Compression::new(kind.level), !kind.gzip));
        Self { state: Some(state), kind, crc: Crc::new(), begun: false, ended: false }
    }

    fn push(&mut self, bytes: &[u8], flush: Flush, out: &mut Vec<u8>) -> io::Result<()> {
        if self.kind.gzip {
            if !std::mem::replace(&mut self.begun, true) {
                out.extend_from_slice(&GZIP_HEAD);
            }
            self.crc.update(bytes);
        }
        self.run(bytes, if flush == Flush::Yes { FlushCompress::Sync } else { FlushCompress::None }, out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.run(&[], FlushCompress::Finish, out)?;
        self.ended = true;
        if self.kind.gzip {
            out.extend_from_slice(&self.crc.sum().to_le_bytes());
            out.extend_from_slice(&self.crc.amount().to_le_bytes());
        }
        Ok(())
    }

    fn run(&mut self, mut bytes: &[u8], flush: FlushCompress, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(state) = &mut self.state else { return Ok(()) };
        loop {
            // What is left over of a flush is asked for until there is room left.
            out.reserve(512.max(bytes.len() / 4));
            let before = state.total_in();
            let status = state.compress_vec(bytes, out, flush).map_err(io::Error::other)?;
            bytes = &bytes[(state.total_in() - before) as usize..];
            let done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                FlushCompress::None => bytes.is_empty(),
                _ => bytes.is_empty() && out.len() < out.capacity(),
            };
            if done {
                return Ok(());
            }
        }
    }
}

impl Drop for Deflate {
    fn drop(&mut self) {
        // One that was broken off is not used again: resetting it leaves bits of its last block behind.
        let Some(mut state) = self.state.take().filter(|_| self.ended) else { return };
        // At the end of the thread there is no list any more.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARES {
                state.reset();
                spare.push((self.kind, state));
            }
        });
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // At the end of the thread nobody counts.
        let _ = ALIVE.try_with(|alive| alive.set(alive.get() - 1));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;

    use super::*;

    pub(in crate::coding) fn decode(coding: Coding, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        match coding {
            Coding::Gzip => drop(flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap()),
            Coding::Deflate => drop(flate2::read::ZlibDecoder::new(bytes).read_to_end(&mut out).unwrap()),
            Coding::Zstd => drop(zstd::stream::read::Decoder::new(bytes).unwrap().read_to_end(&mut out).unwrap()),
            Coding::Brotli => drop(brotli::Decompressor::new(bytes, 4096).read_to_end(&mut out).unwrap()),
        }
        out
    }

    pub(in crate::coding) fn noise(len: usize) -> Vec<u8> {
        let mut state = 1u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(next).collect()
    }

    #[test]
    fn whatever_the_pieces_it_is_decoded_to_the_same() {
        for coding in Coding::ALL {
            for level in [1, 4, 9, 11] {
                for content in [Vec::new(), b"short".to_vec(), b"abc".repeat(50_000), noise(100_000)] {
                    for piece in [1 << 20, 40_000, 7_000] {
                        let mut encoder = Encoder::new(coding, level).unwrap();
                        let mut out = Vec::new();
                        for piece in content.chunks(piece) {
                            out.append(&mut encoder.push(piece, Flush::No).unwrap());
                        }
                        out.append(&mut encoder.finish(b"end").unwrap());
                        assert_eq!(decode(coding, &out), [&content[..], b"end"].concat(), "{coding:?} {level}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_flushed_can_be_read_at_once() {
        for coding in Coding::ALL {
            let mut encoder = Encoder::new(coding, 1).unwrap();
            let mut sent = Vec::new();
            for at in 1..4 {
                sent.append(&mut encoder.push(b"piece of text ", Flush::Yes).unwrap());
                let mut got = vec![0; at * 14];
                match coding {
                    Coding::Gzip => flate2::read::GzDecoder::new(&sent[..]).read_exact(&mut got).unwrap(),
                    Coding::Deflate => flate2::read::ZlibDecoder::new(&sent[..]).read_exact(&mut got).unwrap(),
                    Coding::Zstd => zstd::stream::read::Decoder::new(&sent[..]).unwrap().read_exact(&mut got).unwrap(),
                    Coding::Brotli => brotli::Decompressor::new(&sent[..], 4096).read_exact(&mut got).unwrap(),
                }
                assert_eq!(got, b"piece of text ".repeat(at), "{coding:?}");
            }
        }
    }

    #[test]
    fn what_was_broken_off_leaves_nothing_behind() {
        for coding in Coding::ALL {
            for _ in 0..20 {
                let mut broken_off = Encoder::new(coding, 1).unwrap();
                drop(broken_off.push(&noise(100_000), Flush::No).unwrap());
                drop(broken_off);
                let out = Encoder::new(coding, 1).unwrap().finish(&b"abc".repeat(1000)).unwrap();
                assert_eq!(decode(coding, &out), b"abc".repeat(1000), "{coding:?}");
            }
        }
    }

    #[test]
    fn so_many_at_once_and_no_more() {
        let mut held: Vec<Encoder> = (0..MAX_ENCODERS).map(|_| Encoder::new(Coding::Gzip, 1).unwrap()).collect();
        assert!(Encoder::new(Coding::Zstd, 1).is_none());
        held.pop();
        assert!(Encoder::new(Coding::Zstd, 1).is_some());
    }
}
