//! The server's log: lines to standard error or to `log_file`, whole lines by one write each; and what PHP prints.
//! Nobody waits for a reader.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::role::Role;

mod repeats;
mod sink;

pub use repeats::Repeats;
pub(crate) use sink::Sink;
use sink::Standard;

/// How grave a line is; the numbers are the setting `log_level`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// For the developers of Apus.
    Debug = 0,
    /// Steps of single requests and processes.
    Trace = 1,
    /// What happens.
    Info = 2,
    /// What happens and is not ordinary.
    Notice = 3,
    /// What works in spite of a fault.
    Warning = 4,
    /// What failed.
    Error = 5,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Info as u8);
static SINKS: Mutex<Sinks> = Mutex::new(Sinks { output: Standard::NEW, error: Standard::NEW, file: None });
/// Called when something waits to be written: see [`on_held`].
static ON_HELD: OnceLock<fn()> = OnceLock::new();
/// Adds to the head of each line: see [`on_line`].
static ON_LINE: OnceLock<fn(&mut String)> = OnceLock::new();
/// Writes the head of each line in place of ours: see [`on_head`].
static ON_HEAD: OnceLock<fn(&mut String, Level)> = OnceLock::new();

/// Which process this is: see [`process`].
static PROCESS: AtomicU32 = AtomicU32::new((b'#' as u32) << 16);

/// Bytes that a message may have; what is longer is cut. A stack of names and paths fits.
const MOST_BYTES: usize = 64 * 1024;

/// All that a server writes to.
struct Sinks {
    output: Standard,
    error: Standard,
    /// The setting `log_file`.
    file: Option<Sink>,
}

impl Sinks {
    fn lock() -> MutexGuard<'static, Self> {
        SINKS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to where log lines go.
    fn log(&mut self, bytes: &[u8], pid: u32) {
        match &mut self.file {
            Some(file) => file.write(bytes, pid),
            None => self.error.write(io::stderr().as_fd(), bytes, pid),
        }
    }

    fn existing(&mut self) -> impl Iterator<Item = &mut Sink> {
        self.output.existing().into_iter().chain(self.error.existing()).chain(&mut self.file)
    }

    fn is_waiting(&mut self) -> bool {
        self.existing().any(|sink| sink.is_waiting())
    }
}

/// Sets the minimum level that is logged: 0 (debug) to 5 (error), 6 for none.
pub fn set_level(level: u8) {
    LEVEL.store(level, Relaxed);
}

/// Whether lines of this level are logged.
pub fn enabled(level: Level) -> bool {
    level as u8 >= LEVEL.load(Relaxed)
}

/// In the master, before its first fork: looks at standard output and error while this process may still open them
/// anew. Its workers may be of another user.
pub(crate) fn prepare() {
    let mut sinks = Sinks::lock();
    let _ = sinks.output.sink(io::stdout().as_fd());
    let _ = sinks.error.sink(io::stderr().as_fd());
}

/// Logs to the file, made when missing; HUP calls this again, for logrotate.
pub fn open(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // A FIFO without a reader is an error, not a wait.
    options.append(true).create(true).mode(0o640).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    Sinks::lock().file = Some(Sink::of_file(options.open(path)?));
    Ok(())
}

/// Logs one message of one or more lines. A failed write is dropped: there is nowhere to report it.
pub fn write(level: Level, message: fmt::Arguments<'_>) {
    // Who has lines of another form knows other lines of what happens, too: see `there`.
    let usual = ON_HEAD.get().is_some() && matches!(level, Level::Info | Level::Notice);
    if enabled(if usual { Level::Trace } else { level }) {
        write_line(level, message);
    }
}

fn write_line(level: Level, message: fmt::Arguments<'_>) {
    let pid = std::process::id();
    let mut line = String::with_capacity(160);
    if let Some(head) = ON_HEAD.get() {
        head(&mut line, level);
        let start = line.len();
        if let Some(add) = ON_LINE.get() {
            add(&mut line);
        }
        let _ = write!(line, "{}{message}", if line.len() > start { ": " } else { "" });
    } else {
        let _ = write!(line, "{} [{pid}] {}", Timestamp(SystemTime::now()), name(level));
        if let Some(add) = ON_LINE.get() {
            add(&mut line);
        }
        let _ = write!(line, ": {message}");
    }
    cut(&mut line);
    line.push('\n');
    put(|sinks| sinks.log(line.as_bytes(), pid));
}

fn cut(line: &mut String) {
    if line.len() <= MOST_BYTES {
        return;
    }
    let end = (0..=MOST_BYTES).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let left_out = line.len() - end;
    line.truncate(end);
    let _ = write!(line, "... ({left_out} bytes more)");
}

/// Writes to standard output, what PHP code of a server prints. Nothing is waited for, and failing has no effect.
pub fn output(bytes: &[u8]) {
    put(|sinks| sinks.output.write(io::stdout().as_fd(), bytes, std::process::id()));
}

/// Whether what was written to standard output waits for its reader.
pub(crate) fn output_waits() -> bool {
    flush();
    Sinks::lock().output.existing().is_some_and(|sink| sink.is_waiting())
}

/// The same for a script whose output is its own: its reader is waited for.
pub fn output_waiting(mut bytes: &[u8]) {
    let stdout = io::stdout();
    while !bytes.is_empty() {
        match nix::unistd::write(&stdout, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(nix::Error::EINTR) => {}
            Err(nix::Error::EAGAIN) => {
                let mut ready = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
                let _ = poll(&mut ready, PollTimeout::NONE);
            }
            Err(_) => return,
        }
    }
}

/// Writes to standard error, PHP's own log, in the same way as [`output`].
pub fn error_output(bytes: &[u8]) {
    put(|sinks| sinks.error.write(io::stderr().as_fd(), bytes, std::process::id()));
}

fn put(write: impl FnOnce(&mut Sinks)) {
    let mut sinks = Sinks::lock();
    write(&mut sinks);
    let waiting = sinks.is_waiting();
    drop(sinks);
    if waiting {
        hold();
    }
}

/// Something waits to be written.
fn hold() {
    if let Some(told) = ON_HELD.get() {
        told();
    }
}

/// `told` is called, on any thread and any number of times, when something waits to be written: then [`settle`] is to
/// be called several times a second until it says that nothing does. Without it, what waits is written before what
/// comes next.
pub fn on_held(told: fn()) {
    let _ = ON_HELD.set(told);
}

/// `add` adds to the head of each line, behind the level, what the line is about. It is called on any thread.
pub fn on_line(add: fn(&mut String)) {
    let _ = ON_LINE.set(add);
}

/// `head` writes the head of each line, up to the message, in place of ours. It is called on any thread. Lines of the
/// levels info and notice are written for level trace then, but for those of [`there`].
pub fn on_head(head: fn(&mut String, Level)) {
    let _ = ON_HEAD.set(head);
}

/// A mark for the role of this process in a server, and its number among them: `#` the master (or no server at all),
/// `*` an event worker, `^` a task worker, `@` a user process.
pub fn process() -> (char, u16) {
    let packed = PROCESS.load(Relaxed);
    (char::from((packed >> 16) as u8), packed as u16)
}

/// This process is a server's from now on.
pub(crate) fn speak_as(role: Role, id: u16) {
    let mark = match role {
        Role::Worker => b'*',
        Role::Task => b'^',
        Role::Script | Role::User(_) => b'@',
        Role::Master => b'#',
    };
    PROCESS.store(u32::from(mark) << 16 | u32::from(id), Relaxed);
}

/// Logs one of two messages that say the same: `ours`, or `theirs` where lines have a form of others (see [`on_head`]).
pub fn told(level: Level, ours: fmt::Arguments<'_>, theirs: fmt::Arguments<'_>) {
    if ON_HEAD.get().is_some() {
        there(level, theirs);
    } else {
        write(level, ours);
    }
}

/// Logs a message only where lines have a form of others (see [`on_head`]), which knows it.
pub fn there(level: Level, message: fmt::Arguments<'_>) {
    if ON_HEAD.get().is_some() && enabled(level) {
        write_line(level, message);
    }
}

/// Whether lines have a form of others (see [`on_head`]).
pub fn is_there() -> bool {
    ON_HEAD.get().is_some()
}

/// Writes what waits and is taken now. Whether something waits still.
pub fn settle() -> bool {
    let counted = repeats::sum_up(false);
    flush() || counted
}

/// The same at a process's end: what is not taken now is lost.
pub fn settle_for_good() {
    repeats::sum_up(true);
    flush();
}

fn flush() -> bool {
    let mut sinks = Sinks::lock();
    let lost: u64 = sinks.existing().filter(|sink| sink.is_waiting()).map(Sink::flush).sum();
    let waiting = sinks.is_waiting();
    drop(sinks);
    if lost > 0 {
        let whole = format_args!("{lost} writes to the log or to standard output were lost: nobody read them in time");
        write(Level::Warning, whole);
    }
    waiting
}

/// Logs at level info.
pub fn info(message: fmt::Arguments<'_>) {
    write(Level::Info, message);
}

/// Logs at level notice.
pub fn notice(message: fmt::Arguments<'_>) {
    write(Level::Notice, message);
}

/// Logs at level warning.
pub fn warning(message: fmt::Arguments<'_>) {
    write(Level::Warning, message);
}

/// Logs at level error.
pub fn error(message: fmt::Arguments<'_>) {
    write(Level::Error, message);
}

/// Points standard output and error at the log file, or at /dev/null without one: for a daemon.
pub(crate) fn redirect_output() -> io::Result<()> {
    let null = OpenOptions::new().write(true).open("/dev/null")?;
    let sinks = Sinks::lock();
    let target: &File = sinks.file.as_ref().map_or(&null, Sink::file);
    nix::unistd::dup2_stdout(target.as_fd())?;
    nix::unistd::dup2_stderr(target.as_fd())?;
    Ok(())
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Trace => "trace",
        Level::Info => "info",
        Level::Notice => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// A time as RFC 3339 has it, in UTC with milliseconds.
pub(crate) struct Timestamp(pub(crate) SystemTime);

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (days, second) = (since.as_secs() / 86400, since.as_secs() % 86400);
        let (year, month, day) = civil(days as i64);
        let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{:03}Z", since.subsec_millis())
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar. Years begin in March
/// here, so that the leap day is a year's last, and 400 years are one era of 146,097 days.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_rfc_3339() {
        let at = |secs, ms| Timestamp(UNIX_EPOCH + Duration::from_secs(secs) + Duration::from_millis(ms)).to_string();
        assert_eq!(at(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400, 5), "2000-02-29T00:00:00.005Z");
        assert_eq!(at(1_700_000_000, 123), "2023-11-14T22:13:20.123Z");
        assert_eq!(at(4_107_542_399, 0), "2100-02-28T23:59:59.000Z");
    }
}
