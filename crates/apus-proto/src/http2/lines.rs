//! Fields that are there as lines of HTTP/1.1, as the heads of answers are.

use super::head::is_connection_specific;
use super::hpack::{Encoder, Indexing};
use crate::grammar::trim_ows;
use crate::scan::find;

/// Names longer than this are copied before they are made lower case.
const MAX_NAME: usize = 64;

/// Appends the fields of `lines`, each `Name: value CRLF`. Whoever wrote the lines has validated them; those that must
/// not be sent over HTTP/2 are left out.
pub fn encode_lines(encoder: &mut Encoder, lines: &[u8], out: &mut Vec<u8>) {
    let mut rest = lines;
    while !rest.is_empty() {
        let line;
        (line, rest) = rest.split_at(find(b'\n', rest).map_or(rest.len(), |lf| lf + 1));
        let Some(colon) = find(b':', line) else { continue };
        let (name, value) = (&line[..colon], trim_ows(line[colon + 1..].trim_ascii_end()));
        let mut short = [0; MAX_NAME];
        let long;
        let name = if let Some(room) = short.get_mut(..name.len()) {
            room.copy_from_slice(name);
            room.make_ascii_lowercase();
            &*room
        } else {
            long = name.to_ascii_lowercase();
            &long[..]
        };
        if !is_connection_specific(name) {
            encoder.field(name, value, indexing(name), out);
        }
    }
}

/// What is secret, and what hardly ever has the same value twice.
fn indexing(name: &[u8]) -> Indexing {
    match name {
        b"set-cookie" | b"authorization" | b"proxy-authorization" | b"cookie" | b"www-authenticate" => Indexing::Never,
        b"content-length" | b"content-range" | b"etag" | b"last-modified" | b"location" | b"age" | b"x-request-id" => {
            Indexing::Without
        }
        _ => Indexing::Auto,
    }
}
