//! What happens when PHP loads, starts and ends the module.

use apus_zend::class::{self, Class, Constant, Method};
use apus_zend::engine;
use apus_zend::module::{Hooks, entry, info_row, prepare_requests};
use apus_zend::sys;

use crate::runtime::{self, MakeRoom, State};
use crate::{
    client, compat, coroutine, coserver, exception, functions, hook, http, in_handlers, memory, metrics, pool, process,
    remembered, serve, server, socket, swoole, sync, system, timer, watchdog,
};

/// Every class, parents first.
pub(crate) fn classes() -> impl Iterator<Item = &'static Class> {
    let timer = std::iter::once(&timer::TIMER);
    let rooms = [
        exception::ALL,
        coroutine::ALL,
        sync::ALL,
        hook::ALL,
        system::ALL,
        socket::ALL,
        client::ALL,
        pool::ALL,
        memory::ALL,
        metrics::ALL,
        process::ALL,
        http::ALL,
        server::ALL,
        coserver::ALL,
    ];
    rooms.into_iter().flatten().copied().chain(timer)
}

/// Every function, by room.
pub(crate) static FUNCTIONS: &[&[Method]] = &[
    functions::FUNCTIONS,
    sync::FUNCTIONS,
    system::FUNCTIONS,
    client::FUNCTIONS,
    memory::FUNCTIONS,
    metrics::FUNCTIONS,
    server::FUNCTIONS,
];

/// Every constant, by room.
pub(crate) static CONSTANTS: &[&[Constant]] = &[
    sync::CONSTANTS,
    hook::CONSTANTS,
    system::CONSTANTS,
    socket::CONSTANTS,
    client::CONSTANTS,
    memory::CONSTANTS,
    process::CONSTANTS,
    server::CONSTANTS,
];

/// What rooms keep for a thread beside its coroutines, in the order in which it ends.
static STATES: &[MakeRoom] = &[
    hook::room,
    runtime::kept::<timer::Timers>,
    runtime::kept::<system::Watching>,
    runtime::kept::<coroutine::GivenOptions>,
];

/// Where PHP finds the module.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "found by its name in the shared object, not by a path")]
pub extern "C" fn get_module() -> *mut sys::zend_module_entry {
    entry(env!("CARGO_PKG_VERSION"), Hooks { startup, shutdown, activate, deactivate, info })
}

/// Runs `body`, keeping a panic from PHP's frames.
fn contained(what: &str, body: impl FnOnce() + std::panic::UnwindSafe) -> bool {
    let ok = std::panic::catch_unwind(body).is_ok();
    if !ok {
        eprintln!("apus: {what} failed; please report this");
    }
    ok
}

unsafe extern "C" fn startup(module: i32) -> bool {
    contained("the registration of classes", || {
        apus_zend::output::open_standard();
        prepare_requests();
        runtime::set_rooms(STATES);
        system::know_constants(CONSTANTS);
        watchdog::prepare();
        process::prepare();
        apus_zend::state::prepare();
        apus_zend::mistake::prepare::<in_handlers::InHandlers>();
        hook::prepare();
        for class in classes() {
            class.register();
        }
        http::prepare();
        client::prepare();
        for functions in FUNCTIONS {
            class::register_functions(functions, module);
        }
        for constants in CONSTANTS {
            class::register_constants(constants, module);
        }
        serve::register(module);
    }) && (!swoole::is_on() || apus_zend::module::second(compat::VERSION, startup_second, info_second))
}

/// The same for the module that code written for Swoole sees.
unsafe extern "C" fn startup_second(module: i32) -> bool {
    contained("the registration of the names of Swoole", || compat::register(classes(), module))
}

unsafe extern "C" fn info_second() {
    info_row("Swoole", "enabled");
    info_row("Version", &compat::VERSION.to_string_lossy());
    info_row("Made by", concat!("Apus ", env!("CARGO_PKG_VERSION")));
    info_row("TLS", "rustls");
    // Of the libraries of other extensions, whose calls wait in coroutines.
    for (row, constant) in [("openssl", "OPENSSL_VERSION_TEXT"), ("postgresql(libpq) version", "PGSQL_LIBPQ_VERSION")] {
        if let Some(version) = engine::constant(constant) {
            info_row(row, &version);
        }
    }
}

unsafe extern "C" fn shutdown() {
    apus_process::log::settle_for_good();
    // The module may be unloaded next.
    apus_zend::output::give_back();
}

unsafe extern "C" fn activate() {
    contained("the start of a request", || {
        hook::install_guards();
        http::install_sessions();
    });
}

unsafe extern "C" fn deactivate() {
    contained("the end of a request", || {
        process::end_request();
        State::tear_down();
        remembered::forget();
        apus_zend::guard::end_request();
    });
}

unsafe extern "C" fn info() {
    info_row("Apus", "enabled");
    info_row("Version", env!("CARGO_PKG_VERSION"));
    info_row("Documentation of settings", "apus options");
}
