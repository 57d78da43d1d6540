//! Certificates of clients: signed by an authority, or named themselves.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

/// Verifies as `authorities` does, and accepts a certificate that is itself among those named: one that signed itself
/// has no other authority.
#[derive(Debug)]
pub(crate) struct NamedOrSigned {
    pub(crate) authorities: Arc<dyn ClientCertVerifier>,
    pub(crate) named: Vec<CertificateDer<'static>>,
}

impl ClientCertVerifier for NamedOrSigned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authorities.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.authorities.verify_client_cert(shown, between, now);
        let Err(Error::InvalidCertificate(why)) = &verified else { return verified };
        let only_unsigned = matches!(why, CertificateError::UnknownIssuer | CertificateError::Other(_));
        if only_unsigned && self.named.contains(shown) { Ok(ClientCertVerified::assertion()) } else { verified }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}
