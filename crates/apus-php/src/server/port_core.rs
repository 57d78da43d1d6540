//! One listening port: where it listens, what it was given, what it speaks.

use std::cell::RefCell;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::Duration;

use apus_edge::EdgeConfig;
use apus_net::proto::framing::Framing;
use apus_net::tls::ServerTls;
use apus_net::{Connections, FRAMINGS, Gate};
use apus_options::client::socket::Bytes;
use apus_options::{Kind, Settings};
use apus_process::{BindOptions, ListenAddr, Listener, ReusePort, bind, bind_datagram, take_passed};
use apus_zend::engine::ClassEntry;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Callable, Raise, Value, descriptor, engine, native};

use super::address;
use super::core::{Callbacks, ServerCore};
use super::events::Event;
use super::host::HostPlan;
use crate::convert::to_option;
use crate::exception::{self};
use crate::files;
use crate::swoole::{self, There};
use crate::system::failure::strerror;

/// What was said of `package_length_func`, or of `dispatch_func`.
#[derive(Default, Clone)]
pub(super) enum Tell {
    #[default]
    Unsaid,
    /// Null: there is to be none.
    Nobody,
    By(Rc<Callable>),
}

/// Settings as a program gave them, checked one by one.
#[derive(Default)]
pub(super) struct Given {
    /// By the names of the table, not by aliases.
    pairs: Vec<(&'static str, apus_options::Value)>,
    /// `package_eof`, which may be any bytes.
    eof: Option<Vec<u8>>,
    tell: Tell,
    dispatch: Tell,
    /// Whether `max_concurrency` was given, by this very name.
    pub(super) max_concurrency: bool,
    /// Whether `buffer_output_size` was given, or its other name there.
    pub(super) bounds_answers: bool,
    /// `event_object`, which only code written for Swoole has.
    pub(super) event_object: Option<bool>,
    /// `start_session_id`, which only code written for Swoole has: the number before the first connection's.
    pub(super) start_session: Option<u64>,
    /// `stats_file` and `stats_timer_interval`, which only code written for Swoole has.
    pub(super) stats_file: Option<String>,
    pub(super) stats_interval: Option<Duration>,
    /// `task_ipc_mode` and `message_queue_key`, which only code written for Swoole has.
    pub(super) task_ipc_mode: Option<i64>,
    pub(super) message_queue_key: Option<i64>,
}

/// The largest `start_session_id`: so many connections have numbers behind it as a server never sees.
const MOST_SESSION: i64 = i64::MAX >> 1;

/// Settings that code written for Swoole has, and that mean nothing here.
const WITHOUT_EFFECT: [&str; 9] = [
    "buffer_input_size",
    "debug_mode",
    "enable_kqueue",
    "enable_signalfd",
    "input_buffer_size",
    "print_backtrace_on_error",
    "socket_dns_timeout",
    "tcp_fastopen",
    "tcp_user_timeout",
];

/// `url_rewrite_rules` as `rewrites` has them: what is no pattern there is the beginning of a path.
fn rewrites(rules: ArrayView<'_>) -> Option<apus_options::Value> {
    let pairs = rules.iter().map(|(from, to)| match (from, to.value().view()) {
        (Key::Str(from), View::Str(to)) => {
            let (from, to) = (String::from_utf8_lossy(from), String::from_utf8_lossy(to));
            if from.len() > 1 && from.starts_with('~') && from.ends_with('~') {
                return Some((from.into_owned(), apus_options::Value::Str(to.into_owned())));
            }
            let (from, to) = (regex::escape(&from), to.replace('$', "$$"));
            Some((format!("~^{from}~"), apus_options::Value::Str(to)))
        }
        _ => None,
    });
    pairs.collect::<Option<Vec<_>>>().map(apus_options::Value::Map)
}

/// A setting's value, if it is one; else what is wrong with it.
fn checked(probe: &mut Settings, name: &str, view: View<'_>) -> Result<apus_options::Value, String> {
    let value = to_option(view).ok_or_else(|| format!("setting \"{name}\" cannot be an object or a resource"))?;
    probe.set(name, &value).map_err(|error| error.to_string())?;
    Ok(value)
}

/// A size that begins with no number is a fatal error there.
fn expect_quantity(name: &str, view: View<'_>) -> Result<(), Raise> {
    let is_size = apus_options::find(name).is_some_and(|row| matches!(row.kind, Kind::Size { .. }));
    match view {
        View::Str(text) if is_size && !text.trim_ascii().first().is_some_and(u8::is_ascii_digit) => {
            let text = text.escape_ascii();
            let said = format!(
                "failed to parse '{text}' to size, Error: Invalid quantity \"{text}\": no valid leading digits, \
                 interpreting as \"0\" for backwards compatibility"
            );
            Err(swoole::there(refused(&said), There::Fatal(said)))
        }
        _ => Ok(()),
    }
}

/// Warns of a setting that is not heeded: of one that there is not as the library does there.
fn tell_of(name: &str, why: &str) -> Result<(), Raise> {
    const TELLER: &[u8] = b"Swoole\\Server\\Helper::checkOptions";
    if apus_options::find(name).is_some() {
        return engine::warning(why);
    }
    let Ok(teller) = Callable::new(&mut Value::string(TELLER)?) else {
        // The library is switched off.
        return engine::warning(why);
    };
    let mut names = Array::new(1)?;
    names.push(Value::string(name.as_bytes())?)?;
    teller.call(&[names.into()]).map(drop)
}

pub(super) fn refused(text: &str) -> Raise {
    exception::throw(exception::code::server::OPTION, text)
}

impl Given {
    /// Reads an array of settings. With `lenient`, a warning tells of what is not known or cannot be, and it is left
    /// out.
    pub(super) fn read(given: ArrayView<'_>, lenient: bool) -> Result<Self, Raise> {
        let mut all = Self::default();
        let mut probe = Settings::default();
        for (key, value) in given.iter() {
            let Key::Str(name) = key else {
                return Err(refused("settings are given as 'name' => value, but a numeric key was found"));
            };
            let value = value.value();
            match (name, value.view()) {
                (b"package_length_func", View::Null) => all.tell = Tell::Nobody,
                (b"package_length_func", _) => {
                    all.tell = Tell::By(Rc::new(callable("package_length_func", "(string $bytes): int", value)?));
                }
                (b"dispatch_func", View::Null) => all.dispatch = Tell::Nobody,
                (b"dispatch_func", _) => {
                    const FORM: &str = "(Server $server, int $fd, int $type, string $data): int";
                    all.dispatch = Tell::By(Rc::new(callable("dispatch_func", FORM, value)?));
                }
                (b"event_object", View::Bool(on)) if lenient => all.event_object = Some(on),
                (b"event_object", View::Int(on)) if lenient => all.event_object = Some(on != 0),
                (b"start_session_id", View::Int(number)) if lenient => {
                    all.start_session = Some(number.clamp(0, MOST_SESSION) as u64);
                }
                (b"stats_file", View::Str(path)) if lenient => {
                    all.stats_file = Some(String::from_utf8_lossy(path).into_owned());
                }
                (b"task_ipc_mode", View::Int(mode)) if lenient => all.task_ipc_mode = Some(mode),
                (b"message_queue_key", View::Int(key)) if lenient => all.message_queue_key = Some(key),
                (b"stats_timer_interval", View::Int(milliseconds)) if lenient => {
                    all.stats_interval = Some(Duration::from_millis(milliseconds.clamp(1, 86_400_000) as u64));
                }
                (b"url_rewrite_rules", View::Array(rules)) if lenient => {
                    let Some(rules) = rewrites(rules) else {
                        engine::warning(
                            "setting \"url_rewrite_rules\" must be an array of paths by path or ~pattern~",
                        )?;
                        continue;
                    };
                    all.pairs.extend(apus_options::find("rewrites").map(|row| (row.name, rules)));
                }
                (b"package_eof", View::Str(b"")) if lenient => {
                    let text = "package_eof cannot be an empty string".to_owned();
                    return Err(swoole::there(refused(&text), There::Fatal(text)));
                }
                (b"package_eof", View::Str(bytes)) => all.eof = Some(bytes.to_vec()),
                (b"package_eof", View::Null) => all.eof = Some(Settings::default().package_eof.0),
                (b"package_eof", _) => {
                    return Err(refused("setting \"package_eof\" must be a string of 1 to 64 bytes"));
                }
                (name, view) => {
                    let name = match name {
                        b"output_buffer_size" if lenient => "buffer_output_size".into(),
                        name => String::from_utf8_lossy(name),
                    };
                    let nearest = if lenient { nearest_level(&name, view) } else { None };
                    let view = nearest.as_ref().map_or(view, Value::view);
                    all.max_concurrency |= name == "max_concurrency";
                    all.bounds_answers |= name == "buffer_output_size";
                    let value = match checked(&mut probe, &name, view) {
                        Ok(value) => value,
                        Err(_) if lenient && WITHOUT_EFFECT.contains(&&*name) => continue,
                        Err(why) if lenient => {
                            expect_quantity(&name, view)?;
                            tell_of(&name, &why)?;
                            continue;
                        }
                        Err(why) => return Err(refused(&why)),
                    };
                    // Found, for it was just set.
                    all.pairs.extend(apus_options::find(&name).map(|row| (row.name, value)));
                }
            }
        }
        Ok(all)
    }

    /// Settings that a configuration file was found to have.
    pub(super) fn of_file(pairs: Vec<apus_options::Setting>) -> Self {
        Self { pairs, ..Self::default() }
    }

    /// Puts another array on top.
    pub(super) fn add(&mut self, later: Self) {
        self.pairs.extend(later.pairs);
        self.eof = later.eof.or(self.eof.take());
        if !matches!(later.tell, Tell::Unsaid) {
            self.tell = later.tell;
        }
    }

    /// Applies them; their values were checked when they were read.
    pub(super) fn apply(&self, settings: &mut Settings) -> Result<(), Raise> {
        for (name, value) in &self.pairs {
            settings.set(name, value).map_err(|error| refused(&error.to_string()))?;
        }
        if let Some(eof) = &self.eof {
            settings.package_eof = Bytes(eof.clone());
        }
        Ok(())
    }

    /// What was said last of `package_length_func`.
    pub(super) fn take_tell(&mut self) -> Tell {
        std::mem::take(&mut self.tell)
    }

    /// The same of `dispatch_func`.
    pub(super) fn take_dispatch(&mut self) -> Tell {
        std::mem::take(&mut self.dispatch)
    }

    /// The names of all settings that it has.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.pairs.iter().map(|(name, _)| *name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(given, _)| *given == name)
    }
}

/// The level of coding that is meant by one that no coder has: there the coders limit it themselves.
fn nearest_level(name: &str, given: View<'_>) -> Option<Value> {
    let row = apus_options::find(name).filter(|row| row.name == "http_compression_level");
    match given {
        View::Int(level) if row.is_some() => Some(Value::int(level.clamp(1, 11))),
        _ => None,
    }
}

fn callable(name: &str, form: &str, mut value: Value) -> Result<Callable, Raise> {
    Callable::new(&mut value)
        .map_err(|not| not.or(|why| refused(&format!("setting \"{name}\" must be a callable {form}, but {why}"))))
}

/// What the clients of a port speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// HTTP, and WebSocket where connections may be upgraded to it.
    Http { websocket: bool },
    /// Bytes, or messages that a framing tells.
    Stream,
    /// Datagrams.
    Datagram,
}

/// What a port does, settled when the server starts.
pub(super) struct Plan {
    pub(super) settings: Settings,
    /// TLS around its connections, where it has that.
    pub(super) tls: Option<ServerTls>,
    pub(super) protocol: Protocol,
    /// Of a stream port.
    pub(super) framing: Option<Framing>,
    /// Tells how long a message is, where the framing asks for it.
    pub(super) tell: Option<Rc<Callable>>,
    /// Whom it answers, where that is not everybody. What all workers count lies in memory that they inherit.
    pub(super) gate: Option<Gate>,
    /// How many connections each client may have.
    pub(super) connections: Option<Connections>,
    /// What it does with requests before their handlers see them.
    pub(super) edge: Option<EdgeConfig>,
    pub(super) hosts: Vec<HostPlan>,
}

/// One listening port.
pub(super) struct PortCore {
    pub(super) addr: ListenAddr,
    pub(super) kind: i64,
    pub(super) listener: RefCell<Option<Listener>>,
    /// What `Port::set()` was given, on top of the server's settings.
    given: RefCell<Given>,
    /// Made by `start()`; workers inherit it.
    plan: RefCell<Option<Rc<Plan>>>,
    pub(super) callbacks: Callbacks,
}

/// The payload of a port object.
pub(super) struct PortHandle(pub(super) Rc<PortCore>, pub(super) Rc<ServerCore>);

native!(PortHandle, "Apus\\Server\\Port");

impl PortCore {
    pub(super) fn bind(host: &str, port: i64, kind: i64) -> Result<Self, Raise> {
        let failed = |text: &str| exception::throw(exception::code::server::BIND, text);
        let addr = address::parse(host, port, kind).map_err(|why| failed(&why))?;
        // Settings come later.
        let options = BindOptions { reuse_port: ReusePort::Undecided, ..BindOptions::default() };
        let bound = if address::is_datagram(kind) { bind_datagram(&addr, &options) } else { bind(&addr, &options) };
        let listener = bound.map_err(|error| {
            let raise = failed(&error.to_string());
            let apus_process::Error::Bind { source, .. } = &error else { return raise };
            let number = source.raw_os_error().unwrap_or_default();
            let why = strerror(number);
            let text = format!("failed to listen server port[{host}:{port}], Error: {why}[{number}]");
            swoole::there(raise, There::Failure(text, number.into()))
        })?;
        Ok(Self::over(listener, kind))
    }

    fn over(listener: Listener, kind: i64) -> Self {
        Self {
            addr: listener.addr.clone(),
            kind,
            listener: RefCell::new(Some(listener)),
            given: RefCell::default(),
            plan: RefCell::default(),
            callbacks: Callbacks::default(),
        }
    }

    /// Ports over all sockets that systemd passed; none is an error, as there.
    pub(super) fn passed() -> Result<Vec<Self>, Raise> {
        let options = BindOptions { reuse_port: ReusePort::Undecided, ..BindOptions::default() };
        let failed = |text: &str| exception::throw(exception::code::server::BIND, text);
        let listeners = take_passed(&options).map_err(|error| failed(&error.to_string()))?;
        if listeners.is_empty() {
            let text = "failed to add systemd socket";
            return Err(swoole::there(failed(text), There::Error(ClassEntry::error(), text.to_owned())));
        }
        let kind = |listener: &Listener| address::kind_of(&listener.addr, listener.datagram);
        Ok(listeners
            .into_iter()
            .map(|listener| (kind(&listener), listener))
            .map(|(kind, listener)| Self::over(listener, kind))
            .collect())
    }

    /// A `Socket` of ext/sockets over a copy of the descriptor; false where there is no room for one.
    pub(super) fn socket(&self) -> Result<Value, Raise> {
        let fd = self.listener.borrow().as_ref().map(|listener| listener.fd.as_raw_fd());
        let Some(fd) = fd else {
            return Err(exception::throw(exception::code::server::STATE, "getSocket() works before start()"));
        };
        let stream = descriptor::stream_over(fd)?;
        if matches!(stream.view(), View::Null) {
            return Ok(Value::bool(false));
        }
        Callable::named("socket_import_stream")?.call(&[stream])
    }

    /// The server's settings with the port's own on top.
    pub(super) fn settings(&self, of_server: &Settings) -> Result<Settings, Raise> {
        let given = self.given.borrow();
        let mut settings = of_server.clone();
        if self.has_framing() {
            for name in FRAMINGS {
                settings.set(name, &apus_options::Value::Null).map_err(|error| refused(&error.to_string()))?;
            }
        }
        given.apply(&mut settings)?;
        if settings.heartbeat_idle_time.is_zero() {
            settings.heartbeat_idle_time = settings.heartbeat_check_interval * 2;
        }
        Ok(settings)
    }

    /// Whether the port was given a framing of its own.
    fn has_framing(&self) -> bool {
        let given = self.given.borrow();
        given.pairs.iter().any(|(name, value)| FRAMINGS.contains(name) && !value.is_off())
    }

    fn protocol(&self, core: &ServerCore, settings: &Settings) -> Protocol {
        if address::is_datagram(self.kind) {
            return Protocol::Datagram;
        }
        let given = self.given.borrow();
        let http = Protocol::Http { websocket: settings.open_websocket_protocol };
        let says_http = given.has("open_http_protocol");
        if given.has("open_websocket_protocol") && settings.open_websocket_protocol {
            return http;
        }
        let own = |event| self.callbacks.get(event).is_some();
        // There a program may take the bytes of HTTP as they come, and parse them itself.
        let has = |event| core.callback(self, event).is_some();
        let parses = core.second && has(Event::Receive) && !has(Event::Request) && !has(Event::Message);
        let stream = if parses {
            true
        } else if says_http {
            !settings.open_http_protocol
        } else {
            self.has_framing()
                || (own(Event::Receive) && !own(Event::Request))
                || !(settings.open_http_protocol || settings.open_websocket_protocol)
        };
        if stream { Protocol::Stream } else { http }
    }

    /// What the port does, once the server has started.
    /// The number of a port that speaks HTTP, without TLS, once the server has started.
    pub(super) fn plain_http_port(&self) -> Option<u16> {
        let plan = self.plan.borrow().clone()?;
        let speaks_http = matches!(plan.protocol, Protocol::Http { .. });
        match self.addr {
            ListenAddr::Tcp(addr) if plan.tls.is_none() && speaks_http => Some(addr.port()),
            _ => None,
        }
    }

    pub(super) fn plan(&self, core: &ServerCore) -> Result<Rc<Plan>, Raise> {
        let settled = self.plan.borrow().clone();
        settled.map_or_else(|| self.settle(core), Ok)
    }

    /// Forgets the connections of a process that is gone.
    pub(super) fn forget(&self, slot: usize) {
        if let Some(connections) = self.plan.borrow().as_ref().and_then(|plan| plan.connections.as_ref()) {
            connections.forget(slot);
        }
    }

    /// Decides what the port will do; the error says what is wrong with what it was given.
    pub(super) fn settle(&self, core: &ServerCore) -> Result<Rc<Plan>, Raise> {
        let settings = self.settings(&core.settings.borrow())?;
        let protocol = self.protocol(core, &settings);
        let own = self.given.borrow().tell.clone();
        let tell = match own {
            Tell::Unsaid => core.tell.borrow().clone(),
            Tell::Nobody => None,
            Tell::By(callable) => Some(callable),
        };
        let framing = match protocol {
            Protocol::Stream => apus_net::framing(&settings, tell.is_some())
                .map_err(|why| refused(&format!("port {}: {why}", self.addr)))?,
            Protocol::Http { .. } | Protocol::Datagram => None,
        };
        let alpn = matches!(protocol, Protocol::Http { .. });
        let hosts = if alpn { core.hosts.borrow().clone() } else { Vec::new() };
        let of_hosts = hosts.into_iter().map(|host| host.settings(&settings).map(|own| (host, own)));
        let of_hosts = of_hosts.collect::<Result<Vec<_>, _>>()?;
        let demanded = self.kind & address::SSL != 0;
        let tls = match protocol {
            Protocol::Datagram => Ok(None),
            _ => super::tls::of(&settings, demanded, alpn, &of_hosts),
        };
        let wrong = |why: String| refused(&format!("port {}: {why}", self.addr));
        let tls = tls.map_err(wrong)?;
        let (gate, edge) = match protocol {
            Protocol::Http { .. } => {
                (files::gate(&settings).map_err(wrong)?, files::plan(&settings, core.second).map_err(wrong)?)
            }
            Protocol::Stream | Protocol::Datagram => (None, None),
        };
        let certificates = tls.as_ref().map(|tls| super::tls::certificates(tls, &of_hosts)).unwrap_or_default();
        let mut numbers = certificates.into_iter();
        let hosts = of_hosts
            .into_iter()
            .map(|(host, settings)| {
                host.plan(settings, numbers.next().unwrap_or(0), (gate.as_ref(), core.second)).map_err(wrong)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let connections = match protocol {
            Protocol::Datagram => None,
            _ => Connections::of(&settings).map_err(wrong)?,
        };
        let plan = Rc::new(Plan { settings, tls, protocol, framing, tell, gate, connections, edge, hosts });
        self.plan.replace(Some(Rc::clone(&plan)));
        Ok(plan)
    }

    pub(super) fn set(&self, given: ArrayView<'_>, lenient: bool) -> Result<(), Raise> {
        let mut given = Given::read(given, lenient)?;
        if lenient {
            given.pairs.retain(|(name, _)| !of_whole_server(name));
        }
        for (name, _) in &given.pairs {
            if of_whole_server(name) {
                let text =
                    format!("setting \"{name}\" belongs to the whole server, not to one port: use Server::set()");
                return Err(refused(&text));
            }
        }
        if !matches!(given.dispatch, Tell::Unsaid) && !lenient {
            return Err(refused(
                "setting \"dispatch_func\" belongs to the whole server, not to one port: use Server::set()",
            ));
        }
        self.add(given);
        Ok(())
    }

    /// Puts settings on top of those that the port was given before.
    pub(super) fn add(&self, given: Given) {
        let mut all = self.given.take();
        let replaced = all.tell.clone();
        all.add(given);
        self.given.replace(all);
        // Its destructor may run PHP code, which may come here again.
        drop(replaced);
    }

    pub(super) fn host(&self) -> String {
        match &self.addr {
            ListenAddr::Tcp(addr) => addr.ip().to_string(),
            ListenAddr::Unix(path) => path.display().to_string(),
        }
    }

    pub(super) fn port(&self) -> i64 {
        match &self.addr {
            ListenAddr::Tcp(addr) => i64::from(addr.port()),
            ListenAddr::Unix(_) => 0,
        }
    }
}

fn of_whole_server(name: &str) -> bool {
    apus_options::find(name).is_some_and(apus_options::Row::of_whole_server)
}
