//! Streams of HTTP/2 that become WebSockets (RFC 8441). To the program each is a connection of its own, with a session
//! id, as a WebSocket over HTTP/1.1 is.

use std::rc::Rc;
use std::task::Context;

use apus_proto::http1::Reject;

use super::stream_body::StreamBody;
use super::streams::Streams;
use crate::app::App;
use crate::body::Body;
use crate::conn::Conn;
use crate::head_bytes::Inner;
use crate::input::Input;
use crate::message_conn::Handshake;
use crate::message_runner;

/// What a request for another protocol than HTTP asks for.
pub(super) struct Wish {
    pub(super) stream: u32,
    /// Its client says nothing more.
    pub(super) ended: bool,
}

impl Streams {
    /// A request for another protocol has begun.
    #[cold]
    pub(super) fn begin_tunnel<A: App>(
        &mut self,
        app: &Rc<A>,
        carrier: &Rc<Conn>,
        Wish { stream: id, ended }: Wish,
        mut inner: Box<Inner>,
        cx: &mut Context<'_>,
    ) {
        let (config, worker) = (&carrier.port.config, &carrier.port.worker);
        let now = carrier.info.last_request_at();
        let protocol = inner.head.protocol.map(|protocol| protocol.of(&inner.bytes));
        let refused = if !protocol.is_some_and(|name| name.eq_ignore_ascii_case(b"websocket")) {
            Some(Reject::new(501, "this protocol is not spoken here"))
        } else if !worker.metrics.may_accept() || worker.connections() >= config.max_connections {
            Some(Reject::new(503, "as many connections are open as may be"))
        } else {
            carrier.choose_host(&inner).err()
        };
        if let Some(reject) = refused {
            self.add(carrier, id, &inner, now, None);
            return self.refuse(id, reject);
        }
        inner.become_handshake();
        let info = Rc::new(carrier.info.within(worker.metrics.next_session(), now));
        info.count_request(now);
        let conn = self.add(carrier, id, &inner, now, Some(info));
        conn.host.set(carrier.host.get());
        app.on_connect(&conn.info);
        *conn.handshake.borrow_mut() = Handshake::read(&inner.head, &inner.bytes);
        if let Some(stream) = self.find(id) {
            stream.body = StreamBody::Tunnel;
        }
        if ended {
            conn.tunnel_ended();
        }
        self.dispatch(app, &conn, inner, Body::empty(None), cx);
    }

    /// Looks at a stream on which a WebSocket was asked for. Whether it is one.
    pub(super) fn serve_tunnel<A: App>(&mut self, app: &Rc<A>, id: u32, conn: &Rc<Conn>) -> bool {
        begin_messages(app, conn);
        if conn.is_tunnel() {
            conn.serve_tunnel();
            if conn.is_tunnel_closed() {
                self.abandoned |= conn.port.worker.is_draining() && conn.abandon_tunnel();
                self.finish(app, id, conn);
            }
            return true;
        }
        if !conn.may_become_tunnel()
            && let Some(stream) = self.find(id)
        {
            stream.body = StreamBody::None;
            conn.drop_tunnel();
        }
        false
    }
}

/// Starts the message connection that a stream has become, once.
pub(super) fn begin_messages<A: App>(app: &Rc<A>, conn: &Conn) {
    if let Some(message_conn) = conn.take_message_conn() {
        message_runner::start(app, &message_conn, Input::default());
    }
}
