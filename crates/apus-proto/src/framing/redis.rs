//! Where a Redis request ends: `*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`, or one line.
//!
//! As in Redis itself, a request is one array of bulk strings: there is nothing nested in it.

use super::{FramingError, Next, Scan};

/// Parts that one request may announce.
pub const MAX_ARGUMENTS: usize = 1 << 20;
/// The longest request that is one line, bytes.
pub const MAX_INLINE: usize = 64 << 10;

/// The longest line that announces a count or a length: the sign, the digits of an i64, CR LF.
const MAX_HEAD: usize = 24;

/// What the first request in `bytes` is.
pub(super) fn next(bytes: &[u8], scan: &mut Scan, max: usize) -> Result<Next, FramingError> {
    match bytes.first() {
        None => return Ok(Next::More(1)),
        Some(b'*') => {}
        Some(_) => return line(bytes, scan, max.min(MAX_INLINE)),
    }
    if scan.at == 0 {
        let Some((count, at)) = head(bytes, 0, max)? else { return Ok(Next::More(1)) };
        // An empty array, and the null one, ask for nothing.
        let open = usize::try_from(count).unwrap_or(0);
        if open > MAX_ARGUMENTS {
            return Err(FramingError::Malformed("a Redis request of more than 1048576 parts"));
        }
        *scan = Scan { at, open };
    }
    while scan.open > 0 {
        match string(bytes, scan.at, max)? {
            Ok(end) => *scan = Scan { at: end, open: scan.open - 1 },
            Err(more) => return Ok(Next::More(more)),
        }
    }
    let total = scan.at;
    *scan = Scan::default();
    Ok(Next::Message(total))
}

/// The end of the bulk string that begins at `at`, or how many bytes are missing.
fn string(bytes: &[u8], at: usize, max: usize) -> Result<Result<usize, usize>, FramingError> {
    match bytes.get(at) {
        Some(b'$') => {}
        Some(_) => return Err(FramingError::Malformed("a part of a Redis request that is no bulk string")),
        None if at >= max => return Err(FramingError::Endless { max }),
        None => return Ok(Err(1)),
    }
    let Some((length, begin)) = head(bytes, at, max)? else { return Ok(Err(1)) };
    let length =
        u64::try_from(length).map_err(|_| FramingError::Malformed("a Redis bulk string of negative length"))?;
    let end = length.saturating_add((at + begin + 2) as u64);
    if end > max as u64 {
        return Err(FramingError::TooLong { length: end, max });
    }
    let end = end as usize;
    if bytes.len() < end {
        return Ok(Err(end - bytes.len()));
    }
    if bytes[end - 2..end] != *b"\r\n" {
        return Err(FramingError::Malformed("a Redis bulk string that does not end with CR LF"));
    }
    Ok(Ok(end))
}

/// The number in the line that begins at `at`, after its first byte, and how long the line is; `None` while it is not
/// all there.
fn head(bytes: &[u8], at: usize, max: usize) -> Result<Option<(i64, usize)>, FramingError> {
    let here = &bytes[at..bytes.len().min(max)];
    let within = &here[..here.len().min(MAX_HEAD)];
    let Some(end) = memchr::memchr(b'\n', within) else {
        if within.len() == MAX_HEAD {
            return Err(FramingError::Malformed("a Redis request with a count or length that does not end"));
        }
        return if bytes.len() >= max { Err(FramingError::Endless { max }) } else { Ok(None) };
    };
    let number = within[1..end].strip_suffix(b"\r").and_then(decimal);
    match number {
        Some(number) => Ok(Some((number, end + 1))),
        None => Err(FramingError::Malformed("a Redis request with a count or length that is no number")),
    }
}

fn decimal(digits: &[u8]) -> Option<i64> {
    // `parse` would take a plus sign.
    let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
    if !unsigned.first()?.is_ascii_digit() {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn line(bytes: &[u8], scan: &mut Scan, max: usize) -> Result<Next, FramingError> {
    let end = bytes.len().min(max);
    let from = scan.at.min(end);
    if let Some(at) = memchr::memchr(b'\n', &bytes[from..end]) {
        *scan = Scan::default();
        return Ok(Next::Message(from + at + 1));
    }
    scan.at = end;
    if bytes.len() >= max { Err(FramingError::Endless { max }) } else { Ok(Next::More(1)) }
}
