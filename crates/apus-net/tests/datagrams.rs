//! Datagram ports: echo, floods, handlers that wait, limits, drain.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::os::unix::net::UnixDatagram;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use apus_loop::Loop;
use apus_net::{ConnInfo, Control, Datagram, Local, Metrics, NoMetrics, PacketApp, serve_datagrams};
use socket2::SockAddr;
use tokio::net::UdpSocket;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Notify;

/// No test waits longer for a datagram: it fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Echoes. `wait…` is answered when released.
#[derive(Default)]
struct Echo {
    release: Rc<Notify>,
    seen: Cell<usize>,
}

impl PacketApp for Echo {
    type Handling = Pin<Box<dyn Future<Output = ()>>>;

    fn on_packet(self: &Rc<Self>, socket: &Rc<Datagram>, from: &SockAddr, data: &[u8]) -> Option<Self::Handling> {
        self.seen.set(self.seen.get() + 1);
        if !data.starts_with(b"wait") {
            socket.send_to(from, data).unwrap();
            return None;
        }
        let (release, socket, from, data) = (Rc::clone(&self.release), Rc::clone(socket), from.clone(), data.to_vec());
        Some(Box::pin(async move {
            release.notified().await;
            socket.send_to(&from, &data).unwrap();
        }))
    }
}

/// Remembers what an operator is told.
#[derive(Default)]
struct Told(NoMetrics, RefCell<Vec<String>>);

impl Metrics for Told {
    fn next_session(&self) -> i64 {
        self.0.next_session()
    }

    fn connected(&self, _conn: &ConnInfo) {
        panic!("a datagram makes no connection");
    }

    fn warn(&self, message: &str) {
        self.1.borrow_mut().push(message.to_owned());
    }
}

struct Port {
    app: Rc<Echo>,
    socket: Rc<Datagram>,
    control: Rc<Control>,
    told: Rc<Told>,
    addr: std::net::SocketAddr,
}

fn port(most: usize) -> Port {
    let bound = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = bound.local_addr().unwrap();
    let told = Rc::new(Told::default());
    let control = Control::new(Rc::<Told>::clone(&told), &Loop::new().unwrap());
    let socket = Datagram::new(bound.into(), most, &control).unwrap();
    Port { app: Rc::default(), socket, control, told, addr }
}

fn run<F: Future<Output = ()> + 'static>(test: F) {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("it went on in time") });
}

async fn client(port: &Port) -> UdpSocket {
    let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    client.connect(port.addr).await.unwrap();
    client
}

async fn receive(client: &UdpSocket) -> Vec<u8> {
    let mut bytes = vec![0; 70_000];
    let count = client.recv(&mut bytes).await.unwrap();
    bytes.truncate(count);
    bytes
}

#[test]
fn datagrams_of_every_size_come_back() {
    run(async {
        let port = port(10);
        let serving = tokio::task::spawn_local(serve_datagrams(Rc::clone(&port.app), Rc::clone(&port.socket)));
        assert_eq!(port.socket.local(), &Local::Tcp(port.addr));
        let client = client(&port).await;
        for size in [0, 1, 1400, 9000, 65_507] {
            let data = vec![b'x'; size];
            client.send(&data).await.unwrap();
            assert_eq!(receive(&client).await, data);
        }
        let to = SockAddr::from(port.addr);
        let error = port.socket.send_to(&to, &vec![0; 65_508]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
        port.control.drain();
        serving.await.unwrap();
        assert_eq!(port.control.counters().bytes_in.get(), 1 + 1400 + 9000 + 65_507);
    });
}

#[test]
fn more_than_a_batch_is_taken_and_handlers_that_wait_hold_nothing_up() {
    run(async {
        let port = port(300);
        let client = client(&port).await;
        // All of it is there before the port looks.
        for n in 0..100 {
            client.send(format!("{}{n}", if n % 2 == 0 { "wait" } else { "" }).as_bytes()).await.unwrap();
        }
        let serving = tokio::task::spawn_local(serve_datagrams(Rc::clone(&port.app), Rc::clone(&port.socket)));
        for n in (1..100).step_by(2) {
            assert_eq!(receive(&client).await, n.to_string().as_bytes());
        }
        while port.app.seen.get() < 100 {
            tokio::task::yield_now().await;
        }
        assert_eq!((port.socket.running(), port.socket.dropped()), (50, 0));
        // Draining stops receiving; handlers go on.
        port.control.drain();
        serving.await.unwrap();
        port.app.release.notify_waiters();
        for n in (0..100).step_by(2) {
            assert_eq!(receive(&client).await, format!("wait{n}").as_bytes());
        }
        assert_eq!(port.socket.running(), 0);
    });
}

#[test]
fn beyond_the_bound_datagrams_are_dropped_and_that_is_told_once_a_minute() {
    run(async {
        let port = port(3);
        port.control.stop_clock();
        let _serving = tokio::task::spawn_local(serve_datagrams(Rc::clone(&port.app), Rc::clone(&port.socket)));
        let client = client(&port).await;
        let flood = async |count: u64| {
            let before = port.socket.dropped();
            for _ in 0..count {
                client.send(b"wait").await.unwrap();
            }
            while port.socket.dropped() < before + count {
                tokio::task::yield_now().await;
            }
        };
        for _ in 0..3 {
            client.send(b"wait").await.unwrap();
        }
        flood(60).await;
        assert_eq!((port.app.seen.get(), port.socket.running()), (3, 3));
        let told = port.told.1.borrow().clone();
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("3 handlers of it run already"), "{told:?}");
        port.control.advance(Duration::from_secs(59));
        flood(1).await;
        assert_eq!(port.told.1.borrow().len(), 1);
        port.control.advance(Duration::from_secs(1));
        flood(1).await;
        assert_eq!(port.told.1.borrow().len(), 2);
        port.app.release.notify_waiters();
        receive(&client).await;
        while port.socket.running() > 0 {
            tokio::task::yield_now().await;
        }
        client.send(b"again").await.unwrap();
        while receive(&client).await != b"again" {}
    });
}

/// Remembers what came, and from where; echoes where there is a path.
#[derive(Default)]
struct Senders(RefCell<Vec<(Vec<u8>, Option<std::path::PathBuf>)>>);
impl PacketApp for Senders {
    type Handling = std::future::Ready<()>;
    fn on_packet(self: &Rc<Self>, socket: &Rc<Datagram>, from: &SockAddr, data: &[u8]) -> Option<Self::Handling> {
        let path = from.as_pathname().map(std::path::Path::to_owned);
        if path.is_some() {
            socket.send_to(from, data).unwrap();
        }
        self.0.borrow_mut().push((data.to_vec(), path));
        None
    }
}

#[test]
fn unix_datagrams_with_and_without_a_sender() {
    run(async {
        let dir = std::env::temp_dir().join(format!("apus-datagrams-{}", std::process::id()));
        std::fs::create_dir(&dir).unwrap();
        let control = Control::new(Rc::new(NoMetrics::default()), &Loop::new().unwrap());
        let bound = UnixDatagram::bind(dir.join("server")).unwrap();
        let socket = Datagram::new(bound.into(), 10, &control).unwrap();
        assert_eq!(socket.local(), &Local::Unix(dir.join("server")));
        let app = Rc::new(Senders::default());
        let serving = tokio::task::spawn_local(serve_datagrams(Rc::clone(&app), socket));
        UnixDatagram::unbound().unwrap().send_to(b"nameless", dir.join("server")).unwrap();
        let client = tokio::net::UnixDatagram::bind(dir.join("client")).unwrap();
        client.send_to(&vec![7; 100_000], dir.join("server")).await.unwrap();
        let mut answer = vec![0; 200_000];
        assert_eq!(client.recv(&mut answer).await.unwrap(), 100_000);
        let seen = app.0.borrow().clone();
        assert_eq!(seen, [(b"nameless".to_vec(), None), (vec![7; 100_000], Some(dir.join("client")))]);
        serving.abort();
        std::fs::remove_dir_all(dir).unwrap();
    });
}
