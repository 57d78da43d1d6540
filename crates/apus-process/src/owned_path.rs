//! A file that goes when the process that made it ends.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use apus_shm::ForkEpoch;

/// Removes its path when dropped, but only in the process that owns it (forked children drop their copies without
/// effect), and only while the path still leads to the same file (a successor may have put its own there).
#[derive(Debug)]
pub(crate) struct OwnedPath {
    path: PathBuf,
    file: (u64, u64),
    owner: Cell<ForkEpoch>,
}

impl OwnedPath {
    /// Takes the file that is at the path now.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        // Absolute, because the working directory may change before the drop.
        let path = std::path::absolute(path)?;
        let file = identity(&path)?;
        Ok(Self { path, file, owner: Cell::new(ForkEpoch::now()) })
    }

    /// Makes the calling process the owner: a daemon is a child of the process that made the file.
    pub(crate) fn adopt(&self) {
        self.owner.set(ForkEpoch::now());
    }

    /// Removes the file now, if it is ours.
    pub(crate) fn remove(&self) {
        if self.owner.get().is_now() && identity(&self.path).is_ok_and(|file| file == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnedPath {
    fn drop(&mut self) {
        self.remove();
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino()))
}
