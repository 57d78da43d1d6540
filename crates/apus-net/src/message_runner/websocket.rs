//! Reading a WebSocket's messages.
//!
//! The usual message, one frame that came whole and uncompressed, is unmasked in the read buffer and shown to the app
//! where it lies. Everything else goes through a decoder, which the message connection has only as long as a message is
//! incomplete.

use std::rc::Rc;
use std::task::Context;

use apus_proto::websocket::{
    Event, Header, MAX_CONTROL, Opcode, Role, Violation, apply_mask, close, encode, encode_close, is_utf8,
};
use bytes::{Bytes, BytesMut};

use super::{Partial, RunStep, Runner};
use crate::app::App;
use crate::kill::Kill;
use crate::message_conn::{Kind, Message, MessageConn, OwnedMessage, Stage};

impl<A: App> Runner<A> {
    /// Handles the next message of what was read.
    pub(super) fn websocket_step(&mut self, cx: &mut Context<'_>) -> RunStep {
        let taken = if self.partial.is_some() { self.decode(cx) } else { self.whole_frame(cx) };
        taken.unwrap_or_else(|violation| {
            fail(&self.message_conn, violation);
            RunStep::Again
        })
    }

    /// A frame that lies whole in the read buffer, and is a whole message.
    fn whole_frame(&mut self, cx: &mut Context<'_>) -> Result<RunStep, Violation> {
        if self.input.is_empty() {
            return Ok(RunStep::Read);
        }
        let rsv1 = self.message_conn.agreed_deflate();
        let role = (!self.message_conn.port.config.lenient).then_some(Role::Server);
        let Some((header, at)) = Header::parse(self.input.bytes(), role, rsv1)? else {
            return Ok(RunStep::Read);
        };
        let max = self.message_conn.port.config.max_message;
        let simple = header.fin && !header.rsv1 && header.opcode != Opcode::Continuation && header.len <= max;
        let end = usize::try_from(header.len).ok().and_then(|len| at.checked_add(len)).unwrap_or(usize::MAX);
        if !simple || end > self.input.len() {
            self.begin_partial();
            return Ok(RunStep::Again);
        }
        let frame = &mut self.input.bytes_mut()[at..end];
        if let Some(key) = header.mask {
            apply_mask(frame, key, 0);
        }
        let message_conn = &self.message_conn;
        let data = &self.input.bytes()[at..end];
        let kind = match header.opcode {
            Opcode::Text => {
                if !is_utf8(data) {
                    return Err(Violation { code: close::INVALID_DATA, reason: "a text message is not UTF-8" });
                }
                Kind::Text
            }
            Opcode::Binary | Opcode::Continuation => Kind::Binary,
            control => {
                // A control frame has 125 bytes at most: the header was checked.
                let mut copy = [0; MAX_CONTROL];
                let len = data.len().min(MAX_CONTROL);
                copy[..len].copy_from_slice(&data[..len]);
                self.input.consume(end);
                return self.control(control, &copy[..len], cx);
            }
        };
        if self.is_heard() {
            Self::hand_over(&self.app, message_conn, Message { kind, data, compressed: false }, cx);
        }
        self.input.consume(end);
        Ok(RunStep::Again)
    }

    /// Whether messages go to the app: what follows our close frame does only where that is not as RFC 6455 has it.
    fn is_heard(&self) -> bool {
        match self.message_conn.stage.get() {
            Stage::Open => true,
            Stage::CloseSent { .. } => self.message_conn.port.config.lenient,
            _ => false,
        }
    }

    fn begin_partial(&mut self) {
        let input = BytesMut::from(self.input.bytes());
        self.input.consume(usize::MAX);
        self.rest_input();
        self.partial = Some(Box::new(Partial { decoder: self.message_conn.take_decoder(), input }));
    }

    fn rest_input(&mut self) {
        self.input.release(&self.message_conn.worker().pool);
    }

    /// The next event of a message that did not come whole.
    fn decode(&mut self, cx: &mut Context<'_>) -> Result<RunStep, Violation> {
        let Some(mut partial) = self.partial.take() else { return Ok(RunStep::Again) };
        let conns = Rc::clone(&self.message_conn.conns);
        let event = conns.with_inflate_budget(|budget| {
            if *budget == 0 && partial.decoder.is_behind() {
                // A message that is inflated to its end waits for its turn all the same: handing it over takes long,
                // too.
                return Ok(None);
            }
            partial.decoder.decode_within(&mut partial.input, budget)
        })?;
        let behind = partial.decoder.is_behind();
        let more = !partial.input.is_empty();
        if partial.decoder.is_idle() && !more {
            self.leave_partial(*partial);
        } else {
            self.partial = Some(partial);
        }
        match event {
            None if behind => Ok(RunStep::Later),
            // What is left over is a head that is not complete.
            None => Ok(RunStep::Read),
            Some(Event::Message { text, data, compressed }) => {
                if compressed {
                    // What the program does with it takes time, too.
                    conns.with_inflate_budget(|budget| *budget = budget.saturating_sub(data.len()));
                }
                let kind = if text { Kind::Text } else { Kind::Binary };
                if self.is_heard() {
                    Self::hand_over(&self.app, &self.message_conn, Message { kind, data: &data, compressed }, cx);
                }
                Ok(RunStep::Again)
            }
            Some(Event::Ping(data)) => self.control(Opcode::Ping, &data, cx),
            Some(Event::Pong(data)) => self.control(Opcode::Pong, &data, cx),
            Some(Event::Close { code, reason }) => Ok(self.peer_closes(code, &reason, cx)),
        }
    }

    /// Between messages the decoder is given back, and what follows is read in the usual way.
    fn leave_partial(&mut self, partial: Partial) {
        if let Some(decoder) = self.message_conn.give_decoder(partial.decoder) {
            self.partial = Some(Box::new(Partial { decoder, input: BytesMut::new() }));
        }
    }

    fn control(&mut self, opcode: Opcode, data: &[u8], cx: &mut Context<'_>) -> Result<RunStep, Violation> {
        let message_conn = &self.message_conn;
        let config = &message_conn.port.config;
        match opcode {
            Opcode::Ping if config.show_pings => self.show(Kind::Ping, data, cx),
            Opcode::Ping if message_conn.stage.get() == Stage::Open => message_conn.control_frame(Opcode::Pong, data),
            Opcode::Pong if config.show_pongs => self.show(Kind::Pong, data, cx),
            Opcode::Close => {
                let event = apus_proto::websocket::parse_close(Bytes::copy_from_slice(data), config.lenient)?;
                if let Event::Close { code, reason } = event {
                    return Ok(self.peer_closes(code, &reason, cx));
                }
            }
            _ => {}
        }
        Ok(RunStep::Again)
    }

    fn show(&self, kind: Kind, data: &[u8], cx: &mut Context<'_>) {
        Self::hand_over(&self.app, &self.message_conn, Message { kind, data, compressed: false }, cx);
    }

    /// The peer's close frame came: it is answered, unless ours went out before, and the connection ends.
    fn peer_closes(&mut self, code: Option<u16>, reason: &[u8], cx: &mut Context<'_>) -> RunStep {
        let message_conn = Rc::clone(&self.message_conn);
        let kind = Kind::Close { code };
        if message_conn.flags().pull {
            message_conn.deliver(OwnedMessage { kind, data: reason.to_vec(), compressed: false });
        } else if message_conn.port.config.show_closes && message_conn.stage.get() == Stage::Open {
            self.show(kind, reason, cx);
        }
        if message_conn.stage.get() == Stage::Open {
            let mut frame = BytesMut::new();
            // A close without a code is answered by one (RFC 6455 section 5.5.1).
            if message_conn.port.config.lenient
                && let Some(code) = code
            {
                let whole = [&code.to_be_bytes(), reason].concat();
                encode(&mut frame, Opcode::Close, true, false, &whole, None);
            } else {
                encode_close(&mut frame, code.unwrap_or(close::NO_STATUS), "", None);
            }
            let _ = message_conn.transmit([&frame, &[]]);
        }
        message_conn.set_flags(|flags| flags.parted = true);
        message_conn.end_now();
        RunStep::Again
    }
}

/// Ends a message connection whose peer broke the protocol (RFC 6455 section 7.1.7).
fn fail(message_conn: &Rc<MessageConn>, violation: Violation) {
    if message_conn.port.config.lenient {
        let why = format!("malformed data: {}", violation.reason);
        message_conn.worker().metrics.refused(&message_conn.info, &why);
        return message_conn.kill(Kill::Reset);
    }
    message_conn.worker().metrics.refused(&message_conn.info, violation.reason);
    if message_conn.stage.get() == Stage::Open {
        let mut frame = BytesMut::new();
        encode_close(&mut frame, violation.code, violation.reason, None);
        let _ = message_conn.transmit([&frame, &[]]);
    }
    message_conn.end_now();
}
