//! The load client of the WebSocket benchmark, and the floor that servers are measured against.
//!
//! A client process has one thread and one epoll. A run with several processes (a process may hold as many descriptors
//! as its limit allows) is conducted by the process that was started: it tells them when to begin and adds up.

mod args;
mod broadcast;
mod conn;
mod echo;
mod engine;
mod floor;
mod hist;
mod opening;
mod parent;
mod push;
mod report;
mod share;
mod wire;

use std::process::ExitCode;

use args::{Options, USAGE};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "--help" || word == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("apus-bench-ws: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let outcome = match (options.mode.as_str(), options.share) {
        ("floor", _) => floor::run(&options),
        (_, Some(_)) => share::run(&options),
        (_, None) => parent::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("apus-bench-ws: {error}");
            ExitCode::FAILURE
        }
    }
}
