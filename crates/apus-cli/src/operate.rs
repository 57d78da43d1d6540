//! `stop` and `reload`: asks a master over its control socket, or by signal where it has none that we can reach.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::cli::{ReloadArgs, StopArgs};
use crate::control::{self, Server};
use crate::failure::{Failure, Kind, Outcome};

/// `apus stop`: the server has left when this returns, unless the caller would not wait.
pub(crate) fn stop(args: &StopArgs) -> Outcome<()> {
    let server = control::select(&args.target, &control::directories())?;
    // Opened before the request, so that a process id used again cannot be taken for the server.
    let handle = open(&server)?;
    let (command, signal) = if args.now { ("stop now", Signal::INT) } else { ("stop", Signal::TERM) };
    tell(&server, command, signal)?;
    if args.timeout == 0 {
        println!("server {} is stopping", server.pid);
        return Ok(());
    }
    if has_left(&handle, Duration::from_secs(args.timeout.into()))? {
        println!("server {} has stopped", server.pid);
        return Ok(());
    }
    Err(Failure::failed(format!("server {} is still finishing its requests after {} s", server.pid, args.timeout))
        .advise(format!("apus stop --pid {} --now", server.pid)))
}

/// `apus reload`: all new workers serve and the old ones accept nothing when this returns, unless the caller would not
/// wait.
pub(crate) fn reload(args: &ReloadArgs) -> Outcome<()> {
    let server = control::select(&args.target, &control::directories())?;
    if args.certificates {
        let changed = server.ask("reload certificates")?["changed"] == true;
        let what =
            if changed { "has handed new certificates to its workers" } else { "has these certificates already" };
        println!("server {} {what}", server.pid);
        return Ok(());
    }
    if args.timeout == 0 || server.socket.is_none() {
        tell(&server, "reload", Signal::USR1)?;
        println!("server {} is replacing its workers", server.pid);
        return Ok(());
    }
    server.ask_within("reload wait", Duration::from_secs(args.timeout.into()))?;
    println!("server {} has new workers", server.pid);
    Ok(())
}

/// Over the control socket; a server without one that we can reach gets the signal of the same meaning.
fn tell(server: &Server, command: &str, signal: Signal) -> Outcome<()> {
    if server.socket.is_some() {
        return server.ask(command).map(|_| ());
    }
    // A stale pid file may name another process: only a process that has the module mapped is signalled.
    let maps = fs::read_to_string(format!("/proc/{}/maps", server.pid)).unwrap_or_default();
    if !maps.lines().any(|line| line.ends_with("apus.so")) {
        return Err(Failure::new(Kind::NotRunning, format!("process {} is not an Apus server", server.pid))
            .advise("or it runs as another user: try sudo"));
    }
    server.signal(signal)
}

fn open(server: &Server) -> Outcome<OwnedFd> {
    let gone = || Failure::new(Kind::NotRunning, format!("no process {} is running", server.pid));
    let pid = Pid::from_raw(server.pid).ok_or_else(gone)?;
    pidfd_open(pid, PidfdFlags::empty()).map_err(|_| gone())
}

/// Waits until the process behind `handle` has ended; false when `within` passed first.
pub(crate) fn has_left(handle: &OwnedFd, within: Duration) -> Outcome<bool> {
    let deadline = Instant::now() + within;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Failure::failed(format!("waiting for the server: {errno}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_that_ends_is_noticed_and_one_that_stays_is_not() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("sleep");
        let server = Server { pid: child.id().cast_signed(), socket: None };
        let handle = open(&server).expect("a living process");
        assert!(!has_left(&handle, Duration::from_millis(1)).expect("poll"));
        assert_eq!(tell(&server, "stop", Signal::TERM).expect_err("not Apus").kind, Kind::NotRunning);
        child.kill().expect("kill");
        assert!(has_left(&handle, Duration::from_secs(20)).expect("poll"));
        child.wait().expect("wait");
    }
}
