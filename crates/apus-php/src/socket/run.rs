//! Runs operations of sockets: at once when they can be, else by waiting in the coroutine, or outside coroutines in the
//! system.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use apus_coro::{TaskId, Wait};
use apus_zend::Raise;

use super::core::Sock;
use super::descriptor::{Descriptor, Pace, Way};
use super::direction::Claim;
use super::fault::{Fault, Outcome};
use crate::holder;
use crate::runtime::State;
use crate::swoole::{self, There};
use crate::wait::{Deadline, Timeout, expect_suspendable, wait};

/// How many operations in a row a thread does at once before one lets the others run: a peer that always has data must
/// not keep its coroutine running for ever.
const BUDGET: u32 = 64;

thread_local! {
    static AT_ONCE: Cell<u32> = const { Cell::new(0) };
}

/// Which of a socket's limits of time an operation has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    Connect,
    Read,
    Write,
}

/// One kind of operation: its name in messages and in traces of waiting coroutines, and what it uses.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) way: Way,
    pub(super) span: Span,
}

/// The running code: a coroutine of this thread's loop, or code outside coroutines.
pub(super) enum Caller {
    Coroutine(Rc<State>, TaskId),
    Outside,
}

impl Caller {
    /// Who calls. `blocking`: code outside coroutines may wait, too, and blocks its process.
    pub(super) fn find(name: &'static str, blocking: bool) -> Result<Self, Raise> {
        let state = State::existing();
        if let Some(state) = state {
            let id = state.engine.current_id();
            if id != -1 {
                return Ok(Self::Coroutine(state, id));
            }
        }
        if !blocking {
            expect_suspendable(&*State::get()?, name)?;
        }
        Ok(Self::Outside)
    }

    /// Its coroutine's id; -1 for none.
    pub(super) fn id(&self) -> TaskId {
        match self {
            Self::Coroutine(_, id) => *id,
            Self::Outside => -1,
        }
    }
}

/// How long an operation may take: as given, or for 0 the socket's default. `None`: as long as it takes.
fn time_limit(sock: &Sock, caller: &Caller, span: Span, given: Timeout) -> Option<Duration> {
    let limits = sock.limits.get();
    let own = match span {
        Span::Connect => limits.connect,
        Span::Read => limits.read,
        Span::Write => limits.write,
    };
    given.limit_or(|| own.map_or_else(|| usual_limit(caller, span), Timeout::limit))
}

/// What the engine's settings say.
fn usual_limit(caller: &Caller, span: Span) -> Option<Duration> {
    let of = |settings: &apus_options::Settings| match span {
        Span::Connect => settings.socket_connect_timeout,
        Span::Read => settings.socket_read_timeout.or(settings.socket_timeout),
        Span::Write => settings.socket_write_timeout.or(settings.socket_timeout),
    };
    match caller {
        Caller::Coroutine(state, _) => of(&state.settings.borrow()).get(),
        Caller::Outside => of(&apus_options::Settings::default()).get(),
    }
}

/// A caller that uses one direction of a socket until it is done.
pub(super) struct Session<'a> {
    sock: &'a Sock,
    caller: Caller,
    kind: Kind,
    deadline: Deadline,
    claim: Claim,
}

impl<'a> Session<'a> {
    /// Takes the direction, from now until the limit of time. Throws when another coroutine has it, or when nobody may
    /// wait here.
    pub(super) fn begin(sock: &'a Sock, caller: Caller, kind: Kind, timeout: Timeout) -> Result<Self, Raise> {
        let direction = sock.direction(kind.way);
        let claim = direction.claim(caller.id(), kind.name).map_err(|raise| {
            let doing = if kind.way == Way::Read { "reading" } else { "writing" };
            let text = format!(
                "Socket#{} has already been bound to another coroutine#{}, {doing} of the same socket in coroutine#{} at the \
                 same time is not allowed",
                sock.fd(),
                direction.owner(),
                caller.id(),
            );
            if let Some(task) = State::existing().and_then(|state| state.engine.find(direction.owner())) {
                holder::note(&text, &task);
            }
            swoole::there(raise, There::Error(swoole::error_class(), text))
        })?;
        let deadline = Deadline::after(time_limit(sock, &caller, kind.span, timeout));
        Ok(Self { sock, caller, kind, deadline, claim })
    }

    /// The coroutine that it belongs to; -1 for none.
    pub(super) fn caller_id(&self) -> TaskId {
        self.caller.id()
    }

    /// How its operations wait.
    pub(super) fn pace(&self) -> Pace {
        match &self.caller {
            Caller::Coroutine(state, _) => Pace::Loop(Rc::as_ptr(state).addr()),
            Caller::Outside => Pace::Block(self.deadline),
        }
    }

    /// Runs an operation that needs nothing but its socket; it is first tried at once.
    pub(super) fn run<T>(&self, operation: impl Future<Output = Outcome<T>>) -> Result<Outcome<T>, Raise> {
        self.drive(true, operation)
    }

    /// Runs an operation that needs the runtime (threads, time), or more of the stack than a coroutine should give:
    /// never on the coroutine's own.
    pub(super) fn run_apart<T>(&self, operation: impl Future<Output = Outcome<T>>) -> Result<Outcome<T>, Raise> {
        self.drive(false, operation)
    }

    fn drive<T>(&self, at_once: bool, operation: impl Future<Output = Outcome<T>>) -> Result<Outcome<T>, Raise> {
        let descriptor = match self.sock.descriptor() {
            Ok(descriptor) => descriptor,
            Err(closed) => return Ok(Err(closed)),
        };
        // A stop that came between two waits of one method.
        if !self.sock.direction(self.kind.way).is_held_by(&self.claim) {
            return Ok(Err(Fault::errno(libc::ECANCELED)));
        }
        let mut operation = pin!(operation);
        let Caller::Coroutine(state, _) = &self.caller else {
            // A coroutine that waits on the other direction goes on waiting in the loop, so the pace is put back.
            let previous = descriptor.set_pace(self.pace());
            let outcome = self.block_on(&descriptor, operation);
            descriptor.set_pace(previous);
            return Ok(outcome);
        };
        if at_once {
            self.give_way(state)?;
            // Without the loop, which need not run yet: a coroutine's first steps are those of the code that started
            // it.
            let polled = descriptor.at_once(|| operation.as_mut().poll(&mut Context::from_waker(Waker::noop())));
            if let Poll::Ready(outcome) = polled {
                return Ok(outcome);
            }
        }
        descriptor.set_pace(self.pace());
        // Closing must give up the number at once, so nobody else keeps it while it waits.
        drop(descriptor);
        AT_ONCE.set(0);
        let attended = self.claim.attend(self.deadline, operation);
        let waited = wait(state, Wait::Outside(self.kind.name), attended);
        self.claim.rest();
        Ok(waited?.unwrap_or_else(|| Err(Fault::errno(libc::ECANCELED))))
    }

    /// Runs an operation to its end, blocking the process.
    fn block_on<T>(
        &self,
        descriptor: &Descriptor,
        mut operation: Pin<&mut impl Future<Output = Outcome<T>>>,
    ) -> Outcome<T> {
        loop {
            match operation.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => descriptor.block(self.deadline)?,
            }
        }
    }

    fn give_way(&self, state: &State) -> Result<(), Raise> {
        let done = AT_ONCE.get() + 1;
        AT_ONCE.set(done % BUDGET);
        if done == BUDGET && apus_zend::engine::can_switch() {
            wait(state, Wait::Outside(self.kind.name), tokio::task::yield_now())?;
        }
        Ok(())
    }
}
