//! Deadlines of one connection, looked at by the sweep.

use super::Conn;
use crate::kill::Kill;
use crate::sys;
use crate::wire::Wire;
use crate::worker::DRAIN_GRACE;

/// What the connection waits for, and since when (milliseconds of the worker's clock).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Nothing that has a deadline: the handler has the request.
    None,
    /// The first byte of the first request.
    Fresh { since: u64 },
    /// The next request.
    Idle { since: u64 },
    /// The rest of a head.
    Head { since: u64 },
    /// Body bytes; the window of the minimum rate began then.
    Body { since: u64 },
    /// Nothing yet: the handler has not asked for more of its body. So much of the window of the minimum rate has
    /// passed.
    BodyPaused { spent: u64 },
    /// The peer's close, after ours.
    Linger { since: u64 },
}

/// Which deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expired {
    /// No request came: close without a word.
    Idle,
    /// The head did not come: 408.
    Head,
    /// The body came too slowly: 408.
    Body,
    /// The worker has no memory left for bodies, and this one brings least: 503.
    Memory,
    /// The client does not take its answer, or does not close.
    Peer,
}

/// How long a closed connection's last input is read and thrown away (RFC 9112 section 9.6). Milliseconds.
pub(crate) const LINGER: u64 = 5_000;
/// The same while the worker drains: a stop does not wait for a client that ignores its answer. Milliseconds.
const DRAIN_LINGER: u64 = 500;

impl Conn {
    /// A body is awaited from now on.
    pub(crate) fn start_body_timer(&self) {
        self.body_bytes.set(0);
        self.timer.set(Timer::Body { since: self.port.worker.clock.now() });
    }

    /// While the handler asks for nothing the client's rate does not count; the window goes on with the next read, so
    /// that a client cannot win time by sending single bytes.
    pub(crate) fn pause_body_timer(&self) {
        let paused = match self.timer.get() {
            Timer::Body { since } => Timer::BodyPaused { spent: self.port.worker.clock.now().saturating_sub(since) },
            paused @ Timer::BodyPaused { .. } => paused,
            _ => Timer::None,
        };
        self.timer.set(paused);
    }

    pub(crate) fn resume_body_timer(&self) {
        match self.timer.get() {
            Timer::Body { .. } => {}
            Timer::BodyPaused { spent } => {
                let since = self.port.worker.clock.now().saturating_sub(spent);
                self.timer.set(Timer::Body { since });
            }
            _ => self.start_body_timer(),
        }
    }

    /// Looks at the deadlines. Wakes the task when one has passed; calls nothing else.
    pub(crate) fn sweep(&self, now: u64, draining: bool) {
        if let Some(expired) = self.expired_now(now, draining) {
            self.expired.set(Some(expired));
            self.wake_later();
        } else if self.output_stalled(now) || self.is_silent() {
            self.kill(Kill::Reset);
        } else if self.watch_in_sweep.get() {
            self.wake_later();
        } else if let Some(mux) = self.mux.get()
            && (draining || mux.has_deadlines())
        {
            mux.look.set(true);
            self.wake_later();
        }
    }

    /// Ends it if it waits for a further request.
    pub(crate) fn end_if_idle(&self) {
        if matches!(self.timer.get(), Timer::Idle { .. }) {
            self.expired.set(Some(Expired::Idle));
            self.wake_later();
        }
    }

    pub(crate) fn expired_now(&self, now: u64, draining: bool) -> Option<Expired> {
        let config = &self.port.config;
        let passed = |since: u64, limit: u64| limit > 0 && now.saturating_sub(since) >= limit;
        let idle = |since: u64, limit: u64| passed(since, limit) || (draining && passed(since, DRAIN_GRACE));
        match self.timer.get() {
            Timer::None | Timer::BodyPaused { .. } => None,
            Timer::Fresh { since } if self.is_handshaking() => {
                idle(since, config.handshake_timeout).then_some(Expired::Idle)
            }
            Timer::Fresh { since } => idle(since, config.header_timeout).then_some(Expired::Idle),
            Timer::Idle { since } => idle(since, config.keepalive_timeout).then_some(Expired::Idle),
            Timer::Head { since } => passed(since, config.header_timeout).then_some(Expired::Head),
            Timer::Linger { since } => {
                passed(since, if draining { DRAIN_LINGER } else { LINGER }).then_some(Expired::Peer)
            }
            Timer::Body { since } => {
                // A window of zero would ask for nothing: the least is one second.
                let window = config.body_timeout.max(1_000);
                if config.min_rate == 0 || now.saturating_sub(since) < window {
                    return None;
                }
                if self.body_bytes.replace(0) < config.min_rate.saturating_mul(window) / 1_000 {
                    return Some(Expired::Body);
                }
                self.timer.set(Timer::Body { since: now });
                None
            }
        }
    }

    /// Whether code written for Swoole has it closed: nothing came for the time of its heartbeat, whatever is being
    /// done for it.
    fn is_silent(&self) -> bool {
        let config = &self.port.config;
        let counts = config.lenient && config.heartbeat_idle > 0 && self.mux.get().is_none();
        counts
            && self.timer.get() == Timer::None
            && self.port.worker.clock.wall() - self.info.last_request_at.get() >= config.heartbeat_idle as f64 / 1000.0
    }

    fn is_handshaking(&self) -> bool {
        self.io.borrow().as_ref().is_some_and(Wire::is_handshaking)
    }

    /// Whether the client took too little of its answer during a whole window.
    fn output_stalled(&self, now: u64) -> bool {
        let in_flight = || self.io.borrow().as_ref().and_then(|io| sys::unacknowledged(io.socket()).ok()).unwrap_or(0);
        self.out.borrow_mut().is_stalled(now, &self.port.config, in_flight)
    }
}
