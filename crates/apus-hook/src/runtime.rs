//! `Apus\Runtime`: which blocking calls are hooked.

use apus_options::hooks;
use apus_zend::library::StandIns;
use apus_zend::value::View;
use apus_zend::{Call, Raise};

use super::{gate, install};

/// Bits of Swoole's for single drivers of databases: all but the one for files talk over sockets.
const DRIVERS: i64 = 1 << 16 | 1 << 17 | 1 << 18 | 1 << 20 | 1 << 22;

/// `SWOOLE_HOOK_ALL`
const ALL_THERE: i64 = 0x7fbf_f7ff;

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

/// `Swoole\Runtime::enableCoroutine()`. Whatever is named there waits on sockets or names: one kind alone is enough.
fn enable(flags: i64) -> bool {
    const ON_SOCKETS: i64 = hooks::CURL | hooks::NATIVE_CURL | hooks::SOCKETS | hooks::SSL | hooks::TLS | DRIVERS;
    install::install();
    let all = |bits| flags & bits == bits;
    StandIns {
        sockets: all(hooks::SOCKETS),
        curl: all(hooks::CURL) && !all(hooks::NATIVE_CURL),
        streams: all(hooks::STREAM_FUNCTION),
        processes: all(hooks::PROC),
    }
    .set();
    let sockets = hooks::TCP | hooks::UNIX | hooks::STREAM_FUNCTION | hooks::NET_FUNCTION;
    gate::set_flags_of(flags, if flags & ON_SOCKETS == 0 { flags } else { flags | sockets });
    true
}

fn get(call: &Call) -> Result<(), Raise> {
    call.ret(gate::told_flags())
}

/// `Swoole\Runtime::getHookFlags()`: what nobody has set is all that has a name there.
fn get_named() -> i64 {
    match gate::told_flags() {
        hooks::ALL | hooks::DEFAULT => ALL_THERE,
        told => told,
    }
}

apus_zend::stub!("hook/runtime");
