//! Workers that die.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use nix::sys::signal::Signal;

use crate::Test;
use crate::program::request;
use crate::server::{Server, send, server, until};

pub(crate) const TESTS: &[Test] = &[
    ("a_killed_worker_is_started_again", a_killed_worker_is_started_again),
    ("kills_cost_only_what_the_killed_held", kills_cost_only_what_the_killed_held),
    ("a_worker_that_exits_is_started_again", a_worker_that_exits_is_started_again),
    ("crash_loop_backs_off_and_recovers", crash_loop_backs_off_and_recovers),
    ("a_server_that_never_came_up_can_be_stopped", a_server_that_never_came_up_can_be_stopped),
];

fn a_killed_worker_is_started_again() {
    let server = server("worker_num=2").start();
    let before = server.worker_pids();
    send(before[0], Signal::SIGKILL);
    let after = until("the new worker", || {
        let now = server.worker_pids();
        (now.len() == 2 && !now.contains(&before[0]) && all_serve(&server)).then_some(now)
    });
    assert!(after.contains(&before[1]), "the other worker was left alone");
    assert_eq!(server.control("status")["totals"]["crashes"], 1);
    assert!(server.events().contains("signal: 9, crashed: true"));
    server.stop();
}

/// Clients ask on and on while workers are killed at random: what fails was begun on a killed worker, one request a
/// client at most.
fn kills_cost_only_what_the_killed_held() {
    const CLIENTS: u64 = 3;
    const KILLS: u64 = 10;
    let server = server("worker_num=3").start();
    let (over, failed, answered) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let addr = server.addr();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    match request(addr, "pid") {
                        Ok(_) => answered.fetch_add(1, Relaxed),
                        Err(error) => {
                            assert_ne!(error.kind(), std::io::ErrorKind::ConnectionRefused, "somebody always listens");
                            failed.fetch_add(1, Relaxed)
                        }
                    };
                }
            });
        }
        for kill in 0..KILLS {
            let victim = server.who().0;
            send(victim, Signal::SIGKILL);
            let seen = answered.load(Relaxed);
            until("service to go on", || (answered.load(Relaxed) > seen + 20).then_some(()));
            until("the death to be seen", || {
                (server.control("status")["totals"]["crashes"].as_u64() > Some(kill)).then_some(())
            });
        }
        over.store(true, Relaxed);
    });
    assert!(failed.load(Relaxed) <= CLIENTS * KILLS, "{} failed", failed.load(Relaxed));
    server.stop();
}

fn all_serve(server: &Server) -> bool {
    let status = server.control("status");
    status["totals"]["serving"] == status["worker_num"]
}

fn a_worker_that_exits_is_started_again() {
    let server = server("worker_num=1").start();
    let (pid, ..) = server.who();
    assert!(request(server.addr(), "die 3").is_err());
    // Queued while nobody serves, answered by the next one.
    assert_ne!(server.who().0, pid);
    assert!(server.events().contains("exit_code: 3, signal: 0, crashed: true"));
    server.stop();
}

fn births(server: &Server) -> Vec<u64> {
    server.events().lines().filter_map(|line| line.strip_prefix("born ")?.parse().ok()).collect()
}

fn crash_loop_backs_off_and_recovers() {
    let server = server("worker_num=1").flag("broken").spawn();
    let born = until("five births", || Some(births(&server)).filter(|born| born.len() >= 5));
    let gaps: Vec<u64> = born.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A millisecond less for the clock's rounding.
    for (gap, least) in gaps.iter().zip([99, 199, 399, 799]) {
        assert!(*gap >= least, "{gaps:?}");
    }
    assert!(server.stderr().contains("times in a row within seconds of its start"), "{}", server.stderr());
    server.mend();
    let server = server.wait_ready();
    server.who();
    server.stop();
}

fn a_server_that_never_came_up_can_be_stopped() {
    let mut server = server("worker_num=2").flag("broken").spawn();
    until("the first birth", || (!births(&server).is_empty()).then_some(()));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
}
