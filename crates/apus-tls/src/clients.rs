//! Certificates of clients: signed by an authority, or named themselves.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};

use crate::first::First;

/// What verifies the certificates of clients: signed by one of `roots`, of version 1 directly, or among those named.
///
/// # Errors
/// No authority is among `roots`.
pub fn verifier(
    roots: RootCertStore,
    named: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, VerifierBuilderError> {
    let (roots, algorithms) = (Arc::new(roots), provider.signature_verification_algorithms);
    let authorities = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), provider).build()?;
    Ok(Arc::new(NamedOrSigned { authorities, roots, named, algorithms }))
}

/// Verifies as `authorities` does, and accepts a certificate that is itself among those named: one that signed itself
/// has no other authority.
#[derive(Debug)]
struct NamedOrSigned {
    authorities: Arc<dyn ClientCertVerifier>,
    roots: Arc<RootCertStore>,
    named: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
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
        if only_unsigned && self.named.contains(shown) {
            return Ok(ClientCertVerified::assertion());
        }
        let Some(first) = First::read(shown) else { return verified };
        first.verify(&self.roots.roots, now, &self.algorithms)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(first) = First::read(certificate) else {
            return self.authorities.verify_tls12_signature(message, certificate, signature);
        };
        first.verify_tls12(message, signature, &self.algorithms)?;
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(first) = First::read(certificate) else {
            return self.authorities.verify_tls13_signature(message, certificate, signature);
        };
        first.verify_tls13(message, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}
