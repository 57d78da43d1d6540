//! What a worker's network part counts, mirrored into memory that all processes share.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use apus_net::{Answered, ConnInfo, Control, Counters, Metrics, Standing};
use apus_process::log::{self, Level, Repeats};
use apus_process::{Access, ConnFlags, ConnHandle, Peer, Worker};
use apus_zend::engine;

use super::current_control;
use super::host_figures::HostFigures;
use crate::runtime::State;
use crate::timer::Timers;
use crate::watchdog;

/// Stacks given back to the system at one go, a few times a second: about a millisecond of work.
const TRIMMED: usize = 100;

type Rows = Rc<RefCell<HashMap<i64, ConnHandle>>>;

thread_local! {
    /// This worker's rows of the table of connections.
    static ROWS: Rows = Rows::default();
}

/// Connections whose rows are brought up to date with every sample; the rows of more with every fourth.
const MANY: usize = 1000;

pub(super) struct WorkerMetrics {
    worker: Rc<Worker>,
    rows: Rows,
    hosts: Option<Rc<HostFigures>>,
    full: Cell<bool>,
    /// Samples taken so far.
    samples: Cell<u8>,
}

impl WorkerMetrics {
    fn log(&self, answer: &Answered<'_>, micros: u64) {
        let Answered { received_at, sent, status, host, noted, .. } = *answer;
        self.worker.log_access(&Access { received_at, micros, sent, status, host, noted });
    }

    /// A request is no longer in flight.
    fn count_over(&self) {
        self.worker.slot.active.set(self.worker.slot.active.get().saturating_sub(1));
    }

    pub(super) fn new(worker: Rc<Worker>, hosts: Option<Rc<HostFigures>>) -> Self {
        Self { worker, hosts, rows: ROWS.with(Rc::clone), full: Cell::new(false), samples: Cell::new(0) }
    }
}

/// Shows other processes what a connection of this worker is, and whether it takes more.
pub(super) fn show(worker: &Worker, conn: &ConnInfo, full: bool) {
    ROWS.with(|rows| {
        if let Some(row) = rows.borrow().get(&conn.id()) {
            worker.set_connection_flags(row, ConnFlags { websocket: conn.is_websocket(), full });
        }
    });
}

/// Peers can cause as many of these as they like.
/// The same where the log is as Swoole's: a warning.
static REFUSED_THERE: Repeats = Repeats::new(Level::Warning, "connections closed for what their peers sent");
static REFUSED: Repeats = Repeats::new(Level::Notice, "connections closed for what their peers sent");

impl Metrics for WorkerMetrics {
    fn next_session(&self) -> i64 {
        self.worker.next_session()
    }

    fn may_accept(&self) -> bool {
        // What a coroutine left behind with a fatal error (a session's lock, say) would keep others waiting here.
        if State::get().is_ok_and(|state| state.faulted.get()) {
            return false;
        }
        let full = self.worker.connections_open() >= self.worker.connections.capacity() as u64;
        if full && !self.full.replace(true) {
            let most = self.worker.connections.capacity();
            self.warn(&format!("{most} connections are open, which is max_connection: new ones wait in the backlog"));
        } else if !full {
            self.full.set(false);
        }
        !full
    }

    fn connected(&self, conn: &ConnInfo) {
        let peer = match conn.peer() {
            apus_net::Peer::Tcp(addr) => Peer::Tcp(addr),
            apus_net::Peer::Unix => Peer::Unix,
        };
        if let Some(row) = self.worker.insert_connection(conn.id(), peer, conn.local().port()) {
            self.rows.borrow_mut().insert(conn.id(), row);
        }
    }

    fn closed(&self, conn: &ConnInfo) {
        super::routing::closed(conn.id());
        let row = self.rows.borrow_mut().remove(&conn.id());
        if let Some(row) = row {
            self.worker.remove_connection(row);
        }
    }

    fn upgraded(&self, conn: &ConnInfo) {
        self.mark(conn, false);
    }

    fn pressure(&self, conn: &ConnInfo, full: bool) {
        self.mark(conn, full);
    }

    fn refused(&self, conn: &ConnInfo, why: &str) {
        let (fd, ip, port) = (conn.id(), conn.peer_ip(), conn.peer_port());
        let kind = if log::is_there() { &REFUSED_THERE } else { &REFUSED };
        kind.tell(format_args!("connection {fd} from {ip}:{port} is closed: {why}"));
    }

    fn unsealed(&self, conn: &ConnInfo, why: &io::Error) {
        super::tls::tell_unsealed(conn.id(), (conn.peer_ip(), conn.peer_port()), why);
    }

    fn standing(&self) -> Standing {
        let (own, workers, mean) = self.worker.standing();
        Standing { own, mean, workers }
    }

    fn request(&self, _conn: &ConnInfo) {
        self.worker.slot.active.add(1);
    }

    fn answered(&self, _conn: &ConnInfo, answer: &Answered<'_>) {
        let micros = micros_since(answer.received_at);
        self.count_over();
        if let Some(hosts) = &self.hosts {
            hosts.count(answer.host, answer.status, micros);
        }
        self.worker.slot.tally.answered(answer.method as usize, answer.status);
        if !answer.noted.is_empty() {
            self.log(answer, micros);
        }
        self.worker.count_request(micros, answer.status);
    }

    fn lost(&self, _conn: &ConnInfo, answer: &Answered<'_>) {
        self.count_over();
        if !answer.noted.is_empty() {
            self.log(answer, micros_since(answer.received_at));
        }
    }

    fn rejected(&self, _conn: &ConnInfo, answer: &Answered<'_>) {
        self.log(answer, 0);
    }

    fn sample(&self, counters: &Counters) {
        let slot = self.worker.slot;
        slot.accepted.set(counters.accepted.get());
        slot.closed.set(counters.closed.get());
        slot.bytes_in.set(counters.bytes_in.get());
        slot.bytes_out.set(counters.bytes_out.get());
        let tally = &slot.tally;
        for (shared, own) in [
            (&tally.refused, &counters.refused),
            (&tally.lost, &counters.lost),
            (&tally.tls_full, &counters.tls_full),
            (&tally.tls_resumed, &counters.tls_resumed),
            (&tally.tls_failed, &counters.tls_failed),
            (&tally.http2_streams, &counters.http2_streams),
            (&tally.http2_resets_received, &counters.http2_resets_received),
            (&tally.http2_resets_sent, &counters.http2_resets_sent),
        ] {
            shared.set(own.get());
        }
        if let Some(control) = current_control() {
            slot.connections.set(control.connections() as u64);
            let sample = self.samples.get().wrapping_add(1);
            self.samples.set(sample);
            // Twenty thousand rows take a millisecond or two.
            if control.connections() <= MANY || sample.is_multiple_of(4) {
                self.touch_rows(&control);
            }
        }
        if let Some(state) = State::existing() {
            let stats = state.engine.stats();
            slot.coroutines.set(stats.live as u64);
            slot.coroutine_peak.set(stats.peak as u64);
            slot.loop_blocked.set(watchdog::blocked());
            slot.timers.set(Timers::of(&state).len() as u64);
            state.engine.switch().pool.trim(TRIMMED);
        }
        slot.memory_bytes.set(engine::memory_usage(true) as u64);
    }

    fn warn(&self, message: &str) {
        apus_process::log::warning(format_args!("{message}"));
    }
}

fn micros_since(received_at: f64) -> u64 {
    ((apus_net::wall() - received_at) * 1e6).max(0.0) as u64
}

impl WorkerMetrics {
    /// A connection for which messages of other processes are held takes no more, whatever it says itself.
    fn mark(&self, conn: &ConnInfo, full: bool) {
        show(&self.worker, conn, full || super::routing::holds(conn.id()));
    }

    /// Brings the table of connections up to date.
    fn touch_rows(&self, control: &Rc<Control>) {
        for (id, row) in self.rows.borrow().iter() {
            if let Some(conn) = control.info(*id) {
                self.worker.connections.touch(row, (conn.last_request_at() * 1e3) as u64, conn.requests());
            }
        }
    }
}
