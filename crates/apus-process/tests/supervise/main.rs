//! The master and its workers as real processes. The test binary is its own server: started with `TEST_SETTINGS` it
//! serves, else it tests.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod faults;
mod ipc;
mod lifecycle;
mod program;
mod reloads;
mod roles;
mod server;
mod shared;

use std::sync::Mutex;

type Test = (&'static str, fn());

fn main() {
    if std::env::var_os("TEST_SETTINGS").is_some() {
        std::process::exit(program::main());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<Test> =
        [lifecycle::TESTS, reloads::TESTS, faults::TESTS, roles::TESTS, shared::TESTS, ipc::TESTS].concat();
    if arguments.iter().any(|argument| argument == "--list") {
        for (name, _) in all {
            println!("{name}: test");
        }
        return;
    }
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let chosen =
        all.into_iter().filter(|(name, _)| filters.is_empty() || filters.iter().any(|filter| name.contains(*filter)));
    let queue = Mutex::new(chosen.collect::<Vec<Test>>());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some((name, test)) = queue.lock().unwrap().pop() else { return };
                    let passed = std::panic::catch_unwind(test).is_ok();
                    println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
                    if !passed {
                        failed.lock().unwrap().push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
        std::process::exit(101);
    }
}
