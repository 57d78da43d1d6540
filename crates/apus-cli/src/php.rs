//! Finds PHP and the module, and settles the arguments that PHP is started with.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::cli::PhpArgs;
use crate::failure::{Failure, Kind, Outcome};
use crate::fits::module_fits;
use crate::fpm::{self, Files, Ini};

/// Looked for on the PATH, in this order; the first that the module loads into is used.
const NAMES: [&str; 5] = ["php", "php8.2", "php8.3", "php8.4", "php8.5"];
const OLDEST: u32 = 80_200;
/// Stands before the probe's answer, so that a notice or a banner cannot be taken for it.
const MARK: &str = "\u{1e}APUS";
const PROBE: &str = include_str!("ask/probe.php");

/// What the probe says of one php binary under one set of arguments.
#[derive(Debug, Clone, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent answers of the probe, no state machine")]
pub(crate) struct Info {
    pub(crate) version: String,
    pub(crate) version_id: u32,
    pub(crate) zts: bool,
    pub(crate) debug: bool,
    pub(crate) int_size: u8,
    pub(crate) extension_dir: String,
    /// The version of the loaded Apus module.
    pub(crate) module: Option<String>,
    pub(crate) swoole: Option<String>,
    /// Loaded, which is not yet on.
    pub(crate) opcache: bool,
    pub(crate) opcache_on: bool,
    pub(crate) jit_on: bool,
    pub(crate) xdebug: Option<String>,
    pub(crate) xdebug_mode: String,
    pub(crate) memory_limit: String,
    #[serde(default)]
    pub(crate) ini: Ini,
}

impl Info {
    /// Xdebug costs every call something unless its mode is `off`.
    pub(crate) fn xdebug_active(&self) -> bool {
        self.xdebug.is_some() && self.xdebug_mode != "off"
    }

    /// Why this PHP cannot run Apus, if it cannot.
    pub(crate) fn unsuitable(&self) -> Option<String> {
        if self.version_id < OLDEST {
            Some(format!("PHP {} is too old: 8.2 or newer is needed", self.version))
        } else if self.zts {
            Some(format!("PHP {} is a thread-safe (ZTS) build: an NTS build is needed", self.version))
        } else if self.int_size != 8 {
            Some(format!("PHP {} is a 32-bit build: a 64-bit build is needed", self.version))
        } else {
            None
        }
    }
}

/// A php binary with the module loaded into it.
#[derive(Debug)]
pub(crate) struct Php {
    pub(crate) binary: PathBuf,
    /// The module given to it; `None` when php.ini loads it.
    pub(crate) module: Option<PathBuf>,
    pub(crate) info: Info,
    /// Everything before the script.
    pub(crate) arguments: Vec<OsString>,
    /// Where its settings are read from.
    pub(crate) files: Files,
}

impl Php {
    /// The first PHP on this machine that the module loads into.
    pub(crate) fn find(args: &PhpArgs) -> Outcome<Self> {
        let mut reasons = Vec::new();
        for binary in candidates(args)? {
            match try_binary(&binary, args) {
                Ok(php) => return Ok(php),
                Err(reason) => reasons.push(format!("{}: {reason}", binary.display())),
            }
        }
        if reasons.is_empty() {
            return Err(Failure::new(Kind::Environment, "no php found on the PATH")
                .advise("apt-get install php8.2-cli php8.2-opcache\nor name it: APUS_PHP=/path/to/php"));
        }
        let advice = "name them yourself: APUS_PHP=/path/to/php APUS_EXTENSION=/path/to/apus.so\nsee also: apus doctor";
        Err(Failure::new(Kind::Environment, reasons.join("\n")).advise(advice))
    }

    /// A command that runs PHP with all settled arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        self.files.apply(&mut command);
        command.args(&self.arguments);
        command
    }
}

/// The php binaries to try: the one that was named, or all on the PATH.
pub(crate) fn candidates(args: &PhpArgs) -> Outcome<Vec<PathBuf>> {
    let named = args.php.clone().or_else(|| non_empty("APUS_PHP"));
    let path = env::var_os("PATH").unwrap_or_default();
    let Some(named) = named else {
        return Ok(on_path(&path, &NAMES));
    };
    if named.components().count() == 1 && !named.is_absolute() {
        let name = named.to_string_lossy();
        if let Some(found) = on_path(&path, &[&name]).pop() {
            return Ok(vec![found]);
        }
    }
    if is_executable(&named) {
        return Ok(vec![named]);
    }
    Err(Failure::new(Kind::Environment, format!("{} is not an executable file", named.display()))
        .advise("APUS_PHP or --php names the php binary, for example /usr/bin/php8.2"))
}

/// The files called one of `names` in the directories of `path`, each real file once.
fn on_path(path: &OsStr, names: &[&str]) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for name in names {
        let Some(file) = env::split_paths(path).map(|dir| dir.join(name)).find(|file| is_executable(file)) else {
            continue;
        };
        let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if !seen.contains(&real) {
            seen.push(real);
            found.push(file);
        }
    }
    found
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn non_empty(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn try_binary(binary: &Path, args: &PhpArgs) -> Result<Php, String> {
    let mut bare = probe(binary, &[], &Files::default())?;
    if let Some(reason) = bare.info.unsuitable() {
        return Err(reason);
    }
    let files = if args.as_fpm { Files::of_fpm(&bare.info.ini) } else { Files::default() };
    if files.is_some() {
        bare = probe(binary, &[], &files)?;
    }
    let module = find_module(args, &bare.info)?;
    let arguments = arguments(args, &bare.info, module.as_deref());
    let loaded = probe(binary, &arguments, &files)?;
    if loaded.info.module.is_some() {
        return Ok(Php { binary: binary.to_owned(), module, info: loaded.info, arguments, files });
    }
    if let Some(other) = module.as_deref().and_then(|file| of_another_php(file, &bare.info)) {
        return Err(other);
    }
    let what = module.map_or_else(|| "the module".to_owned(), |file| file.display().to_string());
    let said = first_line(&loaded.stderr);
    Err(if said.is_empty() { format!("{what} does not load") } else { format!("{what} does not load: {said}") })
}

/// Why `module` does not load, if it was built for another PHP.
fn of_another_php(module: &Path, info: &Info) -> Option<String> {
    let this = format!("PHP {}", minor(&info.version));
    let fits = module_fits(module).filter(|fits| *fits != this)?;
    Some(format!("{} fits {fits}, and this is {this}", module.display()))
}

/// The first line PHP printed, without what php(1) puts before each.
fn first_line(stderr: &str) -> String {
    let line = stderr.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.trim_start_matches("PHP ").trim_start_matches("Warning: ").trim().to_owned()
}

/// The module to load, or `None` when php.ini loads it already.
pub(crate) fn find_module(args: &PhpArgs, info: &Info) -> Result<Option<PathBuf>, String> {
    if let Some(named) = args.extension.clone().or_else(|| non_empty("APUS_EXTENSION")) {
        if info.module.is_some() {
            return Err(format!("php.ini loads the module already, so {} cannot be loaded", named.display()));
        }
        return fs::canonicalize(&named).map(Some).map_err(|error| format!("{}: {error}", named.display()));
    }
    if info.module.is_some() {
        return Ok(None);
    }
    let executable = env::current_exe().and_then(fs::canonicalize).unwrap_or_default();
    let places = module_places(&executable, Path::new(&info.extension_dir));
    if let Some(found) = places.iter().find(|file| file.is_file()) {
        return Ok(Some(found.clone()));
    }
    let looked: Vec<String> = places.iter().map(|file| file.display().to_string()).collect();
    Err(format!("apus.so not found; looked at {}", looked.join(", ")))
}

/// Where the module may lie: beside the command, in an installation's lib, in the source tree's target, with PHP's own.
fn module_places(executable: &Path, extension_dir: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(beside) = executable.parent() {
        // Cargo names a cdylib libapus.so; an installation names it apus.so.
        places.extend([beside.join("apus.so"), beside.join("libapus.so")]);
        if let Some(above) = beside.parent() {
            places.push(above.join("lib/apus/apus.so"));
            // A debug build of the command in the source tree, target/debug/apus, uses the release build of the module.
            places.push(above.join("release/libapus.so"));
        }
    }
    places.push(extension_dir.join("apus.so"));
    places
}

/// The arguments before the script. The user's own entries come last, so that they win.
pub(crate) fn arguments(args: &PhpArgs, info: &Info, module: Option<&Path>) -> Vec<OsString> {
    let mut entries: Vec<OsString> = Vec::new();
    if let Some(module) = module {
        let mut entry = OsString::from("extension=");
        entry.push(module);
        entries.push(entry);
    }
    if !info.opcache && Path::new(&info.extension_dir).join("opcache.so").is_file() {
        entries.push("zend_extension=opcache".into());
    }
    if args.as_fpm {
        entries.extend(fpm::entries(&info.ini).into_iter().map(OsString::from));
    } else {
        // A server's request time is its start, so opcache would never look at a file again: 0 makes a reload see new
        // code.
        for entry in [
            "opcache.enable=1",
            "opcache.enable_cli=1",
            "opcache.revalidate_freq=0",
            "opcache.file_update_protection=0",
        ] {
            entries.push(entry.into());
        }
    }
    if let Some(size) = &args.jit {
        entries.extend(["opcache.jit=tracing".into(), format!("opcache.jit_buffer_size={size}").into()]);
    }
    if args.swoole {
        entries.push("apus.swoole_compat=1".into());
    }
    entries.extend(args.ini.iter().map(OsString::from));
    if args.as_fpm && (info.xdebug.is_some() || args.ini.iter().any(|entry| entry.contains("xdebug"))) {
        entries.extend(fpm::debugger(&info.ini, &args.ini).into_iter().map(OsString::from));
    }
    entries.into_iter().flat_map(|entry| [OsString::from("-d"), entry]).collect()
}

/// One answer of the probe, with what PHP complained about meanwhile.
pub(crate) struct Probed {
    pub(crate) info: Info,
    pub(crate) stderr: String,
}

/// Asks `binary` about itself, started with `arguments`.
pub(crate) fn probe(binary: &Path, arguments: &[OsString], files: &Files) -> Result<Probed, String> {
    let mut command = Command::new(binary);
    files.apply(&mut command);
    let output = command
        .args(["-d", "display_errors=stderr", "-d", "display_startup_errors=1", "-d", "log_errors=0"])
        .args(arguments)
        .args(["-r", PROBE.trim_start_matches("<?php")])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer = stdout.split(MARK).nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
    match serde_json::from_str(answer) {
        Ok(info) => Ok(Probed { info, stderr }),
        Err(_) if output.status.success() => {
            Err("is no php: it ran, and did not answer as php's command line does".to_owned())
        }
        Err(_) => Err(format!("is not a working php ({}): {}", output.status, first_line(&stderr))),
    }
}

/// `8.2` of `8.2.30`.
pub(crate) fn minor(version: &str) -> String {
    version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn info() -> Info {
        Info {
            version: "8.2.30".into(),
            version_id: 80_230,
            zts: false,
            debug: false,
            int_size: 8,
            extension_dir: "/nowhere".into(),
            module: Some("0.1.0".into()),
            swoole: None,
            opcache: true,
            opcache_on: true,
            jit_on: false,
            xdebug: None,
            xdebug_mode: String::new(),
            memory_limit: "128M".into(),
            ini: Ini::default(),
        }
    }

    fn no_args() -> PhpArgs {
        PhpArgs { ini: vec![], swoole: false, jit: None, php: None, extension: None, as_fpm: false }
    }

    #[test]
    fn old_thread_safe_and_32_bit_builds_are_refused() {
        assert_eq!(info().unsuitable(), None);
        let old = Info { version: "8.1.2".into(), version_id: 80_102, ..info() };
        assert_eq!(old.unsuitable().as_deref(), Some("PHP 8.1.2 is too old: 8.2 or newer is needed"));
        assert!(Info { zts: true, ..info() }.unsuitable().is_some_and(|why| why.contains("NTS")));
        assert!(Info { int_size: 4, ..info() }.unsuitable().is_some_and(|why| why.contains("64-bit")));
    }

    #[test]
    fn the_module_is_looked_for_beside_the_command_first() {
        let places = module_places(Path::new("/src/target/debug/apus"), Path::new("/usr/lib/php/20220829"));
        assert_eq!(places[0], Path::new("/src/target/debug/apus.so"));
        assert!(places.contains(&PathBuf::from("/src/target/release/libapus.so")));
        assert_eq!(places.last().map(PathBuf::as_path), Some(Path::new("/usr/lib/php/20220829/apus.so")));
    }

    #[test]
    fn the_users_entries_come_last() {
        let args = PhpArgs { ini: vec!["opcache.enable_cli=0".into()], ..no_args() };
        let built = arguments(&args, &info(), Some(Path::new("/m/apus.so")));
        assert_eq!(built[..2], ["-d", "extension=/m/apus.so"]);
        assert_eq!(built.last().map(OsString::as_os_str), Some(OsStr::new("opcache.enable_cli=0")));
        assert!(!built.iter().any(|entry| entry.to_string_lossy().contains("jit")));
    }

    #[test]
    fn the_names_of_swoole_are_an_entry_that_users_may_override() {
        let built = arguments(&PhpArgs { swoole: true, ini: vec!["a=b".into()], ..no_args() }, &info(), None);
        assert_eq!(built[built.len() - 4..], ["-d", "apus.swoole_compat=1", "-d", "a=b"]);
        assert!(!arguments(&no_args(), &info(), None).contains(&OsString::from("apus.swoole_compat=1")));
    }

    #[test]
    fn the_jit_buffer_is_asked_for_only_with_jit() {
        let args = PhpArgs { jit: Some("32M".into()), ..no_args() };
        let built = arguments(&args, &info(), None);
        assert!(built.contains(&OsString::from("opcache.jit_buffer_size=32M")));
        assert!(!built.iter().any(|entry| entry.to_string_lossy().starts_with("extension=")));
    }

    #[test]
    fn a_named_module_clashes_with_one_that_php_ini_loads() {
        let args = PhpArgs { extension: Some("/m/apus.so".into()), ..no_args() };
        assert!(find_module(&args, &info()).is_err_and(|why| why.contains("php.ini loads the module already")));
    }

    #[test]
    fn a_missing_php_is_an_environment_failure() {
        let args = PhpArgs { php: Some("/nowhere/php".into()), ..no_args() };
        let failure = candidates(&args).expect_err("no such file");
        assert_eq!(failure.kind, Kind::Environment);
    }

    #[test]
    fn a_module_of_another_php_says_which() {
        let file = env::temp_dir().join(format!("apus-fits-{}.so", std::process::id()));
        fs::write(&file, b"\0API20240924,NTS\0").expect("a file");
        let why = of_another_php(&file, &info());
        let same = of_another_php(&file, &Info { version: "8.4.1".into(), ..info() });
        fs::remove_file(&file).expect("it is there");
        assert_eq!(why, Some(format!("{} fits PHP 8.4, and this is PHP 8.2", file.display())));
        assert_eq!(same, None);
    }

    #[test]
    fn what_php_prints_before_its_message_is_dropped() {
        assert_eq!(first_line("\nPHP Warning:  Unable to load\nx"), "Unable to load");
        assert_eq!(first_line(""), "");
    }

    #[test]
    fn a_program_that_is_not_php_is_told_apart() {
        let why = probe(Path::new("/bin/true"), &[], &Files::default()).err().unwrap_or_default();
        assert!(why.contains("is no php"), "{why}");
    }
}
