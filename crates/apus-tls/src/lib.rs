//! TLS of a server, between bytes and bytes: certificates, names, session tickets, and a session that seals and opens.
//!
//! Nothing here waits, and nothing but [`Files::read`] reads a file: keys are read by the process that may, and used by
//! those that serve.
#![forbid(unsafe_code)]

mod certificate;
mod ciphers;
mod clients;
mod files;
mod first;
mod names;
pub mod pem;
mod refusal;
mod server;
mod session;
mod settings;
mod tickets;

use std::sync::{Arc, LazyLock};

pub use certificate::{certified, public_key};
pub use ciphers::Choice;
pub use clients::verifier as client_verifier;
pub use files::{Files, FilesState};
pub use refusal::unverified;
pub use rustls::ServerConfig;
pub use server::Served;
pub use session::{Opened, Session};
pub use settings::{Demand, Identity, ServerTls, Versions};
pub use tickets::{TicketSecret, Tickets};

use rustls::crypto::{CryptoProvider, aws_lc_rs};

#[cfg(test)]
mod tests;

/// Why TLS cannot be prepared: what is wrong with which setting or file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

impl TlsError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// The cryptography that servers and clients use.
pub fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));
    Arc::clone(&PROVIDER)
}
