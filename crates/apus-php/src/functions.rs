//! The functions in `Apus\` and `Apus\Coroutine\`.

use apus_process::log::{self, Level};
use apus_zend::{Call, Raise, engine};

use crate::runtime::State;
use crate::{coroutine, traced};

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

fn write_log(level: &[u8], message: &[u8]) -> Result<(), Raise> {
    let level = match level {
        b"debug" => Level::Debug,
        b"trace" => Level::Trace,
        b"info" => Level::Info,
        b"notice" => Level::Notice,
        b"warning" => Level::Warning,
        b"error" => Level::Error,
        _ => {
            return Err(engine::throw_value_error(
                "Argument #1 ($level) must be debug, trace, info, notice, warning or error",
            ));
        }
    };
    log::write(level, format_args!("{}", String::from_utf8_lossy(message)));
    Ok(())
}

fn trace_id() -> Option<String> {
    traced::current().map(|trace| trace.to_string())
}

fn options_markdown(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(apus_options::markdown().as_bytes())
}

apus_zend::stub!("functions");
