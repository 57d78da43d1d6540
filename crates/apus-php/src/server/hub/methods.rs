//! What the hub adds to `Apus\Server`: users, topics, messages between workers.

use std::borrow::Cow;
use std::rc::Rc;

use apus_net::proto::websocket::Opcode;
use apus_net::{MAX_NAME, is_name};
use apus_zend::class::Method;
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, handler};

use super::names::{CHANGED, NO_CONNECTION};
use super::record::{Change, How, Order, Question};
use super::remote::Handed;
use super::users::Inquiry;
use super::{Hub, current};
use crate::client::frame::Outgoing;
use crate::exception::{self, SERVER};
use crate::server::core::ServerHandle;

/// Rows that `presence()` gives at most.
const MAX_ROWS: i64 = 100_000;

/// The hub, inside a worker.
fn hub(call: &Call, what: &str) -> Result<Rc<Hub>, Raise> {
    // Says that it works inside workers.
    call.this::<ServerHandle>()?.0.worker(what)?;
    current().ok_or_else(|| exception::throw(&SERVER, "STATE", &format!("{what}: this worker is ending")))
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

/// A message for many: whole, and text or binary (or a ping). Data of no said kind that is not UTF-8 is binary: streams have no
/// kinds of messages.
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
    let (hub, fd) = (hub(call, what)?, call.int(0, 0)?);
    let done = if hub.control.contains(fd) {
        hub.change(fd, change, name)
    } else if let Some(entry) = hub.elsewhere(fd) {
        let order = |number| Order::Name { number, fd, change, name };
        if !hub.can_wait() {
            return Ok(Handed::from(hub.outbox.post_now(entry.slot, &order(0))).told());
        }
        hub.ask_one(what, entry.slot, order)?.unwrap_or(0) as usize
    } else {
        NO_CONNECTION
    };
    Ok(match done {
        CHANGED => true,
        NO_CONNECTION => Handed::NotExist.told(),
        _ => Handed::Overflow.told(),
    })
}

fn bind(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let user = user(call, 1)?;
    let done = change(call, "Server::bind()", Change::Bind, &user)?;
    call.ret(done)
}

fn unbind(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let done = change(call, "Server::unbind()", Change::Unbind, b"")?;
    call.ret(done)
}

fn subscribe(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let topic = topic(call, 1)?;
    let done = change(call, "Server::subscribe()", Change::Subscribe, &topic)?;
    call.ret(done)
}

fn unsubscribe(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let topic = match call.opt_bytes(1)? {
        None | Some(b"") => Cow::Borrowed(&b""[..]),
        Some(_) => topic(call, 1)?,
    };
    let done = change(call, "Server::unsubscribe()", Change::Unsubscribe, &topic)?;
    call.ret(done)
}

fn send_to_user(call: &Call) -> Result<(), Raise> {
    call.expect(2, 4)?;
    let (user, (how, data)) = (user(call, 0)?, message(call, 1)?);
    let reached = hub(call, "Server::sendToUser()")?.send_to_user(&user, how, &data)?;
    call.ret(reached)
}

fn publish(call: &Call) -> Result<(), Raise> {
    call.expect(2, 4)?;
    let (topic, (how, data)) = (topic(call, 0)?, message(call, 1)?);
    let done = hub(call, "Server::publish()")?.publish(&topic, how, &data)?;
    call.ret(done)
}

fn is_online(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let (hub, user) = (hub(call, "Server::isOnline()")?, user(call, 0)?);
    let inquiry = Inquiry {
        what: "Server::isOnline()",
        question: Question::Online,
        name: &user,
        limit: 1,
        everywhere: true,
        slots: hub.user_slots(&user),
    };
    let found = hub.inquire(&inquiry)?;
    call.ret(found.is_some_and(|(count, _)| count > 0))
}

fn user_connections(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let (hub, user) = (hub(call, "Server::userConnections()")?, user(call, 0)?);
    let inquiry = Inquiry {
        what: "Server::userConnections()",
        question: Question::Connections,
        name: &user,
        limit: MAX_ROWS as usize,
        everywhere: false,
        slots: hub.user_slots(&user),
    };
    let (_, rows) = hub.inquire(&inquiry)?.unwrap_or_default();
    let mut fds: Vec<i64> = rows.iter().map(|(_, row)| row.fd).collect();
    fds.sort_unstable();
    let mut array = Array::new(fds.len())?;
    for fd in fds {
        array.push(Value::int(fd))?;
    }
    call.ret(array)
}

fn subscribers(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let (hub, topic) = (hub(call, "Server::subscribers()")?, topic(call, 0)?);
    let inquiry = Inquiry {
        what: "Server::subscribers()",
        question: Question::Subscribers,
        name: &topic,
        limit: 0,
        everywhere: true,
        slots: hub.topic_slots(&topic),
    };
    let (count, _) = hub.inquire(&inquiry)?.unwrap_or_default();
    call.ret(count as i64)
}

fn presence(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let (hub, topic, limit) = (hub(call, "Server::presence()")?, topic(call, 0)?, call.int(1, 1000)?);
    if !(1..=MAX_ROWS).contains(&limit) {
        return Err(call.value_error(1, &format!("must be between 1 and {MAX_ROWS}, {limit} given")));
    }
    let inquiry = Inquiry {
        what: "Server::presence()",
        question: Question::Presence,
        name: &topic,
        limit: limit as usize,
        everywhere: true,
        slots: hub.topic_slots(&topic),
    };
    let (_, rows) = hub.inquire(&inquiry)?.unwrap_or_default();
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

fn send_message(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let (hub, id) = (hub(call, "Server::sendMessage()")?, call.int(1, 0)?);
    let seating = hub.worker.scoreboard.seating();
    let workers = seating.workers + seating.tasks;
    let Some(to) = u16::try_from(id).ok().filter(|id| *id < workers) else {
        return Err(call.value_error(1, &format!("must be the id of a worker, 0 to {}, {id} given", workers - 1)));
    };
    let handed = hub.send_letter(&call.value(0), to)?;
    call.ret(handed.told())
}

/// What the hub adds to `Apus\Server`.
pub(in crate::server) const METHODS: &[Method] = &[
    Method {
        decl: "public function sendMessage(mixed $message, int $workerId): bool",
        doc: "Sends a value to a worker, which may be this one: its event pipemessage ($server, $srcWorkerId, $message) gets it. Messages\n\
              of one worker arrive in order. Values other than strings are serialized; objects are unserialized outside coroutines.\n\
              @param int $workerId 0 to worker_num + task_worker_num - 1\n\
              @return bool false when the worker takes nothing now (outside coroutines), is just being replaced, or the value is larger than\n\
              package_max_length and 8 MiB: see getLastError()\n\
              @throws \\ValueError when there is no such worker\n@throws \\Exception what serialize() throws\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (where a coroutine runs).\n@since 0.1.0",
        handler: Some(handler!(send_message)),
    },
    Method {
        decl: "public function bind(int $fd, string|int $user): bool",
        doc: "Says whose connection it is, of whichever worker. A user may have many connections, a connection has one user; the last\n\
              call counts. It ends with the connection.\n\
              @param string|int $user 1 to 256 bytes; an integer means its decimal digits\n\
              @return bool false when there is no such connection\n\
              @throws \\ValueError for a name that is empty or too long\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for a connection of another worker).\n@since 0.1.0",
        handler: Some(handler!(bind)),
    },
    Method {
        decl: "public function unbind(int $fd): bool",
        doc: "The connection has no user any more.\n@return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for a connection of another worker).\n@since 0.1.0",
        handler: Some(handler!(unbind)),
    },
    Method {
        decl: "public function sendToUser(string|int $user, Apus\\WebSocket\\Frame|string $data, int $opcode = 1, int $flags = 1): int",
        doc: "Sends a message to all connections of a user, in all workers, and with the setting broker on all servers: WebSockets get a\n\
              message (binary where $data is not UTF-8 and no $opcode is given), others the data as it is. A connection for which buffer_output_size bytes wait does not get it and is not counted.\n\
              @return int the connections that it reached; processes that do not answer within 2 s are not counted\n\
              @throws \\ValueError, \\Apus\\Client\\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE where others would have to be waited for\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for the answers of other workers).\n@since 0.1.0",
        handler: Some(handler!(send_to_user)),
    },
    Method {
        decl: "public function isOnline(string|int $user): bool",
        doc: "Whether a user has a connection, on any worker, and with the setting broker on any server.\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for the answers of other workers, 2 s at most).\n@since 0.1.0",
        handler: Some(handler!(is_online)),
    },
    Method {
        decl: "public function userConnections(string|int $user): array",
        doc: "The session ids of a user's connections to this server, ascending.\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for the answers of other workers, 2 s at most).\n@since 0.1.0",
        handler: Some(handler!(user_connections)),
    },
    Method {
        decl: "public function subscribe(int $fd, string $topic): bool",
        doc: "Has a connection, of whichever worker, get what is published to a topic. It ends with the connection.\n\
              @param string $topic 1 to 256 bytes\n\
              @return bool false when there is no such connection, or it has 1024 topics: see getLastError()\n\
              @throws \\ValueError for a topic that is empty or too long\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for a connection of another worker).\n@since 0.1.0",
        handler: Some(handler!(subscribe)),
    },
    Method {
        decl: "public function unsubscribe(int $fd, string $topic = ''): bool",
        doc: "It gets that no longer; without a topic, nothing of any.\n@return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for a connection of another worker).\n@since 0.1.0",
        handler: Some(handler!(unsubscribe)),
    },
    Method {
        decl: "public function publish(string $topic, Apus\\WebSocket\\Frame|string $data, int $opcode = 1, int $flags = 1): bool",
        doc: "Sends a message to all connections that have subscribed a topic, in all workers, and with the setting broker on all\n\
              servers: WebSockets get a message, encoded once and never compressed, others the data as it is. Nobody waits for a slow\n\
              connection: one for which buffer_output_size bytes wait does not get it, or is closed where send_policy says so.\n\
              @return bool false when a worker or the broker takes nothing now, so that some may not get it: see getLastError()\n\
              @throws \\ValueError, \\Apus\\Client\\Exception ARGUMENT for a fragment, a close frame, text that is not UTF-8\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (where a coroutine runs, for room in another worker's queue).\n@since 0.1.0",
        handler: Some(handler!(publish)),
    },
    Method {
        decl: "public function subscribers(string $topic): int",
        doc: "How many connections have subscribed a topic, in all workers, and with the setting broker on all servers.\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for the answers of other workers, 2 s at most).\n@since 0.1.0",
        handler: Some(handler!(subscribers)),
    },
    Method {
        decl: "public function presence(string $topic, int $limit = 1000): array",
        doc: "Who has subscribed a topic: a row for each connection, with fd, user (null when it has none; decimal digits are an\n\
              integer, as with array keys), worker_id, and server: '' for a connection of this server, else a name of the other one, for which\n\
              fd and worker_id hold.\n\
              @param int $limit rows at most, 1 to 100000\n\
              @throws \\ValueError when $limit is out of its limits\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (for the answers of other workers, 2 s at most).\n@since 0.1.0",
        handler: Some(handler!(presence)),
    },
];
