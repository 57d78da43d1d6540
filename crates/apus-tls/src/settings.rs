//! The settings of a TLS port.

use std::path::{Path, PathBuf};

use crate::ciphers::Choice;

/// The versions a port speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// TLS 1.2 (RFC 5246).
    pub tls12: bool,
    /// TLS 1.3 (RFC 8446).
    pub tls13: bool,
}

impl Default for Versions {
    fn default() -> Self {
        Self { tls12: true, tls13: true }
    }
}

/// A certificate and its key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// PEM file of the certificate and those between it and an authority.
    pub cert_file: PathBuf,
    /// PEM file of the key; may be the same.
    pub key_file: PathBuf,
    /// What the key is encrypted with; empty where it is not.
    pub passphrase: String,
    /// DER file of an OCSP response that is stapled to the certificate.
    pub stapling_file: Option<PathBuf>,
}

/// What certificates clients must show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    /// Whether they must show one of an authority of `ca_file` or `ca_path`.
    pub verify_peer: bool,
    /// PEM file of authorities for clients' certificates.
    pub ca_file: Option<PathBuf>,
    /// Folder of such files.
    pub ca_path: Option<PathBuf>,
}

/// The settings of a port that speaks TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerTls {
    /// Shown to clients that ask for no name, or for one that is not listed.
    pub identity: Identity,
    /// Further ones by name; `*.` begins a wildcard.
    pub names: Vec<(String, Identity)>,
    /// The versions spoken.
    pub versions: Versions,
    /// Cipher suites and groups.
    pub choice: Choice,
    /// What clients must show.
    pub demand: Demand,
    /// What those must show who ask for one of these names, where that differs; `*.` begins a wildcard.
    pub demands: Vec<(String, Demand)>,
    /// Protocols offered by ALPN (RFC 7301), the best first.
    pub alpn: Vec<Vec<u8>>,
}

impl ServerTls {
    /// The certificate that clients are shown who ask for a name, which may be a wildcard itself.
    pub fn identity_of(&self, name: &str) -> &Identity {
        let same = |wanted: &str| {
            let named = |(known, _): &&(String, Identity)| known.trim_end_matches('.').eq_ignore_ascii_case(wanted);
            self.names.iter().rev().find(named).map(|(_, identity)| identity)
        };
        let name = name.trim_end_matches('.');
        let wild = || same(&format!("*.{}", name.split_once('.')?.1));
        same(name).or_else(wild).unwrap_or(&self.identity)
    }

    /// The folders of authorities for clients' certificates.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.all_demands().filter_map(|demand| demand.ca_path.as_deref())
    }

    fn all_demands(&self) -> impl Iterator<Item = &Demand> {
        std::iter::once(&self.demand).chain(self.demands.iter().map(|(_, demand)| demand))
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let identities = std::iter::once(&self.identity).chain(self.names.iter().map(|(_, identity)| identity));
        identities
            .flat_map(|identity| {
                [
                    Some(identity.cert_file.as_path()),
                    Some(identity.key_file.as_path()),
                    identity.stapling_file.as_deref(),
                ]
            })
            .chain(self.all_demands().map(|demand| demand.ca_file.as_deref()))
            .flatten()
    }
}
