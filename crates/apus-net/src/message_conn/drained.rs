//! What a program may ask of a message connection beside sending: whether all has left, whether the peer is silent.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::MessageConn;
use crate::answer::SendError;

impl MessageConn {
    /// Ready when the kernel has all that was to be sent, or with an error when the message connection is gone.
    pub fn drained(self: &Rc<Self>) -> Drained {
        Drained(Rc::clone(self))
    }

    /// Whether the kernel has all that was to be sent; what this turn of the reactor has gathered is given to it first.
    pub fn is_drained(&self) -> bool {
        self.conns.batch.send();
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

/// Future of [`MessageConn::drained`].
pub struct Drained(Rc<MessageConn>);

impl Future for Drained {
    type Output = Result<(), SendError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let message_conn = &self.0;
        if !message_conn.is_established() {
            return Poll::Ready(Err(SendError::Closed));
        }
        if message_conn.is_drained() {
            return Poll::Ready(Ok(()));
        }
        // Whoever sends wakes these at every step below the low watermark, the last one among them.
        message_conn.waiters.register(cx.waker());
        Poll::Pending
    }
}
