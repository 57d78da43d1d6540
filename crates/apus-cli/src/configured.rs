//! Configuration files: what they have served, and what is wrong with them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use apus_options::{ConfigFile, Listen, Problem};

use crate::cli::{CheckArgs, PhpArgs, ScriptArgs};
use crate::content;
use crate::failure::{Failure, Kind, Outcome};

/// A script with what it is started with: a configuration file's part in it has been read.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) php: PhpArgs,
    /// The script; the configuration file where that names none.
    pub(crate) file: PathBuf,
    /// Whether the configuration file says it all.
    pub(crate) alone: bool,
    pub(crate) args: Vec<OsString>,
}

/// Serves what a configuration file says, where that names no script: the arguments are where its first port listens.
pub(crate) const ALONE: &str = "(new Apus\\Http\\Server($argv[1], (int) $argv[2], sockType: (int) $argv[3]))->start();";
/// `Apus\SOCK_TCP`, and `SOCK_UNIX_STREAM`.
const KINDS: [&str; 2] = ["1", "5"];

impl Served {
    /// What the arguments, and the file that they name, have served.
    pub(crate) fn of(script: &ScriptArgs, php: &PhpArgs) -> Outcome<Self> {
        let ScriptArgs { config, file, args } = script.clone();
        let mut served = Self { php: php.clone(), file: file.clone().unwrap_or_default(), alone: false, args };
        let Some(path) = config else { return Ok(served) };
        let config = read(&path)?;
        let mut ini: Vec<String> = config.ini.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        ini.push(format!("apus.config={}", absolute(&path)?));
        ini.append(&mut served.php.ini);
        served.php.ini = ini;
        if file.is_none() {
            served.args = config.args.into_iter().map(OsString::from).collect();
            if let Some(script) = config.script {
                served.file = script.into();
                return Ok(served);
            }
            let nameless = || {
                Failure::new(Kind::Usage, format!("{} names no script and no port", path.display())).advise(
                    "write script = \"server.php\" at its top, or a [[port]] to serve files, hosts and redirects without one",
                )
            };
            served.args = listening(&config.ports.first().ok_or_else(nameless)?.listen);
            served.alone = true;
            served.file = path;
        }
        Ok(served)
    }
}

/// What a server is made with to listen there: host, port and kind of socket.
pub(crate) fn listening(listen: &Listen) -> Vec<OsString> {
    let (host, port, kind) = match listen {
        Listen::Tcp(host, port) => (host, *port, KINDS[0]),
        Listen::Unix(path) => (path, 0, KINDS[1]),
    };
    vec![host.into(), port.to_string().into(), kind.into()]
}

/// The path from the root: the module reads the file once more, and the script may have changed its directory by then.
pub(crate) fn absolute(path: &Path) -> Outcome<String> {
    let failed = |why: &str| Failure::failed(format!("{}: {why}", path.display()));
    let absolute = std::path::absolute(path).map_err(|error| failed(&error.to_string()))?;
    let text = absolute.into_os_string().into_string().map_err(|_| failed("its path is not UTF-8"))?;
    // php -d takes the value as php.ini has it.
    if text.contains(['"', '\n', ';', '$']) {
        return Err(failed("its path has a character that php.ini cannot hold: one of \" ; $"));
    }
    Ok(format!("\"{text}\""))
}

/// The path as a text, which settings are.
pub(crate) fn named(path: &Path) -> Outcome<&str> {
    path.to_str().ok_or_else(|| Failure::failed(format!("{}: its name is not UTF-8", path.display())))
}

pub(crate) fn read(path: &Path) -> Outcome<ConfigFile> {
    let text = fs::read_to_string(path).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    ConfigFile::parse(&text).map_err(|problems| told(path, &problems))
}

fn told(path: &Path, problems: &[Problem]) -> Failure {
    let told: Vec<String> = problems.iter().map(|problem| format!("{}:{problem}", path.display())).collect();
    Failure::failed(told.join("\napus: "))
}

/// Whether a server would start with it; and what keeps it from that which is no mistake of the file.
fn sound(path: &Path, file: &ConfigFile) -> Outcome<Vec<String>> {
    let problems = content::problems(file);
    if problems.is_empty() {
        Ok(file.ports.iter().filter_map(content::taken).collect())
    } else {
        Err(told(path, &problems))
    }
}

/// `apus check`: whether all files are right.
pub(crate) fn check(args: &CheckArgs) -> bool {
    let mut right = true;
    for path in &args.files {
        match read(path).and_then(|file| sound(path, &file)) {
            Ok(taken) => {
                println!("{}: ok", path.display());
                for where_by_whom in taken {
                    eprintln!("apus: note: a start would not do now: {where_by_whom}");
                }
            }
            Err(failure) => {
                right = false;
                eprintln!("apus: {failure}");
            }
        }
    }
    right
}
