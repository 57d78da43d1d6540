//! How operations on channels and on queues between processes end: `$errCode`, and `Apus\CHANNEL_*`.

/// `errCode`: the operation succeeded.
pub(crate) const OK: i64 = 0;
/// `errCode`: the time was over.
pub(crate) const TIMEOUT: i64 = -1;
/// `errCode`: the channel is closed (and, for pop, empty).
pub(crate) const CLOSED: i64 = -2;
/// `errCode`: the coroutine was cancelled.
pub(crate) const CANCELED: i64 = -3;
