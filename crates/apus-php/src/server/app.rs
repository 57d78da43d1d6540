//! PHP answering the requests of one port.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use apus_coro::{Cancel, Drive};
use apus_net::{App, ConnInfo, Gone, Request, Responder};
use apus_process::Worker;
use apus_zend::engine::{Thrown, ThrownKind};
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value};

use crate::http;
use crate::runtime::{PhpSwitch, State};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// PHP behind one port.
pub(super) struct PhpApp {
    pub(super) state: Rc<State>,
    pub(super) worker: Rc<Worker>,
    pub(super) server: Object,
    pub(super) on_request: Callable,
    pub(super) on_connect: Option<Callable>,
    pub(super) on_close: Option<Callable>,
    pub(super) limits: Rc<http::Limits>,
    pub(super) in_coroutine: bool,
    pub(super) cancel_on_disconnect: bool,
    /// The setting `max_concurrency`, where it limits anything.
    pub(super) slots: Option<Arc<Semaphore>>,
}

/// A place among the requests that are handled at once, once there is one. Fair, and given up when dropped.
type Place = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>>>>;

/// A request that waits for a place.
struct Queued {
    app: Rc<PhpApp>,
    request: Request,
    place: Place,
}

/// The handling of one request.
pub(super) struct Handling {
    queued: Option<Box<Queued>>,
    /// Its place, where they are limited.
    place: Option<OwnedSemaphorePermit>,
    drive: Option<Drive<PhpSwitch>>,
    /// Keeps the answer open until the handler is over, and answers when a fatal error ended it.
    responder: Responder,
    gone: Option<Gone>,
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
            if drive.task().data().bailed() {
                this.responder.fail(500);
            }
            this.drive = None;
            this.place = None;
            return Poll::Ready(());
        }
        let left = this.gone.as_mut().is_some_and(|gone| Pin::new(gone).poll(cx).is_ready());
        if left && !this.responder.is_ended() {
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

impl Handling {
    /// Starts the handler once there is a place for it.
    fn poll_queue(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(queued) = &mut self.queued else { return Poll::Ready(()) };
        let Poll::Ready(place) = queued.place.as_mut().poll(cx) else { return Poll::Pending };
        // The semaphore is never closed, so this is always a place.
        self.place = place.ok();
        if let Some(queued) = self.queued.take() {
            self.drive = queued.app.begin(queued.request, &self.responder);
        }
        Poll::Ready(())
    }
}

impl PhpApp {
    fn start(&self, request: Request, responder: &Responder) -> Result<Option<Drive<PhpSwitch>>, Raise> {
        let request = http::Request::object(request, Rc::clone(&self.limits))?;
        let response = http::Response::object(responder.clone())?;
        let args: Vec<Value> = vec![request.into(), response.into()];
        if self.in_coroutine {
            let task = self.state.create_for(true, self.on_request.share(), args, None)?;
            return Ok(Some(self.state.engine.drive(&task)));
        }
        self.on_request.call(&args)?;
        Ok(None)
    }

    fn begin(&self, request: Request, responder: &Responder) -> Option<Drive<PhpSwitch>> {
        self.start(request, responder).unwrap_or_else(|raise| {
            self.failed(raise, responder);
            None
        })
    }

    /// The handler could not be started, or failed outside a coroutine.
    fn failed(&self, raise: Raise, responder: &Responder) {
        let thrown = Thrown::take();
        if raise == Raise::Bailed || thrown.as_ref().is_some_and(|t| t.kind() == ThrownKind::Fatal) {
            self.state.faulted.set(true);
            self.state.engine.interrupt();
        }
        let busy = thrown.as_ref().is_some_and(|t| t.is(crate::exception::COROUTINE.get()));
        responder.fail(if busy { 503 } else { 500 });
        if let Some(thrown) = thrown.filter(|t| !matches!(t.kind(), ThrownKind::Exit | ThrownKind::Fatal)) {
            self.state.uncaught(thrown);
        }
    }

    fn notify(&self, callable: Option<&Callable>, conn: &ConnInfo) {
        let Some(callable) = callable else { return };
        let args = vec![self.server.share().into(), Value::int(conn.id()), Value::int(i64::from(self.worker.id))];
        if self.state.go(callable.share(), args, None) == Err(Raise::Thrown)
            && let Some(thrown) = Thrown::take()
        {
            self.state.uncaught(thrown);
        }
    }
}

impl App for PhpApp {
    type Handling = Handling;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        let gone = self.cancel_on_disconnect.then(|| response.gone());
        if let Some(slots) = &self.slots {
            let place = Box::pin(Arc::clone(slots).acquire_owned());
            let queued = Some(Box::new(Queued { app: Rc::clone(self), request, place }));
            return Handling { queued, place: None, drive: None, responder: response, gone };
        }
        let drive = self.begin(request, &response);
        Handling { queued: None, place: None, drive, responder: response, gone }
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on_connect.as_ref(), conn);
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on_close.as_ref(), conn);
    }
}
