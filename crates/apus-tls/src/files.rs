//! The files that certificates, keys and authorities are in, as they were at one moment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::TlsError;
use crate::pem::unusable;
use crate::settings::ServerTls;

/// The largest file that is read, bytes.
const MAX_FILE: u64 = 16 << 20;

/// What the files that settings name hold. The memory is wiped when it is given back, as keys are in it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, Zeroizing<Vec<u8>>>);

impl Files {
    /// Reads all files that the settings of the ports name.
    ///
    /// # Errors
    /// The first file that cannot be read, and why.
    pub fn read<'s>(ports: impl IntoIterator<Item = &'s ServerTls>) -> Result<Self, TlsError> {
        let mut files = Self::default();
        for port in ports {
            for path in port.files() {
                files.add(path)?;
            }
            if let Some(folder) = &port.ca_path {
                files.add_folder(folder)?;
            }
        }
        Ok(files)
    }

    fn add(&mut self, path: &Path) -> Result<(), TlsError> {
        if self.0.contains_key(path) {
            return Ok(());
        }
        let about = std::fs::metadata(path).map_err(|error| unusable(path, &error.to_string()))?;
        if !about.is_file() || about.len() > MAX_FILE {
            return Err(unusable(path, "it is no file of at most 16 MiB"));
        }
        let bytes = std::fs::read(path).map_err(|error| unusable(path, &error.to_string()))?;
        self.0.insert(path.to_owned(), Zeroizing::new(bytes));
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), TlsError> {
        let entries = std::fs::read_dir(folder).map_err(|error| unusable(folder, &error.to_string()))?;
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_file()) {
            self.add(&path)?;
        }
        Ok(())
    }

    pub(crate) fn get(&self, path: &Path) -> Result<&[u8], TlsError> {
        self.0.get(path).map(|bytes| bytes.as_slice()).ok_or_else(|| unusable(path, "it was not read"))
    }

    /// The files right inside a folder.
    pub(crate) fn inside<'f>(&'f self, folder: &'f Path) -> impl Iterator<Item = (&'f Path, &'f [u8])> {
        self.0
            .iter()
            .filter(move |(path, _)| path.parent() == Some(folder))
            .map(|(path, bytes)| (path.as_path(), bytes.as_slice()))
    }

    /// In one piece, for another process: [`Files::unpack`] reads it.
    pub fn pack(&self) -> Zeroizing<Vec<u8>> {
        use std::os::unix::ffi::OsStrExt as _;
        let mut out = Zeroizing::new(Vec::new());
        for (path, bytes) in &self.0 {
            for part in [path.as_os_str().as_bytes(), bytes] {
                out.extend_from_slice(&(part.len() as u64).to_le_bytes());
                out.extend_from_slice(part);
            }
        }
        out
    }

    /// What [`Files::pack`] made; `None` where it is none.
    pub fn unpack(mut packed: &[u8]) -> Option<Self> {
        use std::os::unix::ffi::OsStrExt as _;
        fn part<'p>(packed: &mut &'p [u8]) -> Option<&'p [u8]> {
            let (len, rest) = packed.split_first_chunk()?;
            let (part, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
            *packed = rest;
            Some(part)
        }
        let mut files = BTreeMap::new();
        while !packed.is_empty() {
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(part(&mut packed)?));
            files.insert(path, Zeroizing::new(part(&mut packed)?.to_vec()));
        }
        Some(Self(files))
    }
}

impl std::fmt::Debug for Files {
    /// Names only: keys are in it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
