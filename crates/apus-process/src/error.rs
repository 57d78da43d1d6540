//! Why a server could not start.

use std::io;
use std::path::PathBuf;

/// What keeps a server from starting, in words for its operator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {source}{}", hint(.source))]
    Bind {
        /// The address.
        addr: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A server listens on the Unix socket already.
    #[error("cannot listen on {0}: another process listens on it")]
    SocketInUse(PathBuf),
    /// The path is taken by something that is not a socket.
    #[error("cannot listen on {0}: the path exists and is not a socket")]
    NotASocket(PathBuf),
    /// The pid file is locked: a master runs.
    #[error("already running: {path} is locked by process {}", .pid.map_or_else(|| "?".to_owned(), |p| p.to_string()))]
    AlreadyRunning {
        /// The pid file.
        path: PathBuf,
        /// The process id in it.
        pid: Option<u32>,
    },
    /// A file cannot be used.
    #[error("setting \"{setting}\": {path}: {source}")]
    File {
        /// The setting that names the file.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// User, group or root directory cannot be taken.
    #[error("setting \"{setting}\": {reason}")]
    Identity {
        /// The setting.
        setting: &'static str,
        /// Why.
        reason: String,
    },
    /// A setting says something that cannot be done.
    #[error("setting \"{setting}\": {reason}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Why.
        reason: String,
    },
    /// The memory or the descriptors that the processes need to talk to each other are refused.
    #[error(
        "cannot map the rings between the processes: {0} (set \"ring_size\" or \"worker_num\" lower, or raise the limits: \
         `ulimit -v`, `ulimit -n`, vm.overcommit_memory)"
    )]
    Rings(io::Error),
    /// A system call failed that nothing can go on without.
    #[error("{call}: {source}")]
    System {
        /// What was tried.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: the system call that failed.
    pub(crate) fn system<E: Into<io::Error>>(call: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { call, source: source.into() }
    }
}

/// What to do about the usual failures of bind(2).
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => " (stop the process that holds it, or choose another port)",
        io::ErrorKind::PermissionDenied => " (ports below 1024 need root, CAP_NET_BIND_SERVICE or socket activation)",
        io::ErrorKind::AddrNotAvailable => " (no interface has this address)",
        _ => "",
    }
}

/// Why a record was not posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The ring is full. [`crate::IpcEndpoint::fd`] turns readable when there is room again, or when the receiver is
    /// gone: try again then.
    #[error("the receiver has not taken what was sent before")]
    Full,
    /// No process has that slot.
    #[error("no process is there")]
    Gone,
    /// The payload is longer than [`crate::IpcEndpoint::largest`].
    #[error("the record is larger than a ring takes")]
    TooLarge,
}
