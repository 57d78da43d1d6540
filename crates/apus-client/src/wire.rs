//! One byte stream to a server, whatever carries it.

use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use tokio::net::{TcpStream, UnixStream};

use crate::forward::forward_io;
use crate::tls::TlsStream;

/// A stream of the kernel's.
#[derive(Debug)]
pub enum Base {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

/// A connection, with or without TLS.
pub enum Wire {
    /// Bytes as they are.
    Plain(Base),
    /// TLS.
    Tls(Box<TlsStream<Base>>),
}

/// What is known of a connection once it is made.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The descriptor, for programs that tell connections apart by it.
    pub fd: i32,
    /// Our end.
    pub local: Option<SocketAddr>,
    /// The other end (the proxy's where one is used).
    pub peer: Option<SocketAddr>,
    /// The server's certificate, as PEM.
    pub certificate: Option<String>,
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Whether ALPN settled on HTTP/2.
    pub http2: bool,
}

impl Wire {
    /// What is known of it.
    pub fn facts(&self) -> Facts {
        let (base, tls) = match self {
            Self::Plain(base) => (base, None),
            Self::Tls(stream) => (stream.get_ref(), Some(stream)),
        };
        let (fd, local, peer) = match base {
            Base::Tcp(stream) => (stream.as_raw_fd(), stream.local_addr().ok(), stream.peer_addr().ok()),
            Base::Unix(stream) => (stream.as_raw_fd(), None, None),
        };
        Facts {
            fd,
            local,
            peer,
            certificate: tls.and_then(|stream| stream.peer_certificate_pem()),
            tls: tls.is_some(),
            http2: tls.is_some_and(|stream| stream.alpn() == Some(b"h2")),
        }
    }
}

macro_rules! each_base {
    ($base:expr, $stream:ident => $body:expr) => {
        match $base {
            Base::Tcp($stream) => $body,
            Base::Unix($stream) => $body,
        }
    };
}

macro_rules! each_wire {
    ($wire:expr, $stream:ident => $body:expr) => {
        match $wire {
            Wire::Plain($stream) => $body,
            Wire::Tls($stream) => $body,
        }
    };
}

forward_io!([] Base, each_base);
forward_io!([] Wire, each_wire);
