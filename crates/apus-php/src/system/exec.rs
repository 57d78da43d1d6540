//! Running shell commands.

use std::ffi::{OsString, c_int};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

use apus_zend::arg::Given;
use apus_zend::{Array, Raise, engine};
use rustix::process::{Pid, WaitStatus};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

use super::children::{Claim, parts};
use super::failure::{Noted, Text, code, waited};
use super::sys::kill;
use crate::runtime::State;

/// The most processes that are looked for when a command is ended early.
const FAMILY: usize = 1000;
/// Room that is made at once for a command's output.
const STEP: usize = 16 * 1024;

/// A command that runs. Dropped before its end, it is killed.
struct Running {
    pid: libc::pid_t,
    output: Receiver,
    claim: Option<Claim>,
}

impl Running {
    fn start(command: OsString, with_errors: bool) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command);
        if with_errors {
            shell.stderr(Stdio::from(writer.try_clone()?));
        }
        shell.stdout(Stdio::from(writer));
        let output = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let child = shell.spawn()?;
        let pid = Pid::from_child(&child);
        Ok(Self { pid: pid.as_raw_pid(), output, claim: Some(Claim::new(pid)) })
    }

    /// Reads what the command writes until it closes its output, then waits for its end.
    async fn finish(mut self, limit: usize) -> Result<(Vec<u8>, WaitStatus), c_int> {
        let mut bytes = Vec::new();
        loop {
            bytes.reserve(STEP);
            match self.output.read_buf(&mut bytes).await {
                Ok(0) => break,
                Ok(_) if bytes.len() > limit => return Err(libc::EFBIG),
                Ok(_) => {}
                Err(error) => return Err(code(&error)),
            }
        }
        let status = match &self.claim {
            Some(claim) => claim.ended().await?,
            None => return Err(libc::ECHILD),
        };
        self.claim = None;
        Ok((bytes, status))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(claim) = self.claim.take() else { return };
        end(self.pid);
        if let Some(state) = State::existing() {
            state.spawn(async move {
                let _ = claim.ended().await;
            });
        }
    }
}

/// Ends a process and those that came of it, as far as the kernel tells them.
fn end(pid: libc::pid_t) {
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(&pid) = family.get(next).filter(|_| family.len() < FAMILY) {
        next += 1;
        // A stopped process makes no children that this would miss.
        let _ = kill(pid, libc::SIGSTOP);
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        family.extend(children.split_whitespace().filter_map(|child| child.parse::<libc::pid_t>().ok()));
    }
    for pid in family {
        // Our child's id means nothing else before it is reaped.
        let _ = kill(pid, libc::SIGKILL);
    }
}

fn returned((output, status): &(Vec<u8>, WaitStatus)) -> Result<Array, Raise> {
    let (code, signal) = parts(*status);
    let mut array = Array::new(3)?;
    array.set_int(b"code", code)?;
    array.set_int(b"signal", signal)?;
    array.set_str(b"output", output)?;
    Ok(array)
}

/// Bytes that a command may print, unless the program says so: the default in the stub.
const MAX_OUTPUT: i64 = 64 << 20;

/// The same with the default limit of what is printed.
pub(crate) fn exec_whole(command: Text, with_errors: bool) -> Result<Noted<Array>, Raise> {
    exec(command, with_errors, Given { index: 2, value: MAX_OUTPUT })
}

/// `System::exec()`.
pub(super) fn exec(Text(command): Text, with_errors: bool, limit: Given<i64>) -> Result<Noted<Array>, Raise> {
    let command = OsString::from_vec(command.into_bytes());
    let Some(room) = usize::try_from(limit.value).ok().filter(|&room| room > 0) else {
        return Err(limit.must_be("at least 1 byte"));
    };
    let job = async move {
        let running = Running::start(command, with_errors).map_err(|error| code(&error))?;
        running.finish(room).await
    };
    let result = waited(&*State::get()?, "Coroutine\\System::exec()", None, job)?;
    if matches!(result, Err(libc::EFBIG)) {
        engine::warning(&format!(
            "Apus\\Coroutine\\System::exec(): the command was ended, for it printed more than {room} bytes: raise $max_output"
        ))?;
    }
    Ok(Noted(match result {
        Ok(result) => Ok(returned(&result)?),
        Err(code) => Err(code),
    }))
}
