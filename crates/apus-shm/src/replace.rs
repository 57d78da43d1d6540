//! Files that are replaced as a whole: whoever reads one has the old contents or the new ones.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What is written beside a file, and becomes it at the end. Dropped before that, it is removed.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    beside: PathBuf,
    path: PathBuf,
    permissions: Permissions,
    finished: bool,
}

impl Replacement {
    /// Begins to replace a file, behind symbolic links. One that is there keeps its permissions, a new one has `mode`.
    /// Anything but a file is refused: it would be replaced by one.
    pub fn begin(path: &Path, mode: u32) -> io::Result<Self> {
        let (path, permissions) = target(path, mode)?;
        let (file, beside) = open_beside(&path)?;
        Ok(Self { file, beside, path, permissions, finished: false })
    }

    /// Where the new contents are written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Has what was written become the file. After a crash of the machine it may be empty.
    pub fn finish(mut self) -> io::Result<()> {
        self.rename()
    }

    /// The same once it is on the disk: whatever happens, there is the old file or the new one.
    pub fn finish_on_disk(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        self.rename()?;
        // The new name is on the disk, too. A file system that cannot say so has the file all the same.
        let _ = File::open(folder(&self.path)).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn rename(&mut self) -> io::Result<()> {
        self.file.set_permissions(self.permissions.clone())?;
        std::fs::rename(&self.beside, &self.path)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.finished {
            let _ = std::fs::remove_file(&self.beside);
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file that is meant, behind symbolic links, and its permissions.
fn target(path: &Path, mode: u32) -> io::Result<(PathBuf, Permissions)> {
    match std::fs::canonicalize(path) {
        Ok(path) => {
            let about = std::fs::metadata(&path)?;
            let refused = || io::Error::new(io::ErrorKind::InvalidInput, "this is no regular file");
            if about.is_file() { Ok((path, about.permissions())) } else { Err(refused()) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((path.to_owned(), Permissions::from_mode(mode))),
        Err(error) => Err(error),
    }
}

/// The file that becomes `path` at the end. It is locked, so that two who save to one place do not mix; what one who
/// died left there is overwritten.
fn open_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    /// Until it has the permissions that it is to have.
    const OWNER: u32 = 0o600;
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no name of a file"));
    };
    let mut beside_name = name.to_os_string();
    beside_name.push(".saving");
    let beside = path.with_file_name(beside_name);
    loop {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(OWNER).open(&beside)?;
        file.try_lock()
            .map_err(|_| io::Error::new(io::ErrorKind::ResourceBusy, "somebody else is saving to this file"))?;
        // Between opening and locking, who had the lock may have renamed the file: then it is the one that is meant,
        // and must not be touched.
        let (own, named) = (file.metadata()?, std::fs::metadata(&beside));
        if named.is_ok_and(|named| (named.dev(), named.ino()) == (own.dev(), own.ino())) {
            file.set_len(0)?;
            return Ok((file, beside));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use apus_scratch::Folder;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_the_old_one_or_the_new_one() {
        let folder = Folder::new("replace");
        let path = folder.path().join("stats");
        let begun = Replacement::begin(&path, 0o640).unwrap();
        begun.file().write_all(b"one").unwrap();
        assert!(!path.exists());
        assert!(Replacement::begin(&path, 0o640).is_err(), "two at once");
        begun.finish().unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), mode(&path)), (b"one".to_vec(), 0o640));

        let given_up = Replacement::begin(&path, 0o600).unwrap();
        given_up.file().write_all(b"tw").unwrap();
        drop(given_up);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");

        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let through = Replacement::begin(&link, 0o600).unwrap();
        through.file().write_all(b"three").unwrap();
        through.finish_on_disk().unwrap();
        assert!(link.is_symlink());
        assert_eq!((std::fs::read(&path).unwrap(), mode(&path)), (b"three".to_vec(), 0o640));
        assert!(Replacement::begin(folder.path(), 0o600).is_err(), "a folder is not replaced");
    }
}
