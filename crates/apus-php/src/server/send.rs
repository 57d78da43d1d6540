//! What a server does with its streams: send, sendfile, sendwait, pause, resume, confirm, enableSSL, protect,
//! heartbeat.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::rc::Rc;

use apus_coro::Wait;
use apus_loop::disk::open_regular;
use apus_net::{Delivery, MessageConn, SendError};
use apus_zend::arg::{Any, OrFalse};
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value, engine};

use super::core::ServerHandle;
use super::routing::Step;
use super::websocket::delivered;
use super::{current_control, packet, routing};
use crate::connections::room;
use crate::last_error;
use crate::runtime::State;
use crate::swoole;
use crate::wait::{may_wait, wait};

/// What of a file goes to another worker at one go.
const PIECE: usize = 64 * 1024;

/// Where a connection is.
enum Place {
    /// In this worker: a stream.
    Stream(Rc<MessageConn>),
    /// In this worker: something else.
    Other,
    /// In another worker.
    Elsewhere,
    Nowhere,
}

fn place(core: &ServerHandle, fd: i64, what: &str) -> Result<Place, Raise> {
    let worker = core.worker(what)?;
    // User processes have no connections of their own.
    let control = current_control();
    Ok(match control.as_ref().and_then(|control| control.message_conn(fd)) {
        Some(message_conn) if message_conn.is_websocket() => Place::Other,
        Some(message_conn) => Place::Stream(message_conn),
        None if control.is_some_and(|control| control.contains(fd)) => Place::Other,
        None if worker.connections.contains(fd) => Place::Elsewhere,
        None => Place::Nowhere,
    })
}

/// The stream of this worker with that id; else notes why there is none.
fn stream(core: &ServerHandle, fd: i64, what: &str) -> Result<Option<Rc<MessageConn>>, Raise> {
    let code = match place(core, fd, what)? {
        Place::Stream(message_conn) => return Ok(Some(message_conn)),
        Place::Other => last_error::WRONG_KIND,
        Place::Elsewhere | Place::Nowhere => last_error::NOT_EXIST,
    };
    last_error::fail(code);
    Ok(None)
}

/// Sends bytes over a stream of this process; where `send_policy` says so, once there is room.
pub(super) fn send_here(message_conn: &Rc<MessageConn>, data: &[u8], what: &'static str) -> Result<Delivery, Raise> {
    loop {
        let delivery = message_conn.send(data);
        if delivery != Delivery::Full {
            return Ok(delivery);
        }
        if let Some(lost) = room(message_conn, what)? {
            return Ok(lost);
        }
    }
}

/// What is said there of a session that can be none.
fn no_connection(to: Any<'_>) -> Option<String> {
    match to.view() {
        View::Null => Some("fd can not be null".to_owned()),
        View::Int(fd) if fd < 1 => Some(format!("invalid fd[{fd}]")),
        _ => None,
    }
}

pub(super) fn send(core: &ServerHandle, to: Any<'_>, data: &[u8], server_socket: i64) -> Result<bool, Raise> {
    if let View::Str(path) = to.view()
        && path.iter().any(|byte| !byte.is_ascii_digit())
    {
        return packet::send(core, "send()", &String::from_utf8_lossy(path), 0, data, server_socket);
    }
    if core.second
        && let Some(wrong) = no_connection(to)
    {
        swoole::warning(&wrong)?;
        return Ok(false);
    }
    let fd = to.int()?;
    Ok(match place(core, fd, "send()")? {
        Place::Stream(message_conn) => delivered(send_here(&message_conn, data, "Server::send()")?),
        Place::Elsewhere => routing::send_to(fd, data, true)?.told(),
        Place::Other if core.second => return send_raw(fd, data),
        Place::Other => last_error::fail(last_error::WRONG_KIND),
        Place::Nowhere => last_error::fail(last_error::NOT_EXIST),
    })
}

/// Sends bytes as they are over a connection of this worker that speaks HTTP or WebSocket, as code written for Swoole
/// does with frames that it has packed, and with parts of answers.
fn send_raw(fd: i64, data: &[u8]) -> Result<bool, Raise> {
    let control = current_control();
    if let Some(message_conn) = control.as_ref().and_then(|control| control.message_conn(fd)) {
        return send_here(&message_conn, data, "Server::send()").map(delivered);
    }
    let sent = control.and_then(|control| control.send_raw(fd, data));
    Ok(sent.map_or_else(|| last_error::fail(last_error::WRONG_KIND), delivered))
}

pub(super) fn sendwait(core: &ServerHandle, fd: i64, data: &[u8]) -> Result<bool, Raise> {
    let Some(message_conn) = stream(core, fd, "sendwait()")? else { return Ok(false) };
    let delivery = send_here(&message_conn, data, "Server::sendwait()")?;
    if !delivered(delivery) {
        return Ok(false);
    }
    if message_conn.is_drained() {
        return Ok(true);
    }
    let left = wait(&*State::get()?, Wait::Outside("Server::sendwait()"), message_conn.drained())?;
    Ok(match left {
        Some(Ok(())) => true,
        Some(Err(_)) => last_error::fail(last_error::CLOSED),
        None => false,
    })
}

pub(super) fn sendfile(core: &ServerHandle, fd: i64, path: String, offset: i64, length: i64) -> Result<bool, Raise> {
    let elsewhere = matches!(place(core, fd, "sendfile()")?, Place::Elsewhere);
    let here = if elsewhere { None } else { stream(core, fd, "sendfile()")? };
    if here.is_none() && !elsewhere {
        return Ok(false);
    }
    let (file, about) = match open_regular(Path::new(&path)) {
        Ok(opened) => opened,
        // What is no regular file has no number of the system's.
        Err(error) => return Ok(last_error::fail(i64::from(error.raw_os_error().unwrap_or(libc::EINVAL)))),
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
    match here {
        Some(message_conn) => queue_file(&message_conn, &file, offset as u64, length),
        None => carry_file(fd, &file, offset as u64, length),
    }
}

/// Sends a file to a connection of another worker, piece by piece: a descriptor does not reach it.
fn carry_file(fd: i64, file: &File, mut offset: u64, mut length: u64) -> Result<bool, Raise> {
    let mut piece = vec![0; PIECE.min(usize::try_from(length).unwrap_or(PIECE))];
    while length > 0 {
        let most = piece.len().min(usize::try_from(length).unwrap_or(PIECE));
        let read = match file.read_at(&mut piece[..most], offset) {
            Ok(0) => return Ok(last_error::fail(i64::from(libc::EIO))),
            Ok(read) => read,
            Err(error) => return Ok(last_error::fail(i64::from(error.raw_os_error().unwrap_or(libc::EIO)))),
        };
        if !routing::send_to(fd, &piece[..read], true)?.told() {
            return Ok(false);
        }
        offset += read as u64;
        length -= read as u64;
    }
    Ok(true)
}

/// Has a file sent behind what waits, once no other file does: each holds a descriptor.
fn queue_file(message_conn: &Rc<MessageConn>, file: &File, offset: u64, length: u64) -> Result<bool, Raise> {
    const WHAT: &str = "Server::sendfile()";
    while message_conn.sends_file() {
        let state = State::get()?;
        if !may_wait(&state) {
            return Ok(last_error::fail(last_error::OVERFLOW));
        }
        match wait(&state, Wait::Outside(WHAT), message_conn.drained())? {
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
        match message_conn.send_file(copy, offset, length) {
            // The result is of no interest: the connection ends where the file cannot be sent.
            Ok(_sent) => return Ok(true),
            Err(SendError::Full) => {}
            Err(_) => return Ok(last_error::fail(last_error::CLOSED)),
        }
        if let Some(lost) = room(message_conn, WHAT)? {
            return Ok(delivered(lost));
        }
    }
}

/// Turns a switch of a connection, of whichever worker.
fn switch(core: &ServerHandle, fd: i64, what: &str, step: Step) -> Result<bool, Raise> {
    let place = place(core, fd, what)?;
    let here = current_control().and_then(|control| control.message_conn(fd));
    Ok(match (here, place) {
        (Some(message_conn), _) => {
            step.turn(&message_conn);
            true
        }
        (None, Place::Elsewhere) => routing::step_at(fd, step)?.told(),
        (None, Place::Nowhere) => last_error::fail(last_error::NOT_EXIST),
        (None, _) => last_error::fail(last_error::WRONG_KIND),
    })
}

pub(super) fn pause(core: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    switch(core, fd, "pause()", Step::Pause)
}

pub(super) fn resume(core: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    switch(core, fd, "resume()", Step::Resume)
}

pub(super) fn confirm(core: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    switch(core, fd, "confirm()", Step::Resume)
}

pub(super) fn enable_ssl(core: &ServerHandle, fd: i64) -> Result<bool, Raise> {
    const WHAT: &str = "Server::enableSSL()";
    let Some(message_conn) = stream(core, fd, "enableSSL()")? else { return Ok(false) };
    if !message_conn.is_drained() {
        // The client has not seen all of the answer: what it sends before that is no handshake.
        message_conn.pause();
        let left = wait(&*State::get()?, Wait::Outside(WHAT), message_conn.drained());
        message_conn.resume();
        match left? {
            Some(Ok(())) => {}
            Some(Err(_)) => return Ok(last_error::fail(last_error::CLOSED)),
            None => return Ok(false),
        }
    }
    Ok(message_conn.begin_tls() || last_error::fail(last_error::WRONG_KIND))
}

pub(super) fn protect(core: &ServerHandle, fd: i64, on: bool) -> Result<bool, Raise> {
    switch(core, fd, "protect()", if on { Step::Protect } else { Step::Unprotect })
}

pub(super) fn heartbeat(core: &ServerHandle, close: bool) -> Result<OrFalse<Array>, Raise> {
    core.worker("heartbeat()")?;
    let Some(control) = current_control() else { return Ok(OrFalse(None)) };
    let (mut silent, mut any) = (Array::new(8)?, false);
    for message_conn in control.message_conns() {
        let Some(is_silent) = message_conn.is_silent() else { continue };
        any = true;
        if is_silent {
            silent.push(Value::int(message_conn.info().id()))?;
            if close {
                control.close(message_conn.info().id(), true);
            }
        }
    }
    Ok(OrFalse(any.then_some(silent)))
}

pub(super) fn buffered_amount(core: &ServerHandle, fd: i64) -> Result<OrFalse<usize>, Raise> {
    core.worker("bufferedAmount()")?;
    let message_conn = current_control().and_then(|control| control.message_conn(fd));
    if message_conn.is_none() {
        last_error::fail(last_error::NOT_EXIST);
    }
    Ok(OrFalse(message_conn.map(|message_conn| message_conn.buffered())))
}
