//! What a process with an event loop tells of itself where somebody may look: `metrics_address` is set.

use std::rc::Rc;
use std::time::Duration;

use apus_process::{Family, Text, Worker};
use apus_zend::engine;

use super::core::ServerCore;
use crate::memory::write_tables;
use crate::metrics;
use crate::pool;
use crate::runtime::State;
use crate::timer::Timers;
use crate::watchdog;

/// How often.
const PERIOD: Duration = Duration::from_millis(500);

/// Tells it, and by how much the loop is late, until the process ends.
pub(super) async fn tell(worker: Rc<Worker>, state: Rc<State>) {
    loop {
        sample(&worker, &state);
        let due = tokio::time::Instant::now() + PERIOD;
        worker.expect_tick(PERIOD);
        tokio::time::sleep_until(due).await;
        worker.slot.loop_late.set(due.elapsed().as_micros() as u64);
    }
}

/// Brings the figures up to date that nothing else brings up to date in a process without connections.
pub(super) fn sample(worker: &Worker, state: &Rc<State>) {
    let slot = worker.slot;
    let stats = state.engine.stats();
    slot.coroutines.set(stats.live as u64);
    slot.coroutine_peak.set(stats.peak as u64);
    slot.loop_blocked.set(watchdog::blocked());
    slot.timers.set(Timers::of(state).len() as u64);
    slot.memory_bytes.set(engine::memory_usage(true) as u64);
    let pools = pool::figures();
    slot.pool_used.set(pools.used);
    slot.pool_idle.set(pools.idle);
    slot.pool_waiting.set(pools.waiting);
    slot.tally.pool_exhausted.set(pools.exhausted);
    slot.tally.pool_waits.set(pools.waits);
    slot.tally.pool_created.set(pools.created);
}

/// In the master: what it knows beside the processes' own figures.
pub(super) fn write(core: &ServerCore, text: &mut Text) {
    if let Some(hosts) = &*core.host_figures.borrow() {
        hosts.write(text);
    }
    if let Some(task_queue) = core.task_queue.get() {
        let stats = task_queue.glance();
        let gauges = [
            ("apus_tasks_waiting", "Tasks that wait for a task worker.", u64::from(stats.waiting)),
            ("apus_tasks_running", "Tasks that run.", u64::from(stats.running)),
            ("apus_tasks_delayed", "Tasks that wait for their time.", u64::from(stats.delayed)),
            ("apus_tasks_workers_idle", "Task workers that have nothing to do.", u64::from(stats.idle)),
            ("apus_tasks_queue_bytes", "Memory that waiting and running tasks take.", stats.task_bytes),
            ("apus_tasks_queue_max_bytes", "Memory that they may take.", stats.capacity),
        ];
        for (name, help, value) in gauges {
            text.single(Family::Gauge, name, help, value as f64);
        }
    }
    write_tables(text);
    metrics::write(text);
}
