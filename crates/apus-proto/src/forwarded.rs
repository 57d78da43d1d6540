//! What proxies tell of their client: Forwarded (RFC 7239), or X-Forwarded-For, -Proto, -Host and X-Real-IP.

use std::net::{IpAddr, SocketAddr};

use crate::grammar::{is_host_port, list_members, trim_ows};

/// Addresses of a chain that are looked at, from its end.
const MAX_CHAIN: usize = 64;

/// Fields that proxies tell with. One kind is read, that which the proxies set themselves: they hand on what their
/// client has sent in all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fields {
    /// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host.
    #[default]
    XForwarded,
    /// Forwarded.
    Forwarded,
    /// X-Real-IP, X-Forwarded-Proto, X-Forwarded-Host.
    XRealIp,
}

/// What is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told<'a> {
    /// The client, or the first proxy before which nobody is trusted.
    pub client: Option<IpAddr>,
    /// Its port, where it is told.
    pub port: Option<u16>,
    /// Whether it speaks https.
    pub https: Option<bool>,
    /// The host that it asked for.
    pub host: Option<&'a [u8]>,
}

/// One of a chain.
#[derive(Clone, Copy, Default)]
struct Hop<'a> {
    node: &'a [u8],
    proto: Option<&'a [u8]>,
    host: Option<&'a [u8]>,
}

/// Reads the fields of a request that came from a trusted peer. Each proxy adds the one that it hears from: from the
/// end of the chain on, the first that is not `trusted` is the client; whatever stands before it, it could have sent
/// itself.
pub fn read<'a>(
    kind: Fields,
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    trusted: impl Fn(IpAddr) -> bool,
) -> Told<'a> {
    let mut hops: Vec<Hop<'a>> = Vec::new();
    let (mut addresses, mut protos, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
    let standard = kind == Fields::Forwarded;
    for (name, value) in fields {
        let is = |expected: &[u8]| name.eq_ignore_ascii_case(expected);
        match name.len() {
            9 if standard && is(b"forwarded") => hops.extend(elements(value).map(hop)),
            9 if kind == Fields::XRealIp && is(b"x-real-ip") => addresses = vec![value],
            15 if kind == Fields::XForwarded && is(b"x-forwarded-for") => addresses.extend(list_members(value)),
            16 if !standard && is(b"x-forwarded-host") => hosts.extend(list_members(value)),
            17 if !standard && is(b"x-forwarded-proto") => protos.extend(list_members(value)),
            _ => {}
        }
    }
    if !standard {
        let count = addresses.len();
        // Most proxies replace these two; where each adds one, they stand beside the addresses.
        let beside = |list: &[&'a [u8]], at: usize| {
            if list.len() == count { list.get(at).copied() } else { list.last().copied() }
        };
        let hop = |(at, node): (usize, &&'a [u8])| Hop { node, proto: beside(&protos, at), host: beside(&hosts, at) };
        hops = addresses.iter().enumerate().map(hop).collect();
        if hops.is_empty() {
            let (proto, host) = (protos.last().copied(), hosts.last().copied());
            return told(Hop { node: b"", proto, host }, None);
        }
    }
    let mut last = None;
    for hop in hops.iter().rev().take(MAX_CHAIN) {
        // Whom a proxy does not name, nobody knows further.
        let Some(client) = node(hop.node) else { break };
        last = Some((*hop, client));
        if !trusted(client.0) {
            break;
        }
    }
    match last {
        Some((hop, client)) => told(hop, Some(client)),
        None => told(hops.last().copied().unwrap_or_default(), None),
    }
}

fn told(hop: Hop<'_>, client: Option<(IpAddr, Option<u16>)>) -> Told<'_> {
    let https = hop.proto.and_then(|proto| {
        let is = |expected: &[u8]| proto.eq_ignore_ascii_case(expected);
        (is(b"https") || is(b"wss")).then_some(true).or((is(b"http") || is(b"ws")).then_some(false))
    });
    Told {
        client: client.map(|(address, _)| address),
        port: client.and_then(|(_, port)| port),
        https,
        host: hop.host.filter(|host| !host.is_empty() && is_host_port(host)),
    }
}

/// The elements of a Forwarded field: lists whose members may have commas inside quotes.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    value
        .split(move |byte| {
            quoted ^= *byte == b'"';
            *byte == b',' && !quoted
        })
        .map(trim_ows)
        .filter(|element| !element.is_empty())
}

fn hop(element: &[u8]) -> Hop<'_> {
    let mut hop = Hop::default();
    for pair in element.split(|byte| *byte == b';') {
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (trim_ows(&pair[..equals]), trim_ows(&pair[equals + 1..]));
        // Nodes, hosts and schemes have nothing that a backslash would stand before.
        let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
        match name.len() {
            3 if name.eq_ignore_ascii_case(b"for") => hop.node = value,
            5 if name.eq_ignore_ascii_case(b"proto") => hop.proto = Some(value),
            4 if name.eq_ignore_ascii_case(b"host") => hop.host = Some(value),
            _ => {}
        }
    }
    hop
}

/// An address, with a port or without, IPv6 in brackets or without.
fn node(text: &[u8]) -> Option<(IpAddr, Option<u16>)> {
    let text = std::str::from_utf8(trim_ows(text)).ok()?;
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some((address.to_canonical(), None));
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some((address.ip().to_canonical(), Some(address.port())));
    }
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'))?;
    inner.parse::<IpAddr>().ok().filter(IpAddr::is_ipv6).map(|address| (address.to_canonical(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(fields: &'a [(&'a str, &'a str)]) -> (String, Option<u16>, Option<bool>, &'a str) {
        by(Fields::XForwarded, fields)
    }

    fn by<'a>(kind: Fields, fields: &'a [(&'a str, &'a str)]) -> (String, Option<u16>, Option<bool>, &'a str) {
        let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let told = read(kind, fields, |address| address.to_string().starts_with("10."));
        let client = told.client.map(|address| address.to_string()).unwrap_or_default();
        (client, told.port, told.https, std::str::from_utf8(told.host.unwrap_or_default()).unwrap())
    }

    fn client(name: &str, value: &str) -> String {
        of(&[(name, value)]).0
    }

    #[test]
    fn what_the_proxy_hands_on_of_its_client_is_not_read() {
        let fields = [("Forwarded", "for=6.6.6.6"), ("X-Real-IP", "7.7.7.7"), ("X-Forwarded-For", "192.0.2.1")];
        assert_eq!(by(Fields::XForwarded, &fields).0, "192.0.2.1");
        assert_eq!(by(Fields::Forwarded, &fields).0, "6.6.6.6");
        assert_eq!(by(Fields::XRealIp, &fields).0, "7.7.7.7");
        for (kind, rest) in [(Fields::XForwarded, &fields[..2]), (Fields::Forwarded, &fields[1..])] {
            assert_eq!(by(kind, rest).0, "");
        }
        let schemes = [("Forwarded", "for=6.6.6.6;proto=https;host=evil"), ("X-Forwarded-Proto", "http")];
        assert_eq!(by(Fields::XForwarded, &schemes), (String::new(), None, Some(false), ""));
    }

    #[test]
    fn the_last_that_is_not_trusted_is_the_client() {
        for (value, expected) in [
            ("192.0.2.1", "192.0.2.1"),
            ("6.6.6.6, 192.0.2.1, 10.0.0.2", "192.0.2.1"),
            ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("192.0.2.1, unknown, 10.0.0.2", "10.0.0.2"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("192.0.2.1:80", "192.0.2.1"),
            ("", ""),
            ("evil", ""),
        ] {
            assert_eq!(client("X-Forwarded-For", value), expected, "{value}");
        }
        assert_eq!(by(Fields::XRealIp, &[("x-real-ip", "192.0.2.9")]).0, "192.0.2.9");
        assert_eq!(of(&[("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "2.2.2.2, 10.0.0.1")]).0, "2.2.2.2");
    }

    #[test]
    fn the_standard_field() {
        let client = |name, value| by(Fields::Forwarded, &[(name, value)]).0;
        let fields = [
            ("Forwarded", "for=6.6.6.6, for=\"[2001:db8::1]:4711\";proto=https;host=\"a.example:8443\", For=10.0.0.1"),
            ("X-Forwarded-For", "7.7.7.7"),
            ("X-Forwarded-Proto", "http"),
        ];
        assert_eq!(
            by(Fields::Forwarded, &fields),
            ("2001:db8::1".to_owned(), Some(4711), Some(true), "a.example:8443")
        );
        assert_eq!(client("forwarded", "for=_hidden, for=10.0.0.1"), "10.0.0.1");
        assert_eq!(client("forwarded", "for=\"1.1.1.1, for=2.2.2.2"), "");
        assert_eq!(client("forwarded", "proto=https"), "");
    }

    #[test]
    fn scheme_and_host_follow() {
        let both = [("x-forwarded-for", "1.1.1.1, 10.0.0.1"), ("x-forwarded-proto", "https, http")];
        assert_eq!(of(&both).2, Some(true), "each added one");
        let replaced = [("x-forwarded-for", "6.6.6.6, 1.1.1.1, 10.0.0.1"), ("x-forwarded-proto", "https")];
        assert_eq!(of(&replaced).2, Some(true));
        assert_eq!(of(&[("x-forwarded-proto", "https"), ("x-forwarded-host", "b.example")]).3, "b.example");
        assert_eq!(of(&[("x-forwarded-proto", "ftp"), ("x-forwarded-host", "a b")]).2, None);
        assert_eq!(of(&[("x-forwarded-host", "a/b")]).3, "");
    }
}
