//! What a client remembers of cookies.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use apus_net::proto::{date, query};
use apus_zend::value::{Key, View};
use apus_zend::{Array, Raise, Value};
use bytes::Bytes;

/// Cookies of one client at most; a server that sets more has the rest ignored.
const MAX: usize = 300;

/// Values as the server wrote them, so that they go back the same whatever its way of encoding.
#[derive(Default)]
pub(super) struct Written {
    values: RefCell<HashMap<Vec<u8>, Texts>>,
}

/// A cookie's value, decoded, and as it was written.
type Texts = (Vec<u8>, Vec<u8>);

/// One `Set-Cookie` line.
struct Line<'a> {
    name: &'a [u8],
    value: &'a [u8],
    expired: bool,
}

fn parse(line: &[u8]) -> Option<Line<'_>> {
    let mut parts = line.split(|&byte| byte == b';');
    let pair = parts.next()?;
    let equals = pair.iter().position(|&byte| byte == b'=')?;
    let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    if name.is_empty() {
        return None;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (mut max_age, mut expires) = (None, None);
    for part in parts {
        let equals = part.iter().position(|&byte| byte == b'=').unwrap_or(part.len());
        let (key, value) = (part[..equals].trim_ascii(), part.get(equals + 1..).unwrap_or_default().trim_ascii());
        if key.eq_ignore_ascii_case(b"max-age") {
            max_age = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
        } else if key.eq_ignore_ascii_case(b"expires") {
            expires = date::parse_http_date(value, now);
        }
    }
    // Max-Age has precedence (RFC 6265 section 4.1.2.2).
    let expired = match (max_age, expires) {
        (Some(age), _) => age <= 0,
        (None, Some(at)) => at <= now,
        (None, None) => false,
    };
    Some(Line { name, value, expired })
}

impl Written {
    /// The text that stands for a value, when the server gave it one.
    pub(super) fn text_of(&self, name: &[u8], value: &[u8]) -> Option<Vec<u8>> {
        let values = self.values.borrow();
        values.get(name).filter(|(decoded, _)| decoded == value).map(|(_, written)| written.clone())
    }

    /// `$cookies` after these lines: what they set is added, what they let expire is left out.
    pub(super) fn merged<'a>(&self, known: &Value, lines: impl Iterator<Item = &'a Bytes>) -> Result<Value, Raise> {
        let mut changed: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        for line in lines.filter_map(|line| parse(line)) {
            changed.retain(|(name, _)| name != line.name);
            if changed.len() == MAX {
                continue;
            }
            let mut values = self.values.borrow_mut();
            if line.expired {
                values.remove(line.name);
                changed.push((line.name.to_vec(), None));
            } else if values.len() < MAX || values.contains_key(line.name) {
                let decoded = query::percent_decode(line.value).into_owned();
                values.insert(line.name.to_vec(), (decoded.clone(), line.value.to_vec()));
                changed.push((line.name.to_vec(), Some(decoded)));
            }
        }
        if changed.is_empty() {
            return Ok(known.share());
        }
        let mut array = Array::new(changed.len())?;
        if let View::Array(known) = known.view() {
            for (key, value) in known.iter() {
                let name = super::values::key_text(key);
                if changed.iter().all(|(other, _)| *other != name) {
                    let value = value.value();
                    match key {
                        Key::Str(name) => array.set(name, value)?,
                        Key::Index(index) => array.set_index(index, value)?,
                    }
                }
            }
        }
        for (name, value) in &changed {
            if let Some(value) = value {
                array.set_str(name, value)?;
            }
        }
        Ok(array.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let line = parse(b"a = \"b%20c\"; Path=/; HttpOnly").unwrap();
        assert_eq!((line.name, line.value, line.expired), (&b"a"[..], &b"b%20c"[..], false));
        assert!(parse(b"a=; Max-Age=0").unwrap().expired);
        assert!(parse(b"a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT").unwrap().expired);
        assert!(!parse(b"a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=5").unwrap().expired);
        assert!(parse(b"nothing").is_none() && parse(b"=x").is_none());
    }
}
