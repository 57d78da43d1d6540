//! What a program gives for its server.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use apus_options::Settings;

use crate::access::AccessSettings;
use crate::observe::Text;
use crate::parcel::Parcel;
use crate::role::Role;
use crate::scoreboard::Scoreboard;
use crate::snapshot::{MetricSnapshot, RunningScript, ScriptsSnapshot};
use crate::worker::Worker;

/// What a server is run with.
#[derive(Debug, Clone)]
pub struct Config {
    /// The settings.
    pub settings: Rc<Settings>,
    /// The access logs of the hosts, in the order of their numbers, from 1 on.
    pub access_logs: Vec<AccessSettings>,
    /// The processes' name, with their part added ("apus: master"); ps and top show 15 bytes of it.
    pub title: String,
    /// The script that serves, for status reports.
    pub script: PathBuf,
    /// User processes, at most [`MOST_USERS`](crate::MOST_USERS).
    pub users: u16,
    /// Session ids are one more each time over all workers, from the number behind this one on; without it they tell
    /// the worker.
    pub plain_sessions: Option<u64>,
    /// Whether processes that end soon after their start are started again with next to no wait.
    pub hasty: bool,
    /// Whether the master takes part in what the processes tell each other: see [`Program::seat`].
    pub seat: bool,
}

/// What happens in the master, for the program's callbacks. They run in the master's loop: while one runs, nothing is
/// supervised.
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
    /// Serves as [`Worker::role`] says, in a freshly forked process; the exit code. Call [`Worker::ready`] once it
    /// serves.
    fn run_worker(&mut self, worker: Worker) -> i32;

    /// What the master has to talk to the others with, before the first event. It belongs to no process that is forked
    /// later: there it is to be forgotten, not dropped.
    fn seat(&mut self, _master: Worker) {}

    /// The process that had this slot is gone, and nobody has the slot yet: for what it left in memory that the program
    /// shares. In the master, with its signals blocked: it has to be quick, and to call no code of users.
    fn on_reaped(&mut self, _slot: usize, _role: Role) {}

    /// Whether the program has a handler of its own for this signal in the master: then it runs that, in
    /// [`wait`](Self::wait), and the signal means nothing else; or it has passed the signal on to a worker. With the
    /// master's signals blocked: it calls no code of users here.
    fn takes_signal(&mut self, _signal: i32, _scoreboard: &Scoreboard) -> bool {
        false
    }

    /// The process that has this slot is told to leave. In the master, as [`on_reaped`](Self::on_reaped).
    fn on_dismissed(&mut self, _slot: usize, _role: Role) {}

    /// Something happened, in the master.
    fn on_event(&mut self, event: MasterEvent);

    /// How often [`renew`](Self::renew) is to look at files by itself: zero for never, `None` where there are none.
    fn renew_interval(&self) -> Option<Duration> {
        None
    }

    /// Reads anew what workers were given of files: certificates. `asked`: somebody wants that; else the files are
    /// looked at, and read where they have changed. What it gives is handed to the workers that serve; those that are
    /// forked later inherit what the program keeps. With the master's signals blocked: it calls no code of users.
    ///
    /// # Errors
    /// Why what the files hold now cannot be used. What was read before stays in use.
    fn renew(&mut self, _asked: bool) -> Result<Option<Parcel>, String> {
        Ok(None)
    }

    /// What the processes that run scripts do, where there are any. As [`figures`](Self::figures).
    fn scripts(&self) -> Option<ScriptsSnapshot> {
        None
    }

    /// The scripts that have given nothing for so long, and that no worker ends: they get no further request, and the
    /// master kills their processes. As [`figures`](Self::figures).
    fn silent_scripts(&mut self, _limit: Duration) -> Vec<RunningScript> {
        Vec::new()
    }

    /// The calls that the code of a process stands in which runs scripts, the innermost first; `None` where that cannot
    /// be seen. As [`figures`](Self::figures).
    fn calls_of(&self, _pid: u32) -> Option<Vec<String>> {
        None
    }

    /// Adds figures of its own to those of the server, from shared memory alone. With the master's signals blocked: it
    /// calls no code of users.
    fn figures(&self, _text: &mut Text) {}

    /// The metrics that the program counts itself, for those who ask for the server's state. As
    /// [`figures`](Self::figures).
    fn metrics(&self) -> Vec<MetricSnapshot> {
        Vec::new()
    }

    /// Nothing is to be done in the master until one of these is ready, or the time is over (`None`: for ever). Waits
    /// for that where the program has something of its own to do meanwhile, such as timers; else gives false, and the
    /// master waits. With the master's signals blocked.
    fn wait(&mut self, _until: &[Awaited<'_>], _limit: Option<Duration>) -> bool {
        false
    }
}

/// What the master waits for.
#[derive(Debug, Clone, Copy)]
pub struct Awaited<'a> {
    /// A descriptor of the master's.
    pub fd: BorrowedFd<'a>,
    /// Whether it is to be writable, too; else readable.
    pub write: bool,
}

/// Which process [`run`](crate::run) returned in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The master, with its exit code: the server has stopped.
    Master(i32),
    /// A worker, with what [`Program::run_worker`] gave: unwind and exit with it.
    Worker(i32),
}
