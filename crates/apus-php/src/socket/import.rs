//! `Apus\Coroutine\Socket::import()`: a socket of a stream that PHP code has.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;

use apus_zend::arg::{Any, OrFalse};
use apus_zend::engine::{self, ClassEntry};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, descriptor};

use super::core::Sock;
use super::fault::Outcome;
use super::methods::{SocketObject, wrap};
use crate::swoole;

pub(super) fn import(stream: Any<'_>) -> Result<OrFalse<Object>, Raise> {
    import_as(stream, false)
}

pub(super) fn import_second(stream: Any<'_>) -> Result<OrFalse<Object>, Raise> {
    import_as(stream, true)
}

/// A stream that is none of a socket is told of.
fn warn_of_kind(stream: &Value) -> Result<(), Raise> {
    let data = Callable::named("stream_get_meta_data")?.call(&[stream.share()])?;
    let View::Array(data) = data.view() else { return Ok(()) };
    let Some(View::Str(kind)) = data.get("stream_type") else { return Ok(()) };
    let kind = String::from_utf8_lossy(kind);
    swoole::warning(&format!("Cannot represent a stream of type {kind} as a Socket Descriptor"))
}

fn import_as(stream: Any<'_>, second: bool) -> Result<OrFalse<Object>, Raise> {
    if second && !matches!(stream.view(), View::Other) {
        return Err(stream.type_error("of type resource"));
    }
    let Some(fd) = descriptor::of(&stream.value())? else {
        if second {
            let text = "Swoole\\Coroutine\\Socket::import(): supplied resource is not a valid stream resource";
            return Err(engine::throw(ClassEntry::type_error(), 0, text));
        }
        return Err(stream.type_error("of type resource (an open stream) or Socket"));
    };
    // SAFETY: the stream keeps its descriptor open during the call.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    let Ok(sock) = adopt_copy(borrowed) else {
        if second {
            warn_of_kind(&stream.value())?;
        }
        return Ok(OrFalse(None));
    };
    sock.shared.set(true);
    if second {
        sock.origin.replace(Some(stream.value()));
    }
    wrap(&Rc::new(sock), second).map(|socket| OrFalse(Some(socket)))
}

/// A socket that owns its descriptor, which may be a copy of one that something else drives: closed by the program, it
/// ends what both stand for.
pub(crate) fn socket_of(fd: OwnedFd, second: bool) -> Result<Option<Object>, Raise> {
    let Ok(sock) = adopt(fd) else { return Ok(None) };
    sock.shared.set(true);
    wrap(&Rc::new(sock), second).map(Some)
}

/// Whether the program has closed such a socket.
pub(crate) fn is_copy_closed(copy: &Object) -> bool {
    copy.payload::<SocketObject>().is_some_and(|socket| socket.sock.is_closed())
}

/// The connection has ended: so does the socket.
pub(crate) fn close_copy(copy: &Object) {
    if let Some(socket) = copy.payload::<SocketObject>() {
        socket.sock.close(libc::ECONNRESET);
    }
}

/// Closes a stream, unless that is done.
pub(super) fn close_stream(stream: Value) -> Result<(), Raise> {
    let is_open = Callable::named("is_resource")?.call(&[stream.share()])?;
    if matches!(is_open.view(), View::Bool(true)) {
        drop(Callable::named("fclose")?.call(&[stream])?);
    }
    Ok(())
}

/// A socket over a descriptor of its own for what `fd` stands for: each side closes its own.
fn adopt_copy(fd: BorrowedFd<'_>) -> Outcome<Sock> {
    adopt(fd.try_clone_to_owned()?)
}

fn adopt(own: OwnedFd) -> Outcome<Sock> {
    let socket = socket2::Socket::from(own);
    let domain = i32::from(socket.local_addr()?.domain());
    let kind = i32::from(socket.r#type()?);
    let protocol = socket.protocol()?.map_or(0, i32::from);
    Ok(Sock::adopt(socket, domain, kind, protocol)?)
}
