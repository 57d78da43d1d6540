//! The coroutine clients of HTTP, WebSocket and HTTP/2.

mod busy;
mod cookies;
pub(crate) mod frame;
mod http;
mod http2;
pub(crate) mod settings;
mod values;

use apus_zend::class::Class;

pub(crate) use http::FUNCTIONS;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[
    &frame::FRAME,
    &frame::CLOSE_FRAME,
    &http::CLIENT_CLASS,
    &http::PROXY,
    &http2::REQUEST,
    &http2::RESPONSE,
    &http2::CLIENT_CLASS,
];

apus_zend::stub!("client/functions");

/// Once the classes are registered.
pub(crate) fn prepare() {
    apus_zend::object::reuse(frame::FRAME.get());
}
