//! What code written for Swoole sees and is no second declaration of anything of ours: the module `swoole` itself, its
//! constants, functions and short names. Declared in `php/stub/swoole`.

mod classes;
mod constants;
mod exit;
mod functions;
mod library;
mod log;
mod part;
mod short;
mod signals;
mod sockets;

use std::ffi::CStr;

use apus_zend::class::{self, Class, Const, Constant};
use apus_zend::engine;
use apus_zend::module::is_loaded;

/// The version that the module answers to: whose names and conventions these are.
pub(crate) const VERSION: &CStr = c"6.2.1";

/// What the switch of the short names is as a constant, while it is off.
static WITHOUT_SHORT: &[Constant] =
    &[Constant { name: c"SWOOLE_USE_SHORTNAME", value: Const::Bool(false), doc: "Whether there are short names." }];

/// Registers a class of the module, with its further names.
fn enter(class: &'static Class, with_short: bool) {
    class.register();
    class.register_names(class.also);
    if with_short {
        class.register_names(class.short);
    }
}

/// Registers what the module has, of the classes of Apus those that have a second declaration.
pub(crate) fn register(classes: impl Iterator<Item = &'static Class>, module: i32) {
    library::install();
    apus_edge::types::only_registered();
    let with_short = engine::ini_switch("swoole.use_shortname");
    for first in classes {
        first.register_names(first.also);
        first.go_by_further_name();
        if let Some(class) = first.second {
            enter(class, with_short);
        }
    }
    for class in classes::ALL.iter().chain(crate::server::EVENT_OBJECTS) {
        enter(class, with_short);
    }
    crate::http::prepare_second();
    exit::prepare();
    log::prepare();
    crate::system::know_swoole(constants::CONSTANTS);
    class::register_functions(functions::FUNCTIONS, module);
    class::register_constants(constants::CONSTANTS, module);
    if with_short {
        class::register_functions(short::FUNCTIONS, module);
    }
    class::register_constants(if with_short { short::CONSTANTS } else { WITHOUT_SHORT }, module);
    // A module that declares them itself need not have started.
    for (name, constants) in [(c"pcntl", signals::CONSTANTS), (c"sockets", sockets::CONSTANTS)] {
        if !is_loaded(name) {
            class::register_constants(constants, module);
        }
    }
}
