//! The functions in `Apus\` and `Apus\Coroutine\`.

use apus_zend::{Call, Raise, engine};

use crate::coroutine;
use crate::runtime::State;

/// What PHP calls at the end of a script that made coroutines.
pub(crate) const FINISH: &str = "Apus\\Coroutine\\finish";

fn finish(_call: &Call) -> Result<(), Raise> {
    let Some(state) = State::existing() else { return Ok(()) };
    if state.is_looping() {
        return Ok(());
    }
    if engine::after_fatal() {
        state.end_all();
        return Ok(());
    }
    state.run_to_end()
}

fn version(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(env!("CARGO_PKG_VERSION").as_bytes())
}

fn stubs(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(crate::stubs::TEXT.as_bytes())
}

fn options_markdown(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(apus_options::markdown().as_bytes())
}

apus_zend::stub!("functions");
