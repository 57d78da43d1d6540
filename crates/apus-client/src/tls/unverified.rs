//! Any certificate, as the caller asked: the handshake still proves that the peer has its key.
//!
//! Of the certificate only the key is read, so that one of X.509 version 1 will do, which webpki refuses.

use std::sync::Arc;

use apus_tls::public_key;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, Error, PeerMisbehaved, SignatureScheme};

/// Believes everybody who has the key of the certificate that they show.
#[derive(Debug)]
pub(super) struct Unverified {
    pub(super) provider: Arc<CryptoProvider>,
}

impl Unverified {
    fn signed(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let malformed = || Error::InvalidCertificate(CertificateError::BadEncoding);
        let key = SubjectPublicKeyInfoDer::from(public_key(cert).ok_or_else(malformed)?);
        let key = webpki::RawPublicKeyEntity::try_from(&key).map_err(|_| malformed())?;
        let known = self.provider.signature_verification_algorithms.mapping;
        let Some((_, algorithms)) = known.iter().find(|(scheme, _)| *scheme == dss.scheme) else {
            return Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into());
        };
        // The kind of key decides which of a scheme's algorithms it is.
        if algorithms.iter().any(|&algorithm| key.verify_signature(algorithm, message, dss.signature()).is_ok()) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        Err(Error::InvalidCertificate(CertificateError::BadSignature))
    }
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _leaf: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // RSA-PKCS1 and SHA-1 are of TLS 1.2 alone (RFC 8446 section 4.2.3).
        if is_of_tls12(dss.scheme) {
            return Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into());
        }
        self.signed(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

const fn is_of_tls12(scheme: SignatureScheme) -> bool {
    matches!(
        scheme,
        SignatureScheme::RSA_PKCS1_SHA1
            | SignatureScheme::ECDSA_SHA1_Legacy
            | SignatureScheme::RSA_PKCS1_SHA256
            | SignatureScheme::RSA_PKCS1_SHA384
            | SignatureScheme::RSA_PKCS1_SHA512
    )
}
