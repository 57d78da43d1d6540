//! Which certificate a client is shown, by the name it asked for (RFC 6066 section 3).

use std::collections::HashMap;
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Something by name, such as certificates: the exact one, else the wildcard of its domain, else the port's own.
#[derive(Debug, Clone)]
pub(crate) struct Names<T> {
    own: Arc<T>,
    exact: HashMap<String, Arc<T>>,
    /// By what follows `*.`.
    wildcard: HashMap<String, Arc<T>>,
}

impl<T> Names<T> {
    pub(crate) fn new(own: Arc<T>) -> Self {
        Self { own, exact: HashMap::new(), wildcard: HashMap::new() }
    }

    pub(crate) fn add(&mut self, name: &str, key: Arc<T>) {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        match name.strip_prefix("*.") {
            Some(domain) => self.wildcard.insert(domain.to_owned(), key),
            None => self.exact.insert(name, key),
        };
    }

    /// The port's own.
    pub(crate) fn own(&self) -> &Arc<T> {
        &self.own
    }

    /// Whether all names have the port's own.
    pub(crate) fn is_one(&self) -> bool {
        self.exact.is_empty() && self.wildcard.is_empty()
    }

    pub(crate) fn find(&self, name: &str) -> &Arc<T> {
        // rustls gives names in lower case.
        let name = name.trim_end_matches('.');
        let wild = || name.split_once('.').and_then(|(_, domain)| self.wildcard.get(domain));
        self.exact.get(name).or_else(wild).unwrap_or(&self.own)
    }
}

impl ResolvesServerCert for Names<CertifiedKey> {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(hello.server_name().map_or(&self.own, |name| self.find(name))))
    }
}
