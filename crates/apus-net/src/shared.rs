//! A listening socket that other processes have, too, and in which order they are told of connections.
//!
//! The runtime registers a descriptor so that a connection wakes every process that waits for one. Here each process
//! stands in one line at the socket (`EPOLLEXCLUSIVE`): a connection wakes the first one that waits for events, and
//! whoever is at work is passed over. The line does not move by itself: who took a connection and has its share goes
//! [behind](SharedSocket::go_behind) the others.
//!
//! The runtime has no such registration, so its own is replaced: the same epoll instance, the same word of data, which
//! the runtime alone understands. Both are found where the kernel shows them (`/proc/self/fdinfo`,
//! `proc_pid_fdinfo(5)`). Where that cannot be read the runtime's registration stays, and every process is woken.
//!
//! A process in the line that does not mean to accept would keep a connection from the others: it [leaves](
//! SharedSocket::leave) the line before it waits.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use socket2::Socket;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

use crate::sys;

/// A place in the lines of epoll instances: the instance's descriptor and the word that comes with events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    epoll: RawFd,
    data: u64,
}

/// The socket, registered with this thread's runtime.
pub(crate) struct SharedSocket {
    fd: AsyncFd<Socket>,
    place: Option<Place>,
    in_line: Cell<bool>,
}

impl SharedSocket {
    pub(crate) fn register(socket: Socket) -> io::Result<Self> {
        let before = places(socket.as_raw_fd());
        let fd = sys::register(socket)?;
        let after = places(fd.as_raw_fd());
        // The runtime has several descriptors for its one instance.
        let mut new = after.difference(&before).copied();
        let place = new.next().filter(|place| new.all(|other| other.data == place.data));
        let shared = Self { fd, place, in_line: Cell::new(true) };
        shared.go_behind()?;
        Ok(shared)
    }

    pub(crate) fn socket(&self) -> &Socket {
        self.fd.get_ref()
    }

    /// Ready when a connection waits, or did.
    pub(crate) async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, Socket>> {
        self.fd.readable().await
    }

    /// Whether the kernel tells of connections again as long as some wait, and not only when one comes.
    pub(crate) fn is_told_again(&self) -> bool {
        self.place.is_some()
    }

    /// Lets all others who wait have connections first.
    pub(crate) fn go_behind(&self) -> io::Result<()> {
        self.leave();
        self.enter()
    }

    /// Has no more connections offered.
    pub(crate) fn leave(&self) {
        if let Some(place) = self.place
            && self.in_line.replace(false)
        {
            // It fails where it is not registered, which is what is wanted.
            let _ = sys::epoll_leave(place.epoll, self.fd.as_raw_fd());
        }
    }

    /// Has connections offered again, after all others who wait, those that wait already among them.
    pub(crate) fn enter(&self) -> io::Result<()> {
        if let Some(place) = self.place
            && !self.in_line.get()
        {
            sys::epoll_enter(place.epoll, self.fd.as_raw_fd(), place.data)?;
            self.in_line.set(true);
        }
        Ok(())
    }
}

impl Drop for SharedSocket {
    fn drop(&mut self) {
        // The runtime keeps what belongs to a descriptor that it cannot take out.
        let _ = self.enter();
    }
}

/// Where epoll instances of this process watch what they know by this number.
fn places(fd: RawFd) -> BTreeSet<Place> {
    let Ok(known) = fs::read_dir("/proc/self/fdinfo") else { return BTreeSet::new() };
    known
        .flatten()
        .filter_map(|entry| {
            let epoll = entry.file_name().to_str()?.parse().ok()?;
            Some((epoll, fs::read_to_string(entry.path()).ok()?))
        })
        .flat_map(|(epoll, shown)| watched(&shown, fd).map(|data| Place { epoll, data }).collect::<Vec<_>>())
        .collect()
}

/// The words of data under which an epoll instance watches a descriptor.
fn watched(shown: &str, fd: RawFd) -> impl Iterator<Item = u64> {
    shown.lines().filter_map(move |line| {
        let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
        let is_it = words.next()?.parse() == Ok(fd);
        let data = words.skip_while(|word| *word != "data:").nth(1)?;
        u64::from_str_radix(data, 16).ok().filter(|_| is_it)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_shows_of_an_epoll_instance_is_read() {
        let shown = "pos:\t0\nflags:\t02\nmnt_id:\t17\n\
                     tfd:       12 events: 80002019 data:     7f01a0b0c0d0  pos:0 ino:21 sdev:9\n\
                     tfd:        1 events:       19 data: ffffffffffffffff  pos:0 ino:21 sdev:9\ntfd: 12\n";
        assert_eq!(watched(shown, 12).collect::<Vec<_>>(), [0x7f01_a0b0_c0d0]);
        assert_eq!(watched(shown, 1).collect::<Vec<_>>(), [u64::MAX]);
        assert_eq!(watched(shown, 2).count() + watched("", 0).count(), 0);
    }
}
