//! Making connections: resolving, connecting, TLS.

use std::io;
use std::time::Duration;

use apus_client::tls;
use socket2::SockAddr;

use super::address::resolve;
use super::core::Sock;
use super::descriptor::{Pace, Way, Wire};
use super::fault::{Fault, Outcome};

/// Connects to a host: to its addresses one after the other, until one answers.
pub(super) async fn connect(sock: &Sock, host: &[u8], port: u16, pace: Pace) -> Outcome<()> {
    *sock.host.borrow_mut() = String::from_utf8_lossy(host).into_owned();
    let mut last = Fault::errno(libc::EADDRNOTAVAIL);
    for address in resolve(sock.domain, host, port, pace).await? {
        match connect_to(sock, &address, pace).await {
            Ok(()) => return Ok(()),
            // Whoever is told to stop, or may wait no longer, does not try the next one.
            Err(fault) if matches!(fault.code, libc::EBADF | libc::ETIMEDOUT | libc::EISCONN) => return Err(fault),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

async fn connect_to(sock: &Sock, address: &SockAddr, pace: Pace) -> Outcome<()> {
    let mut pause = Duration::from_millis(1);
    loop {
        let started = sock.descriptor()?.socket().connect(address);
        match started {
            Ok(()) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => break,
            // A Unix socket whose backlog is full: the kernel tells nobody when there is room again.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(pause, pace).await?,
            Err(error) => return Err(error.into()),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    std::future::poll_fn(|cx| {
        sock.poll_io(cx, Way::Write, |socket| {
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
            // Without an error and without a peer it is still under way.
            match socket.peer_addr() {
                Err(error) if error.kind() == io::ErrorKind::NotConnected => Err(io::ErrorKind::WouldBlock.into()),
                Err(error) => Err(error),
                Ok(_) => Ok(((), false)),
            }
        })
    })
    .await
}

async fn sleep(pause: Duration, pace: Pace) -> Outcome<()> {
    match pace {
        Pace::Block(until) if until.within(pause) < pause => return Err(Fault::errno(libc::ETIMEDOUT)),
        Pace::Block(_) | Pace::Try => std::thread::sleep(pause),
        Pace::Loop(_) => tokio::time::sleep(pause).await,
    }
    Ok(())
}

/// Begins TLS on a connection, as the side that it is on.
pub(super) async fn shake(sock: &Sock, pace: Pace) -> Outcome<()> {
    if sock.is_secure() {
        return Err(Fault::new(libc::EISCONN, "TLS is spoken already"));
    }
    let plan = sock.plan.borrow().clone();
    let options = plan.options;
    if let Pace::Block(_) = pace {
        tls::prepare(&options, sock.accepted.get())?;
    }
    let wire = Wire(sock.descriptor()?);
    let stream = if sock.accepted.get() {
        tls::accept(wire, &options).await?
    } else {
        let host = if plan.host.is_empty() { sock.host.borrow().clone() } else { plan.host };
        tls::connect(wire, &host, &options).await?
    };
    sock.set_tls(stream);
    Ok(())
}
