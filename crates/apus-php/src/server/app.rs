//! PHP answering the requests of one port.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use apus_coro::{Cancel, Drive};
use apus_net::{App, ConnInfo, Gone, Request, Responder, ResponseHead};
use apus_process::Worker;
use apus_zend::engine::{self, Thrown, ThrownKind};
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
    /// The setting `max_concurrency`, where it limits anything.
    pub(super) slots: Option<Rc<Slots>>,
}

/// Places for requests that are handled at once.
pub(super) struct Slots {
    free: Cell<u32>,
    waiting: RefCell<VecDeque<Waker>>,
}

impl Slots {
    /// For at most `most` at once; none for no limit.
    pub(super) fn new(most: u32) -> Option<Rc<Self>> {
        (most > 0).then(|| Rc::new(Self { free: Cell::new(most), waiting: RefCell::default() }))
    }

    fn poll_take(self: &Rc<Self>, cx: &mut Context<'_>) -> Poll<Slot> {
        if self.free.get() == 0 {
            self.waiting.borrow_mut().push_back(cx.waker().clone());
            return Poll::Pending;
        }
        self.free.set(self.free.get() - 1);
        Poll::Ready(Slot(Rc::clone(self)))
    }
}

/// One place, given back when dropped.
struct Slot(Rc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.free.set(self.0.free.get() + 1);
        if let Some(waker) = self.0.waiting.borrow_mut().pop_front() {
            waker.wake();
        }
    }
}

/// The handling of one request.
pub(super) struct Handling {
    /// A request that waits for a place.
    queued: Option<Box<(Rc<PhpApp>, Request)>>,
    slot: Option<Slot>,
    drive: Option<Drive<PhpSwitch>>,
    /// Keeps the answer open until the handler is over, and answers when a fatal error ended it.
    responder: Responder,
    gone: Option<Gone>,
}

impl Future for Handling {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.queued.is_some() && this.poll_queue(cx).is_pending() {
            return Poll::Pending;
        }
        let Some(drive) = &mut this.drive else { return Poll::Ready(()) };
        if Pin::new(&mut *drive).poll(cx).is_ready() {
            if drive.task().data().bailed() {
                server_error(&this.responder, 500);
            }
            this.drive = None;
            this.slot = None;
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
        let Some(queued) = self.queued.take() else { return Poll::Ready(()) };
        let taken = queued.0.slots.as_ref().map_or(Poll::Ready(None), |slots| slots.poll_take(cx).map(Some));
        match taken {
            Poll::Pending => {
                self.queued = Some(queued);
                Poll::Pending
            }
            Poll::Ready(slot) => {
                self.slot = slot;
                let (app, request) = *queued;
                self.drive = app.begin(request, &self.responder);
                Poll::Ready(())
            }
        }
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
        let exited = thrown.as_ref().is_some_and(|t| t.kind() == ThrownKind::Exit);
        // Some versions of PHP unwind after the memory limit as after exit(), having reported the fatal error.
        if raise == Raise::Bailed || (exited && engine::after_fatal()) {
            self.state.faulted.set(true);
            self.state.engine.interrupt();
        }
        let busy = thrown.as_ref().is_some_and(|t| t.is(crate::exception::COROUTINE.get()));
        server_error(responder, if busy { 503 } else { 500 });
        if let Some(thrown) = thrown.filter(|_| !exited) {
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
        if self.slots.is_some() {
            let queued = Some(Box::new((Rc::clone(self), request)));
            return Handling { queued, slot: None, drive: None, responder: response, gone };
        }
        let drive = self.begin(request, &response);
        Handling { queued: None, slot: None, drive, responder: response, gone }
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on_connect.as_ref(), conn);
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on_close.as_ref(), conn);
    }
}
