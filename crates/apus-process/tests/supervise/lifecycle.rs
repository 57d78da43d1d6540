//! Starting and ending.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::Test;
use crate::program::request;
use crate::server::{DEADLINE, is_alive, send, server, until};

pub(crate) const TESTS: &[Test] = &[
    ("ready_line_names_everything", ready_line_names_everything),
    ("term_drains", term_drains),
    ("int_stops_at_once", int_stops_at_once),
    ("max_wait_time_kills", max_wait_time_kills),
    ("int_hurries_a_graceful_stop", int_hurries_a_graceful_stop),
    ("pid_file_is_locked_and_stale_ones_are_taken", pid_file_is_locked_and_stale_ones_are_taken),
    ("daemon_detaches_when_ready", daemon_detaches_when_ready),
    ("daemon_that_cannot_serve_tells_its_launcher", daemon_that_cannot_serve_tells_its_launcher),
    ("systemd_passes_the_socket", systemd_passes_the_socket),
    ("systemd_hears_ready_and_stopping", systemd_hears_ready_and_stopping),
    ("control_socket_commands", control_socket_commands),
    ("unix_socket_goes_with_the_master", unix_socket_goes_with_the_master),
    ("workers_leave_when_the_master_is_killed", workers_leave_when_the_master_is_killed),
    ("orphan_that_hangs_is_killed", orphan_that_hangs_is_killed),
    ("events_come_in_order_and_children_stay", events_come_in_order_and_children_stay),
    ("workers_have_the_callers_signal_mask", workers_have_the_callers_signal_mask),
    ("workers_run_as_another_user", workers_run_as_another_user),
    ("workers_are_bound_to_cpus", workers_are_bound_to_cpus),
    ("term_to_every_process_drains", term_to_every_process_drains),
    ("int_to_every_process_stops", int_to_every_process_stops),
    ("watchdog_of_systemd_is_fed", watchdog_of_systemd_is_fed),
    ("a_worker_may_stop_the_server", a_worker_may_stop_the_server),
];

fn ready_line_names_everything() {
    let server = server("worker_num=2").start();
    assert_eq!(server.pid, server.child.id());
    assert_ne!(server.addr().port(), 0);
    let status = server.control("status");
    assert_eq!(status["pid"], server.pid);
    assert_eq!(status["state"], "serving");
    assert_eq!(status["script"], "test.php");
    server.stop();
}

/// A request under way: its answer comes after "go".
fn hold(server: &crate::server::Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(b"hold\n").unwrap();
    until("the worker to take the connection", || {
        let status = server.control("status");
        (status["totals"]["connections"] == 1).then_some(())
    });
    stream
}

fn term_drains() {
    let mut server = server("worker_num=1").start();
    let mut held = hold(&server);
    server.signal(Signal::SIGTERM);
    until("new clients to be refused", || TcpStream::connect(server.addr()).err());
    assert_eq!(server.child.try_wait().unwrap(), None, "the request is still under way");
    held.write_all(b"pid\n").unwrap();
    let mut answer = String::new();
    held.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(" 1 0\n"), "{answer}");
    assert_eq!(server.wait().code(), Some(0));
}

fn int_stops_at_once() {
    let mut server = server("worker_num=2;max_wait_time=60").start();
    let mut held = hold(&server);
    let start = Instant::now();
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait().code(), Some(0));
    assert!(start.elapsed().as_secs() < 10);
    assert!(matches!(held.read(&mut [0]), Ok(0) | Err(_)));
}

fn max_wait_time_kills() {
    let mut server = server("worker_num=1;max_wait_time=300ms").start();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"hang\n").unwrap();
    until("the worker to hang", || (server.control("status")["totals"]["connections"] == 1).then_some(()));
    let start = Instant::now();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(start.elapsed().as_millis() >= 300);
    assert!(server.events().contains("signal: 9, crashed: false"), "{}", server.events());
    assert!(server.stderr().contains("did not leave in time"));
}

fn int_hurries_a_graceful_stop() {
    let mut server = server("worker_num=1;max_wait_time=3600").start();
    let _held = hold(&server);
    server.signal(Signal::SIGTERM);
    until("the drain to begin", || (server.control("status")["state"] == "stopping").then_some(()));
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait().code(), Some(0));
}

fn pid_file_is_locked_and_stale_ones_are_taken() {
    let start = server("worker_num=1");
    let path = start.directory.join("pid");
    let settings = format!("pid_file={}", path.display());
    let mut first = start.set(&settings).start();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", first.pid));
    let mut second = server("worker_num=1").set(&settings).spawn();
    assert_eq!(second.wait().code(), Some(70));
    assert!(second.stderr().contains(&format!("locked by process {}", first.pid)), "{}", second.stderr());
    let workers = first.worker_pids();
    send(first.pid, Signal::SIGKILL);
    first.wait();
    until("the workers to leave", || (!workers.iter().any(|pid| is_alive(*pid))).then_some(()));
    assert!(path.exists(), "a killed master leaves its file");
    let third = server("worker_num=1").set(&settings).start();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", third.pid));
    third.stop();
    assert!(!path.exists());
}

fn daemon_detaches_when_ready() {
    let start = server("worker_num=2;daemonize=1");
    let (pid, log) = (start.directory.join("pid"), start.directory.join("log"));
    let mut server = start.set(&format!("pid_file={};log_file={}", pid.display(), log.display())).start();
    assert_eq!(server.wait().code(), Some(0), "the launcher ends well");
    assert_ne!(server.pid, server.child.id());
    assert_eq!(fs::read_to_string(&pid).unwrap().trim(), server.pid.to_string());
    let line = fs::read_to_string(format!("/proc/{}/stat", server.pid)).unwrap();
    let session: u32 = line.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap().parse().unwrap();
    assert!(session != server.pid && session != std::process::id(), "a session of its own, not led by it: {line}");
    server.who();
    assert!(fs::read_to_string(&log).unwrap().contains("serving on 127.0.0.1:"));
    fs::rename(&log, log.with_extension("old")).unwrap();
    server.signal(Signal::SIGHUP);
    until("the log to be opened anew", || {
        fs::read_to_string(&log).is_ok_and(|text| text.contains("reloaded")).then_some(())
    });
    assert_eq!(server.control("stop")["ok"], true);
    until("the daemon's end", || (!is_alive(server.pid)).then_some(()));
    assert!(!pid.exists());
}

fn daemon_that_cannot_serve_tells_its_launcher() {
    let mut server = server("worker_num=1;daemonize=1").flag("broken").spawn();
    assert_eq!(server.wait().code(), Some(1));
    let text = server.stderr();
    assert!(text.contains("worker 0 exited with code 9 before it was ready"), "{text}");
    server.mend();
    let server = server.wait_ready();
    server.who();
    server.signal(Signal::SIGTERM);
    until("the daemon's end", || (!is_alive(server.pid)).then_some(()));
}

fn systemd_passes_the_socket() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, ours) = (socket.local_addr().unwrap(), socket.try_clone().unwrap());
    // Queued before the server exists: it must be answered.
    let mut early = TcpStream::connect(addr).unwrap();
    early.write_all(b"pid\n").unwrap();
    let server = server("worker_num=1").pass(socket).start();
    assert_eq!(server.addr(), addr);
    let mut answer = String::new();
    early.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(" 1 0\n"));
    let mut stopped = server.stop();
    assert_eq!(stopped.wait().code(), Some(0));
    assert!(TcpStream::connect(addr).is_ok(), "the socket is systemd's and still listens");
    drop(ours);
}

fn systemd_hears_ready_and_stopping() {
    let start = server("worker_num=1");
    let path = start.directory.join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let next = || {
        let mut bytes = [0; 512];
        let len = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    };
    let server = start.env("NOTIFY_SOCKET", path.display().to_string()).start();
    let ready = next();
    assert!(ready.starts_with("READY=1") && ready.contains(&format!("MAINPID={}", server.pid)), "{ready}");
    assert_eq!(server.control("reload wait")["ok"], true);
    let reloading = next();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(next(), "READY=1");
    server.stop();
    assert_eq!(next(), "STOPPING=1");
}

fn control_socket_commands() {
    let mut server = server("worker_num=2").start();
    let nonsense = server.control("nonsense");
    assert_eq!(nonsense["ok"], false);
    assert!(nonsense["error"].as_str().unwrap().contains("status, reload"));
    assert_eq!(server.control("reload")["ok"], true);
    until("the second generation", || (server.control("status")["generation"] == 2).then_some(()));
    let waited = server.control("reload wait");
    assert_eq!((waited["ok"].as_bool(), waited["generation"].as_u64()), (Some(true), Some(3)));
    assert_eq!(server.control("stop now")["ok"], true);
    assert_eq!(server.wait().code(), Some(0));
}

fn unix_socket_goes_with_the_master() {
    let start = server("worker_num=2");
    let path = start.directory.join("http.sock");
    let listen = format!("unix:{}", path.display());
    let server = start.listen(&listen).start();
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"pid\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 1 "), "{answer}");
    // A worker's end must not take the file along.
    assert_eq!(server.control("reload wait")["ok"], true);
    assert!(path.exists());
    let _server = server.stop();
    assert!(!path.exists());
}

fn workers_leave_when_the_master_is_killed() {
    let mut server = server("worker_num=3").start();
    let workers = server.worker_pids();
    let mut held = hold(&server);
    send(server.pid, Signal::SIGKILL);
    server.wait();
    until("the idle workers to leave", || (workers.iter().filter(|pid| is_alive(**pid)).count() == 1).then_some(()));
    held.write_all(b"pid\n").unwrap();
    let mut answer = String::new();
    held.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 1 "), "the request under way is answered: {answer}");
    until("the last worker to leave", || (!workers.iter().any(|pid| is_alive(*pid))).then_some(()));
}

fn orphan_that_hangs_is_killed() {
    let mut server = server("worker_num=1;max_wait_time=300ms").start();
    let workers = server.worker_pids();
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(b"hang\n").unwrap();
    until("the worker to hang", || (server.control("status")["totals"]["connections"] == 1).then_some(()));
    send(server.pid, Signal::SIGKILL);
    server.wait();
    until("the hanging worker to be killed", || (!workers.iter().any(|pid| is_alive(*pid))).then_some(()));
}

fn events_come_in_order_and_children_stay() {
    let server = server("worker_num=1").start();
    assert_eq!(server.control("reload wait")["ok"], true);
    let server = server.stop();
    let events = server.events();
    let names: Vec<&str> = events.lines().filter(|line| !line.starts_with("born")).collect();
    let position = |start: &str| {
        names.iter().position(|name| name.starts_with(start)).unwrap_or_else(|| panic!("{start} in {names:?}"))
    };
    let wanted = [
        "Start",
        "ManagerStart",
        "BeforeReload",
        "AfterReload",
        "BeforeShutdown",
        "child Some(7) ",
        "ManagerStop",
        "Shutdown",
    ];
    assert!(wanted.iter().map(|name| position(name)).is_sorted(), "{names:?}");
    assert_eq!(names.iter().filter(|name| name.starts_with("WorkerExited")).count(), 2);
    // What the master blocks, its callbacks' children must not inherit: TERM is bit 14.
    let mask = names[position("child")].rsplit(' ').next().unwrap();
    assert_eq!(u64::from_str_radix(mask, 16).unwrap() >> 14 & 1, 0);
}

fn workers_have_the_callers_signal_mask() {
    let mask = |status: &str| {
        let line = status.split([';', '\n']).find(|line| line.starts_with("SigBlk")).unwrap().to_owned();
        u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap()
    };
    let server = server("worker_num=1").start();
    let master = mask(&fs::read_to_string(format!("/proc/{}/status", server.pid)).unwrap());
    assert_eq!(master >> 14 & 1, 1, "the master takes TERM from its descriptor");
    assert_eq!(mask(&server.ask("status")), 0);
    let name = fs::read_to_string(format!("/proc/{}/comm", server.who().0)).unwrap();
    assert_eq!(name, "t: worker 0\n");
    server.stop();
}

fn workers_run_as_another_user() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let server = server("worker_num=1;user=nobody").start();
    let status = server.ask("status");
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    let uid = status.split(';').find(|line| line.starts_with("Uid:")).unwrap();
    assert!(uid.split_whitespace().skip(1).all(|id| id == nobody.uid.to_string()), "{uid}");
    // Without root's rights it can still ask the master.
    assert_eq!(server.ask("reload"), "true");
    until("the reload", || (server.who().1 == 2).then_some(()));
    server.stop();
}

fn workers_are_bound_to_cpus() {
    let server = server("worker_num=2;open_cpu_affinity=1").start();
    let status = server.ask("status");
    let cpus = status.split(';').find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    assert!(cpus.parse::<u32>().is_ok(), "one CPU, not {cpus}");
    server.stop();
}

/// As systemd stops a service: a TERM for each process of the group, the master's somewhere among them.
fn term_to_every_process_drains() {
    let mut server = server("worker_num=2").start();
    let mut held = hold(&server);
    let workers = server.worker_pids();
    send(workers[0], Signal::SIGTERM);
    server.signal(Signal::SIGTERM);
    send(workers[1], Signal::SIGTERM);
    until("the stop to begin", || server.events().contains("BeforeShutdown").then_some(()));
    held.write_all(b"pid\n").unwrap();
    let mut answer = String::new();
    held.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 1 "), "{answer}");
    assert_eq!(server.wait().code(), Some(0));
}

/// As Ctrl-C does.
fn int_to_every_process_stops() {
    let mut server = server("worker_num=2").start();
    let mut pids = server.worker_pids();
    pids.push(server.pid);
    for pid in &pids {
        send(*pid, Signal::SIGINT);
    }
    assert_eq!(server.wait().code(), Some(0));
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
}

fn watchdog_of_systemd_is_fed() {
    let start = server("worker_num=1");
    let path = start.directory.join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let notify = ("NOTIFY_SOCKET", path.display().to_string());
    let server = start.env(notify.0, notify.1).env("WATCHDOG_USEC", "40000".to_owned()).start();
    let mut pings = 0;
    while pings < 3 {
        let mut bytes = [0; 512];
        let len = socket.recv(&mut bytes).unwrap();
        pings += u32::from(&bytes[..len] == b"WATCHDOG=1");
    }
    server.stop();
}

fn a_worker_may_stop_the_server() {
    let mut server = server("worker_num=2").start();
    assert_eq!(request(server.addr(), "stop").unwrap(), "true");
    assert_eq!(server.wait().code(), Some(0));
}
