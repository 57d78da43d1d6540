//! The figures of the server as metrics. What each one means is described here and in docs/metrics.md.

use super::text::{Family, Text};
use crate::counter::Counter;
use crate::histogram::{BUCKETS, Histogram, floor};
use crate::role::Role;
use crate::scoreboard::{Scoreboard, WorkerSlot};
use crate::snapshot::{Snapshot, WorkerSnapshot};
use crate::sys;
use crate::tally::Tally;

/// The bounds of latencies: each octave of microseconds from 64 µs to 67 s.
const OCTAVES: std::ops::RangeInclusive<usize> = 6..=26;

/// A figure: its name, what it means, and where it stands.
type Figure<T> = (&'static str, &'static str, fn(&T) -> &Counter);
/// The same of a process, with what makes it.
type Made<'a> = (&'static str, &'static str, &'a dyn Fn(&WorkerSnapshot) -> f64);

/// Writes all figures that the master knows.
pub(crate) fn write(board: &Scoreboard, snapshot: &Snapshot, text: &mut Text) {
    let slots: Vec<&'static WorkerSlot> = board.live().collect();
    server(board, snapshot, text);
    requests(board, &slots, text);
    connections(board, &slots, snapshot, text);
    processes(board, snapshot, &slots, text);
    tasks(board, &slots, snapshot, text);
}

fn server(board: &Scoreboard, snapshot: &Snapshot, text: &mut Text) {
    text.family(Family::Gauge, "apus_build_info", "The version of Apus.");
    text.sample(&[("version", &snapshot.version)], 1.0);
    let singles = [
        (Family::Gauge, "apus_uptime_seconds", "Time since the master began.", snapshot.uptime),
        (Family::Gauge, "apus_workers_serving", "Event workers that serve.", snapshot.totals.serving as f64),
        (
            Family::Gauge,
            "apus_workers_configured",
            "Event workers that serve when all is well.",
            f64::from(snapshot.worker_num),
        ),
        (Family::Counter, "apus_reloads", "Reloads since the start.", f64::from(snapshot.generation.saturating_sub(1))),
        (
            Family::Counter,
            "apus_worker_crashes",
            "Processes that ended without being told to.",
            board.header.crashes.get() as f64,
        ),
    ];
    for (kind, name, help, value) in singles {
        text.single(kind, name, help, value);
    }
}

/// The sum of a counter over the processes that are gone and those that live.
fn tallied(board: &Scoreboard, slots: &[&WorkerSlot], counter: impl Fn(&Tally) -> &Counter) -> f64 {
    let living: u64 = slots.iter().map(|slot| counter(&slot.tally).get()).sum();
    (counter(&board.header.tally).get() + living) as f64
}

fn requests(board: &Scoreboard, slots: &[&'static WorkerSlot], text: &mut Text) {
    text.family(Family::Counter, "apus_http_requests", "Answers by method and status code.");
    let mut sums: Vec<_> = board.header.tally.answers().collect();
    for slot in slots {
        for (sum, (.., count)) in sums.iter_mut().zip(slot.tally.answers()) {
            sum.2 += count;
        }
    }
    for (method, code, count) in sums.into_iter().filter(|(.., count)| *count > 0) {
        text.sample(&[("method", method), ("code", &code)], count as f64);
    }
    let workers = slots.iter().filter(|slot| !matches!(board.role_of(slot), Some(Role::Task | Role::Script)));
    latency(
        text,
        ("apus_http_request_duration_seconds", "Time from a request's arrival to the end of its answer."),
        workers.map(|slot| &slot.latency).chain([&board.header.latency]),
    );
    let counters: [Figure<Tally>; 10] = [
        ("apus_http_requests_refused", "Requests refused before the program saw them.", |tally| &tally.refused),
        ("apus_http_requests_lost", "Requests whose clients left before the answer was complete.", |tally| &tally.lost),
        ("apus_http2_streams", "Streams of HTTP/2 that clients opened.", |tally| &tally.http2_streams),
        ("apus_http2_resets_received", "Streams of HTTP/2 that clients broke off.", |tally| {
            &tally.http2_resets_received
        }),
        ("apus_http2_resets_sent", "Streams of HTTP/2 that the server broke off.", |tally| &tally.http2_resets_sent),
        ("apus_access_log_dropped", "Lines of the access log that were dropped.", |tally| &tally.access_dropped),
        ("apus_pool_exhausted", "Times that a coroutine waited for a pooled connection in vain.", |tally| {
            &tally.pool_exhausted
        }),
        ("apus_pool_waits", "Times that a coroutine waited for a pooled connection.", |tally| &tally.pool_waits),
        ("apus_pool_connections_created", "Connections that pools made.", |tally| &tally.pool_created),
        ("apus_tls_handshakes_failed", "TLS handshakes that failed.", |tally| &tally.tls_failed),
    ];
    for (name, help, counter) in counters {
        text.single(Family::Counter, name, help, tallied(board, slots, counter));
    }
    text.family(Family::Counter, "apus_tls_handshakes", "TLS handshakes that were completed.");
    text.sample(&[("kind", "full")], tallied(board, slots, |tally| &tally.tls_full));
    text.sample(&[("kind", "resumed")], tallied(board, slots, |tally| &tally.tls_resumed));
}

fn latency<'a>(text: &mut Text, (name, help): (&str, &str), of: impl Iterator<Item = &'a Histogram>) {
    let (mut counts, mut sum) = ([0; BUCKETS], 0u64);
    for histogram in of {
        histogram.add_to(&mut counts);
        sum = sum.wrapping_add(histogram.sum());
    }
    text.family(Family::Histogram, name, help);
    // Two buckets an octave; all before the octave's first are less than it.
    let below = |octave: usize| counts[..octave * 2].iter().sum();
    let buckets = OCTAVES.map(|octave| (floor(octave * 2) / 1e6, below(octave)));
    text.histogram(&[], buckets, counts.iter().sum(), sum as f64 / 1e6);
}

fn connections(board: &Scoreboard, slots: &[&'static WorkerSlot], snapshot: &Snapshot, text: &mut Text) {
    let totals = &snapshot.totals;
    // Rows of the table are exact; what workers tell of themselves is as old as their last tick.
    let open: u64 = slots.iter().map(|slot| slot.rows.get()).sum();
    text.single(Family::Gauge, "apus_connections_open", "Connections open now.", open as f64);
    let counters = [
        ("apus_connections_accepted", "Connections accepted.", totals.accepted),
        ("apus_connections_closed", "Connections closed.", totals.closed),
        ("apus_received_bytes", "Bytes read from connections.", totals.bytes_in),
        ("apus_sent_bytes", "Bytes written to connections.", totals.bytes_out),
        (
            "apus_loop_blocked",
            "Times that an event loop was blocked longer than blocked_loop_warn.",
            totals.loop_blocked,
        ),
    ];
    for (name, help, value) in counters {
        text.single(Family::Counter, name, help, value as f64);
    }
    let gauges: [Figure<WorkerSlot>; 3] = [
        ("apus_pool_connections_used", "Pooled connections in use.", |slot| &slot.pool_used),
        ("apus_pool_connections_idle", "Pooled connections that nobody uses.", |slot| &slot.pool_idle),
        ("apus_pool_waiting", "Coroutines that wait for a pooled connection.", |slot| &slot.pool_waiting),
    ];
    for (name, help, counter) in gauges {
        let sum: u64 = slots.iter().map(|slot| counter(slot).get()).sum();
        text.single(Family::Gauge, name, help, sum as f64);
    }
    let active = slots.iter().filter(|slot| board.role_of(slot) == Some(Role::Worker)).map(|slot| slot.active.get());
    text.single(Family::Gauge, "apus_http_requests_active", "Requests being handled now.", active.sum::<u64>() as f64);
}

/// By how much an event loop is late: its last tick, or the one that is due while it is blocked.
fn late(slot: &WorkerSlot, now_ms: u64) -> f64 {
    let due = slot.loop_due.get();
    let overdue = if due == 0 { 0 } else { now_ms.saturating_sub(due) };
    (slot.loop_late.get() as f64 / 1e6).max(overdue as f64 / 1e3)
}

fn processes(board: &Scoreboard, snapshot: &Snapshot, slots: &[&'static WorkerSlot], text: &mut Text) {
    let now = sys::monotonic_ms();
    let late = |id: u32| slots.iter().find(|slot| slot.pid() == id).map_or(0.0, |slot| late(slot, now));
    let gauges: [Made<'_>; 6] = [
        ("apus_worker_resident_bytes", "Resident memory of a process.", &|worker| worker.rss as f64),
        ("apus_worker_php_heap_bytes", "Memory that PHP's allocator holds.", &|worker| worker.memory as f64),
        ("apus_worker_coroutines", "Coroutines alive now.", &|worker| worker.coroutines as f64),
        ("apus_worker_timers", "Timers alive now.", &|worker| worker.timers as f64),
        ("apus_worker_active", "Requests or tasks being handled now.", &|worker| worker.active as f64),
        ("apus_worker_loop_late_seconds", "By how much the event loop is late.", &|worker| late(worker.pid)),
    ];
    for (name, help, value) in gauges {
        text.family(Family::Gauge, name, help);
        // While a reload goes on there are two of one number: the newest one that serves counts.
        for id in 0..board.role_counts().total() {
            let Some(pid) = board.worker(id).map(WorkerSlot::pid) else { continue };
            if let Some(worker) = snapshot.workers.iter().find(|worker| worker.pid == pid) {
                text.sample(&[("role", &worker.role), ("worker", &id.to_string())], value(worker));
            }
        }
    }
    text.single(
        Family::Gauge,
        "apus_master_resident_bytes",
        "Resident memory of the master.",
        crate::snapshot::resident(std::process::id()) as f64,
    );
}

fn tasks(board: &Scoreboard, slots: &[&'static WorkerSlot], snapshot: &Snapshot, text: &mut Text) {
    if board.role_counts().tasks == 0 {
        return;
    }
    let totals = &snapshot.totals;
    text.single(Family::Counter, "apus_tasks", "Tasks done.", totals.tasks as f64);
    text.single(Family::Counter, "apus_tasks_failed", "Tasks that failed.", totals.task_errors as f64);
    let of_tasks = slots.iter().filter(|slot| board.role_of(slot) == Some(Role::Task)).map(|slot| &slot.latency);
    latency(
        text,
        ("apus_task_duration_seconds", "Time that tasks took."),
        of_tasks.chain([&board.header.task_latency]),
    );
}
