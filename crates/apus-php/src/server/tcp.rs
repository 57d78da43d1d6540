//! PHP answering the streams of one port: events connect, receive, bufferfull, bufferempty, close.

use std::rc::Rc;

use apus_net::{App, ConnInfo, Message, MessageConn, Request, Responder};
use apus_process::log::{Level, Repeats};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};

use super::app::report;
use super::events::Event;
use super::port_core::{Plan, PortCore};
use super::serving::Serving;
use crate::handling::Handling;
use crate::runtime::State;

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
}

/// How the callbacks of raw ports are called.
pub(super) struct Caller {
    pub(super) state: Rc<State>,
    server: Object,
    worker_id: i64,
    in_coroutine: bool,
}

impl Caller {
    pub(super) fn new(serving: &Serving<'_>, plan: &Plan) -> Self {
        Self {
            state: Rc::clone(serving.state),
            server: serving.server.share(),
            worker_id: i64::from(serving.worker.id),
            in_coroutine: plan.settings.enable_coroutine,
        }
    }

    /// The first argument of every callback.
    pub(super) fn server(&self) -> Value {
        self.server.share().into()
    }

    /// Begins the handler of something that was received; whoever leaves waits for it. `Err`: it could not be begun.
    pub(super) fn begin(&self, callable: &Callable, args: Vec<Value>) -> Result<Option<Handling>, Raise> {
        if self.in_coroutine {
            let task = self.state.create_for(true, callable.share(), args, None)?;
            return Ok(Some(Handling::event(self.state.engine.drive(&task))));
        }
        self.report(callable.call(&args).map(drop));
        Ok(None)
    }

    /// Runs the callback of an event until its first wait.
    fn notify(&self, callable: Option<&Callable>, fd: i64, with_worker: bool) {
        let Some(callable) = callable else { return };
        let mut args = vec![self.server(), Value::int(fd)];
        if with_worker {
            args.push(Value::int(self.worker_id));
        }
        if !self.in_coroutine {
            return self.report(callable.call(&args).map(drop));
        }
        match self.state.create_for(true, callable.share(), args, None) {
            Ok(task) if engine::can_switch() => self.state.engine.launch(&task),
            Ok(task) => self.state.engine.adopt(&task),
            Err(raise) => self.report(Err(raise)),
        }
    }

    /// Reports what ended a callback, or kept it from beginning.
    pub(super) fn report(&self, result: Result<(), Raise>) {
        report(&self.state, result);
    }
}

impl PhpStreams {
    pub(super) fn new(serving: &Serving<'_>, port: &PortCore, plan: &Plan) -> Rc<Self> {
        let callback = |event| serving.core.callback(port, event);
        Rc::new(Self {
            caller: Caller::new(serving, plan),
            connect: callback(Event::Connect),
            receive: callback(Event::Receive),
            full: callback(Event::BufferFull),
            empty: callback(Event::BufferEmpty),
            close: callback(Event::Close),
            tell: plan.tell.clone(),
        })
    }

    fn received(&self, callable: &Callable, fd: i64, data: &[u8]) -> Result<Option<Handling>, Raise> {
        let args = vec![self.caller.server(), Value::int(fd), Value::int(self.caller.worker_id), Value::string(data)?];
        self.caller.begin(callable, args)
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
        self.received(callable, message_conn.info().id(), message.data).unwrap_or_else(|raise| {
            self.caller.report(Err(raise));
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
                self.caller.report(Err(raise));
                -1
            }
        }
    }

    fn on_connect(self: &Rc<Self>, conn: &ConnInfo) {
        self.caller.notify(self.connect.as_ref(), conn.id(), true);
    }

    fn on_close(self: &Rc<Self>, conn: &ConnInfo) {
        self.caller.notify(self.close.as_ref(), conn.id(), true);
    }
}
