//! The files that certificates, keys and authorities are in, as they were at one moment.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::TlsError;
use crate::pem::{self, unusable};
use crate::settings::ServerTls;

/// What the files that settings name hold. The memory is wiped when it is given back, as keys are in it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, Zeroizing<Vec<u8>>>);

/// How files look from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesState(Vec<Option<Look>>);

/// A file's device, number, size, and when it was last changed (seconds and nanoseconds, of its content and of itself).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look([u64; 3], [i64; 4]);

impl Look {
    fn of(about: &std::fs::Metadata) -> Self {
        let changed = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
        Self([about.dev(), about.ino(), about.size()], changed)
    }
}

impl Files {
    /// How the files that the settings of the ports name look from outside: another state means that one was written,
    /// or that a link leads to another one. Reads none.
    pub fn state<'s>(ports: impl IntoIterator<Item = &'s ServerTls>) -> FilesState {
        let look = |path: &Path| std::fs::metadata(path).ok().map(|about| Look::of(&about));
        let mut state = Vec::new();
        for port in ports {
            state.extend(port.files().map(look));
            for folder in port.folders() {
                state.push(look(folder));
                let mut inside: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
                inside.sort_by_key(std::fs::DirEntry::file_name);
                state.extend(inside.iter().map(|entry| look(&entry.path())));
            }
        }
        FilesState(state)
    }

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
            for folder in port.folders() {
                files.add_folder(folder)?;
            }
        }
        Ok(files)
    }

    fn add(&mut self, path: &Path) -> Result<(), TlsError> {
        if self.0.contains_key(path) {
            return Ok(());
        }
        self.0.insert(path.to_owned(), pem::read(path)?);
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

    /// The same of memory that is wiped afterwards.
    pub fn unpack_wiping(packed: Vec<u8>) -> Option<Self> {
        Self::unpack(&Zeroizing::new(packed))
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
