//! Talks to running servers over their control sockets: one Unix socket a master, `<pid>.sock`, one line asked, one
//! answered.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process, test_kill_process};
use serde_json::Value;

use crate::cli::Target;
use crate::failure::{Failure, Kind, Outcome};

/// A master answers from its poll loop; longer than this means it is stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes; a status line of thousands of workers stays far below.
const LONGEST_ANSWER: u64 = 16 << 20;

/// A master process, and the socket it listens on where it has one we may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) pid: i32,
    pub(crate) socket: Option<PathBuf>,
}

impl Server {
    /// Sends one command, returns the JSON it answers at once.
    pub(crate) fn ask(&self, command: &str) -> Outcome<Value> {
        self.ask_within(command, ANSWER_TIMEOUT)
    }

    /// Sends one command, returns the JSON it answers when it has done it.
    pub(crate) fn ask_within(&self, command: &str, timeout: Duration) -> Outcome<Value> {
        let line = self.ask_line(command, timeout)?;
        let answer: Value = serde_json::from_str(&line).map_err(|_| {
            Failure::failed(format!("server {} answered what is not JSON: {}", self.pid, shorten(&line)))
        })?;
        if answer.get("ok") == Some(&Value::Bool(false)) {
            let why = answer.get("error").and_then(Value::as_str).unwrap_or("no reason given");
            return Err(Failure::failed(format!("server {} refused `{command}`: {why}", self.pid)));
        }
        Ok(answer)
    }

    /// Sends one command, returns the line as it came.
    fn ask_line(&self, command: &str, timeout: Duration) -> Outcome<String> {
        let Some(socket) = &self.socket else {
            return Err(Failure::failed(format!("process {} has no control socket", self.pid))
                .advise("it is no Apus server, or it runs as another user: try sudo"));
        };
        exchange(socket, command, timeout).map_err(|error| {
            let timed_out = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
            let why = if timed_out { format!("no answer within {} s", timeout.as_secs()) } else { error.to_string() };
            Failure::failed(format!("server {}: {why} ({})", self.pid, socket.display()))
        })
    }

    /// Sends a signal: what is left for a master whose control socket cannot be reached.
    pub(crate) fn signal(&self, signal: Signal) -> Outcome<()> {
        let failed = |why: String| Failure::failed(format!("process {}: {why}", self.pid));
        let pid = Pid::from_raw(self.pid).ok_or_else(|| failed("not a process id".into()))?;
        kill_process(pid, signal).map_err(|errno| failed(errno.to_string()))
    }

    /// Whether the server still takes connections on its control socket.
    pub(crate) fn answers(&self) -> bool {
        self.socket.as_ref().is_some_and(|socket| UnixStream::connect(socket).is_ok())
    }

    fn alive(&self) -> bool {
        Pid::from_raw(self.pid).is_some_and(|pid| {
            // EPERM: it is there, and somebody else's.
            matches!(test_kill_process(pid), Ok(()) | Err(rustix::io::Errno::PERM))
        })
    }
}

fn exchange(socket: &Path, command: &str, timeout: Duration) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(format!("{command}\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_ANSWER)).read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection before it answered"));
    }
    Ok(line.trim_end().to_owned())
}

fn shorten(line: &str) -> String {
    line.chars().take(80).collect()
}

/// Where servers of this user put their control sockets; for root, those of every user, too.
pub(crate) fn directories() -> Vec<PathBuf> {
    let uid = geteuid();
    let mut found = Vec::new();
    if let Some(runtime) = env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty()) {
        found.push(PathBuf::from(runtime).join("apus"));
    }
    found.push(format!("/run/user/{}/apus", uid.as_raw()).into());
    found.push(format!("/tmp/apus-{}", uid.as_raw()).into());
    // The unit that `apus new` writes has RuntimeDirectory=NAME and XDG_RUNTIME_DIR=/run/NAME.
    found.extend(children(Path::new("/run")).into_iter().map(|unit| unit.join("apus")));
    if uid.is_root() {
        found.extend(children(Path::new("/run/user")).into_iter().map(|user| user.join("apus")));
        let of_a_user = |dir: &PathBuf| dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("apus-"));
        found.extend(children(Path::new("/tmp")).into_iter().filter(of_a_user));
    }
    let mut unique: Vec<PathBuf> = Vec::new();
    for dir in found {
        if !unique.contains(&dir) && trusted(&dir, uid.as_raw()) {
            unique.push(dir);
        }
    }
    unique
}

/// A directory that somebody else could have made under our name is not believed; root reads anybody's.
fn trusted(dir: &Path, uid: u32) -> bool {
    fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir() && (uid == 0 || meta.uid() == uid || meta.uid() == 0))
}

fn children(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

/// Every socket named `<pid>.sock` whose process lives and on which somebody listens, by process id.
pub(crate) fn running(directories: &[PathBuf]) -> Vec<Server> {
    let mut servers: Vec<Server> = directories
        .iter()
        .flat_map(|dir| children(dir))
        .filter_map(|socket| {
            let pid = socket.file_name()?.to_str()?.strip_suffix(".sock")?.parse().ok().filter(|pid| *pid > 0)?;
            Some(Server { pid, socket: Some(socket) })
        })
        // The second test tells a server from another process that got the id of one that was killed.
        .filter(|server| server.alive() && server.answers())
        .collect();
    servers.sort_by_key(|server| server.pid);
    servers.dedup_by_key(|server| server.pid);
    servers
}

/// The one server that `target` names.
pub(crate) fn select(target: &Target, directories: &[PathBuf]) -> Outcome<Server> {
    if let Some(pid) = target.pid {
        return by_pid(pid, directories);
    }
    if let Some(file) = &target.pid_file {
        return by_pid(read_pid_file(file)?, directories);
    }
    let servers = running(directories);
    match &target.file {
        Some(file) => by_script(file, servers),
        None => by_directory(&env::current_dir().unwrap_or_default(), servers),
    }
}

fn by_pid(pid: i32, directories: &[PathBuf]) -> Outcome<Server> {
    if let Some(server) = running(directories).into_iter().find(|server| server.pid == pid) {
        return Ok(server);
    }
    let server = Server { pid, socket: None };
    if server.alive() {
        Ok(server)
    } else {
        Err(Failure::new(Kind::NotRunning, format!("no process {pid} is running")))
    }
}

fn read_pid_file(file: &Path) -> Outcome<i32> {
    let text = fs::read_to_string(file).map_err(|error| {
        let kind = if error.kind() == io::ErrorKind::NotFound { Kind::NotRunning } else { Kind::Failed };
        Failure::new(kind, format!("{}: {error}", file.display()))
    })?;
    let pid = text.trim().parse().ok().filter(|pid: &i32| *pid > 0);
    pid.ok_or_else(|| Failure::failed(format!("{} holds no process id", file.display())))
}

fn by_script(file: &Path, servers: Vec<Server>) -> Outcome<Server> {
    let wanted = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let runs_it = |server: &Server| script_of(server).is_some_and(|script| script == wanted);
    let fitting: Vec<Server> = servers.into_iter().filter(runs_it).collect();
    let name = file.display();
    the_only(fitting, &format!("no server runs {name}"), &format!("several servers run {name}"))
}

/// The server of this directory where it has exactly one, whatever runs elsewhere; else the only one that runs.
fn by_directory(directory: &Path, servers: Vec<Server>) -> Outcome<Server> {
    let mut here: Vec<usize> = (0..servers.len()).filter(|&index| belongs(&servers[index], directory)).collect();
    let (Some(index), true) = (here.pop(), here.is_empty()) else {
        return the_only(servers, "no server is running", "several servers are running");
    };
    servers.into_iter().nth(index).ok_or_else(|| Failure::new(Kind::NotRunning, "no server is running"))
}

/// Whether a server was started in a directory, or its script lies there.
fn belongs(server: &Server, directory: &Path) -> bool {
    let started_in = fs::read_link(format!("/proc/{}/cwd", server.pid)).is_ok_and(|cwd| cwd == directory);
    started_in || script_of(server).is_some_and(|script| script.parent() == Some(directory))
}

fn the_only(mut servers: Vec<Server>, none: &str, several: &str) -> Outcome<Server> {
    match servers.len() {
        0 => Err(Failure::new(Kind::NotRunning, none).advise("apus start -d FILE starts one")),
        1 => Ok(servers.remove(0)),
        _ => {
            let lines: Vec<String> = servers.iter().map(describe).collect();
            Err(Failure::new(Kind::Several, several).advise(format!("{}\nname one with --pid", lines.join("\n"))))
        }
    }
}

/// The script a server says it runs, as a real path.
fn script_of(server: &Server) -> Option<PathBuf> {
    let status = server.ask("status").ok()?;
    let script = PathBuf::from(status.get("script")?.as_str()?);
    Some(fs::canonicalize(&script).unwrap_or(script))
}

fn describe(server: &Server) -> String {
    let script =
        script_of(server).map_or_else(|| "(does not answer)".to_owned(), |script| script.display().to_string());
    format!("--pid {:<8} {script}", server.pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_sockets_named_by_a_living_process_count() {
        let scratch = Folder::new("running");
        let own = i32::try_from(std::process::id()).expect("a pid");
        // 2147483646 lies above the kernel's largest pid_max: no process has it. 1 lives, and left no listener here.
        let names = ["0.sock", "-3.sock", "x.sock", "2147483646.sock"].map(str::to_owned);
        let listeners: Vec<UnixListener> = [format!("{own}.sock"), format!("{own}.pid")]
            .iter()
            .chain(&names)
            .map(|name| UnixListener::bind(scratch.path().join(name)).expect("a socket"))
            .collect();
        scratch.write("1.sock", "");
        let servers = running(&[scratch.path().to_owned()]);
        assert_eq!(servers.iter().map(|server| server.pid).collect::<Vec<_>>(), [own]);
        drop(listeners);
    }

    #[test]
    fn none_running_has_its_own_exit_code() {
        let failure = select(&Target::default(), &[]).expect_err("none");
        assert_eq!(failure.kind, Kind::NotRunning);
    }

    #[test]
    fn a_pid_file_must_hold_a_pid() {
        let scratch = Folder::new("pidfile");
        let file = scratch.write("apus.pid", "what\n");
        let target = Target { pid_file: Some(file), ..Target::default() };
        assert_eq!(select(&target, &[]).expect_err("no pid").kind, Kind::Failed);
        let target = Target { pid_file: Some("/nowhere.pid".into()), ..Target::default() };
        assert_eq!(select(&target, &[]).expect_err("no file").kind, Kind::NotRunning);
    }

    #[test]
    fn a_pid_without_a_socket_is_still_a_process() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        let target = Target { pid: Some(own), ..Target::default() };
        let server = select(&target, &[]).expect("this process");
        assert_eq!(server, Server { pid: own, socket: None });
        assert!(server.ask("status").is_err());
    }

    #[test]
    fn a_symlink_in_place_of_the_directory_is_not_believed() {
        let scratch = Folder::new("trusted");
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink(scratch.path(), &link).expect("symlink");
        assert!(trusted(scratch.path(), 0));
        assert!(!trusted(&link, 0));
    }
}
