//! What the routing adds to `Apus\Server`: users, topics, messages between workers.

use std::borrow::Cow;
use std::rc::Rc;

use apus_net::proto::websocket::Opcode;
use apus_net::{MAX_NAME, is_name};
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value};

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

/// The routing, inside a worker.
fn routing(call: &Call, what: &str) -> Result<Rc<Routing>, Raise> {
    // Says that it works inside workers.
    call.this::<ServerHandle>()?.0.worker(what)?;
    current().ok_or_else(|| exception::throw(exception::code::server::STATE, &format!("{what}: this worker is ending")))
}

fn checked<'a>(call: &Call, at: usize, name: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Raise> {
    if is_name(&name) {
        return Ok(name);
    }
    Err(call.value_error(at, &format!("must have 1 to {MAX_NAME} bytes, {} given", name.len())))
}

/// A user: a string, or an integer, which means its decimal digits.
fn user(call: &Call, at: usize) -> Result<Cow<'_, [u8]>, Raise> {
    let name = match call.view(at) {
        View::Int(number) => Cow::Owned(number.to_string().into_bytes()),
        View::Str(bytes) => Cow::Borrowed(bytes),
        _ => return Err(call.type_error(at, "of type string|int")),
    };
    checked(call, at, name)
}

fn topic(call: &Call, at: usize) -> Result<Cow<'_, [u8]>, Raise> {
    checked(call, at, Cow::Borrowed(call.bytes(at)?))
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
fn message(call: &Call, at: usize) -> Result<(How, Cow<'_, [u8]>), Raise> {
    let how = |opcode| How { opcode, fin: true, compress: false };
    if let View::Str(data) = call.view(at)
        && call.count() == at + 1
        && std::str::from_utf8(data).is_err()
    {
        return Ok((how(Opcode::Binary), Cow::Borrowed(data)));
    }
    let frame = Outgoing::from_call(call, at)?;
    if !frame.fin || !matches!(frame.opcode, Opcode::Text | Opcode::Binary | Opcode::Ping) {
        return Err(call.value_error(at, "must be a whole message: text, binary, or a ping"));
    }
    Ok((how(frame.opcode), frame.payload))
}

/// Changes a name of a connection of whichever worker.
fn change(call: &Call, what: &'static str, change: Change, name: &[u8]) -> Result<bool, Raise> {
    let (routing, fd) = (routing(call, what)?, call.int(0, 0)?);
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

pub(in crate::server) fn bind(call: &Call) -> Result<(), Raise> {
    let user = user(call, 1)?;
    let done = change(call, "Server::bind()", Change::Bind, &user)?;
    call.ret(done)
}

pub(in crate::server) fn unbind(call: &Call) -> Result<(), Raise> {
    let done = change(call, "Server::unbind()", Change::Unbind, b"")?;
    call.ret(done)
}

pub(in crate::server) fn subscribe(call: &Call) -> Result<(), Raise> {
    let topic = topic(call, 1)?;
    let done = change(call, "Server::subscribe()", Change::Subscribe, &topic)?;
    call.ret(done)
}

pub(in crate::server) fn unsubscribe(call: &Call) -> Result<(), Raise> {
    let topic = match call.opt_bytes(1)? {
        None | Some(b"") => Cow::Borrowed(&b""[..]),
        Some(_) => topic(call, 1)?,
    };
    let done = change(call, "Server::unsubscribe()", Change::Unsubscribe, &topic)?;
    call.ret(done)
}

pub(in crate::server) fn send_to_user(call: &Call) -> Result<(), Raise> {
    let (user, (how, data)) = (user(call, 0)?, message(call, 1)?);
    let reached = routing(call, "Server::sendToUser()")?.send_to_user(&user, how, &data)?;
    call.ret(reached)
}

pub(in crate::server) fn publish(call: &Call) -> Result<(), Raise> {
    let (topic, (how, data)) = (topic(call, 0)?, message(call, 1)?);
    let done = routing(call, "Server::publish()")?.publish(&topic, how, &data)?;
    call.ret(done)
}

pub(in crate::server) fn is_online(call: &Call) -> Result<(), Raise> {
    let (routing, user) = (routing(call, "Server::isOnline()")?, user(call, 0)?);
    let inquiry = Inquiry {
        what: "Server::isOnline()",
        question: Question::Online,
        name: &user,
        limit: 1,
        everywhere: true,
        slots: routing.user_slots(&user),
    };
    let found = routing.inquire(&inquiry)?;
    call.ret(found.is_some_and(|(count, _)| count > 0))
}

pub(in crate::server) fn user_connections(call: &Call) -> Result<(), Raise> {
    let (routing, user) = (routing(call, "Server::userConnections()")?, user(call, 0)?);
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
    call.ret(array)
}

pub(in crate::server) fn subscribers(call: &Call) -> Result<(), Raise> {
    let (routing, topic) = (routing(call, "Server::subscribers()")?, topic(call, 0)?);
    let inquiry = Inquiry {
        what: "Server::subscribers()",
        question: Question::Subscribers,
        name: &topic,
        limit: 0,
        everywhere: true,
        slots: routing.topic_slots(&topic),
    };
    let (count, _) = routing.inquire(&inquiry)?.unwrap_or_default();
    call.ret(count as i64)
}

pub(in crate::server) fn presence(call: &Call) -> Result<(), Raise> {
    let (routing, topic, limit) = (routing(call, "Server::presence()")?, topic(call, 0)?, call.int(1, 1000)?);
    if !(1..=MAX_ROWS).contains(&limit) {
        return Err(call.value_error(1, &format!("must be between 1 and {MAX_ROWS}, {limit} given")));
    }
    let inquiry = Inquiry {
        what: "Server::presence()",
        question: Question::Presence,
        name: &topic,
        limit: limit as usize,
        everywhere: true,
        slots: routing.topic_slots(&topic),
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
    call.ret(array)
}

pub(in crate::server) fn send_message(call: &Call) -> Result<(), Raise> {
    let (routing, id) = (routing(call, "Server::sendMessage()")?, call.int(1, 0)?);
    let role_counts = routing.worker.scoreboard.role_counts();
    let workers = role_counts.workers + role_counts.tasks;
    let Some(to) = u16::try_from(id).ok().filter(|id| *id < workers) else {
        return Err(call.value_error(1, &format!("must be the id of a worker, 0 to {}, {id} given", workers - 1)));
    };
    let handed = routing.send_pipe_message(&call.value(0), to)?;
    call.ret(handed.told())
}
