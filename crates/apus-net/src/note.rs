//! What is noted of a request when it goes to the app, for the line that is logged when its answer is complete.

use apus_proto::http1::Version;

use crate::info::ConnInfo;

/// Header fields that one log may want.
const MOST_FIELDS: usize = 32;
/// Bytes of a target that are noted.
const TARGET: usize = 4096;
/// Bytes of any other text that are noted.
const TEXT: usize = 1024;
/// The length of a text that is not there.
const NONE: u16 = u16::MAX;

/// Which header fields are noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedFields {
    names: Vec<String>,
    /// A bit for each length, up to 63, that a name has.
    lengths: u64,
}

impl NotedFields {
    /// Fields by their names in lower case, 32 at most.
    pub fn new(names: &[String]) -> Self {
        let names = names[..names.len().min(MOST_FIELDS)].to_vec();
        let lengths = names.iter().fold(0, |lengths, name| lengths | bit(name.len()));
        Self { names, lengths }
    }
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
}

/// The protocol (10, 11, 20; 0 where nobody knows), whether it came over TLS, and the client's port; then texts, each
/// behind its length in two bytes: the client's address, the method, the target, the host, and the wanted fields.
pub(crate) fn note<'a>(
    into: &mut Vec<u8>,
    facts: &Facts<'_>,
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    wanted: &NotedFields,
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
    let mut found = [None; MOST_FIELDS];
    for (name, value) in fields {
        if wanted.lengths & bit(name.len()) == 0 {
            continue;
        }
        let at = wanted.names.iter().position(|wanted| name.eq_ignore_ascii_case(wanted.as_bytes()));
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
