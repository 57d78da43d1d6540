//! From an HTTP request to a WebSocket (RFC 6455 section 4.2).

use std::rc::Rc;

use apus_proto::http1::response as wire;
use apus_proto::websocket::handshake;

use super::Responder;
use crate::answer::ResponseHead;
use crate::conn::Conn;
use crate::kill::Kill;
use crate::message_conn::{Agreed, Carrier, MessageConn, Protocol, Refusal, Upgrade};

impl Responder {
    /// Whether the request is a WebSocket handshake that can be accepted with [`upgrade`](Self::upgrade).
    pub fn is_handshake(&self) -> bool {
        !self.is_ended() && matches!(&*self.conn.handshake.borrow(), Some(Ok(_)))
    }

    /// Accepts the WebSocket handshake that this request is: sends 101, and the connection becomes a [`MessageConn`].
    ///
    /// # Errors
    /// When the request is no handshake, a bad one, or one from a page that may not connect: answer it with
    /// [`refuse_upgrade`](Self::refuse_upgrade), or in another way. When the answer has begun or the client is gone.
    pub fn upgrade(&self, upgrade: &Upgrade<'_>) -> Result<Rc<MessageConn>, Refusal> {
        const GONE: Refusal = Refusal { status: 500, reason: "the response has begun, or the client is gone" };
        let conn = &self.conn;
        if !self.is_open() || !conn.is_usable() || conn.kill.get() != Kill::No {
            return Err(GONE);
        }
        let held = conn.handshake.borrow();
        let handshake = match &*held {
            None => return Err(Refusal { status: 400, reason: "the request is no WebSocket handshake" }),
            Some(Err(refusal)) => return Err(*refusal),
            Some(Ok(handshake)) => handshake,
        };
        let config = &conn.site().config;
        handshake.check_origin(config)?;
        let params = handshake.params(config);
        let (id, worker) = (conn.info.id, &conn.port.worker);
        let (carrier, out) = if conn.stream_id() > 0 {
            let mut lines = Vec::new();
            handshake.write_fields(&mut lines, config, upgrade, params);
            if !conn.accept_tunnel(&lines) {
                return Err(GONE);
            }
            conn.give_id_up();
            (Carrier::Stream(Rc::<Conn>::clone(conn)), None)
        } else {
            let Some(wire) = conn.io.borrow_mut().take() else { return Err(GONE) };
            let mut out = conn.out.take();
            handshake.write_answer(out.buffer(&worker.pool), config, upgrade, params);
            (Carrier::Wire(wire), Some(out))
        };
        drop(held);
        let messages = &conn.conns.messages;
        let (info, port) = (Rc::clone(&conn.info), Rc::clone(conn.site()));
        let message_conn = Rc::new(MessageConn::new(info, port, Rc::clone(messages), carrier, Protocol::WebSocket));
        if upgrade.pull {
            message_conn.set_pull();
        }
        if let Some(params) = params {
            message_conn.with_extra(|extra| extra.deflate = Some(Agreed::new(params)));
        }
        conn.conns.registry.borrow_mut().remove(id);
        messages.registry.borrow_mut().insert(id, Rc::clone(&message_conn));
        conn.info.websocket.set(true);
        worker.metrics.upgraded(&conn.info);
        conn.lead_to(&message_conn);
        if let Some(out) = out {
            message_conn.adopt(out);
        }
        conn.upgraded(&message_conn);
        Ok(message_conn)
    }

    /// Answers a handshake that is not accepted.
    pub fn refuse_upgrade(&self, refusal: Refusal) {
        let mut head = ResponseHead::new(refusal.status);
        head.push_field(b"Content-Type", b"text/plain; charset=UTF-8");
        head.has_content_type = true;
        head.close = true;
        if refusal.status == 426 {
            head.push_field(b"Upgrade", b"websocket");
            head.push_field(b"Sec-WebSocket-Version", handshake::VERSION.as_bytes());
        }
        if refusal.status == 405 {
            head.push_field(b"Allow", b"GET");
        }
        // A client that is gone needs no answer.
        let _ =
            self.end(&head, format!("{} {}: {}\n", refusal.status, wire::reason(refusal.status), refusal).as_bytes());
    }
}
