//! Whole messages out of a stream, by the framing that `setProtocol()` or `set()` settled.

use std::future::poll_fn;

use apus_net::proto::framing::{FramingError, Next, Rule};
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, engine};

use super::core::{CHUNK, Sock};
use super::fault::{Fault, Outcome};
use super::run::Session;
use super::stream;

/// The next message; empty at the end of the stream. A stream that breaks the framing is closed. What was read of a
/// message that a time-out or a cancellation cut off stays for the next call.
pub(super) fn recv_packet(
    sock: &Sock,
    session: &Session<'_>,
    tell: Option<&Callable>,
) -> Result<Outcome<Vec<u8>>, Raise> {
    let Some(framing) = sock.framing.borrow().clone() else {
        return stream::recv(sock, session, CHUNK);
    };
    // What the function told of the message that is being read.
    let mut told = 0;
    loop {
        let next = match (framing.rule(), tell) {
            (Rule::Asked, Some(tell)) => {
                if told == 0 {
                    told = ask(sock, tell)?;
                }
                framing.judge(told, sock.with_ahead(|bytes, _| bytes.len()))
            }
            _ => sock.with_ahead(|bytes, scan| framing.next(bytes, scan)),
        };
        match next {
            Ok(Next::Message(length)) => {
                let mut out = Vec::with_capacity(length);
                sock.take_ahead(&mut out, length);
                return Ok(Ok(out));
            }
            Ok(Next::More(_)) => match session.run(poll_fn(|cx| sock.poll_fill(cx)))? {
                Ok(0) => return Ok(ended(sock)),
                Ok(_) => {}
                Err(fault) => return Ok(Err(fault)),
            },
            Err(error) => return Ok(Err(broken(sock, error))),
        }
    }
}

fn ended(sock: &Sock) -> Outcome<Vec<u8>> {
    match sock.with_ahead(|bytes, _| bytes.len()) {
        0 => Ok(Vec::new()),
        n => {
            sock.take_ahead(&mut Vec::new(), n);
            Err(Fault::cut_off(format!("the peer ended the connection inside a message, {n} bytes into it")))
        }
    }
}

fn broken(sock: &Sock, error: FramingError) -> Fault {
    sock.close(libc::ECONNRESET);
    error.into()
}

/// Asks the program's function how long the message at the front is: 0 when it needs more bytes to tell.
fn ask(sock: &Sock, tell: &Callable) -> Result<i64, Raise> {
    let bytes = sock.with_ahead(|bytes, _| bytes.to_vec());
    if bytes.is_empty() {
        return Ok(0);
    }
    let answer = tell.call(&[Value::string(&bytes)?])?;
    match answer.view() {
        View::Int(length) => Ok(length),
        _ => Err(engine::throw_value_error(
            "package_length_func must return an int: the length of the whole message, 0 to be asked again with more bytes, -1 for wrong bytes",
        )),
    }
}
