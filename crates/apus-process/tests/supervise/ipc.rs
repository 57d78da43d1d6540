//! What processes tell each other, and what they leave to their successors.

use std::io::Write;
use std::net::TcpStream;

use nix::sys::signal::Signal;

use crate::Test;
use crate::server::{Server, send, server, until};

pub(crate) const TESTS: &[Test] = &[
    ("any_worker_writes_to_any", any_worker_writes_to_any),
    ("a_dead_workers_names_are_forgotten", a_dead_workers_names_are_forgotten),
    ("a_killed_workers_connections_are_left_to_its_successor", a_killed_workers_connections_are_left_to_its_successor),
    ("what_a_worker_killed_while_leaving_held_is_told", what_a_worker_killed_while_leaving_held_is_told),
];

fn any_worker_writes_to_any() {
    let server = server("worker_num=3").start();
    for id in 0..3 {
        let answer = server.ask(&format!("post {id} letter {id}"));
        let from = answer.strip_prefix("Ok(()) from slot ").unwrap_or_else(|| panic!("{answer}"));
        let line = format!("ipc to {id}: 7 from slot {from}: letter {id}\n");
        until("the letter", || server.events().contains(&line).then_some(()));
    }
    // Others sit in the slots then, and letters still find them.
    assert_eq!(server.control("reload wait")["ok"], true);
    assert!(server.ask("post 2 after the reload").starts_with("Ok"));
    until("the letter", || server.events().contains(": after the reload\n").then_some(()));
    server.stop();
}

fn a_dead_workers_names_are_forgotten() {
    let server = server("worker_num=1").start();
    server.ask("bind 77");
    let slot = server.ask("slot");
    assert_eq!(server.ask("who 77"), format!("[{slot}]"));
    send(server.who().0, Signal::SIGKILL);
    until("the next worker", || (server.control("status")["totals"]["crashes"] == 1).then_some(()));
    assert_eq!((server.ask("slot"), server.ask("who 77")), (slot, "[]".to_owned()));
    server.stop();
}

/// A connection that waits on a worker, and its session id.
fn hold(server: &Server) -> (TcpStream, i64) {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"hold\n").unwrap();
    let session = until("the connection to be entered", || {
        let sessions = || serde_json::from_str::<Vec<i64>>(&server.ask("sessions")).unwrap();
        // The asker's own connection is another one each time.
        Some(sessions()[0]).filter(|first| sessions()[0] == *first)
    });
    (stream, session)
}

fn a_killed_workers_connections_are_left_to_its_successor() {
    let server = server("worker_num=1").start();
    let (_stream, session) = hold(&server);
    let line = format!("orphans [{session}");
    // The first successors die before they have told anybody.
    server.spoil();
    let pid = server.control("status")["workers"][0]["pid"].as_u64().unwrap();
    send(pid as u32, Signal::SIGKILL);
    until("two failed births", || (server.control("status")["totals"]["crashes"].as_u64() > Some(2)).then_some(()));
    assert!(!server.events().contains(&line));
    server.mend();
    until("the successor's report", || server.events().contains(&line).then_some(()));
    server.who();
    assert_eq!(server.control("reload wait")["ok"], true);
    assert_eq!(server.events().matches("orphans").count(), 1, "told once: {}", server.events());
    server.stop();
}

fn what_a_worker_killed_while_leaving_held_is_told() {
    let server = server("worker_num=1;max_wait_time=60").start();
    let (_stream, session) = hold(&server);
    let old = server.who().0;
    assert_eq!(server.control("reload wait")["ok"], true);
    assert_ne!(server.who().0, old, "the new worker serves, the old one has the connection");
    send(old, Signal::SIGKILL);
    let line = format!("orphans [{session}]\n");
    until("the report", || server.events().contains(&line).then_some(()));
    server.stop();
}
