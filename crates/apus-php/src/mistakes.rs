//! Mistakes of programs that nothing else would tell of: each kind is told once a second at most, with its place.

use std::fmt;
use std::path::Path;

use apus_process::log::{Level, Repeats};
use apus_zend::{Callable, fiber};

use crate::runtime::{Mode, State};
use crate::swoole;

/// A kind of mistake.
pub(crate) struct Mistake(Repeats);

impl Mistake {
    /// `what` is said of those that were only counted.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self(Repeats::new(Level::Warning, what).once_a_second())
    }

    /// Tells of one that the running code has just made, with its place.
    pub(crate) fn here(&'static self, what: fmt::Arguments<'_>) {
        self.0.tell(format_args!("{what} ({})", fiber::position()));
    }

    /// Tells of one; what is told names the place.
    pub(crate) fn tell(&'static self, what: fmt::Arguments<'_>) {
        self.0.tell(what);
    }
}

/// A handler has ended, and nobody is left who could answer.
pub(crate) static UNANSWERED: Mistake = Mistake::new("requests whose handler ended without an answer");
/// An answer was ended that had ended before.
pub(crate) static ENDED_TWICE: Mistake = Mistake::new("answers that had ended before");
/// No client knows what such a status means.
pub(crate) static ODD_STATUS: Mistake = Mistake::new("status codes that mean nothing");
/// What is printed in a handler does not go to the client.
static PRINTED: Mistake = Mistake::new("things printed in handlers of requests");
/// A table that only one process sees.
static OWN_TABLE: Mistake = Mistake::new("tables made in workers");

/// Whether the running coroutine is the handler of a request.
pub(crate) fn in_handler() -> bool {
    let running = State::existing().and_then(|state| state.engine.current());
    running.is_some_and(|task| task.data().answers())
}

/// Whether PHP itself prints this, by the setting `display_errors`: it stands in a line of its own.
fn is_displayed_error(text: &[u8]) -> bool {
    let kinds: [&[u8]; 6] =
        [b"Warning: ", b"Notice: ", b"Deprecated: ", b"Fatal error: ", b"Recoverable fatal error: ", b"Parse error: "];
    text.strip_prefix(b"\n").is_some_and(|line| kinds.iter().any(|kind| line.starts_with(kind)))
}

/// What PHP code prints in a server's process, before it is written; code written for Swoole knows where it goes.
/// Runs in the middle of PHP code, and runs none.
pub(crate) fn printing(text: &[u8]) {
    if in_handler() && !is_displayed_error(text) && !swoole::is_on() {
        PRINTED.here(format_args!(
            "what a handler prints goes to standard output, not to the client: give it to $response->end() or write()"
        ));
    }
}

/// A table is being made.
pub(crate) fn making_table() {
    if State::existing().is_some_and(|state| state.mode.get() == Mode::Worker) {
        OWN_TABLE.here(format_args!("a table made in a worker is that worker's alone: make it before start()"));
    }
}

/// The callback of tasks, looked at before a server starts that gives it no object.
pub(crate) fn look_at_task_callback(callback: &Callable) {
    if callback.arity() == Some(2) {
        let place = callback.place().map_or_else(String::new, |(file, line)| format!(" ({file}:{line})"));
        apus_process::log::warning(format_args!(
            "the callback of task takes two arguments and gets ($server, $taskId, $srcWorkerId, $data): \
             for ($server, $task) switch task_use_object or task_enable_coroutine on{place}"
        ));
    }
}

/// Where uploads are to go, looked at before the server starts.
pub(crate) fn look_at_uploads(folder: &str) {
    if !folder.is_empty() && !Path::new(folder).is_dir() {
        apus_process::log::warning(format_args!(
            "upload_tmp_dir {folder} is no directory: uploaded files and large bodies will be refused"
        ));
    }
}
