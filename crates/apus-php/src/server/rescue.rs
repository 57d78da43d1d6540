//! The sockets of a worker that the master is about to kill: see [`crate::rescue`].

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use apus_process::{Peer, Role, Worker};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::core::ServerCore;
use crate::rescue::Taker;

/// Connections that are looked at, at most.
const MOST: usize = 4096;

/// What the master takes them by.
pub(super) fn taker(core: &Rc<ServerCore>, master: &Rc<Worker>) -> Taker {
    let (core, master) = (Rc::downgrade(core), Rc::clone(master));
    Rc::new(move |pid| core.upgrade().map(|core| take(&core, &master, pid)).unwrap_or_default())
}

/// Copies of the sockets on which a worker speaks HTTP without TLS: what else it speaks, nobody can go on with.
fn take(core: &ServerCore, master: &Worker, pid: u32) -> Vec<(i64, OwnedFd)> {
    let is_worker = |id| master.scoreboard.role_counts().role(id) == Some(Role::Worker);
    let Some(slot) = master.scoreboard.live().find(|slot| slot.pid() == pid && is_worker(slot.id())) else {
        return Vec::new();
    };
    let plain: Vec<u16> = core.ports.borrow().iter().filter_map(|port| port.plain_http_port()).collect();
    let known: HashMap<SocketAddr, i64> = master
        .connections
        .sessions(0, MOST)
        .into_iter()
        .filter_map(|session| master.connections.get(session))
        .filter(|entry| entry.worker == slot.id() && !entry.websocket && plain.contains(&entry.server_port))
        .filter_map(|entry| match entry.peer {
            Peer::Tcp(peer) => Some((canonical(peer), entry.session)),
            Peer::Unix => None,
        })
        .collect();
    if known.is_empty() {
        return Vec::new();
    }
    // Not everybody may: a seccomp filter can stand in the way. Then the connections end with their worker.
    let opened = Pid::from_raw(pid.cast_signed()).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
    let Some(Ok(pidfd)) = opened else { return Vec::new() };
    let Ok(numbers) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let sockets = numbers.flatten().filter(|entry| {
        fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str().as_encoded_bytes().starts_with(b"socket:"))
    });
    let numbers = sockets.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.take(MOST).filter_map(|number| copy(&known, pidfd.as_fd(), number)).collect()
}

/// A copy of one descriptor, if it is a connection that is looked for.
fn copy(known: &HashMap<SocketAddr, i64>, process: std::os::fd::BorrowedFd<'_>, number: i32) -> Option<(i64, OwnedFd)> {
    let fd = pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()?;
    let peer = SocketAddr::try_from(rustix::net::getpeername(&fd).ok()??).ok()?;
    known.get(&canonical(peer)).map(|session| (*session, fd))
}

/// An IPv4 client of a socket of both families is told in two ways.
fn canonical(peer: SocketAddr) -> SocketAddr {
    let ip: IpAddr = peer.ip().to_canonical();
    SocketAddr::new(ip, peer.port())
}
