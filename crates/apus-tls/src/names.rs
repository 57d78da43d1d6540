//! Which certificate a client is shown, by the name it asked for (RFC 6066 section 3).

use std::collections::HashMap;
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Certificates by name: the exact one, else the wildcard of its domain, else the port's own.
#[derive(Debug)]
pub(crate) struct Names {
    own: Arc<CertifiedKey>,
    exact: HashMap<String, Arc<CertifiedKey>>,
    /// By what follows `*.`.
    wildcard: HashMap<String, Arc<CertifiedKey>>,
}

impl Names {
    pub(crate) fn new(own: Arc<CertifiedKey>) -> Self {
        Self { own, exact: HashMap::new(), wildcard: HashMap::new() }
    }

    pub(crate) fn add(&mut self, name: &str, key: Arc<CertifiedKey>) {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        match name.strip_prefix("*.") {
            Some(domain) => self.wildcard.insert(domain.to_owned(), key),
            None => self.exact.insert(name, key),
        };
    }

    fn find(&self, name: &str) -> &Arc<CertifiedKey> {
        // rustls gives names in lower case.
        let name = name.trim_end_matches('.');
        let wild = || name.split_once('.').and_then(|(_, domain)| self.wildcard.get(domain));
        self.exact.get(name).or_else(wild).unwrap_or(&self.own)
    }
}

impl ResolvesServerCert for Names {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(hello.server_name().map_or(&self.own, |name| self.find(name))))
    }
}
