//! The door: what a program gives, and how its server begins.

use std::path::PathBuf;
use std::rc::Rc;

use apus_options::Settings;

use crate::error::Error;
use crate::identity::Identity;
use crate::listener::Listener;
use crate::master::Master;
use crate::notify::Notify;
use crate::pid_file::PidFile;
use crate::role::Role;
use crate::worker::Worker;
use crate::{daemon, log};

/// What a server is run with.
#[derive(Debug, Clone)]
pub struct Config {
    /// The settings.
    pub settings: Rc<Settings>,
    /// The processes' name, with their part added ("apus: master"); ps and top show 15 bytes of it.
    pub title: String,
    /// The script that serves, for status reports.
    pub script: PathBuf,
    /// User processes, at most [`MOST_USERS`](crate::MOST_USERS).
    pub users: u16,
}

/// What happens in the master, for the program's callbacks. They run in the master's loop: while one runs, nothing is supervised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MasterEvent {
    /// The first workers are forked.
    Start,
    /// Right after `Start`: the master is the manager, too.
    ManagerStart,
    /// A worker process ended.
    WorkerExited {
        /// The process's id.
        id: u16,
        /// What it was for.
        role: Role,
        /// The process.
        pid: u32,
        /// Its exit code; 0 when a signal ended it.
        exit_code: i32,
        /// The signal that ended it; 0 when it exited.
        signal: i32,
        /// Whether it had not been told to leave, and what it did was no clean exit either.
        crashed: bool,
    },
    /// A reload begins.
    BeforeReload,
    /// A reload is over: every worker that it concerned is of the new generation.
    AfterReload,
    /// The server is about to stop; its workers still serve.
    BeforeShutdown,
    /// All workers are gone.
    ManagerStop,
    /// The last event.
    Shutdown,
}

/// What runs in the processes.
pub trait Program {
    /// Serves as [`Worker::role`] says, in a freshly forked process; the exit code. Call [`Worker::ready`] once it serves.
    fn run_worker(&mut self, worker: Worker) -> i32;

    /// The process that had this slot is gone, and nobody has the slot yet: for what it left in memory that the program shares. In the master,
    /// with its signals blocked: it has to be quick, and to call no code of users.
    fn on_buried(&mut self, _slot: usize, _role: Role) {}

    /// Something happened, in the master.
    fn on_event(&mut self, event: MasterEvent);
}

/// Which process [`run`] returned in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The master, with its exit code: the server has stopped.
    Master(i32),
    /// A worker, with what [`Program::run_worker`] gave: unwind and exit with it.
    Worker(i32),
}

/// Runs a server: the calling process becomes the master and returns when the server has stopped; each worker returns, too, as
/// [`Outcome::Worker`]. With `daemonize` the calling process ends inside, and its grandchild is the master.
pub fn run(config: &Config, listeners: &[Listener], program: &mut dyn Program) -> Result<Outcome, Error> {
    let settings = &config.settings;
    log::set_level(settings.log_level);
    if !settings.log_file.is_empty() {
        let path = PathBuf::from(&settings.log_file);
        log::open(&path).map_err(|source| Error::File { setting: "log_file", path, source })?;
    }
    let identity = Identity::from_settings(settings)?;
    let mut pid_file = match settings.pid_file.as_str() {
        "" => None,
        path => Some(PidFile::lock(path.as_ref())?),
    };
    let mut notify = Notify::from_environment();
    if settings.daemonize {
        notify.set_launcher(daemon::detach()?);
        listeners.iter().for_each(Listener::adopt);
    }
    log::prepare();
    let started =
        pid_file.as_mut().map_or(Ok(()), PidFile::write).and_then(|()| Master::new(config, listeners, identity));
    match started {
        Ok(master) => Ok(master.live(program, notify, pid_file)),
        Err(error) => {
            notify.trouble(&error.to_string());
            Err(error)
        }
    }
}
