//! The character classes of RFC 9110 and RFC 3986, as tables and checks.

use crate::scan;

/// One bit a class, so that one 256-byte table answers every question about a byte.
const TOKEN: u8 = 1;
const REG_NAME: u8 = 2;
/// What of a token is no upper-case letter.
const LOWER: u8 = 4;

const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut byte = 0usize;
    while byte < 256 {
        let b = byte as u8;
        let alnum = b.is_ascii_alphanumeric();
        // RFC 9110 section 5.6.2, tchar.
        if alnum
            || matches!(
                b,
                b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
            )
        {
            table[byte] |= if b.is_ascii_uppercase() { TOKEN } else { TOKEN | LOWER };
        }
        // RFC 3986 section 3.2.2, reg-name: unreserved / sub-delims; what is percent-encoded is looked at by itself.
        if alnum
            || matches!(
                b,
                b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
            )
        {
            table[byte] |= REG_NAME;
        }
        byte += 1;
    }
    table
}

/// Whether the byte may stand in a token (RFC 9110 section 5.6.2).
#[inline]
pub const fn is_token_byte(byte: u8) -> bool {
    CLASS[byte as usize] & TOKEN != 0
}

/// Whether the byte may stand in the name of a field of HTTP/2 (RFC 9113 section 8.2.1).
#[inline]
pub(crate) const fn is_lower_token_byte(byte: u8) -> bool {
    CLASS[byte as usize] & LOWER != 0
}

/// Where the request target that begins at `from` ends: at the first byte of [`scan::NoTarget`].
#[inline]
pub(crate) fn target_end(view: &[u8], from: usize) -> usize {
    scan::first::<scan::NoTarget>(view, from)
}

/// Whether the bytes are a token: a method or a field name (RFC 9110 section 5.6.2).
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&b| is_token_byte(b))
}

/// Whether the bytes may be sent or accepted as a field value: no control but HTAB, obs-text allowed (RFC 9110
/// section 5.5).
#[inline]
pub fn is_field_value(bytes: &[u8]) -> bool {
    let mut at = scan::control_at(bytes, 0);
    while bytes.get(at) == Some(&b'\t') {
        at = scan::control_at(bytes, at + 1);
    }
    at >= bytes.len()
}

/// The bytes without the optional white space around them (RFC 9110 section 5.6.3).
#[inline]
pub fn trim_ows(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// The members of a comma-separated list, trimmed, empty ones left out (RFC 9110 section 5.6.1.2).
pub fn list_members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(trim_ows).filter(|member| !member.is_empty())
}

/// Whether the bytes are `uri-host [ ":" port ]` (RFC 9110 section 7.2): what a Host field or an authority may hold.
/// Userinfo is refused, and a port without a host; whether nothing at all will do is the caller's to judge.
pub fn is_host_port(bytes: &[u8]) -> bool {
    host_port_ends_at(bytes, 0, bytes.len())
}

/// [`is_host_port`] of `view[from..to]`. It is quicker where more bytes follow, at which nothing is judged.
#[inline]
pub(crate) fn host_port_ends_at(view: &[u8], from: usize, to: usize) -> bool {
    let name = scan::first::<scan::NoHost>(view, from).min(to);
    match &view[name..to] {
        [] => true,
        // A port without a host is refused.
        [b':', port @ ..] if name > from => is_port(port),
        _ => is_other_host_port(&view[from..to]),
    }
}

/// Whether what [`is_host_port`] allows has a port, which is not empty.
pub(crate) fn has_port(authority: &[u8]) -> bool {
    authority.iter().rposition(|&b| b == b':').is_some_and(|colon| colon > 0 && colon + 1 < authority.len())
}

#[inline]
fn is_port(bytes: &[u8]) -> bool {
    bytes.len() <= 5 && bytes.iter().all(u8::is_ascii_digit)
}

/// The same where the host is an address in brackets, or has something percent-encoded in it.
fn is_other_host_port(bytes: &[u8]) -> bool {
    let after_host = if let [b'[', rest @ ..] = bytes {
        let Some(end) = memchr::memchr(b']', rest) else { return false };
        if !is_ip_literal(&rest[..end]) {
            return false;
        }
        &rest[end + 1..]
    } else {
        let end = scan::find(b':', bytes).unwrap_or(bytes.len());
        if end == 0 || !is_encoded_reg_name(&bytes[..end]) {
            return false;
        }
        &bytes[end..]
    };
    match after_host {
        [] => true,
        [b':', port @ ..] => is_port(port),
        _ => false,
    }
}

/// RFC 3986 section 3.2.2: `*( unreserved / pct-encoded / sub-delims )`.
fn is_encoded_reg_name(mut bytes: &[u8]) -> bool {
    loop {
        bytes = match bytes {
            [] => return true,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [byte, rest @ ..] if CLASS[*byte as usize] & REG_NAME != 0 => rest,
            _ => return false,
        }
    }
}

/// The inside of the brackets: an IPv6 address (zone ids are refused, RFC 6874 is not for the wire) or an `IPvFuture`.
fn is_ip_literal(inside: &[u8]) -> bool {
    if let [b'v' | b'V', rest @ ..] = inside {
        let Some(dot) = memchr::memchr(b'.', rest) else { return false };
        let (version, address) = (&rest[..dot], &rest[dot + 1..]);
        return !version.is_empty()
            && version.iter().all(u8::is_ascii_hexdigit)
            && !address.is_empty()
            && address.iter().all(|&b| b == b':' || CLASS[b as usize] & REG_NAME != 0);
    }
    std::str::from_utf8(inside).is_ok_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
}
