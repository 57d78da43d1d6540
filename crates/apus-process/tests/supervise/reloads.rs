//! Replacing workers without losing a request.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use nix::sys::signal::Signal;

use crate::Test;
use crate::program::request;
use crate::server::{Server, is_alive, send, server, until};

pub(crate) const TESTS: &[Test] = &[
    ("reload_loses_nothing", reload_loses_nothing),
    ("overlapping_reloads_become_one", overlapping_reloads_become_one),
    ("reload_to_broken_code_keeps_the_old_workers", reload_to_broken_code_keeps_the_old_workers),
    ("max_request_replaces_without_loss", max_request_replaces_without_loss),
    ("age_replaces_workers", age_replaces_workers),
    ("memory_replaces_workers", memory_replaces_workers),
    ("recycling_and_faulted_workers_are_replaced", recycling_and_faulted_workers_are_replaced),
    ("a_worker_sent_term_is_replaced_first", a_worker_sent_term_is_replaced_first),
    ("reload_during_a_replacement_reaches_every_worker", reload_during_a_replacement_reaches_every_worker),
    ("reload_to_workers_that_fault_at_once_is_given_up", reload_to_workers_that_fault_at_once_is_given_up),
    ("usr2_is_ignored", usr2_is_ignored),
];

/// Clients that ask on and on while `during` runs; how many requests were answered. None may fail.
fn under_load(addr: SocketAddr, during: impl FnOnce(&AtomicU64)) -> u64 {
    let (over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    request(addr, "pid").expect("no request may fail");
                    answered.fetch_add(1, Relaxed);
                }
            });
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| during(&answered)));
        over.store(true, Relaxed);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    answered.into_inner()
}

fn reload_loses_nothing() {
    let server = server("worker_num=3").start();
    let first = server.worker_pids();
    let answered = under_load(server.addr(), |answered| {
        for round in 0..10 {
            if round % 2 == 0 {
                assert_eq!(server.control("reload wait")["ok"], true);
            } else {
                let before = server.control("status")["generation"].as_u64();
                server.signal(Signal::SIGUSR1);
                until("the reload", || {
                    let status = server.control("status");
                    (status["generation"].as_u64() > before && status["state"] == "serving").then_some(())
                });
            }
            let seen = answered.load(Relaxed);
            until("requests in each generation", || (answered.load(Relaxed) > seen + 20).then_some(()));
        }
    });
    assert!(answered > 200);
    let status = server.control("status");
    assert_eq!((status["generation"].as_u64(), status["totals"]["crashes"].as_u64()), (Some(11), Some(0)));
    until("the first generation to leave", || (!first.iter().any(|pid| is_alive(*pid))).then_some(()));
    server.stop();
}

fn overlapping_reloads_become_one() {
    let server = server("worker_num=2").start();
    for _ in 0..20 {
        server.signal(Signal::SIGUSR1);
    }
    assert_eq!(server.control("reload wait")["ok"], true);
    let generation = server.control("status")["generation"].as_u64().unwrap();
    assert!((2..=6).contains(&generation), "{generation}");
    server.stop();
}

fn reload_to_broken_code_keeps_the_old_workers() {
    let server = server("worker_num=2").start();
    let before = server.worker_pids();
    server.spoil();
    under_load(server.addr(), |_| {
        let answer = server.control("reload wait");
        assert_eq!(answer["ok"], false);
        assert!(answer["error"].as_str().unwrap().contains("exited with code 9 before it was ready"), "{answer}");
    });
    assert_eq!(server.worker_pids(), before);
    assert!(server.stderr().contains("reload given up"));
    server.mend();
    assert_eq!(server.control("reload wait")["ok"], true);
    server.stop();
}

fn max_request_replaces_without_loss() {
    let server = server("worker_num=2;max_request=30;max_request_grace=10").start();
    let first = server.worker_pids();
    under_load(server.addr(), |_| {
        until("both workers to be replaced", || (!first.iter().any(|pid| is_alive(*pid))).then_some(()));
    });
    let status = server.control("status");
    assert_eq!((status["generation"].as_u64(), status["totals"]["crashes"].as_u64()), (Some(1), Some(0)));
    server.stop();
}

fn age_replaces_workers() {
    let server = server("worker_num=1;max_worker_age=200ms").start();
    let first = server.who().0;
    under_load(server.addr(), |_| until("the old worker to leave", || (!is_alive(first)).then_some(())));
    server.stop();
}

fn memory_replaces_workers() {
    // Any process is bigger than this.
    let server = server("worker_num=1;max_worker_memory=100K").start();
    let first = server.who().0;
    until("the big worker to leave", || (!is_alive(first)).then_some(()));
    assert!(server.stderr().contains("max_worker_memory"));
    server.stop();
}

fn replaced_after(server: &Server, ask: &str) {
    let (pid, ..) = server.who();
    assert_eq!(server.ask(ask), "ok");
    until("the worker to be replaced", || (!is_alive(pid)).then_some(()));
    assert_ne!(server.who().0, pid);
}

fn recycling_and_faulted_workers_are_replaced() {
    let server = server("worker_num=1").start();
    under_load(server.addr(), |_| {
        replaced_after(&server, "recycle");
        replaced_after(&server, "fault");
    });
    assert_eq!(server.control("status")["totals"]["crashes"], 0);
    server.stop();
}

fn a_worker_sent_term_is_replaced_first() {
    let server = server("worker_num=1").start();
    let (pid, ..) = server.who();
    under_load(server.addr(), |_| {
        send(pid, Signal::SIGTERM);
        until("the worker to be replaced", || (!is_alive(pid)).then_some(()));
    });
    server.stop();
}

fn reload_during_a_replacement_reaches_every_worker() {
    let server = server("worker_num=3").start();
    for generation in 2..8 {
        // Whoever answers starts its replacement of the old generation just before the reload begins.
        server.ask("recycle");
        assert_eq!(server.control("reload wait")["ok"], true);
        until("the old ones to leave and every new one to serve", || {
            let status = server.control("status");
            let workers = status["workers"].as_array().unwrap();
            let fresh = workers.iter().filter(|w| w["state"] == "serving" && w["generation"] == generation).count();
            (fresh == 3 && workers.len() == 3).then_some(())
        });
    }
    server.stop();
}

fn reload_to_workers_that_fault_at_once_is_given_up() {
    let server = server("worker_num=2").start();
    std::fs::write(server.directory.join("faulty"), "").unwrap();
    assert_eq!(server.control("reload wait")["ok"], false);
    std::fs::remove_file(server.directory.join("faulty")).unwrap();
    assert_eq!(server.who().1, 1);
    assert_eq!(server.control("reload wait")["ok"], true);
    server.stop();
}

fn usr2_is_ignored() {
    let server = server("worker_num=1").start();
    let (pid, ..) = server.who();
    server.signal(Signal::SIGUSR2);
    until("the log line", || server.stderr().contains("USR2").then_some(()));
    assert_eq!(server.who().0, pid);
    server.stop();
}
