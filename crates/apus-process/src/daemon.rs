//! Into the background: two forks, a session of its own, and a launcher that waits for news.

use std::fs::OpenOptions;
use std::io::{PipeReader, PipeWriter};
use std::io::{Read, Write, pipe};

use nix::sys::wait::waitpid;
use nix::unistd::{dup2_stdin, setsid};

use crate::error::Error;
use crate::{log, sys};

/// What the launcher reads when the server serves.
const READY: &[u8] = b"ready";

/// The daemon's line to the process that launched it, which waits in its terminal.
#[derive(Debug)]
pub(crate) struct Launcher(PipeWriter);

impl Launcher {
    /// The server serves: the launcher leaves with 0.
    pub(crate) fn ready(mut self) {
        let _ = self.0.write_all(READY);
    }

    /// Something is wrong: the launcher prints it and leaves with 1.
    pub(crate) fn trouble(mut self, text: &str) {
        let _ = self.0.write_all(text.as_bytes());
    }
}

/// Detaches from the terminal. Returns in the daemon only; the calling process waits until the daemon is ready (or is
/// not going to be) and ends there, without unwinding: its memory, and what its destructors would end, live on in the
/// daemon.
pub(crate) fn detach() -> Result<Launcher, Error> {
    let (reader, writer) = pipe().map_err(Error::system("pipe"))?;
    let null = OpenOptions::new().read(true).open("/dev/null").map_err(Error::system("/dev/null"))?;
    if let Some(child) = sys::fork().map_err(Error::system("fork"))? {
        drop(writer);
        let _ = waitpid(child, None);
        sys::leave(wait_for_news(reader));
    }
    drop(reader);
    let second = setsid().map_err(Error::system("setsid")).and_then(|_| sys::fork().map_err(Error::system("fork")));
    match second {
        // A process that leads no session can never get a terminal again.
        Ok(Some(_)) => sys::leave(0),
        Err(error) => {
            Launcher(writer).trouble(&error.to_string());
            sys::leave(1);
        }
        Ok(None) => {}
    }
    dup2_stdin(&null).map_err(Error::system("dup2"))?;
    log::redirect_output().map_err(Error::system("dup2"))?;
    Ok(Launcher(writer))
}

/// The launcher's exit code.
fn wait_for_news(mut reader: PipeReader) -> i32 {
    let mut news = Vec::new();
    let _ = reader.read_to_end(&mut news);
    if news == READY {
        return 0;
    }
    let news = String::from_utf8_lossy(&news);
    let news = if news.is_empty() { "the server ended before it was ready: see its log" } else { &news };
    let _ = writeln!(std::io::stderr(), "{news}");
    1
}
