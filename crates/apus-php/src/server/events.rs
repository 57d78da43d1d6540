//! The events that `on()` takes.

use apus_zend::class::Class;
use apus_zend::engine::{self, ClassEntry, Thrown};
use apus_zend::value::{ArrayView, View};
use apus_zend::{Call, Callable, Raise, Value};

use crate::swoole;

/// `on()` by the conventions of Swoole, where a callback that cannot be called ends the script.
pub(crate) fn on_there(call: &Call, class: &Class, body: impl Fn(&Call) -> Result<(), Raise>) -> Result<(), Raise> {
    swoole::answers_false(call, class, |call| body(call).map_err(|raise| uncallable(call, raise)))
}

#[cold]
fn uncallable(call: &Call, raise: Raise) -> Raise {
    let Some(thrown) = Thrown::take() else { return raise };
    if !thrown.is(ClassEntry::type_error()) || !thrown.message().contains("must be a valid callback") {
        return thrown.rethrow();
    }
    let name = match call.value(1).view() {
        View::Str(name) => String::from_utf8_lossy(name).into_owned(),
        View::Array(pair) => match method_name(pair) {
            Ok(name) => name,
            Err(raise) => return raise,
        },
        _ => return thrown.rethrow(),
    };
    let of_port = call.text(0).is_ok_and(|event| Event::parse(&event).is_ok_and(Event::of_port));
    let class = if of_port { "Swoole\\Server\\Port" } else { "Swoole\\Server" };
    engine::fatal(&format!("{class}::on(): function '{name}' is not callable"))
}

/// How a method is named that an array names.
fn method_name(pair: ArrayView<'_>) -> Result<String, Raise> {
    let mut parts = Vec::with_capacity(2);
    for (_, part) in pair.iter() {
        let class = match part.view() {
            View::Object(_) => Some(Callable::named("get_class")?.call(&[part.value()])?),
            _ => None,
        };
        if let View::Str(name) = class.as_ref().map_or(part.view(), Value::view) {
            parts.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(parts.join("::"))
}

/// An event of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Start,
    Shutdown,
    BeforeShutdown,
    ManagerStart,
    ManagerStop,
    WorkerStart,
    WorkerStop,
    WorkerExit,
    WorkerError,
    BeforeReload,
    AfterReload,
    Connect,
    Request,
    Close,
    Receive,
    Packet,
    BufferFull,
    BufferEmpty,
    PipeMessage,
    Handshake,
    BeforeHandshakeResponse,
    Open,
    Message,
    Disconnect,
    Task,
    Finish,
    TaskError,
}

/// How many events there are.
pub(super) const COUNT: usize = 27;

const NAMES: [(&str, Event); COUNT] = [
    ("start", Event::Start),
    ("shutdown", Event::Shutdown),
    ("beforeshutdown", Event::BeforeShutdown),
    ("managerstart", Event::ManagerStart),
    ("managerstop", Event::ManagerStop),
    ("workerstart", Event::WorkerStart),
    ("workerstop", Event::WorkerStop),
    ("workerexit", Event::WorkerExit),
    ("workererror", Event::WorkerError),
    ("beforereload", Event::BeforeReload),
    ("afterreload", Event::AfterReload),
    ("connect", Event::Connect),
    ("request", Event::Request),
    ("close", Event::Close),
    ("receive", Event::Receive),
    ("packet", Event::Packet),
    ("bufferfull", Event::BufferFull),
    ("bufferempty", Event::BufferEmpty),
    ("pipemessage", Event::PipeMessage),
    ("handshake", Event::Handshake),
    ("beforehandshakeresponse", Event::BeforeHandshakeResponse),
    ("open", Event::Open),
    ("message", Event::Message),
    ("disconnect", Event::Disconnect),
    ("task", Event::Task),
    ("finish", Event::Finish),
    ("taskerror", Event::TaskError),
];

impl Event {
    /// The event of that name, in any case; the error says which there are.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        if let Some((_, event)) = NAMES.iter().find(|(known, _)| *known == lower) {
            return Ok(*event);
        }
        let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        Err(format!("there is no event \"{name}\"; there are: {}", known.join(", ")))
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// Whether a port may have its own callback for it.
    pub(super) fn of_port(self) -> bool {
        matches!(
            self,
            Self::Connect
                | Self::Request
                | Self::Close
                | Self::Receive
                | Self::Packet
                | Self::BufferFull
                | Self::BufferEmpty
                | Self::Handshake
                | Self::BeforeHandshakeResponse
                | Self::Open
                | Self::Message
                | Self::Disconnect
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_numbers() {
        for (at, (name, event)) in NAMES.iter().enumerate() {
            assert_eq!((*event as usize, event.name()), (at, *name));
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!(Event::parse("WorkerStart"), Ok(Event::WorkerStart));
        assert_eq!(Event::parse("TASKERROR"), Ok(Event::TaskError));
        assert!(Event::parse("reqest").unwrap_err().contains("request"));
    }
}
