//! Reading a stream's messages.

use std::task::Context;

use apus_proto::framing::{FramingError, Next, Rule};

use super::{RunStep, Runner};
use crate::app::App;
use crate::kill::Kill;
use crate::message_conn::{Kind, Message};

impl<A: App> Runner<A> {
    /// Handles the next message of what was read.
    pub(super) fn stream_step(&mut self, cx: &mut Context<'_>) -> RunStep {
        if self.message_conn.flags().sealed && self.came_in_clear() {
            return RunStep::End;
        }
        let bytes = self.input.bytes();
        if bytes.is_empty() {
            return RunStep::Read;
        }
        let config = std::rc::Rc::clone(&self.message_conn.port.config);
        let Some(framing) = &config.framing else {
            let message = Message { kind: Kind::Data, data: bytes, compressed: false };
            Self::hand_over(&self.app, &self.message_conn, message, cx);
            self.input.consume(usize::MAX);
            return RunStep::Again;
        };
        let next = match framing.rule() {
            Rule::Asked => {
                framing.ask(bytes, &mut self.scan, |bytes| self.app.package_length(&self.message_conn, bytes))
            }
            _ => framing.next(bytes, &mut self.scan),
        };
        match next {
            Ok(Next::Message(length)) => {
                let data = framing.payload(&self.input.bytes()[..length]);
                Self::hand_over(
                    &self.app,
                    &self.message_conn,
                    Message { kind: Kind::Data, data, compressed: false },
                    cx,
                );
                self.input.consume(length);
                RunStep::Again
            }
            Ok(Next::More(_)) => RunStep::Read,
            Err(error) => {
                self.refuse(error);
                RunStep::End
            }
        }
    }

    /// TLS has begun. Bytes behind the command that asked for it may be anybody's: nothing is done with them, and the
    /// connection ends.
    #[cold]
    fn came_in_clear(&self) -> bool {
        self.message_conn.set_flags(|flags| flags.sealed = false);
        let early = !self.input.is_empty();
        if early {
            let why = "bytes in clear came behind the command that began TLS";
            self.message_conn.worker().metrics.refused(&self.message_conn.info, why);
            self.message_conn.kill(Kill::Now);
        }
        early
    }

    /// The peer's bytes make no sense: the connection ends, and the log says why.
    fn refuse(&self, error: FramingError) {
        self.message_conn.worker().metrics.refused(&self.message_conn.info, &error.to_string());
        // Answers to what came before are sent.
        self.message_conn.conns.batch.send();
        self.message_conn.settle();
        self.message_conn.flush();
        self.message_conn.kill(if self.message_conn.port.config.lenient { Kill::Reset } else { Kill::Now });
    }
}
