//! Bytes that the master gives to its workers: in a sealed memory file, whose descriptor travels over their channels.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// Bytes in a file that has no name and that nobody can change.
#[derive(Debug)]
pub struct Parcel(OwnedFd);

impl Parcel {
    /// Packs bytes for other processes.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn pack(bytes: &[u8]) -> io::Result<Self> {
        let mut file = File::from(memfd_create(c"apus-parcel", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        file.write_all(bytes)?;
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(Self(file.into()))
    }

    /// The bytes.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(self) -> io::Result<Vec<u8>> {
        let file = File::from(self.0);
        let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).unwrap_or(0)];
        // Those that it is given to share one position: reading moves none.
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

impl From<OwnedFd> for Parcel {
    fn from(fd: OwnedFd) -> Self {
        Self(fd)
    }
}

impl AsFd for Parcel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
