//! What the routing adds to `Apus\Server`: users, topics, messages between workers.

use std::borrow::Cow;
use std::rc::Rc;

use apus_net::proto::websocket::Opcode;
use apus_net::{MAX_NAME, is_name};
use apus_zend::arg::{Any, Given, Want};
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value};

use super::names::{CHANGED, NO_CONNECTION};
use super::record::{Change, How, Order, Question};
use super::remote::Forwarded;
use super::users::Inquiry;
use super::{Routing, current};
use crate::client::frame::Outgoing;
use crate::exception::{self};
use crate::server::core::ServerHandle;

/// Rows that `presence()` gives at most.
const MAX_ROWS: i64 = 100_000;
/// `Apus\WEBSOCKET_OPCODE_TEXT`.
const TEXT: i64 = 1;
/// `Apus\WEBSOCKET_FLAG_FIN`.
pub(in crate::server) const WHOLE: i64 = 1;

/// The routing, inside a worker.
fn routing(core: &ServerHandle, what: &str) -> Result<Rc<Routing>, Raise> {
    // Says that it works inside workers.
    core.worker(what)?;
    current().ok_or_else(|| exception::throw(exception::code::server::STATE, &format!("{what}: this worker is ending")))
}

/// What is wrong with a name; `None` for nothing.
fn mistake(name: &[u8]) -> Option<String> {
    (!is_name(name)).then(|| format!("must have 1 to {MAX_NAME} bytes, {} given", name.len()))
}

/// A user: a string, or an integer, which means its decimal digits.
pub(in crate::server) struct User<'a>(Cow<'a, [u8]>);

impl<'a> Want<Any<'a>> for User<'a> {
    fn want(given: Given<Any<'a>>) -> Result<Self, Raise> {
        let name = match given.value.view() {
            View::Int(number) => Cow::Owned(number.to_string().into_bytes()),
            View::Str(bytes) => Cow::Borrowed(bytes),
            _ => return Err(given.value.type_error("of type string|int")),
        };
        mistake(&name).map_or(Ok(Self(name)), |text| Err(given.value_error(&text)))
    }
}

impl Want<i64> for User<'_> {
    fn want(given: Given<i64>) -> Result<Self, Raise> {
        Ok(Self(Cow::Owned(given.value.to_string().into_bytes())))
    }
}

impl User<'_> {
    pub(in crate::server) fn name(&self) -> &[u8] {
        &self.0
    }
}

/// A topic.
pub(in crate::server) struct Topic<'a>(&'a [u8]);

impl Topic<'_> {
    pub(in crate::server) fn name(&self) -> &[u8] {
        self.0
    }
}

impl<'a> Want<&'a [u8]> for Topic<'a> {
    fn want(given: Given<&'a [u8]>) -> Result<Self, Raise> {
        mistake(given.value).map_or(Ok(Self(given.value)), |text| Err(given.value_error(&text)))
    }
}

/// A topic, or all of them.
pub(in crate::server) struct TopicOrAll<'a>(&'a [u8]);

impl<'a> Want<&'a [u8]> for TopicOrAll<'a> {
    fn want(given: Given<&'a [u8]>) -> Result<Self, Raise> {
        if given.value.is_empty() { Ok(Self(b"")) } else { Topic::want(given).map(|topic| Self(topic.0)) }
    }
}

/// A user as PHP has it: as an array has its keys, decimal digits are an integer.
fn user_value(user: &[u8]) -> Result<Value, Raise> {
    let number = std::str::from_utf8(user).ok().and_then(|text| text.parse::<i64>().ok());
    match number.filter(|number| number.to_string().as_bytes() == user) {
        Some(number) => Ok(Value::int(number)),
        None => Value::string(user),
    }
}

/// A message for many: whole, and text or binary (or a ping). Data of no said kind that is not UTF-8 is binary: streams
/// have no kinds of messages.
pub(in crate::server) fn message(
    given: Any<'_>,
    opcode: Option<i64>,
    flags: i64,
) -> Result<(How, Cow<'_, [u8]>), Raise> {
    let how = |opcode| How { opcode, fin: true, compress: false };
    if let View::Str(data) = given.view()
        && opcode.is_none()
        && std::str::from_utf8(data).is_err()
    {
        return Ok((how(Opcode::Binary), Cow::Borrowed(data)));
    }
    let frame = Outgoing::of(given, opcode.unwrap_or(TEXT), flags)?;
    if !frame.fin || !matches!(frame.opcode, Opcode::Text | Opcode::Binary | Opcode::Ping) {
        return Err(given.value_error("must be a whole message: text, binary, or a ping"));
    }
    Ok((how(frame.opcode), frame.payload))
}

/// Changes a name of a connection of whichever worker.
fn change(core: &ServerHandle, what: &'static str, fd: i64, change: Change, name: &[u8]) -> Result<bool, Raise> {
    let routing = routing(core, what)?;
    let done = if routing.control.contains(fd) {
        routing.change(fd, change, name)
    } else if let Some(entry) = routing.elsewhere(fd) {
        let order = |number| Order::Name { number, fd, change, name };
        if !routing.can_wait() {
            return Ok(Forwarded::from(routing.outbox.post_now(entry.slot, &order(0))).told());
        }
        routing.ask_one(what, entry.slot, order)?.unwrap_or(0) as usize
    } else {
        NO_CONNECTION
    };
    Ok(match done {
        CHANGED => true,
        NO_CONNECTION => Forwarded::NotExist.told(),
        _ => Forwarded::Overflow.told(),
    })
}

pub(in crate::server) fn bind(core: &ServerHandle, fd: i64, user: User<'_>) -> Result<bool, Raise> {
    change(core, "Server::bind()", fd, Change::Bind, &user.0)
}

pub(in crate::server) fn unbind(core: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    change(core, "Server::unbind()", fd, Change::Unbind, b"")
}

pub(in crate::server) fn subscribe(core: &ServerHandle, fd: i64, Topic(topic): Topic<'_>) -> Result<bool, Raise> {
    change(core, "Server::subscribe()", fd, Change::Subscribe, topic)
}

pub(in crate::server) fn unsubscribe(
    core: &ServerHandle,
    fd: i64,
    TopicOrAll(topic): TopicOrAll<'_>,
) -> Result<bool, Raise> {
    change(core, "Server::unsubscribe()", fd, Change::Unsubscribe, topic)
}

pub(in crate::server) fn send_to_user(
    core: &ServerHandle,
    user: User<'_>,
    data: Any<'_>,
    opcode: Option<i64>,
    flags: i64,
) -> Result<i64, Raise> {
    let (how, data) = message(data, opcode, flags)?;
    routing(core, "Server::sendToUser()")?.send_to_user(&user.0, how, &data)
}

pub(in crate::server) fn publish(
    core: &ServerHandle,
    Topic(topic): Topic<'_>,
    data: Any<'_>,
    opcode: Option<i64>,
    flags: i64,
) -> Result<bool, Raise> {
    let (how, data) = message(data, opcode, flags)?;
    routing(core, "Server::publish()")?.publish(topic, how, &data)
}

pub(in crate::server) fn is_online(core: &ServerHandle, User(user): User<'_>) -> Result<bool, Raise> {
    routing(core, "Server::isOnline()")?.is_online("Server::isOnline()", &user)
}

pub(in crate::server) fn user_connections(core: &ServerHandle, User(user): User<'_>) -> Result<Array, Raise> {
    let routing = routing(core, "Server::userConnections()")?;
    let inquiry = Inquiry {
        what: "Server::userConnections()",
        question: Question::Connections,
        name: &user,
        limit: MAX_ROWS as usize,
        everywhere: false,
        slots: routing.user_slots(&user),
    };
    let (_, rows) = routing.inquire(&inquiry)?.unwrap_or_default();
    let mut fds: Vec<i64> = rows.iter().map(|(_, row)| row.fd).collect();
    fds.sort_unstable();
    let mut array = Array::new(fds.len())?;
    for fd in fds {
        array.push(Value::int(fd))?;
    }
    Ok(array)
}

pub(in crate::server) fn subscribers(core: &ServerHandle, Topic(topic): Topic<'_>) -> Result<i64, Raise> {
    routing(core, "Server::subscribers()")?.subscribers("Server::subscribers()", topic)
}

pub(in crate::server) fn presence(
    core: &ServerHandle,
    Topic(topic): Topic<'_>,
    limit: Given<i64>,
) -> Result<Array, Raise> {
    let routing = routing(core, "Server::presence()")?;
    if !(1..=MAX_ROWS).contains(&limit.value) {
        return Err(limit.must_be(&format!("between 1 and {MAX_ROWS}")));
    }
    let inquiry = Inquiry {
        what: "Server::presence()",
        question: Question::Presence,
        name: topic,
        limit: limit.value as usize,
        everywhere: true,
        slots: routing.topic_slots(topic),
    };
    let (_, rows) = routing.inquire(&inquiry)?.unwrap_or_default();
    let mut array = Array::new(rows.len())?;
    for (node, row) in rows {
        let mut entry = Array::new(4)?;
        entry.set_int(b"fd", row.fd)?;
        let user = row.user.as_deref().map_or_else(|| Ok(Value::null()), user_value)?;
        entry.set(b"user", user)?;
        entry.set_int(b"worker_id", i64::from(row.worker))?;
        let server = if node == 0 { String::new() } else { format!("{node:016x}") };
        entry.set_str(b"server", server.as_bytes())?;
        array.push(entry.into())?;
    }
    Ok(array)
}

pub(in crate::server) fn send_message(core: &ServerHandle, message: Value, id: Given<i64>) -> Result<bool, Raise> {
    let routing = routing(core, "Server::sendMessage()")?;
    let role_counts = routing.worker.scoreboard.role_counts();
    let workers = role_counts.workers + role_counts.tasks;
    let Some(to) = u16::try_from(id.value).ok().filter(|id| *id < workers) else {
        let text = format!("must be the id of a worker, 0 to {}, {} given", workers - 1, id.value);
        return Err(id.value_error(&text));
    };
    Ok(routing.send_pipe_message(&message, to)?.told())
}

impl Routing {
    fn is_online(self: &Rc<Self>, what: &'static str, user: &[u8]) -> Result<bool, Raise> {
        let slots = self.user_slots(user);
        let inquiry = Inquiry { what, question: Question::Online, name: user, limit: 1, everywhere: true, slots };
        Ok(self.inquire(&inquiry)?.is_some_and(|(count, _)| count > 0))
    }

    fn subscribers(self: &Rc<Self>, what: &'static str, topic: &[u8]) -> Result<i64, Raise> {
        let slots = self.topic_slots(topic);
        let inquiry = Inquiry { what, question: Question::Subscribers, name: topic, limit: 0, everywhere: true, slots };
        let (count, _) = self.inquire(&inquiry)?.unwrap_or_default();
        Ok(count as i64)
    }
}

/// `Apus\Push::publish()` in a process that has a routing; `None` in others. So are those below.
pub(in crate::server) fn publish_here(topic: &Topic<'_>, how: How, data: &[u8]) -> Option<Result<bool, Raise>> {
    current().map(|routing| routing.publish(topic.0, how, data))
}

pub(in crate::server) fn send_to_user_here(user: &User<'_>, how: How, data: &[u8]) -> Option<Result<i64, Raise>> {
    current().map(|routing| routing.send_to_user(&user.0, how, data))
}

pub(in crate::server) fn is_online_here(user: &User<'_>) -> Option<Result<bool, Raise>> {
    current().map(|routing| routing.is_online("Push::isOnline()", &user.0))
}

pub(in crate::server) fn subscribers_here(topic: &Topic<'_>) -> Option<Result<i64, Raise>> {
    current().map(|routing| routing.subscribers("Push::subscribers()", topic.0))
}
