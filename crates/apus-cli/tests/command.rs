//! The command as somebody types it, against control sockets that the tests themselves serve.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// A test's own runtime directory; the command looks there for servers. Short, because a Unix socket's path is.
struct Runtime(PathBuf);

impl Runtime {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path =
            std::env::temp_dir().join(format!("ac{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir_all(path.join("apus")).expect("a runtime directory");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.join(name);
        fs::write(&file, text).expect("a file");
        file
    }

    /// A program that stands where php is expected.
    fn program(&self, name: &str, text: &str) -> PathBuf {
        let file = self.write(name, text);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions");
        file
    }

    fn apus(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the apus command")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_apus"));
        command.args(arguments).env("XDG_RUNTIME_DIR", &self.0).env_remove("APUS_PHP").env_remove("APUS_EXTENSION");
        command
    }

    /// A process that stands for a master, and a control socket in its name that answers by `answer`.
    fn serve(&self, answer: fn(&str, &Path, u32) -> String, script: &Path) -> Master {
        let child = Command::new("sleep").arg("600").spawn().expect("sleep");
        let pid = child.id();
        let listener = UnixListener::bind(self.0.join(format!("apus/{pid}.sock"))).expect("a control socket");
        let script = script.to_owned();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut line = String::new();
                let mut reader = BufReader::new(stream);
                if reader.read_line(&mut line).is_ok_and(|count| count > 0) {
                    let _ = reader.get_mut().write_all(answer(line.trim_end(), &script, pid).as_bytes());
                }
            }
        });
        Master(child)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Master(Child);

impl Master {
    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a master does: it answers `status`, and leaves when told to.
fn obedient(command: &str, script: &Path, pid: u32) -> String {
    match command {
        "status" => {
            format!(
                r#"{{"pid":{pid},"version":"0.1.0","script":"{}","listen":["127.0.0.1:8080"],"uptime":61.0,"state":"serving","totals":{{"requests":1234567,"connections":3,"p50_us":64.5}},"workers":[{{"id":0,"pid":9,"state":"serving","generation":2,"requests":1234567,"memory":2097152}}]}}"#,
                script.display()
            ) + "\n"
        }
        "stop" | "stop now" => {
            let _ = Pid::from_raw(pid.cast_signed()).map(|pid| kill_process(pid, Signal::TERM));
            "{\"ok\":true}\n".into()
        }
        "reload wait" => "{\"ok\":true}\n".into(),
        _ => "{\"ok\":false,\"error\":\"unknown command\"}\n".into(),
    }
}

/// A master that takes every request and does nothing.
fn stubborn(command: &str, script: &Path, pid: u32) -> String {
    if command.starts_with("stop") { "{\"ok\":true}\n".into() } else { obedient(command, script, pid) }
}

fn refusing(_: &str, _: &Path, _: u32) -> String {
    "{\"ok\":false,\"error\":\"already stopping\"}\n".into()
}

fn mute(_: &str, _: &Path, _: u32) -> String {
    String::new()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn status_shows_the_only_server() {
    let runtime = Runtime::new();
    let master = runtime.serve(obedient, Path::new("/srv/shop.php"));
    let output = runtime.apus(&["status", "--pid", &master.pid()]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let shown = out(&output);
    for part in
        ["/srv/shop.php", "up 1m01s", "127.0.0.1:8080", "1,234,567 requests", "3 connections", "serving", "2.0M"]
    {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn status_as_json_is_what_the_server_said() {
    let runtime = Runtime::new();
    let master = runtime.serve(obedient, Path::new("/srv/shop.php"));
    let output = runtime.apus(&["status", "--json", "--pid", &master.pid()]);
    let status: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!(status["totals"]["requests"], 1_234_567);
    assert_eq!(status["pid"].to_string(), master.pid());
}

#[test]
fn watching_ends_when_the_server_has_left() {
    let runtime = Runtime::new();
    let mut master = runtime.serve(obedient, Path::new("/srv/shop.php"));
    let mut watch = runtime.command(&["status", "--watch", "--pid", &master.pid()]);
    let mut child = watch.stdout(std::process::Stdio::piped()).spawn().expect("apus status");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "/srv/shop.php");
    fs::remove_file(runtime.0.join(format!("apus/{}.sock", master.pid()))).expect("the socket");
    master.0.kill().expect("kill");
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("has stopped")));
    assert!(child.wait().expect("wait").success());
}

#[test]
fn a_script_names_its_server_and_no_other() {
    let runtime = Runtime::new();
    let one = runtime.write("one.php", "<?php");
    let two = runtime.write("two.php", "<?php");
    let _first = runtime.serve(obedient, &one);
    let second = runtime.serve(obedient, &two);
    let output = runtime.apus(&["reload", two.to_str().expect("a path")]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(out(&output).contains(&second.pid()));
    let output = runtime.apus(&["reload", "/nowhere/three.php"]);
    assert_eq!(code(&output), 3);
    assert!(err(&output).contains("no server runs /nowhere/three.php"), "{}", err(&output));
}

#[test]
fn two_servers_of_one_script_are_listed() {
    let runtime = Runtime::new();
    let script = runtime.write("shop.php", "<?php");
    let (first, second) = (runtime.serve(obedient, &script), runtime.serve(obedient, &script));
    let output = runtime.apus(&["stop", script.to_str().expect("a path")]);
    assert_eq!(code(&output), 4);
    for pid in [first.pid(), second.pid()] {
        assert!(err(&output).contains(&format!("--pid {pid}")), "{}", err(&output));
    }
}

#[test]
fn stop_waits_until_the_server_has_left() {
    for now in [false, true] {
        let runtime = Runtime::new();
        let master = runtime.serve(obedient, Path::new("/srv/shop.php"));
        // Somebody has to collect the ended child: here its parent is the test.
        let pid = master.pid();
        let arguments = if now { vec!["stop", "--pid", &pid, "--now"] } else { vec!["stop", "--pid", &pid] };
        let output = runtime.apus(&arguments);
        assert_eq!(code(&output), 0, "{}", err(&output));
        assert_eq!(out(&output), format!("server {pid} has stopped\n"));
    }
}

#[test]
fn stop_says_when_the_server_stays() {
    let runtime = Runtime::new();
    let master = runtime.serve(stubborn, Path::new("/srv/shop.php"));
    let output = runtime.apus(&["stop", "--pid", &master.pid(), "--timeout", "1"]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("--now"), "{}", err(&output));
    let output = runtime.apus(&["stop", "--pid", &master.pid(), "--timeout", "0"]);
    assert_eq!(code(&output), 0);
}

#[test]
fn a_pid_file_names_a_server() {
    let runtime = Runtime::new();
    let master = runtime.serve(obedient, Path::new("/srv/shop.php"));
    let file = runtime.write("shop.pid", &format!("{}\n", master.pid()));
    let output = runtime.apus(&["reload", "--pid-file", file.to_str().expect("a path")]);
    assert_eq!(code(&output), 0, "{}", err(&output));
}

#[test]
fn refusals_and_silence_are_reported() {
    let runtime = Runtime::new();
    let master = runtime.serve(refusing, Path::new("/x"));
    let output = runtime.apus(&["reload", "--pid", &master.pid()]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("refused `reload wait`: already stopping"), "{}", err(&output));
    let master = runtime.serve(mute, Path::new("/x"));
    let output = runtime.apus(&["status", "--pid", &master.pid()]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("closed the connection"), "{}", err(&output));
}

#[test]
fn a_process_that_is_no_server_is_left_alone() {
    let runtime = Runtime::new();
    let mut other = Master(Command::new("sleep").arg("600").spawn().expect("sleep"));
    let output = runtime.apus(&["stop", "--pid", &other.pid()]);
    assert_eq!(code(&output), 3);
    assert!(other.0.try_wait().expect("wait").is_none(), "it still runs");
}

/// Answers the probe as a PHP with the module would, and otherwise behaves as the script says.
const FAKE_PHP: &str = r#"#!/bin/sh
case "$*" in *XDEBUG_MODE*) printf '\036APUS{"version":"8.2.30","version_id":80230,"zts":false,"debug":false,"int_size":8,"extension_dir":"/nowhere","module":"0.1.0","swoole":null,"opcache":true,"opcache_on":true,"jit_on":false,"xdebug":null,"xdebug_mode":"","memory_limit":"128M"}\n'; exit 0;; esac
all="$*"
while [ "$1" != -f ]; do shift; done
. "$2"
"#;

#[test]
fn run_becomes_php_with_opcache_on() {
    let runtime = Runtime::new();
    let php = runtime.program("php", FAKE_PHP);
    let script = runtime.write("s.php", "echo \"$all\"; echo pid $$\n");
    let mut command = runtime.command(&["run", "--ini", "memory_limit=9M", script.to_str().expect("a path")]);
    let child = command.env("APUS_PHP", &php).stdout(std::process::Stdio::piped()).spawn().expect("apus run");
    let pid = child.id();
    let output = child.wait_with_output().expect("its end");
    let shown = out(&output);
    assert!(shown.contains("opcache.enable_cli=1"), "{shown}");
    assert!(shown.contains("-d memory_limit=9M -f"), "{shown}");
    assert!(shown.ends_with(&format!("pid {pid}\n")), "the same process: {shown}");
}

#[test]
fn run_without_php_or_script_says_so() {
    let runtime = Runtime::new();
    let script = runtime.write("s.php", "<?php");
    let output = runtime.apus(&["run", "--php", "/nowhere/php", script.to_str().expect("a path")]);
    assert_eq!(code(&output), 5);
    let output = runtime.apus(&["run", "/nowhere/s.php"]);
    assert_eq!(code(&output), 1);
    assert_eq!(code(&runtime.apus(&["run"])), 2);
}

fn start(runtime: &Runtime, script: &str, more: &[&str]) -> Output {
    let php = runtime.program("php", FAKE_PHP);
    let script = runtime.write("s.php", script);
    let mut arguments = vec!["start", "-d"];
    arguments.extend(more);
    arguments.push(script.to_str().expect("a path"));
    runtime.command(&arguments).env("APUS_PHP", php).output().expect("apus start")
}

#[test]
fn start_returns_when_the_server_serves() {
    let runtime = Runtime::new();
    let ready = r#"echo '{"pid":1234,"listen":["127.0.0.1:4711"],"control":"/x"}' >&"$APUS_READY_FD"; echo hello
"#;
    let output = start(&runtime, ready, &[]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let log = runtime.0.join("apus.log");
    assert_eq!(out(&output), format!("serving at http://127.0.0.1:4711 (pid 1234, log {})\n", log.display()));
}

#[test]
fn start_shows_why_the_server_did_not_come_up() {
    let runtime = Runtime::new();
    runtime.write("apus.log", "of an earlier start\n");
    let output = start(&runtime, "echo address in use >&2; exit 7\n", &[]);
    assert_eq!(code(&output), 1);
    let shown = err(&output);
    assert!(shown.contains("exit status: 7") && shown.contains("address in use"), "{shown}");
    assert!(!shown.contains("earlier"), "{shown}");
}

#[test]
fn start_stops_what_does_not_serve_in_time() {
    let runtime = Runtime::new();
    let output = start(&runtime, "echo $$ > \"$0.pid\"; exec sleep 600\n", &["--timeout", "1"]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("within 1 s"), "{}", err(&output));
    let pid = fs::read_to_string(runtime.0.join("php.pid")).expect("its pid");
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "nothing is left");
}

#[test]
fn doctor_names_a_mend_and_fails() {
    let runtime = Runtime::new();
    let output = runtime.apus(&["doctor", "--json", "--php", "/nowhere/php"]);
    assert_eq!(code(&output), 1);
    let report: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let php = findings.iter().find(|finding| finding["id"] == "php").expect("php");
    assert_eq!(php["level"], "fail");
    assert!(php["fix"][0].as_str().expect("a command").contains("apt-get install"));
    assert!(findings.iter().any(|finding| finding["id"] == "descriptors"));
}

#[test]
fn new_makes_a_project_once() {
    let runtime = Runtime::new();
    let project = runtime.0.join("shop");
    let path = project.to_str().expect("a path");
    assert_eq!(code(&runtime.apus(&["new", path])), 0);
    assert!(project.join("server.php").is_file());
    let output = runtime.apus(&["new", path]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("not empty"), "{}", err(&output));
    assert_eq!(code(&runtime.apus(&["new", "a b"])), 2);
}

#[test]
fn new_makes_a_gateway() {
    let runtime = Runtime::new();
    let project = runtime.0.join("shop-push");
    let output = runtime.apus(&["new", "gateway", project.to_str().expect("a path")]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(project.join("public/gateway.js").is_file());
    let output = runtime.apus(&["new", "castle", project.to_str().expect("a path")]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("app or gateway"), "{}", err(&output));
}

#[test]
fn help_version_options_and_completions_need_no_php() {
    let runtime = Runtime::new();
    let output = runtime.apus(&["--version"]);
    assert_eq!(out(&output), concat!("apus ", env!("CARGO_PKG_VERSION"), "\n"));
    for command in ["run", "start", "stop", "reload", "status", "doctor", "new", "stubs", "options", "completions"] {
        let output = runtime.apus(&[command, "--help"]);
        assert!(out(&output).contains("Examples:"), "{command}");
    }
    assert!(out(&runtime.apus(&["options", "max_request"])).contains("max_request_grace"));
    assert_eq!(code(&runtime.apus(&["options", "no_such_setting"])), 1);
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&runtime.apus(&["completions", shell])).contains("doctor"), "{shell}");
    }
}
