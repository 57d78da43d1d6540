//! PHP answering the requests of one port.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_coro::{Cancel, Drive};
use apus_net::{App, ConnInfo, Gone, Request, Responder, ResponseHead};
use apus_process::Worker;
use apus_zend::engine::Thrown;
use apus_zend::object::Object;
use apus_zend::{Callable, Raise, Value};

use crate::http;
use crate::runtime::{PhpSwitch, State};

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
}

/// The handling of one request.
pub(super) struct Handling {
    drive: Option<Drive<PhpSwitch>>,
    /// Keeps the answer open until the handler is over, and answers when a fatal error ended it.
    responder: Responder,
    gone: Option<Gone>,
}

impl Future for Handling {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(drive) = &mut this.drive else { return Poll::Ready(()) };
        if Pin::new(&mut *drive).poll(cx).is_ready() {
            if drive.task().data().bailed() {
                server_error(&this.responder, 500);
            }
            this.drive = None;
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

fn server_error(responder: &Responder, status: u16) {
    if responder.is_ended() {
        return;
    }
    if responder.is_head_sent() {
        responder.abort();
        return;
    }
    let mut head = ResponseHead::new(status);
    head.push_field(b"Content-Type", b"text/plain; charset=UTF-8");
    head.has_content_type = true;
    let text: &[u8] = if status == 503 { b"503 Service Unavailable\n" } else { b"500 Internal Server Error\n" };
    // A client that is gone needs no answer.
    let _ = responder.end(&head, text);
}

impl PhpApp {
    fn start(&self, request: Request, responder: &Responder) -> Result<Option<Drive<PhpSwitch>>, Raise> {
        let request = http::Request::object(request, Rc::clone(&self.limits))?;
        let response = http::Response::object(responder.clone())?;
        let args: Vec<Value> = vec![request.into(), response.into()];
        if self.in_coroutine {
            let task = self.state.create(self.on_request.share(), args, None)?;
            return Ok(Some(self.state.engine.drive(&task)));
        }
        self.on_request.call(&args)?;
        Ok(None)
    }

    /// The handler could not be started, or failed outside a coroutine.
    fn failed(&self, raise: Raise, responder: &Responder) {
        if raise == Raise::Bailed {
            self.state.faulted.set(true);
            self.state.engine.interrupt();
        }
        let thrown = Thrown::take();
        let busy = thrown.as_ref().is_some_and(|t| t.is(crate::exception::COROUTINE.get()));
        server_error(responder, if busy { 503 } else { 500 });
        if let Some(thrown) = thrown {
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
        let drive = match self.start(request, &response) {
            Ok(drive) => drive,
            Err(raise) => {
                self.failed(raise, &response);
                None
            }
        };
        let gone = (self.cancel_on_disconnect && drive.is_some()).then(|| response.gone());
        Handling { drive, responder: response, gone }
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on_connect.as_ref(), conn);
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on_close.as_ref(), conn);
    }
}
