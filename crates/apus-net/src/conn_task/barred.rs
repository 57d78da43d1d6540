//! Requests that the port's gate does not let in.

use crate::answer::ResponseHead;
use crate::gate::{Asks, Barred, Gate};
use crate::request::Request;
use crate::response::Responder;

/// Answers a request that is not let in. Whether it was one.
#[cold]
pub(super) fn is_barred(gate: &Gate, request: &Request, responder: &Responder) -> bool {
    let header = |name: &[u8]| request.header(name);
    let asks = Asks { address: request.remote_address(), path: request.path(), header: &header };
    match gate.bars(&asks) {
        None => return false,
        Some(Barred::Forbidden) => responder.fail(403),
        Some(Barred::TooMany(seconds)) => {
            let mut head = ResponseHead::new(429);
            head.push_field(b"Retry-After", seconds.to_string().as_bytes());
            head.push_field(b"Content-Type", b"text/plain; charset=UTF-8");
            head.has_content_type = true;
            // A client that is gone needs no answer.
            let _ = responder.end(&head, b"429 Too Many Requests\n");
        }
    }
    true
}
