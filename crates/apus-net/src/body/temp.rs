//! Temporary files of uploads.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Attempts at an unused name before giving up.
const ATTEMPTS: u64 = 100;

/// A file that is removed when this is dropped, unless it was kept.
#[derive(Debug)]
pub struct TempFile {
    path: PathBuf,
    armed: Cell<bool>,
}

impl TempFile {
    /// Makes a new file, readable and writable by its owner alone, under a name that cannot be guessed.
    pub(crate) fn create(dir: &Path) -> io::Result<(Self, File)> {
        // Keyed by the process's random seed.
        let names = RandomState::new();
        for attempt in 0..ATTEMPTS {
            let path = dir.join(format!("apus{:016x}", names.hash_one(attempt)));
            // O_EXCL: neither an existing file nor a link is ever opened.
            match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok((Self { path, armed: Cell::new(true) }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the file to the caller: it is not removed any more. For one who moved it, too.
    pub fn keep(&self) -> &Path {
        self.armed.set(false);
        &self.path
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if self.armed.get() {
            // It may have been moved away, which is fine.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
