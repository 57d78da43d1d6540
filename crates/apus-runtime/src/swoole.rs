//! The names under which code written for Swoole knows our classes: second declarations in `php/stub`, registered where
//! `apus.swoole_compat` is set.

use apus_zend::class::Class;
use apus_zend::engine::{self, ClassEntry, Thrown};
use apus_zend::{Call, Raise, Value};

use crate::exception::{CANCELED, EXCEPTION};
use crate::last_error;

/// The entry of php.ini that switches the names on; read when the module starts.
const SETTING: &str = "apus.swoole_compat";

/// Whether the names are wanted.
pub fn is_on() -> bool {
    engine::ini_switch(SETTING)
}

/// Calls a method by the conventions there: what is not possible is a warning and `false`, with the code in `$errCode`
/// and as the last error; nothing is thrown but what ends a coroutine, and what callers' code threw.
pub fn answers_false(call: &Call, class: &Class, body: impl Fn(&Call) -> Result<(), Raise>) -> Result<(), Raise> {
    match body(call) {
        Err(Raise::Thrown) => refused(call, class),
        done => done,
    }
}

#[cold]
fn refused(call: &Call, class: &Class) -> Result<(), Raise> {
    let Some(thrown) = Thrown::take() else { return Err(Raise::Thrown) };
    let refused = thrown.is(EXCEPTION.get()) || thrown.is(ClassEntry::value_error());
    if !refused || thrown.is(CANCELED.get()) {
        return Err(thrown.rethrow());
    }
    let (code, message) = (thrown.code(), thrown.message());
    drop(thrown);
    last_error::fail(code);
    if let Some(slot) = class.slot("errCode") {
        call.object()?.set_slot(slot, Value::int(code));
    }
    engine::warning(&message)?;
    call.ret(false)
}
