//! The four routes every contender serves; `bench/harness/verify.py` holds the contract.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::http::{self, Request};

const ITEMS: usize = 100;

pub struct Site {
    dir: PathBuf,
}

impl Site {
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub fn answer(&self, request: &Request, date: &[u8], out: &mut Vec<u8>) {
        match (request.method, request.target) {
            ("GET", "/") => send(request, "200 OK", "text/plain", b"Hello, World!", date, out),
            ("GET", "/json") => send(request, "200 OK", "application/json", &json(), date, out),
            ("POST", "/upload") => match self.upload(request.body) {
                Ok(uuid) => send(request, "200 OK", "text/plain", uuid.as_bytes(), date, out),
                Err(error) => fail(request, &error, date, out),
            },
            ("POST", "/echo") => match self.echo(request.body) {
                Ok(bytes) => send(request, "200 OK", "application/octet-stream", &bytes, date, out),
                Err(error) => fail(request, &error, date, out),
            },
            _ => send(request, "404 Not Found", "text/plain", b"Not Found", date, out),
        }
    }

    /// W6 stage 2: keep the body under a new UUID, then delete it.
    fn upload(&self, body: &[u8]) -> io::Result<String> {
        let uuid = uuid4()?;
        let path = self.dir.join(&uuid);
        fs::write(&path, body)?;
        fs::remove_file(&path)?;
        Ok(uuid)
    }

    /// W6 stage 3: keep the body, read it back, delete it.
    fn echo(&self, body: &[u8]) -> io::Result<Vec<u8>> {
        let path = self.dir.join(uuid4()?);
        fs::write(&path, body)?;
        let bytes = fs::read(&path)?;
        fs::remove_file(&path)?;
        Ok(bytes)
    }
}

fn send(request: &Request, status: &str, kind: &str, body: &[u8], date: &[u8], out: &mut Vec<u8>) {
    http::head(request, status, kind, body.len(), date, out);
    out.extend_from_slice(body);
}

fn fail(request: &Request, error: &io::Error, date: &[u8], out: &mut Vec<u8>) {
    send(request, "500 Internal Server Error", "text/plain", error.to_string().as_bytes(), date, out);
}

/// W6 stage 1: built anew for each request, as the others do.
fn json() -> Vec<u8> {
    let mut out = Vec::with_capacity(5 * 1024);
    let mut number = itoa::Buffer::new();
    out.push(b'[');
    for id in 0..ITEMS {
        let digits = number.format(id).as_bytes();
        out.extend_from_slice(if id == 0 { b"{\"id\":" } else { b",{\"id\":" });
        out.extend_from_slice(digits);
        out.extend_from_slice(b",\"name\":\"item ");
        out.extend_from_slice(digits);
        out.extend_from_slice(if id % 2 == 0 { b"\",\"active\":true}" } else { b"\",\"active\":false}" });
    }
    out.push(b']');
    out
}

/// RFC 9562 section 5.4.
fn uuid4() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[nibble as usize]));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{json, uuid4};

    #[test]
    fn uuid_has_version_and_variant() {
        let uuid = uuid4().unwrap();
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uuid.as_bytes()[19]));
    }

    #[test]
    fn json_has_a_hundred_elements() {
        let text = String::from_utf8(json()).unwrap();
        assert!(text.starts_with("[{\"id\":0,\"name\":\"item 0\",\"active\":true},{\"id\":1,"));
        assert_eq!(text.matches("\"id\":").count(), 100);
    }
}
