//! `apus serve --dev`: what differs while a program is written.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use apus_options::{ConfigFile, Listen};
use serde_json::{Map, json};

use crate::cli::PhpArgs;
use crate::configured::named;
use crate::failure::{Failure, Kind, Outcome};

/// Entries of php.ini: every mistake is shown, and no file is remembered for a while.
const ENTRIES: [&str; 10] = [
    "display_errors=1",
    "display_startup_errors=1",
    "error_reporting=-1",
    "html_errors=1",
    "zend.assertions=1",
    "zend.exception_ignore_args=0",
    "opcache.validate_timestamps=1",
    "opcache.revalidate_freq=0",
    "realpath_cache_ttl=0",
    "user_ini.cache_ttl=0",
];
/// A line of the access log, for a terminal and for others.
const COLORED: &str = "$status_color$status\x1b[0m $request_method $request_uri \x1b[2m${request_time}s\x1b[0m";
const PLAIN: &str = "$status $request_method $request_uri ${request_time}s";

/// Refuses addresses that others than this machine reach.
pub(crate) fn check(listen: &[OsString], config: &ConfigFile) -> Outcome<()> {
    let made = listen.first().map(|host| host.to_string_lossy().into_owned()).into_iter();
    let ports = config.ports.iter().filter_map(|port| match &port.listen {
        Listen::Tcp(host, _) => Some(host.clone()),
        Listen::Unix(_) => None,
    });
    match made.chain(ports).find(|host| !is_local(host)) {
        None => Ok(()),
        Some(host) => Err(Failure::new(
            Kind::Usage,
            format!("--dev shows secrets of the program, and {host} is not of this machine alone"),
        )
        .advise("listen on 127.0.0.1, or say --dev-public where nobody else reaches it")),
    }
}

fn is_local(host: &str) -> bool {
    // The path of a Unix socket is one of this machine.
    host == "localhost"
        || host.starts_with('/')
        || host.starts_with("unix:")
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Adds what development wants; what the user says of the same comes later, and rules.
pub(crate) fn prepare(
    php: &mut PhpArgs,
    settings: &mut Map<String, serde_json::Value>,
    root: &Path,
    hosts: &[PathBuf],
) -> Outcome<()> {
    php.ini.splice(0..0, ENTRIES.map(str::to_owned));
    let mut watched = Vec::new();
    for root in [root].into_iter().chain(hosts.iter().map(PathBuf::as_path)) {
        watched.push(json!(named(project(root))?));
    }
    let format = if io::stdout().is_terminal() { COLORED } else { PLAIN };
    for (name, value) in [
        ("watch_directories", json!(watched)),
        ("script_refresh", json!(true)),
        ("script_error_page", json!(true)),
        // A step debugger holds a script for as long as its user thinks.
        ("script_timeout", json!(0)),
        ("access_log", json!("stdout")),
        ("access_log_format", json!(format)),
    ] {
        settings.insert(name.to_owned(), value);
    }
    Ok(())
}

/// Where the code is whose documents are in `public/`.
fn project(root: &Path) -> &Path {
    let above = root.parent().filter(|_| root.file_name().is_some_and(|name| name == "public"));
    above.filter(|above| above.join("composer.json").is_file()).unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_alone_is_told_from_others() {
        for host in ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost", "/run/x.sock", "unix:/run/x.sock"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["0.0.0.0", "::", "192.168.1.7", "example.org", ""] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn the_code_of_documents_is_watched() {
        let scratch = apus_scratch::Folder::new("dev");
        let public = scratch.path().join("public");
        assert_eq!(project(&public), public);
        scratch.write("composer.json", "{}");
        assert_eq!(project(&public), scratch.path());
        let (mut php, mut settings) = (PhpArgs { ini: vec!["html_errors=0".into()], ..PhpArgs::default() }, Map::new());
        prepare(&mut php, &mut settings, &public, &[]).expect("prepared");
        assert_eq!(settings["watch_directories"], json!([scratch.path()]));
        assert_eq!(php.ini.last().map(String::as_str), Some("html_errors=0"));
    }
}
