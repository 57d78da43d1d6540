//! What a server that goes on reports: exceptions that its handlers did not catch, and connections that it cannot take.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_zend::engine::Thrown;

use crate::exception::CANCELED;
use crate::runtime::{Outcome, State};

/// Pause after something that would fail again at once.
pub(super) const BACK_OFF: Duration = Duration::from_millis(100);
/// Time before the same trouble is told again.
const TOLD_AGAIN: Duration = Duration::from_secs(60);

/// A trouble that comes again and again.
#[derive(Default)]
pub(super) struct Trouble(Cell<Option<Instant>>);

impl Trouble {
    /// Logs it, once a minute at most.
    pub(super) fn tell(&self, text: std::fmt::Arguments<'_>) {
        if self.0.get().is_none_or(|at| at.elapsed() >= TOLD_AGAIN) {
            self.0.set(Some(Instant::now()));
            apus_process::log::warning(text);
        }
    }
}

/// Receives how handlers end: what one does not catch is reported, and ends neither the server nor the script.
pub(super) fn receiver(server: &'static str) -> Rc<dyn Fn(Outcome)> {
    Rc::new(move |outcome| {
        if let Outcome::Threw(thrown) = outcome
            && !thrown.is(CANCELED.get())
        {
            uncaught(server, thrown);
        }
    })
}

/// Gives an exception to the program's exception handler, or logs it.
fn uncaught(server: &str, thrown: Thrown) {
    if let Some(state) = State::existing() {
        state.tell_handler(&format!("{server}: "), "in a handler: ", thrown);
    }
}
