//! Who uses a connection: two coroutines at once are told of each other.

use std::cell::Cell;

use apus_zend::Raise;

use crate::exception::{self, CONFLICT};
use crate::runtime::State;

/// One direction of a connection, used by one coroutine at a time.
#[derive(Default)]
pub(super) struct Busy {
    holder: Cell<Option<(i64, &'static str)>>,
}

/// Its use; over when dropped.
pub(super) struct InUse<'a>(&'a Busy);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.holder.set(None);
    }
}

impl Busy {
    /// Takes it for the running coroutine, which is in `what`; throws when another one has it.
    pub(super) fn enter(&self, state: &State, class: &str, what: &'static str) -> Result<InUse<'_>, Raise> {
        self.check(state, class, what)?;
        self.holder.set(Some((state.engine.current_id(), what)));
        Ok(InUse(self))
    }

    /// Throws when another coroutine has it.
    pub(super) fn check(&self, state: &State, class: &str, what: &str) -> Result<(), Raise> {
        let Some((holder, doing)) = self.holder.get() else { return Ok(()) };
        let text = format!(
            "coroutine {} calls {class}::{what} on a client that coroutine {holder} uses in {class}::{doing}: give each coroutine a \
             client of its own",
            state.engine.current_id(),
        );
        Err(exception::throw(exception::Code::none(&CONFLICT), &text))
    }

    pub(super) fn is_taken(&self) -> bool {
        self.holder.get().is_some()
    }
}
