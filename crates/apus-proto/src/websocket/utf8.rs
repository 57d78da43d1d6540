//! UTF-8 checked as it arrives, however it is cut.

/// Text up to this many bytes is looked at for being ASCII first; for more, the library's check is as fast.
const SHORT: usize = 256;

/// Whether the bytes are UTF-8. Short text that is all ASCII, as most is, is seen to be faster.
#[inline]
pub fn is_utf8(bytes: &[u8]) -> bool {
    (bytes.len() <= SHORT && bytes.is_ascii()) || std::str::from_utf8(bytes).is_ok()
}

/// Checks text that comes in pieces.
#[derive(Debug, Default, Clone)]
pub struct Utf8 {
    /// The first bytes of a character whose rest is to come.
    pending: [u8; 4],
    len: usize,
}

impl Utf8 {
    /// Takes the next piece. `false`: no continuation can make this valid.
    pub fn feed(&mut self, mut bytes: &[u8]) -> bool {
        while self.len > 0 {
            let Some((&next, rest)) = bytes.split_first() else { return true };
            self.pending[self.len] = next;
            self.len += 1;
            bytes = rest;
            match std::str::from_utf8(&self.pending[..self.len]) {
                Ok(_) => self.len = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let rest = &bytes[error.valid_up_to()..];
                self.pending[..rest.len()].copy_from_slice(rest);
                self.len = rest.len();
                true
            }
        }
    }

    /// The text ends here. `false`: in the middle of a character.
    pub fn finish(&mut self) -> bool {
        std::mem::take(&mut self.len) == 0
    }
}
