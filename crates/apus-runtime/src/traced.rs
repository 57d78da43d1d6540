//! Which request a line of the log is of.

use std::fmt::Write as _;

use crate::runtime::{Coro, State};
use crate::trace::{Trace, speaker};

/// The request that the running code is of.
pub fn current() -> Option<Trace> {
    speaker().or_else(|| State::try_existing().and_then(|state| state.current_trace()))
}

/// Adds it to a line, behind a space.
fn name_line(line: &mut String) {
    if let Some(trace) = current() {
        let _ = write!(line, " {trace}");
    }
}

impl State {
    /// The request that the running coroutine is of.
    pub(crate) fn current_trace(&self) -> Option<Trace> {
        self.engine.current()?.data().trace()
    }

    /// From now on requests may have a trace.
    pub fn trace_requests(&self) {
        self.traces.set(true);
        apus_process::log::on_line(name_line);
    }
}

impl Coro {
    /// What it does is of this request.
    pub fn trace_as(&self, trace: Trace) {
        *self.trace.borrow_mut() = Some(trace);
    }

    /// The request that it is of, where requests are traced.
    pub fn trace(&self) -> Option<Trace> {
        self.trace.borrow().clone()
    }
}
