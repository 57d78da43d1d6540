//! What can be opened and read without a wait for a disk: a thread costs ten times the work that is in it.
//!
//! The kernel says so itself: of a path that it knows (`RESOLVE_CACHED`, Linux 5.12), and of bytes in the page cache
//! (`RWF_NOWAIT`). Where it does not know, or cannot tell, there is no answer here, and a thread is asked.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fcntl_setfl, fstat, fstatfs, openat, openat2, tell};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// The most that one call copies out of the page cache, in bytes: a tenth of a millisecond.
pub const MOST: usize = 1 << 20;

/// Flags of open(2) that leave a regular file as it is, or make one.
const HARMLESS: OFlags = OFlags::RDONLY
    .union(OFlags::WRONLY)
    .union(OFlags::RDWR)
    .union(OFlags::APPEND)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::LARGEFILE)
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::TRUNC);

/// What answers for the files of a file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    Memory,
    /// A disk of this machine, and what is in memory of it.
    Disk,
    /// A server, or a process, that takes its time even to open a file.
    Elsewhere,
}

/// What the kernel calls them (statfs(2)).
const KINDS: [(u32, Kept); 10] = [
    (0x0102_1994, Kept::Memory), // tmpfs
    (0x8584_58f6, Kept::Memory), // ramfs
    (0xef53, Kept::Disk),        // ext2, ext3, ext4
    (0x5846_5342, Kept::Disk),   // XFS
    (0x9123_683e, Kept::Disk),   // Btrfs
    (0xf2f5_2010, Kept::Disk),   // F2FS
    (0x2fc1_2fc1, Kept::Disk),   // ZFS
    (0x794c_7630, Kept::Disk),   // overlayfs
    (0x7371_7368, Kept::Disk),   // SquashFS
    (0xe0f5_e1e2, Kept::Disk),   // EROFS
];

/// Asked anew each time: the number of a device that is unmounted may be that of another one next.
fn kept(file: BorrowedFd<'_>) -> Kept {
    // The kernel's number has 32 bits, whatever the C library holds it in.
    let kind = fstatfs(file).map(|about| about.f_type as u32);
    KINDS.iter().find(|known| kind == Ok(known.0)).map_or(Kept::Elsewhere, |known| known.1)
}

/// Whether a read where the file stands needs no disk, of a file system that cannot tell: because it has none, or
/// because the file ends there.
pub fn needs_no_disk(file: BorrowedFd<'_>) -> bool {
    match kept(file) {
        Kept::Memory => true,
        Kept::Disk => match (tell(file), fstat(file)) {
            (Ok(at), Ok(about)) => i64::try_from(at).is_ok_and(|at| at >= about.st_size),
            _ => false,
        },
        Kept::Elsewhere => false,
    }
}

/// Opens a regular file, or makes it, as open(2) does. `None`: it is to be opened by who may wait, be it because it is
/// no such file, because it would be emptied, or because more than that it is not there would have to be told.
pub fn open(path: &CStr, flags: OFlags, mode: Mode) -> Option<Result<OwnedFd, Errno>> {
    let makes = flags.contains(OFlags::CREATE);
    if !HARMLESS.contains(flags) || flags.contains(OFlags::TRUNC) && !makes {
        return None;
    }
    // Opening a FIFO or a device does something, so what the path names is looked at first.
    let look = OFlags::PATH | OFlags::CLOEXEC | (flags & OFlags::NOFOLLOW);
    match openat2(CWD, path, look, Mode::empty(), ResolveFlags::CACHED) {
        Ok(found) => reopen(found, path, flags).map(Ok),
        Err(Errno::NOENT | Errno::AGAIN) if makes => create(path, flags, mode).map(Ok),
        Err(Errno::NOENT) => Some(Err(Errno::NOENT)),
        Err(_) => None,
    }
}

/// Opens what a path named.
fn reopen(found: OwnedFd, path: &CStr, flags: OFlags) -> Option<OwnedFd> {
    // To empty a file is to wait until what is being written of it is written.
    if flags.intersects(OFlags::TRUNC | OFlags::EXCL) {
        return None;
    }
    let regular = FileType::from_raw_mode(fstat(&found).ok()?.st_mode) == FileType::RegularFile;
    if !regular || kept(found.as_fd()) == Kept::Elsewhere {
        return None;
    }
    drop(found);
    // Who has a lease on it would be waited for else (fcntl(2)).
    let flags = flags - OFlags::CREATE;
    let file = openat2(CWD, path, flags | OFlags::NONBLOCK, Mode::empty(), ResolveFlags::CACHED).ok()?;
    if !flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&file, flags & OFlags::APPEND).ok()?;
    }
    Some(file)
}

/// Makes a file in a directory that is known: like all that changes a directory, it ends in memory.
fn create(path: &CStr, flags: OFlags, mode: Mode) -> Option<OwnedFd> {
    let path = path.to_bytes();
    let (directory, name) = match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => path.split_at(slash + 1),
        None => (&b"."[..], path),
    };
    let look = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat2(CWD, directory, look, Mode::empty(), ResolveFlags::CACHED).ok()?;
    if kept(directory.as_fd()) == Kept::Elsewhere {
        return None;
    }
    // Only what is new: what has the name, or a link that leads elsewhere, may be of any kind.
    openat(&directory, name, flags | OFlags::EXCL, mode).ok()
}

/// All of a regular file that has at most [`MOST`] bytes. `None`: not all of that is in memory.
pub fn read(path: &CStr) -> Option<Result<Vec<u8>, Errno>> {
    let file = match open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())? {
        Ok(file) => File::from(file),
        Err(errno) => return Some(Err(errno)),
    };
    let len = usize::try_from(file.metadata().ok()?.len()).ok().filter(|&len| len <= MOST)?;
    read_exact(&file, len).ok().map(Ok)
}

/// The first `len` bytes of a regular file. Fails with `WouldBlock` where not all of them are in memory, and with
/// `UnexpectedEof` where there are less.
pub fn read_exact(file: &File, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let (mut got, mut how) = (0, ReadWriteFlags::NOWAIT);
    while got < len {
        let place = &mut [IoSliceMut::new(&mut bytes[got..])];
        match preadv2(file, place, got as u64, how) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => got += more,
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP) if !how.is_empty() && needs_no_disk(file.as_fd()) => how = ReadWriteFlags::empty(),
            Err(Errno::OPNOTSUPP) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::io::Write;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::path::Path;

    use apus_scratch::Folder;
    use rustix::fs::{fcntl_getfl, ftruncate, mknodat};

    use super::*;

    const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

    fn opened(path: &Path, flags: OFlags) -> Option<Result<File, Errno>> {
        let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
        open(&path, flags, Mode::RUSR | Mode::WUSR).map(|file| file.map(File::from))
    }

    #[test]
    fn what_was_just_written_is_opened_and_read_whole() {
        let folder = Folder::new("cached");
        for text in ["", "x", &"long ".repeat(100_000)] {
            let path = folder.write("file", text);
            // The file system of a test may be one that is not known here.
            let Some(file) = opened(&path, READ) else { return };
            let file = file.expect("it is there");
            assert!(!fcntl_getfl(&file).expect("its flags").contains(OFlags::NONBLOCK));
            match read_exact(&file, text.len()) {
                Ok(bytes) => assert!(bytes == text.as_bytes(), "{}", text.len()),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
            assert!(read_exact(&file, text.len() + 1).is_err());
        }
    }

    #[test]
    fn flags_are_kept() {
        let folder = Folder::new("cached");
        let path = folder.write("file", "text");
        let Some(file) = opened(&path, OFlags::RDWR | OFlags::APPEND | OFlags::NONBLOCK) else { return };
        let flags = fcntl_getfl(file.expect("it is there")).expect("its flags");
        assert!(flags.contains(OFlags::RDWR | OFlags::APPEND | OFlags::NONBLOCK), "{flags:?}");
    }

    #[test]
    fn what_may_last_is_left_to_others() {
        let folder = Folder::new("cached");
        let path = folder.write("file", "text");
        let emptied = OFlags::CREATE | OFlags::TRUNC;
        let made = OFlags::CREATE | OFlags::EXCL;
        for flags in [OFlags::TRUNC, emptied, made, OFlags::DSYNC, OFlags::DIRECT, OFlags::NOATIME] {
            assert!(opened(&path, OFlags::RDWR | flags).is_none(), "{flags:?}");
        }
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
        for other in [&fifo, folder.path(), Path::new("/dev/null"), Path::new("/proc/self/status")] {
            assert!(opened(other, READ).is_none(), "{}", other.display());
        }
    }

    #[test]
    fn what_is_new_is_made_and_a_link_is_not_followed() {
        let folder = Folder::new("cached");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let path = folder.path().join("new");
        let Some(made) = opened(&path, flags) else { return };
        made.expect("it is made").write_all(b"text").expect("it is written");
        assert_eq!(fs::read(&path).expect("it is there"), b"text");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o177, 0);
        let end = opened(&path, OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND).expect("it is known");
        end.expect("it is there").write_all(b" more").expect("it is written");
        assert_eq!(fs::read(&path).expect("it is there"), b"text more");
        let link = folder.path().join("link");
        symlink("elsewhere", &link).expect("a link");
        assert!(opened(&link, flags).is_none(), "it leads elsewhere");
        assert!(!folder.path().join("elsewhere").exists());
        for other in [folder.path().join("none/new"), folder.path().join("new/below"), folder.path().join("")] {
            assert!(opened(&other, flags).is_none(), "{}", other.display());
        }
    }

    #[test]
    fn what_is_not_there_is_told() {
        let folder = Folder::new("cached");
        let path = folder.path().join("none");
        assert!(File::open(&path).is_err(), "and now the kernel knows");
        assert!(opened(&path, READ).is_none_or(|found| found.is_err_and(|errno| errno == Errno::NOENT)));
    }

    #[test]
    fn a_large_file_is_opened_and_not_read_at_once() {
        let folder = Folder::new("cached");
        let path = folder.write("large", "");
        ftruncate(File::options().write(true).open(&path).expect("a file"), 3 << 30).expect("room, not taken");
        let Some(file) = opened(&path, READ) else { return };
        assert_eq!(file.expect("it is there").metadata().expect("its length").len(), 3 << 30);
        let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
        assert!(read(&path).is_none());
    }
}
