//! The TLS of a listening port.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use apus_options::Settings;
use apus_tls::{Demand, Identity, Served, Versions};

/// Bits of `ssl_protocols`.
const TLS_1_2: u32 = 1 << 5;
const TLS_1_3: u32 = 1 << 6;

/// What a port's TLS is made of. It may be replaced while connections are open: they keep what they began with.
#[derive(Debug, Clone)]
pub struct Tls(Arc<Mutex<Arc<Served>>>);

impl Tls {
    /// TLS by that configuration.
    pub fn new(config: Arc<Served>) -> Self {
        Self(Arc::new(Mutex::new(config)))
    }

    pub(crate) fn now(&self) -> Arc<Served> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has new connections begin with another configuration.
    pub fn replace(&self, config: Arc<Served>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = config;
    }
}

/// What settings demand of clients.
pub fn demand(settings: &Settings) -> Demand {
    let path = |text: &str| (settings.ssl_verify_peer && !text.is_empty()).then(|| PathBuf::from(text));
    let (ca_file, ca_path) = (path(&settings.ssl_client_cert_file), path(&settings.ssl_capath));
    Demand { verify_peer: settings.ssl_verify_peer, ca_file, ca_path }
}

/// The certificate that settings name.
pub fn identity(settings: &Settings) -> Identity {
    let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
    let cert_file = PathBuf::from(&settings.ssl_cert_file);
    Identity {
        key_file: path(&settings.ssl_key_file).unwrap_or_else(|| cert_file.clone()),
        cert_file,
        passphrase: settings.ssl_passphrase.clone(),
        stapling_file: path(&settings.ssl_stapling_file),
    }
}

/// The certificates that settings name for the names of hosts.
pub fn identities(settings: &Settings) -> Vec<(String, Identity)> {
    let named = settings.ssl_sni_certs.iter().map(|certificate| {
        let stapling_file = &certificate.stapling_file;
        let identity = Identity {
            cert_file: PathBuf::from(&certificate.cert_file),
            key_file: PathBuf::from(&certificate.key_file),
            passphrase: certificate.passphrase.clone(),
            stapling_file: (!stapling_file.is_empty()).then(|| PathBuf::from(stapling_file)),
        };
        (certificate.host.clone(), identity)
    });
    named.collect()
}

/// Looks at `ssl_hsts`, the value of Strict-Transport-Security (RFC 6797 section 6.1): browsers ignore one that is
/// malformed.
///
/// # Errors
/// When it is.
pub fn check_hsts(settings: &Settings) -> Result<(), String> {
    let value = &settings.ssl_hsts;
    let is_age = |part: &str| {
        part.trim()
            .strip_prefix("max-age=")
            .is_some_and(|age| !age.is_empty() && age.bytes().all(|b| b.is_ascii_digit()))
    };
    let sound = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.split(';').any(is_age);
    if value.is_empty() || sound {
        return Ok(());
    }
    Err("setting \"ssl_hsts\" must have a max-age, in seconds: max-age=31536000; includeSubDomains".to_owned())
}

/// The versions that settings allow.
pub fn versions(settings: &Settings) -> Versions {
    let allowed = |version| settings.ssl_protocols == 0 || settings.ssl_protocols & version != 0;
    Versions { tls12: allowed(TLS_1_2), tls13: allowed(TLS_1_3) }
}
