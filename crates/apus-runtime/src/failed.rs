//! Whether what is being given back belonged to PHP code that has failed: then its half-done work is not to be
//! finished.

use std::cell::Cell;

use apus_zend::engine;

thread_local! {
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// Gives back what code had that threw, or that a fatal error ended.
#[cold]
pub fn give_back<T>(give: impl FnOnce() -> T) -> T {
    let outer = FAILED.replace(true);
    let given = give();
    FAILED.set(outer);
    given
}

/// Whether the object that is being freed belonged to such code, or the running code is being unwound.
pub fn is_unwinding() -> bool {
    FAILED.get() || engine::is_stray()
}
