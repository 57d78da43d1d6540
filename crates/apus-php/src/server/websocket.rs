//! `Apus\WebSocket\Server`.

use std::rc::Rc;

use apus_net::proto::websocket::{Opcode, close};
use apus_net::{Delivery, Link};
use apus_zend::class::{Class, Const, Constant, Method};
use apus_zend::{Call, Raise, handler};

use super::core::{ServerHandle, ServerKind};
use super::hub::{self, Handed};
use super::send::room;
use super::{class, current_control, last_error};
use crate::client::frame::{self, Outgoing};
use crate::exception::entry;

const SENT: i64 = 1;
const BUFFERED: i64 = 2;
const DROPPED: i64 = 0;
const GONE: i64 = -1;

/// What `tryPush()` answers.
pub(super) static CONSTANTS: [Constant; 4] = [
    Constant {
        name: "Apus\\PUSH_SENT",
        value: Const::Int(SENT),
        doc: "The kernel has the message, or gets it in this turn of the loop.",
    },
    Constant { name: "Apus\\PUSH_BUFFERED", value: Const::Int(BUFFERED), doc: "The message waits for its receiver." },
    Constant {
        name: "Apus\\PUSH_DROPPED",
        value: Const::Int(DROPPED),
        doc: "The message is lost: as much waits for its receiver as buffer_output_size allows.",
    },
    Constant {
        name: "Apus\\PUSH_GONE",
        value: Const::Int(GONE),
        doc: "The message is lost: there is no such WebSocket, or it is closing.",
    },
];

fn construct(call: &Call) -> Result<(), Raise> {
    class::construct(call, ServerKind::WebSocket)
}

/// A WebSocket of this worker.
fn local(fd: i64) -> Option<Rc<Link>> {
    current_control()?.link(fd).filter(|link| link.is_websocket())
}

/// Sends a frame over a link of this process, where `send_policy` says so once there is room. A program that cannot wait loses
/// the message then.
pub(crate) fn push_here(link: &Rc<Link>, frame: &Outgoing<'_>, patient: bool) -> Result<Delivery, Raise> {
    loop {
        let delivery = link.push(frame.opcode, frame.fin, frame.compress, &frame.payload);
        match delivery {
            Delivery::Full => {}
            Delivery::Misplaced(rule) => return Err(frame::refused(rule)),
            delivery => return Ok(delivery),
        }
        if !patient {
            return Ok(Delivery::Dropped);
        }
        if let Some(lost) = room(link, "WebSocket\\Server::push()")? {
            return Ok(lost);
        }
    }
}

/// Notes why a message was lost; whether it was not.
pub(crate) fn delivered(delivery: Delivery) -> bool {
    match delivery {
        Delivery::Sent | Delivery::Buffered => true,
        Delivery::Full | Delivery::Dropped | Delivery::Misplaced(_) => last_error::fail(last_error::OVERFLOW),
        Delivery::Gone => last_error::fail(last_error::CLOSED),
    }
}

fn number(delivery: Delivery) -> i64 {
    match delivery {
        Delivery::Sent => SENT,
        Delivery::Buffered => BUFFERED,
        Delivery::Full | Delivery::Dropped | Delivery::Misplaced(_) => DROPPED,
        Delivery::Gone => GONE,
    }
}

/// Sends to whichever worker's connection: what `tryPush()` answers, with the reason for failure noted.
fn deliver(call: &Call, patient: bool) -> Result<i64, Raise> {
    call.expect(2, 4)?;
    let fd = call.int(0, 0)?;
    let frame = Outgoing::from_call(call, 1)?;
    let closes = (frame.opcode == Opcode::Close).then(|| frame.close_parts());
    let Some(link) = local(fd) else {
        let handed = match closes {
            Some((code, reason)) => hub::close_at(fd, false, code, reason)?,
            None => hub::push_to(fd, &frame, patient)?,
        };
        return Ok(far_number(handed));
    };
    let delivery = match closes {
        Some((code, reason)) if link.close(code, reason) => Delivery::Sent,
        Some(_) => Delivery::Gone,
        None => push_here(&link, &frame, patient)?,
    };
    delivered(delivery);
    Ok(number(delivery))
}

fn far_number(handed: Handed) -> i64 {
    handed.told();
    match handed {
        Handed::Done => BUFFERED,
        Handed::Overflow | Handed::QueueFull | Handed::TooLarge => DROPPED,
        Handed::NotExist | Handed::WrongKind => GONE,
    }
}

fn push(call: &Call) -> Result<(), Raise> {
    let became = deliver(call, true)?;
    call.ret(became > DROPPED)
}

fn try_push(call: &Call) -> Result<(), Raise> {
    let became = deliver(call, false)?;
    call.ret(became)
}

fn disconnect(call: &Call) -> Result<(), Raise> {
    call.expect(1, 3)?;
    let (fd, code, reason) = (call.int(0, 0)?, call.int(1, i64::from(close::NORMAL))?, call.bytes(2)?);
    // Says what is wrong with code or reason.
    frame::close_payload(code, reason)?;
    let (code, reason) = (u16::try_from(code).unwrap_or(close::NORMAL), String::from_utf8_lossy(reason));
    match local(fd) {
        Some(link) => call.ret(link.close(code, &reason) || last_error::fail(last_error::CLOSED)),
        None => call.ret(hub::close_at(fd, false, code, &reason)?.told()),
    }
}

fn is_established(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let fd = call.int(0, 0)?;
    if let Some(link) = local(fd) {
        return call.ret(link.is_established());
    }
    let worker = call.this::<ServerHandle>()?.0.worker("isEstablished()")?;
    call.ret(worker.connections.get(fd).is_some_and(|entry| entry.websocket))
}

fn ping(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let (fd, data) = (call.int(0, 0)?, call.bytes(1)?);
    let frame = Outgoing::ping(data)?;
    match local(fd) {
        Some(link) => call.ret(delivered(push_here(&link, &frame, false)?)),
        None => call.ret(hub::push_to(fd, &frame, false)?.told()),
    }
}

/// `Apus\WebSocket\Server`.
pub(super) static WEBSOCKET_SERVER: Class = Class {
    name: "Apus\\WebSocket\\Server",
    modifiers: "",
    extends: "Apus\\Http\\Server",
    implements: &[],
    doc: "A server of WebSockets (RFC 6455, RFC 7692) and HTTP/1.1 on one port. A connection that is idle takes less than a\n\
          kilobyte and no coroutine.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = 1, int $sockType = 1)",
            doc: "Binds the address at once: see Apus\\Http\\Server.\n\
                  Events: handshake (Request, Response): answer with status 101 and end() to accept, with another status to refuse, or\n\
                  return false to refuse with 403 and true to accept; without the callback every sound handshake of an allowed origin\n\
                  is accepted. open ($server, Request). message ($server, Apus\\WebSocket\\Frame). close ($server, $fd, $workerId) for\n\
                  WebSockets, disconnect ($server, $fd) for HTTP connections that end. request as in Apus\\Http\\Server.\n\
                  @throws \\Apus\\Server\\Exception BIND\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function push(int $fd, Apus\\WebSocket\\Frame|string $data, int $opcode = 1, int $flags = 1): bool",
            doc: "Sends a message to a WebSocket of whichever worker. Where buffer_output_size bytes wait for it already, send_policy\n\
                  rules: wait (outside coroutines: drop), drop, or close.\n\
                  @param int $opcode one of Apus\\WEBSOCKET_OPCODE_*; a Frame object brings its own\n\
                  @param int $flags the sum of Apus\\WEBSOCKET_FLAG_*: 0 for a fragment that is not the last of its message, with COMPRESS\n\
                  compressed in any case\n\
                  @return bool false when the message is lost: see getLastError(). For a connection of another worker true means that its\n\
                  worker has the message; when its buffer turns out to be full there, send_policy rules there\n\
                  @throws \\Apus\\Client\\Exception ARGUMENT for what RFC 6455 forbids (text that is not UTF-8, a long control frame, a\n\
                  fragment out of its order; one that comes from another worker is dropped, and logged, where it turns out to be)\n\
                  Waits (where a coroutine runs).\n@since 0.1.0",
            handler: Some(handler!(push)),
        },
        Method {
            decl: "public function tryPush(int $fd, Apus\\WebSocket\\Frame|string $data, int $opcode = 1, int $flags = 1): int",
            doc: "Like push(), but never waits, and tells what became of the message.\n\
                  @return int Apus\\PUSH_SENT, PUSH_BUFFERED, PUSH_DROPPED or PUSH_GONE\n\
                  @throws \\Apus\\Client\\Exception ARGUMENT\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(try_push)),
        },
        Method {
            decl: "public function disconnect(int $fd, int $code = 1000, string $reason = ''): bool",
            doc: "Ends a WebSocket with a closing handshake (RFC 6455 section 7); what waits for it is sent before.\n\
                  @param int $code one of Apus\\WEBSOCKET_CLOSE_*, or 3000 to 4999\n@param string $reason up to 123 bytes of UTF-8\n\
                  @return bool false when there is no such WebSocket, or it is closing\n\
                  @throws \\Apus\\Client\\Exception ARGUMENT\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(disconnect)),
        },
        Method {
            decl: "public function isEstablished(int $fd): bool",
            doc: "Whether a connection, of whichever worker, is a WebSocket whose handshake is over and which is not closing.\n\
                  @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(is_established)),
        },
        Method {
            decl: "public function ping(int $fd, string $data = ''): bool",
            doc: "Sends a PING now; the server sends them by itself (setting websocket_ping_interval).\n\
                  @param string $data up to 125 bytes\n@return bool false when there is no such WebSocket\n\
                  @throws \\Apus\\Client\\Exception ARGUMENT\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(ping)),
        },
        Method {
            decl: "public static function pack(Apus\\WebSocket\\Frame|string $data, int $opcode = 1, int $flags = 1): string",
            doc: "The same as Apus\\WebSocket\\Frame::pack().\n@since 0.1.0",
            handler: Some(handler!(frame::pack)),
        },
        Method {
            decl: "public static function unpack(string $data): Apus\\WebSocket\\Frame|false",
            doc: "The same as Apus\\WebSocket\\Frame::unpack().\n@since 0.1.0",
            handler: Some(handler!(frame::unpack)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
