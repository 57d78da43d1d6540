//! What the program may know of a connection.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;

use socket2::SockAddr;

use crate::gate::ClientPlace;

/// The client's end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// An IP address and port.
    Tcp(SocketAddr),
    /// A Unix socket; its clients have no name.
    Unix,
}

/// The server's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Local {
    /// The address that listens.
    Tcp(SocketAddr),
    /// Path of the socket; empty when it has none.
    Unix(PathBuf),
}

impl Peer {
    pub(crate) fn from_addr(addr: &SockAddr) -> Self {
        addr.as_socket().map_or(Self::Unix, Self::Tcp)
    }
}

impl Local {
    pub(crate) fn from_addr(addr: &SockAddr) -> Self {
        addr.as_socket()
            .map_or_else(|| Self::Unix(addr.as_pathname().map(PathBuf::from).unwrap_or_default()), Self::Tcp)
    }

    /// The port number; 0 for a Unix socket.
    pub fn port(&self) -> u16 {
        match self {
            Self::Tcp(addr) => addr.port(),
            Self::Unix(_) => 0,
        }
    }
}

/// The TLS session of a connection.
#[derive(Debug)]
pub struct TlsInfo {
    /// "TLSv1.2" or "TLSv1.3".
    pub version: &'static str,
    /// The cipher suite's name by the IANA.
    pub cipher: String,
    /// The name that the client asked for (RFC 6066); empty where it asked for none.
    pub server_name: String,
    /// The protocol agreed on (RFC 7301); empty where none was.
    pub protocol: String,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// The client's certificate, DER; empty where none was shown.
    pub client_certificate: Vec<u8>,
}

impl TlsInfo {
    pub(crate) fn of(session: &apus_tls::Session) -> Self {
        Self {
            version: session.version(),
            cipher: session.cipher(),
            server_name: session.server_name().unwrap_or_default().to_owned(),
            protocol: String::from_utf8_lossy(session.alpn().unwrap_or_default()).into_owned(),
            resumed: session.resumed(),
            client_certificate: session.peer_certificate().map(|certificate| certificate.to_vec()).unwrap_or_default(),
        }
    }
}

/// The addresses of a connection's ends, as text.
#[derive(Debug)]
struct Ips {
    peer: Box<str>,
    local: Box<str>,
}

/// What few connections have, and takes no room in the others.
#[derive(Debug, Default)]
struct More {
    ips: std::cell::OnceCell<Ips>,
    /// Its place among those of its client, where they are counted, until it is closed.
    place: RefCell<Option<ClientPlace>>,
}

/// A connection, as long as anyone asks about it.
#[derive(Debug)]
pub struct ConnInfo {
    pub(crate) id: i64,
    pub(crate) peer: Peer,
    pub(crate) local: Rc<Local>,
    pub(crate) connected_at: f64,
    pub(crate) last_request_at: Cell<f64>,
    pub(crate) requests: Cell<u64>,
    pub(crate) websocket: Cell<bool>,
    pub(crate) open: Cell<bool>,
    pub(crate) gone: Cell<bool>,
    more: std::cell::OnceCell<Box<More>>,
    /// Whether it speaks TLS, or is to.
    pub(crate) tls_begun: Cell<bool>,
    /// What its TLS session is, after the handshake.
    pub(crate) tls: std::cell::OnceCell<Rc<TlsInfo>>,
    /// `peer` is whom a trusted proxy has named.
    pub(crate) proxied: Cell<bool>,
}

impl ConnInfo {
    /// A connection that was accepted at `now`.
    pub(crate) fn new(id: i64, peer: Peer, local: Rc<Local>, now: f64) -> Self {
        Self {
            id,
            peer,
            local,
            connected_at: now,
            last_request_at: now.into(),
            requests: 0.into(),
            websocket: false.into(),
            open: true.into(),
            gone: false.into(),
            more: std::cell::OnceCell::new(),
            tls_begun: false.into(),
            tls: std::cell::OnceCell::new(),
            proxied: false.into(),
        }
    }

    /// A stream of it that is a connection to the program, accepted at `now`.
    pub(crate) fn within(&self, id: i64, now: f64) -> Self {
        Self {
            tls: self.tls.clone(),
            proxied: self.proxied.clone(),
            ..Self::new(id, self.peer, Rc::clone(&self.local), now)
        }
    }

    /// A request has come: how many those are.
    #[inline]
    pub(crate) fn count_request(&self, at: f64) -> u64 {
        let count = self.requests.get() + 1;
        self.requests.set(count);
        self.last_request_at.set(at);
        count
    }

    /// The session id, unique on this server.
    #[inline]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// The client's address.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Whether a trusted proxy has named the client, by the PROXY protocol.
    pub fn is_proxied(&self) -> bool {
        self.proxied.get()
    }

    /// The client's IP address as text, an IPv4 address inside IPv6 as IPv4; empty for a Unix socket. Made once.
    pub fn peer_ip(&self) -> &str {
        &self.ips().peer
    }

    /// The client's port; 0 for a Unix socket.
    pub fn peer_port(&self) -> u16 {
        match self.peer {
            Peer::Tcp(addr) => addr.port(),
            Peer::Unix => 0,
        }
    }

    /// The address that the client has reached; of a Unix socket the one that listens.
    pub fn local(&self) -> &Local {
        &self.local
    }

    /// The IP address that the client has reached, as text, as [`Self::peer_ip`] has it. Made once.
    pub fn local_ip(&self) -> &str {
        &self.ips().local
    }

    /// Gives it a place among those of its client, until it is closed.
    pub(crate) fn hold(&self, place: ClientPlace) {
        self.more().place.replace(Some(place));
    }

    /// Gives that place up.
    pub(crate) fn leave(&self) {
        if let Some(more) = self.more.get() {
            drop(more.place.take());
        }
    }

    fn more(&self) -> &More {
        self.more.get_or_init(Box::default)
    }

    fn ips(&self) -> &Ips {
        self.more().ips.get_or_init(|| {
            let text = |addr: &SocketAddr| addr.ip().to_canonical().to_string().into_boxed_str();
            let peer = match &self.peer {
                Peer::Tcp(addr) => text(addr),
                Peer::Unix => "".into(),
            };
            let local = match &*self.local {
                Local::Tcp(addr) => text(addr),
                Local::Unix(_) => "".into(),
            };
            Ips { peer, local }
        })
    }

    /// When it was accepted: seconds since 1970.
    pub fn connected_at(&self) -> f64 {
        self.connected_at
    }

    /// When its latest request came; when it was accepted, before the first. Seconds since 1970.
    pub fn last_request_at(&self) -> f64 {
        self.last_request_at.get()
    }

    /// Requests it has brought.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Whether the client is known to have left: it sent EOF or reset the connection.
    pub fn is_gone(&self) -> bool {
        self.gone.get() || !self.open.get()
    }

    /// Its TLS session; none on a plain port, and before the handshake is over.
    pub fn tls(&self) -> Option<&TlsInfo> {
        self.tls.get().map(|tls| &**tls)
    }

    /// Whether it became a WebSocket.
    pub fn is_websocket(&self) -> bool {
        self.websocket.get()
    }

    /// Whether it is still open.
    pub fn is_open(&self) -> bool {
        self.open.get()
    }
}
