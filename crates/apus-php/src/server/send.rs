//! What a server does with its streams: send, sendfile, sendwait, pause, resume, confirm, protect, heartbeat.

use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use apus_coro::Wait;
use apus_net::{Delivery, Link, SendError, open_regular};
use apus_zend::class::Method;
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, engine, handler};

use super::core::ServerHandle;
use super::hub::Step;
use super::websocket::delivered;
use super::{current_control, hub, last_error, packet};
use crate::runtime::State;
use crate::wait::{may_wait, wait};

/// Where a connection is.
enum Place {
    /// In this worker: a stream.
    Stream(Rc<Link>),
    /// In this worker: something else.
    Other,
    /// In another worker.
    Elsewhere,
    Nowhere,
}

fn place(call: &Call, fd: i64, what: &str) -> Result<Place, Raise> {
    let worker = call.this::<ServerHandle>()?.0.worker(what)?;
    // User processes have no connections of their own.
    let control = current_control();
    Ok(match control.as_ref().and_then(|control| control.link(fd)) {
        Some(link) if link.is_websocket() => Place::Other,
        Some(link) => Place::Stream(link),
        None if control.is_some_and(|control| control.contains(fd)) => Place::Other,
        None if worker.connections.contains(fd) => Place::Elsewhere,
        None => Place::Nowhere,
    })
}

/// The stream of this worker with that id; else notes why there is none.
fn stream(call: &Call, what: &str) -> Result<Option<Rc<Link>>, Raise> {
    let code = match place(call, call.int(0, 0)?, what)? {
        Place::Stream(link) => return Ok(Some(link)),
        Place::Other => last_error::WRONG_KIND,
        Place::Elsewhere | Place::Nowhere => last_error::NOT_EXIST,
    };
    last_error::fail(code);
    Ok(None)
}

/// Waits until there is room in a link's output. Otherwise what became of the message; a program that cannot wait loses it.
pub(super) fn room(link: &Rc<Link>, what: &'static str) -> Result<Option<Delivery>, Raise> {
    let state = State::get()?;
    if !may_wait(&state) {
        return Ok(Some(Delivery::Dropped));
    }
    Ok(match wait(&state, Wait::Outside(what), link.writable())? {
        Some(Ok(())) => None,
        Some(Err(_)) => Some(Delivery::Gone),
        None => Some(Delivery::Dropped),
    })
}

/// Sends bytes over a stream of this process; where `send_policy` says so, once there is room.
pub(super) fn send_here(link: &Rc<Link>, data: &[u8], what: &'static str) -> Result<Delivery, Raise> {
    loop {
        let delivery = link.send(data);
        if delivery != Delivery::Full {
            return Ok(delivery);
        }
        if let Some(lost) = room(link, what)? {
            return Ok(lost);
        }
    }
}

fn send(call: &Call) -> Result<(), Raise> {
    call.expect(2, 3)?;
    let data = call.bytes(1)?;
    if let View::Str(path) = call.view(0)
        && path.iter().any(|byte| !byte.is_ascii_digit())
    {
        let core = &call.this::<ServerHandle>()?.0;
        let sent = packet::send(core, "send()", &String::from_utf8_lossy(path), 0, data, call.int(2, -1)?)?;
        return call.ret(sent);
    }
    let fd = call.int(0, 0)?;
    let sent = match place(call, fd, "send()")? {
        Place::Stream(link) => delivered(send_here(&link, data, "Server::send()")?),
        Place::Elsewhere => hub::send_to(fd, data, true)?.told(),
        Place::Other => last_error::fail(last_error::WRONG_KIND),
        Place::Nowhere => last_error::fail(last_error::NOT_EXIST),
    };
    call.ret(sent)
}

fn sendwait(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let Some(link) = stream(call, "sendwait()")? else { return call.ret(false) };
    let delivery = send_here(&link, call.bytes(1)?, "Server::sendwait()")?;
    if !delivered(delivery) {
        return call.ret(false);
    }
    if link.is_drained() {
        return call.ret(true);
    }
    let left = wait(&*State::get()?, Wait::Outside("Server::sendwait()"), link.drained())?;
    match left {
        Some(Ok(())) => call.ret(true),
        Some(Err(_)) => call.ret(last_error::fail(last_error::CLOSED)),
        None => call.ret(false),
    }
}

fn sendfile(call: &Call) -> Result<(), Raise> {
    call.expect(2, 4)?;
    let (path, offset, length) = (call.text(1)?, call.int(2, 0)?, call.int(3, 0)?);
    let Some(link) = stream(call, "sendfile()")? else { return call.ret(false) };
    let (file, about) = match open_regular(Path::new(&path)) {
        Ok(opened) => opened,
        // What is no regular file has no number of the system's.
        Err(error) => return call.ret(last_error::fail(i64::from(error.raw_os_error().unwrap_or(libc::EINVAL)))),
    };
    let rest = u64::try_from(offset).ok().and_then(|offset| about.len().checked_sub(offset));
    let part = rest.zip(u64::try_from(length).ok()).filter(|(rest, length)| length <= rest);
    let Some((rest, length)) = part else {
        return Err(engine::throw_value_error(&format!(
            "{path} has {} bytes: $offset {offset} and $length {length} reach beyond it",
            about.len()
        )));
    };
    let length = if length == 0 { rest } else { length };
    let sent = queue_file(&link, &file, offset as u64, length)?;
    call.ret(sent)
}

/// Has a file sent behind what waits, once no other file does: each holds a descriptor.
fn queue_file(link: &Rc<Link>, file: &File, offset: u64, length: u64) -> Result<bool, Raise> {
    const WHAT: &str = "Server::sendfile()";
    while link.sends_file() {
        let state = State::get()?;
        if !may_wait(&state) {
            return Ok(last_error::fail(last_error::OVERFLOW));
        }
        match wait(&state, Wait::Outside(WHAT), link.drained())? {
            Some(Ok(())) => {}
            Some(Err(_)) => return Ok(last_error::fail(last_error::CLOSED)),
            None => return Ok(false),
        }
    }
    loop {
        let copy = match file.try_clone() {
            Ok(copy) => copy,
            Err(error) => return Ok(last_error::fail(i64::from(error.raw_os_error().unwrap_or(libc::EIO)))),
        };
        match link.send_file(copy, offset, length) {
            // The result is of no interest: the connection ends where the file cannot be sent.
            Ok(_sent) => return Ok(true),
            Err(SendError::Full) => {}
            Err(_) => return Ok(last_error::fail(last_error::CLOSED)),
        }
        if let Some(lost) = room(link, WHAT)? {
            return Ok(delivered(lost));
        }
    }
}

/// Turns a switch of a connection, of whichever worker.
fn switch(call: &Call, what: &str, step: Step) -> Result<(), Raise> {
    let fd = call.int(0, 0)?;
    let place = place(call, fd, what)?;
    let here = current_control().and_then(|control| control.link(fd));
    let turned = match (here, place) {
        (Some(link), _) => {
            step.turn(&link);
            true
        }
        (None, Place::Elsewhere) => hub::step_at(fd, step)?.told(),
        (None, Place::Nowhere) => last_error::fail(last_error::NOT_EXIST),
        (None, _) => last_error::fail(last_error::WRONG_KIND),
    };
    call.ret(turned)
}

fn pause(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    switch(call, "pause()", Step::Pause)
}

fn resume(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    switch(call, "resume()", Step::Resume)
}

fn confirm(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    switch(call, "confirm()", Step::Resume)
}

fn protect(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let step = if call.bool(1, true)? { Step::Protect } else { Step::Unprotect };
    switch(call, "protect()", step)
}

fn heartbeat(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let close = call.bool(0, true)?;
    call.this::<ServerHandle>()?.0.worker("heartbeat()")?;
    let Some(control) = current_control() else { return call.ret(false) };
    let (mut silent, mut any) = (Array::new(8)?, false);
    for link in control.links() {
        let Some(is_silent) = link.is_silent() else { continue };
        any = true;
        if is_silent {
            silent.push(Value::int(link.info().id()))?;
            if close {
                control.close(link.info().id(), true);
            }
        }
    }
    if !any {
        return call.ret(false);
    }
    call.ret(silent)
}

fn buffered_amount(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let fd = call.int(0, 0)?;
    call.this::<ServerHandle>()?.0.worker("bufferedAmount()")?;
    match current_control().and_then(|control| control.link(fd)) {
        Some(link) => call.ret(link.buffered() as i64),
        None => call.ret(last_error::fail(last_error::NOT_EXIST)),
    }
}

/// The methods for streams and datagrams.
pub(super) const METHODS: &[Method] = &[
    Method {
        decl: "public function send(int|string $fd, string $data, int $serverSocket = -1): bool",
        doc: "Sends bytes over a stream connection of whichever worker. Where buffer_output_size bytes wait for it already, send_policy rules: wait (outside\n\
              coroutines: drop), drop, or close. What is sent from one coroutine arrives in that order.\n\
              @param int|string $fd the session id, or the path of a Unix datagram socket\n\
              @param int $serverSocket for a path: which of the server's ports sends, as in packet's $clientInfo; -1 for the first\n\
              @return bool true when the bytes are sent or wait to be; false when they are lost: see getLastError()\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (where a coroutine runs).\n@since 0.1.0",
        handler: Some(handler!(send)),
    },
    Method {
        decl: "public function sendto(string $ip, int $port, string $data, int $serverSocket = -1): bool",
        doc: "Sends one datagram from a datagram port of this server.\n\
              @param string $ip an IPv4 or IPv6 address, or the path of a Unix socket (then $port is of no account)\n\
              @param string $data 65507 bytes at most\n\
              @param int $serverSocket which port sends, as in packet's $clientInfo; -1 for the first of the receiver's family\n\
              @return bool false when the kernel does not take it: getLastError() gives its errno\n\
              @throws \\ValueError for what is no address\n\
              @throws \\Apus\\Server\\Exception STATE outside workers, and without such a port\nWaits (where a coroutine runs).\n@since 0.1.0",
        handler: Some(handler!(packet::sendto)),
    },
    Method {
        decl: "public function sendfile(int $fd, string $file, int $offset = 0, int $length = 0): bool",
        doc: "Sends a file over a stream connection of this worker, behind what waits; it is read while it is sent. Only one file at a\n\
              time waits for a connection: the next one waits for it to leave.\n\
              @param int $length 0 for all from $offset on\n\
              @return bool false when it cannot be opened or the connection is gone: see getLastError()\n\
              @throws \\ValueError when the file is shorter\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits (where a coroutine runs).\n@since 0.1.0",
        handler: Some(handler!(sendfile)),
    },
    Method {
        decl: "public function sendwait(int $fd, string $data): bool",
        doc: "Like send() over a stream connection of this worker, and returns when the kernel has all of it.\n\
              @return bool false when the connection is gone: see getLastError()\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\n\
              @throws \\Apus\\Coroutine\\Exception NOT_IN_COROUTINE when it has to wait outside a coroutine\nWaits.\n@since 0.1.0",
        handler: Some(handler!(sendwait)),
    },
    Method {
        decl: "public function pause(int $fd): bool",
        doc: "Reads no more from a stream or WebSocket of whichever worker, until resume(): the kernel's buffers fill, and the peer has to wait.\n\
              @return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits only for another worker that is behind with its messages.\n@since 0.1.0",
        handler: Some(handler!(pause)),
    },
    Method {
        decl: "public function resume(int $fd): bool",
        doc: "Undoes pause().\n@return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits only for another worker that is behind with its messages.\n@since 0.1.0",
        handler: Some(handler!(resume)),
    },
    Method {
        decl: "public function confirm(int $fd): bool",
        doc: "Begins to read from a new connection of a port with enable_delay_receive.\n\
              @return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits only for another worker that is behind with its messages.\n@since 0.1.0",
        handler: Some(handler!(confirm)),
    },
    Method {
        decl: "public function protect(int $fd, bool $on = true): bool",
        doc: "Has the heartbeat leave a connection alone, however silent it is.\n\
              @return bool false when there is no such connection\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nWaits only for another worker that is behind with its messages.\n@since 0.1.0",
        handler: Some(handler!(protect)),
    },
    Method {
        decl: "public function heartbeat(bool $ifCloseConnection = true): array|false",
        doc: "The connections of this worker that have brought nothing for heartbeat_idle_time, which are closed at once if asked for.\n\
              @return array|false their session ids; false when no connection is at a port with heartbeat_idle_time\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(heartbeat)),
    },
    Method {
        decl: "public function bufferedAmount(int $fd): int|false",
        doc: "How many bytes wait in memory for the client of a connection of this worker, files apart.\n\
              @return int|false false when there is no such connection in this worker\n\
              @throws \\Apus\\Server\\Exception STATE outside workers\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(buffered_amount)),
    },
    Method {
        decl: "public function getLastError(): int",
        doc: "Why the latest call that returned false did: one of Apus\\ERROR_*, or an errno of the kernel.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(last_error::get)),
    },
];
