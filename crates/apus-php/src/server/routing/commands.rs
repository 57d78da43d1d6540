//! `Swoole\Server::addCommand()` and `command()`: functions that a program has run in a process of the server.
//!
//! A request is the name, a zero byte and the data as JSON; the answer is what the function has returned.

use std::rc::Rc;

use apus_coro::Wait;
use apus_process::Role;
use apus_zend::arg::Any;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value};

use super::inbox::Origin;
use super::record::{Body, Order, Question};
use super::{Patience, Routing, current};
use crate::exception;
use crate::server::core::{Phase, ServerCore, ServerHandle};
use crate::wait::wait;

/// The kinds of processes, bits: those of `SWOOLE_SERVER_COMMAND_…`.
const MASTER: i64 = 2;
const REACTOR_THREAD: i64 = 4;
const EVENT_WORKER: i64 = 8;
const TASK_WORKER: i64 = 16;
const MANAGER: i64 = 32;

/// What is answered for a function that failed, and for one that returned no string.
const FAILED: &[u8] = br#"{"data": "failed to call function", "code": -1}"#;
const NO_STRING: &[u8] = br#"{"data": "wrong return type", "code": -2}"#;

/// A function that may be asked for, and where.
pub(in crate::server) struct Command {
    name: String,
    accepted: i64,
    callable: Callable,
}

const WHAT: &str = "Server::command()";

fn refused(text: &str) -> Raise {
    exception::throw(exception::code::server::STATE, text)
}

pub(in crate::server) fn add_command(
    core: &ServerHandle,
    name: String,
    accepted: i64,
    callable: Callable,
) -> Result<bool, Raise> {
    if core.phase.get() != Phase::New {
        return Err(refused("server is running, can't add command"));
    }
    if accepted & REACTOR_THREAD != 0 {
        return Err(refused("only support worker/task_worker process"));
    }
    let mut commands = core.commands.borrow_mut();
    let is_new = commands.iter().all(|command| command.name != name);
    if is_new {
        commands.push(Command { name, accepted, callable });
    }
    Ok(is_new)
}

/// Where a command is to run.
enum Place {
    Here,
    Worker(u16),
}

fn place(core: &ServerCore, id: i64, kind: i64) -> Result<Option<Place>, Raise> {
    let worker = core.worker("command()")?;
    let counts = worker.scoreboard.role_counts();
    let in_master = core.phase.get() == Phase::Master;
    let (first, count) = match kind {
        // The manager is the master here.
        MASTER | MANAGER => return Ok(in_master.then_some(Place::Here)),
        EVENT_WORKER => (0, counts.workers),
        TASK_WORKER => (counts.workers, counts.tasks),
        _ => return Ok(None),
    };
    let Some(at) = u16::try_from(id).ok().filter(|at| *at < count) else { return Ok(None) };
    let is_this = !in_master && matches!(worker.role, Role::Worker | Role::Task) && worker.id == first + at;
    Ok(Some(if is_this { Place::Here } else { Place::Worker(first + at) }))
}

pub(in crate::server) fn command(
    core: &ServerHandle,
    name: String,
    id: i64,
    kind: i64,
    data: Any<'_>,
    decode: bool,
) -> Result<Value, Raise> {
    if core.phase.get() == Phase::New {
        return Err(refused("server is not running"));
    }
    if u32::try_from(id).is_err() {
        return Err(refused(&format!("invalid process_id[{id}]")));
    }
    let accepted = core.commands.borrow().iter().find(|command| command.name == name).map(|command| command.accepted);
    let Some(place) = accepted.filter(|accepted| accepted & kind != 0).and(place(core, id, kind)?) else {
        return Ok(Value::bool(false));
    };
    let json = Callable::named("json_encode")?.call(&[data.value()])?;
    let View::Str(json) = json.view() else { return Ok(Value::bool(false)) };
    let request = [name.as_bytes(), b"\0", json].concat();
    let routing = current().ok_or_else(|| refused("command(): this process is ending"))?;
    let text = match place {
        Place::Here => Some(routing.run_command(&request)),
        Place::Worker(id) => routing.ask_command(id, &request)?,
    };
    let Some(text) = text else { return Ok(Value::bool(false)) };
    let text = Value::string(&text)?;
    if decode { Callable::named("json_decode")?.call(&[text, Value::bool(true)]) } else { Ok(text) }
}

impl Routing {
    /// Has a worker run it. `None`: it is not there, or did not answer in time.
    fn ask_command(self: &Rc<Self>, id: u16, request: &[u8]) -> Result<Option<Vec<u8>>, Raise> {
        let Some(slot) = self.worker.slot_of_worker(id) else { return Ok(None) };
        let order = |number| Order::Ask { number, question: Question::Command, limit: 0, name: request };
        let slots = [slot];
        let asking = self.ask(&slots, &[], order, |_| {}, |_| false);
        let answers = match self.patience(true) {
            // The exception says that it needs a coroutine.
            Patience::None => wait(&self.state, Wait::Outside(WHAT), asking)?,
            patience => self.wait_as(patience, WHAT, asking)?,
        };
        Ok(answers.and_then(|answers| answers.into_iter().next()).map(|(_, body)| body.text))
    }

    /// Runs it here, outside of coroutines.
    fn run_command(&self, request: &[u8]) -> Vec<u8> {
        let Some(at) = request.iter().position(|byte| *byte == 0) else { return FAILED.to_vec() };
        let (name, json) = (&request[..at], &request[at + 1..]);
        let known = self.core.commands.borrow();
        let found = known.iter().find(|one| one.name.as_bytes() == name).map(|one| one.callable.share());
        drop(known);
        let Some(callable) = found else { return FAILED.to_vec() };
        let answered = Value::string(json).and_then(|json| callable.call(&[self.server.share().into(), json]));
        match answered {
            Ok(value) => match value.view() {
                View::Str(text) => text.to_vec(),
                _ => NO_STRING.to_vec(),
            },
            Err(raise) => {
                self.report(raise);
                FAILED.to_vec()
            }
        }
    }

    /// Another process of the server wants it run. The inbox never waits, so a task does it.
    pub(super) fn perform_command(self: &Rc<Self>, from: Origin, number: u64, request: &[u8]) {
        if !matches!(from, Origin::Slot(_)) {
            return;
        }
        let (routing, request) = (Rc::clone(self), request.to_vec());
        self.state.spawn(async move {
            let text = routing.run_command(&request);
            routing.answer(from, number, &Body { text, ..Body::default() });
        });
    }
}
