//! The floor: one thread, one epoll, one `read` and one `write` a request.
//!
//! It does what every contender does (the four routes of the benchmark) and nothing else: no limits, no
//! deadlines, no chunked bodies. What it costs is the kernel's share plus the least a parser needs, so every other
//! server is judged by its distance from it. Not a server to expose to anybody.

mod clock;
mod conn;
mod http;
mod routes;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::clock::Clock;
use crate::conn::{Conn, Next};
use crate::routes::Site;

/// Epoll token of the listening socket; connections use their slot number.
const LISTENER: u64 = u64::MAX;
/// Connections taken for one readiness event of the listener.
const ACCEPT_BATCH: usize = 16;
const BACKLOG: i32 = 4096;

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(port), Some(dir)) = (args.next().and_then(|p| p.parse().ok()), args.next()) else {
        eprintln!("usage: apus-bench-floor PORT DIRECTORY");
        std::process::exit(2);
    };
    Server::bind(port, dir.into())?.run()
}

struct Server {
    epoll: OwnedFd,
    listener: OwnedFd,
    slots: Vec<Option<Conn>>,
    free: Vec<usize>,
    site: Site,
    clock: Clock,
}

impl Server {
    fn bind(port: u16, dir: PathBuf) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let listener = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&listener, true)?;
        rustix::net::bind(&listener, &SocketAddr::from(([127, 0, 0, 1], port)))?;
        rustix::net::listen(&listener, BACKLOG)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Self { epoll, listener, slots: Vec::new(), free: Vec::new(), site: Site::new(dir), clock: Clock::new() })
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(1024);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.clock.tick();
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    slot => self.drive(slot as usize)?,
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        for _ in 0..ACCEPT_BATCH {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(&self.listener, flags) {
                Ok(socket) => self.insert(socket)?,
                Err(Errno::AGAIN) => break,
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn insert(&mut self, socket: OwnedFd) -> io::Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        epoll::add(&self.epoll, &socket, EventData::new_u64(slot as u64), EventFlags::IN)?;
        self.slots[slot] = Some(Conn::new(socket));
        Ok(())
    }

    /// Serves whatever the connection in `slot` is ready for. A slot closed earlier in the same batch is skipped.
    fn drive(&mut self, slot: usize) -> io::Result<()> {
        let Some(conn) = self.slots[slot].as_mut() else { return Ok(()) };
        let data = EventData::new_u64(slot as u64);
        match conn.drive(&self.site, &self.clock) {
            Next::Same => {}
            Next::Watch(flags) => epoll::modify(&self.epoll, conn.socket(), data, flags)?,
            Next::Close => {
                // Closing the descriptor takes it out of the epoll set.
                self.slots[slot] = None;
                self.free.push(slot);
            }
        }
        Ok(())
    }
}
