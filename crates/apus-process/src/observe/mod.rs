//! The figures of a server over HTTP, for monitoring: `/metrics` and `/status`, on an address of their own.
//!
//! The master answers from shared memory, from its poll loop: also while every worker is busy. Nothing blocks, and
//! what one client can take up is bounded: the length of its head, the time of its exchange, and the number of clients,
//! of whom the oldest makes room for a new one.

mod figures;
mod head;
mod text;

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use socket2::{SockRef, Socket};

use self::head::Head;
use crate::error::Error;
use crate::listener::{BindOptions, ListenAddr, Listener, bind};

pub use text::{Family, Text};

pub(crate) use figures::write as write_figures;
pub(crate) use head::Page;

/// Clients at a time.
const MAX_CLIENTS: usize = 32;
/// Clients accepted in one turn.
const BATCH: usize = 64;
/// Longest head of a request, in bytes.
const MAX_HEAD: usize = 8 * 1024;
/// Time for a whole exchange.
const PATIENCE: Duration = Duration::from_secs(5);

/// The setting that says where.
const SETTING: &str = "metrics_address";

#[derive(Debug)]
struct Client {
    socket: Socket,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
    by: Instant,
    gone: bool,
}

/// The socket, and its clients.
#[derive(Debug)]
pub(crate) struct Observe {
    listener: Listener,
    /// The oldest first.
    clients: Vec<Client>,
}

impl Observe {
    /// Listens where the setting says; `None` where it says nothing.
    pub(crate) fn open(address: &str) -> Result<Option<Self>, Error> {
        if address.is_empty() {
            return Ok(None);
        }
        let address = address_of(address)?;
        // Deferred accepting would keep a client from being counted.
        let options = BindOptions { defer_accept: 0, reuse_port: false.into(), ..BindOptions::default() };
        Ok(Some(Self { listener: bind(&address, &options)?, clients: Vec::new() }))
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &ListenAddr {
        &self.listener.addr
    }

    /// Removes a Unix socket's file.
    pub(crate) fn end(&self) {
        self.listener.remove_file();
    }

    /// What to poll for.
    pub(crate) fn poll_fds<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.push(PollFd::new(self.listener.fd.as_fd(), PollFlags::POLLIN));
        for client in &self.clients {
            let wanted = if client.output.is_empty() { PollFlags::POLLIN } else { PollFlags::POLLOUT };
            fds.push(PollFd::new(client.socket.as_fd(), wanted));
        }
    }

    /// When the first of the clients has had its time.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.clients.iter().map(|client| client.by).min()
    }

    /// Accepts, reads, answers and writes what can be without waiting. `make` makes the bytes of a page: its type and
    /// content.
    pub(crate) fn step(&mut self, mut make: impl FnMut(Page) -> (&'static str, String)) {
        self.accept();
        let now = Instant::now();
        for client in &mut self.clients {
            client.read();
            if let Some(head) = client.head() {
                client.output = answer(head, &mut make);
            }
            client.flush();
            client.gone |= client.by <= now;
        }
        self.clients.retain(|client| !client.gone);
    }

    fn accept(&mut self) {
        for _ in 0..BATCH {
            let Ok((socket, _)) = SockRef::from(&self.listener.fd).accept() else { return };
            if socket.set_nonblocking(true).is_err() {
                continue;
            }
            if self.clients.len() >= MAX_CLIENTS {
                drop(self.clients.remove(0));
            }
            let by = Instant::now() + PATIENCE;
            let (input, output) = (Vec::new(), Vec::new());
            self.clients.push(Client { socket, input, output, sent: 0, by, gone: false });
        }
    }
}

impl Client {
    fn read(&mut self) {
        let mut chunk = [0; 2048];
        while self.output.is_empty() && !self.gone && self.input.len() <= MAX_HEAD && !head::is_whole(&self.input) {
            match self.socket.read(&mut chunk) {
                Ok(0) => self.gone = true,
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.gone = error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }

    /// The request, once it is there and not answered yet.
    fn head(&self) -> Option<Head> {
        if self.gone || !self.output.is_empty() {
            return None;
        }
        if head::is_whole(&self.input) {
            return Some(Head::read(&self.input));
        }
        (self.input.len() > MAX_HEAD).then_some(Head::TooLarge)
    }

    fn flush(&mut self) {
        while self.sent < self.output.len() {
            match self.socket.write(&self.output[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.gone |= error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
        self.gone |= !self.output.is_empty();
    }
}

fn answer(head: Head, make: &mut impl FnMut(Page) -> (&'static str, String)) -> Vec<u8> {
    const PLAIN: &str = "text/plain; charset=utf-8";
    let (status, (kind, body), bodyless) = match head {
        Head::Page { page, bodyless } => ("200 OK", make(page), bodyless),
        Head::Unknown => ("404 Not Found", (PLAIN, "there are /metrics and /status\n".to_owned()), false),
        Head::NoSuchMethod => ("405 Method Not Allowed", (PLAIN, "only GET and HEAD\n".to_owned()), false),
        Head::Malformed => ("400 Bad Request", (PLAIN, "no request of HTTP/1.1\n".to_owned()), false),
        Head::TooLarge => {
            ("431 Request Header Fields Too Large", (PLAIN, "the head is longer than 8 KiB\n".to_owned()), false)
        }
    };
    let allow = if matches!(head, Head::NoSuchMethod) { "Allow: GET, HEAD\r\n" } else { "" };
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n{allow}Connection: \
         close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    if !bodyless {
        bytes.extend_from_slice(body.as_bytes());
    }
    bytes
}

/// Whether `metrics_address` is one.
pub(crate) fn check(address: &str) -> Result<(), Error> {
    if address.is_empty() { Ok(()) } else { address_of(address).map(drop) }
}

fn address_of(address: &str) -> Result<ListenAddr, Error> {
    parse(address).map_err(|reason| Error::Setting { setting: SETTING, reason })
}

/// `127.0.0.1:9100`, `[::1]:9100`, `localhost:9100`, `unix:/run/shop.sock` or `/run/shop.sock`.
fn parse(address: &str) -> Result<ListenAddr, String> {
    if let Some(path) = address.strip_prefix("unix:").or_else(|| address.starts_with('/').then_some(address)) {
        return if path.is_empty() { Err("a Unix socket needs a path".to_owned()) } else { Ok(unix(path)) };
    }
    match ListenAddr::resolve(address) {
        Ok(found) => found.ok_or_else(|| format!("\"{address}\" has no address")),
        Err(error) => {
            Err(format!("\"{address}\" is no address such as 127.0.0.1:9100 or unix:/run/shop.sock: {error}"))
        }
    }
}

fn unix(path: &str) -> ListenAddr {
    ListenAddr::Unix(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    fn observe() -> (Observe, std::net::SocketAddr) {
        let observe = Observe::open("127.0.0.1:0").unwrap().unwrap();
        let ListenAddr::Tcp(address) = *observe.address() else { panic!("a TCP address") };
        (observe, address)
    }

    fn page(page: Page) -> (&'static str, String) {
        ("text/plain", format!("{page:?}"))
    }

    fn turn(observe: &mut Observe) {
        let mut fds = Vec::new();
        observe.poll_fds(&mut fds);
        nix::poll::poll(&mut fds, 5000u16).unwrap();
        observe.step(page);
    }

    /// What a client gets that sends this.
    fn exchange(sent: &[u8]) -> String {
        let (mut observe, address) = observe();
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(sent).unwrap();
        for _ in 0..100 {
            turn(&mut observe);
            if observe.clients.is_empty() {
                break;
            }
        }
        let mut got = Vec::new();
        // A client that sends more than is read is reset behind the answer.
        let _ = client.read_to_end(&mut got);
        String::from_utf8(got).unwrap()
    }

    #[test]
    fn pages_are_answered_and_nothing_else_is() {
        let answer = exchange(b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nMetrics"), "{answer}");
        let answer = exchange(b"HEAD /status HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(answer.contains("Content-Length: 6\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
        assert!(exchange(b"GET /other HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(exchange(b"POST /metrics HTTP/1.1\r\n\r\n").contains("\r\nAllow: GET, HEAD\r\n"));
        assert!(exchange(b"\x16\x03\x01\r\n\r\n").starts_with("HTTP/1.1 400 "));
        let open = exchange(b"GET /metrics HTTP/1.1\r\naccept: application/openmetrics-text; version=1.0.0\r\n\r\n");
        assert!(open.ends_with("\r\n\r\nOpenMetrics"), "{open}");
    }

    #[test]
    fn long_heads_and_crowds_are_bounded() {
        let long = [b"GET /metrics HTTP/1.1\r\nX: ".as_slice(), &[b'x'; 16 * 1024]].concat();
        assert!(exchange(&long).starts_with("HTTP/1.1 431 "));
        let (mut observe, address) = observe();
        let crowd: Vec<_> = (0..MAX_CLIENTS + 5).map(|_| TcpStream::connect(address).unwrap()).collect();
        turn(&mut observe);
        assert_eq!(observe.clients.len(), MAX_CLIENTS);
        let mut late = TcpStream::connect(address).unwrap();
        late.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        turn(&mut observe);
        observe.step(page);
        let mut got = String::new();
        late.read_to_string(&mut got).unwrap();
        assert!(got.ends_with("Metrics"), "{got}");
        // Who says nothing has had its time.
        assert!(observe.deadline().is_some());
        observe.clients.iter_mut().for_each(|client| client.by = Instant::now());
        observe.step(page);
        assert_eq!((observe.clients.len(), observe.deadline()), (0, None));
        drop(crowd);
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(parse("unix:/a"), Ok(unix("/a")));
        assert_eq!(parse("/a"), Ok(unix("/a")));
        assert_eq!(parse("[::1]:9"), Ok(ListenAddr::Tcp("[::1]:9".parse().unwrap())));
        assert!(parse("9100").unwrap_err().contains("127.0.0.1:9100"));
        assert!(Observe::open("").unwrap().is_none());
    }
}
