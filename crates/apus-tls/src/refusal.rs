//! Why a peer's certificate was not accepted, in the words that OpenSSL has for it.

use std::io;

use rustls::{CertificateError, Error};

/// The number and the words that OpenSSL has for what is wrong with the peer's certificate (`X509_V_ERR_*`), where that
/// is what ended the session with this error; 0 where there is none.
pub fn unverified(error: &io::Error) -> Option<(u32, &'static str)> {
    let inner = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match inner {
        Error::InvalidCertificate(why) => match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => (10, "certificate has expired"),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                (9, "certificate is not yet valid")
            }
            CertificateError::UnknownIssuer => (20, "unable to get local issuer certificate"),
            CertificateError::Revoked => (23, "certificate revoked"),
            CertificateError::BadSignature => (7, "certificate signature failure"),
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                (26, "unsuitable certificate purpose")
            }
            _ => (1, "unspecified certificate verification error"),
        },
        Error::NoCertificatesPresented => (0, "peer did not return a certificate"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certificates_have_such_a_number() {
        let of = |error: Error| unverified(&io::Error::new(io::ErrorKind::InvalidData, error));
        let expired = of(Error::InvalidCertificate(CertificateError::Expired));
        assert_eq!(expired, Some((10, "certificate has expired")));
        assert_eq!(of(Error::DecryptError), None);
        assert_eq!(unverified(&io::ErrorKind::Unsupported.into()), None);
    }
}
