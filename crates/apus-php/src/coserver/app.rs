//! PHP answering the requests of a server that lives in a coroutine.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use apus_coro::TaskId;
use apus_edge::{Edge, Outcome as EdgeOutcome};
use apus_net::{App, Request, Responder};
use apus_zend::Callable;
use tokio::sync::Semaphore;

use super::core::HttpCore;
use crate::files;
use crate::handlers::Begun;
use crate::handling::{Calling, Handling, place_in};

/// A server's routes behind its port.
pub(super) struct CoApp {
    pub(super) core: Rc<HttpCore>,
    pub(super) calling: Rc<Calling>,
    pub(super) cancel_on_disconnect: bool,
    /// The setting `max_concurrency`, where it limits anything.
    pub(super) places: Option<Arc<Semaphore>>,
    /// What is done with requests first.
    pub(super) edge: Option<Rc<Edge>>,
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
        if self.places.is_none() {
            let drive = self.calling.begin(handler, request, &response);
            return Handling::begun(drive, response, gone);
        }
        let begin = self.begin_later(handler);
        let begin = move |response: &Responder| begin(request, response);
        Handling::queued(place_in(self.places.clone()), begin, response).until(gone)
    }

    fn begin_later(&self, handler: Callable) -> impl FnOnce(Request, &Responder) -> Begun + 'static {
        let calling = Rc::clone(&self.calling);
        // A client that left while its request waited, as all do when the server is broken off, is not answered.
        move |request, response| response.is_writable().then(|| calling.begin(handler, request, response)).flatten()
    }
}

impl CoApp {
    #[cold]
    fn unless_found(
        self: &Rc<Self>,
        found: impl Future<Output = Option<Request>> + 'static,
        response: Responder,
    ) -> Running {
        let app = Rc::clone(self);
        let begin = move |request: Request, response: &Responder| {
            let Some((handler, _)) = app.core.route(request.path()) else {
                response.fail(404);
                return None;
            };
            app.begin_later(handler)(request, response)
        };
        Running::new(&self.core, Some(files::first(found, self.places.clone(), begin, response)))
    }
}

impl App for CoApp {
    type Handling = Running;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Running {
        let request = match &self.edge {
            None => request,
            Some(edge) => match edge.answer(request, &response) {
                EdgeOutcome::NotMine(request) => request,
                EdgeOutcome::Answered => return Running::new(&self.core, None),
                EdgeOutcome::Later(found) => return self.unless_found(found, response),
            },
        };
        let Some((handler, place)) = self.core.route(request.path()) else {
            response.fail(404);
            return Running::new(&self.core, None);
        };
        let handling = self.handling(handler, request, response).standing_at(place.as_ref());
        Running::new(&self.core, Some(handling))
    }
}
