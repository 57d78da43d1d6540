//! Telling whoever started the server how it is: a ready line, systemd, the launcher.

use std::env;
use std::fs::File;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::daemon::Launcher;
use crate::{log, sys};

/// The line that a parent reads from the descriptor `APUS_READY_FD` names.
#[derive(Debug, Serialize)]
pub(crate) struct ReadyLine<'a> {
    pub(crate) pid: u32,
    pub(crate) listen: Vec<String>,
    pub(crate) control: Option<&'a str>,
}

/// The line that comes before it when the server does not come up.
#[derive(Debug, Serialize)]
struct FailedLine<'a> {
    pid: u32,
    failed: &'a str,
    worker: u32,
}

/// Everybody who waits for news of the server.
#[derive(Debug, Default)]
pub(crate) struct Notify {
    ready: Option<File>,
    /// Whether the line of a failed start was written: there is one at most.
    failed: bool,
    systemd: Option<(UnixDatagram, SocketAddr)>,
    launcher: Option<Launcher>,
    watchdog: Option<Watchdog>,
}

/// systemd restarts a service that does not report in time.
#[derive(Debug)]
struct Watchdog {
    interval: Duration,
    next: Instant,
}

impl Notify {
    pub(crate) fn from_environment() -> Self {
        let systemd = systemd();
        let watchdog = systemd.is_some().then(watchdog).flatten();
        Self { ready: ready_file(), failed: false, systemd, launcher: None, watchdog }
    }

    pub(crate) fn set_launcher(&mut self, launcher: Launcher) {
        self.launcher = Some(launcher);
    }

    /// All workers serve, for the first time.
    pub(crate) fn ready(&mut self, line: &ReadyLine<'_>) {
        if let (Some(mut file), Ok(mut text)) = (self.ready.take(), serde_json::to_string(line)) {
            text.push('\n');
            let _ = file.write_all(text.as_bytes());
        }
        if let Some(launcher) = self.launcher.take() {
            launcher.ready();
        }
        self.tell(&format!("READY=1\nMAINPID={}\nSTATUS=serving {}", line.pid, line.listen.join(" ")));
    }

    /// A process that the server needs dies again and again before it has served: whoever waits for the ready line need
    /// not wait longer. The server goes on trying, and tells when it serves.
    pub(crate) fn failing(&mut self, worker: u32, text: &str) {
        if std::mem::replace(&mut self.failed, true) {
            return;
        }
        let line = FailedLine { pid: std::process::id(), failed: text, worker };
        if let (Some(file), Ok(mut text)) = (&mut self.ready, serde_json::to_string(&line)) {
            text.push('\n');
            let _ = file.write_all(text.as_bytes());
        }
    }

    pub(crate) fn reloading(&self) {
        let micros = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| t.tv_sec() * 1_000_000 + t.tv_nsec() / 1000);
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    pub(crate) fn reloaded(&self) {
        self.tell("READY=1");
    }

    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// When the next report to the watchdog is due.
    pub(crate) fn ping_at(&self) -> Option<Instant> {
        self.watchdog.as_ref().map(|watchdog| watchdog.next)
    }

    /// Reports to the watchdog if it is time to.
    pub(crate) fn ping(&mut self, now: Instant) {
        if let Some(watchdog) = self.watchdog.as_mut().filter(|watchdog| watchdog.next <= now) {
            watchdog.next = now + watchdog.interval;
            self.tell("WATCHDOG=1");
        }
    }

    /// The server does not come up: whoever waits in a terminal should know.
    pub(crate) fn trouble(&mut self, text: &str) {
        if let Some(launcher) = self.launcher.take() {
            launcher.trouble(text);
        }
        self.tell(&format!("STATUS={text}"));
    }

    /// Sends to systemd by `sd_notify(3)`. Nobody is waited for: a full queue loses the message.
    fn tell(&self, text: &str) {
        if let Some((socket, addr)) = &self.systemd {
            let _ = socket.send_to_addr(text.as_bytes(), addr);
        }
    }
}

/// The descriptor in `APUS_READY_FD`, when it is open and can be what a parent waits on: a pipe or a socket. A process
/// far down may have inherited the variable without the descriptor, and something else may have its number.
fn ready_file() -> Option<File> {
    let number = env::var("APUS_READY_FD").ok()?.parse().ok().filter(|fd| *fd > 2)?;
    let Some(fd) = sys::inherited(number) else {
        log::warning(format_args!("APUS_READY_FD is {number}, which is not open"));
        return None;
    };
    let kind = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?.file_type();
    if !kind.is_fifo() && !kind.is_socket() {
        log::warning(format_args!("APUS_READY_FD is {number}, which is neither a pipe nor a socket"));
        return None;
    }
    let _ = fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
    sys::forget_variable("APUS_READY_FD");
    Some(File::from(sys::adopt(fd)))
}

/// By `sd_watchdog_enabled(3)`: half of `WATCHDOG_USEC`, unless `WATCHDOG_PID` is another process.
fn watchdog() -> Option<Watchdog> {
    let number = |name| env::var(name).ok()?.parse::<u64>().ok();
    if number("WATCHDOG_PID").is_some_and(|pid| pid != u64::from(std::process::id())) {
        return None;
    }
    let micros = number("WATCHDOG_USEC").filter(|micros| *micros > 0)?;
    Some(Watchdog { interval: Duration::from_micros(micros.div_ceil(2)), next: Instant::now() })
}

fn systemd() -> Option<(UnixDatagram, SocketAddr)> {
    let name = env::var_os("NOTIFY_SOCKET")?;
    let addr = match name.as_bytes() {
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest),
        _ => SocketAddr::from_pathname(&name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, addr.ok()?))
}
