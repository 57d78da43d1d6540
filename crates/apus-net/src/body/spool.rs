//! Parts of a body that go to a file because the worker has no memory for them.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::Bytes;

use super::temp::TempFile;
use crate::sys;

/// A file without a name: it vanishes with its last user, however that ends.
///
/// Writing goes to the page cache and is done on the worker's own thread, as with uploaded files.
pub(crate) struct Spool {
    file: File,
    len: usize,
}

impl Spool {
    pub(crate) fn create(dir: &Path) -> io::Result<Self> {
        Ok(Self { file: TempFile::nameless(dir)?, len: 0 })
    }

    /// Appends bytes: where they are now.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<Range<usize>> {
        self.file.write_all(bytes)?;
        let begin = self.len;
        self.len += bytes.len();
        Ok(begin..self.len)
    }

    /// Where the next bytes will be.
    pub(crate) fn end(&self) -> usize {
        self.len
    }

    /// Reads bytes back.
    pub(crate) fn read(&self, at: Range<usize>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; at.len()];
        self.file.read_exact_at(&mut bytes, at.start as u64)?;
        Ok(bytes)
    }

    /// All of it, as memory that the system can take back.
    pub(crate) fn map(self) -> io::Result<Bytes> {
        if self.len == 0 {
            return Ok(Bytes::new());
        }
        sys::map(&self.file, self.len).map(Bytes::from_owner)
    }
}
