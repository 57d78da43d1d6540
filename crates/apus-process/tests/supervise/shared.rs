//! What the processes share: the scoreboard and the table of connections.

use std::io::{Read, Write};
use std::net::TcpStream;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::Test;
use crate::server::{DEADLINE, send, server, until};

pub(crate) const TESTS: &[Test] = &[
    ("the_scoreboard_counts", the_scoreboard_counts),
    ("sums_outlive_their_workers", sums_outlive_their_workers),
    ("connections_survive_concurrent_churn_and_a_kill", connections_survive_concurrent_churn_and_a_kill),
    ("any_worker_closes_any_connection", any_worker_closes_any_connection),
];

fn the_scoreboard_counts() {
    let server = server("worker_num=2").start();
    for _ in 0..50 {
        server.ask("pid");
    }
    server.ask("500");
    let totals = until("the counts", || {
        let totals = server.control("status")["totals"].clone();
        (totals["requests"] == 51 && totals["closed"] == 51).then_some(totals)
    });
    assert_eq!((totals["accepted"].as_u64(), totals["errors"].as_u64()), (Some(51), Some(1)));
    let (p50, p99) = (totals["p50_us"].as_f64().unwrap(), totals["p99_us"].as_f64().unwrap());
    assert!(p50 > 0.0 && p50 <= p99, "{p50} {p99}");
    assert!(totals["rss"].as_u64().unwrap() > 100_000);
    let seen_by_worker: Value = serde_json::from_str(&server.ask("stats")).unwrap();
    assert_eq!(seen_by_worker["totals"]["requests"], 51);
    assert_eq!(seen_by_worker["workers"].as_array().unwrap().len(), 2);
    server.stop();
}

fn sums_outlive_their_workers() {
    let server = server("worker_num=2").start();
    for _ in 0..20 {
        server.ask("pid");
    }
    assert_eq!(server.control("reload wait")["ok"], true);
    until("the old workers' sums", || {
        let status = server.control("status");
        (status["workers"].as_array().unwrap().len() == 2 && status["totals"]["requests"] == 20).then_some(())
    });
    server.stop();
}

fn connections_survive_concurrent_churn_and_a_kill() {
    let server = server("worker_num=4;max_connection=400").flag("churn").start();
    let sessions = || -> Vec<i64> { serde_json::from_str(&server.ask("sessions")).unwrap() };
    // Ten left by each worker, and the one that asks.
    assert_eq!(sessions().len(), 41);
    // The replacement must not churn again.
    std::fs::remove_file(server.directory.join("churn")).unwrap();
    let status = server.control("status");
    let victim = &status["workers"][2];
    send(victim["pid"].as_u64().unwrap() as u32, Signal::SIGKILL);
    until("the dead worker's rows to go", || (sessions().len() == 31).then_some(()));
    assert!(sessions().iter().filter(|session| **session & 0xfff == 2).count() <= 1);
    server.stop();
}

fn any_worker_closes_any_connection() {
    let server = server("worker_num=4").start();
    let mut held = TcpStream::connect(server.addr()).unwrap();
    held.set_read_timeout(Some(DEADLINE)).unwrap();
    held.write_all(b"hold\n").unwrap();
    let sessions = || -> Vec<i64> { serde_json::from_str(&server.ask("sessions")).unwrap() };
    // The askers' own connections come and go; the one that is there twice is held.
    let session = until("the connection to be entered", || {
        let before = sessions();
        sessions().into_iter().find(|session| before.contains(session))
    });
    assert_eq!(server.ask(&format!("close {session}")), "true");
    assert_eq!(held.read(&mut [0]).unwrap(), 0);
    server.stop();
}
