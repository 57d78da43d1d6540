//! The PROXY protocol, versions 1 and 2: what a proxy says of its client before anything else on a connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The longest header of version 1, its line end included.
const MAX_V1: usize = 107;
/// The longest header of version 2 that is taken: addresses, and what proxies add to them.
pub const MAX_HEADER: usize = 4096;
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// Whom a connection is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The proxy itself: it looks whether anybody is there.
    Proxy,
    /// Somebody of whom it cannot tell an address.
    Unknown,
    /// That client.
    Client(SocketAddr),
}

/// No header, or one that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Reads a header from the start of `bytes`: its length and what it says; `None` when more bytes are needed.
pub fn parse(bytes: &[u8]) -> Result<Option<(usize, Source)>, Malformed> {
    let common = bytes.len().min(SIGNATURE.len());
    if bytes[..common] == SIGNATURE[..common] {
        return if common < SIGNATURE.len() { Ok(None) } else { version_2(bytes) };
    }
    version_1(bytes)
}

fn version_1(bytes: &[u8]) -> Result<Option<(usize, Source)>, Malformed> {
    const START: &[u8] = b"PROXY ";
    let common = bytes.len().min(START.len());
    if bytes[..common] != START[..common] {
        return Err(Malformed);
    }
    let view = &bytes[..bytes.len().min(MAX_V1)];
    let Some(end) = view.windows(2).position(|pair| pair == b"\r\n") else {
        return if bytes.len() >= MAX_V1 { Err(Malformed) } else { Ok(None) };
    };
    let line = view.get(START.len()..end).and_then(|line| std::str::from_utf8(line).ok()).ok_or(Malformed)?;
    let mut words = line.split(' ');
    let source = match words.next() {
        // What follows is not to be looked at.
        Some("UNKNOWN") => return Ok(Some((end + 2, Source::Unknown))),
        Some(family @ ("TCP4" | "TCP6")) => {
            let mut address = || {
                let address: IpAddr = words.next().and_then(|word| word.parse().ok()).ok_or(Malformed)?;
                if address.is_ipv4() == (family == "TCP4") { Ok(address) } else { Err(Malformed) }
            };
            let (source, _) = (address()?, address()?);
            let mut port = || words.next().and_then(port).ok_or(Malformed);
            let (port, _) = (port()?, port()?);
            Source::Client(SocketAddr::new(source, port))
        }
        _ => return Err(Malformed),
    };
    if words.next().is_some() { Err(Malformed) } else { Ok(Some((end + 2, source))) }
}

/// Digits without a leading zero.
fn port(word: &str) -> Option<u16> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit()) && (word.len() == 1 || !word.starts_with('0'));
    word.parse().ok().filter(|_| plain)
}

fn version_2(bytes: &[u8]) -> Result<Option<(usize, Source)>, Malformed> {
    let Some(&[command, family, high, low]) = bytes.get(12..16).and_then(|rest| rest.first_chunk()) else {
        // What is there already may be wrong.
        return if bytes.get(12).is_some_and(|command| command >> 4 != 2) { Err(Malformed) } else { Ok(None) };
    };
    let end = 16 + usize::from(u16::from_be_bytes([high, low]));
    if command >> 4 != 2 || end > MAX_HEADER {
        return Err(Malformed);
    }
    let Some(rest) = bytes.get(16..end) else { return Ok(None) };
    let source = match (command & 15, family) {
        (0, _) => Source::Proxy,
        (1, 0x11) => Source::Client(addresses::<4>(rest)?),
        (1, 0x21) => Source::Client(addresses::<16>(rest)?),
        // Datagrams and Unix sockets have no client with an address on a stream.
        (1, _) => Source::Unknown,
        _ => return Err(Malformed),
    };
    Ok(Some((end, source)))
}

/// Source and destination, then their ports.
fn addresses<const N: usize>(rest: &[u8]) -> Result<SocketAddr, Malformed>
where
    [u8; N]: Address,
{
    let source: [u8; N] = rest.get(..N).and_then(|bytes| bytes.try_into().ok()).ok_or(Malformed)?;
    let port: [u8; 2] = rest.get(2 * N..2 * N + 2).and_then(|bytes| bytes.try_into().ok()).ok_or(Malformed)?;
    if rest.len() < 2 * N + 4 {
        return Err(Malformed);
    }
    Ok(SocketAddr::new(source.address(), u16::from_be_bytes(port)))
}

trait Address {
    fn address(self) -> IpAddr;
}

impl Address for [u8; 4] {
    fn address(self) -> IpAddr {
        Ipv4Addr::from(self).into()
    }
}

impl Address for [u8; 16] {
    fn address(self) -> IpAddr {
        Ipv6Addr::from(self).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Source {
        Source::Client(text.parse().unwrap())
    }

    fn v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = (rest.len() as u16).to_be_bytes();
        [&SIGNATURE[..], &[0x20 | command, family], &length, rest].concat()
    }

    /// Each prefix says that more is needed, and what follows changes nothing.
    fn whole(bytes: &[u8], expected: Source) {
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]), Ok(None), "{}", bytes[..cut].escape_ascii());
        }
        let more = [bytes, b"GET / HTTP/1.1\r\n"].concat();
        assert_eq!(parse(&more), Ok(Some((bytes.len(), expected))), "{}", bytes.escape_ascii());
    }

    #[test]
    fn lines_of_version_1() {
        whole(b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", client("192.0.2.1:56324"));
        whole(b"PROXY TCP6 2001:db8::1 ::1 65535 0\r\n", client("[2001:db8::1]:65535"));
        whole(b"PROXY UNKNOWN\r\n", Source::Unknown);
        whole(b"PROXY UNKNOWN ffff:: ffff:: 1 1\r\n", Source::Unknown);
        for wrong in [
            "GET / HTTP/1.1\r\n",
            "PROXY TCP4 ::1 ::1 1 2\r\n",
            "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
            "PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY\r\n",
            "proxy UNKNOWN\r\n",
        ] {
            assert_eq!(parse(wrong.as_bytes()), Err(Malformed), "{wrong}");
        }
        assert_eq!(parse(&[b"PROXY UNKNOWN ".as_slice(), &[b'a'; 100]].concat()), Err(Malformed));
    }

    #[test]
    fn headers_of_version_2() {
        let four = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 4, 1, 187];
        whole(&v2(1, 0x11, &four), client("192.0.2.1:56324"));
        // With what a proxy adds.
        whole(&v2(1, 0x11, &[&four[..], &[4, 0, 1, 0]].concat()), client("192.0.2.1:56324"));
        let six = [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[1], &[0; 16], &[0, 80, 0, 80]].concat();
        whole(&v2(1, 0x21, &six), client("[2001:db8::1]:80"));
        whole(&v2(0, 0, b""), Source::Proxy);
        whole(&v2(1, 0x31, &[0; 216]), Source::Unknown);
        for wrong in [v2(1, 0x11, &four[..11]), v2(2, 0x11, &four), v2(1, 0x21, &four), v2(0, 0, &[0; MAX_HEADER])] {
            assert_eq!(parse(&wrong), Err(Malformed), "{}", wrong.escape_ascii());
        }
        assert_eq!(parse(&[&SIGNATURE[..], &[0x11]].concat()), Err(Malformed));
    }
}
