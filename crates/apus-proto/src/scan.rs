//! Looking through short runs of bytes, eight at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// Runs shorter than this are looked through here; a vectorised search pays off later.
const SHORT: usize = 32;

/// Marks bytes below `limit` (at most 0x80). The lowest mark is exact; those above it may be wrong.
#[inline]
pub(crate) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH
}

/// Marks bytes equal to `byte`. The lowest mark is exact; those above it may be wrong.
#[inline]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// The first position at or after `from` that `word` marks in eight bytes, and `byte` tells of one; the length without
/// any.
#[inline]
pub(crate) fn first(view: &[u8], from: usize, word: impl Fn(u64) -> u64, byte: impl Fn(u8) -> bool) -> usize {
    let mut at = from;
    while let Some(eight) = view.get(at..).and_then(<[u8]>::first_chunk) {
        let marks = word(u64::from_le_bytes(*eight));
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < view.len() && !byte(view[at]) {
        at += 1;
    }
    at
}

/// The first control character at or after `from`, HTAB among them; the length without any.
#[inline]
pub(crate) fn control_at(view: &[u8], from: usize) -> usize {
    first(view, from, |word| below(word, 0x20) | equal(word, 0x7f), |byte| byte < 0x20 || byte == 0x7f)
}

/// Marks what is neither a letter nor a hyphen, each byte exactly.
#[inline]
fn unusual(word: u64) -> u64 {
    let low = (word | (ONES * 0x20)) & !HIGH;
    let letter = (low + ONES * u64::from(0x80 - b'a')) & !(low + ONES * u64::from(0x7f - b'z'));
    let off = (word ^ (ONES * u64::from(b'-'))) & !HIGH;
    let hyphen = !(off + (!HIGH));
    !((letter | hyphen) & !word) & HIGH
}

/// Where a token that begins at `from` ends: the first byte at or after it that `is_token` does not allow. Letters and
/// hyphens, of which nearly all names of fields are made, MUST be allowed.
#[inline]
pub(crate) fn token_end(view: &[u8], from: usize, is_token: impl Fn(u8) -> bool) -> usize {
    let mut at = first(view, from, unusual, |byte| !is_token(byte));
    while at < view.len() && is_token(view[at]) {
        at = first(view, at + 1, unusual, |byte| !is_token(byte));
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
            for len in 0..20 {
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
