//! The answer of a port that only sends its clients to https.

use std::rc::Rc;

use apus_proto::http1::Reject;

use super::{ConnState, ConnStep, ConnTask};
use crate::app::App;
use crate::body::Body;
use crate::conn::Conn;
use crate::head_bytes::Inner;
use crate::http1;
use crate::request::Request;

pub(super) const NO_HOST: Reject = Reject::new(400, "no Host tells where the same is under https");

impl<A: App> ConnTask<A> {
    /// Answers with the same address under https. The connection ends with it: the next one goes there.
    #[cold]
    pub(super) fn redirect(&mut self, inner: Box<Inner>) -> ConnStep {
        let to = location(&inner, self.conn.site().config.https_redirect);
        let conn = &self.conn;
        let Some(to) = to else {
            conn.port.worker.pool.give_request(inner);
            return self.refuse(NO_HOST);
        };
        log(conn, inner);
        conn.pipelined.set(false);
        let head_only = conn.exchange.refuse();
        let mut out = conn.out.borrow_mut();
        let buffer = out.buffer(&conn.port.worker.pool);
        http1::write_redirect(buffer, conn.site(), &to, head_only);
        conn.push(out);
        self.state = ConnState::Closing { linger: true };
        ConnStep::Again
    }
}

/// The redirect's line in the access log. The app does not see the request, and its head is complete.
pub(super) fn log(conn: &Conn, inner: Box<Inner>) {
    let site = conn.site();
    let of = (Rc::clone(&conn.info), Rc::clone(site));
    let request = Request::new(inner, of, Body::empty(None), conn.exchange.received_at.get(), None);
    if let Some(wanted) = &site.config.noted {
        request.note(&conn.exchange, wanted);
        conn.port.worker.redirected(&conn.info, &conn.exchange, conn.host.get(), http1::PERMANENT_REDIRECT);
    }
}

/// Answers a request of a stream that the app does not see, without content.
pub(super) fn turn_away(conn: &Conn, status: u16, to: Option<&[u8]>) {
    conn.exchange.refuse();
    conn.discard_stream_body();
    let mut lines = Vec::new();
    http1::write_refusal(&mut lines, conn.site(), status, to);
    conn.begin_stream_answer(status, &lines, true);
    conn.handled();
}

/// `https://`, the host that was asked for, and what was asked of it.
pub(super) fn location(inner: &Inner, port: u16) -> Option<Vec<u8>> {
    let (head, bytes) = (&inner.head, &*inner.bytes);
    let host = host_alone(head.host?.of(bytes))?;
    let mut to = Vec::with_capacity(64);
    to.extend_from_slice(b"https://");
    to.extend_from_slice(host);
    if port != 443 {
        to.extend_from_slice(format!(":{port}").as_bytes());
    }
    let path = head.path_of(bytes);
    // OPTIONS may ask for the server as a whole.
    to.extend_from_slice(if path.first() == Some(&b'/') { path } else { b"/" });
    if let Some(query) = head.query {
        to.push(b'?');
        to.extend_from_slice(query.of(bytes));
    }
    Some(to)
}

/// A host without its port; nothing but a name or an address (RFC 3986 section 3.2.2) goes into the answer.
fn host_alone(host: &[u8]) -> Option<&[u8]> {
    let end = match host.first()? {
        b'[' => host.iter().position(|byte| *byte == b']')? + 1,
        _ => host.iter().position(|byte| *byte == b':').unwrap_or(host.len()),
    };
    let alone = &host[..end];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%[]:".contains(byte);
    (!alone.is_empty() && alone.iter().all(plain)).then_some(alone)
}

#[cfg(test)]
mod tests {
    use super::host_alone;

    #[test]
    fn only_a_host_goes_on() {
        for (given, alone) in [
            ("shop.test", Some("shop.test")),
            ("shop.test:8080", Some("shop.test")),
            ("[::1]:80", Some("[::1]")),
            ("[::1", None),
            ("", None),
            (":80", None),
            ("a/b", None),
            ("user@a", None),
            ("a\"b", None),
        ] {
            assert_eq!(host_alone(given.as_bytes()), alone.map(str::as_bytes), "{given}");
        }
    }
}
