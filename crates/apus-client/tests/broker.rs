//! Brokers against real servers, which each test starts for itself: redis-server and nats-server.

use std::cell::RefCell;
use std::future::Future;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use apus_client::broker::{Broker, BrokerOptions, BrokerUrl, Published, Report};
use bytes::Bytes;
use tokio::runtime::{Builder, LocalOptions};

/// After this long whatever a test waits for counts as missing.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Redis,
    Nats,
}

/// A server on a port of its own; killed when dropped.
struct Server {
    kind: Kind,
    port: u16,
    arguments: Vec<String>,
    child: Option<Child>,
}

/// A port below those that the kernel gives to outgoing connections: it is still free after a restart.
fn free_port() -> u16 {
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
    fn start(kind: Kind, arguments: &[&str]) -> Option<Self> {
        let program = match kind {
            Kind::Redis => "redis-server",
            Kind::Nats => "nats-server",
        };
        if Command::new(program).arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("skipped: needs {program} (tools/install-packages test)");
            return None;
        }
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut server = Self { kind, port: free_port(), arguments, child: None };
        server.run();
        Some(server)
    }

    fn run(&mut self) {
        let port = self.port.to_string();
        let mut command = match self.kind {
            Kind::Redis => {
                let mut command = Command::new("redis-server");
                command.args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
                command
            }
            Kind::Nats => {
                let mut command = Command::new("nats-server");
                command.args(["-a", "127.0.0.1", "-p", &port]);
                command
            }
        };
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.current_dir(std::env::temp_dir()).spawn().unwrap();
        self.child = Some(child);
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(Instant::now() < end, "the server does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn url(&self, login: &str) -> BrokerUrl {
        let scheme = match self.kind {
            Kind::Redis => "redis",
            Kind::Nats => "nats",
        };
        BrokerUrl::parse(&format!("{scheme}://{login}127.0.0.1:{}", self.port)).unwrap()
    }

    fn signal(&self, signal: i32) {
        let pid = self.child.as_ref().unwrap().id() as i32;
        let status = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a broker reported, in order.
#[derive(Clone, Default)]
struct Reports(Rc<RefCell<Vec<Report>>>);

impl Reports {
    fn options(&self) -> BrokerOptions {
        let reports = Rc::clone(&self.0);
        BrokerOptions {
            first_retry: Duration::from_millis(10),
            last_retry: Duration::from_millis(50),
            report: Rc::new(move |report| reports.borrow_mut().push(report.clone())),
            ..BrokerOptions::default()
        }
    }

    async fn until(&self, what: impl Fn(&Report) -> bool) {
        while !self.0.borrow().iter().any(&what) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("not in time") });
}

/// The same test with each kind of server.
fn with_each(arguments: &[&str], test: impl AsyncFn(Server)) {
    for kind in [Kind::Redis, Kind::Nats] {
        if let Some(server) = Server::start(kind, arguments) {
            run(test(server));
        }
    }
}

fn numbered(number: u32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

#[test]
fn what_is_published_arrives_complete_and_in_order() {
    with_each(&[], async |server| {
        let (from, to) = (
            Broker::open(server.url(""), BrokerOptions::default()),
            Broker::open(server.url(""), BrokerOptions::default()),
        );
        assert!(to.subscribe("a.one") && to.subscribe("a.two"));
        to.synced().await;
        // Published before there is a connection: it waits for one.
        let large: Bytes = (0..900_000u32).map(|at| (at % 251) as u8).collect();
        assert_eq!(from.publish("a.two", large.clone()), Published::Queued);
        assert_eq!(from.publish("a.nobody", numbered(7)), Published::Queued);
        for number in 0..10_000 {
            assert_eq!(from.publish("a.one", numbered(number)), Published::Queued);
        }
        let first = to.receive().await;
        assert_eq!((&*first.subject, first.payload == large), ("a.two", true));
        for number in 0..10_000 {
            let message = to.receive().await;
            assert_eq!((&*message.subject, &message.payload), ("a.one", &numbered(number)));
        }
        from.flushed().await;
        assert_eq!((from.dropped(), to.dropped(), to.try_receive()), (0, 0, None));
    });
}

#[test]
fn what_is_no_longer_wanted_does_not_come() {
    with_each(&[], async |server| {
        let broker = Broker::open(server.url(""), BrokerOptions::default());
        for subject in ["a", "b", "c"] {
            assert!(broker.subscribe(subject));
        }
        broker.unsubscribe("c");
        broker.synced().await;
        broker.unsubscribe("a");
        broker.unsubscribe("b");
        assert!(broker.subscribe("b"));
        broker.synced().await;
        for subject in ["a", "b", "c"] {
            assert_eq!(broker.publish(subject, Bytes::new()), Published::Queued);
        }
        assert!(broker.subscribe("end"));
        broker.synced().await;
        assert_eq!(broker.publish("end", Bytes::new()), Published::Queued);
        assert_eq!(&*broker.receive().await.subject, "b");
        assert_eq!(&*broker.receive().await.subject, "end");
    });
}

#[test]
fn a_killed_server_is_found_again_with_what_was_subscribed() {
    with_each(&[], async |mut server| {
        let reports = Reports::default();
        let broker = Broker::open(server.url(""), reports.options());
        assert!(broker.subscribe("kept"));
        broker.synced().await;
        server.kill();
        reports.until(|report| matches!(report, Report::Lost(_))).await;
        assert!(!broker.is_connected());
        assert!(broker.subscribe("added"));
        assert_eq!(broker.publish("kept", numbered(1)), Published::Queued);
        server.run();
        broker.synced().await;
        assert_eq!(broker.publish("added", numbered(2)), Published::Queued);
        // What waited for the connection is sent behind the subscriptions.
        assert_eq!(broker.receive().await.payload, numbered(1));
        assert_eq!(broker.receive().await.payload, numbered(2));
        let connected = reports.0.borrow().iter().filter(|report| **report == Report::Connected).count();
        assert_eq!(connected, 2);
    });
}

#[test]
fn what_waits_for_a_connection_is_bounded_and_counted() {
    let reports = Reports::default();
    let url = BrokerUrl::parse(&format!("redis://127.0.0.1:{}", free_port())).unwrap();
    run(async {
        let broker = Broker::open(url, BrokerOptions { max_queued: 10_000, ..reports.options() });
        let payload = Bytes::from(vec![0; 936]);
        let queued = (0..100).filter(|_| broker.publish("a", payload.clone()) == Published::Queued).count();
        assert_eq!((queued, broker.dropped()), (9, 91));
        reports.until(|report| matches!(report, Report::Lost(_))).await;
        assert_eq!(reports.0.borrow()[0], Report::Dropped(1));
        // The same failure is told once, however many attempts there are.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let lost = reports.0.borrow().iter().filter(|report| matches!(report, Report::Lost(_))).count();
        assert_eq!(lost, 1);
    });
}

#[test]
fn a_reader_that_falls_behind_loses_nothing_within_its_limit() {
    with_each(&[], async |server| {
        let to = Broker::open(server.url(""), BrokerOptions { max_received: 10_000, ..BrokerOptions::default() });
        let from = Broker::open(server.url(""), BrokerOptions::default());
        assert!(to.subscribe("a"));
        to.synced().await;
        for number in 0..20_000 {
            assert_eq!(from.publish("a", numbered(number)), Published::Queued);
        }
        from.flushed().await;
        for number in 0..20_000 {
            assert_eq!(to.receive().await.payload, numbered(number));
        }
    });
}

#[test]
fn logins_are_used_and_refusals_are_told() {
    for (kind, arguments, right, wrong) in [
        (Kind::Redis, &["--user", "tester", "on", ">s3cret", "~*", "&*", "+@all"][..], "tester:s3cret@", "tester:no@"),
        (Kind::Redis, &["--requirepass", "s3cret"], ":s3cret@", ""),
        (Kind::Nats, &["--user", "tester", "--pass", "s3cret"], "tester:s3cret@", "tester:no@"),
        (Kind::Nats, &["--auth", "t0ken"], "t0ken@", "nothing@"),
    ] {
        let Some(server) = Server::start(kind, arguments) else { continue };
        run(async {
            let broker = Broker::open(server.url(right), BrokerOptions::default());
            broker.synced().await;
            let reports = Reports::default();
            let refused = Broker::open(server.url(wrong), reports.options());
            reports.until(|report| matches!(report, Report::Lost(why) if why.contains("refused the login"))).await;
            assert!(!refused.is_connected());
        });
    }
}

#[test]
fn a_message_that_the_broker_would_not_take_is_refused_here() {
    let Some(server) = Server::start(Kind::Nats, &[]) else { return };
    run(async {
        let broker = Broker::open(server.url(""), BrokerOptions::default());
        assert!(broker.subscribe("a"));
        // The broker's limit of 1 MiB is not known yet.
        assert_eq!(broker.publish("a", Bytes::from(vec![0; 2 << 20])), Published::Queued);
        broker.synced().await;
        assert_eq!(broker.publish("a", Bytes::from(vec![0; 2 << 20])), Published::TooLarge);
        assert_eq!(broker.publish("a", numbered(1)), Published::Queued);
        assert_eq!(broker.receive().await.payload, numbered(1));
        assert_eq!(broker.dropped(), 2);
        assert_eq!(broker.publish("a b", Bytes::new()), Published::BadSubject);
        assert_eq!(broker.publish("a.>", Bytes::new()), Published::BadSubject);
        assert!(!broker.subscribe("") && !broker.subscribe("a..b") && !broker.subscribe(&"a".repeat(1025)));
    });
}

#[test]
fn a_broker_that_falls_silent_is_given_up() {
    with_each(&[], async |server| {
        let reports = Reports::default();
        let options = BrokerOptions { ping_interval: Duration::from_millis(100), ..reports.options() };
        let broker = Broker::open(server.url(""), options);
        broker.synced().await;
        // A silence that pings break is none.
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(*reports.0.borrow(), [Report::Connected]);
        server.signal(19);
        reports.until(|report| matches!(report, Report::Lost(why) if why.contains("said nothing"))).await;
        server.signal(18);
        broker.synced().await;
    });
}
