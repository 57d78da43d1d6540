//! A server process of its own for each test, and ways to wait for it that are no sleeps.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::program::request;

/// How long anything that must happen may take on a loaded machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// What a server is started with.
pub(crate) struct Start {
    pub(crate) directory: PathBuf,
    settings: String,
    listen: String,
    passed: Option<TcpListener>,
    env: Vec<(&'static str, String)>,
}

pub(crate) fn server(settings: &str) -> Start {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("apus-supervise-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
    let directory = std::env::temp_dir().join(name);
    fs::create_dir_all(&directory).unwrap();
    // Workers of another user write there, too.
    fs::write(directory.join("events"), "").unwrap();
    fs::set_permissions(directory.join("events"), fs::Permissions::from_mode(0o666)).unwrap();
    Start { directory, settings: settings.to_owned(), listen: "127.0.0.1:0".to_owned(), passed: None, env: Vec::new() }
}

impl Start {
    pub(crate) fn listen(mut self, listen: &str) -> Self {
        listen.clone_into(&mut self.listen);
        self
    }

    pub(crate) fn set(mut self, settings: &str) -> Self {
        self.settings = format!("{};{settings}", self.settings);
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: String) -> Self {
        self.env.push((name, value));
        self
    }

    /// Hands over a listening socket as systemd does.
    pub(crate) fn pass(mut self, socket: TcpListener) -> Self {
        self.listen = socket.local_addr().unwrap().to_string();
        self.passed = Some(socket);
        self
    }

    /// Makes the workers of this directory's server fail, until [`mend`](Server::mend).
    pub(crate) fn flag(self, name: &str) -> Self {
        fs::write(self.directory.join(name), "").unwrap();
        self
    }

    pub(crate) fn spawn(self) -> Server {
        // The shell puts the descriptors in their places: a passed socket at 3, the ready pipe at 4.
        let mut command = Command::new("sh");
        command
            .args(["-c", "LISTEN_PID=$$ exec \"$0\" 3<&0 4>&1 0</dev/null 1>&2"])
            .arg(std::env::current_exe().unwrap());
        command.env_remove("LISTEN_FDS").env_remove("NOTIFY_SOCKET");
        command.env("TEST_SETTINGS", &self.settings).env("TEST_LISTEN", &self.listen).env("TEST_DIR", &self.directory);
        command.env("XDG_RUNTIME_DIR", &self.directory).env("APUS_READY_FD", "4").stdout(Stdio::piped());
        command.envs(self.env);
        match self.passed {
            Some(socket) => command.env("LISTEN_FDS", "1").stdin(Stdio::from(OwnedFd::from(socket))),
            None => command.stdin(Stdio::null()),
        };
        let log = fs::OpenOptions::new().append(true).create(true).open(self.directory.join("stderr")).unwrap();
        let mut child = command.stderr(log).spawn().unwrap();
        let ready = BufReader::new(child.stdout.take().unwrap());
        let pid = child.id();
        Server { child, pid, directory: self.directory, ready, addr: None, control: PathBuf::new() }
    }

    /// Starts and waits for the ready line.
    pub(crate) fn start(self) -> Server {
        self.spawn().wait_ready()
    }
}

pub(crate) struct Server {
    pub(crate) child: Child,
    /// The master's.
    pub(crate) pid: u32,
    pub(crate) directory: PathBuf,
    ready: BufReader<ChildStdout>,
    addr: Option<SocketAddr>,
    control: PathBuf,
}

impl Server {
    /// The next line of the ready descriptor.
    fn read_line(&mut self) -> Value {
        let deadline = PollTimeout::try_from(DEADLINE).unwrap();
        let mut fds = [PollFd::new(self.ready.get_ref().as_fd(), PollFlags::POLLIN)];
        assert!(!self.ready.buffer().is_empty() || poll(&mut fds, deadline) == Ok(1), "not ready in time");
        let mut line = String::new();
        self.ready.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("no ready line ({e}): {}", self.stderr()))
    }

    pub(crate) fn wait_ready(mut self) -> Self {
        let mut line = self.read_line();
        while line.get("failed").is_some() {
            line = self.read_line();
        }
        self.pid = u32::try_from(line["pid"].as_u64().unwrap()).unwrap();
        self.addr = line["listen"][0].as_str().unwrap().parse().ok();
        self.control = PathBuf::from(line["control"].as_str().unwrap());
        let mut rest = String::new();
        self.ready.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "the ready descriptor is closed after the line");
        self
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr.unwrap()
    }

    pub(crate) fn ask(&self, line: &str) -> String {
        request(self.addr(), line).unwrap_or_else(|e| panic!("{line}: {e}\n{}", self.stderr()))
    }

    /// Process id, generation and id of the worker that answers.
    pub(crate) fn who(&self) -> (u32, u32, u32) {
        let answer = self.ask("pid");
        let mut numbers = answer.split(' ').map(|n| n.parse().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap(), numbers.next().unwrap())
    }

    pub(crate) fn control(&self, line: &str) -> Value {
        let mut stream = UnixStream::connect(&self.control).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid, signal);
    }

    pub(crate) fn worker_pids(&self) -> Vec<u32> {
        let status = self.control("status");
        status["workers"].as_array().unwrap().iter().map(|w| w["pid"].as_u64().unwrap() as u32).collect()
    }

    pub(crate) fn mend(&self) {
        fs::remove_file(self.directory.join("broken")).unwrap();
    }

    pub(crate) fn spoil(&self) {
        fs::write(self.directory.join("broken"), "").unwrap();
    }

    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.directory.join("stderr")).unwrap_or_default()
    }

    pub(crate) fn events(&self) -> String {
        fs::read_to_string(self.directory.join("events")).unwrap_or_default()
    }

    /// Waits for the end of the process that was started.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        until("the server's end", || self.child.try_wait().unwrap())
    }

    /// Stops it and checks that it leaves nothing.
    pub(crate) fn stop(mut self) -> Self {
        self.signal(Signal::SIGTERM);
        let status = self.wait();
        assert!(status.success(), "{status}: {}", self.stderr());
        assert!(!self.control.exists(), "the control socket goes with the master");
        self
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of {}\n{}--- events\n{}", self.directory.display(), self.stderr(), self.events());
        }
        // Only while our child has not been waited for is its number surely its own.
        if let Ok(None) = self.child.try_wait() {
            send(self.child.id(), Signal::SIGINT);
            let _ = self.child.wait();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

pub(crate) fn send(pid: u32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid as i32), signal);
}

pub(crate) fn is_alive(pid: u32) -> bool {
    // A zombie is dead; only its parent has not looked yet.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Asks again and again until there is an answer; fails at the deadline. The pause bounds the CPU taken, nothing relies
/// on its length.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
