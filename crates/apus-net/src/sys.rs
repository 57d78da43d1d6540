//! The system calls that no safe wrapper offers. The only file of this crate with `unsafe`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use socket2::{SockAddr, Socket};
use tokio::io::unix::AsyncFd;

/// Registers the socket with this thread's runtime, for reading and writing.
pub(crate) fn register(socket: Socket) -> io::Result<AsyncFd<Socket>> {
    // SAFETY: it owns its descriptor, closes it only when dropped, and nothing here replaces or duplicates it while the
    // `AsyncFd` owns it (only shared references are handed out).
    unsafe { AsyncFd::register(socket) }.map_err(Into::into)
}

/// Has an epoll instance tell of a descriptor that can be read, as long as it can, where no other process that waits
/// for the same file is told.
pub(crate) fn epoll_enter(epoll: RawFd, fd: RawFd, data: u64) -> io::Result<()> {
    epoll_change(epoll, libc::EPOLL_CTL_ADD, fd, data)
}

/// Has an epoll instance tell of a descriptor no more.
pub(crate) fn epoll_leave(epoll: RawFd, fd: RawFd) -> io::Result<()> {
    epoll_change(epoll, libc::EPOLL_CTL_DEL, fd, 0)
}

fn epoll_change(epoll: RawFd, change: libc::c_int, fd: RawFd, data: u64) -> io::Result<()> {
    let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLEXCLUSIVE) as u32, u64: data };
    // SAFETY: the kernel reads one event from the local struct, and refuses numbers that are no such descriptors.
    let result = unsafe { libc::epoll_ctl(epoll, change, fd, &raw mut event) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Receives at most `max` bytes behind what is in `into`, into its spare capacity: nothing is cleared first.
pub(crate) fn receive_behind(socket: &Socket, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
    let len = into.len();
    let spare = into.spare_capacity_mut();
    let room = spare.len().min(max);
    let count = socket.recv(&mut spare[..room])?;
    // SAFETY: recv(2) returned `count`, so the first `count` bytes of the spare capacity are initialised, and `count`
    // is at most `room`, which lies within the capacity.
    unsafe { into.set_len(len + count.min(room)) };
    Ok(count)
}

/// The first byte that waits to be received, which stays there; none at the end.
pub(crate) fn peek(socket: &Socket) -> io::Result<Option<u8>> {
    let mut first = [MaybeUninit::<u8>::uninit()];
    let count = socket.peek(&mut first)?;
    // SAFETY: recv(2) returned 1, so that byte is initialised.
    Ok((count == 1).then(|| unsafe { first[0].assume_init() }))
}

/// Connections that wait in the queue of a listening TCP socket: Linux tells it where a connection has its
/// unacknowledged segments.
pub(crate) fn accept_queue(listener: &Socket) -> io::Result<usize> {
    // SAFETY: plain data, for which all-zero bytes are a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is open for as long as `listener` is borrowed; the kernel writes `size` bytes to `info` at
    // most.
    let result = unsafe {
        libc::getsockopt(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, (&raw mut info).cast(), &raw mut size)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(info.tcpi_unacked as usize) }
}

/// Bytes that were written to the socket and that the peer has not acknowledged.
pub(crate) fn unacknowledged(socket: &Socket) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open for as long as `socket` is borrowed; SIOCOUTQ (TIOCOUTQ) writes one int to
    // `bytes`.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(u64::try_from(bytes).unwrap_or(0)) }
}

/// Receives one datagram and its sender's address.
pub(crate) fn receive_from(socket: &Socket, into: &mut [u8]) -> io::Result<(usize, SockAddr)> {
    // SAFETY: initialised bytes are valid as possibly uninitialised ones of the same layout, and recvfrom(2) only
    // writes initialised bytes to them, so `into` is initialised afterwards, too.
    let spare = unsafe { &mut *(std::ptr::from_mut::<[u8]>(into) as *mut [MaybeUninit<u8>]) };
    socket.recv_from(spare)
}

/// The wall clock: seconds since 1970, and nanoseconds of the next one.
pub(crate) fn wall_clock() -> (u64, u32) {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the local struct; this clock exists on every system.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    (u64::try_from(now.tv_sec).unwrap_or(0), now.tv_nsec as u32)
}

/// Gives free memory of the C library's heap back to the system.
pub(crate) fn trim_heap() {
    // SAFETY: it takes the heap's own locks and moves nothing that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A file in memory, to be read.
pub(crate) struct Mapping {
    at: std::ptr::NonNull<libc::c_void>,
    len: usize,
}

/// Maps the first `len` bytes of a file, at least one, that nobody else can open and that is not written to or cut any
/// more.
pub(crate) fn map(file: &std::fs::File, len: usize) -> io::Result<Mapping> {
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    std::ptr::NonNull::new(at).map(|at| Mapping { at, len }).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the mapping is `len` readable bytes as long as `self` lives, and the file behind it does not change.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr().cast(), self.len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped by `map` with this length, and all slices of it borrow `self`.
        unsafe { libc::munmap(self.at.as_ptr(), self.len) };
    }
}

// SAFETY: it is read-only memory of the process, bound to no thread.
unsafe impl Send for Mapping {}
