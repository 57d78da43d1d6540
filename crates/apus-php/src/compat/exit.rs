//! `exit()` in a coroutine throws `Swoole\ExitException`, and a script that does not catch it ends with its status.

use apus_zend::engine::{self, Thrown};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Call, Raise, Value, exit};

use super::classes::EXIT_EXCEPTION;
use crate::runtime::{Mode, State};

/// `SWOOLE_EXIT_IN_COROUTINE`
const IN_COROUTINE: i64 = 1 << 1;
/// `SWOOLE_EXIT_IN_SERVER`
const IN_SERVER: i64 = 1 << 2;

/// Where the running code is: 0 where `exit()` is PHP's.
extern "C" fn place() -> i64 {
    match State::existing() {
        Some(state) if state.engine.current_id() != -1 => {
            IN_COROUTINE | if state.mode.get() == Mode::Worker { IN_SERVER } else { 0 }
        }
        _ => 0,
    }
}

/// At module start, when the class is registered.
pub(super) fn prepare() {
    exit::throw_instead(EXIT_EXCEPTION.get(), place);
    crate::swoole::set_exit(&EXIT_EXCEPTION, settle);
}

fn status(thrown: &Object) -> Value {
    exit::property(thrown, c"status")
}

/// What nobody caught: its status becomes the script's, a text is printed.
fn settle(thrown: &Thrown) {
    match status(thrown.object()).view() {
        View::Int(status) => engine::set_exit_status(status as i32),
        View::Str(text) => {
            // Whoever takes the output may refuse it; there is nobody left to tell.
            let _ = crate::builtin::print(text);
        }
        _ => {}
    }
}

pub(super) fn get_flags(call: &Call) -> Result<(), Raise> {
    call.ret(exit::property(&call.object()?, c"flags"))
}

pub(super) fn get_status(call: &Call) -> Result<(), Raise> {
    call.ret(status(&call.object()?))
}
