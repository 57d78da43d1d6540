//! The names under which code written for Swoole knows our classes: second declarations in `php/stub`, registered where
//! `apus.swoole_compat` is set.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

use apus_zend::class::Class;
use apus_zend::engine::{self, ClassEntry, Thrown};
use apus_zend::fiber::Job;
use apus_zend::{Call, Callable, Raise, Value, process};

use crate::exception::{self, CANCELED, COROUTINE, EXCEPTION, TIMEOUT};
use crate::last_error;

/// The entry of php.ini that switches the names on; read when the module starts.
const SETTING: &str = "apus.swoole_compat";

/// Whether the names are wanted. Looked up once: nothing changes it after the module's start, and each coroutine asks.
#[inline]
pub fn is_on() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| engine::ini_switch(SETTING))
}

thread_local! {
    /// Numbers of errors that the program does not want logged.
    static IGNORED: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

/// `swoole_ignore_error()`: nothing in the log about errors of this number.
pub fn ignore(error: i64) {
    if !is_ignored(error) {
        IGNORED.with_borrow_mut(|ignored| ignored.push(error));
    }
}

/// Whether the program wants nothing in the log about errors of this number.
pub fn is_ignored(error: i64) -> bool {
    IGNORED.with_borrow(|ignored| ignored.contains(&error))
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

/// Begins a coroutine from code that may not be suspended itself, where code is written for Swoole: there it runs at
/// once. Whether it did.
#[cold]
pub fn launches(launch: impl FnOnce()) -> bool {
    is_on() && engine::entering_from_blocked(launch).is_some()
}

/// Coroutines that nothing can wake are told of on standard output there, and the script goes on. `None`: not here.
pub fn tell_deadlock() -> Option<Result<(), Raise>> {
    if !is_on() {
        return None;
    }
    Some(Callable::named("Swoole\\Coroutine\\deadlock_check").and_then(|tell| tell.call(&[])).map(drop))
}

thread_local! {
    static HEARS: Cell<bool> = const { Cell::new(false) };
}

/// The process belongs to a server, and others may tell it something at any time: its coroutines are never stuck there.
pub fn hear_others() {
    HEARS.set(true);
}

/// Whether that is so.
pub(crate) fn hears_others() -> bool {
    HEARS.get()
}

/// A class, and what is done of one that nobody caught.
type Exit = (&'static Class, fn(&Thrown));

/// The exception that `exit()` throws in coroutines.
static EXIT: OnceLock<Exit> = OnceLock::new();

/// At module start.
pub fn set_exit(class: &'static Class, settle: fn(&Thrown)) {
    let _ = EXIT.set((class, settle));
}

/// Before a coroutine begins: what is deferred in it is as there, and where that is so an exception ends the script.
pub fn prepare(job: &mut Job, ends_script: bool) {
    if is_on() {
        job.does_as_there(ends_script.then_some(is_end));
    }
}

/// Whether an exception of a coroutine that nobody caught ends the script: all but `exit()`, and the end that somebody
/// asked for.
fn is_end(is: &dyn Fn(ClassEntry) -> bool) -> bool {
    !is(CANCELED.get()) && !EXIT.get().is_some_and(|(class, _)| is(class.get()))
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
        Err(Raise::Thrown) => Err(thrown_there(call, class)),
        done => done,
    }
}

#[cold]
fn thrown_there(call: &Call, class: &Class) -> Raise {
    let Some(thrown) = Thrown::take() else { return Raise::Thrown };
    let Some((said, code)) = said_there(call, &thrown) else { return thrown.rethrow() };
    let own = ClassEntry::find(&format!("{}\\Exception", class.name.to_string_lossy()));
    let class = own.unwrap_or_else(|| EXCEPTION.named(true));
    let (class, message) = match said {
        There::Text(message) | There::Logged(message) | There::Failure(message, _) => (class, message),
        There::Error(class, message) => (class, message),
        There::Fatal(message) => return engine::fatal_of_function(&message),
        There::Uncatchable(message) => return uncatchable(code, &message),
        There::Quiet(_) => (class, thrown.message()),
    };
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
fn is_refusal(call: &Call, thrown: &Thrown, message: &str) -> bool {
    let ours = thrown.is(EXCEPTION.get()) && !thrown.is(CANCELED.get()) && !thrown.is(TIMEOUT.get());
    // That of a function which the program called on its way is the program's.
    let is_of_this = || function_of(message).is_none_or(|(name, _)| name.ends_with(&call.function_name()));
    ours || (thrown.is(ClassEntry::value_error()) && is_of_this())
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
    let Some((said, code)) = said_there(call, &thrown) else { return Err(thrown.rethrow()) };
    drop(thrown);
    last_error::fail(code);
    let mut logged = false;
    let message = match said {
        There::Text(message) | There::Failure(message, _) => message,
        There::Logged(message) => {
            logged = true;
            message
        }
        There::Quiet(_) => return call.ret(false),
        There::Error(_, message) | There::Uncatchable(message) if !loudly => message,
        There::Error(class, message) => return Err(engine::throw(class, code, &message)),
        There::Fatal(message) => return Err(engine::fatal_of_function(&message)),
        There::Uncatchable(message) => return Err(uncatchable(code, &message)),
    };
    if let Some(slot) = class.slot("errCode") {
        call.object()?.set_slot(slot, Value::int(code));
    }
    if let Some(slot) = class.slot("errMsg") {
        call.object()?.set_slot(slot, Value::string(message.as_bytes())?);
    }
    if logged {
        let class = class.name.to_string_lossy();
        apus_process::log::warning(format_args!("{class}::{}(): {message}", call.function_name()));
    } else if loudly {
        warning(&message)?;
    }
    call.ret(false)
}

/// Ends the script with an error that is told of as if nobody had caught it.
fn uncatchable(code: i64, message: &str) -> Raise {
    let raise = engine::throw(error_class(), code, message);
    Thrown::take().map_or(raise, |thrown| process::report_uncaught(&thrown))
}

/// Warns as there: with the name of the running function first, unless `swoole.display_errors` is off.
pub fn warning(message: &str) -> Result<(), Raise> {
    if !engine::ini_switch("swoole.display_errors") {
        return Ok(());
    }
    engine::warning_of_function(function_of(message).map_or(message, |(_, text)| text))
}

/// The function that a message begins with, and what it says of it.
fn function_of(message: &str) -> Option<(&str, &str)> {
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_\\:".contains(&byte));
    message.split_once("(): ").filter(|(name, _)| is_name(name))
}

/// What is said there in place of an exception of ours.
pub enum There {
    /// The same with this text.
    Text(String),
    /// The same with this text, as a line of the log in place of a warning.
    Logged(String),
    /// The same with this text and this number.
    Failure(String, i64),
    /// Nothing is said but `false`, and this is the last error.
    Quiet(i64),
    /// This error of PHP's, which nobody but the program catches.
    Error(ClassEntry, String),
    /// This fatal error of the running function.
    Fatal(String),
    /// An error that ends the script with its trace, whatever it catches.
    Uncatchable(String),
}

thread_local! {
    /// Of the exception with this message.
    static THERE: RefCell<Option<(String, There)>> = const { RefCell::new(None) };
}

thread_local! {
    /// The exception of a coroutine that nobody caught, and that ends what ran it: no refusal, whatever it is.
    static PASSING: Cell<Option<NonZeroUsize>> = const { Cell::new(None) };
}

/// Throws an exception of a coroutine on, through the function that ran it.
pub fn pass_on(thrown: Thrown) -> Raise {
    PASSING.set(NonZeroUsize::new(thrown.address()));
    thrown.rethrow()
}

/// Notes what is said under the names of Swoole in place of the exception that was just thrown.
#[cold]
pub fn there(raise: Raise, there: There) -> Raise {
    there_of(raise, |_| Some(there))
}

/// The same, by the message of the exception.
#[cold]
pub fn there_of(raise: Raise, there: impl FnOnce(&str) -> Option<There>) -> Raise {
    if !is_on() || !matches!(raise, Raise::Thrown) {
        return raise;
    }
    let Some(thrown) = Thrown::take() else { return raise };
    let message = thrown.message();
    if let Some(there) = there(&message) {
        THERE.set(Some((message, there)));
    }
    thrown.rethrow()
}

/// What is to be said in place of an exception, and the number that tells of it. `None`: it is none of ours.
fn said_there(call: &Call, thrown: &Thrown) -> Option<(There, i64)> {
    if PASSING.take().is_some_and(|passing| passing.get() == thrown.address()) {
        return None;
    }
    let (message, code) = (thrown.message(), code_of(thrown));
    let noted = THERE.take().filter(|(known, _)| *known == message).map(|(_, there)| there);
    let said = match noted {
        Some(there) => there,
        None if !is_refusal(call, thrown, &message) => return None,
        None if code == error::OUT_OF_COROUTINE => There::Uncatchable("API must be called in the coroutine".to_owned()),
        None => There::Text(message),
    };
    let code = if let There::Failure(_, code) | There::Quiet(code) = &said { *code } else { code };
    Some((said, code))
}

/// What is said there in place of an exception of ours, where one class has both names; others go on.
#[cold]
pub fn told_there(raise: Raise) -> Result<String, Raise> {
    if !is_on() || !matches!(raise, Raise::Thrown) {
        return Err(raise);
    }
    let Some(thrown) = Thrown::take() else { return Err(raise) };
    if !thrown.is(EXCEPTION.get()) {
        return Err(thrown.rethrow());
    }
    let message = thrown.message();
    let noted = THERE.take().filter(|(known, _)| *known == message).map(|(_, there)| there);
    Ok(match noted {
        Some(
            There::Text(text)
            | There::Logged(text)
            | There::Failure(text, _)
            | There::Error(_, text)
            | There::Fatal(text)
            | There::Uncatchable(text),
        ) => text,
        None | Some(There::Quiet(_)) => message,
    })
}

/// Warns in the name of a function of a class that has both names.
pub fn warning_of(function: &str, message: &str) -> Result<(), Raise> {
    if !engine::ini_switch("swoole.display_errors") {
        return Ok(());
    }
    engine::warning(&format!("{function}: {message}"))
}

/// `Swoole\Error`
pub fn error_class() -> ClassEntry {
    ClassEntry::find("Swoole\\Error").unwrap_or_else(ClassEntry::error)
}
