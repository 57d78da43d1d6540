//! `serve`: a PHP application that knows nothing of Apus.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use apus_edge::script::Preset;
use apus_options::{ConfigFile, Listen, Value};
use serde_json::{Map, json};

use crate::certificate::Development;
use crate::cli::{PhpArgs, ServeArgs};
use crate::configured::{absolute, listening, named, read};
use crate::development;
use crate::failure::{Failure, Kind, Outcome};
use crate::launch::{pair_of, raise_open_files, warn_about};
use crate::php::Php;

const PORT: u16 = 8080;
const HOST: &str = "127.0.0.1";
/// Processes of PHP for each core: the one waits for a database while the other computes.
const EACH_CORE: usize = 2;
/// How many times as many there may be while requests wait.
const GROWTH: usize = 4;
/// What `script_processes` may be.
const MOST: usize = 1024;

/// What a command line, with the file that it names, has served.
#[derive(Debug)]
struct Plan {
    php: PhpArgs,
    /// The directory that the server is given, and those of the hosts.
    root: PathBuf,
    hosts: Vec<PathBuf>,
    /// What the server is given to listen on.
    listen: Vec<OsString>,
    settings: Map<String, serde_json::Value>,
}

/// `apus serve`: does not return when PHP could be executed.
pub(crate) fn serve(args: &ServeArgs) -> Outcome<()> {
    let plan = Plan::of(args)?;
    for root in [&plan.root].into_iter().chain(&plan.hosts) {
        if !root.is_dir() {
            return Err(Failure::failed(format!("{} is not a directory", root.display()))
                .advise("name the directory of the application: apus serve DOCROOT"));
        }
    }
    let php = Php::find(&plan.php)?;
    warn_about(&php, &plan.php);
    raise_open_files();
    let development = args.tls.then(Development::of_user).transpose()?;
    let pair = pair_of(development);
    for root in [&plan.root].into_iter().chain(&plan.hosts) {
        eprintln!("apus: {}", Preset::find(root).told());
    }
    if let Some(directory) = &php.files.directory {
        eprintln!("apus: PHP {} with the php.ini of php-fpm, {}", php.info.version, directory.display());
    }
    let error = php.command().envs(pair).args(["-r", &code(&plan.listen, plan.settings)]).exec();
    Err(Failure::new(Kind::Environment, format!("{}: {error}", php.binary.display())))
}

impl Plan {
    fn of(args: &ServeArgs) -> Outcome<Self> {
        let mut php = PhpArgs { as_fpm: true, ..args.php.clone() };
        let mut config = ConfigFile::default();
        if let Some(path) = &args.config {
            config = read(path)?;
            if let Some(script) = &config.script {
                return Err(Failure::new(Kind::Usage, format!("{} names a script, {script}", path.display()))
                    .advise("apus run --config starts the servers of scripts; apus serve needs none"));
            }
            let mut ini: Vec<String> = config.ini.iter().map(|(name, value)| format!("{name}={value}")).collect();
            ini.push(format!("apus.config={}", absolute(path)?));
            ini.append(&mut php.ini);
            php.ini = ini;
        }
        let said = text(&config.server, "document_root").map(PathBuf::from);
        if let (Some(argument), Some(said)) = (&args.docroot, &said) {
            let both = format!("two directories are named: {}, and {} by the file", argument.display(), said.display());
            return Err(Failure::new(Kind::Usage, both).advise("leave DOCROOT out, or document_root in [server]"));
        }
        let worker = args.worker.as_deref().map(worker).transpose()?;
        let of_worker = worker.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        let root = args.docroot.clone().or(said).or(of_worker);
        let root = whole(&root.unwrap_or_else(|| PathBuf::from(".")))?;
        let listen = listen(args, &config);
        let hosts = config.hosts.iter().filter_map(|host| text(&host.settings, "document_root"));
        let mut settings = Map::new();
        settings.insert("document_root".to_owned(), json!(named(&root)?));
        if let Some(worker) = &worker {
            settings.insert("script_worker".to_owned(), json!(named(worker)?));
        }
        if let Some(path) = &args.websocket {
            settings.insert("script_websocket".to_owned(), json!(path));
        }
        let is_said = config.server.iter().any(|(name, _)| *name == "script_processes");
        if args.workers.is_some() || !is_said {
            settings.insert("script_processes".to_owned(), json!(args.workers.map_or_else(by_cores, |n| n as usize)));
        }
        let max_is_said = config.server.iter().any(|(name, _)| *name == "script_processes_max");
        if args.workers.is_none() && !is_said && !max_is_said {
            settings.insert("script_processes_max".to_owned(), json!((by_cores() * GROWTH).min(MOST)));
        }
        let hosts: Vec<_> = hosts.map(PathBuf::from).collect();
        if args.dev || args.dev_public {
            if !args.dev_public {
                development::check(&listen, &config)?;
            }
            development::prepare(&mut php, &mut settings, &root, &hosts)?;
        }
        Ok(Self { php, root, hosts, listen, settings })
    }
}

/// The server as PHP makes it. Arguments of a script are what php.ini may switch off (`register_argc_argv`).
fn code(listen: &[OsString], settings: Map<String, serde_json::Value>) -> String {
    let listen: Vec<_> = listen.iter().map(|text| text.to_string_lossy()).collect();
    let given = json!([listen, settings]).to_string().replace('\\', r"\\").replace('\'', r"\'");
    format!(
        "[$listen, $settings] = json_decode('{given}', true); [$host, $port, $kind] = $listen; \
        $server = new Apus\\Http\\Server($host, (int) $port, sockType: (int) $kind); \
        $server->set($settings); $server->start();"
    )
}

/// Where the server listens that the command makes: a file's ports are added to it.
fn listen(args: &ServeArgs, config: &ConfigFile) -> Vec<OsString> {
    match config.ports.first() {
        Some(port) if args.port.is_none() && args.host.is_none() => listening(&port.listen),
        _ => {
            let host = args.host.clone().unwrap_or_else(|| HOST.to_owned());
            listening(&Listen::Tcp(host, args.port.unwrap_or(PORT)))
        }
    }
}

fn text<'a>(settings: &'a [(&'static str, Value)], name: &str) -> Option<&'a str> {
    settings.iter().find_map(|(other, value)| match value {
        Value::Str(text) if *other == name => Some(&text[..]),
        _ => None,
    })
}

fn whole(path: &Path) -> Outcome<PathBuf> {
    std::path::absolute(path).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

/// The script that stays.
fn worker(file: &Path) -> Outcome<PathBuf> {
    if !file.is_file() {
        return Err(Failure::failed(format!("{} is not a file", file.display())).advise(
            "--worker names a script that calls Apus\\handle_request(); --workers is the number of processes",
        ));
    }
    whole(file)
}

fn by_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).saturating_mul(EACH_CORE).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;
    use clap::Parser as _;

    fn plan(arguments: &[&str]) -> Outcome<Plan> {
        let line = ["apus", "serve"].iter().chain(arguments);
        let crate::cli::Command::Serve(args) = crate::cli::Cli::parse_from(line).command else { panic!("serve") };
        Plan::of(&args)
    }

    #[test]
    fn without_a_file_the_arguments_say_it_all() {
        let found = plan(&["/srv/www", "-p", "80", "--host", "::", "-w", "3"]).expect("a plan");
        assert_eq!(found.listen, ["::", "80", "1"]);
        assert_eq!(
            serde_json::Value::Object(found.settings).to_string(),
            r#"{"document_root":"/srv/www","script_processes":3}"#
        );
        let found = plan(&[]).expect("a plan");
        assert_eq!(
            (found.listen, found.root),
            (vec!["127.0.0.1".into(), "8080".into(), "1".into()], std::env::current_dir().expect("here"))
        );
        assert!(found.php.as_fpm);
    }

    #[test]
    fn a_script_that_stays_says_where_the_documents_are() {
        let scratch = Folder::new("stay");
        std::fs::create_dir(scratch.path().join("public")).expect("a folder");
        let file = scratch.write("public/worker.php", "<?php");
        let found = plan(&["--worker", file.to_str().expect("UTF-8")]).expect("a plan");
        assert_eq!(found.root, scratch.path().join("public"));
        assert_eq!(found.settings["script_worker"], json!(file));
        let found = plan(&["/srv/www", "--worker", file.to_str().expect("UTF-8")]).expect("a plan");
        assert_eq!(found.root, PathBuf::from("/srv/www"));
        assert!(plan(&["--worker", "/none/worker.php"]).is_err());
    }

    #[test]
    fn names_reach_php_as_they_are() {
        let settings = json!({"document_root": "/srv/a'b\\c\"d"});
        let serde_json::Value::Object(settings) = settings else { panic!("an object") };
        let code = code(&["::1".into(), "80".into(), "1".into()], settings);
        let expected = r#"json_decode('[["::1","80","1"],{"document_root":"/srv/a\'b\\\\c\\"d"}]', true)"#;
        assert!(code.contains(expected), "{code}");
    }

    #[test]
    fn a_file_says_what_the_arguments_do_not() {
        let scratch = Folder::new("serve");
        let file = scratch.write(
            "site.toml",
            "[php]\nmemory_limit = \"1G\"\n[server]\ndocument_root = \"/srv/a\"\n[[port]]\nlisten = \"0.0.0.0:81\"\n\
             [[host]]\nnames = [\"b.example\"]\ndocument_root = \"/srv/b\"\n",
        );
        let file = file.to_str().expect("UTF-8");
        let found = plan(&["--config", file, "--ini", "memory_limit=2G"]).expect("a plan");
        assert_eq!(found.listen, ["0.0.0.0", "81", "1"]);
        assert_eq!((found.root, found.hosts), ("/srv/a".into(), vec![PathBuf::from("/srv/b")]));
        assert_eq!(found.php.ini.first().map(String::as_str), Some("memory_limit=1G"));
        assert_eq!(found.php.ini.last().map(String::as_str), Some("memory_limit=2G"));
        assert_eq!(plan(&["-c", file, "--port", "99"]).expect("a plan").listen, ["127.0.0.1", "99", "1"]);
        assert!(plan(&["-c", file, "/srv/c"]).is_err_and(|failure| failure.kind == Kind::Usage));
        let with_script = scratch.write("app.toml", "script = \"server.php\"\n");
        let failure = plan(&["-c", with_script.to_str().expect("UTF-8")]).expect_err("a script");
        assert_eq!(failure.kind, Kind::Usage);
    }
}
