//! Proxies: HTTP CONNECT (RFC 9110 section 9.3.6) and SOCKS 5 (RFC 1928, 1929).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::failure::{Failure, PROXY_REFUSED, Stage};

/// The largest head with which a proxy may answer CONNECT.
const MAX_HEAD: usize = 16 << 10;

/// What a proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP: plain requests are given to it whole, others go through CONNECT.
    Http,
    /// SOCKS 5; names are resolved by the proxy.
    Socks5,
}

/// A proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// What it speaks.
    pub kind: ProxyKind,
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// User and password, where it asks for them.
    pub credentials: Option<(String, String)>,
    /// Whether even plain requests go through CONNECT (WebSocket, HTTP/2).
    pub always_tunnel: bool,
}

impl Proxy {
    /// Whether a plain request is sent to the proxy itself.
    pub(crate) fn forwards_plain(&self) -> bool {
        self.kind == ProxyKind::Http && !self.always_tunnel
    }

    /// The value of `Proxy-Authorization`.
    pub(crate) fn authorization(&self) -> Option<String> {
        let (user, password) = self.credentials.as_ref()?;
        Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    }
}

fn refused(why: &str) -> Failure {
    Failure::new(Stage::Connect, PROXY_REFUSED, format!("the proxy made no connection: {why}"))
}

fn broken(error: &std::io::Error) -> Failure {
    Failure::new(Stage::Connect, crate::failure::errno_of(error), format!("the connection to the proxy broke: {error}"))
}

/// Has the proxy make a connection to `host`; afterwards the stream is one to there.
pub(crate) async fn tunnel(stream: &mut TcpStream, proxy: &Proxy, host: &str, port: u16) -> Result<(), Failure> {
    match proxy.kind {
        ProxyKind::Http => connect(stream, proxy, host, port).await,
        ProxyKind::Socks5 => socks5(stream, proxy, host, port).await,
    }
}

async fn connect(stream: &mut TcpStream, proxy: &Proxy, host: &str, port: u16) -> Result<(), Failure> {
    let target = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let authorization =
        proxy.authorization().map_or_else(String::new, |value| format!("Proxy-Authorization: {value}\r\n"));
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| broken(&error))?;
    let mut head = Vec::with_capacity(256);
    // Byte by byte: what follows the head belongs to the connection that is being made.
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == MAX_HEAD {
            return Err(refused("its answer has no end"));
        }
        head.push(stream.read_u8().await.map_err(|error| broken(&error))?);
    }
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    match words.next() {
        Some(status) if http && status.len() == 3 && status.starts_with('2') => Ok(()),
        _ => Err(refused(&format!("it answered \"{}\"", line.chars().take(100).collect::<String>().escape_debug()))),
    }
}

async fn socks5(stream: &mut TcpStream, proxy: &Proxy, host: &str, port: u16) -> Result<(), Failure> {
    let name = host.as_bytes();
    let too_long = || refused("SOCKS 5 takes names, users and passwords of up to 255 bytes");
    let name_len = u8::try_from(name.len()).map_err(|_| too_long())?;
    let greeting: &[u8] = if proxy.credentials.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] };
    stream.write_all(greeting).await.map_err(|error| broken(&error))?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.map_err(|error| broken(&error))?;
    match (answer, &proxy.credentials) {
        ([5, 0], _) => {}
        ([5, 2], Some((user, password))) => {
            let mut message = vec![1];
            for part in [user, password] {
                message.push(u8::try_from(part.len()).map_err(|_| too_long())?);
                message.extend_from_slice(part.as_bytes());
            }
            stream.write_all(&message).await.map_err(|error| broken(&error))?;
            stream.read_exact(&mut answer).await.map_err(|error| broken(&error))?;
            if answer[1] != 0 {
                return Err(refused("it does not take this user and password"));
            }
        }
        ([5, _], _) => return Err(refused("it asks for a way to log in that was not given")),
        _ => return Err(refused("it does not speak SOCKS 5")),
    }
    let mut request = vec![5, 1, 0, 3, name_len];
    request.extend_from_slice(name);
    request.extend_from_slice(&port.to_be_bytes());
    stream.write_all(&request).await.map_err(|error| broken(&error))?;
    socks5_answer(stream).await
}

async fn socks5_answer(stream: &mut TcpStream) -> Result<(), Failure> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.map_err(|error| broken(&error))?;
    if head[1] != 0 {
        let why = match head[1] {
            2 => "its rules forbid it",
            3 => "the network cannot be reached",
            4 => "the host cannot be reached",
            5 => "the connection was refused",
            _ => "it failed",
        };
        return Err(refused(why));
    }
    let rest = match head[3] {
        1 => 4 + 2,
        4 => 16 + 2,
        3 => usize::from(stream.read_u8().await.map_err(|error| broken(&error))?) + 2,
        _ => return Err(refused("its answer has an address of no known kind")),
    };
    let mut address = [0; 257];
    stream.read_exact(&mut address[..rest]).await.map_err(|error| broken(&error))?;
    Ok(())
}
