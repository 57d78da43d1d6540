//! The names under which code written for Swoole knows our classes: second declarations in `php/stub`, registered where
//! `apus.swoole_compat` is set.

use std::sync::OnceLock;

use apus_zend::class::Class;
use apus_zend::engine::{self, ClassEntry, Thrown};
use apus_zend::{Call, Callable, Raise, Value};

use crate::exception::{self, CANCELED, COROUTINE, EXCEPTION};
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
        Err(Raise::Thrown) => refused(call, class, true),
        done => {
            last_error::rename(libc::ECANCELED.into(), error::CANCELED);
            done
        }
    }
}

/// The same without a warning.
pub fn answers_false_quietly(
    call: &Call,
    class: &Class,
    body: impl Fn(&Call) -> Result<(), Raise>,
) -> Result<(), Raise> {
    match body(call) {
        Err(Raise::Thrown) => refused(call, class, false),
        done => done,
    }
}

/// Coroutines that nothing can wake are told of on standard output there, and the script goes on. `None`: not here.
pub fn tell_deadlock() -> Option<Result<(), Raise>> {
    if !is_on() {
        return None;
    }
    Some(Callable::named("Swoole\\Coroutine\\deadlock_check").and_then(|tell| tell.call(&[])).map(drop))
}

/// A class, and what is done of one that nobody caught.
type Exit = (&'static Class, fn(&Thrown));

/// The exception that `exit()` throws in coroutines.
static EXIT: OnceLock<Exit> = OnceLock::new();

/// At module start.
pub fn set_exit(class: &'static Class, settle: fn(&Thrown)) {
    let _ = EXIT.set((class, settle));
}

/// Whether this was an `exit()` in a coroutine; its status is the script's then.
pub fn is_exit(thrown: &Thrown) -> bool {
    let Some((_, settle)) = EXIT.get().filter(|(class, _)| thrown.is(class.get())) else { return false };
    settle(thrown);
    true
}

/// Calls a constructor by the conventions there: what is not possible is an exception of the name there, of the class's
/// own where it has one.
pub fn throws(call: &Call, class: &Class, body: impl Fn(&Call) -> Result<(), Raise>) -> Result<(), Raise> {
    match body(call) {
        Err(Raise::Thrown) => Err(thrown_there(class)),
        done => done,
    }
}

#[cold]
fn thrown_there(class: &Class) -> Raise {
    let Some(thrown) = Thrown::take() else { return Raise::Thrown };
    if !is_refusal(&thrown) {
        return thrown.rethrow();
    }
    let own = ClassEntry::find(&format!("{}\\Exception", class.name.to_string_lossy()));
    let class = own.unwrap_or_else(|| EXCEPTION.named(true));
    let (code, message) = (code_of(&thrown), thrown.message());
    drop(thrown);
    engine::throw(class, code, &message)
}

/// Numbers of Swoole's that no failure of ours has.
pub mod error {
    /// `SWOOLE_ERROR_INVALID_PARAMS`
    pub const INVALID_PARAMS: i64 = 505;
    /// `SWOOLE_ERROR_WRONG_OPERATION`
    pub const WRONG_OPERATION: i64 = 509;
    /// `SWOOLE_ERROR_CO_OUT_OF_COROUTINE`
    pub const OUT_OF_COROUTINE: i64 = 10001;
    /// `SWOOLE_ERROR_CO_CANNOT_CANCEL`
    pub const CANNOT_CANCEL: i64 = 10015;
    /// `SWOOLE_ERROR_CO_NOT_EXISTS`
    pub const NOT_EXISTS: i64 = 10016;
    /// `SWOOLE_ERROR_CO_CANCELED`
    pub const CANCELED: i64 = 10017;
    /// `SWOOLE_ERROR_CO_TIMEDOUT`
    pub const TIMED_OUT: i64 = 10018;
}

/// Whether this is an exception of ours that says what is not possible, or a wrong argument.
fn is_refusal(thrown: &Thrown) -> bool {
    let ours = thrown.is(EXCEPTION.get()) && !thrown.is(CANCELED.get());
    ours || thrown.is(ClassEntry::value_error())
}

/// Its number there. Errors of PHP have none; what was called outside of coroutines has one of its own.
fn code_of(thrown: &Thrown) -> i64 {
    match thrown.code() {
        _ if thrown.is(ClassEntry::value_error()) => error::INVALID_PARAMS,
        NOT_IN_COROUTINE if thrown.is(COROUTINE.get()) => error::OUT_OF_COROUTINE,
        code => code,
    }
}

/// The code of `Apus\Coroutine\Exception` that says so.
const NOT_IN_COROUTINE: i64 = exception::code::coroutine::NOT_IN_COROUTINE.value();

#[cold]
fn refused(call: &Call, class: &Class, loudly: bool) -> Result<(), Raise> {
    let Some(thrown) = Thrown::take() else { return Err(Raise::Thrown) };
    if !is_refusal(&thrown) {
        return Err(thrown.rethrow());
    }
    let (code, message) = (code_of(&thrown), thrown.message());
    drop(thrown);
    last_error::fail(code);
    if let Some(slot) = class.slot("errCode") {
        call.object()?.set_slot(slot, Value::int(code));
    }
    if let Some(slot) = class.slot("errMsg") {
        call.object()?.set_slot(slot, Value::string(message.as_bytes())?);
    }
    if loudly {
        engine::warning(&message)?;
    }
    call.ret(false)
}
