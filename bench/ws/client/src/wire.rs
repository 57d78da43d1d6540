//! RFC 6455 on bytes: the handshake of both sides, and frames.

pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// No message of the benchmark is longer.
const LONGEST: usize = 1 << 20;
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why a connection is of no use any more.
pub type Fault = std::borrow::Cow<'static, str>;

pub struct Frame {
    pub fin: bool,
    pub opcode: u8,
    /// Where the payload is in the buffer that was parsed, and with it where the frame ends.
    pub start: usize,
    pub end: usize,
    pub mask: Option<[u8; 4]>,
}

/// The first frame in `bytes`; none when it is not whole.
pub fn parse(bytes: &[u8]) -> Result<Option<Frame>, Fault> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    if first & 0x70 != 0 {
        return Err("a reserved bit is set".into());
    }
    let (length, head) = match second & 0x7f {
        126 => (rest.first_chunk().map(|long| usize::from(u16::from_be_bytes(*long))), 4),
        127 => (rest.first_chunk().map(|long| u64::from_be_bytes(*long) as usize), 10),
        short => (Some(usize::from(short)), 2),
    };
    let Some(length) = length else { return Ok(None) };
    if length > LONGEST {
        return Err("a frame is too long".into());
    }
    let masked = second & 0x80 != 0;
    let start = head + if masked { 4 } else { 0 };
    if bytes.len() < start + length {
        return Ok(None);
    }
    let mask = masked.then(|| [bytes[head], bytes[head + 1], bytes[head + 2], bytes[head + 3]]);
    Ok(Some(Frame { fin: first & 0x80 != 0, opcode: first & 0x0f, start, end: start + length, mask }))
}

/// Appends a whole message in one frame.
pub fn put(opcode: u8, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    let flag = if mask.is_some() { 0x80 } else { 0 };
    out.push(0x80 | opcode);
    match payload.len() {
        length @ ..=125 => out.push(flag | length as u8),
        length @ ..=0xffff => {
            out.push(flag | 0x7e);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(flag | 0x7f);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let Some(key) = mask else { return out.extend_from_slice(payload) };
    out.extend_from_slice(&key);
    let start = out.len();
    out.extend_from_slice(payload);
    apply(key, &mut out[start..]);
}

/// Masks or unmasks in place (RFC 6455 section 5.3).
pub fn apply(key: [u8; 4], payload: &mut [u8]) {
    for (byte, key) in payload.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

/// The request that opens a connection, and the answer's `Sec-WebSocket-Accept`.
pub fn request(host: &str, nonce: [u8; 16], out: &mut Vec<u8>) {
    out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: ");
    out.extend_from_slice(host.as_bytes());
    out.extend_from_slice(b"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ");
    base64(&nonce, out);
    out.extend_from_slice(b"\r\nSec-WebSocket-Version: 13\r\n\r\n");
}

pub fn accept(key: &[u8]) -> Vec<u8> {
    let mut digest = sha1_smol::Sha1::new();
    digest.update(key);
    digest.update(GUID);
    let mut text = Vec::with_capacity(28);
    base64(&digest.digest().bytes(), &mut text);
    text
}

/// Bytes of a head that ends with an empty line; none when it is not whole.
pub fn head_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// The value of a field, without the spaces around it.
pub fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
    })
}

/// Whether a server's head opens the connection that was asked for with `nonce`.
pub fn check_answer(head: &[u8], nonce: [u8; 16]) -> Result<(), Fault> {
    let status = head.get(9..12).unwrap_or_default();
    if !head.starts_with(b"HTTP/1.1 ") || status != b"101" {
        return Err(format!("answered {}", String::from_utf8_lossy(status)).into());
    }
    let mut key = Vec::with_capacity(24);
    base64(&nonce, &mut key);
    let right = |name: &str, value: &[u8]| field(head, name).is_some_and(|found| found.eq_ignore_ascii_case(value));
    if !right("Upgrade", b"websocket") || !right("Connection", b"upgrade") {
        return Err("the 101 answer does not say what it upgrades to".into());
    }
    if field(head, "Sec-WebSocket-Accept") != Some(&accept(&key)) {
        return Err("wrong Sec-WebSocket-Accept".into());
    }
    if field(head, "Sec-WebSocket-Extensions").is_some() {
        return Err("an extension that was not offered".into());
    }
    Ok(())
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let bits = u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { digit } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TEXT, accept, apply, base64, check_answer, field, head_length, parse, put, request};

    #[test]
    fn frames_of_each_length_come_back() {
        for length in [0, 1, 20, 125, 126, 65_535, 65_536, 70_000] {
            let payload = vec![7; length];
            for mask in [None, Some([1, 2, 3, 4])] {
                let mut bytes = Vec::new();
                put(TEXT, &payload, mask, &mut bytes);
                let whole = bytes.len();
                bytes.push(0x81);
                let frame = parse(&bytes).unwrap().unwrap();
                assert_eq!((frame.fin, frame.opcode, frame.end, frame.mask), (true, TEXT, whole, mask));
                let mut found = bytes[frame.start..frame.end].to_vec();
                apply(mask.unwrap_or_default(), &mut found);
                assert_eq!(found, payload);
                for cut in [0, 1, 2, 3, 5, whole - 1] {
                    assert!(parse(&bytes[..cut.min(whole - 1)]).unwrap().is_none(), "{length} cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_negotiated_is_refused() {
        assert!(parse(&[0xc1, 0]).is_err());
        assert!(parse(&[0x81, 127, 1, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }

    #[test]
    fn the_example_of_the_rfc() {
        assert_eq!(accept(b"dGhlIHNhbXBsZSBub25jZQ=="), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let text = |bytes: &[u8]| {
            let mut out = Vec::new();
            base64(bytes, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            [text(b""), text(b"f"), text(b"fo"), text(b"foo"), text(b"foob")],
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }

    #[test]
    fn answers_are_checked() {
        let mut bytes = Vec::new();
        request("h", *b"the sample nonce", &mut bytes);
        assert_eq!(head_length(&bytes), Some(bytes.len()));
        assert_eq!(field(&bytes, "sec-websocket-key"), Some(&b"dGhlIHNhbXBsZSBub25jZQ=="[..]));
        let check = |text: &str| check_answer(text.as_bytes(), *b"the sample nonce");
        let right = "HTTP/1.1 101 x\r\nUpgrade: WebSocket\r\nconnection: Upgrade\r\n\
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
        assert!(check(right).is_ok());
        assert!(check(&right.replace("101", "200")).is_err());
        assert!(check(&right.replace("s3p", "s3q")).is_err());
        assert!(check(&right.replace("WebSocket\r", "h2c\r")).is_err());
        assert!(check(&format!("{right}Sec-WebSocket-Extensions: permessage-deflate\r\n")).is_err());
        assert!(check("").is_err());
    }
}
