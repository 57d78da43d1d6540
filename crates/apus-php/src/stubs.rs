//! The stubs, from the very declarations that Zend was given.

use apus_zend::class::{class_stub, constant_stubs, function_stubs};

use crate::module;

/// The whole stub file.
pub(crate) fn text() -> String {
    let mut out = String::from(
        "<?php\n\n// Generated from the built module by `apus stubs`. Do not edit.\n\n/** @noinspection ALL */\n\n",
    );
    for class in module::classes() {
        out.push_str(&class_stub(class));
    }
    for functions in module::FUNCTIONS {
        out.push_str(&function_stubs(functions));
    }
    for constants in module::CONSTANTS {
        out.push_str(&constant_stubs(constants));
    }
    out
}
