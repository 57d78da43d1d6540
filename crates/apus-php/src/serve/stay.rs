//! A script that stays (`script_worker`): it boots an application once, and asks for one request after the other.

use std::cell::Cell;
use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStringExt;

use apus_options::Settings;
use apus_process::{Worker, log};
use apus_runtime::running::in_coroutine;
use apus_zend::callable::Callable;
use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::sapi::{self, Pair};
use apus_zend::{Raise, Value, class};

use super::process::{self, FAILED};
use crate::exception;
use crate::runtime::State;
use crate::timer::Timers;

/// Where the script stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No script stays here.
    None,
    /// It has not asked for a request.
    Booting,
    /// It has been given a request, which is answered, or none yet.
    Ready,
    /// It serves one.
    Serving,
    /// It was told that there are no more.
    Leaving,
}

thread_local! {
    static PHASE: Cell<Phase> = const { Cell::new(Phase::None) };
}

/// Registers the function. To be called at module start.
pub(super) fn register(module: i32) {
    class::register_functions(FUNCTIONS, module);
}

/// Runs the script to its end; the process's exit code.
pub(super) fn run(worker: &Worker, settings: &Settings) -> c_int {
    let script = &settings.script_worker[..];
    let text = |(name, value): &(String, String)| Some((CString::new(&name[..]).ok()?, CString::new(&value[..]).ok()?));
    let [values, admin] =
        [&settings.php_values, &settings.php_admin_values].map(|all| all.iter().filter_map(text).collect::<Vec<_>>());
    let [values, admin] = [&values, &admin].map(|all| pairs(all));
    let Ok(filename) = CString::new(script) else { return FAILED };
    let variables = variables(&filename);
    let pairs = pairs(&variables);
    PHASE.set(Phase::Booting);
    sapi::run_staying(&sapi::Request {
        pairs: &pairs,
        method: c"GET".into(),
        uri: c"".into(),
        query: c"".into(),
        script: filename.as_c_str().into(),
        content_type: None,
        cookies: None,
        authorization: None,
        content_length: 0,
        old: false,
        received_at: 0.0,
        values: &values,
        admin: &admin,
    });
    match PHASE.replace(Phase::None) {
        Phase::Booting => {
            log::error(format_args!(
                "script process {}: {script} ended before it called Apus\\handle_request()",
                worker.id
            ));
            FAILED
        }
        _ => 0,
    }
}

fn pairs(all: &[(CString, CString)]) -> Vec<Pair<'_>> {
    all.iter().map(|(name, value)| Pair::new(name.as_c_str().into(), value.as_c_str().into())).collect()
}

/// What `$_SERVER` has before the first request: the environment, and what tells that the script is to stay.
fn variables(script: &CString) -> Vec<(CString, CString)> {
    let text = |text: std::ffi::OsString| CString::new(text.into_vec()).ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    let own = [
        (c"SCRIPT_FILENAME".to_owned(), script.clone()),
        (c"SCRIPT_NAME".to_owned(), script.clone()),
        (c"PHP_SELF".to_owned(), script.clone()),
        (c"APUS_WORKER".to_owned(), c"1".to_owned()),
        // Programs written for FrankenPHP look for it.
        (c"FRANKENPHP_WORKER".to_owned(), c"1".to_owned()),
    ];
    environment.chain(own).collect()
}

pub(super) fn handle_request(handler: Callable) -> Result<bool, Raise> {
    match PHASE.get() {
        Phase::None => {
            let text = "handle_request() is for the script of `script_worker` (apus serve --worker FILE)";
            return Err(exception::throw(exception::code::server::STATE, text));
        }
        Phase::Serving => {
            let text = "handle_request() was called while a request is served";
            return Err(exception::throw(exception::code::server::STATE, text));
        }
        // The process would run nothing else while it waits for a request, this coroutine's caller included.
        _ if in_coroutine() => {
            let text = "handle_request() was called in a coroutine: call it in the script itself, outside of go() and \
                        Coroutine\\run(); coroutines may be started within a request";
            return Err(exception::throw(exception::code::server::STATE, text));
        }
        Phase::Leaving => return Ok(false),
        Phase::Booting => {
            finish_coroutines()?;
            sapi::stay()?;
            process::ready();
        }
        Phase::Ready => process::ended(),
    }
    PHASE.set(Phase::Ready);
    if !process::wait_for_request() {
        PHASE.set(Phase::Leaving);
        return Ok(false);
    }
    PHASE.set(Phase::Serving);
    let result = process::serve(|request| {
        let (status, result) = sapi::serve(request, || call(&handler));
        (status, result.and_then(|result| result))
    });
    process::finish();
    PHASE.set(Phase::Ready);
    result.map(|()| true)
}

/// No coroutine and no timer outlives the request that began it: nothing would run them while the process waits.
fn finish_coroutines() -> Result<(), Raise> {
    let Some(state) = State::existing() else { return Ok(()) };
    let timers = Timers::of(&state);
    if timers.len() > 0 {
        timers.clear_all(&state);
        log::warning(format_args!("timers do not run in a script that stays: they were removed at the request's end"));
    }
    state.finish()
}

/// Calls the handler. `exit()` ends its request alone; an exception that nobody caught is answered as PHP does.
fn call(handler: &Callable) -> Result<(), Raise> {
    let called = handler.call(&[]).map(drop::<Value>).or_else(unless_ended);
    called.and_then(|()| finish_coroutines().or_else(unless_ended))
}

/// What becomes of a request whose handler was left early.
fn unless_ended(raise: Raise) -> Result<(), Raise> {
    let thrown = Thrown::take().filter(|_| raise != Raise::Bailed).ok_or(Raise::Bailed)?;
    match thrown.kind() {
        ThrownKind::Fatal => Err(Raise::Bailed),
        ThrownKind::Exit | ThrownKind::Graceful => Ok(()),
        ThrownKind::Exception => uncaught(thrown),
    }
}

fn uncaught(thrown: Thrown) -> Result<(), Raise> {
    match thrown.give_to_handler() {
        Err(thrown) => sapi::show_uncaught(&thrown),
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => match Thrown::take() {
            Some(thrown) if thrown.kind() == ThrownKind::Exception => sapi::show_uncaught(&thrown),
            Some(thrown) if thrown.kind() != ThrownKind::Fatal => Ok(()),
            _ => Err(Raise::Bailed),
        },
    }
}

apus_zend::stub!("serve/stay");
