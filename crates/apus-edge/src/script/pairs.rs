//! Names and values on their way to the process that runs a script: the lengths of both (32 bits, little-endian), then
//! both, each with a NUL behind it.

/// Bytes of both lengths.
const LENGTHS: usize = 8;

/// Writes one down.
#[inline]
pub fn push(into: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    into.reserve(LENGTHS + name.len() + value.len() + 2);
    for text in [name, value] {
        into.extend_from_slice(&(text.len() as u32).to_le_bytes());
    }
    for text in [name, value] {
        into.extend_from_slice(text);
        into.push(0);
    }
}

/// One whose name is being written, behind all that is written down.
pub(super) struct Open(usize);

/// One whose value is being written.
pub(super) struct Named {
    begin: usize,
    value: usize,
}

impl Open {
    pub(super) fn begin(into: &mut Vec<u8>) -> Self {
        let begin = into.len();
        into.extend_from_slice(&[0; LENGTHS]);
        Self(begin)
    }

    pub(super) fn end_name(self, into: &mut Vec<u8>) -> Named {
        into.push(0);
        Named { begin: self.0, value: into.len() }
    }
}

impl Named {
    pub(super) fn end(self, into: &mut Vec<u8>) {
        let name = self.value - 1 - (self.begin + LENGTHS);
        let value = into.len() - self.value;
        into.push(0);
        let lengths = &mut into[self.begin..][..LENGTHS];
        lengths[..4].copy_from_slice(&(name as u32).to_le_bytes());
        lengths[4..].copy_from_slice(&(value as u32).to_le_bytes());
    }
}

/// The pairs that stand in `bytes`, each text with its NUL. Ends before what is none: see [`Pairs::rest`].
#[derive(Debug)]
pub struct Pairs<'a> {
    /// What has not been read.
    pub rest: &'a [u8],
}

impl<'a> Pairs<'a> {
    /// Reads one.
    #[inline]
    fn read(&self) -> Option<(<Self as Iterator>::Item, &'a [u8])> {
        let (name, rest) = self.rest.split_first_chunk::<4>()?;
        let (value, rest) = rest.split_first_chunk::<4>()?;
        let with_nul = |len: &[u8; 4]| (u32::from_le_bytes(*len) as usize).checked_add(1);
        let (name, rest) = rest.split_at_checked(with_nul(name)?)?;
        let (value, rest) = rest.split_at_checked(with_nul(value)?)?;
        Some(((name, value), rest))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (pair, rest) = self.read()?;
        self.rest = rest;
        Some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = b"before".to_vec();
        for (name, value) in [(&b"A"[..], &b"1"[..]), (b"", b""), (b"LONG", &vec![b'x'; 70_000])] {
            push(&mut bytes, name, value);
        }
        let mut pairs = Pairs { rest: &bytes[6..] };
        assert_eq!(pairs.next(), Some((&b"A\0"[..], &b"1\0"[..])));
        assert_eq!(pairs.next(), Some((&b"\0"[..], &b"\0"[..])));
        assert_eq!(pairs.next().map(|(_, value)| value.len()), Some(70_001));
        assert_eq!((pairs.next(), pairs.rest), (None, &b""[..]));
        for cut in 6..bytes.len() {
            let mut pairs = Pairs { rest: &bytes[6..cut] };
            assert!(pairs.by_ref().count() < 3);
            assert!(!pairs.rest.is_empty() || [6, 18, 28].contains(&cut), "{cut}");
        }
        assert_eq!(Pairs { rest: &[255; 20] }.next(), None);
    }
}
