//! What a program may ask of a message connection beside sending: whether all has left, whether the peer is silent.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::MessageConn;
use crate::answer::SendError;

impl MessageConn {
    /// Ready when the kernel has all that was to be sent, or with an error when the message connection is gone.
    pub fn drained(self: &Rc<Self>) -> impl Future<Output = Result<(), SendError>> + use<> {
        let conn = Rc::clone(self);
        poll_fn(move |cx| {
            if !conn.is_established() {
                return Poll::Ready(Err(SendError::Closed));
            }
            if conn.is_drained() {
                return Poll::Ready(Ok(()));
            }
            // Whoever sends wakes these at every step below the low watermark, the last one among them.
            conn.waiters.register(cx.waker());
            Poll::Pending
        })
    }

    /// Whether the kernel has all that was to be sent; what this turn of the reactor has gathered is given to it first.
    pub fn is_drained(&self) -> bool {
        self.conns.batch.send();
        self.settle();
        self.out.borrow().is_none()
    }

    /// Whether a file waits to be sent.
    pub fn sends_file(&self) -> bool {
        self.out.borrow().as_ref().is_some_and(|waiting| waiting.has_file())
    }

    /// Whether the peer has been silent for as long as the heartbeat of its port allows; `None` without a heartbeat.
    pub fn is_silent(&self) -> Option<bool> {
        let limit = self.port.config.heartbeat_idle;
        (limit > 0).then(|| self.idle() >= limit)
    }
}
