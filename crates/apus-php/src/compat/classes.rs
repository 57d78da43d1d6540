//! Classes that only code written for Swoole knows.

use super::exit::{get_flags, get_status};

apus_zend::stub!("swoole/classes");

/// All, parents first.
pub(super) static ALL: &[&apus_zend::class::Class] = &[
    &ERROR,
    &EXIT_EXCEPTION,
    &TIMER_ITERATOR,
    &COROUTINE_ITERATOR,
    &CLIENT_EXCEPTION,
    &SOCKET_EXCEPTION,
    &HTTP_CLIENT_EXCEPTION,
    &HTTP2_CLIENT_EXCEPTION,
];
