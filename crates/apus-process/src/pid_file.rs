//! The pid file: who runs, and the lock that says whether it still does.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::error::Error;
use crate::owned_path::OwnedPath;

/// A locked pid file. The lock (flock) belongs to the open file, which a daemon inherits from the process that opened
/// it; it ends with the last process that has the file open, so workers close their copy and never unlock it.
#[derive(Debug)]
pub(crate) struct PidFile {
    file: File,
    path: OwnedPath,
}

impl PidFile {
    /// Opens and locks. A file that nobody has locked is stale, whatever it says, and is taken over.
    pub(crate) fn lock(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { setting: "pid_file", path: path.to_owned(), source };
        loop {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o644).open(path);
            let mut file = options.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::AlreadyRunning { path: path.to_owned(), pid: written(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // The previous owner may have removed the file between our opening and our locking: then we hold a file
            // that nobody finds.
            if same_file(&file, path).map_err(failed)? {
                let path = OwnedPath::new(path).map_err(failed)?;
                return Ok(Self { file, path });
            }
        }
    }

    /// Writes the calling process's id and makes it the owner.
    pub(crate) fn write(&mut self) -> Result<(), Error> {
        self.path.adopt();
        let written = (|| {
            self.file.set_len(0)?;
            self.file.rewind()?;
            writeln!(self.file, "{}", std::process::id())
        })();
        written.map_err(|source| Error::File { setting: "pid_file", path: self.path.path().to_owned(), source })
    }
}

fn written(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    // More than a number is not ours to read.
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn same_file(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time_and_stale_files_are_taken_over() {
        let path = std::env::temp_dir().join(format!("apus-pid-{}", std::process::id()));
        fs::write(&path, "999999\nstale\n").unwrap();
        let mut first = PidFile::lock(&path).unwrap();
        first.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
        match PidFile::lock(&path) {
            Err(Error::AlreadyRunning { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(first);
        assert!(!path.exists());
        drop(PidFile::lock(&path).unwrap());
    }

    #[test]
    fn a_path_that_cannot_be_written_names_the_setting() {
        let error = PidFile::lock(Path::new("/proc/no/such")).unwrap_err().to_string();
        assert!(error.contains("pid_file") && error.contains("/proc/no/such"), "{error}");
    }
}
