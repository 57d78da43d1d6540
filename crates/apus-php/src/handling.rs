//! One request in the hands of PHP: its place among those that are handled at once, its coroutine, its client's
//! leaving.
//!
//! Who answers a port decides what is called; how a handler is begun, driven, broken off and reported is the same for
//! all.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use apus_coro::{Cancel, Drive, TaskId};
use apus_net::{Gone, Request, Responder};
use apus_process::Counter;
use apus_zend::engine::Thrown;
use apus_zend::{Callable, Raise, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::handlers::{Begun, Handlers};
use crate::runtime::{Coro, Outcome, PhpSwitch, Receive, State};
use crate::{http, mistakes, swoole, trace};

/// How the handlers of a port's requests are called.
pub(crate) struct Calling {
    pub(crate) handlers: Handlers,
    pub(crate) limits: Rc<http::Limits>,
    /// Whether the superglobals are those of the request in its coroutine.
    pub(crate) superglobals: bool,
    /// Receives how each handler ended; without it, what is not caught is dealt with as in any coroutine.
    pub(crate) outcome: Option<Receive>,
}

impl Calling {
    /// Makes the coroutine that calls `handler` with a request and its response. It runs when it is driven.
    pub(crate) fn begin(&self, handler: Callable, request: Request, responder: &Responder) -> Begun {
        self.start(handler, request, responder).unwrap_or_else(|raise| {
            self.failed(raise, responder);
            None
        })
    }

    fn start(&self, handler: Callable, request: Request, responder: &Responder) -> Result<Begun, Raise> {
        let second = self.limits.second;
        let trace = self.limits.traced.then(|| Rc::clone(request.trace()));
        let request = http::Request::object(request, Rc::clone(&self.limits))?;
        let response = http::Response::object(responder.clone(), second)?;
        let globals = if self.superglobals { Some(http::superglobals(&request)?) } else { None };
        let args: [Value; 2] = [request.into(), response.into()];
        if !self.handlers.in_coroutine {
            let _speaking = trace::speak_for(trace.map(|trace| trace as Rc<dyn Display>));
            self.call(&handler, args, responder);
            return Ok(None);
        }
        let begun = self.handlers.begin(handler, args, self.outcome.clone())?;
        if let Some(drive) = &begun {
            let coro = drive.task().data();
            coro.is_to_answer();
            if let Some(trace) = trace {
                coro.trace_as(trace);
            }
            if let Some(globals) = globals {
                coro.fiber().give(globals);
            }
        }
        Ok(begun)
    }

    /// Runs a handler outside coroutines.
    #[cold]
    fn call(&self, handler: &Callable, args: [Value; 2], responder: &Responder) {
        if !self.handlers.call(handler, args, self.outcome.clone()) {
            responder.fail(500);
        } else if responder.is_forgotten() {
            unanswered(handler.place().map(|(file, line)| format!("{file}:{line}")).as_deref());
        }
    }

    /// The handler could not be started.
    fn failed(&self, raise: Raise, responder: &Responder) {
        let Err(raise) = self.told_there(raise) else { return responder.fail(503) };
        let thrown = self.handlers.state.failed(raise);
        let busy = thrown.as_ref().is_some_and(|t| t.is(crate::exception::COROUTINE.get()));
        responder.fail(if busy { 503 } else { 500 });
        let Some(thrown) = thrown else { return };
        match &self.outcome {
            Some(receive) => receive(Outcome::Threw(thrown)),
            None => self.handlers.state.uncaught(thrown),
        }
    }
}

/// What is said there where a callback finds no place among the coroutines.
const NOT_BEGUN: &str = "Swoole\\Http\\Server->onRequest handler error";

impl Calling {
    /// Code written for Swoole is told by warnings that there are too many coroutines. `Err`: it is something else.
    #[cold]
    fn told_there(&self, raise: Raise) -> Result<(), Raise> {
        if !self.limits.second || raise != Raise::Thrown {
            return Err(raise);
        }
        let Some(thrown) = Thrown::take() else { return Err(raise) };
        let too_many = thrown.is(crate::exception::COROUTINE.get());
        let raise = thrown.rethrow();
        if !too_many {
            return Err(raise);
        }
        swoole::warning(&swoole::told_there(raise)?)?;
        swoole::warning(NOT_BEGUN)
    }
}

/// A place among the requests that are handled at once, once there is one.
pub(crate) async fn place_in(places: Option<Arc<Semaphore>>) -> Admission {
    match places {
        // The semaphore is never closed, so this is always a place.
        Some(places) => places.acquire_owned().await.map_or(Admission::Free, Admission::Place),
        None => Admission::Free,
    }
}

/// What comes before a handler.
pub(crate) enum Admission {
    /// It may begin.
    Free,
    /// The same, with a place among those that are handled at once. Fair, and given up when dropped.
    Place(OwnedSemaphorePermit),
    /// Somebody else has answered.
    Answered,
}

/// A request whose handler cannot be begun yet.
struct Queued {
    admission: Pin<Box<dyn Future<Output = Admission>>>,
    begin: Box<dyn FnOnce(&Responder) -> Begun>,
}

/// The handling of one request.
pub(crate) struct Handling {
    queued: Option<Box<Queued>>,
    /// Its place, where they are limited.
    place: Option<OwnedSemaphorePermit>,
    drive: Begun,
    /// Keeps the answer open until the handler is over, and answers when a fatal error ended it.
    responder: Option<Responder>,
    /// Breaks the handler off when its client leaves.
    gone: Option<Gone>,
    /// Where the handler stands, when that is known.
    place_of: Option<Rc<str>>,
    /// Of an event: it counts among those at work.
    _counted: Option<Counted>,
}

/// One more among those at work, until it is dropped.
pub(crate) struct Counted(&'static Counter);

impl Counted {
    pub(crate) fn among(counter: &'static Counter) -> Self {
        counter.add(1);
        Self(counter)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.sub(1);
    }
}

impl Handling {
    /// Of a handler that has been begun.
    pub(crate) fn begun(drive: Begun, responder: Responder, gone: Option<Gone>) -> Self {
        Self { queued: None, place: None, drive, responder: Some(responder), gone, place_of: None, _counted: None }
    }

    /// Of an event that nobody waits for an answer to.
    pub(crate) fn event(drive: Drive<PhpSwitch>, counted: Counted) -> Self {
        let counted = Some(counted);
        Self {
            queued: None,
            place: None,
            drive: Some(drive),
            responder: None,
            gone: None,
            place_of: None,
            _counted: counted,
        }
    }

    /// Of work that is over when that future is.
    pub(crate) fn elsewhere(work: impl Future<Output = ()> + 'static) -> Self {
        let admission = async move {
            work.await;
            Admission::Answered
        };
        let queued = Some(Box::new(Queued { admission: Box::pin(admission), begin: Box::new(|_| None) }));
        Self { queued, place: None, drive: None, responder: None, gone: None, place_of: None, _counted: None }
    }

    /// Of a handler that is begun once it is admitted.
    pub(crate) fn queued(
        admission: impl Future<Output = Admission> + 'static,
        begin: impl FnOnce(&Responder) -> Begun + 'static,
        responder: Responder,
    ) -> Self {
        let queued = Some(Box::new(Queued { admission: Box::pin(admission), begin: Box::new(begin) }));
        Self {
            queued,
            place: None,
            drive: None,
            responder: Some(responder),
            gone: None,
            place_of: None,
            _counted: None,
        }
    }

    /// The same, broken off when the client leaves.
    pub(crate) fn until(self, gone: Option<Gone>) -> Self {
        Self { gone, ..self }
    }

    /// The same, with the place of its handler for the log.
    pub(crate) fn standing_at(self, place: Option<&Rc<str>>) -> Self {
        Self { place_of: place.map(Rc::clone), ..self }
    }

    /// The coroutine, while there is one.
    pub(crate) fn id(&self) -> Option<TaskId> {
        self.drive.as_ref().map(|drive| drive.task().id())
    }

    /// Starts the handler once it may begin.
    fn poll_queue(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(queued) = &mut self.queued else { return Poll::Ready(()) };
        let Poll::Ready(admission) = queued.admission.as_mut().poll(cx) else { return Poll::Pending };
        let Some(queued) = self.queued.take() else { return Poll::Ready(()) };
        match admission {
            Admission::Answered => return Poll::Ready(()),
            Admission::Place(place) => self.place = Some(place),
            Admission::Free => {}
        }
        if let Some(responder) = &self.responder {
            self.drive = (queued.begin)(responder);
        }
        Poll::Ready(())
    }
}

/// A handler has ended, and with it the last chance of an answer.
#[cold]
fn forgotten(coro: &Coro, place: Option<&str>) {
    let of_route = coro.place();
    let place = of_route.as_deref().or(place);
    if coro.answers() && coro.ended_silently() {
        let _speaking = trace::speak_for(coro.trace());
        unanswered(place);
    }
}

fn unanswered(place: Option<&str>) {
    // Code written for Swoole knows that nothing is said of it there.
    if swoole::is_on() {
        return;
    }
    mistakes::UNANSWERED.tell(format_args!(
        "the handler of a request ended without Response::end(), and the client got 500: what it returns or prints is not sent ({})",
        place.unwrap_or("a handler that is not written in PHP")
    ));
}

impl Future for Handling {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.poll_queue(cx).is_pending() {
            return Poll::Pending;
        }
        let Some(drive) = &mut this.drive else { return Poll::Ready(()) };
        if Pin::new(&mut *drive).poll(cx).is_ready() {
            if let Some(responder) = &this.responder {
                if drive.task().data().bailed() {
                    responder.fail(500);
                } else if responder.is_forgotten() {
                    forgotten(drive.task().data(), this.place_of.as_deref());
                }
            }
            this.drive = None;
            this.place = None;
            return Poll::Ready(());
        }
        let left = this.gone.as_mut().is_some_and(|gone| Pin::new(gone).poll(cx).is_ready());
        if left && this.responder.as_ref().is_some_and(|responder| !responder.is_ended()) {
            this.gone = None;
            let id = drive.task().id();
            if let Some(state) = State::existing() {
                // Wakes this very future, which then goes on with the cancellation.
                state.engine.cancel(id, Cancel::Throw);
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}
