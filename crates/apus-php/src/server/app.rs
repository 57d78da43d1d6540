//! PHP answering the requests and WebSocket messages of one port.

use std::rc::Rc;
use std::sync::Arc;

use apus_edge::{Outcome as FileOutcome, Statics};
use apus_net::proto::websocket::close;
use apus_net::{App, ConnInfo, Message, MessageConn, Request, Responder, Upgrade};
use apus_options::Settings;
use apus_process::Worker;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value};
use tokio::sync::Semaphore;

use super::core::ServerCore;
use super::event_object;
use super::events::Event;
use super::port_core::PortCore;
use crate::client::frame;
use crate::files;
use crate::handlers::{Begun, Handlers};
use crate::handling::{Calling, Handling, place_in};
use crate::http;
use crate::runtime::{Outcome, State};

/// The callbacks of a port.
struct Callbacks {
    request: Option<Callable>,
    connect: Option<Callable>,
    close: Option<Callable>,
    handshake: Option<Callable>,
    open: Option<Callable>,
    message: Option<Callable>,
    disconnect: Option<Callable>,
    full: Option<Callable>,
    empty: Option<Callable>,
}

/// PHP behind one port.
pub(super) struct PhpApp {
    calling: Calling,
    worker: Rc<Worker>,
    server: Object,
    on: Callbacks,
    cancel_on_disconnect: bool,
    /// The setting `max_concurrency`, where it limits anything.
    slots: Option<Arc<Semaphore>>,
    /// Whether callbacks get one object in place of several arguments.
    event_objects: bool,
    /// How many requests all workers may handle at once, where more are answered 503; else they wait.
    refuses: Option<u64>,
    /// Files that are looked for first.
    files: Option<Rc<Statics>>,
    /// File and line of the handler of requests, where it is written in PHP.
    place: Option<Rc<str>>,
}

impl PhpApp {
    /// What answers a port; `None` when nothing would.
    pub(super) fn new(
        state: &Rc<State>,
        worker: &Rc<Worker>,
        server: Object,
        core: &ServerCore,
        port: &PortCore,
        of_port: &Settings,
        (files, slots): (Option<Rc<Statics>>, Option<Arc<Semaphore>>),
    ) -> Option<Rc<Self>> {
        let callback = |event| core.callback(port, event);
        let on = Callbacks {
            request: callback(Event::Request),
            connect: callback(Event::Connect),
            close: callback(Event::Close),
            handshake: callback(Event::Handshake),
            open: callback(Event::Open),
            message: callback(Event::Message),
            disconnect: callback(Event::Disconnect),
            full: callback(Event::BufferFull),
            empty: callback(Event::BufferEmpty),
        };
        if on.request.is_none() && on.message.is_none() {
            return None;
        }
        let limits = http::Limits {
            max_vars: of_port.max_input_vars as usize,
            parse_post: of_port.http_parse_post,
            parse_cookie: of_port.http_parse_cookie,
            second: core.second,
        };
        let calling = Calling {
            handlers: Handlers::new(state, of_port.enable_coroutine),
            limits: Rc::new(limits),
            superglobals: of_port.superglobals && of_port.enable_coroutine,
            outcome: None,
        };
        let place = on.request.as_ref().and_then(Callable::place).map(|(file, line)| format!("{file}:{line}").into());
        let worker = Rc::clone(worker);
        let cancel_on_disconnect = of_port.cancel_on_disconnect;
        Some(Rc::new(Self {
            calling,
            worker,
            server,
            on,
            cancel_on_disconnect,
            slots,
            refuses: core.refuses.get().then(|| u64::from(of_port.max_concurrency)),
            event_objects: core.event_objects.get(),
            files,
            place,
        }))
    }

    fn notify(&self, callable: Option<&Callable>, fd: i64, with_worker: bool) {
        let Some(callable) = callable else { return };
        if self.event_objects && with_worker {
            match event_object::event(fd, i64::from(self.worker.id), None) {
                Ok(event) => self.calling.handlers.notify(callable.share(), [self.server.share().into(), event]),
                Err(raise) => self.report(raise),
            }
            return;
        }
        let args = [self.server.share().into(), Value::int(fd)];
        let worker = with_worker.then(|| Value::int(i64::from(self.worker.id)));
        self.calling.handlers.notify(callable.share(), args.into_iter().chain(worker));
    }

    /// Runs the callback of an event; `None` when it is over, or could not be begun (then `Err`).
    fn event(&self, callable: &Callable, args: [Value; 2]) -> Result<Option<Handling>, Raise> {
        Ok(self.calling.handlers.begin(callable.share(), args, None)?.map(Handling::event))
    }

    fn report(&self, raise: Raise) {
        self.calling.handlers.state.report(raise);
    }

    /// The default handshake: accepted, then the open event.
    fn accept(self: &Rc<Self>, request: Request, response: &Responder) -> Option<Handling> {
        let message_conn = match response.upgrade(&Upgrade::default()) {
            Ok(message_conn) => message_conn,
            Err(refusal) => {
                response.refuse_upgrade(refusal);
                return None;
            }
        };
        let open = self.on.open.as_ref()?;
        let request = match http::Request::object(request, Rc::clone(&self.calling.limits)) {
            Ok(request) => request,
            Err(raise) => {
                self.report(raise);
                return None;
            }
        };
        self.opened(open, request, &message_conn)
    }

    fn opened(&self, open: &Callable, request: Object, message_conn: &Rc<MessageConn>) -> Option<Handling> {
        let begun = self.event(open, [self.server.share().into(), request.into()]);
        self.begun(begun, message_conn)
    }

    /// What goes on with an event; a message connection whose event could not be begun is closed: its peer is told to
    /// come again.
    fn begun(&self, begun: Result<Option<Handling>, Raise>, message_conn: &Rc<MessageConn>) -> Option<Handling> {
        begun.unwrap_or_else(|raise| {
            self.report(raise);
            message_conn.close(close::TRY_AGAIN_LATER, "the server is busy");
            None
        })
    }

    /// The program decides on the handshake: it answers itself (101 through `end()`, another status to refuse), or
    /// returns false to refuse and anything else to accept.
    fn ask(self: &Rc<Self>, handshake: &Callable, request: Request, response: &Responder) -> Result<Handling, Raise> {
        let request = http::Request::object(request, Rc::clone(&self.calling.limits))?;
        let answer = http::Response::object(response.clone(), self.calling.limits.second)?;
        let (app, responder) = (Rc::clone(self), response.clone());
        let (kept, kept_answer) = (request.share(), answer.share());
        let decided = move |outcome: Outcome| match outcome {
            Outcome::Threw(thrown) => {
                responder.fail(500);
                app.calling.handlers.state.uncaught(thrown);
            }
            Outcome::Gone => responder.fail(500),
            Outcome::Returned(_) if responder.is_ended() => {}
            Outcome::Returned(value) if matches!(value.view(), View::Bool(false)) => responder.fail(403),
            Outcome::Returned(_) => app.accept_asked(kept.share(), &kept_answer),
        };
        let args = [request.into(), answer.into()];
        let begun = self.calling.handlers.begin(handshake.share(), args, Some(Rc::new(decided)))?;
        Ok(Handling::begun(begun, response.clone(), None))
    }

    /// The program let a handshake in: accepted with the header fields that it set, then the open event.
    fn accept_asked(&self, request: Object, response: &Object) {
        let Some(answer) = response.payload::<http::Response>() else { return };
        match answer.accept_handshake(false) {
            Err(raise) => self.report(raise),
            Ok(None) => {}
            Ok(Some(message_conn)) => {
                if let Some(open) = &self.on.open
                    && let Some(handling) = self.opened(open, request, &message_conn)
                {
                    tokio::task::spawn_local(handling);
                }
            }
        }
    }
}

impl PhpApp {
    /// Begins the handler of a request, when its time has come.
    fn begin_later(self: &Rc<Self>, request: Request) -> impl FnOnce(&Responder) -> Begun + 'static {
        let app = Rc::clone(self);
        move |responder| {
            let Some(handler) = &app.on.request else {
                responder.fail(426);
                return None;
            };
            app.calling.begin(handler.share(), request, responder)
        }
    }

    #[cold]
    fn unless_found(
        self: &Rc<Self>,
        found: impl Future<Output = bool> + 'static,
        request: Request,
        response: Responder,
    ) -> Handling {
        let gone = self.cancel_on_disconnect.then(|| response.gone());
        let handling = files::first(found, self.slots.clone(), self.begin_later(request), response);
        handling.until(gone).standing_at(self.place.as_ref())
    }
}

impl App for PhpApp {
    type Handling = Handling;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        if let Some(files) = &self.files {
            match files.answer(&request, &response) {
                FileOutcome::Answered => return Handling::begun(None, response, None),
                FileOutcome::Later(found) => return self.unless_found(found, request, response),
                FileOutcome::NotMine => {}
            }
        }
        let Some(handler) = &self.on.request else {
            response.fail(426);
            return Handling::begun(None, response, None);
        };
        let gone = self.cancel_on_disconnect.then(|| response.gone());
        if let Some(slots) = &self.slots {
            if let Some(most) = self.refuses
                && (slots.available_permits() == 0 || self.worker.requests_active() > most)
            {
                response.fail(503);
                return Handling::begun(None, response, None);
            }
            let admission = place_in(Some(Arc::clone(slots)));
            let queued = Handling::queued(admission, self.begin_later(request), response);
            return queued.until(gone).standing_at(self.place.as_ref());
        }
        let drive = self.calling.begin(handler.share(), request, &response);
        Handling::begun(drive, response, gone).standing_at(self.place.as_ref())
    }

    fn on_upgrade(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        if !response.is_handshake() {
            // An invalid one: this says why.
            drop(self.accept(request, &response));
            return Handling::begun(None, response, None);
        }
        let Some(handshake) = &self.on.handshake else {
            let open = self.accept(request, &response);
            return open.unwrap_or_else(|| Handling::begun(None, response, None));
        };
        self.ask(handshake, request, &response).unwrap_or_else(|raise| {
            self.report(raise);
            response.fail(503);
            Handling::begun(None, response, None)
        })
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Handling> {
        let callable = self.on.message.as_ref()?;
        let begun = frame::of_message(&message, message_conn.info().id())
            .and_then(|frame| self.event(callable, [self.server.share().into(), frame.into()]));
        self.begun(begun, message_conn)
    }

    fn on_pressure(self: &Rc<Self>, message_conn: &Rc<MessageConn>, full: bool) {
        self.notify(if full { &self.on.full } else { &self.on.empty }.as_ref(), message_conn.info().id(), false);
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.notify(self.on.connect.as_ref(), conn.id(), true);
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        // On a port for WebSockets the close event is theirs; what never became one has only disconnected.
        if self.on.message.is_some() && !conn.is_websocket() {
            return self.notify(self.on.disconnect.as_ref(), conn.id(), false);
        }
        self.notify(self.on.close.as_ref(), conn.id(), true);
    }
}
