//! TLS over any byte stream, as the client and, for a socket that accepted a connection, as the server.
//!
//! ```ignore
//! let options = TlsOptions { alpn: vec![b"h2".to_vec(), b"http/1.1".to_vec()], ..TlsOptions::default() };
//! let stream = tls::connect(tcp, "example.org", &options).await?;
//! let http2 = stream.alpn() == Some(b"h2");
//! ```
//!
//! Peers are verified unless the caller says otherwise: chain, dates and name. A future that is dropped half-way closes
//! the stream it was given.

mod config;
mod unverified;
mod verify;

use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::SystemTime;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, CommonState};
use tokio_rustls::{TlsAcceptor, TlsConnector};

pub use verify::Refusal;

/// How a TLS connection is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches of the API, not states")]
pub struct TlsOptions {
    /// Whether the peer's certificate must be valid: signed by a known authority, inside its dates.
    pub verify_peer: bool,
    /// Whether the certificate must also be made for the name that was asked for. Without `verify_peer` it is not
    /// looked at.
    pub verify_name: bool,
    /// Whether a certificate that signed itself is valid. Its dates and name still count.
    pub allow_self_signed: bool,
    /// PEM file of authorities. Together with `ca_path` it replaces the system's.
    pub ca_file: Option<PathBuf>,
    /// Folder of PEM files of authorities.
    pub ca_path: Option<PathBuf>,
    /// PEM file of the certificate to show, the leaf first. Needs `key_file`. A server must have one.
    pub cert_file: Option<PathBuf>,
    /// PEM file of the certificate's key.
    pub key_file: Option<PathBuf>,
    /// What the key is encrypted with (PKCS#8); empty where it is not.
    pub passphrase: String,
    /// Protocols to offer (client) or take (server) by ALPN, the preferred one first.
    pub alpn: Vec<Vec<u8>>,
    /// Whether TLS 1.2 may be spoken.
    pub tls12: bool,
    /// Whether TLS 1.3 may be spoken.
    pub tls13: bool,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            verify_peer: true,
            verify_name: true,
            allow_self_signed: false,
            ca_file: None,
            ca_path: None,
            cert_file: None,
            key_file: None,
            passphrase: String::new(),
            alpn: Vec::new(),
            tls12: true,
            tls13: true,
        }
    }
}

/// Why there is no TLS connection.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// An option cannot be honoured: a file is missing or malformed, a version list is empty.
    #[error("{0}")]
    Options(String),
    /// The server's name can be in no certificate.
    #[error("\"{0}\" is neither a host name nor an IP address that TLS can verify")]
    Name(String),
    /// The peer's certificate was refused.
    #[error("{0}")]
    Refused(Refusal),
    /// The peers could not agree, or one broke the protocol.
    #[error("TLS handshake failed: {0}")]
    Handshake(rustls::Error),
    /// The connection failed.
    #[error("the connection failed in the TLS handshake: {0}")]
    Io(io::Error),
}

impl TlsError {
    /// From what the handshake left; rustls hides its own errors inside `io::Error`.
    fn of_handshake(error: io::Error) -> Self {
        match error.downcast::<rustls::Error>() {
            Ok(rustls::Error::InvalidCertificate(why)) => Self::Refused(Refusal::from(why)),
            Ok(other) => Self::Handshake(other),
            Err(io) => Self::Io(io),
        }
    }
}

enum Side<S> {
    Client(tokio_rustls::client::TlsStream<S>),
    Server(tokio_rustls::server::TlsStream<S>),
}

/// An established TLS connection.
///
/// Reading ends with 0 bytes at the peer's `close_notify`; a connection cut without one is an `UnexpectedEof` error.
pub struct TlsStream<S> {
    side: Side<S>,
    name: Option<ServerName<'static>>,
    options: TlsOptions,
}

/// Shakes hands as the client. `server_name` goes into SNI and is what the certificate must be made for: a host name or
/// an IP address, with or without a final dot.
pub async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    server_name: &str,
    options: &TlsOptions,
) -> Result<TlsStream<S>, TlsError> {
    let name = ServerName::try_from(server_name.trim_end_matches('.').to_owned())
        .map_err(|_| TlsError::Name(server_name.to_owned()))?;
    let config = config::client(options).await?;
    let side = TlsConnector::from(config).connect(name.clone(), stream).await.map_err(TlsError::of_handshake)?;
    Ok(TlsStream { side: Side::Client(side), name: Some(name), options: options.clone() })
}

/// Shakes hands as the server. The client is asked for a certificate only when `ca_file` or `ca_path` is given and
/// `verify_peer` is on.
pub async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    options: &TlsOptions,
) -> Result<TlsStream<S>, TlsError> {
    let config = config::server(options).await?;
    let side = TlsAcceptor::from(config).accept(stream).await.map_err(TlsError::of_handshake)?;
    Ok(TlsStream { side: Side::Server(side), name: None, options: options.clone() })
}

/// Reads the files that `options` name and keeps what they hold, so that the next [`connect`] or (`server`) [`accept`]
/// with these options needs no runtime for it. Blocks.
pub fn prepare(options: &TlsOptions, server: bool) -> Result<(), TlsError> {
    config::prepare(options, server)
}

impl<S> TlsStream<S> {
    fn state(&self) -> &CommonState {
        match &self.side {
            Side::Client(stream) => stream.get_ref().1,
            Side::Server(stream) => stream.get_ref().1,
        }
    }

    /// The stream underneath.
    pub fn get_ref(&self) -> &S {
        match &self.side {
            Side::Client(stream) => stream.get_ref().0,
            Side::Server(stream) => stream.get_ref().0,
        }
    }

    /// The protocol that ALPN settled on.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.state().alpn_protocol()
    }

    /// The version spoken: `TLSv1.2` or `TLSv1.3`.
    pub fn version(&self) -> &'static str {
        match self.state().protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "",
        }
    }

    /// The peer's own certificate, as DER.
    pub fn peer_certificate(&self) -> Option<&[u8]> {
        self.state().peer_certificates().and_then(<[_]>::first).map(AsRef::as_ref)
    }

    /// The peer's own certificate, as PEM.
    pub fn peer_certificate_pem(&self) -> Option<String> {
        self.peer_certificate().map(verify::pem)
    }

    /// Whether decrypted bytes, or the end, may be there without another read of the stream underneath.
    pub fn wants_read(&self) -> bool {
        self.state().wants_read()
    }

    /// Verifies the peer's certificate as `verify_peer` would have, by the time of now: for connections that were made
    /// without. `allow_self_signed` is added to the option of that name. Only a client can ask.
    pub fn verify_peer(&self, allow_self_signed: bool) -> Result<(), TlsError> {
        let (Some(name), Some(chain)) = (&self.name, self.state().peer_certificates()) else {
            return Err(TlsError::Options("there is no certificate of a server to verify".to_owned()));
        };
        let options = TlsOptions {
            allow_self_signed: allow_self_signed || self.options.allow_self_signed,
            ..self.options.clone()
        };
        let verifier = config::strict_verifier(&options)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let rest: &[CertificateDer<'_>] = chain.get(1..).unwrap_or(&[]);
        let Some(leaf) = chain.first() else {
            return Err(TlsError::Options("the peer showed no certificate".to_owned()));
        };
        verifier.check(leaf, rest, name, &[], UnixTime::since_unix_epoch(now)).map_err(|error| match error {
            rustls::Error::InvalidCertificate(why) => TlsError::Refused(Refusal::from(why)),
            other => TlsError::Handshake(other),
        })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream<S> {
    /// Says goodbye (`close_notify`) and ends the writing half.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_shutdown(cx)).await
    }
}

macro_rules! each_side {
    ($stream:expr, $side:ident => $body:expr) => {
        match $stream {
            TlsStream { side: Side::Client($side), .. } => $body,
            TlsStream { side: Side::Server($side), .. } => $body,
        }
    };
}

crate::forward::forward_io!([S: AsyncRead + AsyncWrite + Unpin] TlsStream<S>, each_side);

#[cfg(test)]
mod tests;
