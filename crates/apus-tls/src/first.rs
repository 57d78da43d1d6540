//! Certificates of X.509 version 1 that clients show. webpki reads none of them: they cannot say what they are for,
//! and whether they may sign others. Shown by a client, and signed by an authority itself, a certificate has none of
//! that to say: what it names, how long it holds and who signed it is all that is asked.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{SubjectPublicKeyInfoDer, TrustAnchor, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error};
use webpki::RawPublicKeyEntity;

use crate::certificate::{INTEGER, SEQUENCE, element};

/// Tags of DER (X.690 section 8.1.2).
const BIT_STRING: u8 = 0x03;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// What is asked of a certificate of version 1 (RFC 5280 section 4.1).
pub(crate) struct First<'a> {
    signed: &'a [u8],
    algorithm: &'a [u8],
    signature: &'a [u8],
    issuer: &'a [u8],
    since: UnixTime,
    until: UnixTime,
    key: &'a [u8],
}

impl<'a> First<'a> {
    /// `None`: it is none of version 1, or badly made.
    pub(crate) fn read(der: &'a [u8]) -> Option<Self> {
        let whole = alone(der, SEQUENCE)?;
        let (signed, left) = element(whole, SEQUENCE)?;
        let (algorithm, left) = element(left, SEQUENCE)?;
        // All signatures are whole bytes: the number of bits left out of the last one is 0.
        let signature = alone(left, BIT_STRING)?.strip_prefix(&[0])?;
        // There is no field for a version before that of the number.
        let (_, left) = element(signed.content, INTEGER)?;
        let (inner, left) = element(left, SEQUENCE)?;
        let (issuer, left) = element(left, SEQUENCE)?;
        let (validity, left) = element(left, SEQUENCE)?;
        let (_, left) = element(left, SEQUENCE)?;
        // Extensions and identifiers, which later versions have, would follow it.
        let (key, []) = element(left, SEQUENCE)? else { return None };
        if inner.whole != algorithm.whole {
            return None;
        }
        let (since, left) = moment(validity.content)?;
        let (until, []) = moment(left)? else { return None };
        Some(Self {
            signed: signed.whole,
            algorithm: algorithm.content,
            signature,
            issuer: issuer.content,
            since,
            until,
            key: key.whole,
        })
    }

    /// Whether one of `anchors` signed it, and it holds `now`.
    pub(crate) fn verify(
        &self,
        anchors: &[TrustAnchor<'_>],
        now: UnixTime,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<(), CertificateError> {
        if now < self.since {
            return Err(CertificateError::NotValidYet);
        }
        if now > self.until {
            return Err(CertificateError::Expired);
        }
        // What names an authority may vouch for cannot be told of a certificate without the field for them.
        let named = anchors.iter().filter(|a| a.name_constraints.is_none() && a.subject.as_ref() == self.issuer);
        let mut failure = CertificateError::UnknownIssuer;
        for anchor in named {
            let key = sequence(&anchor.subject_public_key_info);
            let mut known = algorithms.all.iter().filter(|one| one.signature_alg_id().as_ref() == self.algorithm);
            if known.any(|one| signed_by(&key, |key| key.verify_signature(*one, self.signed, self.signature))) {
                return Ok(());
            }
            failure = CertificateError::BadSignature;
        }
        Err(failure)
    }

    /// Whether the client has the key: what it signed in a handshake of TLS 1.2, whose schemes do not tell the curve.
    pub(crate) fn verify_tls12(
        &self,
        message: &[u8],
        signed: &DigitallySignedStruct,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<(), Error> {
        let possible =
            algorithms.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme).map_or(&[][..], |of| of.1);
        let holds = possible
            .iter()
            .any(|one| signed_by(self.key, |key| key.verify_signature(*one, message, signed.signature())));
        if holds { Ok(()) } else { Err(CertificateError::BadSignature.into()) }
    }

    /// The same of TLS 1.3.
    pub(crate) fn verify_tls13(
        &self,
        message: &[u8],
        signed: &DigitallySignedStruct,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature_with_raw_key(message, &SubjectPublicKeyInfoDer::from(self.key), signed, algorithms)
    }
}

fn signed_by(key: &[u8], verify: impl FnOnce(&RawPublicKeyEntity<'_>) -> Result<(), webpki::Error>) -> bool {
    let key = SubjectPublicKeyInfoDer::from(key);
    RawPublicKeyEntity::try_from(&key).is_ok_and(|key| verify(&key).is_ok())
}

/// The content of the only element.
fn alone(der: &[u8], tag: u8) -> Option<&[u8]> {
    element(der, tag).filter(|(_, after)| after.is_empty()).map(|(found, _)| found.content)
}

/// The sequence with this content.
pub(crate) fn sequence(content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let digits = &length[length.iter().take_while(|&&digit| digit == 0).count()..];
    let mut out = vec![SEQUENCE];
    if let Ok(short @ ..=0x7f) = u8::try_from(content.len()) {
        out.push(short);
    } else {
        out.push(0x80 | digits.len() as u8);
        out.extend_from_slice(digits);
    }
    out.extend_from_slice(content);
    out
}

/// A time of `validity`, and what follows it: `YYMMDDhhmmssZ` of 1950 to 2049, or `YYYYMMDDhhmmssZ`.
fn moment(der: &[u8]) -> Option<(UnixTime, &[u8])> {
    let (text, century, left) = if let Some((short, left)) = element(der, UTC_TIME) {
        (short.content, None, left)
    } else {
        let (long, left) = element(der, GENERALIZED_TIME)?;
        let (century, text) = long.content.split_at_checked(2)?;
        (text, Some(number(century)?), left)
    };
    let [year, month, day, hour, minute, second] = fields(text)?;
    let year = century.map_or(if year < 50 { 2000 + year } else { 1900 + year }, |century| century * 100 + year);
    let (1970.., 1..=12, 1..=31, ..=23, ..=59, ..=59) = (year, month, day, hour, minute, second) else { return None };
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some((UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds)), left))
}

/// Six numbers of two digits, and `Z`.
fn fields(text: &[u8]) -> Option<[u64; 6]> {
    let digits = text.strip_suffix(b"Z").filter(|digits| digits.len() == 12)?;
    let mut fields = [0; 6];
    for (field, pair) in fields.iter_mut().zip(digits.chunks(2)) {
        *field = number(pair)?;
    }
    Some(fields)
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0')))
}

/// Days from 1 January 1970 to a day of the Gregorian calendar; years begin in March here, so that a leap day is the
/// last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    // From 1 March of the year 0 to 1 January 1970.
    of_years + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (date, expected) in
            [((1970, 1, 1), 0), ((2000, 2, 29), 11_016), ((2000, 3, 1), 11_017), ((2026, 11, 27), 20_784)]
        {
            assert_eq!(days(date.0, date.1, date.2), expected);
        }
    }

    #[test]
    fn times_have_two_forms() {
        let second = |der: &[u8]| moment(der).map(|(time, _)| time.as_secs());
        assert_eq!(second(b"\x17\x0d181207075943Z"), Some(1_544_169_583));
        assert_eq!(second(b"\x18\x0f20181207075943Z"), Some(1_544_169_583));
        assert_eq!(second(b"\x17\x0d181307075943Z"), None);
        assert_eq!(second(b"\x17\x0c18120707594Z"), None);
        assert_eq!(second(b"\x18\x0f2018120707594xZ"), None);
    }

    #[test]
    fn a_sequence_is_as_long_as_it_says() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x1_0000] {
            let content = vec![7; length];
            assert_eq!(alone(&sequence(&content), SEQUENCE), Some(&content[..]));
        }
    }
}
