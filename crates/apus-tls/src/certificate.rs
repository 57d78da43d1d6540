//! Of a certificate what its handshake needs, whatever its version: webpki reads none but those of version 3.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, InconsistentKeys};

/// A chain with the key of its first certificate.
///
/// # Errors
/// The key cannot be used, or is another certificate's.
pub fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, Error> {
    let certified = CertifiedKey::new(chain, provider.key_provider.load_private_key(key)?);
    let shown = certified.cert.first().and_then(|leaf| public_key(leaf));
    let shown = shown.ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
    let is_other = certified.key.public_key().is_some_and(|own| own.as_ref() != shown);
    if is_other { Err(InconsistentKeys::KeyMismatch.into()) } else { Ok(certified) }
}

/// Tags of DER (X.690 section 8.1.2).
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;

/// What a certificate says of its key (RFC 5280 section 4.1: `subjectPublicKeyInfo`), of any version.
pub fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    let (whole, _) = element(certificate, SEQUENCE)?;
    let (fields, _) = element(whole.content, SEQUENCE)?;
    // Those of version 1 do not tell it.
    let mut left = element(fields.content, VERSION).map_or(fields.content, |(_, after)| after);
    // serialNumber, signature, issuer, validity, subject
    for tag in [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE] {
        left = element(left, tag)?.1;
    }
    element(left, SEQUENCE).map(|(key, _)| key.whole)
}

/// An element of DER.
pub(crate) struct Element<'a> {
    pub(crate) whole: &'a [u8],
    pub(crate) content: &'a [u8],
}

/// The first element, which must have that tag, and what follows it.
pub(crate) fn element(der: &[u8], tag: u8) -> Option<(Element<'_>, &[u8])> {
    let (&first, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first().filter(|_| first == tag)?;
    let (length, rest) = match usize::from(short) {
        length @ ..=0x7f => (length, rest),
        // No certificate is longer than four bytes can tell.
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(long - 0x80)?;
            (digits.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    let whole = der.get(..der.len() - after.len())?;
    Some((Element { whole, content }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_with_and_without_a_version() {
        let key = [SEQUENCE, 1, 9];
        let fields = [&[INTEGER, 1, 1][..], &[SEQUENCE, 0, SEQUENCE, 0, SEQUENCE, 0, SEQUENCE, 0], &key].concat();
        for version in [&[][..], &[VERSION, 3, INTEGER, 1, 2]] {
            let inner = [version, &fields].concat();
            let tbs = [&[SEQUENCE, 0x81, inner.len() as u8][..], &inner].concat();
            let whole = [&[SEQUENCE, tbs.len() as u8][..], &tbs].concat();
            assert_eq!(public_key(&whole), Some(&key[..]));
            for cut in 0..whole.len() {
                assert_eq!(public_key(&whole[..cut]), None);
            }
        }
    }
}
