//! Temporary files of uploads, which go with their last user, even when that is killed.
//!
//! The files of a process carry its token in their names, and as long as there are any a lock file of that token lies
//! beside them, on which the process holds a lock. The kernel takes the lock away when the process dies, however it
//! does, so whoever gets the lock knows that the files are nobody's ([`sweep`]). No process id is trusted.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use apus_shm::ForkEpoch;
use nix::fcntl::{FcntlArg, fcntl};

/// Attempts at an unused name before giving up.
const ATTEMPTS: u64 = 100;
/// What names begin with.
const PREFIX: &str = "apus";
/// What those of uploads begin with where code was written for Swoole, which looks for them.
const PREFIX_THERE: &str = "swoole.upfile.";
/// What the names of lock files end with.
const LOCK: &str = ".lock";
/// Digits of a token.
const DIGITS: usize = 16;

/// The marks of this process, by directory.
static MARKS: LazyLock<Mutex<HashMap<PathBuf, Weak<Mark>>>> = LazyLock::new(Mutex::default);

/// Says that this process has files in a directory: a locked file, as long as it has any.
#[derive(Debug)]
struct Mark {
    dir: PathBuf,
    token: String,
    /// Holds the lock. A child process has the file, too, but not the lock.
    _lock: File,
    owner: ForkEpoch,
}

/// Takes the lock of a file, which a process has that lives.
fn lock(file: &File) -> io::Result<()> {
    let whole =
        libc::flock { l_type: libc::F_WRLCK as i16, l_whence: libc::SEEK_SET as i16, l_start: 0, l_len: 0, l_pid: 0 };
    fcntl(file.as_fd(), FcntlArg::F_SETLK(&whole)).map(drop).map_err(Into::into)
}

fn lock_path(dir: &Path, token: &str) -> PathBuf {
    dir.join(format!("{PREFIX}{token}{LOCK}"))
}

impl Mark {
    /// The mark of this process in a directory.
    fn of(dir: &Path) -> io::Result<Arc<Self>> {
        let mut marks = MARKS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mark) = marks.get(dir).and_then(Weak::upgrade).filter(|mark| mark.owner.is_now()) {
            return Ok(mark);
        }
        marks.retain(|_, mark| mark.strong_count() > 0);
        let mark = Arc::new(Self::make(dir)?);
        marks.insert(dir.to_owned(), Arc::downgrade(&mark));
        Ok(mark)
    }

    fn make(dir: &Path) -> io::Result<Self> {
        // Keyed by the process's random seed, which a child has, too.
        let pid = std::process::id();
        let names = RandomState::new();
        for attempt in 0..ATTEMPTS {
            let token = format!("{:0DIGITS$x}", names.hash_one((pid, attempt)));
            match open_new(&lock_path(dir, &token)) {
                // Who sweeps may have come between.
                Ok(file) if lock(&file).is_ok() && file.metadata()?.nlink() > 0 => {
                    return Ok(Self { dir: dir.to_owned(), token, _lock: file, owner: ForkEpoch::now() });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // What a child process has of its parent's memory is the parent's.
        if self.owner.is_now() {
            let _ = fs::remove_file(lock_path(&self.dir, &self.token));
        }
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    // O_EXCL: neither an existing file nor a symbolic link is ever opened.
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub struct TempFile {
    path: PathBuf,
    mark: Arc<Mark>,
}

impl TempFile {
    /// Makes a new file, readable and writable by its owner alone, under a name that cannot be guessed; `there`: one
    /// that begins as code written for Swoole knows it.
    pub(crate) fn create(dir: &Path, there: bool) -> io::Result<(Self, File)> {
        let mark = Mark::of(dir)?;
        let prefix = if there { PREFIX_THERE } else { PREFIX };
        let names = RandomState::new();
        for attempt in 0..ATTEMPTS {
            let path = dir.join(format!("{prefix}{}-{:0DIGITS$x}", mark.token, names.hash_one(attempt)));
            match open_new(&path) {
                Ok(file) => return Ok((Self { path, mark }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Makes a file without a name.
    pub(crate) fn nameless(dir: &Path) -> io::Result<File> {
        let made = OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(dir);
        // Not every file system can.
        made.or_else(|_| Self::create(dir, false).map(|(_, file)| file))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if self.mark.owner.is_now() {
            // It may have been moved away, which is fine.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The token in the name of a lock file.
fn token_of(name: &OsStr) -> Option<&str> {
    let token = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(LOCK)?;
    (token.len() == DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(token)
}

/// Removes the files that processes which were killed have left in a directory.
pub(crate) fn sweep(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let marks = MARKS.lock().unwrap_or_else(PoisonError::into_inner);
    // To close a file gives up the locks that this process has on it.
    let own: Vec<_> = marks.values().filter_map(Weak::upgrade).filter(|mark| mark.owner.is_now()).collect();
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let tokens = names.iter().filter_map(|name| token_of(name));
    for token in tokens.filter(|token| !own.iter().any(|mark| mark.token == *token)) {
        let path = lock_path(dir, token);
        let opened = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(&path);
        let Some(_locked) = opened.ok().filter(|file| lock(file).is_ok()) else { continue };
        for theirs in [PREFIX, PREFIX_THERE].map(|prefix| format!("{prefix}{token}-")) {
            for name in names.iter().filter(|name| name.as_encoded_bytes().starts_with(theirs.as_bytes())) {
                let _ = fs::remove_file(dir.join(name));
            }
        }
        let _ = fs::remove_file(path);
    }
    drop(marks);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("apus-temp-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn count(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn nothing_is_left_when_the_last_file_goes() {
        let dir = folder("last");
        let files: Vec<_> = (0..3).map(|number| TempFile::create(&dir, number == 0).unwrap()).collect();
        drop(TempFile::nameless(&dir).unwrap());
        assert_eq!(count(&dir), 4, "three files and a lock");
        sweep(&dir);
        assert_eq!(count(&dir), 4, "they are in use");
        drop(files);
        assert_eq!(count(&dir), 0);
        fs::remove_dir(dir).unwrap();
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_nothing_else() {
        let dir = folder("dead");
        // As a process that was killed leaves them: nobody holds the lock.
        let dead = "0123456789abcdef";
        let left = [".lock", "-00", "-11"].map(|end| format!("apus{dead}{end}"));
        for name in left.into_iter().chain([format!("swoole.upfile.{dead}-22")]) {
            fs::write(dir.join(name), "left").unwrap();
        }
        let others = ["apusfedcba9876543210-00", "apus.lock", "apus0123.lock", "another"];
        for name in others {
            fs::write(dir.join(name), "stays").unwrap();
        }
        let (alive, _) = TempFile::create(&dir, false).unwrap();
        sweep(&dir);
        assert_eq!(count(&dir), others.len() + 2);
        assert!(alive.path().exists());
        drop(alive);
        fs::remove_dir_all(dir).unwrap();
    }
}
