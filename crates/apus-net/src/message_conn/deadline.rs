//! Deadlines of a message connection, looked at by the sweep.

use std::rc::Rc;

use apus_proto::websocket::{Opcode, close};

use super::{Carrier, MessageConn, Stage};
use crate::kill::Kill;
use crate::worker::DRAIN_GRACE;

impl MessageConn {
    /// Looks at the deadlines: wakes the task, and sends a ping where one is due; calls nothing else.
    pub(crate) fn sweep(self: &Rc<Self>, now: u64, draining: bool) {
        if self.output_stalled(now) {
            return self.kill(Kill::Reset);
        }
        let config = &self.port.config;
        match self.stage.get() {
            Stage::Closed => {}
            // The peer has to take what waits first; whether it does, is looked at above.
            // A worker that leaves does not wait for that.
            Stage::CloseSent { .. } if self.has_output() && !draining => {
                self.stage.set(Stage::CloseSent { since: now });
            }
            Stage::Ending { .. } if self.has_output() && !draining => self.stage.set(Stage::Ending { since: now }),
            Stage::CloseSent { since } | Stage::Ending { since } => {
                // What a leaving worker has said is said; the peer's own end is a courtesy.
                let brief = draining && !self.has_output();
                let limit = if brief { config.close_timeout.min(DRAIN_GRACE) } else { config.close_timeout };
                if now.saturating_sub(since) >= limit.max(1) {
                    self.kill(Kill::Now);
                }
            }
            Stage::Open if draining => self.leave(now),
            Stage::Open => self.heartbeat(now),
        }
    }

    /// The worker drains: handlers may say what they have to, then the peer is told to come again.
    fn leave(self: &Rc<Self>, now: u64) {
        let quiet = self.handlers.get() == 0;
        // A stream has no words for it: what is already on its way is still answered.
        let over = now.saturating_sub(self.worker().draining_since()) >= DRAIN_GRACE;
        if over {
            // Else a peer that goes on asking would never be quiet.
            self.set_flags(|flags| flags.leaving = true);
        }
        // A handler that lives as long as its connection ends when it can push no more.
        let late = now.saturating_sub(self.worker().draining_since()) >= self.port.config.drain_patience;
        if (quiet && (over || self.is_websocket())) || (late && self.is_websocket()) {
            self.close(close::GOING_AWAY, "the server is restarting");
        }
    }

    fn has_output(&self) -> bool {
        self.out.borrow().is_some()
    }

    fn heartbeat(self: &Rc<Self>, now: u64) {
        let config = &self.port.config;
        let idle = now.saturating_sub(self.seen.get());
        let handshaking = || self.io.borrow().as_ref().is_some_and(Carrier::is_handshaking);
        if config.handshake_timeout > 0 && idle >= config.handshake_timeout && handshaking() {
            return self.kill(Kill::Now);
        }
        if self.flags().protected {
            return;
        }
        if config.heartbeat_idle > 0 && idle_at_look(idle, now, config.heartbeat_check) >= config.heartbeat_idle {
            return self.kill(Kill::Now);
        }
        if !self.is_websocket() || config.ping_interval == 0 {
            return;
        }
        match self.pinged.get() {
            0 if idle >= config.ping_interval => {
                self.pinged.set(now.max(1));
                self.control_frame(Opcode::Ping, b"");
            }
            0 => {}
            _ if self.flags().paused || self.is_reading_late() => self.pinged.set(0),
            at if now.saturating_sub(at) >= config.ping_timeout.max(1) => self.kill(Kill::Now),
            _ => {}
        }
    }

    /// Whether this side does not read, so that an answer could not be seen.
    fn is_reading_late(&self) -> bool {
        self.flags().starved
            || self.flags().behind
            || self.handlers.get() >= self.port.config.concurrency
            || self.has_mail()
    }

    /// Bytes came.
    #[inline]
    pub(crate) fn saw_input(&self) {
        let clock = &self.worker().clock;
        self.seen.set(clock.now());
        self.pinged.set(0);
        self.info.last_request_at.set(clock.coarse());
    }

    /// Whether the peer took too little of the output during a whole window.
    fn output_stalled(&self, now: u64) -> bool {
        let in_flight = || self.io.borrow().as_ref().map_or(0, Carrier::in_flight);
        self.out.borrow_mut().as_mut().is_some_and(|out| out.is_stalled(now, &self.port.config, in_flight))
    }
}

/// How long a connection that is idle for `idle` had been so when it was looked at last, which happens every `every`;
/// all in milliseconds, and 0 for always.
fn idle_at_look(idle: u64, now: u64, every: u64) -> u64 {
    idle.saturating_sub(now.checked_rem(every).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::idle_at_look;

    #[test]
    fn what_has_passed_since_the_last_look_does_not_count() {
        assert_eq!(idle_at_look(1500, 2999, 1000), 501);
        assert_eq!(idle_at_look(1501, 3000, 1000), 1501);
        assert_eq!(idle_at_look(10, 2999, 1000), 0);
        assert_eq!(idle_at_look(1500, 2999, 0), 1500);
    }
}
