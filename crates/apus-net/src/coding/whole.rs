//! Coding an answer that is all there.

use std::cell::{Cell, RefCell};

use apus_proto::coding::Coding;
use libdeflater::{CompressionLvl, Compressor};

use super::Encoder;

/// Compressors kept, one a level: each takes up to 650 KiB.
const KEPT: usize = 2;

thread_local! {
    /// The one that was used last stands last.
    static COMPRESSORS: RefCell<Vec<(u32, Compressor)>> = const { RefCell::new(Vec::new()) };
    /// What the last answer was written into: as long as the longest so far.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Codes a body at once, and gives what it becomes to `send`; `None` where it does not become smaller.
///
/// Deflated data is made by libdeflate, which sees all of it: it takes half of zlib's time for fewer bytes. It knows no
/// stream; what is written in pieces is an [`Encoder`]'s.
pub(crate) fn whole<T>(coding: Coding, level: u32, body: &[u8], send: impl FnOnce(&[u8]) -> T) -> Option<T> {
    if !matches!(coding, Coding::Gzip | Coding::Deflate) {
        let bytes = Encoder::new(coding, level)?.finish(body).ok()?;
        return (bytes.len() < body.len()).then(|| send(&bytes));
    }
    let mut room = ROOM.take();
    if room.len() < body.len() {
        room.resize(body.len(), 0);
    }
    // More room than this is not asked for: then it stays as it is.
    let most = body.len().saturating_sub(1);
    let len = deflate(coding, level.clamp(1, 9), body, &mut room[..most]);
    let sent = len.map(|len| send(&room[..len]));
    ROOM.set(room);
    sent
}

fn deflate(coding: Coding, level: u32, body: &[u8], room: &mut [u8]) -> Option<usize> {
    COMPRESSORS.with_borrow_mut(|kept| {
        let at = kept.iter().position(|(of, _)| *of == level);
        let (_, mut compressor) = match at {
            Some(at) => kept.remove(at),
            None => (level, Compressor::new(CompressionLvl::new(level as i32).ok()?)),
        };
        let done = match coding {
            Coding::Gzip => compressor.gzip_compress(body, room),
            _ => compressor.zlib_compress(body, room),
        };
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((level, compressor));
        done.ok()
    })
}

#[cfg(test)]
mod tests {
    use super::super::encoder::tests::{decode, noise};
    use super::*;

    #[test]
    fn whatever_the_level_it_is_decoded_to_the_same() {
        for coding in Coding::ALL {
            // More levels than are kept, each twice.
            for level in [1, 4, 9, 1, 4, 9] {
                for content in [b"abc".repeat(3_000), b"a".repeat(60), [noise(1000), vec![0; 5_000]].concat()] {
                    let coded = whole(coding, level, &content, <[u8]>::to_vec).unwrap();
                    assert!(coded.len() < content.len());
                    assert_eq!(decode(coding, &coded), content, "{coding:?} {level}");
                }
            }
            assert!(COMPRESSORS.with_borrow(Vec::len) <= KEPT);
        }
    }

    #[test]
    fn what_does_not_become_smaller_is_not_sent() {
        for coding in Coding::ALL {
            for content in [Vec::new(), b"a".to_vec(), b"abcdefghij".to_vec(), noise(5_000)] {
                assert_eq!(whole(coding, 1, &content, <[u8]>::len), None, "{coding:?} {}", content.len());
            }
        }
    }
}
