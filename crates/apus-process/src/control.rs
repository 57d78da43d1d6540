//! The control socket: `apus status`, `reload` and `stop` talk to the master here.
//!
//! A Unix socket in a directory that only its user can enter. One request is one line; one answer is one line of JSON.
//! The master serves it from its poll loop: nothing blocks, and what one client can take up is bounded.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::kill;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{Pid, Uid, geteuid};

use crate::listener::remove_stale;
use crate::owned_path::OwnedPath;

/// Clients at a time; further ones wait in the queue.
const MAX_CLIENTS: usize = 16;
/// Longest line of a client, in bytes.
const MAX_LINE: usize = 256;

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    Status,
    /// With true, the answer comes when the reload is over.
    Reload(bool),
    /// Read certificates anew.
    Renew,
    Stop,
    StopNow,
    Unknown(String),
}

impl Request {
    fn parse(line: &str) -> Self {
        match line {
            "status" => Self::Status,
            "reload" => Self::Reload(false),
            "reload wait" => Self::Reload(true),
            "reload certificates" => Self::Renew,
            "stop" => Self::Stop,
            "stop now" => Self::StopNow,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

/// Names a client as long as it is connected.
pub(crate) type ClientId = u64;

#[derive(Debug)]
struct Client {
    id: ClientId,
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Whether an answer is still being made (a reload is waited for); no further line is read before it.
    waiting: bool,
    /// Whether it will send no more; it still gets the answers to what it sent whole.
    ended: bool,
    gone: bool,
}

/// The socket and its clients.
#[derive(Debug)]
pub(crate) struct Control {
    listener: UnixListener,
    path: OwnedPath,
    clients: Vec<Client>,
    last_id: ClientId,
}

/// The directory of the control sockets: `$XDG_RUNTIME_DIR/apus`, else `/tmp/apus-<uid>`. A socket is called
/// `<master's pid>.sock`.
pub fn control_directory() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        Some(dir) => dir.join("apus"),
        None => PathBuf::from(format!("/tmp/apus-{}", geteuid())),
    }
}

impl Control {
    /// Binds the calling process's control socket in the directory, which is made when missing, and removes those of
    /// dead masters.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        secure(directory)?;
        sweep(directory);
        let path = directory.join(format!("{}.sock", std::process::id()));
        remove_stale(&path).map_err(io::Error::other)?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path: OwnedPath::new(&path)?, clients: Vec::new(), last_id: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        self.path.path()
    }

    /// What to poll for, in the order in which nothing is relied on.
    pub(crate) fn poll_fds<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        if self.clients.len() < MAX_CLIENTS {
            fds.push(PollFd::new(self.listener.as_fd(), PollFlags::POLLIN));
        }
        for client in &self.clients {
            fds.push(PollFd::new(client.stream.as_fd(), client.wanted()));
        }
    }

    /// Accepts, reads and writes what can be without waiting; the requests that came whole.
    pub(crate) fn step(&mut self) -> Vec<(ClientId, Request)> {
        self.accept();
        let mut requests = Vec::new();
        for client in &mut self.clients {
            client.flush();
            client.gone |= client.waiting && hung_up(client.stream.as_fd());
            if client.output.is_empty() && !client.waiting {
                client.read();
                if let Some(request) = client.next_request() {
                    requests.push((client.id, request));
                }
            }
        }
        self.clients.retain(|client| !client.gone);
        requests
    }

    /// Answers a client with one line; nothing happens when it is gone.
    pub(crate) fn answer(&mut self, id: ClientId, json: &str) {
        if let Some(client) = self.clients.iter_mut().find(|client| client.id == id) {
            client.waiting = false;
            client.output.extend_from_slice(json.as_bytes());
            client.output.push(b'\n');
            client.flush();
        }
    }

    /// Whether a whole line of some client is still unread: poll would not tell.
    pub(crate) fn has_more(&self) -> bool {
        self.clients.iter().any(|client| !client.waiting && client.output.is_empty() && client.input.contains(&b'\n'))
    }

    fn accept(&mut self) {
        while self.clients.len() < MAX_CLIENTS {
            let Ok((stream, _)) = self.listener.accept() else { return };
            if !may_command(stream.as_fd()) || stream.set_nonblocking(true).is_err() {
                continue;
            }
            self.last_id += 1;
            let (input, output) = (Vec::new(), Vec::new());
            self.clients.push(Client {
                id: self.last_id,
                stream,
                input,
                output,
                waiting: false,
                ended: false,
                gone: false,
            });
        }
    }
}

impl Client {
    /// What poll should report; a hang-up it reports always.
    fn wanted(&self) -> PollFlags {
        match (self.output.is_empty(), self.waiting || self.ended) {
            (false, _) => PollFlags::POLLOUT,
            (true, false) => PollFlags::POLLIN,
            (true, true) => PollFlags::empty(),
        }
    }

    /// Reads at least one whole line, if one is there. A client that ends, or sends none within the limit, is gone.
    fn read(&mut self) {
        let mut chunk = [0; MAX_LINE];
        while !self.ended && self.input.len() <= MAX_LINE {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.ended = true,
                Ok(n) => self.input.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.ended = true,
            }
        }
        self.gone |= !self.input.contains(&b'\n');
    }

    fn next_request(&mut self) -> Option<Request> {
        if self.waiting {
            return None;
        }
        let end = self.input.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.input.drain(..=end).collect();
        self.waiting = true;
        Some(Request::parse(String::from_utf8_lossy(&line).trim()))
    }

    fn flush(&mut self) {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(n) => drop(self.output.drain(..n)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.gone |= error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }
}

/// Makes the directory and checks that nobody else can put anything into it: /tmp is everybody's.
fn secure(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let meta = fs::symlink_metadata(directory)?;
    if !meta.is_dir() || meta.uid() != geteuid().as_raw() || meta.mode() & 0o077 != 0 {
        let text = format!("{} must be a directory of user {} with mode 0700", directory.display(), geteuid());
        return Err(io::Error::new(ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

/// Removes the sockets of masters that were killed. A living process's is left alone, even if nobody listens on it yet.
fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let pid = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".sock")?.parse::<i32>().ok());
        if pid.is_some_and(|pid| kill(Pid::from_raw(pid), None) == Err(nix::Error::ESRCH)) {
            let _ = remove_stale(&path);
        }
    }
}

/// Whether the peer has closed the connection altogether.
fn hung_up(stream: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// The directory's mode keeps others out; this holds should it be changed.
fn may_command(stream: BorrowedFd<'_>) -> bool {
    getsockopt(&stream, PeerCredentials).is_ok_and(|peer| peer.uid() == 0 || Uid::from_raw(peer.uid()) == geteuid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    fn control(name: &str) -> (Control, PathBuf) {
        let directory = std::env::temp_dir().join(format!("apus-control-{}-{name}", std::process::id()));
        (Control::open(&directory).unwrap(), directory)
    }

    #[test]
    fn lines_come_one_by_one_and_answers_go_back() {
        let (mut control, directory) = control("lines");
        let mut client = UnixStream::connect(control.path()).unwrap();
        client.write_all(b"status\nreload wait\nsto").unwrap();
        let requests = control.step();
        assert!(matches!(requests[..], [(1, Request::Status)]), "{requests:?}");
        assert!(control.step().is_empty(), "the first is not answered yet");
        control.answer(1, "{\"a\":1}");
        assert!(control.has_more());
        assert_eq!(control.step(), [(1, Request::Reload(true))]);
        control.answer(1, "{}");
        client.write_all(b"p now\nnonsense\n").unwrap();
        assert_eq!(control.step(), [(1, Request::StopNow)]);
        control.answer(1, "{}");
        assert_eq!(control.step(), [(1, Request::Unknown("nonsense".to_owned()))]);
        let mut reader = BufReader::new(client);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "{\"a\":1}\n");
        drop(control);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir(directory).unwrap();
    }

    #[test]
    fn endless_lines_and_crowds_are_cut_off() {
        let (mut control, directory) = control("crowd");
        let mut client = UnixStream::connect(control.path()).unwrap();
        client.write_all(&[b'x'; 4096]).unwrap();
        assert!(control.step().is_empty() && control.clients.is_empty());
        let crowd: Vec<_> = (0..MAX_CLIENTS + 5).map(|_| UnixStream::connect(control.path()).unwrap()).collect();
        control.step();
        assert_eq!(control.clients.len(), MAX_CLIENTS);
        drop(crowd);
        // Those gone make room for those that waited, who are gone too.
        control.step();
        control.step();
        assert!(control.clients.is_empty());
        drop(control);
        fs::remove_dir(directory).unwrap();
    }

    #[test]
    fn a_directory_open_to_others_is_refused_and_dead_sockets_are_swept() {
        let directory = std::env::temp_dir().join(format!("apus-control-{}-open", std::process::id()));
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        assert!(Control::open(&directory).unwrap_err().to_string().contains("0700"));
        fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
        // No process has the greatest number; process 1 is always there.
        for name in ["2147483647.sock", "1.sock", "0.sock"] {
            drop(UnixListener::bind(directory.join(name)).unwrap());
        }
        let control = Control::open(&directory).unwrap();
        assert!(!directory.join("2147483647.sock").exists());
        for name in ["1.sock", "0.sock"] {
            fs::remove_file(directory.join(name)).unwrap();
        }
        drop(control);
        fs::remove_dir(directory).unwrap();
    }
}
