//! Where an MQTT control packet ends.

use super::FramingError;

/// The longest head: the first byte and four bytes of remaining length, which make 256 MiB at most.
pub(super) const MAX_HEAD: usize = 5;

/// The whole length of the packet that `bytes` begin with; `None` when its head is not all there.
pub(super) fn total(bytes: &[u8]) -> Result<Option<u64>, FramingError> {
    let Some(first) = bytes.first() else { return Ok(None) };
    if first >> 4 == 0 {
        return Err(FramingError::Malformed("an MQTT packet of type 0, which is reserved"));
    }
    let mut remaining = 0_u64;
    for (place, byte) in bytes[1..].iter().take(MAX_HEAD - 1).enumerate() {
        remaining |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(Some(remaining + 2 + place as u64));
        }
    }
    if bytes.len() >= MAX_HEAD {
        return Err(FramingError::Malformed("an MQTT packet whose remaining length has more than 4 bytes"));
    }
    Ok(None)
}
