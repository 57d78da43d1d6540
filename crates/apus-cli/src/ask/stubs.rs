//! The PHP stubs, as the loaded module tells them.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::cli::StubsArgs;
use crate::failure::{Failure, Outcome};
use crate::php::Php;

const STUBS: &str = "echo Apus\\stubs();";
const SWOOLE: &str = "echo Apus\\stubs(swoole: true);";

/// `apus stubs`: prints them, or says whether a file still equals them.
pub(crate) fn stubs(args: &StubsArgs) -> Outcome<()> {
    let current = generate(&Php::find(&args.php)?, if args.php.swoole { SWOOLE } else { STUBS })?;
    if args.html.is_some() || args.package.is_some() {
        let text = String::from_utf8_lossy(&current);
        if let Some(folder) = &args.html {
            let pages = apus_stub::html(&text)
                .map_err(|error| Failure::failed(format!("the stubs could not be read: {error}")))?;
            write(folder, &pages)?;
            println!("{}", folder.join("index.html").display());
        }
        if let Some(folder) = &args.package {
            write(folder, &apus_stub::package(&text))?;
            println!("{}", folder.join("composer.json").display());
        }
        return Ok(());
    }
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

/// Writes files into a folder, which is made when it is missing.
fn write(folder: &Path, files: &[apus_stub::Output]) -> Outcome<()> {
    let failed = |path: &Path, error: &std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
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
