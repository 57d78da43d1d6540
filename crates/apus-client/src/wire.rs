//! One byte stream to a server, whatever carries it.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

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
            http2: tls.is_some_and(|stream| stream.alpn() == Some(b"h2")),
        }
    }
}

macro_rules! each_base {
    ($self:ident, $stream:ident => $body:expr) => {
        match $self.get_mut() {
            Base::Tcp($stream) => $body,
            Base::Unix($stream) => $body,
        }
    };
}

macro_rules! each_wire {
    ($self:ident, $stream:ident => $body:expr) => {
        match $self.get_mut() {
            Wire::Plain($stream) => $body,
            Wire::Tls($stream) => {
                let $stream = &mut **$stream;
                $body
            }
        }
    };
}

impl AsyncRead for Base {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each_base!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Base {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each_base!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_base!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_base!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each_base!(self, stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each_wire!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each_wire!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_wire!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_wire!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each_wire!(self, stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self, Self::Plain(_))
    }
}
