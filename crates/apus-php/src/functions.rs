//! The functions in `Apus\` and `Apus\Coroutine\`.

use apus_zend::{Call, Raise};

use crate::coroutine;
use crate::runtime::State;

fn finish(_call: &Call) -> Result<(), Raise> {
    State::existing().map_or(Ok(()), |state| state.finish())
}

fn version(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(env!("CARGO_PKG_VERSION").as_bytes())
}

fn stubs(call: &Call) -> Result<(), Raise> {
    let text = if call.bool(0, false)? { crate::stubs::SECOND } else { crate::stubs::TEXT };
    call.ret_bytes(text.as_bytes())
}

fn options_markdown(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(apus_options::markdown().as_bytes())
}

apus_zend::stub!("functions");
