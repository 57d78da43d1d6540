//! The server under test: a line in, a line out, one request a connection. Its workers are plain poll loops.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Run, Stdio};
use std::rc::Rc;
use std::time::Instant;

use apus_options::{Settings, Value};
use apus_process::{
    Ask, BindOptions, Command, Config, ConnHandle, Error, ListenAddr, Listener, MasterEvent, Outcome, Peer, Program,
    Role, Worker, WorkerState, bind, run,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The kind of messages that wants a connection closed.
const CLOSE: u8 = 1;

/// Runs the server as the environment says; the process's exit code.
pub(crate) fn main() -> i32 {
    match serve() {
        Ok(Outcome::Master(code) | Outcome::Worker(code)) => code,
        Err(error) => {
            eprintln!("{error}");
            70
        }
    }
}

fn serve() -> Result<Outcome, Error> {
    let mut settings = Settings::default();
    for pair in std::env::var("TEST_SETTINGS").unwrap().split(';').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap();
        settings.set(name, &Value::from(value)).unwrap();
    }
    let listen = std::env::var("TEST_LISTEN").unwrap();
    let addr = match listen.strip_prefix("unix:") {
        Some(path) => ListenAddr::Unix(PathBuf::from(path)),
        None => ListenAddr::Tcp(listen.parse().unwrap()),
    };
    let listeners = [bind(&addr, &BindOptions::from(&settings))?];
    let users = std::env::var("TEST_USERS").map_or(0, |count| count.parse().unwrap());
    let config = Config {
        settings: Rc::new(settings),
        access_logs: Vec::new(),
        title: "t".to_owned(),
        script: PathBuf::from("test.php"),
        users,
        plain_sessions: None,
        hasty: false,
        seat: false,
    };
    let directory = PathBuf::from(std::env::var_os("TEST_DIR").unwrap());
    let mut program = Lines { listeners: &listeners, directory, child: None };
    run(&config, &listeners, &mut program)
}

struct Lines<'a> {
    listeners: &'a [Listener],
    directory: PathBuf,
    /// A child of the program's own, started in the master: the master must not reap it.
    child: Option<Child>,
}

impl Lines<'_> {
    fn note(&self, text: &str) {
        note(&self.directory, text);
    }
}

fn note(directory: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(directory.join("events")).unwrap();
    file.write_all(format!("{text}\n").as_bytes()).unwrap();
}

impl Program for Lines<'_> {
    fn run_worker(&mut self, worker: Worker) -> i32 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        self.note(&format!("born {now}"));
        if self.directory.join("broken").exists() {
            return 9;
        }
        if self.directory.join("faulty").exists() {
            worker.faulted();
        }
        if let Role::User(index) = worker.role {
            return self.run_user(&worker, index);
        }
        if self.directory.join("churn").exists() {
            churn(&worker);
        }
        Serving::new(worker, &self.listeners[0], self.directory.clone()).run()
    }

    fn on_reaped(&mut self, slot: usize, role: Role) {
        self.note(&format!("reaped {role:?} of slot {slot}"));
    }

    fn on_event(&mut self, event: MasterEvent) {
        self.note(&format!("{event:?}"));
        match event {
            MasterEvent::Start => {
                let script = "grep SigBlk /proc/self/status; exit 7";
                self.child = Some(Run::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap());
            }
            MasterEvent::BeforeShutdown => {
                let output = self.child.take().unwrap().wait_with_output().unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                self.note(&format!("child {:?} {}", output.status.code(), text.split_whitespace().last().unwrap()));
            }
            _ => {}
        }
    }
}

impl Lines<'_> {
    /// Ends by itself when the file "leave" appears, and by TERM at the latest.
    fn run_user(&self, worker: &Worker, index: u16) -> i32 {
        worker.ready();
        self.note(&format!("user {index} id {} pid {}", worker.id, std::process::id()));
        while std::fs::remove_file(self.directory.join("leave")).is_err() {
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        0
    }
}

/// Enters and removes many connections while other workers do the same, and checks that each reads its own; leaves ten.
fn churn(worker: &Worker) {
    let mut held = std::collections::VecDeque::new();
    for n in 0..20_000u32 {
        let session = worker.next_session();
        let peer = Peer::Tcp(SocketAddr::from((n.to_be_bytes(), worker.id)));
        let handle = worker.insert_connection(session, peer, worker.id).unwrap();
        let entry = worker.connections.get(session).unwrap();
        assert_eq!((entry.peer, entry.server_port, entry.worker), (peer, worker.id, worker.id));
        held.push_back((session, handle));
        if held.len() > 50 {
            let (session, handle) = held.pop_front().unwrap();
            worker.remove_connection(handle);
            assert!(!worker.connections.contains(session));
        }
    }
    for (_, handle) in held.drain(10..) {
        worker.remove_connection(handle);
    }
    // Kept until the process dies: what a killed worker leaves behind.
    std::mem::forget(held);
}

enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

struct Conn {
    stream: File,
    session: i64,
    handle: Option<ConnHandle>,
    since: Instant,
    held: bool,
    done: bool,
}

struct Serving {
    worker: Worker,
    socket: Socket,
    conns: Vec<Conn>,
    draining: bool,
    directory: PathBuf,
}

impl Serving {
    fn new(worker: Worker, listener: &Listener, directory: PathBuf) -> Self {
        let fd = listener.fd.try_clone().unwrap();
        let socket = match listener.addr {
            ListenAddr::Tcp(_) => Socket::Tcp(TcpListener::from(fd)),
            ListenAddr::Unix(_) => Socket::Unix(UnixListener::from(fd)),
        };
        Self { worker, socket, conns: Vec::new(), draining: false, directory }
    }

    /// Notes what was left to this worker and what others wrote to it, and closes what they want closed.
    fn take_news(&mut self) {
        let orphans = self.worker.orphans.take();
        if !orphans.is_empty() {
            note(&self.directory, &format!("orphans {orphans:?}"));
        }
        let ipc = self.worker.ipc();
        ipc.clear_signal();
        while ipc.take(1000, |from, kind, payload| {
            let text = String::from_utf8_lossy(payload);
            if kind == CLOSE {
                let session: i64 = text.parse().unwrap();
                self.conns.iter_mut().filter(|conn| conn.session == session).for_each(|conn| conn.done = true);
            } else {
                note(&self.directory, &format!("ipc to {}: {kind} from slot {from}: {text}", self.worker.id));
            }
        }) {}
    }

    fn run(mut self) -> i32 {
        self.take_news();
        if self.worker.slot.state() == WorkerState::Starting {
            self.worker.ready();
        }
        while !self.draining || !self.conns.is_empty() {
            self.wait();
            for command in self.worker.take_commands() {
                match command {
                    Command::StopNow => return 0,
                    // It is given nothing.
                    Command::Renew => {}
                    Command::Drain => {
                        let stopping = self.worker.scoreboard.is_stopping();
                        note(&self.directory, &format!("drain {:?} stopping {stopping}", self.worker.role));
                        self.draining = true;
                        self.worker.draining();
                    }
                }
            }
            self.take_news();
            if !self.draining && self.worker.role == Role::Worker {
                self.accept();
            }
            for index in 0..self.conns.len() {
                self.step(index);
            }
            self.forget_done();
        }
        0
    }

    fn wait(&self) {
        let mut fds: Vec<PollFd<'_>> =
            self.conns.iter().map(|conn| PollFd::new(conn.stream.as_fd(), PollFlags::POLLIN)).collect();
        fds.push(PollFd::new(self.worker.ipc().fd(), PollFlags::POLLIN));
        if !self.worker.is_orphan() {
            fds.push(PollFd::new(self.worker.signal_fd(), PollFlags::POLLIN));
        }
        if !self.draining && self.worker.role == Role::Worker {
            let fd = match &self.socket {
                Socket::Tcp(socket) => socket.as_fd(),
                Socket::Unix(socket) => socket.as_fd(),
            };
            fds.push(PollFd::new(fd, PollFlags::POLLIN));
        }
        let _ = poll(&mut fds, PollTimeout::NONE);
    }

    fn accept(&mut self) {
        loop {
            let accepted = match &self.socket {
                Socket::Tcp(socket) => socket.accept().map(|(stream, addr)| {
                    stream.set_nonblocking(true).unwrap();
                    (OwnedFd::from(stream), Peer::Tcp(addr))
                }),
                Socket::Unix(socket) => socket.accept().map(|(stream, _)| {
                    stream.set_nonblocking(true).unwrap();
                    (OwnedFd::from(stream), Peer::Unix)
                }),
            };
            let Ok((fd, peer)) = accepted else { return };
            let session = self.worker.next_session();
            let handle = self.worker.insert_connection(session, peer, 0);
            self.worker.slot.accepted.add(1);
            self.worker.slot.connections.add(1);
            let stream = File::from(fd);
            self.conns.push(Conn { stream, session, handle, since: Instant::now(), held: false, done: false });
        }
    }

    fn forget_done(&mut self) {
        let (done, open) = std::mem::take(&mut self.conns).into_iter().partition(|conn| conn.done);
        self.conns = open;
        for conn in done {
            self.worker.slot.closed.add(1);
            self.worker.slot.connections.sub(1);
            conn.handle.into_iter().for_each(|handle| self.worker.remove_connection(handle));
        }
    }

    fn step(&mut self, index: usize) {
        let mut bytes = [0; 256];
        let read = self.conns[index].stream.read(&mut bytes);
        let line = match read {
            Ok(0) => {
                self.conns[index].done = true;
                return;
            }
            Ok(n) => String::from_utf8_lossy(&bytes[..n]).trim().to_owned(),
            Err(_) => return,
        };
        if line == "hold" {
            self.conns[index].held = true;
            return;
        }
        let answer = self.answer(&line, index);
        let conn = &mut self.conns[index];
        conn.done = true;
        let _ = conn.stream.write_all(format!("{answer}\n").as_bytes());
        let micros = conn.since.elapsed().as_micros() as u64;
        self.worker.count_request(micros, if line == "500" { 500 } else { 200 });
    }

    fn answer(&self, line: &str, index: usize) -> String {
        let worker = &self.worker;
        match line.split_once(' ').unwrap_or((line, "")) {
            ("pid", _) => format!("{} {} {}", std::process::id(), worker.generation, worker.id),
            ("die", code) => std::process::exit(code.parse().unwrap()),
            ("hang", _) => loop {
                std::thread::park();
            },
            ("recycle", _) => {
                worker.request_replacement();
                "ok".to_owned()
            }
            ("fault", _) => {
                worker.faulted();
                "ok".to_owned()
            }
            ("reload", "tasks") => worker.ask(Ask::ReloadTasks).to_string(),
            ("replace", id) => worker.ask(Ask::Replace(id.parse().unwrap())).to_string(),
            ("reload", _) => worker.ask(Ask::Reload).to_string(),
            ("stop", _) => worker.ask(Ask::Stop).to_string(),
            ("close", session) => {
                let holder = worker.connections.get(session.parse().unwrap()).unwrap().slot;
                worker.ipc().post(holder, CLOSE, &[session.as_bytes()]).is_ok().to_string()
            }
            ("post", rest) => {
                let (id, text) = rest.split_once(' ').unwrap();
                let slot = worker.slot_of_worker(id.parse().unwrap()).unwrap();
                format!("{:?} from slot {}", worker.ipc().post(slot, 7, &[text.as_bytes()]), worker.slot_index())
            }
            ("bind", hash) => {
                worker.users().add(hash.parse().unwrap());
                "ok".to_owned()
            }
            ("who", hash) => {
                let slots = worker.users().slots(hash.parse().unwrap());
                serde_json::to_string(&slots.collect::<Vec<_>>()).unwrap()
            }
            ("slot", _) => worker.slot_index().to_string(),
            ("sessions", _) => serde_json::to_string(&worker.connections.sessions(0, 10_000)).unwrap(),
            ("stats", _) => serde_json::to_string(&worker.scoreboard.snapshot()).unwrap(),
            ("status", _) => std::fs::read_to_string("/proc/self/status").unwrap().replace('\n', ";"),
            ("session", _) => self.conns[index].session.to_string(),
            (other, _) => format!("? {other}"),
        }
    }
}

/// For clients in the tests: one request.
pub(crate) fn request(addr: SocketAddr, line: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(addr)?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.is_empty() {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(answer.trim_end().to_owned())
}
