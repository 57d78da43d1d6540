//! Orders between the processes of a server, and between servers, as bytes. No I/O.
//!
//! A record is a kind, a head of a few fixed fields, and a tail that is the payload as it is. Numbers are
//! little-endian: both ends are the same build on one machine, or at least the same version on several ([`VERSION`]).

use apus_net::proto::websocket::Opcode;
use apus_net::{MAX_NAME, MessageConn};

/// Changes with the form of any record; a server ignores messages of another version.
pub(super) const VERSION: u8 = 4;
/// The longest head: a name, and what goes before it.
const MAX_HEAD: usize = MAX_NAME + 32;

/// How a message is to be sent over a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) struct How {
    pub(in crate::server) opcode: Opcode,
    pub(in crate::server) fin: bool,
    pub(in crate::server) compress: bool,
}

impl How {
    fn pack(self) -> u8 {
        self.opcode.number() | u8::from(self.fin) << 4 | u8::from(self.compress) << 5
    }

    fn unpack(bits: u8) -> Option<Self> {
        let opcode = Opcode::from_number(bits & 15)?;
        Some(Self { opcode, fin: bits & 16 != 0, compress: bits & 32 != 0 })
    }
}

/// What is to be done with a connection's reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Step {
    Pause,
    Resume,
    Protect,
    Unprotect,
}

impl Step {
    /// Turns the switch of a message connection.
    pub(in crate::server) fn turn(self, message_conn: &MessageConn) {
        match self {
            Self::Pause => message_conn.pause(),
            Self::Resume => message_conn.resume(),
            Self::Protect => message_conn.protect(true),
            Self::Unprotect => message_conn.protect(false),
        }
    }
}

/// A change of a connection's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Bind,
    Unbind,
    Subscribe,
    Unsubscribe,
}

/// A question about names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// How many connections a user has.
    Online,
    /// Which connections a user has.
    Connections,
    /// How many connections have subscribed a topic.
    Subscribers,
    /// Which connections have subscribed a topic, and whose they are.
    Presence,
    /// How many connections a message reached that was sent before, under the number that the name holds.
    Reached,
    /// What a function of the program returns that `addCommand()` was given.
    Command,
}

/// What a process without connections wants a worker to do for it, by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Errand {
    /// Send the payload to all subscribers of a topic; the answer is 0 where some may not get it.
    Publish(How),
    /// Send the payload to all connections of a user; the answer is how many it reached.
    ToUser(How),
    /// How many connections a user has.
    Online,
    /// How many connections have subscribed a topic.
    Subscribers,
    /// Close a user's connections with that code, and the payload as reason; the answer is how many.
    Disconnect(u16),
}

impl Errand {
    /// Its number, and what is told of it.
    fn pack(self) -> (u8, u16) {
        match self {
            Self::Publish(how) => (0, how.pack().into()),
            Self::ToUser(how) => (1, how.pack().into()),
            Self::Online => (2, 0),
            Self::Subscribers => (3, 0),
            Self::Disconnect(code) => (4, code),
        }
    }

    fn unpack(number: u8, detail: u16) -> Option<Self> {
        let how = || How::unpack(u8::try_from(detail).ok()?);
        Some(match number {
            0 => Self::Publish(how()?),
            1 => Self::ToUser(how()?),
            2 => Self::Online,
            3 => Self::Subscribers,
            4 => Self::Disconnect(detail),
            _ => return None,
        })
    }
}

/// What one process wants of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Order<'a> {
    /// A WebSocket message for a connection.
    Push { fd: i64, how: How, payload: &'a [u8] },
    /// Bytes for a stream connection.
    Send { fd: i64, payload: &'a [u8] },
    /// A step of the answer to a request, as `http::Reply` reads it.
    Reply { fd: i64, reply: &'a [u8] },
    /// The end of a connection.
    Close { fd: i64, reset: bool, code: u16, reason: &'a [u8] },
    /// A switch of a connection.
    Reading { fd: i64, step: Step },
    /// A value for the program of the other worker.
    Pipe { worker: u16, serialized: bool, value: &'a [u8] },
    /// What a client has sent to that port, by its place, for this worker to handle; of a datagram with its sender.
    Dispatch { fd: i64, port: u16, client_port: u16, address: &'a [u8], payload: &'a [u8] },
    /// A change of a connection's names; answered.
    Name { number: u64, fd: i64, change: Change, name: &'a [u8] },
    /// A message for all connections of a user; answered with how many it reached.
    ToUser { number: u64, how: How, user: &'a [u8], payload: &'a [u8] },
    /// A message for all subscribers of a topic.
    Publish { how: How, topic: &'a [u8], payload: &'a [u8] },
    /// A question; answered.
    Ask { number: u64, question: Question, limit: u32, name: &'a [u8] },
    /// What another process is to do; answered.
    Errand { number: u64, errand: Errand, name: &'a [u8], payload: &'a [u8] },
    /// The answer to whatever had that number.
    Answer { number: u64, body: &'a [u8] },
    /// Between servers: a process is there.
    Hello,
    /// Between servers: a process leaves.
    Bye,
}

const PUSH: u8 = 1;
const SEND: u8 = 2;
const CLOSE: u8 = 3;
const READING: u8 = 4;
const PIPE: u8 = 5;
const NAME: u8 = 6;
const TO_USER: u8 = 7;
const PUBLISH: u8 = 8;
const ASK: u8 = 9;
const ANSWER: u8 = 10;
const HELLO: u8 = 11;
const BYE: u8 = 12;
const REPLY: u8 = 14;
const DISPATCH: u8 = 15;
const ERRAND: u8 = 16;
/// A part of a record that is longer than what carries it.
pub(super) const PART: u8 = 13;

const STEPS: [Step; 4] = [Step::Pause, Step::Resume, Step::Protect, Step::Unprotect];
const CHANGES: [Change; 4] = [Change::Bind, Change::Unbind, Change::Subscribe, Change::Unsubscribe];
const QUESTIONS: [Question; 6] = [
    Question::Online,
    Question::Connections,
    Question::Subscribers,
    Question::Presence,
    Question::Reached,
    Question::Command,
];

/// The encoded head of an order; its tail is the order's own payload.
pub(super) struct Head {
    bytes: [u8; MAX_HEAD],
    len: usize,
}

impl Head {
    fn new() -> Self {
        Self { bytes: [0; MAX_HEAD], len: 0 }
    }

    /// What does not fit is left out: names are checked before, and everything else is fixed.
    fn put(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            place.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    fn put_name(&mut self, name: &[u8]) {
        self.put(&(name.len() as u16).to_le_bytes());
        self.put(name);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<'a> Order<'a> {
    /// Its kind, its head, and its tail.
    pub(super) fn encode(&self) -> (u8, Head, &'a [u8]) {
        let mut head = Head::new();
        let (kind, tail) = match *self {
            Self::Push { fd, how, payload } => {
                head.put(&fd.to_le_bytes());
                head.put(&[how.pack()]);
                (PUSH, payload)
            }
            Self::Send { fd, payload } => {
                head.put(&fd.to_le_bytes());
                (SEND, payload)
            }
            Self::Reply { fd, reply } => {
                head.put(&fd.to_le_bytes());
                (REPLY, reply)
            }
            Self::Close { fd, reset, code, reason } => {
                head.put(&fd.to_le_bytes());
                head.put(&[u8::from(reset)]);
                head.put(&code.to_le_bytes());
                (CLOSE, reason)
            }
            Self::Reading { fd, step } => {
                head.put(&fd.to_le_bytes());
                head.put(&[step as u8]);
                (READING, &[][..])
            }
            Self::Pipe { worker, serialized, value } => {
                head.put(&worker.to_le_bytes());
                head.put(&[u8::from(serialized)]);
                (PIPE, value)
            }
            Self::Dispatch { fd, port, client_port, address, payload } => {
                head.put(&fd.to_le_bytes());
                head.put(&port.to_le_bytes());
                head.put(&client_port.to_le_bytes());
                head.put_name(address);
                (DISPATCH, payload)
            }
            Self::Hello => (HELLO, &[][..]),
            Self::Bye => (BYE, &[][..]),
            _ => self.encode_named(&mut head),
        };
        (kind, head, tail)
    }

    fn encode_named(&self, head: &mut Head) -> (u8, &'a [u8]) {
        match *self {
            Self::Name { number, fd, change, name } => {
                head.put(&number.to_le_bytes());
                head.put(&fd.to_le_bytes());
                head.put(&[change as u8]);
                (NAME, name)
            }
            Self::ToUser { number, how, user, payload } => {
                head.put(&number.to_le_bytes());
                head.put(&[how.pack()]);
                head.put_name(user);
                (TO_USER, payload)
            }
            Self::Publish { how, topic, payload } => {
                head.put(&[how.pack()]);
                head.put_name(topic);
                (PUBLISH, payload)
            }
            Self::Ask { number, question, limit, name } => {
                head.put(&number.to_le_bytes());
                head.put(&[question as u8]);
                head.put(&limit.to_le_bytes());
                (ASK, name)
            }
            Self::Errand { number, errand, name, payload } => {
                let (kind, detail) = errand.pack();
                head.put(&number.to_le_bytes());
                head.put(&[kind]);
                head.put(&detail.to_le_bytes());
                head.put_name(name);
                (ERRAND, payload)
            }
            Self::Answer { number, body } => {
                head.put(&number.to_le_bytes());
                (ANSWER, body)
            }
            _ => (0, &[][..]),
        }
    }

    /// Reads a record; `None` for one that makes no sense.
    pub(super) fn decode(kind: u8, bytes: &'a [u8]) -> Option<Self> {
        let mut at = Reader(bytes);
        Some(match kind {
            PUSH => Self::Push { fd: at.i64()?, how: How::unpack(at.u8()?)?, payload: at.rest() },
            SEND => Self::Send { fd: at.i64()?, payload: at.rest() },
            REPLY => Self::Reply { fd: at.i64()?, reply: at.rest() },
            CLOSE => Self::Close { fd: at.i64()?, reset: at.u8()? != 0, code: at.u16()?, reason: at.rest() },
            READING => Self::Reading { fd: at.i64()?, step: *STEPS.get(usize::from(at.u8()?))? },
            PIPE => Self::Pipe { worker: at.u16()?, serialized: at.u8()? != 0, value: at.rest() },
            DISPATCH => Self::Dispatch {
                fd: at.i64()?,
                port: at.u16()?,
                client_port: at.u16()?,
                address: at.name()?,
                payload: at.rest(),
            },
            NAME => Self::Name {
                number: at.u64()?,
                fd: at.i64()?,
                change: *CHANGES.get(usize::from(at.u8()?))?,
                name: at.rest(),
            },
            TO_USER => {
                let (number, how) = (at.u64()?, How::unpack(at.u8()?)?);
                Self::ToUser { number, how, user: at.name()?, payload: at.rest() }
            }
            PUBLISH => Self::Publish { how: How::unpack(at.u8()?)?, topic: at.name()?, payload: at.rest() },
            ASK => Self::Ask {
                number: at.u64()?,
                question: *QUESTIONS.get(usize::from(at.u8()?))?,
                limit: at.u32()?,
                name: at.rest(),
            },
            ERRAND => Self::Errand {
                number: at.u64()?,
                errand: Errand::unpack(at.u8()?, at.u16()?)?,
                name: at.name()?,
                payload: at.rest(),
            },
            ANSWER => Self::Answer { number: at.u64()?, body: at.rest() },
            HELLO => Self::Hello,
            BYE => Self::Bye,
            _ => return None,
        })
    }
}

/// Takes fields off the front of bytes.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn name(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(self.u16()?);
        let (name, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(name)
    }

    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// A connection, as presence tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) fd: i64,
    pub(super) worker: u16,
    pub(super) user: Option<Box<[u8]>>,
}

/// What a question or an order is answered with: a number, and for some questions rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Body {
    pub(super) count: u64,
    pub(super) rows: Vec<Row>,
    /// What a command has answered.
    pub(super) text: Vec<u8>,
}

/// What stands in the place of a row's third field where the rest is text.
const TEXT: u8 = 2;

impl Body {
    pub(super) fn of_count(count: usize) -> Self {
        Self { count: count as u64, ..Self::default() }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + self.rows.len() * 32);
        out.extend_from_slice(&self.count.to_le_bytes());
        for row in &self.rows {
            out.extend_from_slice(&row.fd.to_le_bytes());
            out.extend_from_slice(&row.worker.to_le_bytes());
            out.push(u8::from(row.user.is_some()));
            let user = row.user.as_deref().unwrap_or_default();
            out.extend_from_slice(&(user.len() as u16).to_le_bytes());
            out.extend_from_slice(user);
        }
        if !self.text.is_empty() {
            out.extend_from_slice(&[0; 10]);
            out.push(TEXT);
            out.extend_from_slice(&self.text);
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut at = Reader(bytes);
        let mut body = Self { count: at.u64()?, ..Self::default() };
        while !at.0.is_empty() {
            let (fd, worker, kind) = (at.i64()?, at.u16()?, at.u8()?);
            if kind == TEXT {
                body.text = at.rest().to_vec();
                break;
            }
            let bound = kind != 0;
            let user = at.name()?;
            body.rows.push(Row { fd, worker, user: bound.then(|| user.into()) });
        }
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(order: Order<'_>) {
        let (kind, head, tail) = order.encode();
        let bytes = [head.bytes(), tail].concat();
        assert_eq!(Order::decode(kind, &bytes), Some(order));
        // A head that is cut short is no order, and never a panic.
        for len in 0..head.bytes().len() {
            assert_eq!(Order::decode(kind, &bytes[..len]), None, "{order:?} cut to {len}");
        }
    }

    #[test]
    fn orders_survive_the_way() {
        let how = How { opcode: Opcode::Binary, fin: true, compress: false };
        let fragment = How { opcode: Opcode::Text, fin: false, compress: true };
        let long = [b'n'; MAX_NAME];
        through(Order::Push { fd: i64::MAX, how, payload: b"data" });
        through(Order::Push { fd: 1, how: fragment, payload: b"" });
        through(Order::Send { fd: 4096, payload: b"\0" });
        through(Order::Reply { fd: 2, reply: b"step" });
        through(Order::Close { fd: 7, reset: true, code: 4999, reason: b"why" });
        for step in STEPS {
            through(Order::Reading { fd: 1, step });
        }
        through(Order::Pipe { worker: 3, serialized: true, value: b"i:1;" });
        through(Order::Dispatch { fd: 5, port: 1, client_port: 9, address: b"127.0.0.1", payload: b"line" });
        for change in CHANGES {
            through(Order::Name { number: u64::MAX, fd: 9, change, name: b"x" });
        }
        through(Order::ToUser { number: 1, how, user: &long, payload: b"p" });
        through(Order::Publish { how, topic: &long, payload: &[7; 1000] });
        for question in QUESTIONS {
            through(Order::Ask { number: 2, question, limit: 10, name: &long });
        }
        let errands =
            [Errand::Publish(how), Errand::ToUser(how), Errand::Online, Errand::Subscribers, Errand::Disconnect(1000)];
        for errand in errands {
            through(Order::Errand { number: 4, errand, name: &long, payload: b"p" });
        }
        through(Order::Answer { number: 3, body: b"12345678" });
        through(Order::Hello);
        through(Order::Bye);
    }

    #[test]
    fn what_is_no_order_is_none() {
        assert_eq!(Order::decode(0, b""), None);
        assert_eq!(Order::decode(PART, &[0; 64]), None);
        assert_eq!(Order::decode(READING, &[0, 0, 0, 0, 0, 0, 0, 0, 4]), None);
        // Opcode 3 is reserved.
        assert_eq!(Order::decode(PUBLISH, &[3, 1, 0, b'a']), None);
        assert_eq!(Order::decode(PUBLISH, &[1, 2, 0, b'a']), None);
    }

    #[test]
    fn answers_survive_the_way() {
        let user = Some(Box::from(&b"u"[..]));
        let rows = vec![Row { fd: 1, worker: 2, user }, Row { fd: 3, worker: 4, user: None }];
        let mut body = Body { count: 2, rows, text: b"[1]".to_vec() };
        assert_eq!(Body::decode(&body.encode()), Some(body.clone()));
        body.text.clear();
        let bytes = body.encode();
        assert_eq!(Body::decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Body::decode(&Body::of_count(5).encode()), Some(Body { count: 5, ..Body::default() }));
    }
}
