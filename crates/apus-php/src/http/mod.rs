//! `Apus\Http\Request` and `Apus\Http\Response`.

mod answer;
mod bare;
mod cookie;
mod fill;
mod head;
mod json;
mod parsed;
mod reply;
mod request;
mod response;
mod router;
mod session;
mod shown;
mod superglobals;
mod websocket;
mod writing;

use apus_zend::class::Class;

pub(crate) use reply::{Reply, bound_answers};
pub(crate) use request::{Limits, Request};
pub(crate) use response::Response;
pub(crate) use session::install as install_sessions;
pub(crate) use superglobals::of as superglobals;

/// The classes of this room.
pub(crate) static ALL: &[&Class] = &[&request::REQUEST, &response::RESPONSE, &router::ROUTER, &router::NEXT];

/// Whether an object is an answer.
pub(crate) fn is_response(object: std::ptr::NonNull<apus_zend::sys::zend_object>) -> bool {
    response::RESPONSE.contains(object)
}

/// Once the classes are registered.
pub(crate) fn prepare() {
    reuse(false);
}

/// The same, once the classes are registered that code written for Swoole knows.
pub(crate) fn prepare_second() {
    reuse(true);
}

fn reuse(second: bool) {
    for class in [&request::REQUEST, &response::RESPONSE] {
        apus_zend::object::reuse(class.named(second));
    }
}
