//! NATS credentials: a key of its own (an `NKey`) and, with an operator's accounts, a JWT.

use std::fmt;
use std::path::Path;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The largest file of credentials, bytes.
const MAX_FILE: u64 = 64 * 1024;
/// What the names of users begin with: `U`.
const USER: u8 = 20 << 3;
/// What seeds begin with: `S`.
const SEED: u8 = 18 << 3;
/// Characters of a seed: two bytes of prefix, 32 of the seed, two of the checksum.
const SEED_CHARS: usize = 58;

/// What proves to NATS who we are: the seed of a user's `NKey`, and the JWT of a file of credentials (`.creds`).
pub struct Credentials {
    key: Ed25519KeyPair,
    jwt: Option<String>,
}

/// The key stays out of logs.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.public_key())
    }
}

impl Credentials {
    /// Reads a file: a `.creds`, or the bare seed of an `NKey`. The error never repeats what is in it.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |why: &str| format!("{}: {why}", path.display());
        let about = std::fs::metadata(path).map_err(|error| named(&error.to_string()))?;
        if !about.is_file() || about.len() > MAX_FILE {
            return Err(named("not a file of NATS credentials"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| named(&error.to_string()))?;
        Self::parse(&text).map_err(|why| named(&why))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let seed = text
            .lines()
            .map(str::trim)
            .find(|line| line.len() == SEED_CHARS && line.starts_with("SU"))
            .ok_or("it holds no seed of a user's `NKey` (58 characters that begin with SU)")?;
        let bytes = unbase32(seed).ok_or("its seed is not base32")?;
        let (body, sum) = bytes.split_at(bytes.len() - 2);
        // The kind of key stands across the two bytes of the prefix.
        let kind = body[0] << 5 | body[1] >> 3;
        if crc16(body).to_le_bytes() != sum || body[0] & 0b1111_1000 != SEED || kind != USER {
            return Err("its seed is mistyped: the checksum is wrong".to_owned());
        }
        let key = Ed25519KeyPair::from_seed_unchecked(&body[2..]).map_err(|_| "its seed is no Ed25519 key")?;
        Ok(Self { key, jwt: jwt(text)? })
    }

    /// The name of the key: `U`...
    pub(super) fn public_key(&self) -> String {
        let mut bytes = vec![USER];
        bytes.extend_from_slice(self.key.public_key().as_ref());
        let sum = crc16(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        base32(&bytes)
    }

    pub(super) fn jwt(&self) -> Option<&str> {
        self.jwt.as_deref()
    }

    pub(super) fn sign(&self, nonce: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.key.sign(nonce.as_bytes()))
    }
}

/// The line between the marks, where a file of credentials has them.
fn jwt(text: &str) -> Result<Option<String>, String> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| !line.contains("BEGIN NATS USER JWT"));
    if lines.next().is_none() {
        return Ok(None);
    }
    match lines.find(|line| !line.is_empty()) {
        Some(jwt) if jwt.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')) => {
            Ok(Some(jwt.to_owned()))
        }
        _ => Err("it holds no JWT between its marks".to_owned()),
    }
}

const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// RFC 4648 section 6, without padding.
fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            out.push(char::from(DIGITS[(bits >> count) as usize & 31]));
        }
    }
    if count > 0 {
        out.push(char::from(DIGITS[(bits << (5 - count)) as usize & 31]));
    }
    out
}

fn unbase32(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 5 / 8);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let digit = DIGITS.iter().position(|&digit| digit == byte)?;
        bits = bits << 5 | digit as u32;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, &byte| {
        (0..8).fold(sum ^ u16::from(byte) << 8, |sum, _| if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The key pair of the documentation of NATS.
    const KEY: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const NAME: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

    #[test]
    fn seeds_and_credentials_are_read() {
        let key = Credentials::parse(&format!("{KEY}\n")).unwrap();
        assert_eq!((&*key.public_key(), key.jwt()), (NAME, None));
        // Ed25519 has one signature for one text.
        assert_eq!(key.sign("nonce"), key.sign("nonce"));
        let text = format!(
            "-----BEGIN NATS USER JWT-----\nab.c-_\n------END NATS USER JWT------\n\nIMPORTANT\n\
             -----BEGIN USER NKEY SEED-----\r\n{KEY}\r\n------END USER NKEY SEED------\n"
        );
        assert_eq!(Credentials::parse(&text).unwrap().jwt(), Some("ab.c-_"));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_key() {
        let mistyped = KEY.replace("CSSL3", "CSSL4");
        let no_jwt = format!("-----BEGIN NATS USER JWT-----\n{{}}\n{KEY}");
        for (text, word) in
            [("", "no seed"), (&*mistyped, "mistyped"), (&*KEY.replace('3', "1"), "base32"), (&*no_jwt, "no JWT")]
        {
            let error = Credentials::parse(text).unwrap_err();
            assert!(error.contains(word) && !error.contains("SUAC"), "{error}");
        }
        let missing = Credentials::read(Path::new("/nonexistent/x.creds")).unwrap_err();
        assert!(missing.starts_with("/nonexistent/x.creds: "), "{missing}");
    }
}
