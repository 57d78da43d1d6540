//! The PHP stubs, as the loaded module tells them.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::cli::StubsArgs;
use crate::failure::{Failure, Outcome};
use crate::php::Php;

const STUBS: &str = "echo Apus\\stubs();";
const SWOOLE: &str = "echo Apus\\stubs(swoole: true);";

/// `apus stubs`: prints them, or says whether a file still equals them.
pub(crate) fn stubs(args: &StubsArgs) -> Outcome<()> {
    let current = generate(&Php::find(&args.php)?, if args.swoole { SWOOLE } else { STUBS })?;
    let Some(file) = &args.check else {
        // A reader that closed the pipe early has seen what it wanted.
        let _ = std::io::stdout().write_all(&current);
        return Ok(());
    };
    let kept = fs::read(file).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))?;
    if kept == current {
        println!("{} is up to date", file.display());
        return Ok(());
    }
    let place = first_difference(&kept, &current);
    Err(Failure::failed(format!("{} is out of date from line {place} on", file.display()))
        .advise(format!("apus stubs > {}", file.display())))
}

fn generate(php: &Php, code: &str) -> Outcome<Vec<u8>> {
    // A notice must not get into the stubs.
    let output = php
        .command()
        .args(["-d", "display_errors=stderr", "-r", code])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::failed(format!("{}: {error}", php.binary.display())))?;
    if output.status.success() && output.stdout.starts_with(b"<?php") {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::failed("the module's stubs could not be made").advise(said))
}

/// The line, from 1, at which two texts begin to differ.
fn first_difference(one: &[u8], other: &[u8]) -> usize {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b);
    same.filter(|(byte, _)| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_given_as_a_line() {
        assert_eq!(first_difference(b"a\nb\nc", b"a\nb\nx"), 3);
        assert_eq!(first_difference(b"", b"x"), 1);
    }
}
