//! How many processes run scripts: more while requests wait for one, fewer when several have nothing to do; and which
//! scripts are slow, or silent for too long with nobody else to end them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use apus_options::Settings;
use nix::sys::signal::{Signal, kill};

use super::{Master, Phase, dismiss, processes};
use crate::log;
use crate::program::Program;
use crate::replica::Replica;
use crate::role::{Role, RoleCounts};
use crate::snapshot::RunningScript;

/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often scripts are looked at for their silence, at most and at least.
const LISTEN: (Duration, Duration) = (LOOK, Duration::from_secs(5));
/// A request that has waited so long, in milliseconds, is reason for one process more.
const WAITED: u64 = 20;
/// The time between two that leave.
const APART: Duration = Duration::from_secs(1);

/// How many are wanted.
#[derive(Debug)]
pub(crate) struct Scripts {
    least: u16,
    most: u16,
    wanted: u16,
    /// How long several have to be idle.
    patience: Duration,
    /// Since when several are.
    spare_since: Option<Instant>,
    next_look: Instant,
    /// How long a script may run before the log names it; zero for as long as it likes.
    slow: Duration,
    /// The processes whose scripts were named, and for how many seconds those had run when they were last seen.
    told: HashMap<u32, f64>,
    /// How long a script may give nothing; `None` for as long as it likes.
    silent: Option<Duration>,
    next_listen: Instant,
}

impl Scripts {
    pub(crate) fn new(settings: &Settings) -> Self {
        let most = RoleCounts::new(settings, 0).scripts;
        let least = u16::try_from(settings.script_processes).unwrap_or(u16::MAX).min(most);
        let patience = settings.script_idle_timeout;
        let (slow, next_look) = (settings.script_slow_time, Instant::now());
        let silent = Some(settings.script_timeout).filter(|limit| most > 0 && !limit.is_zero());
        Self {
            least,
            most,
            wanted: least,
            patience,
            spare_since: None,
            next_look,
            slow,
            told: HashMap::new(),
            silent,
            next_listen: next_look,
        }
    }

    /// When the next look is due; `None` where nothing is looked at.
    pub(crate) fn due_at(&self) -> Option<Instant> {
        let listen = self.silent.map(|_| self.next_listen);
        self.look_at().into_iter().chain(listen).min()
    }

    /// When it is to be looked at; `None` where the number is fixed, and no script too slow.
    fn look_at(&self) -> Option<Instant> {
        (self.least < self.most || !self.slow.is_zero()).then_some(self.next_look)
    }

    /// Those that have become too slow since it was last called.
    fn too_slow<'a>(&mut self, running: &'a [RunningScript]) -> Vec<&'a RunningScript> {
        let slow = self.slow.as_secs_f64();
        if slow == 0.0 {
            return Vec::new();
        }
        let is_same = |pid: u32, seconds: f64| running.iter().any(|now| now.pid == pid && now.seconds >= seconds);
        self.told.retain(|pid, seconds| is_same(*pid, *seconds));
        let all = running.iter().filter(|now| now.seconds >= slow);
        all.filter(|now| self.told.insert(now.pid, now.seconds).is_none()).collect()
    }

    /// What the number of idle processes, and the time that requests have waited, make of the number that is wanted;
    /// `all`: as many as are wanted serve.
    fn adapt(&mut self, idle: usize, waited: u64, all: bool, now: Instant) {
        if waited >= WAITED {
            self.spare_since = None;
            if all {
                self.wanted = (self.wanted + self.wanted.div_ceil(4)).min(self.most);
            }
        } else if idle < 2 || self.wanted <= self.least {
            self.spare_since = None;
        } else if now - *self.spare_since.get_or_insert(now) >= self.patience {
            self.wanted -= 1;
            // The next one leaves that much later, if several are idle all the time.
            self.spare_since = Some(now + APART).and_then(|next| next.checked_sub(self.patience));
        }
    }
}

impl Master<'_> {
    /// Whether this replica is one of those that are wanted.
    pub(crate) fn is_wanted(&self, replica: &Replica) -> bool {
        replica.role != Role::Script || self.place_of(replica) < self.scripts.wanted
    }

    fn place_of(&self, replica: &Replica) -> u16 {
        let counts = self.scoreboard.role_counts();
        replica.id.saturating_sub(counts.workers + counts.tasks)
    }

    /// Whether all that are wanted serve.
    pub(crate) fn all_serve(&self) -> bool {
        self.replicas.iter().all(|replica| replica.current.is_some() || !self.is_wanted(replica))
    }

    /// Has as many processes run scripts as are needed.
    pub(crate) fn adapt_scripts(&mut self, program: &mut dyn Program) {
        let now = Instant::now();
        if self.phase != Phase::Serving || self.scripts.look_at().is_none_or(|at| at > now) {
            return;
        }
        self.scripts.next_look = now + LOOK;
        let Some(snapshot) = program.scripts() else { return };
        for script in self.scripts.too_slow(&snapshot.running) {
            let calls = program.calls_of(script.pid).unwrap_or_default();
            log::warning(format_args!(
                "{} has been running for {:.1} s in process {}{}{}",
                script.script,
                script.seconds,
                script.pid,
                if calls.is_empty() { ", which cannot be looked into" } else { ":\n" },
                calls.join("\n")
            ));
        }
        let (all, before) = (self.all_serve(), self.scripts.wanted);
        self.scripts.adapt(snapshot.idle, snapshot.longest_wait, all, now);
        if self.scripts.wanted != before {
            log::info(format_args!("{} script processes are wanted in place of {before}", self.scripts.wanted));
        }
        self.dismiss_unwanted(program);
    }

    /// Ends scripts that are silent for too long. Workers do that, and answer their clients; this is for those whose
    /// worker is gone, or stuck itself.
    pub(crate) fn end_silent_scripts(&mut self, program: &mut dyn Program) {
        let now = Instant::now();
        let Some(limit) = self.scripts.silent.filter(|_| self.scripts.next_listen <= now) else { return };
        self.scripts.next_listen = now + (limit / 4).clamp(LISTEN.0, LISTEN.1);
        for script in program.silent_scripts(limit) {
            let Some(process) = processes(&self.replicas, &self.leaving).find(|p| p.pid.as_raw() as u32 == script.pid)
            else {
                continue;
            };
            log::warning(format_args!(
                "script process {} is killed by the master: {} has given nothing for {:.1} s (script_timeout)",
                script.pid, script.script, script.seconds
            ));
            let _ = kill(process.pid, Signal::SIGKILL);
        }
    }

    fn dismiss_unwanted(&mut self, program: &mut dyn Program) {
        for index in 0..self.replicas.len() {
            if self.is_wanted(&self.replicas[index]) {
                continue;
            }
            if let Some(mut current) = self.replicas[index].current.take() {
                self.replicas[index].replace = false;
                dismiss(&mut current, &self.config.settings, program);
                self.leaving.push(current);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_while_requests_wait_and_fewer_when_several_are_idle_for_long() {
        let mut settings = Settings::default();
        (settings.script_processes, settings.script_processes_max) = (4, 8);
        let (mut scripts, now) = (Scripts::new(&settings), Instant::now());
        let mut next = |idle, waited, all, at: u64| {
            scripts.adapt(idle, waited, all, now + Duration::from_secs(at));
            scripts.wanted
        };
        assert_eq!(next(0, 5, true, 0), 4);
        assert_eq!((next(0, 50, true, 0), next(0, 50, false, 0), next(0, 50, true, 0)), (5, 5, 7));
        assert_eq!((next(0, 50, true, 0), next(0, 50, true, 0)), (8, 8));
        assert_eq!((next(3, 0, true, 1), next(3, 0, true, 10)), (8, 8));
        assert_eq!((next(3, 0, true, 11), next(3, 0, true, 11), next(3, 0, true, 12)), (7, 7, 6));
        assert_eq!((next(1, 0, true, 13), next(3, 0, true, 14), next(3, 0, true, 20)), (6, 6, 6));
        assert_eq!((next(3, 0, true, 24), next(9, 0, true, 90), next(9, 0, true, 99)), (5, 4, 4));
    }

    #[test]
    fn a_slow_script_is_named_once_for_each_request() {
        let settings = Settings { script_slow_time: Duration::from_secs(2), ..Settings::default() };
        let mut scripts = Scripts::new(&settings);
        assert!(scripts.look_at().is_some());
        let mut named = |now: &[(u32, f64)]| {
            let running: Vec<_> =
                now.iter().map(|&(pid, seconds)| RunningScript { pid, seconds, ..Default::default() }).collect();
            scripts.too_slow(&running).iter().map(|script| script.pid).collect::<Vec<_>>()
        };
        assert_eq!(named(&[(1, 1.9), (2, 2.0)]), [2]);
        assert_eq!(named(&[(1, 2.1), (2, 2.2)]), [1]);
        assert_eq!(named(&[(1, 2.2)]), [0; 0]);
        assert_eq!(named(&[(1, 0.1), (2, 2.1)]), [2]);
        assert_eq!(named(&[(1, 2.1), (2, 2.2)]), [1]);
    }

    #[test]
    fn a_fixed_number_is_never_looked_at() {
        let mut settings = Settings::default();
        assert!(Scripts::new(&settings).look_at().is_none());
        settings.script_processes = 3;
        assert!(Scripts::new(&settings).look_at().is_none());
        assert!(Scripts::new(&settings).due_at().is_some(), "their silence is");
        settings.script_timeout = Duration::ZERO;
        assert!(Scripts::new(&settings).due_at().is_none());
        settings.script_processes_max = 4;
        assert!(Scripts::new(&settings).look_at().is_some());
    }
}
