//! The command line: one declaration for parser, help and shell completions.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const AFTER_HELP: &str = "\
Examples:
  apus new shop && cd shop && apus run server.php
  apus start -d server.php          in the background
  apus status                       what the running server does
  apus reload                       new code, no lost request
  apus check shop.toml              what is wrong with a configuration file
  apus doctor                       what this machine allows, and what to fix

Environment:
  APUS_PHP        the php binary to use (8.2 or newer, NTS)
  APUS_EXTENSION  the module to load (apus.so)

Exit codes:
  0 done   1 failed, or doctor has a finding   2 wrong usage
  3 no running server fits   4 several fit     5 PHP or the module not found";

/// Serve HTTP from PHP: run, watch and examine Apus servers.
#[derive(Debug, Parser)]
#[command(name = "apus", version, after_help = AFTER_HELP, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a PHP server in the foreground: this process becomes its master
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Start a PHP server, with -d in the background, and wait until it serves
    #[command(after_help = START_HELP)]
    Start(StartArgs),
    /// Serve a PHP application that knows nothing of Apus: one with a front controller, a folder of scripts
    #[command(after_help = SERVE_HELP)]
    Serve(ServeArgs),
    /// Stop a running server: it finishes what it has begun, then leaves
    #[command(after_help = STOP_HELP)]
    Stop(StopArgs),
    /// Replace all workers by new ones; no connection is lost
    #[command(after_help = RELOAD_HELP)]
    Reload(ReloadArgs),
    /// Show workers, connections, requests, coroutines and memory of a running server
    #[command(after_help = STATUS_HELP)]
    Status(StatusArgs),
    /// Examine configuration files: every mistake with its line, key and the nearest right one
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Examine this machine: descriptors, sockets, ports, PHP; say how to fix what is found
    #[command(after_help = DOCTOR_HELP)]
    Doctor(DoctorArgs),
    /// Make a project: a skeleton with a test, systemd unit, Dockerfile and README, or a push gateway
    #[command(after_help = NEW_HELP)]
    New(NewArgs),
    /// Print the PHP stubs of the module, for editors and static analysis
    #[command(after_help = STUBS_HELP)]
    Stubs(StubsArgs),
    /// Print every setting of a server, with unit, default and limits
    #[command(after_help = OPTIONS_HELP)]
    Options(OptionsArgs),
    /// Print the completion script of a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
}

const RUN_HELP: &str = "\
Examples:
  apus run server.php
  apus run server.php --port 9000          arguments after FILE belong to the script
  apus run --tls server.php                https://localhost on your own machine
  apus run --jit --ini memory_limit=512M server.php
  apus run --config site.toml              files, hosts and redirects, without any script
  apus run --config shop.toml              settings, ports and the script by a file

The soft limit of open files is raised to the hard limit first (see: apus doctor).";

const START_HELP: &str = "\
Examples:
  apus start -d server.php
  apus start -d --log /var/log/shop.log --timeout 60 server.php

With -d the command returns when all workers serve, and prints the addresses.";

const SERVE_HELP: &str = "\
Examples:
  apus serve                               the application in this directory
  apus serve /srv/shop --port 80 --host 0.0.0.0
  apus serve --workers 16 --ini memory_limit=256M /srv/www
  apus serve --worker public/worker.php    an application that boots once and stays
  apus serve --dev                         changes are seen at once, errors shown, pages refreshed
  apus serve --tls                         https://localhost on your own machine
  apus serve --config site.toml            ports, hosts and settings by a file

What is served is found by looking: WordPress, Laravel and Symfony (their public/), other applications with a front
controller, scripts. PHP starts with the php.ini of php-fpm where that is installed. See docs/serve.md.";

const STOP_HELP: &str = "\
Examples:
  apus stop                    the only server running
  apus stop server.php         the one that runs this script
  apus stop --pid 4711 --now   without waiting for requests in flight";

const RELOAD_HELP: &str = "\
Examples:
  apus reload
  apus reload --pid-file /run/shop.pid
  apus reload --certificates               after a renewal; workers go on";

const STATUS_HELP: &str = "\
Examples:
  apus status
  apus status --watch          refreshed every second, with requests a second
  apus status --json | jq .totals.requests";

const CHECK_HELP: &str = "\
Examples:
  apus check shop.toml && apus run --config shop.toml

A file:
  script = \"server.php\"        # what `apus run --config` starts; args = [...]
  [php]                        # entries of php.ini
  memory_limit = \"512M\"
  [server]                     # what set() takes (see: apus options)
  worker_num = 4
  [[port]]                     # one port; added where the script does not listen there
  listen = \"0.0.0.0:443\"
  ssl_cert_file = \"/etc/apus/fullchain.pem\"
  [[host]]                     # requests for some names, on every port; see docs/hosts.md
  names = [\"www.example.org\"]
  document_root = \"/srv/www\"

Without script it serves files, redirects and hosts by itself.

Exit code 1 when a file has a mistake.";

const DOCTOR_HELP: &str = "\
Examples:
  apus doctor
  apus doctor --connections 50000
  apus doctor --json

Exit code 1 when a finding stands in the way of what was asked (with --strict: also for warnings).";

const NEW_HELP: &str = "\
Examples:
  apus new shop && cd shop && apus run server.php
  apus new gateway                 the push gateway, in the directory gateway
  apus new gateway shop-push       the same, in the directory shop-push
  apus new app gateway             a skeleton that is called gateway";

const STUBS_HELP: &str = "\
Examples:
  apus stubs > apus.stub.php
  apus stubs --check apus.stub.php         exit code 1 when the file is out of date
  apus stubs --html api                    the API reference: open api/index.html
  apus stubs --package stubs               a Composer package for editors and PHPStan";

const OPTIONS_HELP: &str = "\
Examples:
  apus options
  apus options max_request
  apus options --json";

const COMPLETIONS_HELP: &str = "\
Examples:
  apus completions bash > /etc/bash_completion.d/apus
  apus completions zsh > ~/.zfunc/_apus
  apus completions fish > ~/.config/fish/completions/apus.fish";

/// How PHP is started.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PhpArgs {
    /// Set a php.ini entry; may be repeated
    #[arg(short, long = "ini", value_name = "KEY=VALUE", value_parser = ini_entry)]
    pub(crate) ini: Vec<String>,
    /// With the names that code written for Swoole uses: the ini entry `apus.swoole_compat`
    #[arg(long)]
    pub(crate) swoole: bool,
    /// Switch the JIT on, with a buffer of SIZE
    #[arg(long, value_name = "SIZE", num_args = 0..=1, default_missing_value = "64M", require_equals = true, value_parser = byte_size)]
    pub(crate) jit: Option<String>,
    #[arg(
        long,
        value_name = "FILE",
        help = "The php binary [default: $APUS_PHP, then php, php8.2 ... php8.5 on the PATH]"
    )]
    pub(crate) php: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE",
        help = "The module [default: $APUS_EXTENSION, then beside this command, then PHP's extension_dir]"
    )]
    pub(crate) extension: Option<PathBuf>,
    /// Whether PHP is to be as php-fpm starts it.
    #[arg(skip)]
    pub(crate) as_fpm: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The directory of the application, or of its documents [default: that of the file, else this one]
    #[arg(value_name = "DOCROOT")]
    pub(crate) docroot: Option<PathBuf>,
    /// The port [default: the first one of the file, else 8080]
    #[arg(short, long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// The address to listen on [default: that of the file, else 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// Processes that run PHP, each one request at a time [default: that of the file, else two for each core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,
    /// A script that stays in each process and answers what no file answers; its directory is DOCROOT where none is
    /// named
    #[arg(long, value_name = "FILE")]
    pub(crate) worker: Option<PathBuf>,
    /// The path at which clients open WebSockets, to which pages send by Apus\Push
    #[arg(long, value_name = "PATH")]
    pub(crate) websocket: Option<String>,
    /// A configuration file with ports, hosts, settings and entries of php.ini (see: apus check)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Serve https with a certificate for localhost, made once for this user, where the file names none
    #[arg(long)]
    pub(crate) tls: bool,
    /// For development: changed files reload the server and the pages in browsers, errors are shown with their code
    #[arg(long)]
    pub(crate) dev: bool,
    /// The same at addresses that others reach, who see what the program keeps secret
    #[arg(long, conflicts_with = "dev")]
    pub(crate) dev_public: bool,
    #[command(flatten)]
    pub(crate) php: PhpArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) php: PhpArgs,
    /// Serve https with a certificate for localhost, made once for this user, where the script names none
    #[arg(long)]
    pub(crate) tls: bool,
    /// Lead a session of its own (used by start -d)
    #[arg(long, hide = true)]
    pub(crate) new_session: bool,
    #[command(flatten)]
    pub(crate) script: ScriptArgs,
}

/// What is served.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScriptArgs {
    /// A configuration file, whose settings rule over what the script gives to its server (see: apus check)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The PHP script
    #[arg(value_name = "FILE", required_unless_present = "config")]
    pub(crate) file: Option<PathBuf>,
    /// Handed to the script
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Configuration files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Serve https with a certificate for localhost, made once for this user, where the script names none
    #[arg(long)]
    pub(crate) tls: bool,
    /// Leave the server running in the background
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Where its output goes, with -d [default: apus.log beside the script]
    #[arg(long, value_name = "FILE", requires = "detach")]
    pub(crate) log: Option<PathBuf>,
    /// How long to wait until it serves, in seconds; then it is stopped again
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) timeout: u32,
    #[command(flatten)]
    pub(crate) php: PhpArgs,
    #[command(flatten)]
    pub(crate) script: ScriptArgs,
}

/// Which of the running servers is meant; none given means the only one.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Target {
    /// The server whose master has this process id
    #[arg(long, value_name = "PID", conflicts_with_all = ["pid_file", "file"], value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) pid: Option<i32>,
    /// The server whose master wrote its process id to this file
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) pid_file: Option<PathBuf>,
    /// The server that runs this PHP script
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Do not wait for the requests in flight
    #[arg(long)]
    pub(crate) now: bool,
    /// How long to wait until the server has left, in seconds; 0 does not wait
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub(crate) timeout: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ReloadArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Only read certificates anew: workers use them for new connections, and go on
    #[arg(long)]
    pub(crate) certificates: bool,
    /// How long to wait until all new workers serve, in seconds; 0 does not wait
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub(crate) timeout: u32,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print what the server answers, one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Repeat until interrupted, every SECONDS
    #[arg(short, long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", require_equals = true, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) watch: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print the findings as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How many connections a worker shall hold
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) connections: u64,
    /// The backlog the server asks for (setting backlog)
    #[arg(long, value_name = "N", default_value_t = 1_024)]
    pub(crate) backlog: u64,
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000,
        help = "How many coroutines a worker may have (setting max_coroutine)"
    )]
    pub(crate) max_coroutine: u64,
    /// Exit code 1 for warnings, too
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) php: PhpArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// What to make, `app` or `gateway`; or at once the directory of an app
    #[arg(value_name = "KIND|NAME")]
    pub(crate) first: PathBuf,
    /// The directory to make; its last part is the project's name
    #[arg(value_name = "NAME")]
    pub(crate) second: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StubsArgs {
    /// Compare with FILE instead of printing
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Write them into DIR as HTML, by class, with a search
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) html: Option<PathBuf>,
    /// Write them into DIR as a Composer package, for editors and static analysis
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub(crate) package: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) php: PhpArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OptionsArgs {
    /// Only settings whose name contains this
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the rows as a JSON array
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print docs/options.md
    #[arg(long, conflicts_with = "name")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// `KEY=VALUE` with a key PHP can have: letters, digits, `_`, `.` and `-`.
fn ini_entry(text: &str) -> Result<String, String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, for example memory_limit=512M")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if key.is_empty() || !key.chars().all(plain) {
        return Err(format!("`{key}` is not the name of a php.ini entry"));
    }
    if value.contains(['\n', '\r', '\0']) {
        return Err("a php.ini value is one line".into());
    }
    Ok(text.to_owned())
}

/// A size as php.ini writes it: digits and at most one of K, M, G.
fn byte_size(text: &str) -> Result<String, String> {
    let digits = text.strip_suffix(['K', 'k', 'M', 'm', 'G', 'g']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("write a size such as 64M".into());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_declaration_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "{} has no examples", command.get_name());
        }
    }

    #[test]
    fn arguments_after_the_file_belong_to_the_script() {
        let cli = Cli::parse_from(["apus", "run", "--jit", "-i", "a.b=1", "s.php", "--port", "9", "--json"]);
        let Command::Run(run) = cli.command else { panic!("not parsed as run") };
        assert_eq!(run.php.jit.as_deref(), Some("64M"));
        assert_eq!(run.php.ini, ["a.b=1"]);
        assert_eq!(run.script.file, Some(PathBuf::from("s.php")));
        assert_eq!(run.script.args, ["--port", "9", "--json"]);
    }

    #[test]
    fn ini_entries_and_sizes_are_checked() {
        assert!(ini_entry("memory_limit=1G").is_ok());
        assert!(ini_entry("memory_limit").is_err());
        assert!(ini_entry("a b=1").is_err());
        assert!(ini_entry("a=1\nb=2").is_err());
        assert!(byte_size("128M").is_ok());
        assert!(byte_size("M").is_err());
        assert!(byte_size("64 M").is_err());
    }

    #[test]
    fn only_one_way_to_name_a_server() {
        assert!(Cli::try_parse_from(["apus", "stop", "--pid", "3", "x.php"]).is_err());
        assert!(Cli::try_parse_from(["apus", "stop", "--pid", "0"]).is_err());
        assert!(Cli::try_parse_from(["apus", "stop", "x.php"]).is_ok());
    }
}
