//! Forms with files (RFC 7578).

use std::path::PathBuf;

use bytes::Bytes;

use super::{Piece, RequestBody};
use crate::failure::{Failure, Stage};

/// A file of a form.
#[derive(Debug, Clone)]
pub struct FormFile {
    /// The field's name.
    pub name: Vec<u8>,
    /// The name that the server is told.
    pub filename: Vec<u8>,
    /// Its media type.
    pub content_type: Vec<u8>,
    /// What it holds.
    pub content: Content,
}

/// What a file of a form holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// These bytes.
    Bytes(Bytes),
    /// A part of a file.
    File {
        /// Where it is.
        path: PathBuf,
        /// Bytes from its start.
        offset: u64,
        /// How many bytes.
        len: u64,
    },
}

/// A form of fields and files: its `Content-Type` and its body.
pub fn form(fields: &[(Vec<u8>, Vec<u8>)], files: &[FormFile]) -> Result<(String, RequestBody), Failure> {
    let boundary = boundary()?;
    let mut pieces = Vec::with_capacity(files.len() * 2 + 1);
    let mut text = Vec::new();
    for (name, value) in fields {
        begin(&mut text, &boundary, name);
        text.extend_from_slice(b"\r\n\r\n");
        text.extend_from_slice(value);
        text.extend_from_slice(b"\r\n");
    }
    for file in files {
        begin(&mut text, &boundary, &file.name);
        text.extend_from_slice(b"; filename=\"");
        escape(&mut text, &file.filename);
        text.extend_from_slice(b"\"\r\nContent-Type: ");
        text.extend(file.content_type.iter().filter(|byte| !byte.is_ascii_control()));
        text.extend_from_slice(b"\r\n\r\n");
        match &file.content {
            Content::Bytes(bytes) => text.extend_from_slice(bytes),
            Content::File { path, offset, len } => {
                pieces.push(Piece::Bytes(std::mem::take(&mut text).into()));
                pieces.push(Piece::File { path: path.clone(), offset: *offset, len: *len });
            }
        }
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    pieces.push(Piece::Bytes(text.into()));
    Ok((format!("multipart/form-data; boundary={boundary}"), RequestBody::of(pieces)))
}

fn begin(text: &mut Vec<u8>, boundary: &str, name: &[u8]) {
    text.extend_from_slice(b"--");
    text.extend_from_slice(boundary.as_bytes());
    text.extend_from_slice(b"\r\nContent-Disposition: form-data; name=\"");
    escape(text, name);
    text.push(b'"');
}

/// As browsers do it: what would end the name or the line is percent-encoded.
fn escape(text: &mut Vec<u8>, name: &[u8]) {
    for &byte in name {
        match byte {
            b'"' => text.extend_from_slice(b"%22"),
            b'\r' => text.extend_from_slice(b"%0D"),
            b'\n' => text.extend_from_slice(b"%0A"),
            0 => {}
            _ => text.push(byte),
        }
    }
}

/// 128 random bits: no body holds it by chance, and nobody can foresee it.
fn boundary() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Stage::Send, libc::EIO, format!("the system gave no random bytes: {error}")))?;
    Ok(format!("apus-{:032x}", u128::from_ne_bytes(bytes)))
}
