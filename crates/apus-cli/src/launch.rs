//! `run` and `start`: this process becomes PHP, or leaves one behind that serves.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, kill_process, pidfd_open, setrlimit, setsid,
};
use serde::Deserialize;

use crate::certificate::Development;
use crate::cli::{PhpArgs, RunArgs, StartArgs};
use crate::configured::{ALONE, Served};
use crate::failure::{Failure, Kind, Outcome};
use crate::operate::has_left;
use crate::php::{Php, minor};

/// The variable that tells a master where to write its ready line.
const READY_FD: &str = "APUS_READY_FD";
/// Tells the module that the script is there to serve: one that never calls `start()` is spoken of.
const RUN: &str = "APUS_RUN";
/// Name the certificate, and its key, of HTTP ports for which the script has none.
const CERT: &str = "APUS_DEVELOPMENT_CERT";
const KEY: &str = "APUS_DEVELOPMENT_KEY";
/// How long a server that did not come up may take to leave.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of the log shown when a server did not start.
const LOG_TAIL: usize = 4096;
/// Bytes; the ready line holds the addresses, a few dozen bytes each.
const LONGEST_READY_LINE: u64 = 1 << 20;

/// What a master writes when all its workers serve.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Ready {
    pid: i32,
    #[serde(default)]
    listen: Vec<String>,
    /// Why it does not come up, instead of that.
    failed: Option<String>,
    /// The process of which that is said, where it is one of the master's.
    #[serde(default)]
    worker: i32,
}

/// `apus run`: does not return when PHP could be executed.
pub(crate) fn run(args: &RunArgs) -> Outcome<()> {
    let served = Served::of(&args.script, &args.php)?;
    check_script(&served.file)?;
    let php = Php::find(&served.php)?;
    warn_about(&php, &served.php);
    raise_open_files();
    let development = args.tls.then(Development::of_user).transpose()?;
    let pair = pair_of(development);
    if args.new_session {
        // Fails only for the leader of a process group, which already has no terminal to lose.
        let _ = setsid();
    }
    let script = if served.alone { ["-r".into(), ALONE.into()] } else { ["-f".into(), served.file.into_os_string()] };
    let error = php.command().env(RUN, "1").envs(pair).args(script).arg("--").args(&served.args).exec();
    Err(Failure::new(Kind::Environment, format!("{}: {error}", php.binary.display())))
}

/// Names a certificate for the server's environment, and says what it is.
pub(crate) fn pair_of(development: Option<Development>) -> impl Iterator<Item = (&'static str, PathBuf)> {
    if let Some(development) = &development {
        eprintln!("{}", development.advice());
    }
    development.into_iter().flat_map(|Development { cert, key, .. }| [(CERT, cert), (KEY, key)])
}

/// `apus start`: without -d the same as `run`.
pub(crate) fn start(args: StartArgs) -> Outcome<()> {
    if !args.detach {
        return run(&RunArgs { php: args.php, tls: args.tls, new_session: false, script: args.script });
    }
    let served = Served::of(&args.script, &args.php)?;
    check_script(&served.file)?;
    let log_path = args.log.clone().unwrap_or_else(|| default_log(&served.file));
    let log = open_log(&log_path)?;
    let log_start = log.metadata().map_or(0, |meta| meta.len());
    let (mut child, ready) = spawn(&served, args.tls, log)?;
    match wait_ready(ready, Duration::from_secs(args.timeout.into())) {
        Waited::Ready(Ready { failed: Some(why), worker, pid, .. }) => {
            terminate(&mut child);
            let shown = entries_of(&log_text(&log_path, log_start), &[pid, worker], &why);
            Err(not_started(&why, &log_path, &shown))
        }
        Waited::Ready(server) => {
            println!("{}", announce(&server, &log_path, args.tls));
            Ok(())
        }
        Waited::Ended => Err(not_started(&ended(&mut child), &log_path, &log_tail(&log_path, log_start))),
        Waited::TimedOut => {
            terminate(&mut child);
            let why = format!("it did not serve within {} s and was stopped", args.timeout);
            Err(not_started(&why, &log_path, &log_tail(&log_path, log_start)))
        }
    }
}

fn check_script(file: &Path) -> Outcome<()> {
    match fs::metadata(file) {
        Ok(meta) if meta.is_dir() => Err(Failure::failed(format!("{} is a directory", file.display()))
            .advise("name the PHP file that starts the server")),
        Ok(_) => File::open(file).map(|_| ()).map_err(|error| Failure::failed(format!("{}: {error}", file.display()))),
        Err(error) => Err(Failure::failed(format!("{}: {error}", file.display()))),
    }
}

/// What costs speed or hides behind a default is said once, before PHP takes over.
pub(crate) fn warn_about(php: &Php, args: &PhpArgs) {
    let info = &php.info;
    if info.xdebug_active() {
        eprintln!(
            "apus: Xdebug is loaded (mode {}) and slows every call; XDEBUG_MODE=off switches it off",
            info.xdebug_mode
        );
    }
    if !info.opcache {
        eprintln!("apus: opcache is not installed; apt-get install php{}-opcache", minor(&info.version));
    }
    if args.jit.is_some() && !info.jit_on {
        eprintln!("apus: the JIT stays off{}", if info.xdebug_active() { ": Xdebug disables it" } else { "" });
    }
    if info.module.as_deref() != Some(env!("CARGO_PKG_VERSION")) {
        let module = info.module.as_deref().unwrap_or("unknown");
        eprintln!("apus: this command is {}, the module is {module}", env!("CARGO_PKG_VERSION"));
    }
}

/// Raises the soft limit of open files to the hard one: the usual soft limit of 1,024 is a fraction of what a worker
/// holds.
pub(crate) fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // A failure leaves the limit that was there, and the server runs with it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

fn default_log(script: &Path) -> PathBuf {
    script.with_file_name("apus.log")
}

fn open_log(path: &Path) -> Outcome<File> {
    File::options().create(true).append(true).open(path).map_err(|error| {
        Failure::failed(format!("log {}: {error}", path.display())).advise("choose another place with --log FILE")
    })
}

/// Starts `apus run` in a session of its own, with the write end of the ready pipe.
fn spawn(served: &Served, tls: bool, log: File) -> Outcome<(Child, OwnedFd)> {
    let failed = |error: io::Error| Failure::failed(format!("cannot start the server: {error}"));
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
    fcntl_setfd(&write, FdFlags::empty()).map_err(|errno| failed(errno.into()))?;
    let errors = log.try_clone().map_err(failed)?;
    let child = Command::new(env::current_exe().map_err(failed)?)
        .args(run_arguments(served, tls))
        .env(READY_FD, write.as_raw_fd().to_string())
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(failed)?;
    // Our copy of the write end ends here, so that the read end sees the end when the server closes its own.
    drop(write);
    Ok((child, read))
}

fn run_arguments(served: &Served, tls: bool) -> Vec<OsString> {
    let Served { php, file, alone, args } = served;
    let mut built: Vec<OsString> = vec!["run".into(), "--new-session".into()];
    if tls {
        built.push("--tls".into());
    }
    if php.swoole {
        built.push("--swoole".into());
    }
    for entry in &php.ini {
        built.extend(["--ini".into(), entry.into()]);
    }
    built.extend(php.jit.as_ref().map(|size| format!("--jit={size}").into()));
    for (option, path) in [("--php", &php.php), ("--extension", &php.extension)] {
        if let Some(path) = path {
            built.extend([option.into(), path.into()]);
        }
    }
    if *alone {
        built.extend(["--config".into(), file.into()]);
        return built;
    }
    built.push("--".into());
    built.push(file.into());
    built.extend(args.iter().cloned());
    built
}

#[derive(Debug, PartialEq, Eq)]
enum Waited {
    Ready(Ready),
    /// The pipe was closed without a line: nobody is left who would write one.
    Ended,
    TimedOut,
}

/// Reads the ready line from `pipe`, at most `within`.
fn wait_ready(pipe: OwnedFd, within: Duration) -> Waited {
    let deadline = Instant::now() + within;
    let mut source = File::from(pipe).take(LONGEST_READY_LINE);
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(source.get_ref(), PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Waited::TimedOut,
            Ok(_) => {}
            Err(_) => continue,
        }
        match source.read(&mut buffer) {
            Ok(0) | Err(_) => return Waited::Ended,
            Ok(count) => line.extend_from_slice(&buffer[..count]),
        }
        // What follows the first line may have come with it.
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            return serde_json::from_slice(&line[..end]).map_or(Waited::Ended, Waited::Ready);
        }
    }
}

fn announce(server: &Ready, log: &Path, tls: bool) -> String {
    let listen: Vec<String> = server.listen.iter().map(|address| shown_address(address, tls)).collect();
    format!("serving at {} (pid {}, log {})", listen.join(", "), server.pid, log.display())
}

/// A TCP address as something one can open in a browser.
fn shown_address(address: &str, tls: bool) -> String {
    match address.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => {
            let host = if matches!(host, "0.0.0.0" | "[::]") { "127.0.0.1" } else { host };
            format!("http{}://{host}:{port}", if tls { "s" } else { "" })
        }
        _ => address.to_owned(),
    }
}

/// Why a process whose end of the pipe was closed did not start. One that does not end is stopped.
fn ended(child: &mut Child) -> String {
    let Some(pid) = Pid::from_raw(child.id().cast_signed()) else { return "it has no process".into() };
    if !leaves(pid) {
        terminate(child);
        return "it no longer says whether it serves, and was stopped".into();
    }
    child.wait().map_or_else(|error| error.to_string(), |status| format!("it ended before it served ({status})"))
}

/// INT (stop now) to the process that was started, and to nobody else; KILL when that is not enough. Workers follow
/// their master.
fn terminate(child: &mut Child) {
    let Some(pid) = Pid::from_raw(child.id().cast_signed()) else { return };
    let _ = kill_process(pid, Signal::INT);
    if !leaves(pid) {
        let _ = child.kill();
    }
    let _ = child.wait();
}

/// Whether a child of ours, which is not waited for yet, ends within the grace.
fn leaves(pid: Pid) -> bool {
    pidfd_open(pid, PidfdFlags::empty()).is_ok_and(|handle| has_left(&handle, GRACE).unwrap_or(false))
}

fn not_started(why: &str, log: &Path, wrote: &str) -> Failure {
    let shown = if wrote.is_empty() { "it wrote nothing" } else { wrote };
    Failure::failed(format!("the server did not start: {why}")).advise(format!("{shown}\nlog: {}", log.display()))
}

/// What was written to the log since `from`.
fn log_text(log: &Path, from: u64) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let new = bytes.get(usize::try_from(from).unwrap_or(0)..).unwrap_or_default();
    let text = String::from_utf8_lossy(new).trim().to_owned();
    // Escape sequences of the log must not reach the terminal.
    let keep = |c: &char| *c == '\n' || *c == '\t' || !c.is_control();
    if io::stderr().is_terminal() { text.chars().filter(keep).collect() } else { text }
}

/// The same, its last part if it is long.
fn log_tail(log: &Path, from: u64) -> String {
    let text = log_text(log, from);
    let start = (text.len().saturating_sub(LOG_TAIL)..=text.len()).find(|at| text.is_char_boundary(*at));
    text[start.unwrap_or(0)..].trim().to_owned()
}

/// The log's entries of these processes, up to the one that says `last`. So the trace of a worker that fails again and
/// again, as its siblings do, is shown once.
fn entries_of(text: &str, pids: &[i32], last: &str) -> String {
    let (mut shown, mut theirs) = (Vec::new(), true);
    for line in text.lines() {
        // `2026-11-22T22:28:20.130Z [9140] warning: …`; a line without such a beginning goes on with the entry before.
        let pid =
            line.split_once("Z [").and_then(|(_, rest)| rest.split_once(']')).and_then(|(pid, _)| pid.parse().ok());
        theirs = pid.map_or(theirs, |pid: i32| pids.contains(&pid));
        if line.contains(last) {
            break;
        }
        if theirs {
            shown.push(line);
        }
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;
    use std::io::Write as _;

    fn pipe() -> (OwnedFd, File) {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        (read, File::from(write))
    }

    #[test]
    fn the_ready_line_may_come_in_pieces() {
        let (read, mut write) = pipe();
        let writer = std::thread::spawn(move || {
            write.write_all(br#"{"pid":7,"listen":["127."#).expect("write");
            write.write_all(b"0.0.1:80\"],\"control\":\"/x\"}\n").expect("write");
        });
        let ready = Ready { pid: 7, listen: vec!["127.0.0.1:80".into()], failed: None, worker: 0 };
        assert_eq!(wait_ready(read, Duration::from_secs(20)), Waited::Ready(ready));
        writer.join().expect("writer");
    }

    #[test]
    fn of_two_lines_at_once_the_first_counts() {
        let (read, mut write) = pipe();
        write.write_all(b"{\"pid\":7,\"failed\":\"one\"}\n{\"pid\":7,\"failed\":\"two\"}\n").expect("write");
        let ready = Ready { pid: 7, listen: vec![], failed: Some("one".into()), worker: 0 };
        assert_eq!(wait_ready(read, Duration::from_secs(20)), Waited::Ready(ready));
    }

    #[test]
    fn a_closed_pipe_and_a_silent_one_are_told_apart() {
        let (read, write) = pipe();
        drop(write);
        assert_eq!(wait_ready(read, Duration::from_secs(20)), Waited::Ended);
        let (read, _write) = pipe();
        assert_eq!(wait_ready(read, Duration::from_millis(1)), Waited::TimedOut);
    }

    #[test]
    fn addresses_are_shown_as_one_opens_them() {
        assert_eq!(shown_address("0.0.0.0:8080", false), "http://127.0.0.1:8080");
        assert_eq!(shown_address("[::1]:80", true), "https://[::1]:80");
        assert_eq!(shown_address("/run/shop.sock", true), "/run/shop.sock");
        assert_eq!(shown_address("unix:/run/shop.sock", false), "unix:/run/shop.sock");
    }

    #[test]
    fn the_trace_of_the_one_that_failed_is_shown_once() {
        let text = "T1Z [10] info: a\nT1Z [11] error: b\n#0 trace\nT1Z [12] error: b\n#0 other\nT1Z [10] warning: worker 0 (11) exited\nT1Z [13] error: b";
        assert_eq!(
            entries_of(text, &[10, 11], "worker 0 (11) exited"),
            "T1Z [10] info: a\nT1Z [11] error: b\n#0 trace"
        );
    }

    #[test]
    fn only_what_this_start_wrote_is_shown() {
        let scratch = Folder::new("log");
        let log = scratch.write("apus.log", "old\nnew\n");
        assert_eq!(log_tail(&log, 4), "new");
        assert_eq!(log_tail(&log, 400), "");
    }

    #[test]
    fn a_script_that_is_missing_or_a_directory_is_refused() {
        let scratch = Folder::new("script");
        assert!(check_script(scratch.path()).is_err());
        assert!(check_script(&scratch.path().join("none.php")).is_err());
        assert!(check_script(&scratch.write("s.php", "<?php")).is_ok());
    }

    #[test]
    fn the_minor_version_names_the_package() {
        assert_eq!(minor("8.2.30"), "8.2");
    }
}
