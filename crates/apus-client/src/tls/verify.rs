//! Which certificates are believed.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Why a certificate was refused, in words that say what to do.
#[derive(Debug, Clone)]
pub struct Refusal(CertificateError);

impl From<CertificateError> for Refusal {
    fn from(error: CertificateError) -> Self {
        Self(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the peer's certificate was refused: ")?;
        match &self.0 {
            CertificateError::UnknownIssuer => f.write_str(
                "no known authority signed it; name the authority in ssl_cafile, or set ssl_allow_self_signed if it signed itself",
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                f.write_str("it has expired; it has to be renewed (or the clock here is wrong)")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                f.write_str("it is not valid yet (or the clock here is wrong)")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => f.write_str(
                "it is made for other names; connect by one of its names, or give that name in ssl_host_name",
            ),
            other if is_ca_as_leaf(other) => f.write_str(
                "it is an authority's own certificate; name it in ssl_cafile, or set ssl_allow_self_signed",
            ),
            other => write!(f, "{other}"),
        }
    }
}

fn is_ca_as_leaf(error: &CertificateError) -> bool {
    let CertificateError::Other(other) = error else { return false };
    matches!(other.0.downcast_ref::<webpki::Error>(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// Whether only the way to an authority is missing. A signature that does not match is one such case: an authority that
/// merely bears the issuer's name, as an older self-signed certificate of the same host does.
fn has_no_chain(error: &CertificateError) -> bool {
    matches!(error, CertificateError::UnknownIssuer | CertificateError::BadSignature) || is_ca_as_leaf(error)
}

/// DER as PEM (RFC 7468).
pub(super) fn pem(der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(der.len() * 4 / 3 + der.len() / 48 + 64);
    out.push_str("-----BEGIN CERTIFICATE-----\n");
    // 48 bytes make one line of 64 digits.
    for line in der.chunks(48) {
        for group in line.chunks(3) {
            let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
            for digit in 0..4 {
                let index = (bits >> (18 - 6 * digit)) as usize & 63;
                out.push(if digit <= group.len() { char::from(DIGITS[index]) } else { '=' });
            }
        }
        out.push('\n');
    }
    out.push_str("-----END CERTIFICATE-----\n");
    out
}

/// Verifies chain, dates and name.
#[derive(Debug)]
pub(super) struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None` without authorities, when only certificates that signed themselves can be valid.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that are trusted as they are: a server may show one of these itself.
    pinned: Vec<CertificateDer<'static>>,
    allow_self_signed: bool,
    verify_name: bool,
}

impl Verifier {
    pub(super) fn new(
        provider: Arc<CryptoProvider>,
        roots: RootCertStore,
        pinned: Vec<CertificateDer<'static>>,
        allow_self_signed: bool,
        verify_name: bool,
    ) -> Result<Self, String> {
        let chain = if roots.is_empty() { None } else { Some(webpki_verifier(&provider, roots)?) };
        Ok(Self { provider, chain, pinned, allow_self_signed, verify_name })
    }

    /// Whether the certificate is to be believed.
    pub(super) fn check(
        &self,
        leaf: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        let result = match &self.chain {
            Some(roots) => roots.verify_server_cert(leaf, chain, name, ocsp, now).map(drop),
            None => Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)),
        };
        let Err(Error::InvalidCertificate(why)) = result else { return result };
        match why {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
                if !self.verify_name =>
            {
                Ok(())
            }
            why if has_no_chain(&why) && self.trusts_itself(leaf) => self.check_alone(leaf, name, now),
            why => Err(Error::InvalidCertificate(why)),
        }
    }

    fn trusts_itself(&self, leaf: &CertificateDer<'_>) -> bool {
        self.pinned.iter().any(|pinned| pinned.as_ref() == leaf.as_ref())
            || (self.allow_self_signed
                && webpki::EndEntityCert::try_from(leaf).is_ok_and(|cert| cert.issuer() == cert.subject()))
    }

    /// Verifies a certificate as its own authority: dates, then name.
    fn check_alone(&self, leaf: &CertificateDer<'_>, name: &ServerName<'_>, now: UnixTime) -> Result<(), Error> {
        let mut roots = RootCertStore::empty();
        roots.add(leaf.clone().into_owned())?;
        let alone = webpki_verifier(&self.provider, roots).map_err(Error::General)?;
        match alone.verify_server_cert(leaf, &[], name, &[], now) {
            // The usual self-signed certificate calls itself an authority; webpki says so after it has seen the dates.
            Err(Error::InvalidCertificate(why)) if is_ca_as_leaf(&why) => {
                if self.verify_name {
                    verify_server_name(&ParsedCertificate::try_from(leaf)?, name)
                } else {
                    Ok(())
                }
            }
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.verify_name => Ok(()),
            other => other.map(drop),
        }
    }
}

fn webpki_verifier(provider: &Arc<CryptoProvider>, roots: RootCertStore) -> Result<Arc<WebPkiServerVerifier>, String> {
    WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(provider)).build().map_err(|e| e.to_string())
}

/// Believes what the verifier believes.
#[derive(Debug)]
pub(super) struct Believed {
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) verifier: Verifier,
}

impl ServerCertVerifier for Believed {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier.check(leaf, chain, name, ocsp, now).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
