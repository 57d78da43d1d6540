//! Every exception that Apus throws.

use apus_zend::Raise;
use apus_zend::class::Class;
use apus_zend::engine;

apus_zend::stub!("exception");

/// All, parents first.
pub static ALL: &[&Class] = &[
    &EXCEPTION, &COROUTINE, &CANCELED, &DEADLOCK, &TIMEOUT, &CONFLICT, &CLIENT, &POOL, &SERVER, &HTTP, &TABLE, &PACK,
    &QUEUE, &LOCK, &CACHE, &METRICS, &PROCESS, &TASK,
];

/// The class of an exception and its code; made of the classes' constants, in [`code`].
#[derive(Clone, Copy)]
pub struct Code {
    class: &'static Class,
    value: i64,
}

impl Code {
    const fn new(class: &'static Class, value: i64) -> Self {
        Self { class, value }
    }

    /// The number.
    pub const fn value(self) -> i64 {
        self.value
    }

    /// Code 0, of a class that has no codes.
    pub const fn none(class: &'static Class) -> Self {
        Self { class, value: 0 }
    }

    /// Whether this is what was thrown.
    pub fn is_of(self, thrown: &engine::Thrown) -> bool {
        thrown.is(self.class.get()) && thrown.code() == self.value
    }
}

/// Throws the exception whose code this is.
pub fn throw(code: Code, message: &str) -> Raise {
    engine::throw(code.class.latest(), code.value, message)
}
