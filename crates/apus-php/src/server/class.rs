//! `Apus\Server` and `Apus\Http\Server`.

use std::rc::Rc;

use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value, handler};

use super::core::{Phase, ServerCore, ServerHandle, ServerKind};
use super::events::Event;
use super::port_core::PortCore;
use super::{address, connections, info, methods, port, program, serving};
use crate::convert::from_option;
use crate::exception::{self, SERVER as SERVER_EXCEPTION, entry};
use crate::runtime::State;

/// Where the properties stand, in the order of their declarations.
pub(super) mod slot {
    pub(in crate::server) const SETTING: u32 = 0;
    pub(in crate::server) const CONNECTIONS: u32 = 1;
    pub(in crate::server) const HOST: u32 = 2;
    pub(in crate::server) const PORT: u32 = 3;
    pub(in crate::server) const TYPE: u32 = 4;
    pub(in crate::server) const MODE: u32 = 5;
    pub(in crate::server) const PORTS: u32 = 6;
    pub(in crate::server) const MASTER_PID: u32 = 7;
    pub(in crate::server) const MANAGER_PID: u32 = 8;
    pub(in crate::server) const WORKER_ID: u32 = 9;
    pub(in crate::server) const TASKWORKER: u32 = 10;
    pub(in crate::server) const WORKER_PID: u32 = 11;
}

fn this_object(call: &Call) -> Result<Object, Raise> {
    // SAFETY: $this is alive during the call.
    Ok(unsafe { Object::share_raw(call.this_object()?) })
}

/// Sends a signal to this very process.
pub(super) fn signal_self(signal: i32) -> bool {
    // SAFETY: a signal that this process handles, to itself.
    unsafe { libc::kill(libc::getpid(), signal) == 0 }
}

fn construct_plain(call: &Call) -> Result<(), Raise> {
    construct(call, ServerKind::Raw)
}

fn construct_http(call: &Call) -> Result<(), Raise> {
    construct(call, ServerKind::Http)
}

/// Binds the first port.
pub(super) fn construct(call: &Call, server: ServerKind) -> Result<(), Raise> {
    call.expect(0, 4)?;
    let host = if call.count() > 0 { call.text(0)? } else { "0.0.0.0".to_owned() };
    let (port_number, mode, kind) = (call.int(1, 0)?, call.int(2, 1)?, call.int(3, address::SOCK_TCP)?);
    let first = PortCore::bind(&host, port_number, kind)?;
    let (host, port_number) = (first.host(), first.port());
    let core = ServerCore::new(server, first);
    call.construct(ServerHandle(Rc::clone(&core)))?;
    let object = this_object(call)?;
    object.set_slot(slot::HOST, Value::string(host.as_bytes())?);
    object.set_slot(slot::PORT, Value::int(port_number));
    object.set_slot(slot::TYPE, Value::int(kind));
    object.set_slot(slot::MODE, Value::int(mode));
    object.set_slot(slot::CONNECTIONS, connections::object(Rc::clone(&core))?.into());
    refresh_ports(&core, &object)
}

/// Fills `$ports`. Objects that stand there stay: programs keep and compare them.
fn refresh_ports(core: &Rc<ServerCore>, object: &Object) -> Result<(), Raise> {
    let old = object.slot(slot::PORTS);
    let mut ports = Array::new(1)?;
    let mut known = 0;
    if let apus_zend::value::View::Array(array) = old.view() {
        for (_, port) in array.iter() {
            // SAFETY: the element lives as long as `old`.
            ports.push(unsafe { Value::copy_of(port) })?;
            known += 1;
        }
    }
    for port in core.ports.borrow().iter().skip(known) {
        ports.push(port::object(Rc::clone(port), Rc::clone(core))?.into())?;
    }
    object.set_slot(slot::PORTS, ports.into());
    Ok(())
}

fn set(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let given = call.opt_array(0)?.ok_or_else(|| call.type_error(0, "of type array"))?;
    let core = &call.this::<ServerHandle>()?.0;
    core.expect_new("set()")?;
    core.set(given)?;
    call.ret(true)
}

/// Fills `$setting`: every setting of the table that is in force.
fn show_settings(core: &ServerCore, object: &Object) -> Result<(), Raise> {
    let settings = core.settings.borrow();
    let mut array = Array::new(64)?;
    for row in apus_options::rows() {
        if let Some(value) = settings.get(row.name) {
            array.set(row.name.as_bytes(), from_option(&value)?)?;
        }
    }
    object.set_slot(slot::SETTING, array.into());
    Ok(())
}

fn on(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let event: Event = port::event(call)?;
    let core = &call.this::<ServerHandle>()?.0;
    core.expect_new("on()")?;
    core.callbacks.set(event, call.callable(1)?);
    call.ret(true)
}

fn get_callback(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let event = port::event(call)?;
    match call.this::<ServerHandle>()?.0.callbacks.get(event) {
        Some(callable) => call.ret(callable.value()),
        None => call.ret(Value::null()),
    }
}

fn listen(call: &Call) -> Result<(), Raise> {
    call.expect(3, 3)?;
    let core = &call.this::<ServerHandle>()?.0;
    core.expect_new("listen()")?;
    let added = Rc::new(PortCore::bind(&call.text(0)?, call.int(1, 0)?, call.int(2, address::SOCK_TCP)?)?);
    core.ports.borrow_mut().push(added);
    let object = this_object(call)?;
    refresh_ports(core, &object)?;
    // The very object that stands in $ports.
    let ports = object.slot(slot::PORTS);
    let last = match ports.view() {
        apus_zend::value::View::Array(array) => array.iter().last().map(|(_, value)| value),
        _ => None,
    };
    match last {
        // SAFETY: the element lives as long as `ports`.
        Some(value) => call.ret(unsafe { Value::copy_of(value) }),
        None => call.ret(false),
    }
}

fn start(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let core = Rc::clone(&call.this::<ServerHandle>()?.0);
    core.expect_new("start()")?;
    if State::existing().is_some_and(|state| state.is_looping() || state.engine.live() > 0) {
        return Err(exception::throw(
            &SERVER_EXCEPTION,
            "STATE",
            "start() cannot be called while coroutines run: call it outside, before any",
        ));
    }
    serving::check(&core)?;
    let object = this_object(call)?;
    show_settings(&core, &object)?;
    program::start(&core, object)?;
    call.ret(true)
}

fn number(call: &Call, of: impl Fn(&ServerCore) -> Option<i64>) -> Result<(), Raise> {
    call.expect(0, 0)?;
    match of(&call.this::<ServerHandle>()?.0) {
        Some(value) => call.ret(value),
        None => call.ret(false),
    }
}

fn master_pid(core: &ServerCore) -> Option<i64> {
    match core.phase.get() {
        Phase::Master => Some(i64::from(std::process::id())),
        _ => core.worker.borrow().as_ref().map(|worker| i64::from(worker.master_pid)),
    }
}

fn get_master_pid(call: &Call) -> Result<(), Raise> {
    number(call, master_pid)
}

fn get_worker_id(call: &Call) -> Result<(), Raise> {
    number(call, |core| core.worker.borrow().as_ref().map(|worker| i64::from(worker.id)))
}

fn get_worker_pid(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let id = call.int(0, -1)?;
    let worker = call.this::<ServerHandle>()?.0.worker("getWorkerPid()")?;
    let id = if id < 0 { worker.id } else { u16::try_from(id).unwrap_or(u16::MAX) };
    match worker.scoreboard.worker(id) {
        Some(slot) => call.ret(i64::from(slot.pid())),
        None => call.ret(false),
    }
}

/// `Apus\Server`.
pub(super) static SERVER: Class = Class {
    name: "Apus\\Server",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "What all servers have in common: one master process that supervises, and workers that serve. See docs/processes.md.\n\
          @since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "public ?array $setting = null", doc: "All settings in force, once start() was called." },
        Property {
            decl: "public ?Apus\\Server\\Connections $connections = null",
            doc: "The session ids of all connections; inside workers.",
        },
        Property { decl: "public string $host = ''", doc: "The first port's address." },
        Property { decl: "public int $port = 0", doc: "The first port's number; the real one where 0 was asked for." },
        Property { decl: "public int $type = 0", doc: "The first port's kind of socket." },
        Property { decl: "public int $mode = 0", doc: "The mode that the constructor was given." },
        Property { decl: "public ?array $ports = null", doc: "All ports: Apus\\Server\\Port objects." },
        Property { decl: "public int $master_pid = 0", doc: "The master's process id, once start() was called." },
        Property { decl: "public int $manager_pid = 0", doc: "The same: the master manages the workers." },
        Property { decl: "public int $worker_id = -1", doc: "Inside a worker: its id, from 0." },
        Property { decl: "public bool $taskworker = false", doc: "Whether this process is a task worker." },
        Property { decl: "public int $worker_pid = 0", doc: "Inside a worker: its process id." },
    ],
    methods: &methods::ALL,
    native: true,
    lazy: None,
    entry: entry!(),
};

/// Those of all servers.
pub(super) const METHODS: &[Method] = &[
    Method {
        decl: "public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1)",
        doc: "A server of raw streams and datagrams: TCP, UDP and Unix sockets. Binds the address at once, so that an address in use\n\
              is an exception here. A socket that systemd passed for it is taken instead.\n\
              @param string $host an IPv4 or IPv6 address, a name, or the path of a Unix socket\n\
              @param int $port 0 to 65535; 0 for any free one, which $port then tells\n\
              @param int $mode Apus\\BASE or Apus\\PROCESS, which mean the same\n\
              @param int $sockType Apus\\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, SOCK_UNIX_STREAM or SOCK_UNIX_DGRAM\n\
              @throws \\Apus\\Server\\Exception BIND\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(construct_plain)),
    },
    Method {
        decl: "public function set(array $settings): bool",
        doc: "Changes settings: see docs/options.md. All are applied, or none.\n\
              @throws \\Apus\\Server\\Exception OPTION (the message names the setting, its limits and unit), STATE after start()\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(set)),
    },
    Method {
        decl: "public function on(string $event, callable $callback): bool",
        doc: "Sets the callback of an event; its name may have any case. In the master, outside coroutines:\n\
              start, managerstart, beforereload, afterreload, beforeshutdown, managerstop, shutdown ($server);\n\
              workererror ($server, $workerId, $workerPid, $exitCode, $signal).\n\
              In workers, each in a coroutine: workerstart, workerexit, workerstop ($server, $workerId);\n\
              connect, close ($server, $fd, $workerId); request (Request, Response);\n\
              receive ($server, $fd, $workerId, $data): a message of a stream, or what came of it without a framing;\n\
              bufferfull, bufferempty ($server, $fd): see buffer_high_watermark;\n\
              packet ($server, $data, $clientInfo): a datagram; $clientInfo has address, port, server_socket, server_port;\n\
              task ($server, $taskId, $srcWorkerId, $data), in task workers: what it returns, unless null, is the task's result; with\n\
              task_enable_coroutine or task_use_object ($server, Apus\\Server\\Task);\n\
              finish ($server, $taskId, $data), taskerror ($server, $taskId, $reason): in the worker that called task().\n\
              @throws \\Apus\\Server\\Exception EVENT, STATE after start()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(on)),
    },
    Method {
        decl: "public function getCallback(string $event): mixed",
        doc: "The callback of an event, or null.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_callback)),
    },
    Method {
        decl: "public function addlistener(string $host, int $port, int $sockType): Apus\\Server\\Port|false",
        doc: "Listens on one more address; the kind of socket as in the constructor. A stream port of an Http\\Server speaks HTTP, unless\n\
              Port::set() or Port::on() say otherwise.\n@throws \\Apus\\Server\\Exception BIND, STATE after start()\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(listen)),
    },
    Method {
        decl: "public function listen(string $host, int $port, int $sockType): Apus\\Server\\Port|false",
        doc: "The same as addlistener().\n@since 0.1.0",
        handler: Some(handler!(listen)),
    },
    Method {
        decl: "public function start(): bool",
        doc: "Starts the server: this process becomes the master, and returns true when the server has stopped. Workers never\n\
              return: their script ends here.\n\
              Signals to the master: TERM stops when requests have ended (setting max_wait_time), INT stops at once,\n\
              USR1 reloads event and task workers, USR2 task workers, HUP reloads as USR1 and opens the log anew.\n\
              @throws \\Apus\\Server\\Exception STATE, EVENT (a port without a callback that answers), OPTION, BIND, PROCESS\n@since 0.1.0",
        handler: Some(handler!(start)),
    },
    Method {
        decl: "public function shutdown(): bool",
        doc: "Stops the server; requests that have begun are finished.\n\
              @throws \\Apus\\Server\\Exception STATE when it does not run\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::shutdown)),
    },
    Method {
        decl: "public function reload(bool $onlyTaskWorkers = false): bool",
        doc: "Replaces all event and task workers by fresh ones; no request and no task is lost. User processes stay.\n\
              @param bool $onlyTaskWorkers whether event workers stay, too\n\
              @throws \\Apus\\Server\\Exception STATE when it does not run\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::reload)),
    },
    Method {
        decl: "public function stop(int $workerId = -1, bool $waitEvent = false): bool",
        doc: "Replaces one worker (-1: this one) by a fresh one, which serves before the old one leaves, also when it is asked for in\n\
              workerstart; a user process is told to leave (TERM),\n\
              and started again when it has.\n\
              @return bool false when there is no such worker\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::stop)),
    },
    Method {
        decl: "public function stats(): array",
        doc: "Numbers of the whole server: start_time, connection_num, accept_count, close_count, worker_num, idle_worker_num,\n\
              serving_worker_num, worker_crash_count, request_count, response_count, error_count (status 500 and above),\n\
              concurrency (requests being handled), task_worker_num, task_idle_worker_num, tasking_num (tasks that wait or run),\n\
              task_queue_num (that wait), task_queue_bytes (that both take), task_delayed_num (that wait for their time), task_count (done),\n\
              task_error_count, user_process_num, total_recv_bytes, total_send_bytes, coroutine_num, memory_bytes, rss_bytes,\n\
              loop_blocked_count, latency_p50_us, latency_p99_us; of this worker: worker_request_count, worker_response_count,\n\
              worker_concurrency, coroutine_peak_num; and workers, a row each.\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::stats)),
    },
    Method {
        decl: "public function exist(int $fd): bool",
        doc: "Whether a connection is open, in whichever worker.\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::exist)),
    },
    Method {
        decl: "public function exists(int $fd): bool",
        doc: "The same as exist().\n@since 0.1.0",
        handler: Some(handler!(info::exist)),
    },
    Method {
        decl: "public function close(int $fd, bool $reset = false): bool",
        doc: "Closes a connection of whichever worker, after what waits to be sent; with $reset at once, where\n\
              the connection belongs to this worker. In the handler of that connection's request the answer goes out first.\n\
              @return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::close_connection)),
    },
    Method {
        decl: "public function getClientInfo(int $fd, int $reactorId = -1, bool $ignoreError = false): array|false",
        doc: "What is known of a connection: remote_ip, remote_port, server_port, socket_type, worker_id, reactor_id, connect_time,\n\
              last_time, last_recv_time, request_count, close_errno; of a WebSocket websocket_status (3); of a stream or WebSocket\n\
              of this worker send_queued_bytes.\n\
              @return array|false false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::client_info)),
    },
    Method {
        decl: "public function getClientList(int $startFd = 0, int $count = 10): array|false",
        doc: "Session ids greater than $startFd, ascending.\n\
              @param int $count 1 to 10000\n@return array|false false when there are none\n\
              @throws \\ValueError when $count is out of its limits\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(info::client_list)),
    },
    Method {
        decl: "public function getMasterPid(): int|false",
        doc: "The master's process id; false before start().\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_master_pid)),
    },
    Method {
        decl: "public function getManagerPid(): int|false",
        doc: "The same as getMasterPid(): the master manages the workers.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_master_pid)),
    },
    Method {
        decl: "public function getWorkerId(): int|false",
        doc: "This worker's id; false outside workers.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_worker_id)),
    },
    Method {
        decl: "public function getWorkerPid(int $workerId = -1): int|false",
        doc: "The process id of a worker (-1: this one); false when there is none.\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_worker_pid)),
    },
];

/// `Apus\Http\Server`.
pub(super) static HTTP_SERVER: Class = Class {
    name: "Apus\\Http\\Server",
    modifiers: "",
    extends: "Apus\\Server",
    implements: &[],
    doc: "An HTTP/1.1 server (RFC 9110, RFC 9112).\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[Method {
        decl: "public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1)",
        doc: "Binds the address at once, so that an address in use is an exception here. A socket that systemd passed for it\n\
              is taken instead.\n\
              @param string $host an IPv4 or IPv6 address, a name, or the path of a Unix socket\n\
              @param int $port 0 to 65535; 0 for any free one, which $port then tells\n\
              @param int $mode Apus\\BASE or Apus\\PROCESS, which mean the same\n\
              @param int $sockType Apus\\SOCK_TCP, SOCK_TCP6 or SOCK_UNIX_STREAM\n\
              @throws \\Apus\\Server\\Exception BIND\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(construct_http)),
    }],
    native: true,
    lazy: None,
    entry: entry!(),
};
