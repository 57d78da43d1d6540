//! What a server tells of itself and of its connections.

use std::cell::Cell;

use apus_net::proto::websocket::close;
use apus_net::{ConnInfo, Local, TlsInfo};
use apus_process::{Ask, ConnEntry, Peer, WorkerState};
use apus_zend::arg::{Given, OrFalse};
use apus_zend::{Array, Raise, Value};

use super::class::worker_number;
use super::core::{Phase, ServerCore, ServerHandle};
use super::{address, current_control};
use crate::exception::{self};
use crate::last_error;

/// Session ids that `getClientList()` gives at most.
const LIST_MAX: i64 = 10_000;

/// What programs know a WebSocket's `websocket_status` by, once its handshake is over.
const WEBSOCKET_ACTIVE: i64 = 3;

/// `Server::stats()`.
pub(super) fn stats(core: &ServerHandle) -> Result<Array, Raise> {
    let worker = core.worker("stats()")?;
    let all = worker.scoreboard.snapshot();
    let mine = worker.slot.snapshot();
    let idle_of = |role: &str| {
        all.workers
            .iter()
            .filter(|w| w.role == role && w.state == "serving" && w.active + w.messages_active == 0)
            .count() as i64
    };
    let tasks = core.task_queue.get().map(apus_shm::tasks::TaskQueue::stats).unwrap_or_default();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64());
    let t = &all.totals;
    let mut array = Array::new(48)?;
    for (name, value) in [
        ("start_time", (now - all.uptime) as i64),
        ("connection_num", worker.connections.len() as i64),
        ("accept_count", t.accepted as i64),
        ("close_count", t.closed as i64),
        ("worker_num", i64::from(all.worker_num)),
        ("idle_worker_num", idle_of("worker")),
        ("serving_worker_num", t.serving as i64),
        ("worker_crash_count", t.crashes as i64),
        ("request_count", t.requests as i64),
        ("response_count", t.requests as i64),
        ("error_count", t.errors as i64),
        ("concurrency", t.active as i64),
        ("task_worker_num", i64::from(all.task_worker_num)),
        ("task_idle_worker_num", idle_of("task")),
        ("tasking_num", i64::from(tasks.waiting) + i64::from(tasks.running)),
        ("task_queue_num", i64::from(tasks.waiting)),
        ("task_queue_bytes", tasks.task_bytes as i64),
        ("task_delayed_num", i64::from(tasks.delayed)),
        ("task_count", t.tasks as i64),
        ("task_error_count", t.task_errors as i64),
        ("user_process_num", i64::from(all.user_process_num)),
        ("total_recv_bytes", t.bytes_in as i64),
        ("total_send_bytes", t.bytes_out as i64),
        ("coroutine_num", t.coroutines as i64),
        ("memory_bytes", t.memory as i64),
        ("rss_bytes", t.rss as i64),
        ("loop_blocked_count", t.loop_blocked as i64),
        ("latency_p50_us", t.p50_us as i64),
        ("latency_p99_us", t.p99_us as i64),
        ("worker_request_count", mine.requests as i64),
        ("worker_response_count", mine.requests as i64),
        ("worker_concurrency", mine.active as i64),
        ("coroutine_peak_num", mine.coroutine_peak as i64),
    ] {
        array.set_int(name.as_bytes(), value)?;
    }
    array.set(b"workers", workers(&all.workers)?)?;
    if core.second {
        for (name, value) in [
            ("user_worker_num", i64::from(all.user_process_num)),
            ("dispatch_count", t.requests as i64),
            ("worker_dispatch_count", mine.requests as i64),
            ("coroutine_peek_num", mine.coroutine_peak as i64),
        ] {
            array.set_int(name.as_bytes(), value)?;
        }
    }
    Ok(array)
}

fn workers(rows: &[apus_process::WorkerSnapshot]) -> Result<Value, Raise> {
    let mut list = Array::new(rows.len())?;
    for row in rows {
        let mut array = Array::new(12)?;
        for (name, value) in [
            ("id", i64::from(row.id)),
            ("pid", i64::from(row.pid)),
            ("generation", i64::from(row.generation)),
            ("uptime", row.uptime as i64),
            ("connections", row.connections as i64),
            ("requests", row.requests as i64),
            ("active", row.active as i64),
            ("errors", row.errors as i64),
            ("coroutines", row.coroutines as i64),
            ("memory", row.memory as i64),
            ("rss", row.rss as i64),
        ] {
            array.set_int(name.as_bytes(), value)?;
        }
        array.set_str(b"role", row.role.as_bytes())?;
        array.set_str(b"state", row.state.as_bytes())?;
        list.push(array.into())?;
    }
    Ok(list.into())
}

/// The master's process id; 0 before `start()`.
pub(super) fn master_pid_or_zero(core: &ServerHandle) -> i64 {
    master_pid(core).unwrap_or_default()
}

/// The manager's process id; 0 before `start()`, and where there is no manager.
pub(super) fn manager_pid_or_zero(core: &ServerHandle) -> i64 {
    core.manager_pid(master_pid_or_zero(core))
}

/// The master's process id, from `start()` on.
pub(super) fn master_pid(core: &ServerCore) -> Option<i64> {
    match core.phase.get() {
        Phase::Master => Some(i64::from(std::process::id())),
        _ => core.worker.borrow().as_ref().map(|worker| i64::from(worker.master_pid)),
    }
}

/// `Swoole\Server::getWorkerStatus()`: `SWOOLE_WORKER_BUSY`, `SWOOLE_WORKER_IDLE` or `SWOOLE_WORKER_EXIT`.
pub(super) fn worker_status(core: &ServerHandle, id: i64) -> Result<OrFalse<i64>, Raise> {
    const BUSY: i64 = 1;
    const IDLE: i64 = 2;
    const EXIT: i64 = 3;
    let worker = core.worker("getWorkerStatus()")?;
    let id = worker_number(id, &worker);
    // While a worker leaves, another one may have its id already.
    let slot = if id == worker.id { Some(worker.slot) } else { worker.scoreboard.worker(id) };
    // One that is still to begin is there as well.
    let begins = slot.is_none() && id < worker.scoreboard.role_counts().total();
    let status = slot.map(|slot| match slot.state() {
        WorkerState::Serving if slot.active.get() + slot.messages_active.get() > 0 => BUSY,
        WorkerState::Serving | WorkerState::Starting => IDLE,
        _ => EXIT,
    });
    Ok(OrFalse(status.or(begins.then_some(IDLE))))
}

/// `Server::exist()`.
pub(super) fn exist(core: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    Ok(core.worker("exist()")?.connections.get(fd).is_some())
}

thread_local! {
    /// The connection whose end is being told.
    static ENDING: Cell<Option<ConnEntry>> = const { Cell::new(None) };
}

/// Calls `tell` of a connection's end: what was known of it is known until that returns.
pub(super) fn while_ending(conn: &ConnInfo, worker: i64, tell: impl FnOnce()) {
    let peer = match conn.peer() {
        apus_net::Peer::Tcp(addr) => Peer::Tcp(addr),
        apus_net::Peer::Unix => Peer::Unix,
    };
    let millis = |seconds: f64| (seconds * 1e3) as u64;
    let entry = ConnEntry {
        session: conn.id(),
        worker: u16::try_from(worker).unwrap_or_default(),
        slot: 0,
        websocket: conn.is_websocket(),
        full: false,
        peer,
        server_port: match conn.local() {
            Local::Tcp(addr) => addr.port(),
            Local::Unix(_) => 0,
        },
        connected_at: millis(conn.connected_at()),
        last_recv_at: millis(conn.last_request_at()),
        requests: conn.requests(),
    };
    let before = ENDING.replace(Some(entry));
    tell();
    ENDING.set(before);
}

/// `Server::getClientInfo()`.
pub(super) fn client_info(
    core: &ServerHandle,
    fd: i64,
    _reactor_id: i64,
    _ignore_error: bool,
) -> Result<OrFalse<Array>, Raise> {
    let entry = core.worker("getClientInfo()")?.connections.get(fd);
    let entry = entry.or_else(|| ENDING.get().filter(|entry| entry.session == fd));
    entry.map(|entry| told(fd, &entry)).transpose().map(OrFalse)
}

fn told(fd: i64, entry: &ConnEntry) -> Result<Array, Raise> {
    let (ip, port, kind) = match entry.peer {
        Peer::Tcp(addr) => {
            let kind = if addr.is_ipv4() { address::SOCK_TCP } else { address::SOCK_TCP6 };
            (addr.ip().to_canonical().to_string(), addr.port(), kind)
        }
        Peer::Unix => (String::new(), 0, address::SOCK_UNIX_STREAM),
    };
    let mut array = Array::new(16)?;
    array.set_str(b"remote_ip", ip.as_bytes())?;
    array.set_int(b"remote_port", i64::from(port))?;
    array.set_int(b"server_port", i64::from(entry.server_port))?;
    array.set_int(b"socket_type", kind)?;
    array.set_int(b"worker_id", i64::from(entry.worker))?;
    array.set_int(b"reactor_id", i64::from(entry.worker))?;
    array.set_int(b"connect_time", (entry.connected_at / 1000) as i64)?;
    array.set_int(b"last_time", (entry.last_recv_at / 1000) as i64)?;
    array.set(b"last_recv_time", Value::float(entry.last_recv_at as f64 / 1e3))?;
    array.set_int(b"request_count", entry.requests as i64)?;
    array.set_int(b"close_errno", 0)?;
    if entry.websocket {
        array.set_int(b"websocket_status", WEBSOCKET_ACTIVE)?;
    }
    if let Some(tls) = current_control().and_then(|control| control.info(fd)).as_ref().and_then(|info| info.tls()) {
        tell_tls(&mut array, tls)?;
    }
    if let Some(message_conn) = current_control().and_then(|control| control.message_conn(fd)) {
        array.set_int(b"send_queued_bytes", message_conn.buffered() as i64)?;
    }
    Ok(array)
}

/// What is known of a connection's TLS.
fn tell_tls(array: &mut Array, tls: &TlsInfo) -> Result<(), Raise> {
    array.set_str(b"ssl_version", tls.version.as_bytes())?;
    array.set_str(b"ssl_cipher", tls.cipher.as_bytes())?;
    array.set_str(b"ssl_server_name", tls.server_name.as_bytes())?;
    array.set_str(b"ssl_protocol", tls.protocol.as_bytes())?;
    array.set(b"ssl_resumed", Value::bool(tls.resumed))?;
    if !tls.client_certificate.is_empty() {
        array.set_str(b"ssl_client_cert", apus_net::tls::pem::encode(&tls.client_certificate).as_bytes())?;
    }
    Ok(())
}

/// `Server::getClientList()`.
pub(super) fn client_list(core: &ServerHandle, after: i64, count: Given<i64>) -> Result<OrFalse<Array>, Raise> {
    if !(1..=LIST_MAX).contains(&count.value) {
        return Err(count.must_be(&format!("between 1 and {LIST_MAX}")));
    }
    let ids = core.worker("getClientList()")?.connections.sessions(after, count.value as usize);
    if ids.is_empty() {
        return Ok(OrFalse(None));
    }
    let mut array = Array::new(ids.len())?;
    for id in ids {
        array.push(Value::int(id))?;
    }
    Ok(OrFalse(Some(array)))
}

/// `Server::close()`.
pub(super) fn close_connection(core: &ServerHandle, fd: i64, at_once: bool) -> Result<bool, Raise> {
    core.worker("close()")?;
    if let Some(control) = current_control().filter(|control| control.contains(fd)) {
        // There a request whose connection is closed in its handler gets no answer.
        if core.second && !at_once {
            return Ok(control.close_unanswered(fd) || last_error::fail(last_error::CLOSED));
        }
        return Ok(control.close(fd, at_once) || last_error::fail(last_error::CLOSED));
    }
    Ok(super::routing::close_at(fd, at_once, close::NORMAL, "")?.told())
}

fn order(core: &ServerCore, ask: Ask, signal: i32, what: &str) -> Result<bool, Raise> {
    match core.phase.get() {
        Phase::Worker => Ok(core.worker(what)?.ask(ask)),
        // The master hears its own signals when the callback has returned.
        Phase::Master => Ok(super::class::signal_self(signal)),
        Phase::New | Phase::Over => {
            Err(exception::throw(exception::code::server::STATE, &format!("{what} needs a running server")))
        }
    }
}

/// `Server::shutdown()`.
pub(super) fn shutdown(core: &ServerHandle) -> Result<bool, Raise> {
    order(core, Ask::Stop, libc::SIGTERM, "shutdown()")
}

/// `Server::reload()`.
pub(super) fn reload(core: &ServerHandle, only_tasks: bool) -> Result<bool, Raise> {
    if only_tasks {
        order(core, Ask::ReloadTasks, libc::SIGUSR2, "reload()")
    } else {
        order(core, Ask::Reload, libc::SIGUSR1, "reload()")
    }
}

/// `Server::stop()`.
pub(super) fn stop(core: &ServerHandle, id: i64, _wait_event: bool) -> Result<bool, Raise> {
    let worker = core.worker("stop()")?;
    let id = worker_number(id, &worker);
    Ok(id < worker.scoreboard.role_counts().total() && worker.ask(Ask::Replace(id)))
}
