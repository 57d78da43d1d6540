//! Which requests a turn begins, and who comes before them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apus_net::{Config, Request, Responder, ResponseHead};
use support::{Client, Server};
use tokio::sync::Notify;

/// Who was run, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// A server whose handler is told the path without its slash, and answers when it returns.
fn server<Fut: Future<Output = ()> + 'static>(handler: impl Fn(String) -> Fut + Clone + Send + 'static) -> Server {
    Server::start(Config::default(), move |request: Request, r: Responder| {
        let handled = handler(String::from_utf8_lossy(&request.path()[1..]).into_owned());
        async move {
            handled.await;
            r.end(&ResponseHead::new(200), b"").unwrap();
        }
    })
}

fn send(client: &mut Client, path: &str) {
    client.send(format!("GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n"));
}

/// Connections that have had an answer, so that nothing but requests comes of them.
fn clients<const N: usize>(server: &Server) -> [Client; N] {
    std::array::from_fn(|_| {
        let mut client = server.client();
        client.get("/nothing");
        client
    })
}

fn await_log(server: &Server, log: &Log, wanted: &str) {
    let (log, wanted) = (Arc::clone(log), wanted.to_owned());
    server.until(move |_| log.lock().unwrap().contains(&wanted));
}

thread_local! { static OVER: Cell<bool> = const { Cell::new(false) }; }

#[test]
fn two_that_wake_each_other_for_ever_do_not_keep_new_requests_out() {
    let turns = Arc::new([Notify::new(), Notify::new()]);
    let log = Log::default();
    let server = server({
        let log = Arc::clone(&log);
        move |path| {
            let (turns, log) = (Arc::clone(&turns), Arc::clone(&log));
            async move {
                let own = match path.as_str() {
                    "0" => 0,
                    "1" => 1,
                    "end" => return OVER.set(true),
                    _ => return,
                };
                log.lock().unwrap().push(path);
                while !OVER.get() {
                    turns[1 - own].notify_one();
                    turns[own].notified().await;
                }
                turns[1 - own].notify_one();
            }
        }
    });
    let [mut first, mut second, mut new] = clients(&server);
    send(&mut first, "0");
    send(&mut second, "1");
    await_log(&server, &log, "0");
    await_log(&server, &log, "1");
    assert_eq!(new.get("/end").status, 200);
    assert_eq!((first.answer().status, second.answer().status), (200, 200));
}

/// What a handler of slow requests does, by its path.
async fn slow(path: &str, log: &Log, woken: &[Notify; 2]) {
    let note = |what: &str| log.lock().unwrap().push(what.into());
    match path {
        "first" => {
            woken[0].notified().await;
            note("first goes on");
            woken[1].notify_one();
        }
        "second" => {
            woken[1].notified().await;
            note("second goes on");
        }
        "slow" | "wakes" => std::thread::sleep(Duration::from_millis(2)),
        _ => {}
    }
    if path == "wakes" {
        woken[0].notify_one();
    }
}

#[test]
fn while_requests_are_slow_those_that_go_on_and_whom_they_wake_come_between() {
    let log = Log::default();
    let woken = Arc::new([Notify::new(), Notify::new()]);
    let server = server({
        let log = Arc::clone(&log);
        move |path| {
            let (log, woken) = (Arc::clone(&log), Arc::clone(&woken));
            async move {
                log.lock().unwrap().push(path.clone());
                slow(&path, &log, &woken).await;
            }
        }
    });
    let [mut first, mut second, mut one, mut two, mut three] = clients(&server);
    send(&mut first, "first");
    await_log(&server, &log, "first");
    send(&mut second, "second");
    await_log(&server, &log, "second");
    for kind in ["slow", "wakes"] {
        log.lock().unwrap().clear();
        // At first nothing is known: a turn is found to be long when its second request comes.
        server.while_busy(|| {
            send(&mut one, kind);
            send(&mut two, "slow");
            send(&mut three, "slow");
        });
        for client in [&mut one, &mut two, &mut three] {
            assert_eq!(client.answer().status, 200);
        }
    }
    assert_eq!((first.answer().status, second.answer().status), (200, 200));
    assert_eq!(*log.lock().unwrap(), ["wakes", "first goes on", "second goes on", "slow", "slow"]);
}
