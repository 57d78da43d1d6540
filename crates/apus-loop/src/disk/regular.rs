//! Opening what is to be sent: regular files only, and never waiting for somebody else.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// What takes a file's name is opened so without waiting for it.
const NO_WAIT: i32 = OFlags::NONBLOCK.union(OFlags::NOCTTY).bits() as i32;

/// Opens a regular file for reading. Anything else is refused before it is opened: a FIFO would wait for its writer,
/// and opening a device may do something. What takes the name's place in between is opened without waiting, and refused
/// then.
///
/// # Errors
/// Those of open(2); and an error without a number for what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let only_regular = |about: Metadata| if about.is_file() { Ok(about) } else { Err(not_regular()) };
    only_regular(fs::metadata(path)?)?;
    let file = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path)?;
    let about = only_regular(file.metadata()?)?;
    Ok((file, about))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        for other in ["/dev/null", "/dev", "/dev/tty"] {
            assert!(open_regular(Path::new(other)).is_err(), "{other}");
        }
        assert_eq!(open_regular(Path::new("/dev/null")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(open_regular(Path::new("/nowhere/at/all")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let (_, about) = open_regular(Path::new("/proc/self/exe")).unwrap();
        assert!(about.len() > 0);
    }
}
