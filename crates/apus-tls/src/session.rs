//! A TLS connection of a server, between the sealed bytes of a socket and plain ones.

use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::server::{AcceptedAlert, Acceptor};
use rustls::{HandshakeKind, ProtocolVersion, ServerConfig, ServerConnection};

use crate::server::Served;

/// Plain bytes that are sealed ahead of the socket, at most: what a peer does not take stays plain, where it is
/// counted.
const AHEAD: usize = 64 * 1024;

/// What reading gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Plain bytes; 0 at the end.
    pub count: usize,
    /// Whether the socket was left empty, and nothing plain waits here.
    pub drained: bool,
}

/// The session of one connection. It never touches a socket but the one it is given.
pub struct Session {
    /// Until the client has said which name it asks for, where that makes a difference, nothing has happened in it.
    tls: ServerConnection,
    hello: Option<Box<Hello>>,
    /// The socket gave less than it was asked for, or nothing.
    drained: bool,
    /// Something plain waits to be read.
    holds: bool,
    ended: bool,
}

/// Reads what the client begins with.
struct Hello {
    acceptor: Acceptor,
    served: Arc<Served>,
}

fn begun(config: &Arc<ServerConfig>) -> Result<ServerConnection, rustls::Error> {
    let mut tls = ServerConnection::new(Arc::clone(config))?;
    tls.set_buffer_limit(Some(AHEAD));
    Ok(tls)
}

/// Tells the peer as far as its socket takes it: the connection is over either way.
fn refuse(socket: &mut impl Write, (error, mut alert): (rustls::Error, AcceptedAlert)) -> io::Error {
    let _ = alert.write_all(socket);
    broken(error)
}

fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl Session {
    /// A session that begins with the client's first bytes.
    ///
    /// # Errors
    /// What rustls does not accept about the configuration.
    pub fn new(served: Arc<Served>) -> Result<Self, rustls::Error> {
        let tls = begun(served.0.own())?;
        let hello = (!served.0.is_one()).then(|| Box::new(Hello { acceptor: Acceptor::default(), served }));
        Ok(Self { tls, hello, drained: false, holds: false, ended: false })
    }

    /// Reads from `socket` until there is something plain. What the handshake has to say is sent on the way.
    ///
    /// # Errors
    /// `WouldBlock` where more sealed bytes are needed; `InvalidData` where the peer breaks the protocol (the alert was
    /// sent as far as the socket took it); else the socket's own.
    pub fn read(&mut self, socket: &mut (impl Read + Write), into: &mut [u8]) -> io::Result<Opened> {
        loop {
            match self.tls.reader().read(into) {
                Ok(0) => return Ok(Opened { count: 0, drained: true }),
                Ok(count) => {
                    self.holds = self.tls.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() > 0);
                    return Ok(Opened { count, drained: self.drained && !self.holds });
                }
                // The end without a close_notify: the messages of HTTP and WebSocket tell their own ends.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(Opened { count: 0, drained: true });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if self.ended {
                return Ok(Opened { count: 0, drained: true });
            }
            self.receive(socket)?;
        }
    }

    fn receive(&mut self, socket: &mut (impl Read + Write)) -> io::Result<()> {
        let mut asked = Asked { socket, short: false };
        let read = match &mut self.hello {
            Some(hello) => hello.acceptor.read_tls(&mut asked),
            None => self.tls.read_tls(&mut asked),
        };
        match read {
            Ok(0) => self.ended = true,
            Ok(_) => self.drained = asked.short,
            Err(error) => {
                if error.kind() == io::ErrorKind::WouldBlock {
                    self.drained = true;
                }
                return Err(error);
            }
        }
        if !self.choose(socket)? {
            return Ok(());
        }
        let processed = self.tls.process_new_packets();
        // The handshake's next flight, an alert, new tickets. What the socket does not take waits for `flush`.
        match self.flush(socket) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        processed.map(|_| ()).map_err(broken)
    }

    /// Goes on with what belongs to the name that the client asks for. Whether that is known.
    fn choose(&mut self, socket: &mut impl Write) -> io::Result<bool> {
        let Some(hello) = &mut self.hello else { return Ok(true) };
        let accepted = match hello.acceptor.accept() {
            Ok(Some(accepted)) => accepted,
            Ok(None) => return Ok(false),
            Err(refusal) => return Err(refuse(socket, refusal)),
        };
        let config = match accepted.client_hello().server_name() {
            Some(name) => Arc::clone(hello.served.0.find(name)),
            None => Arc::clone(hello.served.0.own()),
        };
        self.tls = accepted.into_connection(config).map_err(|refusal| refuse(socket, refusal))?;
        self.tls.set_buffer_limit(Some(AHEAD));
        self.hello = None;
        Ok(true)
    }

    /// Seals as much of `parts` as may go ahead of the socket, and sends what it takes. How many plain bytes were
    /// taken.
    ///
    /// # Errors
    /// `WouldBlock` where nothing was taken; else the socket's own.
    pub fn write(&mut self, socket: &mut impl Write, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let (mut taken, mut waited) = (0, self.waits());
        loop {
            let count = self.seal(parts, taken)?;
            taken += count;
            match self.flush(socket) {
                Ok(()) if taken == total(parts) => return Ok(taken),
                // What waited before took the room that is free now.
                Ok(()) if count > 0 || waited => waited = false,
                // Before the end of the handshake only so much is kept.
                Ok(()) if taken == 0 => return Err(io::ErrorKind::WouldBlock.into()),
                Ok(()) => return Ok(taken),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && taken > 0 => return Ok(taken),
                Err(error) => return Err(error),
            }
        }
    }

    fn seal(&mut self, parts: &[IoSlice<'_>], mut skip: usize) -> io::Result<usize> {
        let mut sealed = 0;
        for part in parts {
            let rest = part.get(skip..).unwrap_or_default();
            skip -= skip.min(part.len());
            let count = self.tls.writer().write(rest)?;
            sealed += count;
            if count < rest.len() {
                break;
            }
        }
        Ok(sealed)
    }

    /// Sends sealed bytes that wait.
    ///
    /// # Errors
    /// `WouldBlock` where some are left; else the socket's own.
    pub fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(socket) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether something plain waits here, of which the socket does not tell.
    pub fn holds_input(&self) -> bool {
        self.holds
    }

    /// Whether sealed bytes wait.
    pub fn waits(&self) -> bool {
        self.tls.wants_write()
    }

    /// Says that nothing more will be sent (`close_notify`), which `flush` sends.
    pub fn close(&mut self) {
        self.tls.send_close_notify();
    }

    /// Whether the handshake goes on still.
    pub fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// The protocol that was agreed on (RFC 7301).
    pub fn alpn(&self) -> Option<&[u8]> {
        self.tls.alpn_protocol()
    }

    /// The name that the client asked for (RFC 6066).
    pub fn server_name(&self) -> Option<&str> {
        self.tls.server_name()
    }

    /// As it stands in the log and in PHP: "TLSv1.3".
    pub fn version(&self) -> &'static str {
        match self.tls.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "",
        }
    }

    /// The suite's name by the IANA.
    pub fn cipher(&self) -> String {
        let suite = self.tls.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
        suite.map_or_else(String::new, |name| name.replacen("TLS13_", "TLS_", 1))
    }

    /// Whether an earlier session was resumed.
    pub fn resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// The client's certificate, DER, where it was asked for and given.
    pub fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.tls.peer_certificates()?.first()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("version", &self.version()).finish_non_exhaustive()
    }
}

/// A socket that is being read, and whether it gave less than it was asked for: it is empty then.
struct Asked<'s, S> {
    socket: &'s mut S,
    short: bool,
}

impl<S: Read> Read for Asked<'_, S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(into)?;
        self.short = count < into.len();
        Ok(count)
    }
}

fn total(parts: &[IoSlice<'_>]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}
