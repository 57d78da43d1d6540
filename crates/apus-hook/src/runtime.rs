//! `Apus\Runtime`: which blocking calls are hooked.

use apus_options::hooks;
use apus_zend::value::View;
use apus_zend::{Call, Raise};

use super::{gate, install};

fn set(call: &Call) -> Result<(), Raise> {
    let flags = match call.view(0) {
        View::Bool(on) => call.int(1, if on { hooks::ALL } else { 0 })?,
        _ => call.int(0, hooks::ALL)?,
    };
    if flags < 0 {
        return Err(call.value_error(0, &format!("must be a sum of Apus\\HOOK_* constants, {flags} given")));
    }
    install::install();
    gate::set_flags(flags);
    call.ret(true)
}

fn get(call: &Call) -> Result<(), Raise> {
    call.ret(gate::flags())
}

apus_zend::stub!("hook/runtime");
