//! The floor: one thread, one epoll, one `read` and one `write` a message. It does what every contender does and
//! nothing else: no limits, no deadlines, no fragments. Not a server to expose to anybody.
//!
//! With more than one process each has its own listening socket on the port (`SO_REUSEPORT`); a broadcast goes from one
//! process to the others as a line through the pipes of standard input and output. So does a message that one of two
//! processes pushes to a connection of the other: a write, a wake-up and a read, the least that it takes.

use std::io::{self, Read, Write};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::args::Options;
use crate::engine::now;
use crate::wire;

const LISTENER: u64 = u64::MAX;
/// From here on upwards: the pipes to the other processes; connections use their slot number.
const PIPES: u64 = 1 << 32;
const ACCEPT_BATCH: usize = 16;
const BACKLOG: i32 = 4096;
const READ_ROOM: usize = 64 << 10;

struct Client {
    socket: OwnedFd,
    upgraded: bool,
    input: Vec<u8>,
    output: Vec<u8>,
}

struct Floor {
    epoll: OwnedFd,
    listener: OwnedFd,
    clients: Vec<Option<Client>>,
    free: Vec<usize>,
    children: Vec<Child>,
    /// Which of the processes this is.
    number: usize,
    relay: Relay,
    buffer: Vec<u8>,
    out: Vec<u8>,
}

/// Parts of lines that came from the other processes, one for each pipe.
#[derive(Default)]
struct Relay {
    /// Whether this process was started by another one.
    child: bool,
    parts: Vec<Vec<u8>>,
}

pub fn run(options: &Options) -> io::Result<()> {
    let mut floor = Floor::bind(options)?;
    let mut ready: Vec<Event> = Vec::with_capacity(1024);
    loop {
        ready.clear();
        match epoll::wait(&floor.epoll, rustix::buffer::spare_capacity(&mut ready), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &ready {
            match event.data.u64() {
                LISTENER => floor.accept()?,
                pipe if pipe >= PIPES => floor.relayed((pipe - PIPES) as usize)?,
                slot => floor.drive(slot as usize),
            }
        }
    }
}

impl Floor {
    fn bind(options: &Options) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let listener = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&listener, true)?;
        sockopt::set_socket_reuseport(&listener, true)?;
        rustix::net::bind(&listener, &SocketAddrV4::new(options.host.into(), options.port))?;
        rustix::net::listen(&listener, BACKLOG)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let mut floor = Self {
            epoll,
            listener,
            clients: Vec::new(),
            free: Vec::new(),
            children: Vec::new(),
            number: options.share.unwrap_or(0),
            relay: Relay { child: options.share.is_some(), parts: Vec::new() },
            buffer: vec![0; READ_ROOM],
            out: Vec::new(),
        };
        floor.join(options)?;
        Ok(floor)
    }

    /// Starts the other processes, or as one of them watches the pipe to the first.
    fn join(&mut self, options: &Options) -> io::Result<()> {
        if self.relay.child {
            self.relay.parts.push(Vec::new());
            epoll::add(&self.epoll, rustix::stdio::stdin(), EventData::new_u64(PIPES), EventFlags::IN)?;
            return Ok(());
        }
        for share in 1..options.processes {
            let child = Command::new(std::env::current_exe()?)
                .args(options.words(share))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let token = EventData::new_u64(PIPES + self.children.len() as u64);
            if let Some(stdout) = &child.stdout {
                epoll::add(&self.epoll, stdout, token, EventFlags::IN)?;
            }
            self.relay.parts.push(Vec::new());
            self.children.push(child);
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        for _ in 0..ACCEPT_BATCH {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = match rustix::net::accept_with(&self.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => break,
                Err(Errno::CONNABORTED | Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            sockopt::set_tcp_nodelay(&socket, true)?;
            let slot = self.free.pop().unwrap_or_else(|| {
                self.clients.push(None);
                self.clients.len() - 1
            });
            let flags = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
            epoll::add(&self.epoll, &socket, EventData::new_u64(slot as u64), flags)?;
            let (input, output) = (Vec::new(), Vec::new());
            self.clients[slot] = Some(Client { socket, upgraded: false, input, output });
        }
        Ok(())
    }

    fn drive(&mut self, slot: usize) {
        let Some(client) = &mut self.clients[slot] else { return };
        let mut shouts = Vec::new();
        let alive = client.flush() && client.read(&mut self.buffer, &mut self.out, &mut shouts);
        if !alive {
            self.clients[slot] = None;
            self.free.push(slot);
        }
        for shout in shouts {
            match shout[0] {
                b'w' => self.send_to(slot, format!("w:{}:{slot}", self.number).as_bytes()),
                b'p' => self.push(slot, &shout),
                _ => {
                    self.broadcast(&shout);
                    self.tell_others(&shout, None);
                }
            }
        }
    }

    fn send_to(&mut self, slot: usize, payload: &[u8]) {
        let mut frame = Vec::with_capacity(payload.len() + 10);
        wire::put(wire::TEXT, payload, None, &mut frame);
        if let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) {
            // One that is gone shows when it is read next.
            let _ = client.send(&frame);
        }
    }

    /// `p:FD:COUNT:GAP`, as in `push.rs`; the connection is the other process's.
    fn push(&mut self, slot: usize, order: &[u8]) {
        let numbers = order.split(|byte| *byte == b':').skip(1);
        let numbers: Vec<u64> = numbers.filter_map(|word| String::from_utf8_lossy(word).parse().ok()).collect();
        let [fd, count, gap] = numbers[..] else { return };
        let begun = now();
        let mut next = begun;
        for _ in 0..count {
            let mut at = now();
            while at < next {
                at = now();
            }
            next += gap;
            self.tell_others(format!("@{fd}:{at:020}").as_bytes(), None);
        }
        self.send_to(slot, format!("p:{count}:{}", now() - begun).as_bytes());
    }

    fn broadcast(&mut self, payload: &[u8]) {
        let mut frame = Vec::with_capacity(payload.len() + 10);
        wire::put(wire::TEXT, payload, None, &mut frame);
        for client in self.clients.iter_mut().flatten().filter(|client| client.upgraded) {
            // One that is gone shows when it is read next.
            let _ = client.send(&frame);
        }
    }

    /// A line of another process: to our clients, and from the first process to all the others.
    fn relayed(&mut self, pipe: usize) -> io::Result<()> {
        let mut chunk = [0; 4096];
        let count = if self.relay.child {
            rustix::io::read(rustix::stdio::stdin(), &mut chunk)?
        } else {
            self.children[pipe].stdout.as_mut().map_or(Ok(0), |stdout| stdout.read(&mut chunk))?
        };
        if count == 0 {
            std::process::exit(0);
        }
        self.relay.parts[pipe].extend_from_slice(&chunk[..count]);
        while let Some(end) = self.relay.parts[pipe].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.relay.parts[pipe].drain(..=end).collect();
            if line[0] == b'@' {
                let at = line.iter().position(|byte| *byte == b':').unwrap_or(end);
                if let Ok(slot) = String::from_utf8_lossy(&line[1..at]).parse() {
                    self.send_to(slot, &line[at + 1..end]);
                }
                continue;
            }
            self.broadcast(&line[..end]);
            if !self.relay.child {
                self.tell_others(&line[..end], Some(pipe));
            }
        }
        Ok(())
    }

    fn tell_others(&mut self, payload: &[u8], except: Option<usize>) {
        let line = [payload, b"\n"].concat();
        if self.relay.child {
            // The first process is gone: this one ends with its standard input.
            let _ = io::stdout().lock().write_all(&line).and_then(|()| io::stdout().flush());
        }
        for (index, child) in self.children.iter_mut().enumerate().filter(|(index, _)| Some(*index) != except) {
            if let Some(Err(error)) = child.stdin.as_mut().map(|stdin| stdin.write_all(&line)) {
                eprintln!("process {}: {error}", index + 1);
            }
        }
    }
}

impl Client {
    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// False when the connection is gone.
    fn send(&mut self, bytes: &[u8]) -> bool {
        let mut sent = 0;
        if self.output.is_empty() {
            match rustix::io::write(self.fd(), bytes) {
                Ok(count) => sent = count,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        self.output.extend_from_slice(&bytes[sent..]);
        true
    }

    fn flush(&mut self) -> bool {
        if self.output.is_empty() {
            return true;
        }
        let waiting = std::mem::take(&mut self.output);
        self.send(&waiting)
    }

    fn read(&mut self, buffer: &mut [u8], out: &mut Vec<u8>, shouts: &mut Vec<Vec<u8>>) -> bool {
        loop {
            let count = match rustix::io::read(self.fd(), &mut *buffer) {
                Ok(0) => return false,
                Ok(count) => count,
                Err(Errno::AGAIN) => return true,
                Err(Errno::INTR) => continue,
                Err(_) => return false,
            };
            out.clear();
            let parsed = if self.input.is_empty() {
                let bytes = &mut buffer[..count];
                self.parse(bytes, out, shouts).map(|used| self.input.extend_from_slice(&bytes[used..]))
            } else {
                let mut whole = std::mem::take(&mut self.input);
                whole.extend_from_slice(&buffer[..count]);
                self.parse(&mut whole, out, shouts).map(|used| self.input = whole.split_off(used))
            };
            if parsed.is_none() || (!out.is_empty() && !self.send(out)) {
                return false;
            }
            if count < buffer.len() {
                return true;
            }
        }
    }

    /// Answers everything that is whole; none where the connection must end.
    fn parse(&mut self, bytes: &mut [u8], out: &mut Vec<u8>, shouts: &mut Vec<Vec<u8>>) -> Option<usize> {
        let mut used = 0;
        if !self.upgraded {
            let Some(length) = wire::head_length(bytes) else { return Some(0) };
            let key = wire::field(&bytes[..length], "Sec-WebSocket-Key")?;
            out.extend_from_slice(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
            );
            out.extend_from_slice(&wire::accept(key));
            out.extend_from_slice(b"\r\n\r\n");
            self.upgraded = true;
            used = length;
        }
        while let Some(frame) = wire::parse(&bytes[used..]).ok()? {
            let payload = &mut bytes[used + frame.start..used + frame.end];
            used += frame.end;
            wire::apply(frame.mask?, payload);
            match frame.opcode {
                wire::TEXT if payload == b"w" || payload.starts_with(b"b:") || payload.starts_with(b"p:") => shouts.push(payload.to_vec()),
                wire::TEXT | wire::BINARY => wire::put(frame.opcode, payload, None, out),
                wire::PING => wire::put(wire::PONG, payload, None, out),
                wire::PONG => {}
                _ => return None,
            }
        }
        Some(used)
    }
}
