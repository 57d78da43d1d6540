//! Making connections: names, addresses, proxies, TLS, one time-out over all.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream, UnixStream};
use tokio::task::JoinSet;

use crate::failure::{Failure, RESOLVE_FAILED, Stage, TLS_HANDSHAKE, TLS_REFUSED};
use crate::proxy::{self, Proxy};
use crate::tls::{self, TlsError, TlsOptions};
use crate::wire::{Base, Wire};

/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 16;
/// How long one address may keep the next one waiting (RFC 8305 section 8).
const STAGGER: Duration = Duration::from_millis(250);

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// A host name, an IP address without brackets, or `unix:` and a path.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether TLS is spoken.
    pub tls: bool,
}

impl Endpoint {
    /// Host and port as the `Host` field has them: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = match self.unix_path() {
            Some(_) => "localhost".to_owned(),
            None if self.host.contains(':') => format!("[{}]", self.host),
            None => self.host.clone(),
        };
        if self.unix_path().is_some() || self.port == self.default_port() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    /// The port of its scheme.
    pub fn default_port(&self) -> u16 {
        if self.tls { 443 } else { 80 }
    }

    /// Its scheme.
    pub fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    fn unix_path(&self) -> Option<PathBuf> {
        let path = self.host.strip_prefix("unix:")?;
        // Programs write unix:/path as well as unix:///path.
        Some(PathBuf::from(format!("/{}", path.trim_start_matches('/'))))
    }
}

/// How connections are made.
#[derive(Debug, Clone, Default)]
pub struct ConnectOptions {
    /// Time for all of it: resolving, connecting, the proxy's and TLS's handshakes. None for no limit.
    pub timeout: Option<Duration>,
    /// Our own address.
    pub bind: Option<SocketAddr>,
    /// A proxy in between.
    pub proxy: Option<Proxy>,
    /// TLS, for endpoints that speak it.
    pub tls: TlsOptions,
    /// The name that the certificate must have; the endpoint's host when none.
    pub tls_name: Option<String>,
}

/// Makes a connection.
pub async fn connect(to: &Endpoint, options: &ConnectOptions) -> Result<Wire, Failure> {
    let Some(limit) = options.timeout else { return connect_untimed(to, options).await };
    match tokio::time::timeout(limit, connect_untimed(to, options)).await {
        Ok(result) => result,
        Err(_) => Err(Failure::new(
            Stage::Connect,
            libc::ETIMEDOUT,
            format!("no connection to {} within {} s (connect_timeout)", to.authority(), limit.as_secs_f64()),
        )),
    }
}

async fn connect_untimed(to: &Endpoint, options: &ConnectOptions) -> Result<Wire, Failure> {
    let base = match (to.unix_path(), &options.proxy) {
        (Some(path), _) => {
            let stream = UnixStream::connect(&path).await;
            Base::Unix(stream.map_err(|error| refused(&path.display().to_string(), &error))?)
        }
        (None, Some(proxy)) => {
            let mut stream = dial(&proxy.host, proxy.port, options.bind).await?;
            // A plain request is given to an HTTP proxy as it is, with its whole URL.
            if to.tls || !proxy.forwards_plain() {
                proxy::tunnel(&mut stream, proxy, &to.host, to.port).await?;
            }
            Base::Tcp(stream)
        }
        (None, None) => Base::Tcp(dial(&to.host, to.port, options.bind).await?),
    };
    if !to.tls {
        return Ok(Wire::Plain(base));
    }
    let name = options.tls_name.as_deref().unwrap_or(&to.host);
    match tls::connect(base, name, &options.tls).await {
        Ok(stream) => Ok(Wire::Tls(Box::new(stream))),
        Err(error) => Err(tls_failure(&error)),
    }
}

fn tls_failure(error: &TlsError) -> Failure {
    let errno = match error {
        TlsError::Refused(_) | TlsError::Name(_) => TLS_REFUSED,
        TlsError::Options(_) => libc::EINVAL,
        TlsError::Handshake(_) => TLS_HANDSHAKE,
        TlsError::Io(error) => crate::failure::errno_of(error),
    };
    Failure::new(Stage::Connect, errno, error.to_string())
}

fn refused(whom: &str, error: &io::Error) -> Failure {
    Failure::new(Stage::Connect, crate::failure::errno_of(error), format!("no connection to {whom}: {error}"))
}

/// A TCP connection to the first address of a name that answers.
async fn dial(host: &str, port: u16, bind: Option<SocketAddr>) -> Result<TcpStream, Failure> {
    let mut addresses = resolve(host, port).await?;
    if let Some(bind) = bind {
        addresses.retain(|address| address.is_ipv4() == bind.is_ipv4());
    }
    let stream = match (addresses.pop_front(), addresses.is_empty()) {
        (Some(only), true) => dial_one(only, bind).await,
        (Some(first), false) => dial_several(first, addresses, bind).await,
        (None, _) => Err(io::Error::from(io::ErrorKind::AddrNotAvailable)),
    };
    let stream = stream.map_err(|error| refused(&format!("{host}:{port}"), &error))?;
    // Failing to switch Nagle's algorithm off costs time, not truth.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// The addresses of a name, in the system's order. The lookup runs on a thread of its own.
async fn resolve(host: &str, port: u16) -> Result<VecDeque<SocketAddr>, Failure> {
    let failed =
        |why: String| Failure::new(Stage::Connect, RESOLVE_FAILED, format!("\"{host}\" cannot be resolved: {why}"));
    let found: VecDeque<_> = tokio::net::lookup_host((host, port))
        .await
        .map_err(|error| failed(error.to_string()))?
        .take(MAX_ADDRESSES)
        .collect();
    if found.is_empty() { Err(failed("it has no address".to_owned())) } else { Ok(found) }
}

async fn dial_one(to: SocketAddr, bind: Option<SocketAddr>) -> io::Result<TcpStream> {
    let Some(bind) = bind else { return TcpStream::connect(to).await };
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.bind(bind)?;
    socket.connect(to).await
}

/// Several addresses, each begun a little after the last one, the first that answers wins (RFC 8305).
async fn dial_several(
    first: SocketAddr,
    mut others: VecDeque<SocketAddr>,
    bind: Option<SocketAddr>,
) -> io::Result<TcpStream> {
    // Dropped, the set ends the attempts that are still under way.
    let mut attempts = JoinSet::new();
    attempts.spawn(dial_one(first, bind));
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        tokio::select! {
            ended = attempts.join_next() => match ended {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => failed = error,
                Some(Err(_)) => {}
                None => match others.pop_front() {
                    Some(next) => { attempts.spawn(dial_one(next, bind)); }
                    None => return Err(failed),
                },
            },
            () = tokio::time::sleep(STAGGER), if !others.is_empty() => {
                if let Some(next) = others.pop_front() {
                    attempts.spawn(dial_one(next, bind));
                }
            }
        }
    }
}
