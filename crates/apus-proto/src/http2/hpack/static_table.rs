//! The static table (RFC 7541 appendix A).

/// Name and value of each entry; the entry of index 1 comes first.
pub(super) const ENTRIES: [(&[u8], &[u8]); 61] = [
    (b":authority", b""),
    (b":method", b"GET"),
    (b":method", b"POST"),
    (b":path", b"/"),
    (b":path", b"/index.html"),
    (b":scheme", b"http"),
    (b":scheme", b"https"),
    (b":status", b"200"),
    (b":status", b"204"),
    (b":status", b"206"),
    (b":status", b"304"),
    (b":status", b"400"),
    (b":status", b"404"),
    (b":status", b"500"),
    (b"accept-charset", b""),
    (b"accept-encoding", b"gzip, deflate"),
    (b"accept-language", b""),
    (b"accept-ranges", b""),
    (b"accept", b""),
    (b"access-control-allow-origin", b""),
    (b"age", b""),
    (b"allow", b""),
    (b"authorization", b""),
    (b"cache-control", b""),
    (b"content-disposition", b""),
    (b"content-encoding", b""),
    (b"content-language", b""),
    (b"content-length", b""),
    (b"content-location", b""),
    (b"content-range", b""),
    (b"content-type", b""),
    (b"cookie", b""),
    (b"date", b""),
    (b"etag", b""),
    (b"expect", b""),
    (b"expires", b""),
    (b"from", b""),
    (b"host", b""),
    (b"if-match", b""),
    (b"if-modified-since", b""),
    (b"if-none-match", b""),
    (b"if-range", b""),
    (b"if-unmodified-since", b""),
    (b"last-modified", b""),
    (b"link", b""),
    (b"location", b""),
    (b"max-forwards", b""),
    (b"proxy-authenticate", b""),
    (b"proxy-authorization", b""),
    (b"range", b""),
    (b"referer", b""),
    (b"refresh", b""),
    (b"retry-after", b""),
    (b"server", b""),
    (b"set-cookie", b""),
    (b"strict-transport-security", b""),
    (b"transfer-encoding", b""),
    (b"user-agent", b""),
    (b"vary", b""),
    (b"via", b""),
    (b"www-authenticate", b""),
];

/// The longest name.
const MAX_NAME: usize = 27;

/// For each length of a name and each kind of first letter (its lowest three bits) the first entry that may have it,
/// so that a name is compared once or twice; 0 where there is none.
const FIRST: [[u8; 8]; MAX_NAME + 1] = {
    let mut first = [[0; 8]; MAX_NAME + 1];
    let mut at = ENTRIES.len();
    while at > 0 {
        at -= 1;
        let name = ENTRIES[at].0;
        first[name.len()][letter(name)] = at as u8 + 1;
    }
    first
};

/// For each entry the next one with another name that [`FIRST`] does not tell apart; 0 after the last.
const NEXT: [u8; ENTRIES.len() + 1] = {
    let mut next = [0; ENTRIES.len() + 1];
    let mut at = 0;
    while at < ENTRIES.len() {
        let name = ENTRIES[at].0;
        let mut later = at + 1;
        while later < ENTRIES.len() {
            let other = ENTRIES[later].0;
            if other.len() == name.len() && letter(other) == letter(name) && !equal(other, name) {
                next[at + 1] = later as u8 + 1;
                break;
            }
            later += 1;
        }
        at += 1;
    }
    next
};

/// Pseudo-fields begin with a colon, so it is the second letter that tells names apart.
const fn letter(name: &[u8]) -> usize {
    (name[1] & 7) as usize
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The first entry of that name.
pub(super) fn name(name: &[u8]) -> Option<u8> {
    if name.len() < 2 || name.len() > MAX_NAME {
        return None;
    }
    let mut index = FIRST[name.len()][letter(name)];
    while index != 0 {
        if ENTRIES[usize::from(index) - 1].0 == name {
            return Some(index);
        }
        index = NEXT[usize::from(index)];
    }
    None
}

/// The index of `:status: 200`.
pub(super) const STATUS_200: u8 = 8;

/// The entry of that name and value, where `first` is the first of that name.
pub(super) fn value(first: u8, value: &[u8]) -> Option<u8> {
    let name = ENTRIES[usize::from(first) - 1].0;
    let entries = ENTRIES.iter().enumerate().skip(usize::from(first) - 1);
    entries.take_while(|(_, entry)| entry.0 == name).find(|(_, entry)| entry.1 == value).map(|(at, _)| at as u8 + 1)
}
