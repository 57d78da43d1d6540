//! Event workers, task workers and user processes side by side.

use nix::sys::signal::Signal;

use crate::server::{Server, is_alive, send, server, until};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("ids_and_roles_are_told", ids_and_roles_are_told),
    ("usr2_reloads_task_workers_alone", usr2_reloads_task_workers_alone),
    ("usr1_reloads_all_but_user_processes", usr1_reloads_all_but_user_processes),
    ("the_greater_of_two_reloads_is_done", the_greater_of_two_reloads_is_done),
    ("killed_task_workers_are_reaped_and_replaced", killed_task_workers_are_reaped_and_replaced),
    ("user_processes_come_again", user_processes_come_again),
    ("stopping_goes_from_workers_to_tasks_to_users", stopping_goes_from_workers_to_tasks_to_users),
    ("task_workers_come_again_while_a_stop_waits", task_workers_come_again_while_a_stop_waits),
    ("stopping_at_once_stops_every_role", stopping_at_once_stops_every_role),
];

const ALL: &str = "worker_num=2;task_worker_num=2";

fn all_roles(settings: &str) -> Server {
    server(settings).env("TEST_USERS", "2".to_owned()).start()
}

/// Process ids of a role that serve, by id.
fn pids(server: &Server, role: &str) -> Vec<u32> {
    let status = server.control("status");
    let rows = status["workers"].as_array().unwrap().iter();
    rows.filter(|w| w["role"] == role && w["state"] == "serving").map(|w| w["pid"].as_u64().unwrap() as u32).collect()
}

fn by_role(server: &Server) -> [Vec<u32>; 3] {
    ["worker", "task", "user"].map(|role| pids(server, role))
}

fn ids_and_roles_are_told() {
    let server = all_roles(ALL);
    let status = server.control("status");
    let rows: Vec<(u64, &str)> = status["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["id"].as_u64().unwrap(), w["role"].as_str().unwrap()))
        .collect();
    let expected = [(0, "worker"), (1, "worker"), (2, "task"), (3, "task"), (4, "user"), (5, "user")];
    assert_eq!(rows, expected);
    let count = |name: &str| status[name].as_u64();
    assert_eq!([count("worker_num"), count("task_worker_num"), count("user_process_num")], [Some(2); 3]);
    assert_eq!(status["totals"]["serving"], 2, "user processes and task workers serve nobody");
    assert!(server.stderr().contains("with 2 workers, 2 task workers, 2 user processes"), "{}", server.stderr());
    server.stop();
}

fn reload(server: &Server, ask: impl FnOnce()) -> [Vec<u32>; 3] {
    let before = server.control("status")["generation"].as_u64();
    ask();
    until("the reload", || {
        let status = server.control("status");
        (status["generation"].as_u64() > before && status["state"] == "serving").then_some(())
    });
    until("one process a replica", || {
        let found = by_role(server);
        found.iter().all(|pids| pids.len() == 2).then_some(found)
    })
}

fn usr2_reloads_task_workers_alone() {
    let server = all_roles(ALL);
    let [workers, tasks, users] = by_role(&server);
    let after = reload(&server, || server.signal(Signal::SIGUSR2));
    assert_eq!((&after[0], &after[2]), (&workers, &users));
    assert!(after[1].iter().all(|pid| !tasks.contains(pid)), "{tasks:?} {after:?}");
    let again = reload(&server, || assert_eq!(server.ask("reload tasks"), "true"));
    assert_eq!((&again[0], &again[2]), (&workers, &users));
    assert!(again[1].iter().all(|pid| !after[1].contains(pid)));
    server.stop();
}

fn usr1_reloads_all_but_user_processes() {
    let server = all_roles(ALL);
    let [workers, tasks, users] = by_role(&server);
    let after = reload(&server, || server.signal(Signal::SIGUSR1));
    assert_eq!(after[2], users);
    for (old, new) in [(workers, &after[0]), (tasks, &after[1])] {
        assert!(new.iter().all(|pid| !old.contains(pid)), "{old:?} {new:?}");
    }
    server.stop();
}

fn the_greater_of_two_reloads_is_done() {
    let server = all_roles(ALL);
    let [workers, ..] = by_role(&server);
    for signal in [Signal::SIGUSR2, Signal::SIGUSR1, Signal::SIGUSR2] {
        server.signal(signal);
    }
    until("new event workers", || {
        let now = pids(&server, "worker");
        (now.len() == 2 && now.iter().all(|pid| !workers.contains(pid))).then_some(())
    });
    server.stop();
}

fn killed_task_workers_are_reaped_and_replaced() {
    let server = all_roles(ALL);
    let [workers, tasks, users] = by_role(&server);
    send(tasks[1], Signal::SIGKILL);
    until("the next one", || {
        let now = pids(&server, "task");
        (now.len() == 2 && !now.contains(&tasks[1])).then_some(())
    });
    assert_eq!(by_role(&server).map(|mut pids| pids.remove(0)), [workers[0], tasks[0], users[0]]);
    let events = server.events();
    assert!(events.contains("reaped Task of slot "), "{events}");
    assert!(events.contains("WorkerExited { id: 3, role: Task"), "{events}");
    server.stop();
}

fn user_processes_come_again() {
    let server = all_roles(ALL);
    let [workers, _, users] = by_role(&server);
    let next = |gone: u32| {
        until("the next one", || {
            let now = pids(&server, "user");
            (now.len() == 2 && !now.contains(&gone)).then_some(now)
        })
    };
    send(users[0], Signal::SIGKILL);
    let after = next(users[0]);
    assert_eq!(after[1], users[1]);
    std::fs::write(server.directory.join("leave"), "").unwrap();
    until("one to end by itself", || server.stderr().contains("has ended; next start in").then_some(()));
    let before = until("its successor", || Some(pids(&server, "user")).filter(|now| now.len() == 2));
    // TERM is the order to leave for one that is to be replaced, and no two of a kind run side by side.
    assert_eq!(server.ask("replace 5"), "true");
    assert_eq!(next(before[1])[0], before[0]);
    assert!(!is_alive(before[1]));
    let status = server.control("status");
    assert_eq!(status["totals"]["crashes"], 1, "leaving is no crash");
    assert_eq!(pids(&server, "worker"), workers);
    server.stop();
}

fn position(events: &str, what: &str) -> usize {
    events.find(what).unwrap_or_else(|| panic!("no {what}: {events}"))
}

fn stopping_goes_from_workers_to_tasks_to_users() {
    let server = all_roles("worker_num=1;task_worker_num=1");
    let server = server.stop();
    let events = server.events();
    let order = [
        "drain Worker stopping true",
        "WorkerExited { id: 0",
        "drain Task stopping true",
        "WorkerExited { id: 1",
        "WorkerExited { id: 2",
    ];
    let places: Vec<usize> = order.iter().map(|what| position(&events, what)).collect();
    assert!(places.is_sorted(), "{events}");
    assert!(!server.stderr().contains("did not leave in time"), "{}", server.stderr());
}

fn task_workers_come_again_while_a_stop_waits() {
    let mut server = all_roles("worker_num=1;task_worker_num=1;max_wait_time=60");
    let task = pids(&server, "task")[0];
    // A connection that holds its worker, and the stop with it.
    let mut held = std::net::TcpStream::connect(server.addr()).unwrap();
    std::io::Write::write_all(&mut held, b"hold\n").unwrap();
    until("the connection", || (server.control("status")["totals"]["accepted"] == 1).then_some(()));
    server.signal(Signal::SIGTERM);
    until("the stop", || (server.control("status")["state"] == "stopping").then_some(()));
    send(task, Signal::SIGKILL);
    until("the next one", || Some(pids(&server, "task")).filter(|now| now.len() == 1 && now[0] != task));
    assert!(server.events().contains("drain Worker") && !server.events().contains("drain Task"));
    drop(held);
    assert!(server.wait().success());
}

fn stopping_at_once_stops_every_role() {
    let mut server = all_roles(ALL);
    let all = by_role(&server).concat();
    server.signal(Signal::SIGINT);
    assert!(server.wait().success());
    assert!(!all.iter().any(|pid| is_alive(*pid)));
}
