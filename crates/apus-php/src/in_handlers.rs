//! What handlers of requests do in vain, as if PHP answered for them: noticed by the shim, told as a mistake.

use std::sync::atomic::{AtomicBool, Ordering};

use apus_process::log;
use apus_zend::fiber;
use apus_zend::mistake::{Doing, Look};

use crate::http::is_response;
use crate::mistakes::{Mistake, in_handler};
use crate::runtime::State;

/// A head that is set for an answer of PHP's own, which there is not.
static HEAD_IN_VAIN: Mistake = Mistake::new("calls that set no header field of the answer");
/// What no request fills.
static EMPTY: Mistake = Mistake::new("reads of superglobals and php://input, which are empty");
/// An answer has no such property.
static PROPERTY: Mistake = Mistake::new("properties set of answers, which set nothing");

/// Whether it was told that a superglobal of all coroutines is written: once is enough to know.
static SHARED: AtomicBool = AtomicBool::new(false);

/// Whether the running coroutine is one of at least two that answer requests, or belongs to one of them.
fn amidst_others() -> bool {
    State::existing().is_some_and(|state| {
        let answering = |id: &_| state.engine.find(*id).is_some_and(|task| task.data().answers());
        state.engine.ids().iter().filter(|id| answering(id)).nth(1).is_some()
    })
}

/// A superglobal that all coroutines have in common is about to be written.
fn shared(name: &str) {
    if SHARED.load(Ordering::Relaxed) || !amidst_others() || SHARED.swap(true, Ordering::Relaxed) {
        return;
    }
    log::warning(format_args!(
        "${name} is written while another request is in progress, which sees it, too: that mixes users. Switch the \
         setting superglobals on, or have one request at a time (max_concurrency 1) ({})",
        fiber::position()
    ));
}

/// What the shim notices.
pub(crate) struct InHandlers;

impl Look for InHandlers {
    fn look(doing: Doing<'_>) {
        if let Doing::Shared(name) = doing {
            return shared(name);
        }
        if !in_handler() {
            return;
        }
        match doing {
            Doing::Shared(_) => {}
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
                if let Some(instead) = instead_of(name).filter(|_| is_response(object)) {
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
