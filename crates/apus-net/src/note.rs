//! What is noted of a request when it goes to the app, for the line that is logged when its answer is complete.

use apus_options::LOGGED_FIELDS_MOST;
use apus_proto::http1::Version;

use crate::info::ConnInfo;

/// Bytes of a target that are noted.
const TARGET: usize = 4096;
/// Bytes of any other text that are noted.
const TEXT: usize = 1024;
/// The length of a text that is not there.
const NONE: u16 = u16::MAX;

/// What a log wants of each request beyond what all have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFields {
    /// Header fields: in lower case, and as most clients write them.
    names: Vec<(String, String)>,
    /// A bit for each length, up to 63, that a name has.
    lengths: u64,
    /// Whether it wants the trace.
    pub(crate) trace: bool,
}

impl LoggedFields {
    /// Header fields by their names in lower case, [`LOGGED_FIELDS_MOST`] at most; and whether the trace is wanted.
    pub fn new(names: &[String], trace: bool) -> Self {
        let names = &names[..names.len().min(LOGGED_FIELDS_MOST)];
        let lengths = names.iter().fold(0, |lengths, name| lengths | bit(name.len()));
        let names = names.iter().map(|name| (name.clone(), usual(name))).collect();
        Self { names, lengths, trace }
    }
}

/// `user-agent` as `User-Agent`.
fn usual(name: &str) -> String {
    let mut begins = true;
    let letters = name.chars().map(|letter| {
        let written = if begins { letter.to_ascii_uppercase() } else { letter };
        begins = letter == '-';
        written
    });
    letters.collect()
}

/// The bit of a length: long ones share one.
#[inline]
fn bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// What is noted of a request, but for its header fields.
pub(crate) struct Facts<'a> {
    pub(crate) version: Version,
    /// The client, as trusted proxies name it.
    pub(crate) address: &'a str,
    pub(crate) port: u16,
    pub(crate) https: bool,
    pub(crate) method: &'a [u8],
    pub(crate) target: &'a [u8],
    pub(crate) host: Option<&'a [u8]>,
    pub(crate) trace: Option<String>,
}

/// The protocol (10, 11, 20; 0 where nobody knows), whether it came over TLS, and the client's port; then texts, each
/// behind its length in two bytes: the client's address, the method, the target, the host, the trace, and the
/// wanted fields.
pub(crate) fn note<'a>(
    into: &mut Vec<u8>,
    facts: &Facts<'_>,
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    wanted: &LoggedFields,
) {
    let version = match facts.version {
        Version::Http10 => 10,
        Version::Http11 => 11,
        Version::Http2 => 20,
    };
    begin(into, version, facts.https, facts.port, facts.address);
    text(into, Some(facts.method), TEXT);
    text(into, Some(facts.target), TARGET);
    text(into, facts.host, TEXT);
    text(into, facts.trace.as_ref().map(String::as_bytes), TEXT);
    let mut found = [None; LOGGED_FIELDS_MOST];
    for (name, value) in fields {
        if wanted.lengths & bit(name.len()) == 0 {
            continue;
        }
        // To compare without case takes twenty instructions a byte: first the ways in which names are written.
        let is = |(lower, usual): &(String, String)| {
            name == usual.as_bytes() || name == lower.as_bytes() || name.eq_ignore_ascii_case(lower.as_bytes())
        };
        let at = wanted.names.iter().position(is);
        if let Some(place) = at.and_then(|at| found.get_mut(at)).filter(|place| place.is_none()) {
            *place = Some(value);
        }
    }
    for value in &found[..wanted.names.len()] {
        text(into, *value, TEXT);
    }
}

/// The same of a request that could not be read.
pub(crate) fn note_unread(into: &mut Vec<u8>, info: &ConnInfo) {
    begin(into, 0, info.tls().is_some(), info.peer_port(), info.peer_ip());
}

fn begin(into: &mut Vec<u8>, version: u8, tls: bool, port: u16, address: &str) {
    into.clear();
    let [low, high] = port.to_ne_bytes();
    into.extend_from_slice(&[version, u8::from(tls), low, high]);
    text(into, Some(address.as_bytes()).filter(|address| !address.is_empty()), TEXT);
}

#[inline]
fn text(into: &mut Vec<u8>, text: Option<&[u8]>, most: usize) {
    let Some(text) = text else { return into.extend_from_slice(&NONE.to_ne_bytes()) };
    let text = &text[..text.len().min(most)];
    into.extend_from_slice(&(text.len() as u16).to_ne_bytes());
    into.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_however_they_are_written() {
        let wanted = LoggedFields::new(&["x-y-z".to_owned(), "user-agent".to_owned()], false);
        for name in ["User-Agent", "user-agent", "USER-agent"] {
            let facts = Facts {
                version: Version::Http11,
                address: "",
                port: 0,
                https: false,
                method: b"",
                target: b"",
                host: None,
                trace: None,
            };
            let mut noted = Vec::new();
            let fields = [(b"User-Agenx".as_slice(), b"no".as_slice()), (name.as_bytes(), b"yes"), (b"X-Y-Z", b"z")];
            note(&mut noted, &facts, fields.into_iter(), &wanted);
            assert!(noted.ends_with(b"\x01\0z\x03\0yes"), "{name}: {noted:?}");
        }
    }
}
