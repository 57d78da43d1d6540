//! Masking (RFC 6455 section 5.3).

/// XORs `data` with the key; `offset` is how many bytes of the same payload came before. The same call masks and
/// unmasks.
pub fn apply_mask(data: &mut [u8], key: [u8; 4], offset: usize) {
    let key = [key[offset & 3], key[(offset + 1) & 3], key[(offset + 2) & 3], key[(offset + 3) & 3]];
    let wide = u64::from_ne_bytes([key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3]]);
    // Whole words by the vector unit; the tail byte by byte.
    let (words, tail) = data.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in tail.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}
