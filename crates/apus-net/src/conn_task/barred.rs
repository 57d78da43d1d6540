//! Requests that the port's gate does not let in.

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
        Some(Barred::TooMany(seconds)) => responder.fail_for(429, seconds),
    }
    true
}
