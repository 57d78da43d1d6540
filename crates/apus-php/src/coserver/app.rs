//! PHP answering the requests of a server that lives in a coroutine.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use apus_coro::TaskId;
use apus_net::{App, Request, Responder};
use apus_zend::Callable;
use tokio::sync::Semaphore;

use super::core::HttpCore;
use crate::handling::{Calling, Handling};

/// A server's routes behind its port.
pub(super) struct CoApp {
    pub(super) core: Rc<HttpCore>,
    pub(super) calling: Rc<Calling>,
    pub(super) cancel_on_disconnect: bool,
    /// The setting `max_concurrency`, where it limits anything.
    pub(super) places: Option<Arc<Semaphore>>,
}

/// A request in the hands of a handler; the server knows of it until it is dropped.
pub(super) struct Running {
    core: Rc<HttpCore>,
    /// None where no handler is for the path.
    handling: Option<Handling>,
    id: Option<TaskId>,
}

impl Running {
    fn new(core: &Rc<HttpCore>, handling: Option<Handling>) -> Self {
        core.handlers.enter();
        let mut this = Self { core: Rc::clone(core), handling, id: None };
        this.note();
        this
    }

    /// Remembers the coroutine as soon as there is one.
    fn note(&mut self) {
        if self.id.is_none()
            && let Some(id) = self.handling.as_ref().and_then(Handling::id)
        {
            self.id = Some(id);
            self.core.handlers.runs(id);
        }
    }
}

impl Future for Running {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(handling) = &mut this.handling else { return Poll::Ready(()) };
        let polled = Pin::new(handling).poll(cx);
        this.note();
        if polled.is_ready() {
            this.handling = None;
        }
        polled
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.handling.take());
        self.core.handlers.leave(self.id);
    }
}

impl CoApp {
    fn handling(&self, handler: Callable, request: Request, response: Responder) -> Handling {
        let gone = self.cancel_on_disconnect.then(|| response.gone());
        let Some(places) = &self.places else {
            let drive = self.calling.begin(handler, request, &response);
            return Handling::begun(drive, response, gone);
        };
        let calling = Rc::clone(&self.calling);
        // A client that left while its request waited, as all do when the server is broken off, is not answered.
        let begin = move |response: &Responder| {
            response.is_writable().then(|| calling.begin(handler, request, response)).flatten()
        };
        Handling::queued(places, begin, response, gone)
    }
}

impl App for CoApp {
    type Handling = Running;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Running {
        let Some((handler, place)) = self.core.route(request.path()) else {
            response.fail(404);
            return Running::new(&self.core, None);
        };
        let handling = self.handling(handler, request, response).standing_at(place.as_ref());
        Running::new(&self.core, Some(handling))
    }
}
