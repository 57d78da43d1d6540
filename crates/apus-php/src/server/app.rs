//! PHP answering the requests and WebSocket messages of one port.

use std::rc::Rc;
use std::sync::Arc;

use apus_edge::{Edge, Outcome as EdgeOutcome};
use apus_net::proto::websocket::close;
use apus_net::{App, ConnInfo, Message, MessageConn, Request, Responder, ResponseHead, Upgrade};
use apus_options::Settings;
use apus_process::Worker;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value};
use tokio::sync::Semaphore;

use super::events::Event;
use super::host::HostCore;
use super::port_core::PortCore;
use super::serving::Serving;
use super::{event_object, info};
use crate::client::frame;
use crate::files;
use crate::handlers::{Begun, Handlers};
use crate::handling::{Calling, Counted, Handling, place_in};
use crate::http;
use crate::runtime::Outcome;

/// The callbacks of a port.
struct Callbacks {
    request: Option<Callable>,
    connect: Option<Callable>,
    close: Option<Callable>,
    handshake: Option<Callable>,
    before_handshake: Option<Callable>,
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
    /// What is done with requests first.
    edge: Option<Rc<Edge>>,
    /// Of a port: what answers for its hosts, by their numbers from 1 on.
    hosts: Vec<Rc<Self>>,
    /// File and line of the handler of requests, where it is written in PHP.
    place: Option<Rc<str>>,
}

/// A port, or one of its hosts.
pub(super) struct Site<'a> {
    pub(super) port: &'a PortCore,
    pub(super) host: Option<&'a HostCore>,
    pub(super) settings: &'a Settings,
    pub(super) edge: Option<Rc<Edge>>,
}

impl PhpApp {
    /// What answers a port or a host.
    pub(super) fn new(serving: &Serving<'_>, site: Site<'_>, hosts: Vec<Rc<Self>>) -> Rc<Self> {
        let Site { port, host, settings: of_port, edge } = site;
        let Serving { core, state, worker, .. } = *serving;
        let callback = |event| host.and_then(|host| host.callbacks.get(event)).or_else(|| core.callback(port, event));
        let on = Callbacks {
            request: callback(Event::Request),
            connect: callback(Event::Connect),
            close: callback(Event::Close),
            handshake: callback(Event::Handshake),
            before_handshake: callback(Event::BeforeHandshakeResponse),
            open: callback(Event::Open),
            message: callback(Event::Message),
            disconnect: callback(Event::Disconnect),
            full: callback(Event::BufferFull),
            empty: callback(Event::BufferEmpty),
        };
        let limits = http::Limits::new(of_port, core.second);
        if core.bounds_answers.get() {
            http::bound_answers(of_port.buffer_output_size);
        }
        if limits.traced {
            state.trace_requests();
        }
        let calling = Calling {
            handlers: Handlers::new(state, of_port.enable_coroutine),
            limits: Rc::new(limits),
            superglobals: of_port.superglobals && of_port.enable_coroutine,
            outcome: None,
        };
        let place = on.request.as_ref().and_then(Callable::place).map(|(file, line)| format!("{file}:{line}").into());
        let worker = Rc::clone(worker);
        let cancel_on_disconnect = of_port.cancel_on_disconnect;
        Rc::new(Self {
            calling,
            worker,
            server: serving.server.share(),
            on,
            cancel_on_disconnect,
            slots: serving.slots.clone(),
            refuses: core.refuses.get().then(|| u64::from(of_port.max_concurrency)),
            event_objects: core.event_objects.get(),
            edge,
            hosts,
            place,
        })
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
        let counted = Counted::among(&self.worker.slot.messages_active);
        Ok(self.calling.handlers.begin(callable.share(), args, None)?.map(|drive| Handling::event(drive, counted)))
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
    /// returns false to refuse and anything else to accept. What it returns is of no interest where it is only told
    /// `before` the default answer, to which it may add fields.
    fn ask(
        self: &Rc<Self>,
        callable: &Callable,
        before: bool,
        request: Request,
        response: &Responder,
    ) -> Result<Handling, Raise> {
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
            Outcome::Returned(value) if !before && matches!(value.view(), View::Bool(false)) => responder.fail(403),
            Outcome::Returned(_) => app.accept_asked(kept.share(), &kept_answer),
        };
        let server = before.then(|| self.server.share().into());
        let args = server.into_iter().chain([request.into(), answer.into()]);
        let begun = self.calling.handlers.begin(callable.share(), args, Some(Rc::new(decided)))?;
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
                    // By the loop, which also runs the connection: before its first message.
                    self.calling.handlers.state.events.spawn(handling);
                }
            }
        }
    }
}

impl PhpApp {
    /// What answers for a host.
    #[inline]
    fn of(self: &Rc<Self>, number: u16) -> &Rc<Self> {
        if number == 0 { self } else { self.hosts.get(usize::from(number) - 1).unwrap_or(self) }
    }

    /// There is no handler for requests: a port of WebSockets has only those.
    fn turn_away(&self, response: &Responder) {
        if self.calling.limits.second && self.on.message.is_some() {
            // So says it there, and the connection ends.
            let mut head = ResponseHead::new(400);
            head.push_field(b"Content-Type", b"text/html");
            (head.has_content_type, head.close) = (true, true);
            // A client that is gone needs no answer.
            let _ = response.end(&head, b"<html><body><h1>HTTP 400 Bad Request</h1></body></html>");
            return;
        }
        response.fail(if self.on.message.is_some() { 426 } else { 404 });
    }

    /// Begins the handler of a request, when its time has come.
    fn begin_later(self: &Rc<Self>) -> impl FnOnce(Request, &Responder) -> Begun + 'static {
        let app = Rc::clone(self);
        move |request, responder| {
            let Some(handler) = &app.on.request else {
                app.turn_away(responder);
                return None;
            };
            app.calling.begin(handler.share(), request, responder)
        }
    }

    fn handle(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        let Some(handler) = &self.on.request else {
            self.turn_away(&response);
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
            let begin = self.begin_later();
            let queued = Handling::queued(admission, move |responder| begin(request, responder), response);
            return queued.until(gone).standing_at(self.place.as_ref());
        }
        let drive = self.calling.begin(handler.share(), request, &response);
        Handling::begun(drive, response, gone).standing_at(self.place.as_ref())
    }

    fn shake_hands(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        if !response.is_handshake() {
            // An invalid one: this says why.
            drop(self.accept(request, &response));
            return Handling::begun(None, response, None);
        }
        let (callable, before) = match (&self.on.handshake, &self.on.before_handshake) {
            (Some(handshake), _) => (handshake, false),
            (None, Some(before)) => (before, true),
            (None, None) => {
                let open = self.accept(request, &response);
                return open.unwrap_or_else(|| Handling::begun(None, response, None));
            }
        };
        self.ask(callable, before, request, &response).unwrap_or_else(|raise| {
            self.report(raise);
            response.fail(503);
            Handling::begun(None, response, None)
        })
    }

    #[cold]
    fn unless_found(
        self: &Rc<Self>,
        found: impl Future<Output = Option<Request>> + 'static,
        response: Responder,
    ) -> Handling {
        let gone = self.cancel_on_disconnect.then(|| response.gone());
        let handling = files::first(found, self.slots.clone(), self.begin_later(), response);
        handling.until(gone).standing_at(self.place.as_ref())
    }
}

impl App for PhpApp {
    type Handling = Handling;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        let app = self.of(request.host_number());
        match &app.edge {
            None => app.handle(request, response),
            Some(edge) => match edge.answer(request, &response) {
                EdgeOutcome::NotMine(request) => app.handle(request, response),
                EdgeOutcome::Answered => Handling::begun(None, response, None),
                EdgeOutcome::Later(found) => app.unless_found(found, response),
            },
        }
    }

    fn on_upgrade(self: &Rc<Self>, request: Request, response: Responder) -> Handling {
        let app = self.of(request.host_number());
        match &app.edge {
            None => app.shake_hands(request, response),
            Some(edge) => match edge.answer(request, &response) {
                EdgeOutcome::NotMine(request) => app.shake_hands(request, response),
                EdgeOutcome::Answered => Handling::begun(None, response, None),
                EdgeOutcome::Later(found) => {
                    let app = Rc::clone(app);
                    let begin = move |request, response: &Responder| {
                        app.calling.handlers.state.events.spawn(app.shake_hands(request, response.clone()));
                        None
                    };
                    files::first(found, None, begin, response)
                }
            },
        }
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Handling> {
        let callable = self.of(message_conn.host_number()).on.message.as_ref()?;
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
        let disconnected = self.on.message.is_some() && !conn.is_websocket();
        let callback = if disconnected { &self.on.disconnect } else { &self.on.close };
        info::while_ending(conn, i64::from(self.worker.id), || {
            self.notify(callback.as_ref(), conn.id(), !disconnected);
        });
    }
}
