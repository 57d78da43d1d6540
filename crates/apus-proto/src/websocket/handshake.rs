//! The computations of the opening handshake (RFC 6455 section 4).

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use sha1_smol::Sha1;

/// The version that `Sec-WebSocket-Version` names.
pub const VERSION: &str = "13";

const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The `Sec-WebSocket-Key` of 16 random bytes.
pub fn key(nonce: [u8; 16]) -> String {
    STANDARD.encode(nonce)
}

/// Takes bits behind the last byte, which the example of RFC 6455 section 4.1 has.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Whether a `Sec-WebSocket-Key` is one: 16 bytes in base64.
pub fn is_key(key: &[u8]) -> bool {
    key.len() == 24 && LENIENT.decode(key).is_ok_and(|nonce| nonce.len() == 16)
}

/// The `Sec-WebSocket-Accept` that answers a key.
pub fn accept(key: &[u8]) -> String {
    let mut sha = Sha1::new();
    sha.update(key);
    sha.update(GUID);
    STANDARD.encode(sha.digest().bytes())
}
