//! What a connection of HTTP/2 may cost.

use apus_proto::http2::hpack::DEFAULT_TABLE;
use apus_proto::http2::{DEFAULT_FRAME, HeadLimits};

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bounds of a head. The block of a head or trailer section may be twice as long as its list before the connection
    /// is closed; what is shorter and too long is answered with 431.
    pub head: HeadLimits,
    /// Streams that a peer may have open at once.
    pub max_streams: u32,
    /// Streams whose handlers run or that are open, also of those that were reset. Beyond it new ones are refused.
    pub max_running: u32,
    /// Bytes that a peer may send on a stream before the handler has taken them.
    pub stream_window: u32,
    /// The same of all streams of the connection together.
    pub connection_window: u32,
    /// The longest payload of a frame that is taken, from 2^14 on.
    pub max_frame: usize,
    /// Bytes of the table that the peer's fields are compressed with.
    pub decoder_table: usize,
    /// Bytes of the table that ours are.
    pub encoder_table: usize,
    /// Frames of one field block.
    pub max_continuations: u32,
    /// Bytes of a body that may wait for a stream before its writer has to wait.
    pub max_output: usize,
    /// Bytes of bodies that may wait for all streams together.
    pub max_total_output: usize,
    /// Bytes of waiting control frames and heads at which no more is read of the peer.
    pub max_control: usize,
    /// Frames that are of no use to anybody, PING for example, at once; and how many come back in a second. Requests
    /// and data earn some.
    pub control_budget: (u32, u32),
    /// Streams that are broken off by either side, at once; and how many come back in a second.
    pub reset_budget: (u32, u32),
    /// Milliseconds for a whole field block; 0 for no limit.
    pub header_timeout: u64,
    /// Milliseconds for the acknowledgement of our settings; 0 for no limit.
    pub settings_timeout: u64,
    /// Milliseconds of each window in which a peer must take waiting output; 0 for no limit.
    pub send_timeout: u64,
    /// Bytes a second that a peer must take as long as output waits; 0 for no limit.
    pub min_rate: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: HeadLimits::default(),
            max_streams: 128,
            max_running: 192,
            stream_window: 256 * 1024,
            connection_window: 1024 * 1024,
            max_frame: DEFAULT_FRAME,
            decoder_table: DEFAULT_TABLE,
            encoder_table: DEFAULT_TABLE,
            max_continuations: 16,
            max_output: 256 * 1024,
            max_total_output: 4 * 1024 * 1024,
            max_control: 64 * 1024,
            control_budget: (1000, 100),
            reset_budget: (500, 50),
            header_timeout: 10_000,
            settings_timeout: 10_000,
            send_timeout: 30_000,
            min_rate: 100,
        }
    }
}
