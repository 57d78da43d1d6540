//! PHP as php-fpm starts it: its files of settings, and the values that the command line's PHP puts in the place of
//! theirs.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// What the probe says of the files that a php reads its settings from.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Ini {
    /// The directory of php.ini.
    directory: String,
    /// That of further files.
    scanned: String,
    /// What they say, as it stands there.
    values: BTreeMap<String, String>,
}

/// Files to read in the place of the command line's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// The directory of php.ini.
    pub(crate) directory: Option<PathBuf>,
    scanned: Option<PathBuf>,
}

/// Entries that the command line's PHP sets itself, with what they are where no file says anything; those of opcache
/// are what `apus run` changes.
const ENTRIES: [(&str, &str); 9] = [
    ("html_errors", "1"),
    ("implicit_flush", "0"),
    ("output_buffering", "0"),
    ("max_execution_time", "30"),
    ("max_input_time", "-1"),
    ("register_argc_argv", "1"),
    ("memory_limit", "128M"),
    ("variables_order", "EGPCS"),
    ("opcache.enable", "1"),
];

impl Files {
    /// Those of php-fpm, where it has its own and nobody has named others.
    pub(crate) fn of_fpm(ini: &Ini) -> Self {
        let named = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        if named("PHPRC") || named("PHP_INI_SCAN_DIR") {
            return Self::default();
        }
        Self::beside(ini)
    }

    /// Debian has a directory for each way to run PHP: `/etc/php/8.2/cli`, `/etc/php/8.2/fpm`.
    fn beside(ini: &Ini) -> Self {
        let other = |path: &str| Some(Path::new(path).parent()?.join("fpm"));
        let directory =
            other(&ini.directory).filter(|at| ini.directory.ends_with("/cli") && at.join("php.ini").is_file());
        let scanned = directory.as_ref().map(|at| at.join("conf.d")).filter(|at| at.is_dir());
        let scanned = scanned.filter(|_| ini.scanned.ends_with("/cli/conf.d"));
        Self { directory, scanned }
    }

    /// Whether there are any.
    pub(crate) fn is_some(&self) -> bool {
        self.directory.is_some()
    }

    /// Has PHP read them.
    pub(crate) fn apply(&self, command: &mut Command) {
        if let Some(directory) = &self.directory {
            command.args([OsString::from("-c"), directory.into()]);
        }
        if let Some(scanned) = &self.scanned {
            command.env("PHP_INI_SCAN_DIR", scanned);
        }
    }
}

/// Entries, `KEY=VALUE`, with which the command line's PHP has the values that its files say, and where they say
/// nothing those of php-fpm.
pub(crate) fn entries(ini: &Ini) -> Vec<String> {
    let of = |(key, default): &(&str, &str)| {
        let said = ini.values.get(*key).map(|value| value.trim()).filter(|value| is_plain(value));
        // Without a limit is the command line's PHP alone.
        let said = said.filter(|value| *key != "memory_limit" || *value != "-1");
        format!("{key}={}", said.unwrap_or(default))
    };
    let own = ["opcache.enable_cli=1".to_owned(), "apus.serve=1".to_owned()];
    ENTRIES.iter().map(of).chain(own).collect()
}

const XDEBUG_START: &str = "xdebug.start_with_request";

/// Keeps Xdebug from the master, and has the processes that run scripts start it as `said`, the user's own entries, or
/// the files say.
pub(crate) fn debugger(ini: &Ini, said: &[String]) -> Vec<String> {
    let own = said.iter().rev().find_map(|entry| entry.strip_prefix(XDEBUG_START)?.strip_prefix('='));
    let start = own.or_else(|| ini.values.get(XDEBUG_START).map(|value| value.trim())).unwrap_or("default");
    let start = if is_plain(start) { start } else { "default" };
    vec![format!("{XDEBUG_START}=no"), format!("apus.xdebug_start={start}")]
}

/// Whether a value can be given on the command line as it is.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;

    fn ini(directory: &Path) -> Ini {
        let text = |path: PathBuf| path.to_str().expect("UTF-8").to_owned();
        Ini { directory: text(directory.to_owned()), scanned: text(directory.join("conf.d")), values: BTreeMap::new() }
    }

    #[test]
    fn the_files_of_php_fpm_are_beside_those_of_the_command_line() {
        let scratch = Folder::new("etc");
        let cli = scratch.path().join("cli");
        assert_eq!(Files::beside(&ini(&cli)), Files::default());
        std::fs::create_dir_all(scratch.path().join("fpm/conf.d")).expect("a folder");
        assert_eq!(Files::beside(&ini(&cli)), Files::default());
        let fpm = scratch.write("fpm/php.ini", "").parent().expect("its folder").to_owned();
        let files = Files::beside(&ini(&cli));
        assert_eq!(files, Files { scanned: Some(fpm.join("conf.d")), directory: Some(fpm.clone()) });
        let mut command = Command::new("php");
        files.apply(&mut command);
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-c".as_ref(), fpm.as_os_str()]);
        assert_eq!(Files::beside(&ini(&scratch.path().join("etc"))), Files::default());
    }

    #[test]
    fn the_debugger_is_for_scripts_alone() {
        let mut ini = Ini::default();
        let start = |ini: &Ini, said: &[&str]| {
            let said: Vec<_> = said.iter().map(|entry| (*entry).to_owned()).collect();
            debugger(ini, &said)[1].strip_prefix("apus.xdebug_start=").map(str::to_owned)
        };
        assert_eq!(debugger(&ini, &[])[0], "xdebug.start_with_request=no");
        assert_eq!(start(&ini, &["xdebug.mode=debug"]).as_deref(), Some("default"));
        ini.values.insert(XDEBUG_START.into(), "trigger".into());
        assert_eq!(start(&ini, &[]).as_deref(), Some("trigger"));
        let twice = ["xdebug.start_with_request=trigger", "xdebug.start_with_request=yes"];
        assert_eq!(start(&ini, &twice).as_deref(), Some("yes"));
    }

    #[test]
    fn what_files_say_holds_where_the_command_line_has_its_own() {
        let mut ini = Ini::default();
        for (key, value) in [("output_buffering", "4096"), ("memory_limit", "-1"), ("html_errors", "a b"), ("x", "y")] {
            ini.values.insert(key.into(), value.into());
        }
        let entries = entries(&ini);
        for entry in ["output_buffering=4096", "memory_limit=128M", "html_errors=1", "max_execution_time=30"] {
            assert!(entries.iter().any(|other| other == entry), "{entry} in {entries:?}");
        }
        assert!(!entries.iter().any(|entry| entry.starts_with('x')));
    }
}
