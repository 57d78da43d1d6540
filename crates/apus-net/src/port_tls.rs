//! The TLS of a listening port.

use std::sync::{Arc, Mutex, PoisonError};

use apus_tls::Served;

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
