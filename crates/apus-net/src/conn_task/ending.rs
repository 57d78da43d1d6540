//! The end of an exchange, and of a connection.

use std::rc::Rc;
use std::task::{Context, Poll};

use super::{ConnState, ConnStep, ConnTask};
use crate::app::App;
use crate::conn::Timer;

/// Bytes read away after our close before the client is cut off.
const MAX_LINGER: usize = 16 << 20;

impl<A: App> ConnTask<A> {
    /// Waits for the output before the next request.
    pub(super) fn drain(&mut self, cx: &mut Context<'_>) -> ConnStep {
        if self.conn.poll_output(cx).is_pending() {
            self.conn.watch_peer();
            return ConnStep::Wait;
        }
        self.conn.watch_in_sweep.set(false);
        self.state = ConnState::Head;
        ConnStep::Again
    }

    /// Waits for the output, then closes our side.
    pub(super) fn closing(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let conn = &self.conn;
        conn.pipelined.set(false);
        if conn.poll_output(cx).is_pending() {
            return ConnStep::Wait;
        }
        let ConnState::Closing { linger: true } = self.state else { return ConnStep::Close };
        let shut = conn.io.borrow().as_ref().is_some_and(|io| io.shut_down().is_ok());
        if conn.broken.get() || !shut {
            return ConnStep::Close;
        }
        conn.timer.set(Timer::Linger { since: conn.port.worker.clock.now() });
        self.state = ConnState::Linger(0);
        ConnStep::Again
    }

    /// Reads until the client closes: closing with unread input would reset the connection, and the client could lose
    /// the answer (RFC 9112 section 9.6).
    pub(super) fn linger(&mut self, cx: &mut Context<'_>) -> ConnStep {
        let conn = Rc::clone(&self.conn);
        let ConnState::Linger(taken) = &mut self.state else { return ConnStep::Again };
        conn.port.worker.pool.with_scratch(|scratch| {
            while *taken < MAX_LINGER {
                match conn.poll_recv(cx, scratch) {
                    Poll::Pending => return ConnStep::Wait,
                    Poll::Ready(Ok(count @ 1..)) => *taken += count,
                    Poll::Ready(_) => return ConnStep::Close,
                }
            }
            ConnStep::Close
        })
    }
}
