//! Taking messages one by one, for programs with one coroutine a connection.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::{MessageConn, OwnedMessage, Stage};

/// Future of [`MessageConn::recv`].
pub struct Recv(Rc<MessageConn>);

impl MessageConn {
    /// The next message of a message connection that was upgraded with [`Upgrade::pull`](super::Upgrade); `None` once
    /// it is closed. The socket is read only as long as no message waits here.
    pub fn recv(self: &Rc<Self>) -> Recv {
        Recv(Rc::clone(self))
    }

    /// Keeps a message for `recv`.
    pub(crate) fn deliver(&self, message: OwnedMessage) {
        self.with_extra(|extra| extra.inbox.push_back(message));
        self.waiters.wake_all();
    }

    /// Bytes of the messages that wait for `recv`.
    pub(crate) fn mail_bytes(&self) -> usize {
        self.extra.borrow().as_ref().map_or(0, |extra| extra.inbox.iter().map(|message| message.data.len()).sum())
    }

    pub(crate) fn has_mail(&self) -> bool {
        self.extra.borrow().as_ref().is_some_and(|extra| !extra.inbox.is_empty())
    }
}

impl Future for Recv {
    type Output = Option<OwnedMessage>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let message_conn = &self.0;
        let next = message_conn.extra.borrow_mut().as_mut().and_then(|extra| extra.inbox.pop_front());
        if next.is_some() {
            message_conn.wake_task();
            return Poll::Ready(next);
        }
        if matches!(message_conn.stage.get(), Stage::Ending { .. } | Stage::Closed) {
            return Poll::Ready(None);
        }
        message_conn.waiters.register(cx.waker());
        Poll::Pending
    }
}
