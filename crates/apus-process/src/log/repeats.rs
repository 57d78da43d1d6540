//! Messages that a peer can cause as often as it likes: a few each second are written, the others are counted.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Level, enabled, hold, write};

/// Messages of one kind that are written each second by each process, where nothing else is said.
const MOST: u32 = 5;
const PERIOD: Duration = Duration::from_secs(1);

/// Kinds of which some messages were only counted.
static COUNTED: Mutex<Vec<&'static Repeats>> = Mutex::new(Vec::new());

/// Messages of one kind.
#[derive(Debug)]
pub struct Repeats {
    level: Level,
    /// What they are, for the sum: "connections were closed".
    what: &'static str,
    /// Written each second.
    most: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the second began.
    since: Option<Instant>,
    written: u32,
    counted: u64,
}

impl Repeats {
    /// `what` is said in the sum, behind "N more within a second: ".
    pub const fn new(level: Level, what: &'static str) -> Self {
        Self { level, what, most: MOST, state: Mutex::new(State { since: None, written: 0, counted: 0 }) }
    }

    /// One a second is enough of these.
    #[must_use]
    pub const fn once_a_second(self) -> Self {
        Self { most: 1, ..self }
    }

    /// Logs the message, or counts it when there were enough in this second.
    pub fn tell(&'static self, message: fmt::Arguments<'_>) {
        if !enabled(self.level) {
            return;
        }
        self.sum_up(false);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.get_or_insert_with(Instant::now);
        if state.written < self.most {
            state.written += 1;
            drop(state);
            return write(self.level, message);
        }
        state.counted += 1;
        if state.counted == 1 {
            drop(state);
            COUNTED.lock().unwrap_or_else(PoisonError::into_inner).push(self);
            hold();
        }
    }

    /// Ends the second if it is over (or `now`), and tells how many were only counted. Whether it has ended.
    fn sum_up(&self, now: bool) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(since) = state.since else { return true };
        if !now && since.elapsed() < PERIOD {
            return false;
        }
        let counted = state.counted;
        *state = State { since: None, written: 0, counted: 0 };
        drop(state);
        if counted > 0 {
            write(self.level, format_args!("{counted} more within a second: {}", self.what));
        }
        true
    }
}

/// Tells the sums that are due, or all. Whether there will be more.
pub(super) fn sum_up(all: bool) -> bool {
    let mut kinds = std::mem::take(&mut *COUNTED.lock().unwrap_or_else(PoisonError::into_inner));
    kinds.retain(|kind| !kind.sum_up(all));
    let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    counted.append(&mut kinds);
    !counted.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_written_and_the_rest_is_counted() {
        static KIND: Repeats = Repeats::new(Level::Error, "things of a test");
        for number in 0..100 {
            KIND.tell(format_args!("thing {number}"));
        }
        let counted = KIND.state.lock().unwrap().counted;
        // The second may have ended once in between.
        assert!((85..=95).contains(&counted), "{counted}");
        assert!(COUNTED.lock().unwrap().iter().any(|kind| std::ptr::eq(*kind, &raw const KIND)));
        sum_up(true);
        assert_eq!(KIND.state.lock().unwrap().counted, 0);
    }
}
