//! How PHP code that the loop called ended badly: the one place that sorts it and says so.

use apus_zend::engine::{self, Thrown, ThrownKind};
use apus_zend::{Raise, Value};

use crate::exception::CANCELED;
use crate::holder;
use crate::runtime::{Mode, Outcome, Receive, State, Stop};
use crate::swoole;

/// As PHP reports it where it ends a worker there: on standard output, where `display_errors` asks for it, and in the
/// log.
#[cold]
fn tell_as_there(text: &str) {
    let (file, line) = place_of(text).unwrap_or(("[no active file]", "0"));
    if engine::ini_switch("display_errors") {
        let shown = format!("\nFatal error: Uncaught {text}\n  thrown in {file} on line {line}\n");
        apus_process::log::output(shown.as_bytes());
    }
    apus_process::log::error(format_args!(
        "php_swoole_server_rshutdown() (ERRNO 503): Fatal error: Uncaught {text}\n  thrown in {file} on line {line}"
    ));
}

/// Where an exception was thrown, by PHP's text of it: the last of a chain is the one that nobody caught.
fn place_of(text: &str) -> Option<(&str, &str)> {
    let last = text.rsplit("\n\nNext ").next()?;
    let (said, _) = last.split_once("\nStack trace:\n")?;
    let (file, line) = said.rsplit_once(':')?;
    Some((file.rsplit_once(" in ")?.1, line))
}

impl State {
    /// Accounts for what ended PHP code that was called from the loop. An exception is given back, for whoever has more
    /// to say about it than [`State::uncaught`].
    pub fn failed(&self, raise: Raise) -> Option<Thrown> {
        let thrown = Thrown::take();
        if raise == Raise::Bailed {
            self.fatal();
            return None;
        }
        thrown.and_then(|thrown| self.sort(thrown))
    }

    /// The same where nobody has more to say.
    pub fn report(&self, raise: Raise) {
        if let Some(thrown) = self.failed(raise) {
            self.uncaught(thrown);
        }
    }

    /// Gives back what is an exception. A fatal error may unwind as `exit()` does, and `exit()` is neither.
    fn sort(&self, thrown: Thrown) -> Option<Thrown> {
        match thrown.kind() {
            ThrownKind::Exception if swoole::is_exit(&thrown) => self.exited(),
            ThrownKind::Exception => return Some(thrown),
            ThrownKind::Fatal => self.fatal(),
            ThrownKind::Exit => self.exited(),
            ThrownKind::Graceful => {}
        }
        None
    }

    /// A fatal error was reported: a script ends, a worker is replaced.
    pub fn fatal(&self) {
        self.faulted.set(true);
        self.fatals.set(self.fatals.get() + 1);
        self.stop_with(Stop::Fatal);
    }

    /// `exit()` was called: a script ends, a worker goes on.
    pub fn exited(&self) {
        if self.mode.get() == Mode::Script {
            self.stop_with(Stop::Exit);
        }
    }

    /// To be called on the loop's own stack after PHP values were given back there: an exception of a destructor would
    /// else be taken for one of the next coroutine that is entered.
    #[inline]
    pub fn catch_stray() {
        if !engine::is_stray() {
            return;
        }
        let bailed = engine::take_bailed();
        let thrown = Thrown::take();
        if let Some(state) = Self::existing() {
            if bailed {
                state.fatal();
            }
            if let Some(thrown) = thrown {
                state.uncaught(thrown);
            }
        }
    }

    /// Before the loop sleeps: no fatal error, whoever met it and whatever became of it, is left unsaid.
    pub fn look_for_fatal(&self) {
        let unsaid = self.mode.get() == Mode::Worker && !self.faulted.get() && !self.fatal_before.get();
        if engine::take_bailed() || (unsaid && engine::after_fatal()) {
            self.fatal();
        }
    }

    /// What PHP code left that was called from the loop, outside coroutines, goes to who wants it, or is reported.
    pub fn settle_call(&self, result: Result<Value, Raise>, outcome: Option<Receive>) {
        let outcome_of_it = match result {
            Ok(value) => Outcome::Returned(value),
            Err(raise) => self.failed(raise).map_or(Outcome::Gone, Outcome::Threw),
        };
        match (outcome, outcome_of_it) {
            (Some(receive), outcome) => receive(outcome),
            (None, Outcome::Threw(thrown)) => self.uncaught(thrown),
            (None, _) => {}
        }
    }

    /// An exception that no PHP code caught. A coroutine that was cancelled and let itself be ended has done what was
    /// asked: no error.
    pub fn uncaught(&self, thrown: Thrown) {
        let Some(thrown) = self.sort(thrown).filter(|thrown| !thrown.is(CANCELED.get())) else { return };
        match self.mode.get() {
            Mode::Script => {
                if swoole::is_on() {
                    *self.last_words.borrow_mut() = holder::take(&thrown.message());
                }
                self.stop_with(Stop::Uncaught(thrown));
            }
            Mode::Worker => self.tell_handler("", "", thrown),
        }
    }

    /// Gives an exception to the program's exception handler, or logs it: whose it is, and where it was not caught.
    pub fn tell_handler(&self, whose: &str, place: &str, thrown: Thrown) {
        match thrown.give_to_handler() {
            Ok(Ok(())) => {}
            Ok(Err(raise)) => {
                if let Some(thrown) = self.failed(raise) {
                    apus_process::log::error(format_args!(
                        "{whose}uncaught in the exception handler: {}",
                        thrown.text()
                    ));
                }
            }
            Err(thrown) if swoole::is_on() => tell_as_there(&thrown.text()),
            Err(thrown) => apus_process::log::error(format_args!("{whose}uncaught {place}{}", thrown.text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_that_of_the_exception_nobody_caught() {
        assert_eq!(place_of("Exception: a in b in /x y/c.php:18\nStack trace:\n#0 {main}"), Some(("/x y/c.php", "18")));
        let chain =
            "Exception in /a.php:1\nStack trace:\n#0 {main}\n\nNext Error: x in /b.php:22\nStack trace:\n#0 {main}";
        assert_eq!(place_of(chain), Some(("/b.php", "22")));
        assert_eq!(place_of("no text"), None);
    }
}
