//! How the callbacks of a program are called: whatever it is that they are told of, a request, a message, a datagram,
//! a connection, a task's result or the beginning of a worker.
//!
//! Each runs in a coroutine of its own, or without `enable_coroutine` outside of all, at once and to its end. What it
//! throws, a fatal error and `exit()` come to the same either way.

use std::rc::Rc;

use apus_coro::Drive;
use apus_zend::{Callable, Raise, Value};

use crate::failed;
use crate::runtime::{PhpSwitch, Receive, State};

/// What drives a handler that has been begun; none for one that is over, or could not be begun.
pub(crate) type Begun = Option<Drive<PhpSwitch>>;

/// The callbacks of one port, worker or pool.
pub(crate) struct Handlers {
    pub(crate) state: Rc<State>,
    /// The setting `enable_coroutine`.
    pub(crate) in_coroutine: bool,
    /// Whether a worker that leaves waits for them.
    awaited: bool,
}

impl Handlers {
    pub(crate) fn new(state: &Rc<State>, in_coroutine: bool) -> Self {
        Self { state: Rc::clone(state), in_coroutine, awaited: true }
    }

    /// The same for what goes on beside the requests, and may do so for ever: a worker that leaves does not wait.
    pub(crate) fn beside_requests(self) -> Self {
        Self { awaited: false, ..self }
    }

    /// Begins a handler whose end matters to the caller, who drives it. Outside coroutines it is over then. `Err`: it
    /// could not be begun.
    #[inline]
    pub(crate) fn begin<A: IntoIterator<Item = Value>>(
        &self,
        handler: Callable,
        args: A,
        outcome: Option<Receive>,
    ) -> Result<Begun, Raise> {
        if self.in_coroutine {
            let task = self.state.create_for(self.awaited, handler, args, outcome)?;
            return Ok(Some(self.state.engine.drive(&task)));
        }
        self.call(&handler, args, outcome);
        Ok(None)
    }

    /// Begins a handler whose end matters to nobody: it runs until it waits for the first time. `Err`: it could not be
    /// begun.
    pub(crate) fn launch(
        &self,
        handler: Callable,
        args: impl IntoIterator<Item = Value>,
        outcome: Option<Receive>,
    ) -> Result<(), Raise> {
        if self.in_coroutine {
            return self.state.go_for(self.awaited, handler, args, outcome).map(drop);
        }
        self.call(&handler, args, outcome);
        Ok(())
    }

    /// The same, where it is reported that it could not be begun.
    pub(crate) fn notify(&self, handler: Callable, args: impl IntoIterator<Item = Value>) {
        if let Err(raise) = self.launch(handler, args, None) {
            self.state.report(raise);
        }
    }

    /// Runs a handler to its end, outside of all coroutines. Whether it returned.
    #[cold]
    pub(crate) fn call(
        &self,
        handler: &Callable,
        args: impl IntoIterator<Item = Value>,
        outcome: Option<Receive>,
    ) -> bool {
        let args: Vec<Value> = args.into_iter().collect();
        let result = handler.call(&args);
        let returned = result.is_ok();
        if returned {
            drop(args);
        } else {
            failed::give_back(|| drop(args));
        }
        self.state.settle_call(result, outcome);
        State::catch_stray();
        returned
    }
}
