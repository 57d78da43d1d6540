//! What a request that asks for a WebSocket says, and its answer (RFC 6455 section 4.2).

use apus_proto::http1::{Framing, RequestHead, Version, response as wire};
use apus_proto::websocket::deflate::{self, Params};
use apus_proto::websocket::handshake;

use crate::config::Config;

/// Bytes of `Sec-WebSocket-Extensions`, of all its lines together, that are looked at.
const MAX_OFFERS: usize = 4096;

/// Why a handshake is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The status to answer with.
    pub status: u16,
    /// What was wrong.
    pub reason: &'static str,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason)
    }
}

impl std::error::Error for Refusal {}

/// What a handshake asks for, kept until the program has decided.
#[derive(Debug)]
pub(crate) struct Handshake {
    accept: String,
    /// The subprotocols offered, as sent.
    protocols: Vec<Vec<u8>>,
    offers: String,
    origin: Option<Vec<u8>>,
}

/// How to answer a handshake.
#[derive(Debug, Clone, Copy, Default)]
pub struct Upgrade<'a> {
    /// Further field lines, each `Name: value CRLF`, validated; of the handshake's own fields only
    /// `Sec-WebSocket-Protocol` may be among them.
    pub lines: &'a [u8],
    /// The program chose the subprotocol itself: none is chosen from the port's list.
    pub has_subprotocol: bool,
    /// `lines` has a Server.
    pub has_server: bool,
    /// Messages go to [`MessageConn::recv`](super::MessageConn::recv) instead of the app.
    pub pull: bool,
}

/// Whether a list of tokens has this one.
pub(crate) fn has_token(list: &[u8], token: &[u8]) -> bool {
    list.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

impl Handshake {
    /// Reads the handshake of a request that asks for another protocol; `None` when that is not WebSocket.
    pub(crate) fn read(head: &RequestHead, bytes: &[u8]) -> Option<Result<Self, Refusal>> {
        let values = |name: &'static [u8]| {
            head.headers
                .iter()
                .filter(move |(found, _)| found.of(bytes).eq_ignore_ascii_case(name))
                .map(|(_, value)| value.of(bytes))
        };
        if !values(b"upgrade").any(|list| has_token(list, b"websocket")) {
            return None;
        }
        let refuse = |status, reason| Some(Err(Refusal { status, reason }));
        if head.method.of(bytes) != b"GET" {
            return refuse(405, "a WebSocket handshake is a GET request");
        }
        if !matches!(head.framing, Framing::None | Framing::Length(0)) {
            return refuse(400, "a WebSocket handshake has no body");
        }
        if head.version == Version::Http10 {
            return refuse(400, "a WebSocket handshake needs HTTP/1.1");
        }
        if !values(b"connection").any(|list| has_token(list, b"upgrade")) {
            return refuse(400, "a WebSocket handshake needs \"Connection: Upgrade\"");
        }
        if !values(b"sec-websocket-version").all(|version| version == b"13")
            || values(b"sec-websocket-version").next().is_none()
        {
            return refuse(426, "only version 13 of WebSocket is spoken here");
        }
        let mut keys = values(b"sec-websocket-key");
        let accept = match (keys.next(), keys.next()) {
            (Some(key), None) if handshake::is_key(key) => handshake::accept(key),
            _ => return refuse(400, "a WebSocket handshake needs one Sec-WebSocket-Key of 16 bytes in base64"),
        };
        let mut offers = String::new();
        for offer in values(b"sec-websocket-extensions") {
            if offers.len() + offer.len() <= MAX_OFFERS {
                offers.push_str(if offers.is_empty() { "" } else { "," });
                offers.push_str(&String::from_utf8_lossy(offer));
            }
        }
        let protocols = values(b"sec-websocket-protocol")
            .flat_map(|list| list.split(|&byte| byte == b','))
            .map(|protocol| protocol.trim_ascii().to_vec())
            .collect();
        Some(Ok(Self { accept, protocols, offers, origin: values(b"origin").next().map(<[u8]>::to_vec) }))
    }

    /// Whether the page that opened the connection may (RFC 6455 section 10.2). Clients that are no browsers name none.
    pub(crate) fn check_origin(&self, config: &Config) -> Result<(), Refusal> {
        let allowed = &config.origins;
        match &self.origin {
            Some(origin)
                if !allowed.is_empty() && !allowed.iter().any(|a| a.as_bytes().eq_ignore_ascii_case(origin)) =>
            {
                Err(Refusal { status: 403, reason: "pages of this origin may not connect (setting websocket_origins)" })
            }
            _ => Ok(()),
        }
    }

    /// The first of the port's subprotocols that the client offers.
    fn subprotocol<'a>(&self, config: &'a Config) -> Option<&'a [u8]> {
        let offered = |own: &&String| self.protocols.iter().any(|offer| own.as_bytes() == &offer[..]);
        config.subprotocols.iter().find(offered).map(String::as_bytes)
    }

    /// What both sides agree on for compression.
    pub(crate) fn params(&self, config: &Config) -> Option<Params> {
        let mut params = config.compression.then(|| deflate::choose(&self.offers)).flatten()?;
        if !config.context_takeover {
            params.server_no_context_takeover = true;
            params.client_no_context_takeover = true;
        }
        Some(params)
    }

    pub(crate) fn write_answer(
        &self,
        out: &mut Vec<u8>,
        config: &Config,
        upgrade: &Upgrade<'_>,
        params: Option<Params>,
    ) {
        wire::write_status_line(out, Version::Http11, 101, None);
        out.extend_from_slice(b"Upgrade: websocket\r\nConnection: Upgrade\r\n");
        wire::write_field(out, b"Sec-WebSocket-Accept", self.accept.as_bytes());
        self.write_fields(out, config, upgrade, params);
        out.extend_from_slice(b"\r\n");
    }

    /// Writes the fields that do not depend on the protocol's version.
    pub(crate) fn write_fields(
        &self,
        out: &mut Vec<u8>,
        config: &Config,
        upgrade: &Upgrade<'_>,
        params: Option<Params>,
    ) {
        if !upgrade.has_subprotocol
            && let Some(protocol) = self.subprotocol(config)
        {
            wire::write_field(out, b"Sec-WebSocket-Protocol", protocol);
        }
        if let Some(params) = params {
            wire::write_field(out, b"Sec-WebSocket-Extensions", params.to_field().as_bytes());
        }
        if !upgrade.has_server && !config.server_header.is_empty() {
            wire::write_field(out, b"Server", config.server_header.as_bytes());
        }
        out.extend_from_slice(upgrade.lines);
    }
}
