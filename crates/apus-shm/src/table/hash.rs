//! SipHash-1-3 with a seed of the table's own: who chooses keys from outside cannot make them meet in one bucket.

use super::heap::few;

#[derive(Debug, Clone, Copy)]
struct State([u64; 4]);

impl State {
    #[inline]
    fn round(&mut self) {
        let [a, b, c, d] = &mut self.0;
        *a = a.wrapping_add(*b);
        *b = b.rotate_left(13) ^ *a;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*d);
        *d = d.rotate_left(16) ^ *c;
        *a = a.wrapping_add(*d);
        *d = d.rotate_left(21) ^ *a;
        *c = c.wrapping_add(*b);
        *b = b.rotate_left(17) ^ *c;
        *c = c.rotate_left(32);
    }

    #[inline]
    fn take(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.0[0] ^= word;
    }
}

/// The hash of a key.
#[inline]
pub(super) fn hash(seed: [u64; 2], key: &[u8]) -> u64 {
    let mut state = State([
        seed[0] ^ 0x736f_6d65_7073_6575,
        seed[1] ^ 0x646f_7261_6e64_6f6d,
        seed[0] ^ 0x6c79_6765_6e65_7261,
        seed[1] ^ 0x7465_6462_7974_6573,
    ]);
    let mut words = key.chunks_exact(8);
    for word in &mut words {
        state.take(u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    state.take(few(words.remainder()) | (key.len() as u64) << 56);
    state.0[2] ^= 0xff;
    for _ in 0..3 {
        state.round();
    }
    state.0.iter().fold(0, |all, part| all ^ part)
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    /// The standard library's hasher is SipHash-1-3 with a seed of zeros.
    #[test]
    fn agrees_with_the_standard_library() {
        let bytes: Vec<u8> = (0..100).collect();
        for len in 0..bytes.len() {
            let mut other = std::collections::hash_map::DefaultHasher::new();
            other.write(&bytes[..len]);
            assert_eq!(hash([0, 0], &bytes[..len]), other.finish(), "{len} bytes");
        }
        assert_ne!(hash([0, 0], b"a"), hash([0, 1], b"a"));
    }
}
