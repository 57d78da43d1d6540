//! What rustls makes of the settings of a TLS port.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion, version};

use crate::certificate::certified;
use crate::clients;
use crate::files::Files;
use crate::names::Names;
use crate::settings::{Demand, Identity, ServerTls, Versions};
use crate::tickets::Tickets;
use crate::{TlsError, pem, provider};

impl Versions {
    fn list(self) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
        let mut list = Vec::with_capacity(2);
        if self.tls13 {
            list.push(&version::TLS13);
        }
        if self.tls12 {
            list.push(&version::TLS12);
        }
        if list.is_empty() {
            return Err(TlsError::new(
                "ssl_protocols leaves no version: allow TLS 1.2 or TLS 1.3 (older ones are not safe)",
            ));
        }
        Ok(list)
    }
}

/// What sessions of a port begin with.
#[derive(Debug)]
pub struct Served(pub(crate) Names<ServerConfig>);

impl From<ServerConfig> for Served {
    fn from(config: ServerConfig) -> Self {
        Self(Names::new(Arc::new(config)))
    }
}

impl ServerTls {
    /// What sessions need, from files as they were read.
    ///
    /// # Errors
    /// Which file or setting cannot be used, and why.
    pub fn build(&self, files: &Files, tickets: &Arc<Tickets>) -> Result<Arc<Served>, TlsError> {
        let mut keys = Names::new(identified(&self.identity, files)?);
        for (name, identity) in &self.names {
            keys.add(name, identified(identity, files)?);
        }
        let keys = Arc::new(keys);
        let mut configs = Names::new(self.config(&self.demand, &keys, files, tickets)?);
        let mut made: Vec<(&Demand, Arc<ServerConfig>)> = Vec::new();
        for (name, demand) in &self.demands {
            let known = made.iter().find(|(known, _)| *known == demand).map(|(_, config)| Arc::clone(config));
            let config = known.map_or_else(|| self.config(demand, &keys, files, tickets), Ok)?;
            made.push((demand, Arc::clone(&config)));
            configs.add(name, config);
        }
        Ok(Arc::new(Served(configs)))
    }

    fn config(
        &self,
        demand: &Demand,
        keys: &Arc<Names<CertifiedKey>>,
        files: &Files,
        tickets: &Arc<Tickets>,
    ) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(self.choice.apply(&provider())?);
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&self.versions.list()?)
            .map_err(|error| TlsError::new(format!("ssl_protocols and ssl_ciphers do not fit: {error}")))?;
        let builder = if demand.verify_peer {
            let named = match &demand.ca_file {
                Some(file) => pem::certificates(file, files.get(file)?)?,
                None => Vec::new(),
            };
            let verifier = clients::verifier(demand.authorities(files)?, named, provider)
                .map_err(|error| TlsError::new(format!("ssl_verify_peer: {error}")))?;
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let mut config = builder.with_cert_resolver(Arc::<Names<CertifiedKey>>::clone(keys));
        config.ticketer = Arc::<Tickets>::clone(tickets);
        config.send_tls13_tickets = 2;
        // The list of `ssl_ciphers` says that the best come first; many clients' own lists are of another time.
        config.ignore_client_order = true;
        config.alpn_protocols.clone_from(&self.alpn);
        Ok(Arc::new(config))
    }
}

impl Demand {
    fn authorities(&self, files: &Files) -> Result<RootCertStore, TlsError> {
        let mut roots = RootCertStore::empty();
        if let Some(file) = &self.ca_file {
            let (added, _) = roots.add_parsable_certificates(pem::certificates(file, files.get(file)?)?);
            if added == 0 {
                return Err(pem::unusable(file, "there is no certificate in it that can be used"));
            }
        }
        if let Some(folder) = &self.ca_path {
            let found = files.inside(folder).filter_map(|(path, bytes)| pem::certificates(path, bytes).ok()).flatten();
            let (added, _) = roots.add_parsable_certificates(found.collect::<Vec<CertificateDer<'static>>>());
            if added == 0 {
                return Err(pem::unusable(folder, "there is no PEM file with a certificate in it"));
            }
        }
        if roots.is_empty() {
            return Err(TlsError::new(
                "ssl_verify_peer needs the authorities of clients' certificates: set ssl_client_cert_file, ssl_cafile or \
                 ssl_capath",
            ));
        }
        Ok(roots)
    }
}

fn identified(identity: &Identity, files: &Files) -> Result<Arc<CertifiedKey>, TlsError> {
    let Identity { cert_file, key_file, passphrase, stapling_file } = identity;
    let chain = pem::certificates(cert_file, files.get(cert_file)?)?;
    let key = pem::key(key_file, files.get(key_file)?, passphrase)?;
    let mut made = certified(chain, key, &provider()).map_err(|error| {
        pem::unusable(
            cert_file,
            &format!("the certificate cannot be used with the key of {}: {error}", key_file.display()),
        )
    })?;
    if let Some(file) = stapling_file {
        let response = files.get(file)?;
        if !is_ocsp_response(response) {
            return Err(pem::unusable(file, "it is no successful OCSP response (DER)"));
        }
        made.ocsp = Some(response.to_vec());
    }
    Ok(Arc::new(made))
}

/// Whether it begins as a response does that tells of a certificate (RFC 6960 section 4.2.1): a sequence, of the length
/// that the file has, whose first element is the status 0. What it says is for clients to verify.
fn is_ocsp_response(der: &[u8]) -> bool {
    let Some((&0x30, rest)) = der.split_first() else { return false };
    let (length, content) = match rest.split_first() {
        Some((&short @ ..=0x7f, content)) => (usize::from(short), content),
        Some((&long @ 0x81..=0x84, rest)) => {
            let Some((digits, content)) = rest.split_at_checked(usize::from(long & 0x7f)) else { return false };
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), content)
        }
        _ => return false,
    };
    content.len() == length && content.starts_with(&[0x0a, 0x01, 0x00])
}
