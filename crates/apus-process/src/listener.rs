//! Listening sockets: bound here, taken over from systemd, inherited by every worker.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use socket2::{Domain, SockAddr, SockRef, Socket, Type};

use crate::error::Error;
use crate::log;
use crate::owned_path::OwnedPath;
use crate::sys;

/// The first descriptor that systemd passes, by `sd_listen_fds(3)`.
const FIRST_PASSED: RawFd = 3;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListenAddr {
    /// An IPv4 or IPv6 address and a port; port 0 for any free one.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl ListenAddr {
    /// The address that a name and port mean, if there is one.
    ///
    /// # Errors
    /// When they are neither an address nor a known name.
    pub fn resolve(name: impl ToSocketAddrs) -> io::Result<Option<Self>> {
        let found: Vec<SocketAddr> = name.to_socket_addrs()?.collect();
        // A name that means both families is served on IPv4, as other servers do.
        Ok(found.iter().find(|addr| addr.is_ipv4()).or(found.first()).map(|addr| Self::Tcp(*addr)))
    }
}

/// `127.0.0.1:9501`, `[::1]:9501` or `unix:/run/app.sock`.
impl fmt::Display for ListenAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addr) => addr.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Whether a port is shared with other servers of the same user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReusePort {
    /// It is not.
    No,
    /// It is.
    Yes,
    /// [`Listener::apply`] will say: until then nobody can share it, but it may be bound where others share.
    Undecided,
}

impl From<bool> for ReusePort {
    fn from(shared: bool) -> Self {
        if shared { Self::Yes } else { Self::No }
    }
}

/// How to bind. See the settings of the same names.
#[derive(Debug, Clone, Copy)]
pub struct BindOptions {
    /// Length of the queue of connections not yet accepted.
    pub backlog: u32,
    /// `SO_REUSEPORT`.
    pub reuse_port: ReusePort,
    /// `TCP_NODELAY` on the listening socket: Linux gives it to every accepted one, which saves a system call each.
    pub nodelay: bool,
    /// `TCP_DEFER_ACCEPT`, in seconds; 0 for off.
    pub defer_accept: u32,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self::from(&apus_options::Settings::default())
    }
}

impl From<&apus_options::Settings> for BindOptions {
    fn from(settings: &apus_options::Settings) -> Self {
        Self {
            backlog: settings.backlog,
            reuse_port: settings.enable_reuse_port.into(),
            nodelay: settings.open_tcp_nodelay,
            defer_accept: settings.tcp_defer_accept,
        }
    }
}

/// A socket that listens; close-on-exec and non-blocking. Dropping it in the master (or before [`run`](crate::run))
/// removes a Unix socket's file.
#[derive(Debug)]
pub struct Listener {
    /// Where it listens; the real port where 0 was asked for.
    pub addr: ListenAddr,
    /// The socket.
    pub fd: OwnedFd,
    /// Whether systemd passed it: its queue outlives this server.
    pub passed: bool,
    /// Whether it takes datagrams, not connections.
    pub datagram: bool,
    file: Option<OwnedPath>,
    /// It has a port that other servers share, and may have it only if it shares it, too.
    must_share: bool,
}

impl Listener {
    /// Makes the calling process the one that removes the socket's file.
    pub(crate) fn adopt(&self) {
        self.file.iter().for_each(OwnedPath::adopt);
    }

    /// Removes a Unix socket's file.
    pub(crate) fn remove_file(&self) {
        self.file.iter().for_each(OwnedPath::remove);
    }

    /// Applies options that were set after the socket was bound: a longer or shorter queue, `TCP_NODELAY`,
    /// `TCP_DEFER_ACCEPT`. There is none of them for datagrams. `SO_REUSEPORT` can be set, and not taken back.
    pub fn apply(&self, options: &BindOptions) -> Result<(), Error> {
        let failed = |source| Error::Bind { addr: self.addr.to_string(), source };
        let socket = SockRef::from(&self.fd);
        match options.reuse_port {
            ReusePort::Yes if matches!(self.addr, ListenAddr::Tcp(_)) => socket.set_reuse_port(true).map_err(failed)?,
            ReusePort::No if self.must_share => return Err(failed(io::Error::from_raw_os_error(libc::EADDRINUSE))),
            _ => {}
        }
        if self.datagram {
            return Ok(());
        }
        if matches!(self.addr, ListenAddr::Tcp(_)) {
            socket.set_tcp_nodelay(options.nodelay).map_err(failed)?;
            sys::set_defer_accept(self.fd.as_fd(), options.defer_accept).map_err(failed)?;
        }
        if self.passed {
            return Ok(());
        }
        // A second listen(2) on a listening socket only changes the length of its queue.
        socket.listen(options.backlog.min(i32::MAX as u32) as i32).map_err(failed)
    }
}

/// Binds and listens, or takes the matching socket that systemd passed (`LISTEN_FDS`, when `LISTEN_PID` is this
/// process).
pub fn bind(addr: &ListenAddr, options: &BindOptions) -> Result<Listener, Error> {
    bind_as(Type::STREAM, addr, options)
}

/// The same for datagrams: UDP, or a Unix datagram socket.
pub fn bind_datagram(addr: &ListenAddr, options: &BindOptions) -> Result<Listener, Error> {
    bind_as(Type::DGRAM, addr, options)
}

fn bind_as(kind: Type, addr: &ListenAddr, options: &BindOptions) -> Result<Listener, Error> {
    let failed = |source| Error::Bind { addr: addr.to_string(), source };
    let datagram = kind == Type::DGRAM;
    if let Some(fd) = passed(addr, kind) {
        SockRef::from(&fd).set_nonblocking(true).map_err(failed)?;
        let addr = local(&fd).map_err(failed)?;
        let listener = Listener { addr, fd, passed: true, datagram, file: None, must_share: false };
        listener.apply(options)?;
        return Ok(listener);
    }
    let (socket, file, must_share) = match addr {
        ListenAddr::Tcp(ip) => {
            let (socket, must_share) = bind_ip(*ip, kind, options.reuse_port).map_err(failed)?;
            (socket, None, must_share)
        }
        ListenAddr::Unix(path) => {
            let (socket, file) = bind_unix(path, kind)?;
            (socket, Some(file), false)
        }
    };
    socket.set_nonblocking(true).map_err(failed)?;
    let fd = OwnedFd::from(socket);
    let listener = Listener { addr: local(&fd).map_err(failed)?, fd, passed: false, datagram, file, must_share };
    // A socket that is not meant to share must not take the others' clients before it is told to.
    if !must_share {
        listener.apply(options)?;
    }
    Ok(listener)
}

/// A bound socket, and whether it must share its port.
fn bind_ip(addr: SocketAddr, kind: Type, reuse_port: ReusePort) -> io::Result<(Socket, bool)> {
    let socket = Socket::new(Domain::for_address(addr), kind, None)?;
    // For UDP it would let a second server take the port, and some of the datagrams, unnoticed.
    socket.set_reuse_address(kind == Type::STREAM)?;
    socket.set_reuse_port(reuse_port == ReusePort::Yes)?;
    match socket.bind(&addr.into()) {
        Ok(()) => Ok((socket, false)),
        Err(error) if reuse_port == ReusePort::Undecided && error.kind() == io::ErrorKind::AddrInUse => {
            // Succeeds where all that have the port share it, and are of the same user (socket(7)).
            socket.set_reuse_port(true)?;
            socket.bind(&addr.into()).map_err(|_| error)?;
            Ok((socket, true))
        }
        Err(error) => Err(error),
    }
}

fn bind_unix(path: &Path, kind: Type) -> Result<(Socket, OwnedPath), Error> {
    let failed = |source| Error::Bind { addr: format!("unix:{}", path.display()), source };
    remove_stale_of(path, kind)?;
    let socket = Socket::new(Domain::UNIX, kind, None).map_err(failed)?;
    socket.bind(&SockAddr::unix(path).map_err(failed)?).map_err(failed)?;
    let file = OwnedPath::new(path).map_err(failed)?;
    Ok((socket, file))
}

/// Removes a Unix socket that nobody listens on any more; leaves everything else at that path alone.
pub(crate) fn remove_stale(path: &Path) -> Result<(), Error> {
    remove_stale_of(path, Type::STREAM)
}

fn remove_stale_of(path: &Path, kind: Type) -> Result<(), Error> {
    let failed = |source| Error::Bind { addr: format!("unix:{}", path.display()), source };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
        Ok(meta) if !meta.file_type().is_socket() => Err(Error::NotASocket(path.to_owned())),
        Ok(_) => match try_connect(path, kind) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(failed)
            }
            // A connection, or a full queue, or no right to connect: somebody is there.
            _ => Err(Error::SocketInUse(path.to_owned())),
        },
    }
}

/// Connects without waiting: a server whose queue is full would block.
fn try_connect(path: &Path, kind: Type) -> io::Result<()> {
    let socket = Socket::new(Domain::UNIX, kind, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(path)?)
}

/// The sockets already taken from systemd: two listeners must not share one.
static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// The numbers of the sockets that the environment says are for this process, and that no listener has taken yet.
fn offered(first: RawFd, taken: &[RawFd]) -> Option<Vec<(RawFd, BorrowedFd<'static>)>> {
    if number("LISTEN_PID")? != std::process::id() {
        return None;
    }
    let count = number("LISTEN_FDS")?.min(1024) as RawFd;
    let numbers = (first..first.saturating_add(count)).filter(|fd| !taken.contains(fd));
    Some(numbers.filter_map(|number| Some((number, sys::inherited(number)?))).collect())
}

fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// A copy of the passed socket that listens where `addr` says.
fn passed(addr: &ListenAddr, kind: Type) -> Option<OwnedFd> {
    let mut taken = TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let offered = offered(FIRST_PASSED, &taken)?;
    let count = offered.len();
    for (number, fd) in offered {
        // Programs that PHP starts must not get it either.
        let _ = fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
        if listens_at(fd, addr, kind)
            && let Ok(copy) = fd.try_clone_to_owned()
        {
            taken.push(number);
            return Some(copy);
        }
    }
    log::notice(format_args!("systemd passed {count} sockets, none of them listens on {addr}: binding it"));
    None
}

/// Takes all sockets that systemd passed and that no listener has yet, wherever they listen. The first has the number
/// 3, or `LISTEN_FDS_START`.
///
/// # Errors
/// When an option cannot be set on one of them.
pub fn take_passed(options: &BindOptions) -> Result<Vec<Listener>, Error> {
    let first = number("LISTEN_FDS_START").and_then(|first| RawFd::try_from(first).ok()).unwrap_or(FIRST_PASSED);
    let mut taken = TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut listeners = Vec::new();
    for (number, fd) in offered(first, &taken).unwrap_or_default() {
        let socket = SockRef::from(&fd);
        let datagram = socket.r#type().is_ok_and(|kind| kind == Type::DGRAM);
        let Ok(addr) = local(&fd) else { continue };
        if !listens_at(fd, &addr, if datagram { Type::DGRAM } else { Type::STREAM }) {
            continue;
        }
        let failed = |source| Error::Bind { addr: addr.to_string(), source };
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(|errno| failed(errno.into()))?;
        socket.set_nonblocking(true).map_err(failed)?;
        let copy = fd.try_clone_to_owned().map_err(failed)?;
        let listener = Listener { addr, fd: copy, passed: true, datagram, file: None, must_share: false };
        listener.apply(options)?;
        taken.push(number);
        listeners.push(listener);
    }
    Ok(listeners)
}

fn listens_at(fd: BorrowedFd<'_>, wanted: &ListenAddr, kind: Type) -> bool {
    let socket = SockRef::from(&fd);
    // A datagram socket never listens: being bound is all there is to it.
    let ready = kind == Type::DGRAM || socket.is_listener().unwrap_or(false);
    ready
        && socket.r#type().is_ok_and(|found| found == kind)
        && local(&fd).is_ok_and(|found| same_place(&found, wanted))
}

/// Whether a socket at `found` is what a program that wants `wanted` should get: [::] stands for 0.0.0.0, as systemd
/// binds it.
fn same_place(found: &ListenAddr, wanted: &ListenAddr) -> bool {
    match (found, wanted) {
        (ListenAddr::Tcp(a), ListenAddr::Tcp(b)) => {
            a.port() == b.port()
                && (a.ip() == b.ip() || a.is_ipv6() && a.ip().is_unspecified() && b.ip().is_unspecified())
        }
        _ => found == wanted,
    }
}

fn local(fd: &impl AsFd) -> io::Result<ListenAddr> {
    let addr = SockRef::from(fd).local_addr()?;
    match (addr.as_socket(), addr.as_pathname()) {
        (Some(ip), _) => Ok(ListenAddr::Tcp(ip)),
        (None, Some(path)) => Ok(ListenAddr::Unix(path.to_owned())),
        (None, None) => Err(io::ErrorKind::Unsupported.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

    fn directory() -> PathBuf {
        use std::hash::BuildHasher;
        let name = format!("apus-listener-{}-{:x}", std::process::id(), std::hash::RandomState::new().hash_one(0));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn port_zero_becomes_the_real_port() {
        let listener = bind(&ListenAddr::Tcp("127.0.0.1:0".parse().unwrap()), &BindOptions::default()).unwrap();
        let ListenAddr::Tcp(addr) = listener.addr else { panic!("a TCP address") };
        assert_ne!(addr.port(), 0);
        TcpStream::connect(addr).unwrap();
        let flags = fcntl(&listener.fd, FcntlArg::F_GETFD).unwrap();
        assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
        assert!(
            SockRef::from(&listener.fd).nonblocking().unwrap() && SockRef::from(&listener.fd).tcp_nodelay().unwrap()
        );
        let twice = bind(&ListenAddr::Tcp(addr), &BindOptions::default()).unwrap_err().to_string();
        assert!(twice.contains("stop the process that holds it"), "{twice}");
    }

    #[test]
    fn options_may_change_after_the_binding() {
        let listener = bind(&ListenAddr::Tcp("[::1]:0".parse().unwrap()), &BindOptions::default()).unwrap();
        let options = BindOptions { nodelay: false, defer_accept: 5, backlog: 10, ..BindOptions::default() };
        listener.apply(&options).unwrap();
        assert!(!SockRef::from(&listener.fd).tcp_nodelay().unwrap());
    }

    #[test]
    fn a_port_is_shared_when_all_agree_in_the_end() {
        type Bind = fn(&ListenAddr, &BindOptions) -> Result<Listener, Error>;
        let undecided = BindOptions { reuse_port: ReusePort::Undecided, ..BindOptions::default() };
        let (shared, alone) = (
            BindOptions { reuse_port: ReusePort::Yes, ..undecided },
            BindOptions { reuse_port: ReusePort::No, ..undecided },
        );
        for bind in [bind as Bind, bind_datagram as Bind] {
            let first = bind(&ListenAddr::Tcp("127.0.0.1:0".parse().unwrap()), &undecided).unwrap();
            assert!(bind(&first.addr, &undecided).is_err(), "the first has not agreed");
            first.apply(&shared).unwrap();
            let second = bind(&first.addr, &undecided).unwrap();
            assert!(!SockRef::from(&second.fd).is_listener().unwrap(), "it takes no clients yet");
            assert!(second.apply(&alone).unwrap_err().to_string().contains("holds it"));
            second.apply(&shared).unwrap();
            assert!(bind(&first.addr, &alone).is_err());
        }
    }

    #[test]
    fn a_stale_unix_socket_is_replaced_and_a_live_one_is_not() {
        let dir = directory();
        let path = dir.join("s");
        drop(UnixListener::bind(&path).unwrap());
        let addr = ListenAddr::Unix(path.clone());
        let listener = bind(&addr, &BindOptions::default()).unwrap();
        UnixStream::connect(&path).unwrap();
        assert!(matches!(bind(&addr, &BindOptions::default()), Err(Error::SocketInUse(_))));
        drop(listener);
        assert!(!path.exists(), "the file goes with the listener");
        std::fs::write(&path, "precious").unwrap();
        assert!(matches!(bind(&addr, &BindOptions::default()), Err(Error::NotASocket(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn datagram_sockets_are_bound_once_and_stale_files_replaced() {
        let options = BindOptions::default();
        let any = ListenAddr::Tcp("127.0.0.1:0".parse().unwrap());
        // The same number is another port for TCP, unless somebody else has it there.
        let both = (0..100).find_map(|_| {
            let udp = bind_datagram(&any, &options).unwrap();
            bind(&udp.addr, &options).ok().map(|tcp| (udp, tcp))
        });
        let (udp, tcp) = both.unwrap();
        assert!(!tcp.datagram);
        udp.apply(&BindOptions { backlog: 5, ..options }).unwrap();
        assert!(udp.datagram && bind_datagram(&udp.addr, &options).is_err());
        let dir = directory();
        let path = dir.join("s");
        drop(UnixDatagram::bind(&path).unwrap());
        let addr = ListenAddr::Unix(path.clone());
        let unix = bind_datagram(&addr, &options).unwrap();
        UnixDatagram::unbound().unwrap().send_to(b"x", &path).unwrap();
        assert!(matches!(bind_datagram(&addr, &options), Err(Error::SocketInUse(_))));
        drop(unix);
        assert!(!path.exists());
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_successors_socket_is_left_alone() {
        let dir = directory();
        let path = dir.join("s");
        let first = bind(&ListenAddr::Unix(path.clone()), &BindOptions::default()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let second = bind(&ListenAddr::Unix(path.clone()), &BindOptions::default()).unwrap();
        drop(first);
        assert!(path.exists());
        drop(second);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_wildcard_of_ipv6_stands_for_that_of_ipv4() {
        let tcp = |s: &str| ListenAddr::Tcp(s.parse().unwrap());
        assert!(same_place(&tcp("[::]:80"), &tcp("0.0.0.0:80")));
        assert!(!same_place(&tcp("0.0.0.0:80"), &tcp("[::]:80")));
        assert!(!same_place(&tcp("127.0.0.1:80"), &tcp("127.0.0.1:81")));
        assert!(same_place(&ListenAddr::Unix("/a".into()), &ListenAddr::Unix("/a".into())));
    }
}
