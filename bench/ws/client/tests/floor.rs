//! The client against the floor: every mode that the floor can do, with one process and with two.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_apus-bench-ws");

struct Floor {
    process: Child,
    port: u16,
}

impl Floor {
    fn start(processes: u16) -> Self {
        let port = free_port();
        let process = Command::new(PROGRAM)
            .args(["floor", "--port", &port.to_string(), "--processes", &processes.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the floor does not listen");
            std::thread::yield_now();
        }
        Self { process, port }
    }

    fn client(&self, words: &str) -> String {
        client(self.port, words)
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What a run of the client prints, when it is told to go.
fn client(port: u16, words: &str) -> String {
    let mut process = Command::new(PROGRAM)
        .args(words.split(' '))
        .args(["--port", &port.to_string(), "--timeout", "10"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let done = process.wait_with_output().unwrap();
    assert!(done.status.success());
    String::from_utf8(done.stdout).unwrap()
}

fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}

#[test]
fn connections_are_opened_by_two_processes() {
    let floor = Floor::start(1);
    let said = floor.client("open --connections 31 --processes 2");
    assert_says(
        &said,
        &["\"connected\":31,", "\"handshake\":{\"count\":31,", "\"first_echo\":{\"count\":31,", "\"failed\":0,"],
    );
    assert_says(&floor.client("open --connections 31 --window 3"), &["\"connected\":31,", "\"failed\":0,"]);
}

#[test]
fn echoes_are_checked_and_counted() {
    let floor = Floor::start(1);
    for size in ["20", "125", "126", "60000"] {
        let said =
            floor.client(&format!("echo --connections 5 --processes 2 --seconds 0.05 --warm 0.02 --size {size}"));
        assert_says(&said, &["\"connected\":5,", "\"failed\":0,"]);
        assert!(!said.contains("\"messages\":0,"), "{said}");
    }
}

#[test]
fn a_broadcast_reaches_all_processes_of_both_sides() {
    let floor = Floor::start(2);
    let said = floor.client("broadcast --connections 24 --processes 2 --messages 4");
    assert_says(&said, &["\"received\":96,", "\"all\":{\"count\":4,", "\"failed\":0,"]);
}

#[test]
fn a_message_is_pushed_from_process_to_process() {
    let floor = Floor::start(2);
    let said = floor.client("push --messages 300 --gap-ns 1000");
    assert_says(&said, &["\"pushed\":300,", "\"received\":300,", "\"out_of_order\":0,", "\"failed\":0,"]);
}

#[test]
fn idle_connections_are_held_until_told() {
    let floor = Floor::start(1);
    let said = floor.client("idle --connections 9 --wait");
    assert_says(&said, &["{\"state\":\"ready\",\"connected\":9}\n", "\"held\":9,", "\"failed\":0,"]);
}

#[test]
fn failures_have_reasons() {
    let refused = client(free_port(), "open --connections 3");
    assert_says(&refused, &["\"connected\":0,", "\"failed\":3,", "Connection refused"]);
    let floor = Floor::start(1);
    assert_says(&floor.client("push"), &["no two workers answered"]);
}
