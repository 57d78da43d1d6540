//! `stats_file` of code written for Swoole: the first worker keeps what `stats()` gives in a file.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use apus_shm::Replacement;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Callable, Raise, Value};

use super::core::{ServerCore, ServerHandle};
use super::info;
use crate::runtime::State;

/// Which file, and how often it is written anew.
#[derive(Debug, Clone)]
pub(super) struct StatsFile {
    pub(super) path: PathBuf,
    pub(super) every: Duration,
}

/// Writes it until the worker ends.
pub(super) async fn keep(core: Rc<ServerCore>, state: Rc<State>, file: StatsFile) {
    let core = ServerHandle(core);
    loop {
        tokio::time::sleep(file.every).await;
        match text(&core, &file.path) {
            Ok(text) => {
                if let Err(error) = replace(&file.path, &text) {
                    apus_process::log::warning(format_args!("stats_file {}: {error}", file.path.display()));
                    return;
                }
            }
            Err(raise) => state.report(raise),
        }
    }
}

/// JSON or PHP where the file's name says so, else a line for each number.
fn text(core: &ServerHandle, path: &Path) -> Result<Vec<u8>, Raise> {
    let stats = info::stats(core)?;
    let given = |function: &str, args: &[Value]| {
        let text = Callable::named(function)?.call(args)?;
        Ok(match text.view() {
            View::Str(text) => text.to_vec(),
            _ => Vec::new(),
        })
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => given("json_encode", &[stats.into()]),
        Some("php") => {
            let array = given("var_export", &[stats.into(), Value::bool(true)])?;
            Ok([b"<?php\nreturn ", &array[..], b";\n"].concat())
        }
        _ => Ok(lines(&stats)),
    }
}

fn lines(stats: &Array) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in stats.view().iter() {
        if let (Key::Str(key), View::Int(number)) = (key, value.value().view()) {
            let _ = writeln!(text, "{}: {number}", String::from_utf8_lossy(key));
        }
    }
    text.into_bytes()
}

fn replace(path: &Path, text: &[u8]) -> std::io::Result<()> {
    // Anybody may read it.
    let new = Replacement::begin(path, 0o644)?;
    new.file().write_all(text)?;
    new.finish()
}
