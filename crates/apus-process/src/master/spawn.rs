//! The births and deaths of workers.

use std::io;
use std::time::{Duration, Instant};

use nix::sys::signal::SigSet;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use super::{Master, Phase, processes, set_name};
use crate::channel::Channel;
use crate::error::Error;
use crate::identity::Identity;
use crate::program::{Config, MasterEvent, Program};
use crate::replica::Process;
use crate::role::Role;
use crate::worker::{Begun, Worker, jittered};
use crate::{log, sys};
use std::os::fd::{AsFd, AsRawFd};

/// Early deaths in a row from which on they are called a crash loop.
const CRASH_LOOP: u32 = 3;

/// What a try to start a worker came to.
enum Started {
    /// In the master.
    Process(Process),
    /// In the worker.
    Worker(Box<Worker>),
    /// Earlier generations still hold every slot: wait until one leaves.
    NoSlot,
}

/// How a process ended.
#[derive(Debug, Clone, Copy)]
struct End {
    exit_code: i32,
    signal: i32,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match nix::sys::signal::Signal::try_from(self.signal) {
            Ok(signal) => write!(f, "was ended by {signal}"),
            Err(_) => write!(f, "exited with code {}", self.exit_code),
        }
    }
}

impl Master<'_> {
    /// Starts every process that is due; in a worker just forked, returns what it works with.
    pub(crate) fn start_due(&mut self) -> Option<Worker> {
        let now = Instant::now();
        for index in 0..self.replicas.len() {
            let replica = &self.replicas[index];
            if !self.may_start(replica) || replica.start_at(now).is_none_or(|at| at > now) {
                continue;
            }
            match self.start(index) {
                Ok(Started::Process(process)) => self.replicas[index].next = Some(process),
                Ok(Started::Worker(worker)) => return Some(*worker),
                Ok(Started::NoSlot) => self.replicas[index].delay(now),
                Err(error) => {
                    let role = self.replicas[index].role.name();
                    log::error(format_args!("cannot start {role} {index}: {error}; trying again in a second"));
                    self.replicas[index].delay(now);
                }
            }
        }
        None
    }

    /// Gives the program what the master has to talk to the workers with, where it wants that.
    pub(crate) fn take_seat(&mut self, program: &mut dyn Program) {
        if !self.config.seat {
            return;
        }
        let seat = Begun::master(self.scoreboard)
            .map(|begun| {
                self.post.open(begun.slot_index);
                begun.worker(self.scoreboard, self.connections, &self.post)
            })
            .inspect_err(|error| log::warning(format_args!("the master cannot talk to the workers: {error}")));
        if let Ok(mut worker) = seat {
            // No other process has this number.
            worker.id = self.scoreboard.role_counts().total();
            program.seat(worker);
        }
    }

    fn start(&mut self, index: usize) -> io::Result<Started> {
        let (id, role) = (self.replicas[index].id, self.replicas[index].role);
        let Some((slot_index, slot)) = self.scoreboard.claim(id, self.generation, sys::now_ms()) else {
            return Ok(Started::NoSlot);
        };
        self.post.open(slot_index);
        let settings = &self.config.settings;
        let (limit, grace) = match role {
            Role::Worker => (settings.max_request, settings.max_request_grace),
            Role::Task => (settings.task_max_request, settings.task_max_request_grace),
            Role::Script => (settings.script_max_request, 0),
            Role::User(_) | Role::Master => (0, 0),
        };
        if limit > 0 {
            slot.request_limit.set(jittered(limit, if grace > 0 { grace } else { limit / 2 }));
        }
        let forked = Channel::pair().and_then(|ends| Ok((ends, getpid(), sys::fork()?)));
        let ((ours, theirs), master, pid) = match forked {
            Ok(forked) => forked,
            Err(error) => {
                self.post.close(slot_index);
                self.scoreboard.release(slot);
                return Err(error);
            }
        };
        let Some(pid) = pid else {
            slot.set_pid(std::process::id());
            let orphans = std::mem::take(&mut self.replicas[index].orphans);
            let begun = Begun { role, slot_index, slot, channel: theirs, orphans, master_pid: master.as_raw() as u32 };
            return Ok(Started::Worker(Box::new(begun.worker(self.scoreboard, self.connections, &self.post))));
        };
        slot.set_pid(pid.as_raw() as u32);
        let mut process = Process::new(pid, role, ours, (slot_index, slot));
        process.orphans = std::mem::take(&mut self.replicas[index].orphans);
        let age = settings.max_worker_age;
        if !age.is_zero() && !process.is_user() {
            let spread = age.as_millis() as u64 / 10;
            process.expires = Some(process.born + age + Duration::from_millis(jittered(0, spread)));
        }
        Ok(Started::Process(process))
    }

    /// Takes leave of the workers that ended. Only their process ids are asked for: the program may have children of
    /// its own.
    pub(crate) fn reap(&mut self, program: &mut dyn Program) {
        let pids: Vec<Pid> = processes(&self.replicas, &self.leaving).map(|process| process.pid).collect();
        for pid in pids {
            let end = match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(_, exit_code)) => End { exit_code, signal: 0 },
                Ok(WaitStatus::Signaled(_, signal, _)) => End { exit_code: 0, signal: signal as i32 },
                // Somebody else in this process waited for it, against the rules: it is gone all the same.
                Err(nix::Error::ECHILD) => End { exit_code: 0, signal: 0 },
                _ => continue,
            };
            self.account_for(program, pid, end);
        }
    }

    fn account_for(&mut self, program: &mut dyn Program, pid: Pid, end: End) {
        let Some((process, place)) = self.take_out(pid) else { return };
        self.inherit(&process);
        program.on_reaped(process.slot_index, process.role);
        if let Some(access) = &mut self.access {
            // Before anybody has the slot, and the ring.
            access.take(process.slot_index);
        }
        self.post.close(process.slot_index);
        let answered = process.slot.requests.get();
        self.scoreboard.release(process.slot);
        let crashed = !process.dismissed && (end.signal != 0 || end.exit_code != 0);
        if end.signal != 0 || end.exit_code != 0 {
            log::there(
                log::Level::Warning,
                format_args!(
                    "Worker::report_error(): worker(pid={pid}, id={}) abnormal exit, status={}, signal={}",
                    process.id, end.exit_code, end.signal
                ),
            );
        }
        if !process.dismissed && (!self.is_stopping() || matches!(process.role, Role::Task | Role::Script)) {
            if process.is_user() && !crashed && place == Place::Current {
                self.count_exit(&process);
            } else if process.role == Role::Script && !crashed && answered > 0 {
                // It may have answered them all before it was put in its place.
                self.renew_script(&process, answered);
            } else {
                self.mourn(&process, place, end);
            }
        }
        let (id, role, pid) = (process.id, process.role, pid.as_raw() as u32);
        let End { exit_code, signal } = end;
        self.emit(program, MasterEvent::WorkerExited { id, role, pid, exit_code, signal, crashed });
    }

    /// Keeps for the next process of the replica what a dead one has not reported: its own connections, and those that
    /// it was to report.
    fn inherit(&mut self, process: &Process) {
        let left = if process.slot.rows.get() > 0 { self.connections.purge(process.slot_index) } else { Vec::new() };
        if !left.is_empty() {
            log::notice(format_args!("worker {} ({}) left {} connections behind", process.id, process.pid, left.len()));
        }
        let orphans = &mut self.replicas[usize::from(process.id)].orphans;
        orphans.extend_from_slice(&process.orphans);
        orphans.extend(left);
    }

    /// A user process has left by itself: it is started again, soon.
    fn count_exit(&mut self, process: &Process) {
        let now = Instant::now();
        let delay = self.replicas[usize::from(process.id)].count_exit(now - process.born, now);
        log::info(format_args!(
            "user process {} ({}) has ended; next start in {} ms",
            process.id,
            process.pid,
            delay.as_millis()
        ));
    }

    /// A script that stays has ended by itself, after requests that it answered: the next one starts at once.
    fn renew_script(&mut self, process: &Process, answered: u64) {
        self.replicas[usize::from(process.id)].end_asked_for();
        log::info(format_args!(
            "script process {} ({}) has ended after {answered} requests; the next one starts",
            process.id, process.pid
        ));
    }

    /// Counts a death that nobody asked for, and says so.
    fn mourn(&mut self, process: &Process, place: Place, end: End) {
        self.scoreboard.header.crashes.add(1);
        let now = Instant::now();
        let replica = &mut self.replicas[usize::from(process.id)];
        let (delay, failures) = replica.count_death(place == Place::Current, now - process.born, now);
        let (id, pid, age) = (process.id, process.pid, (now - process.born).as_secs_f64());
        let role = process.role.name();
        let again = format!("next start in {} ms", delay.as_millis());
        if failures >= CRASH_LOOP {
            log::error(format_args!(
                "{role} {id} ({pid}) {end}: {failures} times in a row within seconds of its start; {again}"
            ));
        } else if !log::is_there() {
            log::warning(format_args!("{role} {id} ({pid}) {end} after {age:.1} s; {again}"));
        }
        if failures == CRASH_LOOP && self.phase == Phase::Starting {
            self.notify.failing(pid.as_raw().unsigned_abs(), &format!("{role} {id} ({pid}) {end}"));
        }
        if place == Place::Next {
            self.fail_reload(id, role, &end.to_string());
            let text =
                format!("{role} {id} {end} before it was ready; master {} goes on trying: see its log", getpid());
            self.notify.trouble(&text);
        }
    }

    fn take_out(&mut self, pid: Pid) -> Option<(Process, Place)> {
        if let Some(index) = self.leaving.iter().position(|process| process.pid == pid) {
            return Some((self.leaving.swap_remove(index), Place::Leaving));
        }
        self.replicas.iter_mut().find_map(|replica| {
            let current =
                replica.current.take_if(|process| process.pid == pid).map(|process| (process, Place::Current));
            current.or_else(|| replica.next.take_if(|process| process.pid == pid).map(|process| (process, Place::Next)))
        })
    }
}

/// Where a process that ended had been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Current,
    Next,
    Leaving,
}

/// Makes a freshly forked process a worker: rights, signals, name. The signal mask comes last, when every handler
/// stands.
pub(crate) fn become_worker(worker: &Worker, config: &Config, identity: &Identity, mask: &SigSet) -> Result<(), Error> {
    let (part, bound) = match worker.role {
        Role::Worker => ("worker", true),
        Role::Task => ("task", true),
        Role::Script => ("script", true),
        Role::User(_) => ("user", false),
        Role::Master => ("master", false),
    };
    set_name(&config.title, &format!("{part} {}", worker.id));
    log::speak_as(worker.role, worker.id);
    identity.assume(worker.id, bound)?;
    let master = Pid::from_raw(worker.master_pid as i32);
    let channel = worker.channel.as_fd().as_raw_fd();
    let orders = if bound { sys::Orders::ToMaster(channel) } else { sys::Orders::Kept };
    sys::become_worker(orders, master, config.settings.max_wait_time).map_err(Error::system("worker signals"))?;
    mask.thread_set_mask().map_err(Error::system("sigprocmask"))
}
