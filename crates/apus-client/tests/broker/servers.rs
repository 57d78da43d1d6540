//! Servers of a test's own: redis-server and nats-server.

use std::cell::RefCell;
use std::future::Future;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use apus_client::broker::{BrokerOptions, BrokerUrl, Report};
use apus_scratch::Folder;
use bytes::Bytes;
use tokio::runtime::{Builder, LocalOptions};

/// After this long whatever a test waits for counts as missing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Redis,
    /// Redis whose port speaks TLS.
    RedisTls,
    /// `redis-server` as a Sentinel: the arguments are lines of its file.
    Sentinel,
    Nats,
}

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Self::Redis | Self::RedisTls | Self::Sentinel => "redis-server",
            Self::Nats => "nats-server",
        }
    }

    /// Whether it is installed; says so where it is not.
    pub(crate) fn is_here(self) -> bool {
        let program = self.program();
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
        if !found {
            eprintln!("skipped: needs {program} (tools/install-packages test)");
        }
        found
    }
}

/// A server on a port of its own; killed when dropped.
pub(crate) struct Server {
    kind: Kind,
    pub(crate) port: u16,
    arguments: Vec<String>,
    child: Option<Child>,
    folder: Folder,
}

/// A port below those that the kernel gives to outgoing connections: it is still free after a restart.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) + (std::process::id() as u16 % 997) * 11;
        let port = 20_000 + step % 12_000;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

impl Server {
    /// `None`, and a word about it, where the server is not installed.
    pub(crate) fn start(kind: Kind, arguments: &[&str]) -> Option<Self> {
        if !kind.is_here() {
            return None;
        }
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut server = Self { kind, port: free_port(), arguments, child: None, folder: Folder::new("broker") };
        server.run();
        Some(server)
    }

    pub(crate) fn run(&mut self) {
        let port = self.port.to_string();
        let mut command = Command::new(self.kind.program());
        match self.kind {
            Kind::Redis | Kind::RedisTls => {
                let ports = if self.kind == Kind::Redis { ["--port", &port] } else { ["--port", "0"] };
                command.args(ports).args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
                if self.kind == Kind::RedisTls {
                    command.args(["--tls-port", &port]);
                }
                command.args(&self.arguments);
            }
            Kind::Sentinel => {
                let lines = format!("port {port}\nbind 127.0.0.1\n{}\n", self.arguments.join("\n"));
                command.arg(self.folder.write("sentinel.conf", &lines)).arg("--sentinel");
            }
            Kind::Nats => {
                command.args(["-a", "127.0.0.1", "-p", &port]).args(&self.arguments);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.current_dir(&self.folder.0).spawn().unwrap());
        wait_for("the server starts", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok());
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Its URL with a login, of the scheme of a single server without TLS.
    pub(crate) fn url(&self, login: &str) -> BrokerUrl {
        let scheme = if self.kind == Kind::Nats { "nats" } else { "redis" };
        self.url_of(&format!("{scheme}://{login}127.0.0.1:PORT"))
    }

    /// A URL in which `PORT` stands for its port.
    pub(crate) fn url_of(&self, text: &str) -> BrokerUrl {
        BrokerUrl::parse(&text.replace("PORT", &self.port.to_string())).unwrap()
    }

    pub(crate) fn signal(&self, signal: i32) {
        let pid = self.child.as_ref().unwrap().id() as i32;
        let status = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// What `redis-cli` says to a command.
    pub(crate) fn ask(&self, words: &[&str]) -> String {
        let done = Command::new("redis-cli").args(["-p", &self.port.to_string()]).args(words).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for what another process does.
pub(crate) fn wait_for(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a broker reported, in order.
#[derive(Clone, Default)]
pub(crate) struct Reports(pub(crate) Rc<RefCell<Vec<Report>>>);

impl Reports {
    pub(crate) fn options(&self) -> BrokerOptions {
        let reports = Rc::clone(&self.0);
        BrokerOptions {
            first_retry: Duration::from_millis(10),
            last_retry: Duration::from_millis(50),
            report: Rc::new(move |report| reports.borrow_mut().push(report.clone())),
            ..BrokerOptions::default()
        }
    }

    pub(crate) async fn until(&self, what: impl Fn(&Report) -> bool) {
        while !self.0.borrow().iter().any(&what) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("not in time") });
}

/// The same test with each kind of server.
pub(crate) fn with_each(arguments: &[&str], test: impl AsyncFn(Server)) {
    for kind in [Kind::Redis, Kind::Nats] {
        if let Some(server) = Server::start(kind, arguments) {
            run(test(server));
        }
    }
}

pub(crate) fn numbered(number: u32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}
