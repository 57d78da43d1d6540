//! The `apus` command: runs PHP servers, talks to running ones, examines the machine below them.
#![forbid(unsafe_code)]

mod ask;
mod certificate;
mod cli;
mod configured;
mod content;
mod control;
mod development;
mod doctor;
mod failure;
mod fits;
mod fpm;
mod launch;
mod operate;
mod php;
mod scaffold;
mod serve;
mod status;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command};
use failure::Outcome;

fn main() -> ExitCode {
    match perform(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("apus: {failure}");
            ExitCode::from(failure.kind as u8)
        }
    }
}

/// Whether all is well; only `check` and `doctor` can say no without failing.
fn perform(command: Command) -> Outcome<bool> {
    match command {
        Command::Run(args) => launch::run(&args)?,
        Command::Start(args) => launch::start(args)?,
        Command::Serve(args) => serve::serve(&args)?,
        Command::Stop(args) => operate::stop(&args)?,
        Command::Reload(args) => operate::reload(&args)?,
        Command::Status(args) => status::status(&args)?,
        Command::Check(args) => return Ok(configured::check(&args)),
        Command::Doctor(args) => return Ok(doctor::run(&args)),
        Command::New(args) => scaffold::create(&args)?,
        Command::Stubs(args) => ask::stubs(&args)?,
        Command::Options(args) => ask::options(&args)?,
        Command::Completions(args) => {
            clap_complete::generate(args.shell, &mut Cli::command(), "apus", &mut std::io::stdout());
        }
    }
    Ok(true)
}
