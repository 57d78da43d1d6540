//! `doctor`: what this machine allows a server, and how to fix what stands in its way.

mod control;
mod php;
mod report;
mod sockets;
mod system;

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use serde::Serialize;

use crate::cli::DoctorArgs;
use system::System;

/// How much a finding matters, from not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// A figure worth knowing.
    Note,
    /// Works, at a price.
    Warn,
    /// Stands in the way of what was asked.
    Fail,
}

/// One thing that was examined.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    /// A stable name, for scripts.
    pub(crate) id: &'static str,
    pub(crate) level: Level,
    /// What was found, in one line.
    pub(crate) found: String,
    /// The commands that fix it, one a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fix: Vec<String>,
}

impl Finding {
    pub(crate) fn new(id: &'static str, level: Level, found: impl Into<String>) -> Self {
        Self { id, level, found: found.into(), fix: Vec::new() }
    }

    pub(crate) fn fix<S: Into<String>>(mut self, commands: impl IntoIterator<Item = S>) -> Self {
        self.fix.extend(commands.into_iter().map(Into::into));
        self
    }
}

/// What the server shall be able to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Connections a worker.
    pub(crate) connections: u64,
    pub(crate) backlog: u64,
    /// Coroutines a worker.
    pub(crate) coroutines: u64,
}

/// `apus doctor`: whether nothing stands in the way.
pub(crate) fn run(args: &DoctorArgs) -> bool {
    let system = System::read(Path::new("/proc"));
    let wanted = Wanted { connections: args.connections, backlog: args.backlog, coroutines: args.max_coroutine };
    let mut findings = system::examine(&system, wanted);
    findings.extend(sockets::examine(&system, wanted));
    findings.push(control::examine());
    findings.extend(php::examine(&args.php));
    let mut stdout = std::io::stdout().lock();
    let text = if args.json { report::json(&findings) } else { report::text(&findings, stdout.is_terminal()) };
    // A reader that closed the pipe early has seen what it wanted.
    let _ = stdout.write_all(text.as_bytes());
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok);
    worst < if args.strict { Level::Warn } else { Level::Fail }
}

/// The commands that set a kernel variable now and after a restart.
fn sysctl(name: &str, value: impl std::fmt::Display) -> Vec<String> {
    vec![
        format!("sudo sysctl -w {name}='{value}'"),
        format!("echo '{name} = {value}' | sudo tee -a /etc/sysctl.d/60-apus.conf"),
    ]
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn a_mend_of_the_kernel_holds_now_and_after_a_restart() {
        let commands = sysctl("net.core.somaxconn", 4096);
        assert_eq!(commands[0], "sudo sysctl -w net.core.somaxconn='4096'");
        assert!(commands[1].contains("/etc/sysctl.d/"));
    }
}
