//! Content codings of responses, taken off as they arrive, with a limit on what they become.

use std::io::{self, Write};

use brotli_decompressor::writer::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::failure::Failure;

/// What is given to a decoder at a time: its output for so much is what may wait in memory at most (deflate makes 1
/// byte into 1032 at the utmost).
const SLICE: usize = 8 << 10;
/// The window that brotli's decoder works in.
const BROTLI_BUFFER: usize = 16 << 10;

/// Collects output until it is taken, and refuses what goes beyond the limit.
struct Sink {
    out: Vec<u8>,
    /// Bytes that may still come.
    left: u64,
    overflowed: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len() as u64;
        if len > self.left {
            self.overflowed = true;
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.left -= len;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Coding {
    Identity(Sink),
    Gzip(Box<MultiGzDecoder<Sink>>),
    /// "deflate" whose first bytes have not come: servers send it with zlib's wrapping or without.
    Unknown(Vec<u8>, Sink),
    Zlib(Box<ZlibDecoder<Sink>>),
    Raw(Box<DeflateDecoder<Sink>>),
    Brotli(Box<DecompressorWriter<Sink>>),
}

/// Takes a response's content coding off.
pub(crate) struct BodyDecoder {
    coding: Coding,
    limit: u64,
    begun: bool,
}

impl BodyDecoder {
    /// A decoder for the coding that `Content-Encoding` names; one that is not known leaves the body as it is.
    pub(crate) fn new(coding: Option<&[u8]>, limit: u64) -> Self {
        let sink = Sink { out: Vec::new(), left: limit, overflowed: false };
        let name = coding.unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let coding = match name.as_slice() {
            b"gzip" | b"x-gzip" => Coding::Gzip(Box::new(MultiGzDecoder::new(sink))),
            b"deflate" => Coding::Unknown(Vec::new(), sink),
            b"br" => Coding::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_BUFFER))),
            _ => Coding::Identity(sink),
        };
        Self { coding, limit, begun: false }
    }

    fn sink(&mut self) -> &mut Sink {
        match &mut self.coding {
            Coding::Identity(sink) | Coding::Unknown(_, sink) => sink,
            Coding::Gzip(decoder) => decoder.get_mut(),
            Coding::Zlib(decoder) => decoder.get_mut(),
            Coding::Raw(decoder) => decoder.get_mut(),
            Coding::Brotli(decoder) => decoder.get_mut(),
        }
    }

    /// Takes bytes of the body, and gives what they became to `each`, in pieces of bounded size where it was
    /// compressed.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Vec<u8>)) -> Result<(), Failure> {
        self.begun |= !bytes.is_empty();
        let slice = if matches!(self.coding, Coding::Identity(_)) { bytes.len().max(1) } else { SLICE };
        for part in bytes.chunks(slice) {
            let written = self.write(part);
            self.check(written)?;
            let out = std::mem::take(&mut self.sink().out);
            if !out.is_empty() {
                each(out);
            }
        }
        Ok(())
    }

    /// The body ends here; gives what was held back.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>, Failure> {
        // An answer to HEAD, or an empty one, names a coding of nothing.
        if self.begun {
            let done = match &mut self.coding {
                Coding::Identity(_) => Ok(()),
                Coding::Gzip(decoder) => decoder.try_finish(),
                Coding::Unknown(..) => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                Coding::Zlib(decoder) => decoder.try_finish(),
                Coding::Raw(decoder) => decoder.try_finish(),
                Coding::Brotli(decoder) => decoder.close(),
            };
            self.check(done)?;
        }
        Ok(std::mem::take(&mut self.sink().out))
    }

    fn check(&mut self, written: io::Result<()>) -> Result<(), Failure> {
        if self.sink().overflowed {
            return Err(too_large(self.limit));
        }
        written.map_err(|error| Failure::protocol(format!("the compressed body is broken: {error}")))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.coding {
            Coding::Identity(sink) => sink.write_all(bytes),
            Coding::Gzip(decoder) => decoder.write_all(bytes),
            Coding::Zlib(decoder) => decoder.write_all(bytes),
            Coding::Raw(decoder) => decoder.write_all(bytes),
            Coding::Brotli(decoder) => decoder.write_all(bytes),
            Coding::Unknown(held, sink) => {
                held.extend_from_slice(bytes);
                let [first, second, ..] = held[..] else { return Ok(()) };
                let held = std::mem::take(held);
                let sink = std::mem::replace(sink, Sink { out: Vec::new(), left: 0, overflowed: false });
                // RFC 1950 section 2.2: method 8 and a check value.
                let zlib = first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
                self.coding = if zlib {
                    Coding::Zlib(Box::new(ZlibDecoder::new(sink)))
                } else {
                    Coding::Raw(Box::new(DeflateDecoder::new(sink)))
                };
                self.write(&held)
            }
        }
    }
}

/// What a body beyond its limit is.
pub(crate) fn too_large(limit: u64) -> Failure {
    Failure::new(
        crate::failure::Stage::Receive,
        libc::EMSGSIZE,
        format!("the body is larger than package_max_length allows ({limit} bytes): raise it, or use download()"),
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    /// Decodes a body that is cut into pieces of one size; the largest piece of output is what waits in memory.
    fn decode(coding: &str, body: &[u8], limit: u64, piece: usize) -> Result<(Vec<u8>, usize), i32> {
        let mut decoder = BodyDecoder::new(Some(coding.as_bytes()), limit);
        let (mut out, mut largest) = (Vec::new(), 0);
        for part in body.chunks(piece) {
            let fed = decoder.feed(part, |piece| {
                largest = largest.max(piece.len());
                out.extend(piece);
            });
            fed.map_err(|failure| failure.errno)?;
        }
        out.extend(decoder.finish().map_err(|failure| failure.errno)?);
        Ok((out, largest))
    }

    fn bodies(plain: &[u8]) -> [(&'static str, Vec<u8>); 3] {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        for encoder in [&mut gzip as &mut dyn Write, &mut zlib, &mut raw] {
            encoder.write_all(plain).unwrap();
        }
        [("GZIP", gzip.finish().unwrap()), ("deflate", zlib.finish().unwrap()), ("deflate", raw.finish().unwrap())]
    }

    #[test]
    fn bodies_come_back_however_they_are_cut() {
        let plain = b"some words, some words, and some more ".repeat(50);
        for (coding, body) in bodies(&plain) {
            for piece in [1, 2, 3, 7, body.len()] {
                assert_eq!(
                    decode(coding, &body, 10_000, piece).map(|(out, _)| out),
                    Ok(plain.clone()),
                    "{coding} {piece}"
                );
            }
            for cut in 1..body.len() {
                assert!(decode(coding, &body[..cut], 10_000, cut).is_err(), "{coding} cut at {cut}");
            }
        }
        assert_eq!(decode("identity", b"as it is", 8, 3).map(|(out, _)| out), Ok(b"as it is".to_vec()));
        // An answer to HEAD names a coding, and has no body.
        assert_eq!(decode("gzip", b"", 8, 1).map(|(out, _)| out), Ok(Vec::new()));
    }

    #[test]
    fn a_bomb_is_refused_and_never_kept_whole() {
        let plain = vec![0; 2 << 20];
        for (coding, body) in bodies(&plain) {
            assert_eq!(decode(coding, &body, 1 << 20, body.len()), Err(libc::EMSGSIZE));
            let (out, largest) = decode(coding, &body, 2 << 20, body.len()).unwrap();
            assert_eq!(out.len(), plain.len());
            assert!(largest <= SLICE * 1032, "{largest}");
        }
        assert_eq!(decode("identity", &[0; 9], 8, 9), Err(libc::EMSGSIZE));
    }

    #[test]
    fn garbage_is_refused() {
        for (coding, body) in
            [("gzip", &b"\x1f\x8bgarbage"[..]), ("deflate", b"\xff\xff\xff\xff\xff"), ("br", b"\xff\xff\xff\xff")]
        {
            assert_eq!(decode(coding, body, 1000, body.len()), Err(crate::failure::INVALID_PROTOCOL), "{coding}");
        }
    }
}
