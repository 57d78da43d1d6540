//! The end of a connection that is not its task's own decision.

use std::time::Duration;

use socket2::Socket;

/// How a connection is asked to end from outside its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    No,
    /// After the output that waits.
    AfterOutput,
    Now,
    /// And throw away what the kernel has not sent.
    Reset,
}

impl Kill {
    /// What the kernel is told before the socket of a connection that was asked to end so is closed.
    pub(crate) fn before_close(self, socket: &Socket) {
        if self == Self::Reset {
            // A peer that takes nothing must not keep the kernel's buffers either.
            let _ = socket.set_linger(Some(Duration::ZERO));
        }
    }
}
