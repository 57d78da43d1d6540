//! What handlers of requests do in vain, as if PHP answered for them: noticed by the shim, told as a mistake.

use apus_zend::mistake::{Doing, Look};

use crate::http::is_response;
use crate::mistakes::{Mistake, in_handler};

/// A head that is set for an answer of PHP's own, which there is not.
static HEAD_IN_VAIN: Mistake = Mistake::new("calls that set no header field of the answer");
/// What no request fills.
static EMPTY: Mistake = Mistake::new("reads of superglobals and php://input, which are empty");
/// An answer has no such property.
static PROPERTY: Mistake = Mistake::new("properties set of answers, which set nothing");

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
