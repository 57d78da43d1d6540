//! Filling and keeping whole tables: JSON and CSV, snapshots, building indexes.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apus_coro::Wait;
use apus_shm::table::{CsvOptions, JsonOptions, Loaded, Table, TableError};
use apus_zend::arg::{Any, Given, Want};
use apus_zend::value::{ArrayView, View};
use apus_zend::{Callable, Raise, Value, engine, stream};

use super::table::{TableObject, names, throw};
use super::table_convert::raise;
use crate::exception::code;
use crate::runtime::State;
use crate::wait::{may_wait, wait};

/// How long a load keeps other coroutines of the process from running.
const TURN: Duration = Duration::from_millis(3);

/// Why a load ends before its end.
enum Stop {
    /// An exception is pending, or PHP ends.
    Raised(Raise),
    /// The coroutine was cancelled, or the progress callback wants no more.
    Quiet,
}

/// What a load shares with what it calls.
struct Loading {
    what: &'static str,
    state: Option<Rc<State>>,
    since: Cell<Instant>,
    stop: Cell<Option<Stop>>,
    rows: Cell<u64>,
}

impl Loading {
    fn new(what: &'static str) -> Self {
        Self {
            what,
            state: State::existing(),
            since: Cell::new(Instant::now()),
            stop: Cell::new(None),
            rows: Cell::new(0),
        }
    }

    fn stopped(&self, stop: Stop) -> io::Error {
        self.stop.set(Some(stop));
        io::Error::other("stopped")
    }

    /// Lets other coroutines run, now and then.
    fn turn(&self) -> io::Result<()> {
        let Some(state) = self.state.as_ref().filter(|_| self.since.get().elapsed() >= TURN) else { return Ok(()) };
        if !may_wait(state) {
            return Ok(());
        }
        let waited = wait(state, Wait::Outside(self.what), tokio::task::yield_now());
        self.since.set(Instant::now());
        match waited {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err(self.stopped(Stop::Quiet)),
            Err(raise) => Err(self.stopped(Stop::Raised(raise))),
        }
    }

    /// Tells the program how far it is; `false`: no further.
    fn progress(&self, callback: Option<&Callable>, rows: u64, bytes: u64) -> bool {
        self.rows.set(rows);
        let Some(callback) = callback else { return true };
        match callback.call(&[Value::int(rows as i64), Value::int(bytes as i64)]) {
            Ok(answer) if matches!(answer.view(), View::Bool(false)) => {
                self.stop.set(Some(Stop::Quiet));
                false
            }
            Ok(_) => true,
            Err(raise) => {
                self.stop.set(Some(Stop::Raised(raise)));
                false
            }
        }
    }

    /// What the method returns.
    fn result(&self, name: &str, loaded: Result<Loaded, TableError>) -> Result<i64, Raise> {
        match (self.stop.take(), loaded) {
            (Some(Stop::Raised(raise)), _) => Err(raise),
            (None | Some(Stop::Quiet), Ok(loaded)) => Ok(loaded.rows as i64),
            (Some(Stop::Quiet), Err(_)) => Ok(self.rows.get() as i64),
            (None, Err(TableError::File(text))) => Err(throw(code::table::FILE, &format!("{name}: {text}"))),
            (None, Err(error)) => Err(raise(error)),
        }
    }
}

/// Where the bytes come from.
enum Origin {
    File(File),
    Stream(Value),
}

struct Source<'a> {
    origin: Origin,
    name: String,
    loading: &'a Loading,
}

impl<'a> Source<'a> {
    fn open(given: Any<'_>, loading: &'a Loading) -> Result<Self, Raise> {
        match given.view() {
            View::Str(path) => {
                let name = String::from_utf8_lossy(path).into_owned();
                match File::open(OsStr::from_bytes(path)) {
                    Ok(file) => Ok(Self { origin: Origin::File(file), name, loading }),
                    Err(error) => Err(throw(code::table::FILE, &format!("{name}: {error}"))),
                }
            }
            View::Other if stream::kind(&given.value()).is_some() => {
                Ok(Self { origin: Origin::Stream(given.value()), name: "the stream".to_owned(), loading })
            }
            _ => Err(given.type_error("the path of a file, or an open stream")),
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.loading.turn()?;
        let value = match &mut self.origin {
            Origin::File(file) => return file.read(room),
            Origin::Stream(value) => value,
        };
        let bytes = match stream::read(value, room.len()) {
            Ok(bytes) => bytes,
            Err(raise) => return Err(self.loading.stopped(Stop::Raised(raise))),
        };
        let Some(bytes) = bytes else { return Err(io::Error::other("it cannot be read")) };
        let bytes = bytes.as_bytes();
        if bytes.is_empty() && !stream::at_end(value) {
            return Err(io::Error::other("nothing came in time: give a stream that blocks until there is something"));
        }
        room[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

pub(super) fn load_json(
    table: &TableObject,
    source: Any<'_>,
    member: String,
    progress: Option<Callable>,
    key: String,
) -> Result<i64, Raise> {
    let live = table.shared()?;
    let loading = Loading::new("Table::loadJson()");
    let source = Source::open(source, &loading)?;
    let name = source.name.clone();
    let options = JsonOptions { member: &member, key: &key, ..JsonOptions::default() };
    let each = |rows, bytes| loading.progress(progress.as_ref(), rows, bytes);
    let loaded = live.table.load_json(source, &options, each);
    loading.result(&name, loaded)
}

pub(super) fn load_csv(
    table: &TableObject,
    source: Any<'_>,
    columns: Given<Option<ArrayView<'_>>>,
    progress: Option<Callable>,
    separator: Given<&[u8]>,
    key: String,
) -> Result<i64, Raise> {
    let live = table.shared()?;
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let columns: Option<Vec<String>> = match columns.value {
        Some(list) => {
            Some(names(View::Array(list), |text| columns.content_error(text))?.into_iter().map(text).collect())
        }
        None => None,
    };
    let separator = match separator.value {
        &[byte] if !matches!(byte, b'"' | b'\n' | b'\r') => byte,
        _ => return Err(separator.value_error("must be one byte, and no quote or line end")),
    };
    let loading = Loading::new("Table::loadCsv()");
    let source = Source::open(source, &loading)?;
    let name = source.name.clone();
    let columns: Option<Vec<&str>> = columns.as_ref().map(|names| names.iter().map(String::as_str).collect());
    let options = CsvOptions { columns: columns.as_deref(), key: &key, separator, ..CsvOptions::default() };
    let each = |rows, bytes| loading.progress(progress.as_ref(), rows, bytes);
    let loaded = live.table.load_csv(source, &options, each);
    loading.result(&name, loaded)
}

/// Does what takes long: on another thread while the coroutine waits, or at once where code cannot wait. `None`: the
/// coroutine was cancelled; the job goes on.
fn apart<T: Send + 'static>(
    what: &'static str,
    table: &Arc<Table>,
    job: impl FnOnce(&Table) -> Result<T, TableError> + Send + 'static,
) -> Result<Option<T>, Raise> {
    let done = match State::existing().filter(|state| may_wait(state)) {
        None => Some(job(table)),
        Some(state) => {
            let table = Arc::clone(table);
            let thread = state.spawn_blocking(move || job(&table));
            let job = async {
                // Others get a turn, however short the job is.
                tokio::task::yield_now().await;
                thread.await
            };
            wait(&state, Wait::Outside(what), job)?
                .transpose()
                .map_err(|error| engine::throw_error(&format!("internal error in Apus, please report it: {error}")))?
        }
    };
    done.transpose().map_err(raise)
}

/// The path of a file.
pub(super) struct FilePath(PathBuf);

impl Want<&[u8]> for FilePath {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        if given.value.is_empty() || given.value.contains(&0) {
            return Err(given.value_error("must be a path, without NUL bytes"));
        }
        Ok(Self(Path::new(OsStr::from_bytes(given.value)).to_owned()))
    }
}

pub(super) fn save(table: &TableObject, FilePath(path): FilePath) -> Result<i64, Raise> {
    let live = table.shared()?;
    let saved = apart("Table::save()", &live.table, move |table| table.save(&path))?;
    Ok(saved.map_or(0, |info| info.bytes as i64))
}

pub(super) fn restore(table: &TableObject, FilePath(path): FilePath) -> Result<i64, Raise> {
    let live = table.shared()?;
    let restored = apart("Table::restore()", &live.table, move |table| table.restore(&path))?;
    Ok(restored.map_or(0, |info| info.rows as i64))
}

pub(super) fn defer_indexes(table: &TableObject) -> Result<(), Raise> {
    table.live()?.table.defer_indexes();
    Ok(())
}

pub(super) fn build_indexes(table: &TableObject) -> Result<(), Raise> {
    let live = table.shared()?;
    apart("Table::buildIndexes()", &live.table, Table::build_indexes).map(|_| ())
}
