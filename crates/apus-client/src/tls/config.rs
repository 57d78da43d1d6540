//! From [`TlsOptions`] to the configurations of rustls, read once and kept while their files stay the same.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use apus_tls::{certified, client_verifier, pem, provider};
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::SingleCertAndKey;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion, server::VerifierBuilderError, version,
};

use super::unverified::Unverified;
use super::verify::{Believed, Verifier};
use super::{TlsError, TlsOptions};

/// Configurations kept. A program has few distinct ones; each holds its session tickets.
const KEPT: usize = 32;
/// Options, and when each file that they name was last written.
type Key = (TlsOptions, [Option<SystemTime>; 4]);

struct Cache<C>(Mutex<VecDeque<(Key, Arc<C>)>>);

impl<C: Send + Sync + 'static> Cache<C> {
    const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// The configuration of `options`; made on the blocking pool when it is not kept, as files are read.
    async fn get(
        &'static self,
        options: &TlsOptions,
        make: fn(&TlsOptions) -> Result<C, TlsError>,
    ) -> Result<Arc<C>, TlsError> {
        let key = key(options);
        if let Some(found) = self.find(&key) {
            return Ok(found);
        }
        let made = tokio::task::spawn_blocking(move || {
            let made = Arc::new(make(&key.0)?);
            self.keep(key, Arc::clone(&made));
            Ok(made)
        });
        made.await.map_err(|error| TlsError::Options(format!("TLS could not be prepared: {error}")))?
    }

    /// The same, made here.
    fn prepare(
        &'static self,
        options: &TlsOptions,
        make: fn(&TlsOptions) -> Result<C, TlsError>,
    ) -> Result<(), TlsError> {
        let key = key(options);
        if self.find(&key).is_none() {
            self.keep(key, Arc::new(make(options)?));
        }
        Ok(())
    }

    fn find(&self, key: &Key) -> Option<Arc<C>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(other, _)| other == key).map(|(_, config)| Arc::clone(config))
    }

    fn keep(&self, key: Key, config: Arc<C>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|((options, _), _)| *options != key.0);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((key, config));
    }
}

fn key(options: &TlsOptions) -> Key {
    let files = [&options.ca_file, &options.ca_path, &options.cert_file, &options.key_file];
    let written = files.map(|file| std::fs::metadata(file.as_ref()?).ok()?.modified().ok());
    (options.clone(), written)
}

static CLIENTS: Cache<ClientConfig> = Cache::new();
static SERVERS: Cache<ServerConfig> = Cache::new();

/// The client's configuration.
pub(super) async fn client(options: &TlsOptions) -> Result<Arc<ClientConfig>, TlsError> {
    CLIENTS.get(options, make_client).await
}

/// The server's configuration.
pub(super) async fn server(options: &TlsOptions) -> Result<Arc<ServerConfig>, TlsError> {
    SERVERS.get(options, make_server).await
}

/// Makes the configuration of a client or a server before it is needed.
pub(super) fn prepare(options: &TlsOptions, server: bool) -> Result<(), TlsError> {
    if server { SERVERS.prepare(options, make_server) } else { CLIENTS.prepare(options, make_client) }
}

fn versions(options: &TlsOptions) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
    let mut versions = Vec::with_capacity(2);
    if options.tls13 {
        versions.push(&version::TLS13);
    }
    if options.tls12 {
        versions.push(&version::TLS12);
    }
    if versions.is_empty() {
        return Err(refuse("no TLS version is left: allow TLS 1.2 or TLS 1.3 (older ones are not safe)".to_owned()));
    }
    Ok(versions)
}

fn make_client(options: &TlsOptions) -> Result<ClientConfig, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&versions(options)?)
        .map_err(TlsError::Handshake)?
        .dangerous();
    let builder = builder.with_custom_certificate_verifier(if options.verify_peer {
        Arc::new(Believed { provider: provider(), verifier: strict_verifier(options)? }) as Arc<dyn ServerCertVerifier>
    } else {
        Arc::new(Unverified { provider: provider() })
    });
    let mut config = match identity(options)? {
        Some((chain, key)) => {
            let certified = certified(chain, key, &provider()).map_err(|e| bad_identity(options, &e))?;
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certified)))
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols.clone_from(&options.alpn);
    Ok(config)
}

fn make_server(options: &TlsOptions) -> Result<ServerConfig, TlsError> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&versions(options)?)
        .map_err(TlsError::Handshake)?;
    let named = options.ca_file.is_some() || options.ca_path.is_some();
    let builder = if options.verify_peer && named {
        let verifier = client_verifier(authorities(options)?, Vec::new(), provider());
        builder.with_client_cert_verifier(verifier.map_err(|e: VerifierBuilderError| refuse(e.to_string()))?)
    } else {
        builder.with_no_client_auth()
    };
    let Some((chain, key)) = identity(options)? else {
        return Err(refuse("a TLS server needs a certificate and its key: set both files".to_owned()));
    };
    let certified = certified(chain, key, &provider()).map_err(|e| bad_identity(options, &e))?;
    let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    config.alpn_protocols.clone_from(&options.alpn);
    Ok(config)
}

/// The verifier that verifies, whatever `verify_peer` says.
pub(super) fn strict_verifier(options: &TlsOptions) -> Result<Verifier, TlsError> {
    let named = options.ca_file.is_some() || options.ca_path.is_some();
    // A program that trusts certificates that signed themselves may run where no authority is installed.
    let roots = match authorities(options) {
        Err(_) if options.allow_self_signed && !named => RootCertStore::empty(),
        other => other?,
    };
    let pinned = match &options.ca_file {
        Some(file) => certificates(file)?,
        None => Vec::new(),
    };
    Verifier::new(provider(), roots, pinned, options.allow_self_signed, options.verify_name)
        .map_err(|error| refuse(format!("the authorities cannot be used: {error}")))
}

fn authorities(options: &TlsOptions) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = &options.ca_file {
        let found = certificates(file)?;
        let (added, _) = roots.add_parsable_certificates(found);
        if added == 0 {
            return Err(refuse(format!("{} holds no certificate that can be used", file.display())));
        }
    }
    if let Some(folder) = &options.ca_path {
        add_folder(&mut roots, folder)?;
    }
    if options.ca_file.is_none() && options.ca_path.is_none() {
        return system_roots();
    }
    Ok(roots)
}

fn add_folder(roots: &mut RootCertStore, folder: &Path) -> Result<(), TlsError> {
    let entries = std::fs::read_dir(folder).map_err(|e| unreadable(folder, &e.to_string()))?;
    let mut added = 0;
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_file()) {
        // A folder of authorities may hold other files, too; they are passed over.
        if let Ok(found) = certificates(&path) {
            added += roots.add_parsable_certificates(found).0;
        }
    }
    if added == 0 {
        return Err(refuse(format!("{} holds no PEM file with a certificate", folder.display())));
    }
    Ok(())
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    static ROOTS: LazyLock<RootCertStore> = LazyLock::new(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    });
    if ROOTS.is_empty() {
        return Err(refuse(
            "the system has no certificate authorities: install ca-certificates, or name a file of authorities"
                .to_owned(),
        ));
    }
    Ok(ROOTS.clone())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    pem::read(path).and_then(|pem| pem::certificates(path, &pem)).map_err(unusable)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The certificate to show and its key. One PEM file may hold both.
fn identity(options: &TlsOptions) -> Result<Option<Identity>, TlsError> {
    let (cert, key): (&PathBuf, &PathBuf) = match (&options.cert_file, &options.key_file) {
        (None, None) => return Ok(None),
        (Some(cert), None) => (cert, cert),
        (Some(cert), Some(key)) => (cert, key),
        (None, Some(_)) => return Err(refuse("a TLS key is of no use without its certificate: set both files".into())),
    };
    let chain = certificates(cert)?;
    let key = pem::read(key).and_then(|pem| pem::key(key, &pem, &options.passphrase)).map_err(unusable)?;
    Ok(Some((chain, key)))
}

fn bad_identity(options: &TlsOptions, error: &tokio_rustls::rustls::Error) -> TlsError {
    let file = options.cert_file.as_deref().unwrap_or(Path::new(""));
    refuse(format!("{}: the certificate cannot be used with its key: {error}", file.display()))
}

fn unreadable(path: &Path, why: &str) -> TlsError {
    refuse(format!("{}: {why}", path.display()))
}

fn unusable(error: apus_tls::TlsError) -> TlsError {
    refuse(error.to_string())
}

fn refuse(why: String) -> TlsError {
    TlsError::Options(why)
}
