//! A request's head as it was sent and as it was read.

use apus_proto::http1::RequestHead;

/// The head, in memory that is used again by later requests.
#[derive(Default)]
pub(crate) struct Inner {
    /// The head's bytes as sent; all spans of `head` point into them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) head: RequestHead,
}
