//! The hosts of a port: which settings a request has, by the name it asks for.
//!
//! A host is a port with other settings that shares its socket. A port without hosts pays one comparison a request.

use std::collections::HashMap;
use std::rc::Rc;

use apus_proto::http1::{Reject, Span, Version};

use super::Port;
use crate::config::{Config, Host};
use crate::head_bytes::Inner;
use crate::info::ConnInfo;

/// Bytes of a name (RFC 1035 section 2.3.4).
const LONGEST: usize = 255;

/// The hosts of a port, by name.
#[derive(Default)]
pub(crate) struct Hosts {
    exact: HashMap<Box<[u8]>, u16>,
    /// By what follows `*.`.
    wildcard: HashMap<Box<[u8]>, u16>,
    /// From number 1 on: what nobody has a host for is the port's own.
    sites: Vec<Rc<Port>>,
    certificates: Vec<usize>,
    demands: Vec<bool>,
}

impl Hosts {
    pub(crate) fn of(hosts: &[Host], port: &Port) -> Option<Box<Self>> {
        if hosts.is_empty() {
            return None;
        }
        let mut all = Self::default();
        for (host, number) in hosts.iter().zip(1..) {
            for name in &host.names {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                match name.strip_prefix("*.") {
                    Some(rest) => all.wildcard.insert(rest.as_bytes().into(), number),
                    None => all.exact.insert(name.as_bytes().into(), number),
                };
            }
            all.sites.push(Rc::new(Port::of_host(Rc::new(host.config.clone()), port, number)));
            all.certificates.push(host.certificate);
            all.demands.push(host.demands);
        }
        Some(Box::new(all))
    }

    /// The number of the host that a name means; 0 where it is nobody's.
    fn number(&self, authority: &[u8]) -> u16 {
        let name = name_of(authority);
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..name.len()) else { return 0 };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let lower = &*lower;
        let wild = || {
            let dot = lower.iter().position(|byte| *byte == b'.').filter(|dot| *dot > 0)?;
            self.wildcard.get(&lower[dot + 1..])
        };
        self.exact.get(lower).or_else(wild).copied().unwrap_or(0)
    }

    /// The host of a number; 0 and what is none is the port's own.
    #[inline]
    pub(crate) fn site<'h>(&'h self, number: u16, own: &'h Rc<Port>) -> &'h Rc<Port> {
        self.sites.get(usize::from(number).wrapping_sub(1)).unwrap_or(own)
    }

    /// The number of the host that a request is for; or why it cannot be.
    #[cold]
    pub(crate) fn choose(&self, inner: &Inner, info: &ConnInfo) -> Result<u16, Reject> {
        let authority = inner.head.host.map_or(&b""[..], |host| host.of(&inner.bytes));
        let number = self.number(authority);
        let asked = info.tls().map_or("", |tls| &tls.server_name);
        let demands = self.demands.get(usize::from(number).wrapping_sub(1)).copied().unwrap_or(false);
        if demands && info.tls().is_none() {
            return self.without_tls(number);
        }
        if (demands || !asked.is_empty()) && self.certificate(self.number(asked.as_bytes())) != self.certificate(number)
        {
            // RFC 9110 section 15.5.20: the connection was opened to, and proven by, somebody else.
            return Err(Reject::new(421, "the connection was opened to a host with another certificate"));
        }
        Ok(number)
    }

    /// Whoever knows that it is to be asked over TLS may be told so.
    #[cold]
    fn without_tls(&self, number: u16) -> Result<u16, Reject> {
        match self.sites.get(usize::from(number).wrapping_sub(1)) {
            Some(site) if site.config.https_redirect != 0 => Ok(number),
            _ => Err(Reject::new(403, "this host demands a certificate of its clients, which only TLS can show")),
        }
    }

    fn certificate(&self, number: u16) -> usize {
        self.certificates.get(usize::from(number).wrapping_sub(1)).copied().unwrap_or(0)
    }
}

/// An authority without its port and the dot of the root.
fn name_of(authority: &[u8]) -> &[u8] {
    let end = match authority.first() {
        Some(b'[') => authority.iter().position(|byte| *byte == b']').map_or(authority.len(), |at| at + 1),
        _ => authority.iter().position(|byte| *byte == b':').unwrap_or(authority.len()),
    };
    let name = &authority[..end];
    name.strip_suffix(b".").unwrap_or(name)
}

/// Why a head that the port takes is too large for a host.
#[cold]
pub(crate) fn too_large(Inner { bytes, head, .. }: &Inner, config: &Config) -> Result<(), Reject> {
    if head.target.of(bytes).len() > config.head.max_target {
        return Err(Reject::new(414, "the request target is too long for this host"));
    }
    let fits = match (&config.http2, head.version) {
        (Some(limits), Version::Http2) => {
            let size = |(name, value): &(Span, Span)| span_len(*name) + span_len(*value) + 32;
            let list = limits.head.list;
            head.headers.iter().map(size).sum::<usize>() <= list.max_list && head.headers.len() <= list.max_fields
        }
        _ => head.head_len <= config.head.max_head && head.headers.len() <= config.head.max_headers,
    };
    if fits { Ok(()) } else { Err(Reject::new(431, "the request head is too large for this host")) }
}

fn span_len(span: Span) -> usize {
    (span.end - span.start) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_port_and_root() {
        let mut hosts = Hosts::default();
        hosts.exact.insert(b"api.example.org"[..].into(), 1);
        hosts.wildcard.insert(b"example.org"[..].into(), 2);
        hosts.exact.insert(b"[::1]"[..].into(), 3);
        for (authority, number) in [
            ("api.example.org", 1),
            ("API.Example.ORG:8443", 1),
            ("api.example.org.", 1),
            ("api.example.org.:80", 1),
            ("www.example.org", 2),
            ("a.b.example.org", 0),
            ("example.org", 0),
            (".example.org", 0),
            ("[::1]:80", 3),
            ("[::1", 0),
            ("", 0),
        ] {
            assert_eq!(hosts.number(authority.as_bytes()), number, "{authority}");
        }
        assert_eq!(hosts.number(&[b'a'; 10_000]), 0);
    }
}
