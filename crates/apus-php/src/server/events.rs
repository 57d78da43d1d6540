//! The events that `on()` takes.

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
