//! `apus serve`: scripts that know nothing of Apus, each request in a process that runs one at a time.
//!
//! The workers are fronts: they accept, read, send files, and hand what is a script's to processes of the role
//! `Script`, over shared memory ([`apus_shm::handover`]). Such a process has left the command line's request for ever
//! and runs one request of PHP after the other ([`apus_zend::sapi`]), each with everything fresh.

mod answer;
mod app;
mod dispatcher;
mod form;
mod functions;
mod live;
mod process;
mod refresh;
mod stay;

use std::io;
use std::time::Duration;

use apus_options::Settings;
use apus_process::{RoleCounts, RunningScript, ScriptsSnapshot};
use apus_shm::handover::{Handover, Running, Watch};

pub(crate) use app::{Scripted, ServeApp};
pub(crate) use dispatcher::{Dispatcher, Patience};
pub(crate) use functions::register;
pub(crate) use live::{Members, is_wanted as takes_websockets};
pub(crate) use process::run;
pub(crate) use refresh::Refresh;

/// Processes that leave and those that replace them are there at the same time.
const GENERATIONS: usize = 3;

/// What requests are handed over by, where there are processes that run scripts. Before the first fork.
pub(crate) fn prepare(settings: &Settings, counts: RoleCounts) -> io::Result<Option<&'static Handover>> {
    if settings.script_processes == 0 {
        return Ok(None);
    }
    let (scripts, workers) = (usize::from(counts.scripts), usize::from(counts.workers));
    Handover::new(scripts * GENERATIONS, workers * GENERATIONS).map(Some)
}

/// What the processes do.
pub(crate) fn snapshot(handover: &'static Handover) -> ScriptsSnapshot {
    let usage = handover.usage();
    let (idle, busy, longest_wait) = (usage.idle, usage.busy, usage.longest_wait);
    ScriptsSnapshot { idle, busy, longest_wait, running: handover.running().into_iter().map(running).collect() }
}

/// The scripts that have given nothing for too long, by what the master sees.
pub(crate) fn silent(handover: &'static Handover, watch: &mut Watch, limit: Duration) -> Vec<RunningScript> {
    handover.silent(watch, limit).into_iter().map(running).collect()
}

fn running(running: Running) -> RunningScript {
    RunningScript {
        pid: running.pid,
        script: String::from_utf8_lossy(&running.script).into_owned(),
        seconds: running.millis as f64 / 1000.0,
    }
}
