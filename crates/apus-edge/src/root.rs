//! Opening files below a directory, and nowhere else.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, open, openat, openat2};
use rustix::io::Errno;

/// Whether the disk may be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// No: what is not in memory fails with `WouldBlock`.
    Cached,
    /// Yes, on a thread of its own.
    Disk,
}

/// A directory whose files are served.
#[derive(Debug)]
pub(crate) struct Root {
    directory: OwnedFd,
    /// Whether the kernel knows openat2(2), and lets us call it.
    resolves: bool,
    /// Where it lies, and directories that links may lead into: none of them where links stay below the root.
    path: PathBuf,
    beyond: Vec<(PathBuf, OwnedFd)>,
}

/// What a name led to.
#[derive(Debug)]
pub(crate) enum Opened {
    File(File, Identity),
    Directory(OwnedFd),
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// Nanoseconds since 1970 of the last change of the content, and of anything of it.
    pub(crate) modified: i128,
    changed: i128,
}

impl Identity {
    fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            len: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanos(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Seconds since 1970 of the last change; 0 for before.
    pub(crate) fn modified_seconds(&self) -> u64 {
        u64::try_from(self.modified / 1_000_000_000).unwrap_or(0)
    }
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

impl Root {
    /// Opens the directory; links in it may lead into `beyond`, too.
    pub(crate) fn open(path: &Path, beyond: &[PathBuf]) -> io::Result<Self> {
        let below = |path: &Path| open(path, LOOK | OFlags::DIRECTORY, Mode::empty());
        let directory = below(path)?;
        let probe = openat2(&directory, ".", LOOK, Mode::empty(), ResolveFlags::BENEATH);
        let path = std::fs::canonicalize(path)?;
        // An absolute link back into the root leads out of it in the kernel's eyes.
        let own = if beyond.is_empty() { None } else { Some(&path) };
        let known = |path: &PathBuf| {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let path = std::fs::canonicalize(path).map_err(named)?;
            let opened = below(&path).map_err(|errno| named(errno.into()))?;
            io::Result::Ok((path, opened))
        };
        let beyond = beyond.iter().chain(own).map(known).collect::<io::Result<_>>()?;
        Ok(Self { directory, resolves: probe.is_ok(), path, beyond })
    }

    /// Whether there is a file or a directory that `names` lead to, by the rules of [`Self::get`], without opening it
    /// to be read.
    pub(crate) fn look(&self, names: &str, patience: Patience) -> io::Result<FileType> {
        let fd = self.reach(names, LOOK, patience)?;
        Ok(FileType::from_raw_mode(fstat(&fd)?.st_mode))
    }

    /// Opens what `names` (decoded, checked) leads to. Links that stay below the root are followed where the kernel can
    /// tell (openat2(2), Linux 5.6); elsewhere none is. Anything but a file or a directory is refused.
    pub(crate) fn get(&self, names: &str, patience: Patience) -> io::Result<Opened> {
        let fd = self.reach(names, READ, patience)?;
        let stat = fstat(&fd)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Opened::File(File::from(fd), Identity::of(&stat))),
            FileType::Directory => Ok(Opened::Directory(fd)),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    fn reach(&self, names: &str, flags: OFlags, patience: Patience) -> io::Result<OwnedFd> {
        let names = if names.is_empty() { "." } else { names };
        if !self.resolves {
            return self.walk(names, flags);
        }
        match resolve(&self.directory, Path::new(names), flags, patience) {
            Err(error) if !self.beyond.is_empty() && Errno::from_io_error(&error) == Some(Errno::XDEV) => {
                self.follow(names, flags, patience)
            }
            found => found,
        }
    }

    /// What a link leads to outside of the root, where that is allowed. What the names lead to may change after they
    /// are looked up: what is opened lies below an allowed directory all the same.
    fn follow(&self, names: &str, flags: OFlags, patience: Patience) -> io::Result<OwnedFd> {
        if patience == Patience::Cached {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let real = std::fs::canonicalize(self.path.join(names))?;
        let allowed = self.beyond.iter().find_map(|(path, at)| Some((real.strip_prefix(path).ok()?, at)));
        let (rest, at) = allowed.ok_or(Errno::XDEV)?;
        resolve(at, if rest.as_os_str().is_empty() { Path::new(".") } else { rest }, flags, patience)
    }

    /// A name at a time, without following any link.
    fn walk(&self, names: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let mut at: Option<OwnedFd> = None;
        let mut names = names.split('/').peekable();
        loop {
            let name = names.next().unwrap_or(".");
            if name == ".." {
                return Err(io::ErrorKind::NotFound.into());
            }
            let last = names.peek().is_none();
            let flags = if last { flags } else { LOOK | OFlags::DIRECTORY };
            let from = at.as_ref().map_or(self.directory.as_fd(), AsFd::as_fd);
            let opened = openat(from, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
            if last {
                return Ok(opened);
            }
            at = Some(opened);
        }
    }

    #[cfg(test)]
    pub(crate) fn without_openat2(self) -> Self {
        Self { resolves: false, ..self }
    }
}

/// Opens what lies below `directory`, and nothing else.
fn resolve(directory: &OwnedFd, names: &Path, flags: OFlags, patience: Patience) -> io::Result<OwnedFd> {
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if patience == Patience::Cached {
        match openat2(directory, names, flags, Mode::empty(), beneath | ResolveFlags::CACHED) {
            // A kernel before 5.12 does not know the flag.
            Err(Errno::INVAL) => return Err(io::ErrorKind::WouldBlock.into()),
            opened => return Ok(opened?),
        }
    }
    // A rename somewhere above may be noticed while a `..` of a link is walked: then it is to be tried again.
    for _ in 0..3 {
        match openat2(directory, names, flags, Mode::empty(), beneath) {
            Err(Errno::AGAIN) => {}
            opened => return Ok(opened?),
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn content(root: &Root, names: &str) -> Option<String> {
        let Ok(Opened::File(file, _)) = root.get(names, Patience::Disk) else { return None };
        io::read_to_string(file).ok()
    }

    #[test]
    fn nothing_outside_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::write(inside.join("sub/a"), "a").unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        symlink("sub/a", inside.join("near")).unwrap();
        symlink("../secret", inside.join("out")).unwrap();
        symlink(folder.path().join("secret"), inside.join("absolute")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("/proc/self/root", inside.join("magic")).unwrap();
        let root = Root::open(&inside, &[]).unwrap();
        assert_eq!(content(&root, "sub/a").as_deref(), Some("a"));
        assert_eq!(content(&root, "near").as_deref(), Some("a"));
        assert!(matches!(root.get("sub", Patience::Disk), Ok(Opened::Directory(_))));
        assert!(matches!(root.get("", Patience::Disk), Ok(Opened::Directory(_))));
        let plain = Root::open(&inside, &[]).unwrap().without_openat2();
        assert_eq!(content(&plain, "sub/a").as_deref(), Some("a"));
        assert_eq!(content(&plain, "near"), None);
        assert!(matches!(plain.get("", Patience::Disk), Ok(Opened::Directory(_))));
        for root in [&root, &plain] {
            for name in ["out", "absolute", "up/secret", "magic/etc/passwd", "../secret", "sub/a/b", "none"] {
                assert_eq!(content(root, name), None, "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        let root = Root::open(folder.path(), &[]).unwrap();
        assert!(root.get("fifo", Patience::Disk).is_err());
    }
}
