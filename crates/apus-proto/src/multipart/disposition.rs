//! The head of a part: its name, file name and type, read as PHP reads them.
//!
//! RFC 7578 section 4.2 leaves open how quotes in a file name are escaped. PHP undoes `\"` and `\\` (and nothing else,
//! so that `C:\dir\file` survives), takes single quotes for quotes, too, and leaves `%22` as it is.

/// What a part's head says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHead {
    /// The form field's name as sent, brackets and all.
    pub name: Vec<u8>,
    /// The file's name as sent, with the directories some senders put before it (see [`basename`]); `None` for a plain
    /// field, empty when no file was chosen (`UPLOAD_ERR_NO_FILE`).
    pub filename: Option<Vec<u8>>,
    /// The Content-Type without its parameters; empty when there is none.
    pub content_type: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Field {
    Disposition,
    Type,
    Other,
}

impl PartHead {
    /// Reads the head's lines. `false` when they name neither a field nor a file. `anonymous` numbers the files that
    /// come without a name.
    pub(super) fn read(&mut self, head: &[u8], anonymous: &mut usize) -> bool {
        let mut disposition: Option<Vec<u8>> = None;
        let mut content_type: Option<Vec<u8>> = None;
        let mut current = Field::Other;
        for line in head.split(|&b| b == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            let colon = memchr::memchr(b':', line).filter(|_| !is_space(line[0]));
            // Folded, or no field at all: goes on with the field before it.
            let Some(colon) = colon else {
                match current {
                    Field::Disposition => disposition.get_or_insert_default().extend_from_slice(line),
                    Field::Type => content_type.get_or_insert_default().extend_from_slice(line),
                    Field::Other => {}
                }
                continue;
            };
            let (name, value) = (&line[..colon], skip_space(&line[colon + 1..]));
            // The first field of a name is the one that counts.
            current = Field::Other;
            if disposition.is_none() && name.eq_ignore_ascii_case(b"content-disposition") {
                disposition = Some(value.to_vec());
                current = Field::Disposition;
            } else if content_type.is_none() && name.eq_ignore_ascii_case(b"content-type") {
                content_type = Some(value.to_vec());
                current = Field::Type;
            }
        }
        self.content_type = content_type.unwrap_or_default();
        let parameters = memchr::memchr(b';', &self.content_type).unwrap_or(self.content_type.len());
        self.content_type.truncate(parameters);
        self.disposition(&disposition.unwrap_or_default(), anonymous)
    }

    fn disposition(&mut self, mut rest: &[u8], anonymous: &mut usize) -> bool {
        let mut name = None;
        self.filename = None;
        while !rest.is_empty() {
            let mut word = take_word(&mut rest, b';');
            rest = skip_space(rest);
            if !word.contains(&b'=') {
                continue;
            }
            let key = take_word(&mut word, b'=');
            if key.eq_ignore_ascii_case(b"name") {
                name = Some(unquote(word));
            } else if key.eq_ignore_ascii_case(b"filename") {
                self.filename = Some(unquote(word));
            }
        }
        if name.is_none() && self.filename.is_none() {
            return false;
        }
        self.name = name.unwrap_or_else(|| {
            let number = *anonymous;
            *anonymous += 1;
            itoa::Buffer::new().format(number).into()
        });
        true
    }
}

/// The file name without directories, of Unix or of Windows: what `$_FILES[…]['name']` holds.
pub fn basename(filename: &[u8]) -> &[u8] {
    let start = filename.iter().rposition(|&b| b == b'/' || b == b'\\').map_or(0, |at| at + 1);
    &filename[start..]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn skip_space(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|&b| !is_space(b)).unwrap_or(bytes.len());
    &bytes[start..]
}

/// Takes everything up to `stop` outside quotes, and the run of `stop`s after it.
fn take_word<'a>(rest: &mut &'a [u8], stop: u8) -> &'a [u8] {
    let bytes = *rest;
    let mut at = 0;
    while at < bytes.len() && bytes[at] != stop {
        at = match bytes[at] {
            quote @ (b'"' | b'\'') => after_quoted(bytes, at + 1, quote),
            _ => at + 1,
        };
    }
    let after = bytes[at..].iter().position(|&b| b != stop).map_or(bytes.len(), |n| at + n);
    *rest = &bytes[after..];
    &bytes[..at]
}

/// Position after the closing quote, or the end.
fn after_quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' && bytes.get(at + 1) == Some(&quote) { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// A parameter's value: quoted, with its escapes undone, or up to white space.
fn unquote(word: &[u8]) -> Vec<u8> {
    let word = skip_space(word);
    let (mut rest, quote) = match word {
        [quote @ (b'"' | b'\''), rest @ ..] => (rest, Some(*quote)),
        _ => (&word[..word.iter().position(|&b| is_space(b)).unwrap_or(word.len())], None),
    };
    let mut value = Vec::with_capacity(rest.len());
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match tail {
            _ if Some(*byte) == quote => break,
            [escaped, after @ ..] if *byte == b'\\' && (*escaped == b'\\' || Some(*escaped) == quote) => {
                value.push(*escaped);
                rest = after;
            }
            _ => value.push(*byte),
        }
    }
    value
}
