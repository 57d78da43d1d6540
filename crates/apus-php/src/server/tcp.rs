//! PHP answering the streams of one port: events connect, receive, bufferfull, bufferempty, close.

use std::rc::Rc;

use apus_net::{App, ConnInfo, Message, MessageConn, Peer, Request, Responder};
use apus_process::WorkerSlot;
use apus_process::log::{Level, Repeats};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value};

use super::events::Event;
use super::port_core::{Plan, PortCore};
use super::routing::dispatch::{Dispatch, Fate, Incoming, Parcel, Taker};
use super::serving::Serving;
use super::{event_object, info};
use crate::handlers::Handlers;
use crate::handling::{Counted, Handling};

/// One a connection, if the callback is wrong.
static NO_INT: Repeats = Repeats::new(Level::Error, "connections closed because package_length_func returned no int");

/// PHP behind one stream port.
pub(super) struct PhpStreams {
    caller: Caller,
    connect: Option<Callable>,
    receive: Option<Callable>,
    full: Option<Callable>,
    empty: Option<Callable>,
    close: Option<Callable>,
    /// `package_length_func`.
    tell: Option<Rc<Callable>>,
    /// Who handles what is received, and the place of the port among the server's.
    dispatch: Option<Rc<Dispatch>>,
    place: u16,
}

/// How the callbacks of raw ports are called.
pub(super) struct Caller {
    pub(super) handlers: Handlers,
    server: Object,
    worker_id: i64,
    slot: &'static WorkerSlot,
    /// Whether callbacks get one object in place of several arguments.
    pub(super) event_objects: bool,
}

impl Caller {
    pub(super) fn new(serving: &Serving<'_>, plan: &Plan) -> Self {
        Self {
            handlers: Handlers::new(serving.state, plan.settings.enable_coroutine),
            server: serving.server.share(),
            worker_id: i64::from(serving.worker.id),
            slot: serving.worker.slot,
            event_objects: serving.core.event_objects.get(),
        }
    }

    /// The first argument of every callback.
    pub(super) fn server(&self) -> Value {
        self.server.share().into()
    }

    /// Begins the handler of something that was received; whoever leaves waits for it. `Err`: it could not be begun.
    pub(super) fn begin<const N: usize>(
        &self,
        callable: &Callable,
        args: [Value; N],
    ) -> Result<Option<Handling>, Raise> {
        let counted = Counted::among(&self.slot.messages_active);
        Ok(self.handlers.begin(callable.share(), args, None)?.map(|drive| Handling::event(drive, counted)))
    }

    /// Runs the callback of an event until its first wait.
    fn notify(&self, callable: Option<&Callable>, fd: i64, with_worker: bool) {
        let Some(callable) = callable else { return };
        if self.event_objects && with_worker {
            match event_object::event(fd, self.worker_id, None) {
                Ok(event) => self.handlers.notify(callable.share(), [self.server(), event]),
                Err(raise) => self.handlers.state.report(raise),
            }
            return;
        }
        let worker = with_worker.then(|| Value::int(self.worker_id));
        self.handlers.notify(callable.share(), [self.server(), Value::int(fd)].into_iter().chain(worker));
    }
}

impl PhpStreams {
    pub(super) fn new(serving: &Serving<'_>, port: &PortCore, place: usize, plan: &Plan) -> Rc<Self> {
        let callback = |event| serving.core.callback(port, event);
        Rc::new(Self {
            caller: Caller::new(serving, plan),
            connect: callback(Event::Connect),
            receive: callback(Event::Receive),
            full: callback(Event::BufferFull),
            empty: callback(Event::BufferEmpty),
            close: callback(Event::Close),
            tell: plan.tell.clone(),
            dispatch: serving.core.dispatch.borrow().clone(),
            place: place as u16,
        })
    }

    fn received(&self, callable: &Callable, fd: i64, data: &[u8]) -> Result<Option<Handling>, Raise> {
        let (data, worker) = (Value::string(data)?, self.caller.worker_id);
        if self.caller.event_objects {
            let event = event_object::event(fd, worker, Some(data))?;
            return self.caller.begin(callable, [self.caller.server(), event]);
        }
        let args = [self.caller.server(), Value::int(fd), Value::int(worker), data];
        self.caller.begin(callable, args)
    }
}

impl PhpStreams {
    fn incoming<'a>(&self, message_conn: &MessageConn, data: &'a [u8]) -> Incoming<'a> {
        let conn = message_conn.info();
        let ip = match conn.peer() {
            Peer::Tcp(addr) => Some(addr.ip()),
            Peer::Unix => None,
        };
        Incoming { fd: conn.id(), port: self.place, from: ("", 0), ip, data }
    }

    /// Whether other workers may pass on what came to them.
    pub(super) fn is_dispatched(&self) -> bool {
        self.dispatch.is_some()
    }
}

impl Taker for PhpStreams {
    fn take(&self, parcel: &Parcel) -> Option<Handling> {
        let callable = self.receive.as_ref()?;
        self.received(callable, parcel.fd, &parcel.data).unwrap_or_else(|raise| {
            self.caller.handlers.state.report(raise);
            // As for a connection of this worker.
            let _ = super::routing::close_at(parcel.fd, false, 0, "");
            None
        })
    }
}

impl App for PhpStreams {
    type Handling = Handling;

    /// A stream port has no requests.
    fn on_request(self: &Rc<Self>, _request: Request, response: Responder) -> Handling {
        response.fail(500);
        Handling::begun(None, response, None)
    }

    fn on_message(self: &Rc<Self>, message_conn: &Rc<MessageConn>, message: Message<'_>) -> Option<Handling> {
        let callable = self.receive.as_ref()?;
        if let Some(dispatch) = &self.dispatch {
            match dispatch.pass_on(&self.incoming(message_conn, message.data)) {
                Fate::Here => {}
                Fate::Dropped => return None,
                Fate::Closed => {
                    message_conn.close(0, "");
                    return None;
                }
                Fate::Elsewhere(handling) => return handling,
            }
        }
        self.received(callable, message_conn.info().id(), message.data).unwrap_or_else(|raise| {
            self.caller.handlers.state.report(raise);
            // A stream with a hole in it is worse than none.
            message_conn.close(0, "");
            None
        })
    }

    fn on_pressure(self: &Rc<Self>, message_conn: &Rc<MessageConn>, full: bool) {
        let callable = if full { &self.full } else { &self.empty };
        self.caller.notify(callable.as_ref(), message_conn.info().id(), false);
    }

    fn package_length(self: &Rc<Self>, _message_conn: &Rc<MessageConn>, bytes: &[u8]) -> i64 {
        let Some(tell) = &self.tell else { return -1 };
        match Value::string(bytes).and_then(|bytes| tell.call(&[bytes])) {
            Ok(told) => {
                let View::Int(length) = told.view() else {
                    NO_INT.tell(format_args!("package_length_func returned no int: the connection is closed"));
                    return -1;
                };
                length
            }
            Err(raise) => {
                self.caller.handlers.state.report(raise);
                -1
            }
        }
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.caller.notify(self.connect.as_ref(), conn.id(), true);
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        info::while_ending(conn, self.caller.worker_id, || {
            self.caller.notify(self.close.as_ref(), conn.id(), true);
        });
    }
}
