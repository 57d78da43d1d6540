//! `Apus\WebSocket\Frame` and `CloseFrame`.

use std::borrow::Cow;

use apus_client::proto::websocket::deflate::Params;
use apus_client::proto::websocket::{self as proto, Event, Header, Opcode, Role, close};
use apus_net::{Kind, Message};
use apus_zend::arg::{Any, OrFalse};
use apus_zend::class::Class;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Uncallable, Value};
use bytes::{Buf, BytesMut};

pub(crate) use super::values::refused;
use super::values::scalar;
use crate::swoole::{self, There};

const FIN: i64 = 1;
const COMPRESS: i64 = 2;
const RSV1: i64 = 4;
const MASK: i64 = 32;
/// Bytes of a frame's head at most.
const MAX_HEAD: usize = 14;
/// What `unpack()` decompresses at most.
const MAX_UNPACKED: usize = 64 << 20;
/// The bits of a frame's first byte that are its opcode.
const OPCODE: u8 = 0x0f;
/// The close frame that came without a code.
const NO_STATUS: i64 = 1005;

/// What an opcode's number means.
type Means = fn(i64) -> Result<Opcode, Raise>;
/// The number of an opcode, and what it means.
type Numbered = (i64, Means);

/// What a program wants to send.
pub(crate) struct Outgoing<'a> {
    pub(crate) opcode: Opcode,
    pub(crate) fin: bool,
    pub(crate) compress: bool,
    pub(super) mask: bool,
    pub(crate) payload: Cow<'a, [u8]>,
}

/// Whether an argument that is an object can be converted to text.
fn is_stringable(data: Any<'_>) -> Result<bool, Raise> {
    let mut method = Array::new(2)?;
    method.push(data.value())?;
    method.push(Value::string(b"__toString")?)?;
    match Callable::new(&mut method.into()) {
        Ok(_) => Ok(true),
        Err(Uncallable::Not(_)) => Ok(false),
        Err(Uncallable::Raised(raise)) => Err(raise),
    }
}

fn opcode(number: i64) -> Result<Opcode, Raise> {
    u8::try_from(number).ok().and_then(Opcode::from_number).ok_or_else(|| {
        refused(&format!("{number} is no opcode of WebSocket: use one of the constants Apus\\WEBSOCKET_OPCODE_*"))
    })
}

/// The opcode of a frame that is packed: what RFC 6455 reserves is packed as it is there, like bytes.
fn packed(number: i64) -> Result<Opcode, Raise> {
    if reserved(number).is_some() { Ok(Opcode::Binary) } else { opcode(number) }
}

/// An opcode that RFC 6455 reserves, where code is written for Swoole.
fn reserved(number: i64) -> Option<u8> {
    u8::try_from(number).ok().filter(|number| swoole::is_on() && matches!(number, 3..=7 | 11..=15))
}

/// The number of a frame object's opcode.
fn number_of(frame: &Object) -> i64 {
    integer(frame, slot::frame::OPCODE, 1)
}

fn integer(frame: &Object, slot: u32, default: i64) -> i64 {
    match frame.slot(slot).view() {
        View::Int(value) => value,
        _ => default,
    }
}

impl<'a> Outgoing<'a> {
    /// From `push($data, $opcode, $flags)`, whose first argument has the number `at`: data or a frame object, whose own
    /// opcode and flags rule. Flags that only say something else leave the message whole.
    pub(crate) fn from_call(call: &'a Call, at: usize) -> Result<Self, Raise> {
        Self::of(Any::new(call, at), call.int(at + 1, 1)?, call.int(at + 2, FIN)?)
    }

    /// From the arguments of such a call.
    pub(crate) fn of(data: Any<'a>, opcode: i64, flags: i64) -> Result<Self, Raise> {
        Self::read(data, flags, !0, (opcode, self::opcode))
    }

    /// From such arguments: the number of the opcode, and what it means. Each of the flags in `whole` makes the frame
    /// the last of its message.
    fn read(data: Any<'a>, flags: i64, whole: i64, (number, means): Numbered) -> Result<Self, Raise> {
        if let View::Object(object) = data.view() {
            if object.is(&FRAME) {
                return Self::from_frame(&object.share(), means);
            }
            if !is_stringable(data)? {
                return Err(data.type_error("of type string or Apus\\WebSocket\\Frame"));
            }
        }
        let (data, opcode) = (data.bytes()?, means(number)?);
        let payload =
            if opcode == Opcode::Close { Cow::Owned(close_payload(1000, data)?) } else { Cow::Borrowed(data) };
        // Compressed by the program, and not the last of its message: so said there.
        let fin = if swoole::is_on() && flags & (FIN | RSV1) == RSV1 { 0 } else { flags & whole };
        Self::new(opcode, fin != 0, flags, payload)
    }

    /// A ping.
    pub(crate) fn ping(data: &'a [u8]) -> Result<Self, Raise> {
        Self::new(Opcode::Ping, true, FIN, Cow::Borrowed(data))
    }

    /// Code and reason of a close frame; 1000 where it has none.
    pub(crate) fn close_parts(&self) -> (u16, &str) {
        match self.payload.split_first_chunk::<2>() {
            Some((code, reason)) => (u16::from_be_bytes(*code), std::str::from_utf8(reason).unwrap_or_default()),
            None => (close::NORMAL, ""),
        }
    }

    fn from_frame(object: &Object, means: Means) -> Result<Self, Raise> {
        let number = |slot: u32, default: i64| integer(object, slot, default);
        let text = |slot: u32| scalar(object.slot(slot).view()).unwrap_or_default();
        let opcode = means(number_of(object))?;
        let flags = number(slot::frame::FLAGS, FIN);
        // Older programs say it by $finish alone.
        let fin = flags != 0 && !matches!(object.slot(slot::frame::FINISH).view(), View::Bool(false));
        let payload = if opcode == Opcode::Close && object.is(&CLOSE_FRAME) {
            close_payload(number(slot::close_frame::CODE, 1000), &text(slot::close_frame::REASON))?
        } else {
            text(slot::frame::DATA)
        };
        Self::new(opcode, fin, flags, Cow::Owned(payload))
    }

    fn new(opcode: Opcode, fin: bool, flags: i64, payload: Cow<'a, [u8]>) -> Result<Self, Raise> {
        if opcode.is_control() && payload.len() > proto::MAX_CONTROL {
            let raise = refused("a control frame carries 125 bytes at most (RFC 6455 section 5.5)");
            let text = format!("websocket control frame payload must not exceed {} bytes", proto::MAX_CONTROL);
            return Err(swoole::there(raise, There::Text(text)));
        }
        let fin = fin || opcode.is_control();
        if opcode == Opcode::Text && fin && !proto::is_utf8(&payload) {
            return Err(refused("a text message must be UTF-8: send other bytes with WEBSOCKET_OPCODE_BINARY"));
        }
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        let compress = if fin { flags & (COMPRESS | RSV1) != 0 } else { begins && flags & RSV1 != 0 };
        Ok(Self { opcode, fin, compress, mask: flags & MASK != 0, payload })
    }

    /// Its bytes on the wire, without an agreed extension's state, with the opcode of this number if that is reserved.
    fn pack(&self, number: i64) -> Result<BytesMut, Raise> {
        let mut compressed = BytesMut::new();
        let whole = self.fin && matches!(self.opcode, Opcode::Text | Opcode::Binary);
        let deflated = self.compress
            && whole
            && Params::default().deflater(Role::Client, 6).deflate(&self.payload, &mut compressed);
        let payload = if deflated { &compressed[..] } else { &self.payload[..] };
        let mask =
            if self.mask { Some(apus_client::websocket::mask_key().map_err(|e| refused(&e.message))?) } else { None };
        let mut out = BytesMut::new();
        proto::encode(&mut out, self.opcode, self.fin, deflated, payload, mask);
        if let (Some(number), Some(first)) = (reserved(number), out.first_mut()) {
            *first = *first & !OPCODE | number;
        }
        Ok(out)
    }
}

/// Refuses a frame that may not follow those before it. There it is sent, and whoever gets it logs this.
pub(crate) fn misplaced(rule: &'static str) -> Raise {
    let there = match rule {
        proto::CONTINUES_NOTHING => {
            "A continuation frame cannot stand alone and MUST be preceded by an initial frame whose opcode indicates \
             either text or binary data."
        }
        proto::INTERRUPTS => {
            "All fragments of a message, except for the initial frame, must use the continuation frame opcode(0)."
        }
        rule => return refused(rule),
    };
    swoole::there(refused(rule), There::Logged(there.to_owned()))
}

/// The payload of a close frame.
pub(crate) fn close_payload(code: i64, reason: &[u8]) -> Result<Vec<u8>, Raise> {
    // A frame that came without a code goes back as one.
    if code == NO_STATUS && (reason.is_empty() || !swoole::is_on()) {
        return Ok(Vec::new());
    }
    let sendable = |&code: &u16| swoole::is_on() || close::is_sendable(code);
    let Some(code) = u16::try_from(code).ok().filter(sendable) else {
        let text = format!("{code} may not stand in a close frame: use 1000 to 1003, 1007 to 1014 or 3000 to 4999");
        return Err(refused(&text));
    };
    let reason = std::str::from_utf8(reason).map_err(|_| refused("the reason of a close frame must be UTF-8"))?;
    if reason.len() > proto::MAX_CONTROL - 2 {
        let raise = refused("the reason of a close frame has 123 bytes at most");
        let text = format!("the max length of close reason is {}", proto::MAX_CONTROL - 2);
        return Err(swoole::there(raise, There::Text(text)));
    }
    Ok([&code.to_be_bytes()[..], reason.as_bytes()].concat())
}

fn object(class: &Class, fd: i64, data: &[u8], opcode: Opcode, flags: i64) -> Result<Object, Raise> {
    let object = Object::plain(class.get())?;
    // The defaults are numbers and an interned string, which need no release.
    object.init_slot(slot::frame::FD, Value::int(fd));
    object.init_slot(slot::frame::DATA, Value::string(data)?);
    object.init_slot(slot::frame::OPCODE, Value::int(i64::from(opcode.number())));
    object.init_slot(slot::frame::FLAGS, Value::int(flags));
    object.init_slot(slot::frame::FINISH, Value::bool(flags & FIN != 0));
    Ok(object)
}

fn close_object(fd: i64, code: Option<u16>, reason: &[u8]) -> Result<Object, Raise> {
    let object = object(&CLOSE_FRAME, fd, b"", Opcode::Close, FIN)?;
    object.set_slot(slot::close_frame::CODE, Value::int(code.map_or(NO_STATUS, i64::from)));
    object.set_slot(slot::close_frame::REASON, Value::string(reason)?);
    Ok(object)
}

/// The frame object of what came.
pub(super) fn of_event(event: &Event, fd: i64) -> Result<Object, Raise> {
    match event {
        Event::Message { text, data, compressed } => {
            let opcode = if *text { Opcode::Text } else { Opcode::Binary };
            object(&FRAME, fd, data, opcode, if *compressed { FIN | RSV1 | COMPRESS } else { FIN })
        }
        Event::Ping(data) => object(&FRAME, fd, data, Opcode::Ping, FIN),
        Event::Pong(data) => object(&FRAME, fd, data, Opcode::Pong, FIN),
        Event::Close { code, reason } => close_object(fd, *code, reason),
    }
}

/// The frame object of a message that came to a server.
pub(crate) fn of_message(message: &Message<'_>, fd: i64) -> Result<Object, Raise> {
    let opcode = match message.kind {
        Kind::Text => Opcode::Text,
        Kind::Binary | Kind::Data => Opcode::Binary,
        Kind::Ping => Opcode::Ping,
        Kind::Pong => Opcode::Pong,
        Kind::Close { code } => return close_object(fd, code, message.data),
    };
    object(&FRAME, fd, message.data, opcode, if message.compressed { FIN | RSV1 | COMPRESS } else { FIN })
}

fn to_string(object: Object) -> Result<Vec<u8>, Raise> {
    Ok(Outgoing::from_frame(&object, packed)?.pack(number_of(&object))?.into())
}

pub(crate) fn pack(data: Any<'_>, opcode: i64, flags: i64) -> Result<Vec<u8>, Raise> {
    // A fragment may be masked; what is compressed is whole.
    let number = match data.view() {
        View::Object(object) if object.is(&FRAME) => number_of(&object.share()),
        _ => opcode,
    };
    let frame = Outgoing::read(data, flags, FIN | COMPRESS | RSV1, (opcode, packed));
    match frame.and_then(|frame| frame.pack(number)) {
        Ok(bytes) => Ok(bytes.into()),
        Err(raise) => {
            let text = swoole::told_there(raise)?;
            swoole::warning_of("Swoole\\WebSocket\\Frame::pack()", &text)?;
            Ok(Vec::new())
        }
    }
}

/// One whole frame as an object; none when the bytes are not one.
fn parse(bytes: &[u8]) -> Result<Option<Object>, Raise> {
    let role = if bytes.get(1).is_some_and(|byte| byte & 0x80 != 0) { Role::Server } else { Role::Client };
    // What is reserved is read as if it were bytes.
    let number = bytes.first().and_then(|first| reserved(i64::from(first & OPCODE)));
    let mut head = bytes.iter().take(MAX_HEAD).copied().collect::<Vec<_>>();
    if let (Some(_), Some(first)) = (number, head.first_mut()) {
        *first = *first & !OPCODE | Opcode::Binary.number();
    }
    let Ok(Some((header, at))) = Header::parse(&head, Some(role), true) else { return Ok(None) };
    let Some(payload) = usize::try_from(header.len).ok().and_then(|len| bytes.get(at..at.checked_add(len)?)) else {
        return Ok(None);
    };
    let mut payload = payload.to_vec();
    if let Some(key) = header.mask {
        proto::apply_mask(&mut payload, key, 0);
    }
    if header.opcode == Opcode::Close {
        let mut rest = &payload[..];
        let code = (rest.len() >= 2).then(|| rest.get_u16());
        return close_object(0, code, rest).map(Some);
    }
    let mut flags = if header.fin { FIN } else { 0 } | if header.mask.is_some() { MASK } else { 0 };
    if header.rsv1 {
        flags |= RSV1 | COMPRESS;
        let mut inflater = Params::default().inflater(Role::Client);
        let mut out = BytesMut::new();
        let inflated =
            inflater.inflate(&payload, &mut out, MAX_UNPACKED).and_then(|()| inflater.finish(&mut out, MAX_UNPACKED));
        if inflated.is_err() {
            return Ok(None);
        }
        payload = out.to_vec();
    }
    let frame = object(&FRAME, 0, &payload, header.opcode, flags)?;
    if let Some(number) = number {
        frame.set_slot(slot::frame::OPCODE, Value::int(number.into()));
    }
    Ok(Some(frame))
}

pub(crate) fn unpack(data: &[u8]) -> Result<OrFalse<Object>, Raise> {
    parse(data).map(OrFalse)
}

apus_zend::stub!("client/frame");
