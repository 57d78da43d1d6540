//! A pool by the conventions of `Swoole\ConnectionPool`.

use apus_zend::class::Class;
use apus_zend::engine::{Thrown, throw_object};
use apus_zend::{Call, Raise};

use super::php;
use crate::exception::code::pool::{CONNECT, EXHAUSTED};

/// Who gets no connection in time is told `false`; who gets none because it cannot be made, the reason itself.
pub(super) fn as_there(call: &Call, _: &Class, body: impl Fn(&Call) -> Result<(), Raise>) -> Result<(), Raise> {
    match body(call) {
        Err(Raise::Thrown) => refused(call),
        done => done,
    }
}

#[cold]
fn refused(call: &Call) -> Result<(), Raise> {
    let Some(thrown) = Thrown::take() else { return Err(Raise::Thrown) };
    if EXHAUSTED.is_of(&thrown) {
        return call.ret(false);
    }
    let why = if CONNECT.is_of(&thrown) { php::method(&thrown.value(), "getPrevious", &[])?.object() } else { None };
    Err(why.map_or_else(|| thrown.rethrow(), |why| throw_object(&why)))
}
