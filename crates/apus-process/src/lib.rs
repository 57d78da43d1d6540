//! The processes of a server: one master that supervises, and workers that serve.
//!
//! The master has no runtime: it waits in `poll` for signals, its workers' channels and its control socket. It forks
//! workers that all accept from the same inherited listening sockets, so that neither a reload nor a crash loses a
//! connection that waits in a queue. Counters and the table of connections live in shared memory, mapped before the
//! first fork.

mod access;
mod back_off;
mod bits;
mod channel;
mod check;
mod conn_table;
mod control;
mod counter;
mod daemon;
mod directory;
mod error;
mod histogram;
mod identity;
mod ipc;
#[cfg(test)]
mod ipc_tests;
mod listener;
pub mod log;
mod master;
mod notify;
mod observe;
mod owned_path;
mod parcel;
mod pid_file;
mod program;
mod replica;
mod ring;
mod role;
mod run;
mod scoreboard;
mod snapshot;
mod sys;
mod tally;
mod worker;

pub use access::{Access, AccessSettings};
pub use apus_shm::ForkEpoch;
pub use back_off::BackOff;
pub use channel::{Ask, Command};
pub use check::{refused, refused_log};
pub use conn_table::{ConnEntry, ConnFlags, ConnHandle, ConnTable, Peer};
pub use control::control_directory;
pub use counter::Counter;
pub use directory::Directory;
pub use error::{Error, PostError};
pub use histogram::{BUCKETS, Histogram, percentile};
pub use ipc::IpcEndpoint;
pub use listener::{BindOptions, ListenAddr, Listener, ReusePort, bind, bind_datagram, take_passed};
pub use observe::{Family, Text};
pub use parcel::Parcel;
pub use program::{Awaited, Config, MasterEvent, Outcome, Program};
pub use role::{MOST_USERS, Role, RoleCounts};
pub use run::run;
pub use scoreboard::{Scoreboard, WorkerSlot, WorkerState};
pub use snapshot::{MetricSnapshot, RunningScript, ScriptsSnapshot, SeriesSnapshot, Snapshot, Totals, WorkerSnapshot};
pub use sys::block_signals;
pub use tally::{METHODS, Tally};
pub use worker::Worker;
