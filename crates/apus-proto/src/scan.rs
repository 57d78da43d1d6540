//! Looking through short runs of bytes, sixteen at a time where the processor can.

use wide::u8x16;

/// Runs shorter than this are looked through byte by byte; a vectorised search pays off later.
const SHORT: usize = 32;

/// A class of bytes that a search stops at.
pub(crate) trait Class {
    /// Whether the byte is one of the class.
    fn has(byte: u8) -> bool;

    /// The same of sixteen bytes: a bit each, the first byte's lowest.
    fn marks(block: Block) -> u32;
}

/// Control characters, HTAB among them.
pub(crate) struct Control;

impl Class for Control {
    #[inline]
    fn has(byte: u8) -> bool {
        byte < 0x20 || byte == 0x7f
    }

    #[inline]
    fn marks(block: Block) -> u32 {
        block.up_to(0x1f) | block.equal(0x7f)
    }
}

/// What is neither a letter nor a hyphen: of those nearly all names of fields are made.
struct Unusual;

impl Class for Unusual {
    #[inline]
    fn has(byte: u8) -> bool {
        !byte.is_ascii_alphabetic() && byte != b'-'
    }

    #[inline]
    fn marks(block: Block) -> u32 {
        !(block.letters() | block.equal(b'-')) & ALL
    }
}

/// What is neither a letter nor a digit, hyphen or dot: of those nearly all names of hosts are made.
pub(crate) struct NoHost;

impl Class for NoHost {
    #[inline]
    fn has(byte: u8) -> bool {
        !byte.is_ascii_alphanumeric() && byte != b'-' && byte != b'.'
    }

    #[inline]
    fn marks(block: Block) -> u32 {
        // The hyphen, the dot, the slash and the digits stand beside each other.
        (!(block.letters() | block.within(b'-', b'9')) & ALL) | block.equal(b'/')
    }
}

/// What may not stand in a request target: controls, space, DEL, and `#`, which begins a fragment. RFC 3986 allows
/// less, but browsers send `|`, `{` or `"` as they are and curl sends UTF-8: what would be ambiguous to a parser after
/// us is refused, the rest is the application's.
pub(crate) struct NoTarget;

impl Class for NoTarget {
    #[inline]
    fn has(byte: u8) -> bool {
        byte <= b' ' || byte == 0x7f || byte == b'#'
    }

    #[inline]
    fn marks(block: Block) -> u32 {
        block.up_to(b' ') | block.equal(0x7f) | block.equal(b'#')
    }
}

/// Sixteen bytes in one register (SSE2, NEON).
#[derive(Clone, Copy)]
pub(crate) struct Block(u8x16);

/// The marks of sixteen bytes.
const ALL: u32 = 0xffff;

impl Block {
    #[inline]
    fn new(bytes: &[u8; 16]) -> Self {
        Self(u8x16::new(*bytes))
    }

    /// Bytes of `most` at most.
    #[inline]
    fn up_to(self, most: u8) -> u32 {
        self.0.min(u8x16::splat(most)).simd_eq(self.0).to_bitmask()
    }

    #[inline]
    fn equal(self, byte: u8) -> u32 {
        self.0.simd_eq(u8x16::splat(byte)).to_bitmask()
    }

    /// Bytes from `first` to `last`.
    #[inline]
    fn within(self, first: u8, last: u8) -> u32 {
        Self(self.0 - u8x16::splat(first)).up_to(last - first)
    }

    #[inline]
    fn letters(self) -> u32 {
        Self(self.0 | u8x16::splat(0x20)).within(b'a', b'z')
    }
}

/// The first position at or after `from` whose byte is one of the class; the length (or `from`, beyond it) without any.
#[expect(clippy::inline_always, reason = "measured: a fifth of what parsing a head takes")]
#[inline(always)]
pub(crate) fn first<C: Class>(view: &[u8], from: usize) -> usize {
    if let Some(block) = view.get(from..).and_then(<[u8]>::first_chunk) {
        let marks = C::marks(Block::new(block));
        if marks != 0 {
            return from + marks.trailing_zeros() as usize;
        }
    }
    further::<C>(view, from)
}

/// The same where it is not among the first sixteen, or fewer are left.
#[inline(never)]
fn further<C: Class>(view: &[u8], mut from: usize) -> usize {
    while let Some(block) = view.get(from..).and_then(<[u8]>::first_chunk) {
        let marks = C::marks(Block::new(block));
        if marks != 0 {
            return from + marks.trailing_zeros() as usize;
        }
        from += 16;
    }
    let left = view.len().saturating_sub(from);
    // The last bytes are looked at once more with those before them.
    let Some(block) = view.last_chunk() else { return one_by_one::<C>(view, from) };
    let marks = C::marks(Block::new(block)) >> (16 - left);
    if marks == 0 { from + left } else { from + marks.trailing_zeros() as usize }
}

fn one_by_one<C: Class>(view: &[u8], from: usize) -> usize {
    let rest = view.get(from..).unwrap_or_default();
    from + rest.iter().position(|&byte| C::has(byte)).unwrap_or(rest.len())
}

/// The first control character at or after `from`, HTAB among them; the length without any.
#[inline]
pub(crate) fn control_at(view: &[u8], from: usize) -> usize {
    first::<Control>(view, from)
}

/// Where a token that begins at `from` ends: the first byte at or after it that `is_token` does not allow. Letters and
/// hyphens, of which nearly all names of fields are made, MUST be allowed.
#[inline]
pub(crate) fn token_end(view: &[u8], from: usize, is_token: impl Fn(u8) -> bool) -> usize {
    let mut at = first::<Unusual>(view, from);
    while view.get(at).is_some_and(|&byte| is_token(byte)) {
        at = first::<Unusual>(view, at + 1);
    }
    at
}

/// The first `byte` of `bytes`.
#[inline]
pub(crate) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.len() < SHORT { bytes.iter().position(|&b| b == byte) } else { memchr::memchr(byte, bytes) }
}

/// Whether `bytes`, in which no control character is, equal `lower` (lower-case letters and hyphens) without regard to
/// case.
#[inline]
pub(crate) fn same<const N: usize>(bytes: &[u8], lower: &[u8; N]) -> bool {
    // Without an early exit it is a few wide compares. A letter differs in this bit from its other case alone, a hyphen
    // from CR.
    <&[u8; N]>::try_from(bytes)
        .is_ok_and(|bytes| bytes.iter().zip(lower).fold(0, |diff, (byte, lower)| diff | ((byte | 0x20) ^ lower)) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_found_wherever_it_stands() {
        for byte in 0..=255u8 {
            for len in 0..40 {
                for at in 0..len {
                    let mut bytes = vec![b'a'; len];
                    bytes[at] = byte;
                    if at + 1 < len {
                        // What follows a mark does not move it.
                        bytes[at + 1] = byte.wrapping_add(1);
                    }
                    let slow = |from: usize| bytes[from..].iter().position(|&b| b < 0x20 || b == 0x7f);
                    for from in 0..=len {
                        assert_eq!(
                            control_at(&bytes, from),
                            slow(from).map_or(len, |n| from + n),
                            "{bytes:?} from {from}"
                        );
                    }
                }
            }
        }
        assert_eq!(control_at(b"ab", 5), 5, "beyond the end");
    }

    fn agree<C: Class>() {
        for byte in 0..=255u8 {
            let mut bytes = [b'a'; 16];
            bytes[5] = byte;
            assert_eq!(C::marks(Block::new(&bytes)), u32::from(C::has(byte)) << 5, "{byte:#x}");
        }
    }

    #[test]
    fn a_class_is_the_same_for_one_byte_and_for_sixteen() {
        agree::<Control>();
        agree::<Unusual>();
        agree::<NoHost>();
        agree::<NoTarget>();
    }

    #[test]
    fn a_token_ends_at_the_first_byte_that_is_none() {
        let is_token = crate::grammar::is_token_byte;
        for byte in 0..=255u8 {
            for len in 0..20 {
                for at in 0..len {
                    let mut bytes = vec![b'-'; len];
                    bytes[0] = b'Z';
                    bytes[len - 1] = b'a';
                    bytes[at] = byte;
                    let slow = bytes.iter().position(|&b| !is_token(b)).unwrap_or(len);
                    assert_eq!(token_end(&bytes, 0, is_token), slow, "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn names_are_compared_without_case() {
        assert!(same(b"HoSt", b"host") && same(b"Transfer-Encoding", b"transfer-encoding"));
        assert!(!same(b"hos", b"host") && !same(b"hosts", b"host") && !same(b"h0st", b"host") && !same(b"", b"host"));
        for byte in 0x20..=255u8 {
            assert_eq!(same(&[byte], b"k"), byte == b'k' || byte == b'K');
            assert_eq!(same(&[byte], b"-"), byte == b'-');
        }
    }

    #[test]
    fn a_byte_is_found_in_short_and_in_long_runs() {
        for len in [0, 1, 31, 32, 100] {
            let mut bytes = vec![b'a'; len];
            assert_eq!(find(b':', &bytes), None);
            bytes.push(b':');
            assert_eq!(find(b':', &bytes), Some(len));
        }
    }
}
