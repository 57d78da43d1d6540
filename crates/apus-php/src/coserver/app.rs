//! PHP answering the requests of a server that lives in a coroutine.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use apus_coro::TaskId;
use apus_edge::{Outcome as FileOutcome, Statics};
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
    /// Files that are looked for first.
    pub(super) files: Option<Rc<Statics>>,
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
        let begin = self.begin_later(handler, request);
        Handling::queued(place_in(self.places.clone()), begin, response).until(gone)
    }

    fn begin_later(&self, handler: Callable, request: Request) -> impl FnOnce(&Responder) -> Begun + 'static {
        let calling = Rc::clone(&self.calling);
        // A client that left while its request waited, as all do when the server is broken off, is not answered.
        move |response| response.is_writable().then(|| calling.begin(handler, request, response)).flatten()
    }
}

impl CoApp {
    #[cold]
    fn unless_found(
        &self,
        found: impl Future<Output = bool> + 'static,
        route: Option<(Callable, Option<Rc<str>>)>,
        request: Request,
        response: Responder,
    ) -> Running {
        let (handler, place) = route.unzip();
        let begin = handler.map(|handler| self.begin_later(handler, request));
        let begin = move |response: &Responder| {
            if begin.is_none() {
                response.fail(404);
            }
            begin.and_then(|begin| begin(response))
        };
        let handling = files::first(found, self.places.clone(), begin, response);
        Running::new(&self.core, Some(handling.standing_at(place.flatten().as_ref())))
    }
}

impl App for CoApp {
    type Handling = Running;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Running {
        let files = self.files.as_ref().map_or(FileOutcome::NotMine, |files| files.answer(&request, &response));
        if matches!(files, FileOutcome::Answered) {
            return Running::new(&self.core, None);
        }
        let route = self.core.route(request.path());
        if let FileOutcome::Later(found) = files {
            return self.unless_found(found, route, request, response);
        }
        let Some((handler, place)) = route else {
            response.fail(404);
            return Running::new(&self.core, None);
        };
        let handling = self.handling(handler, request, response).standing_at(place.as_ref());
        Running::new(&self.core, Some(handling))
    }
}
