//! Values that programs of workers send to each other: `sendMessage()` and the event `pipemessage`.

use std::rc::Rc;

use apus_process::log;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};

use super::super::events::Event;
use super::Routing;
use super::record::Order;
use super::remote::Forwarded;
use crate::runtime::State;
use crate::server::event_object;

/// What is kept for a program whose `workerstart` is not over; more is given to it all the same.
const MAX_KEPT: usize = 16 << 20;

/// A value that came.
pub(super) struct PipeMessage {
    worker: u16,
    serialized: bool,
    value: Vec<u8>,
}

fn php_function(name: &str) -> Result<Callable, Raise> {
    Callable::named(name)
}

impl Routing {
    /// Sends a value to a worker, which may be this one.
    pub(super) fn send_pipe_message(self: &Rc<Self>, value: &Value, to: u16) -> Result<Forwarded, Raise> {
        let serialized = !matches!(value.view(), View::Str(_));
        let packed = if serialized { php_function("serialize")?.call(&[value.share()])? } else { value.share() };
        let View::Str(bytes) = packed.view() else { return Err(engine::throw_error("serialize() gave no string")) };
        let Some(slot) = self.worker.slot_of_worker(to) else { return Ok(Forwarded::NotExist) };
        let order = Order::Pipe { worker: self.worker.id, serialized, value: bytes };
        self.post("Server::sendMessage()", slot, &order, true)
    }

    pub(super) fn keep_pipe_message(&self, worker: u16, serialized: bool, value: &[u8]) {
        self.pipe_bytes.set(self.pipe_bytes.get() + value.len());
        self.pipes.borrow_mut().push(PipeMessage { worker, serialized, value: value.to_vec() });
    }

    /// Gives the program what came for it.
    pub(super) fn give_pipe_messages(self: &Rc<Self>) {
        let kept = !self.ready.get() && self.pipe_bytes.get() < MAX_KEPT;
        if kept || self.pipes.borrow().is_empty() {
            return;
        }
        self.pipe_bytes.set(0);
        let pipe_messages = self.pipes.take();
        let Some(callable) = self.core.callbacks.get(Event::PipeMessage) else {
            if !self.unwanted_told.replace(true) {
                log::warning(format_args!(
                    "worker {}: messages of other workers are dropped: there is no callback for pipemessage",
                    self.worker.id
                ));
            }
            return;
        };
        for pipe_message in pipe_messages {
            if let Err(raise) = self.give_pipe_message(&callable, &pipe_message) {
                self.report(raise);
            }
        }
    }

    fn give_pipe_message(&self, callable: &Callable, pipe_message: &PipeMessage) -> Result<(), Raise> {
        let value = Value::string(&pipe_message.value)?;
        let value = if pipe_message.serialized { php_function("unserialize")?.call(&[value])? } else { value };
        let from = i64::from(pipe_message.worker);
        if self.core.event_objects.get() {
            let message = event_object::pipe_message(from, value)?;
            return self.handlers.launch(callable.share(), [self.server.share().into(), message], None);
        }
        let args = [self.server.share().into(), Value::int(from), value];
        self.handlers.launch(callable.share(), args, None)
    }

    /// What PHP code threw that was called from the loop.
    pub(super) fn report(&self, raise: Raise) {
        self.state.report(raise);
        State::catch_stray();
    }

    /// The close event of connections that went down with another process.
    pub(super) fn report_orphans(&self) {
        let orphans = self.worker.orphans.take();
        let Some(callable) = self.core.callbacks.get(Event::Close) else { return };
        for fd in orphans {
            let args = [self.server.share().into(), Value::int(fd), Value::int(i64::from(self.worker.id))];
            self.handlers.notify(callable.share(), args);
        }
    }
}
