//! The state of the whole server, to be shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::{BUCKETS, percentile};
use crate::role::Role;
use crate::scoreboard::{Scoreboard, WorkerSlot, WorkerState};
use crate::sys;

/// One process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkerSnapshot {
    /// The process's id.
    pub id: u16,
    /// "worker", "task" or "user".
    pub role: String,
    /// The process id.
    pub pid: u32,
    /// Reloads before it, from 1.
    pub generation: u32,
    /// Where it stands: see [`WorkerState::name`].
    pub state: String,
    /// Seconds since it was forked.
    pub uptime: f64,
    /// Connections open now.
    pub connections: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections closed.
    pub closed: u64,
    /// Requests answered; of a task worker, tasks done.
    pub requests: u64,
    /// Requests or tasks being handled now.
    pub active: u64,
    /// Callbacks of streams, WebSockets and datagrams at work now.
    pub messages_active: u64,
    /// Answers with a 5xx status, or tasks that failed.
    pub errors: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Coroutines alive now.
    pub coroutines: u64,
    /// The most coroutines alive at once.
    pub coroutine_peak: u64,
    /// Memory that PHP's allocator holds, in bytes.
    pub memory: u64,
    /// The most memory that PHP's allocator held, in bytes.
    pub memory_peak: u64,
    /// Resident memory as the kernel counts it, in bytes.
    pub rss: u64,
    /// Times that the event loop was blocked too long.
    pub loop_blocked: u64,
    /// Timers alive now.
    pub timers: u64,
    /// Median latency of a request or task, in microseconds.
    pub p50_us: f64,
    /// 99th percentile of latency, in microseconds.
    pub p99_us: f64,
}

/// The sums over all workers, those gone included; gauges and latencies over the living.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Event workers that serve.
    pub serving: u64,
    /// Worker processes that ended without being told to.
    pub crashes: u64,
    /// Connections open now.
    pub connections: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections closed.
    pub closed: u64,
    /// Requests answered.
    pub requests: u64,
    /// Requests being handled now.
    pub active: u64,
    /// Answers with a 5xx status.
    pub errors: u64,
    /// Tasks done.
    pub tasks: u64,
    /// Tasks being done now.
    pub tasks_active: u64,
    /// Tasks that failed.
    pub task_errors: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Coroutines alive now.
    pub coroutines: u64,
    /// Memory that PHP's allocators hold, in bytes.
    pub memory: u64,
    /// Resident memory, in bytes; pages that workers share count in each.
    pub rss: u64,
    /// Times that an event loop was blocked too long.
    pub loop_blocked: u64,
    /// Median latency of a request, in microseconds.
    pub p50_us: f64,
    /// 99th percentile of latency, in microseconds.
    pub p99_us: f64,
}

/// What the processes that run scripts do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptsSnapshot {
    /// Processes that wait for a request.
    pub idle: usize,
    /// Processes that have one.
    pub busy: usize,
    /// For how many milliseconds the request that has waited longest for a process has; 0 where none waits.
    pub longest_wait: u64,
    /// What runs.
    pub running: Vec<RunningScript>,
}

/// A script that runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunningScript {
    /// Its process.
    pub pid: u32,
    /// Its file.
    pub script: String,
    /// For how many seconds it has been running.
    pub seconds: f64,
}

/// A metric of the program's own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MetricSnapshot {
    /// Its name, without what is added for its samples.
    pub name: String,
    /// "counter", "gauge" or "histogram".
    #[serde(rename = "type")]
    pub kind: String,
    /// One for each combination of labels.
    pub series: Vec<SeriesSnapshot>,
}

/// A series of a metric.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SeriesSnapshot {
    /// What its labels are.
    pub labels: BTreeMap<String, String>,
    /// The value of a counter or gauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Of a histogram: how many values there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Of a histogram: their sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<f64>,
}

/// The whole server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The version of Apus.
    pub version: String,
    /// The master's process id; 0 where only the scoreboard was asked.
    pub pid: u32,
    /// The script that serves.
    pub script: String,
    /// Addresses it listens on.
    pub listen: Vec<String>,
    /// Seconds since the master began.
    pub uptime: f64,
    /// Generations of workers so far: one more than reloads.
    pub generation: u32,
    /// "starting", "serving", "reloading" or "stopping"; empty where only the scoreboard was asked.
    pub state: String,
    /// Event workers configured.
    pub worker_num: u16,
    /// Task workers configured.
    pub task_worker_num: u16,
    /// Processes that run scripts.
    #[serde(default)]
    pub script_process_num: u16,
    /// User processes.
    pub user_process_num: u16,
    /// Every worker process, by id and age.
    pub workers: Vec<WorkerSnapshot>,
    /// The sums.
    pub totals: Totals,
    /// What the processes that run scripts do; nothing where there are none, or only the scoreboard was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scripts: Option<ScriptsSnapshot>,
    /// The program's own metrics; empty where only the scoreboard was asked.
    #[serde(default)]
    pub metrics: Vec<MetricSnapshot>,
}

impl WorkerSlot {
    /// The slot's numbers now.
    pub fn snapshot(&self) -> WorkerSnapshot {
        let mut counts = [0; BUCKETS];
        self.latency.add_to(&mut counts);
        WorkerSnapshot {
            id: self.id(),
            role: String::new(),
            pid: self.pid(),
            generation: self.generation(),
            state: self.state().name().to_owned(),
            uptime: seconds_since(self.started_at.get()),
            connections: self.connections.get(),
            accepted: self.accepted.get(),
            closed: self.closed.get(),
            requests: self.requests.get(),
            active: self.active.get(),
            messages_active: self.messages_active.get(),
            errors: self.errors.get(),
            bytes_in: self.bytes_in.get(),
            bytes_out: self.bytes_out.get(),
            coroutines: self.coroutines.get(),
            coroutine_peak: self.coroutine_peak.get(),
            memory: self.memory_bytes.get(),
            memory_peak: self.memory_peak.get(),
            rss: resident(self.pid()),
            loop_blocked: self.loop_blocked.get(),
            timers: self.timers.get(),
            p50_us: percentile(&counts, 0.5),
            p99_us: percentile(&counts, 0.99),
        }
    }
}

impl Scoreboard {
    /// The server as shared memory shows it: any worker may ask. The master adds what only it knows.
    pub fn snapshot(&self) -> Snapshot {
        let mut counts = [0; BUCKETS];
        let mut workers: Vec<WorkerSnapshot> = self
            .live()
            .map(|slot| {
                let role = self.role_of(slot);
                if role == Some(Role::Worker) {
                    slot.latency.add_to(&mut counts);
                }
                WorkerSnapshot { role: short_name(role).to_owned(), ..slot.snapshot() }
            })
            .collect();
        workers.sort_by_key(|worker| (worker.id, worker.generation, worker.pid));
        let mut totals = self.gone();
        for worker in &workers {
            add(&mut totals, worker);
        }
        let workers_live = self.live().filter(|slot| self.role_of(slot) == Some(Role::Worker));
        totals.serving = workers_live
            .filter(|slot| matches!(slot.state(), WorkerState::Serving | WorkerState::Recycling))
            .count() as u64;
        totals.p50_us = percentile(&counts, 0.5);
        totals.p99_us = percentile(&counts, 0.99);
        Snapshot {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime: seconds_since(self.header.started_at.get()),
            generation: self.header.generation.get() as u32,
            worker_num: self.worker_num(),
            task_worker_num: self.role_counts().tasks,
            script_process_num: self.role_counts().scripts,
            user_process_num: self.role_counts().users,
            workers,
            totals,
            ..Snapshot::default()
        }
    }

    /// The sums of the processes that are gone.
    fn gone(&self) -> Totals {
        Totals {
            crashes: self.header.crashes.get(),
            accepted: self.header.accepted.get(),
            closed: self.header.closed.get(),
            requests: self.header.requests.get(),
            errors: self.header.errors.get(),
            tasks: self.header.tasks.get(),
            task_errors: self.header.task_errors.get(),
            bytes_in: self.header.bytes_in.get(),
            bytes_out: self.header.bytes_out.get(),
            loop_blocked: self.header.loop_blocked.get(),
            ..Totals::default()
        }
    }
}

fn short_name(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Task) => "task",
        Some(Role::Script) => "script",
        Some(Role::User(_)) => "user",
        _ => "worker",
    }
}

fn add(totals: &mut Totals, worker: &WorkerSnapshot) {
    totals.connections += worker.connections;
    totals.accepted += worker.accepted;
    totals.closed += worker.closed;
    let mut of_scripts = (0, 0, 0);
    let (done, active, errors) = if worker.role == short_name(Some(Role::Script)) {
        // They are requests of the workers.
        (&mut of_scripts.0, &mut of_scripts.1, &mut of_scripts.2)
    } else if worker.role == short_name(Some(Role::Task)) {
        (&mut totals.tasks, &mut totals.tasks_active, &mut totals.task_errors)
    } else {
        (&mut totals.requests, &mut totals.active, &mut totals.errors)
    };
    *done += worker.requests;
    *active += worker.active;
    *errors += worker.errors;
    totals.bytes_in += worker.bytes_in;
    totals.bytes_out += worker.bytes_out;
    totals.coroutines += worker.coroutines;
    totals.memory += worker.memory;
    totals.rss += worker.rss;
    totals.loop_blocked += worker.loop_blocked;
}

fn seconds_since(ms: u64) -> f64 {
    sys::now_ms().saturating_sub(ms) as f64 / 1000.0
}

/// A process's resident memory in bytes, by `proc_pid_status(5)`; 0 when it is gone.
pub(crate) fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(0)
        * 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::RoleCounts;

    #[test]
    fn totals_keep_what_is_gone_and_survive_json() {
        let board = Scoreboard::new(RoleCounts { workers: 2, tasks: 1, ..RoleCounts::default() }).unwrap();
        for id in 0..2 {
            let (_, slot) = board.claim(id, 1, sys::now_ms()).unwrap();
            slot.set_pid(std::process::id());
            slot.set_state(WorkerState::Serving);
            slot.requests.add(10);
            slot.connections.add(2);
            slot.latency.record(1000);
        }
        let (_, task) = board.claim(2, 1, sys::now_ms()).unwrap();
        task.requests.add(7);
        task.set_state(WorkerState::Serving);
        board.release(board.worker(0).unwrap());
        let snapshot = board.snapshot();
        assert_eq!((snapshot.workers.len(), snapshot.totals.requests, snapshot.totals.connections), (2, 20, 2));
        assert_eq!((snapshot.totals.tasks, snapshot.workers[1].role.as_str()), (7, "task"));
        assert_eq!(snapshot.totals.serving, 1);
        assert!(snapshot.totals.p99_us > 500.0 && snapshot.totals.p99_us < 2000.0);
        assert!(snapshot.totals.rss > 0);
        let json = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), snapshot);
    }
}
