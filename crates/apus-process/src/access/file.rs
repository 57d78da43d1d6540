//! Where the access log goes, and how it is rotated.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use apus_options::Settings;

use crate::error::Error;
use crate::log::{self, Sink};

/// What the setting says for standard output.
pub(super) const STDOUT: &str = "stdout";

#[derive(Debug)]
pub(super) enum Target {
    Stdout,
    File(Rotated),
}

#[derive(Debug)]
pub(super) struct Rotated {
    path: PathBuf,
    sink: Sink,
    /// Bytes in the file.
    size: u64,
    /// At which it is renamed; 0 for never.
    most: u64,
    /// Older files that are kept.
    keep: u32,
    /// Whether renaming has failed: it is tried again when the file is opened anew.
    stuck: bool,
}

impl Target {
    /// Opens what `access_log` names; the settings tell when a file is renamed.
    pub(super) fn open(name: &str, settings: &Settings) -> Result<Self, Error> {
        if name == STDOUT {
            return Ok(Self::Stdout);
        }
        let path = PathBuf::from(name);
        let opened = open(&path);
        let (file, size) =
            opened.map_err(|source| Error::File { setting: "access_log", path: path.clone(), source })?;
        let (most, keep) = (settings.access_log_max_size, settings.access_log_keep);
        Ok(Self::File(Rotated { path, sink: Sink::of_file(file), size, most, keep, stuck: false }))
    }

    /// Whether all that was written is taken.
    pub(super) fn is_ready(&mut self) -> bool {
        match self {
            Self::Stdout => !log::output_waits(),
            Self::File(file) => {
                file.sink.flush();
                !file.sink.is_waiting()
            }
        }
    }

    pub(super) fn write(&mut self, lines: &[u8]) {
        match self {
            _ if lines.is_empty() => {}
            Self::Stdout => log::output(lines),
            Self::File(file) => file.write(lines),
        }
    }

    pub(super) fn reopen(&mut self) {
        if let Self::File(file) = self {
            file.reopen();
        }
    }
}

impl Rotated {
    fn write(&mut self, lines: &[u8]) {
        if self.most > 0 && self.size > 0 && self.size + lines.len() as u64 > self.most && !self.stuck {
            self.rotate();
        }
        self.sink.write(lines, std::process::id());
        self.size += lines.len() as u64;
    }

    fn rotate(&mut self) {
        if let Err(error) = shift(&self.path, self.keep) {
            self.stuck = true;
            log::error(format_args!("the access log {} grows on: it cannot be renamed: {error}", self.path.display()));
            return;
        }
        self.reopen();
    }

    fn reopen(&mut self) {
        self.stuck = false;
        match open(&self.path) {
            Ok((file, size)) => (self.sink, self.size) = (Sink::of_file(file), size),
            Err(error) => {
                self.stuck = true;
                log::error(format_args!("cannot open the access log {} anew: {error}", self.path.display()));
            }
        }
    }
}

/// `log.1` becomes `log.2` and so on, the last one goes, `log` becomes `log.1`.
fn shift(path: &Path, keep: u32) -> io::Result<()> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..keep).rev() {
        match fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, numbered(1))
}

/// Opens for appending what is there, or makes it; its size.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    // A FIFO without a reader is an error, not a wait.
    options.append(true).create(true).mode(0o640).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}
