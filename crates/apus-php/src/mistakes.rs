//! Mistakes of programs that nothing else would tell of: each kind is told once a second at most, with its place.

use std::fmt;
use std::path::Path;

use apus_process::log::{Level, Repeats};
use apus_zend::mistake::{Doing, Look};
use apus_zend::{Callable, fiber};

use crate::runtime::{Mode, State};

/// A kind of mistake.
pub(crate) struct Mistake(Repeats);

impl Mistake {
    /// `what` is said of those that were only counted.
    const fn new(what: &'static str) -> Self {
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
/// A head that is set for an answer of PHP's own, which there is not.
static HEAD_IN_VAIN: Mistake = Mistake::new("calls that set no header field of the answer");
/// What no request fills.
static EMPTY: Mistake = Mistake::new("reads of superglobals and php://input, which are empty");
/// An answer has no such property.
static PROPERTY: Mistake = Mistake::new("properties set of answers, which set nothing");
/// A table that only one process sees.
static OWN_TABLE: Mistake = Mistake::new("tables made in workers");

/// Whether the running coroutine is the handler of a request.
fn in_handler() -> bool {
    let running = State::existing().and_then(|state| state.engine.current());
    running.is_some_and(|task| task.data().answers())
}

/// What the shim notices.
pub(crate) struct InHandlers;

impl Look for InHandlers {
    fn look(doing: Doing<'_>) {
        if !in_handler() {
            return;
        }
        match doing {
            Doing::Call(name) => HEAD_IN_VAIN.here(format_args!(
                "{name}() does not change the answer to a request: call $response->{}()",
                match name {
                    "header" => "header",
                    "setcookie" => "cookie",
                    "setrawcookie" => "rawcookie",
                    _ => "status",
                }
            )),
            Doing::Superglobal(name) => EMPTY.here(format_args!(
                "${name} does not hold this request: read $request->{}, or switch the setting superglobals on",
                match name {
                    "_POST" => "post",
                    "_COOKIE" => "cookie",
                    "_FILES" => "files",
                    "_SERVER" => "server and $request->header",
                    "_REQUEST" => "get and $request->post",
                    _ => "get",
                }
            )),
            Doing::Input => EMPTY.here(format_args!(
                "php://input is not the body of this request: call $request->getContent() or $request->json()"
            )),
            Doing::Property(object, name) => {
                if let Some(instead) = instead_of(name).filter(|_| crate::http::is_response(object)) {
                    PROPERTY.here(format_args!("$response->{name} = … does not change the answer: call {instead}"));
                }
            }
        }
    }
}

/// What sets what a property of this name would stand for.
fn instead_of(property: &str) -> Option<&'static str> {
    Some(match property {
        "status" | "statusCode" | "status_code" | "code" => "$response->status()",
        "header" | "headers" => "$response->header()",
        "cookie" | "cookies" => "$response->cookie()",
        "contentType" | "content_type" => "$response->header('Content-Type', …)",
        "body" | "content" | "data" => "$response->end()",
        _ => return None,
    })
}

/// What PHP code prints in a server's process, before it is written. Runs in the middle of PHP code, and runs none.
pub(crate) fn printing() {
    if in_handler() {
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
