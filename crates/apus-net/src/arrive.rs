//! What a proxy says of its client at the beginning of a connection (the PROXY protocol), before anything else is read:
//! before TLS, before HTTP.
//!
//! The header is looked at in the kernel's buffer and taken out of it to the byte, so that what follows finds the
//! connection as if there had been none. Ports without the protocol never come here.

use std::cell::Cell;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::Duration;

use apus_proto::proxy_header::{MAX_HEADER, Source, parse};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use socket2::Socket;
use tokio::io::unix::AsyncFd;

use crate::sys;

/// What counts against the connections of a worker while its header is awaited.
pub(crate) struct Awaited(Rc<Cell<usize>>);

impl Awaited {
    pub(crate) fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Takes the header: the socket without it, and the client's address where it is told. An error for what sends none, or
/// none in time.
pub(crate) async fn introduced(socket: Socket, timeout: u64) -> io::Result<(Socket, Option<SocketAddr>)> {
    let socket = sys::register(socket)?;
    let told = if timeout == 0 {
        header(&socket).await?
    } else {
        let told = tokio::time::timeout(Duration::from_millis(timeout), header(&socket)).await;
        told.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??
    };
    Ok((socket.into_inner(), told))
}

async fn header(socket: &AsyncFd<Socket>) -> io::Result<Option<SocketAddr>> {
    let mut seen = 0;
    let mut bytes = vec![0; MAX_HEADER];
    loop {
        let mut guard = socket.readable().await?;
        let count = match recv(socket.get_ref().as_raw_fd(), &mut bytes, MsgFlags::MSG_PEEK) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(Errno::EAGAIN) => {
                guard.clear_ready();
                continue;
            }
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        };
        match parse(&bytes[..count]) {
            Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "no header of the PROXY protocol")),
            // What has been seen already may be told of once more: only a peer that has ended sends nothing further.
            Ok(None) if count == seen && guard.ready().is_read_closed() => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(None) => {
                seen = count;
                guard.clear_ready();
            }
            Ok(Some((len, source))) => {
                socket.get_ref().read_exact(&mut bytes[..len])?;
                return Ok(match source {
                    Source::Client(address) => Some(address),
                    Source::Proxy | Source::Unknown => None,
                });
            }
        }
    }
}
