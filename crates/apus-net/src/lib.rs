//! Sockets around `apus-proto`: listeners, connections, HTTP/1.1 exchanges, limits, drain.
//!
//! Everything runs on one thread, in one `tokio` current-thread runtime with `spawn_local` (a `LocalRuntime`). The
//! crate knows nothing of PHP: whoever answers requests implements [`App`].
//!
//! ```text
//! listener ── accept ──> conn::task (one future a connection) ──> App::on_request(Request, Responder)
//!                           │  reads, parses, collects bodies            │ end / write / send_file
//!                           └────────── conn::Conn (out buffer, state) <─┘
//! sweep: one coarse timer looks at the deadlines of all connections
//! ```

mod account;
mod answer;
mod app;
mod body;
mod clock;
mod config;
mod conn;
mod control;
mod file_part;
mod framing;
mod head_bytes;
mod http1;
mod listener;
mod message_conn;
mod names;
mod pool;
mod registry;
mod regular_file;
mod request;
mod response;
mod serve;
mod sweep;
mod sys;
mod udp;
mod wake;

pub use apus_proto as proto;

pub use answer::{ResponseHead, SendError};
pub use app::App;
pub use body::{Body, BodyError, Collected, ReadChunk, TempFile, UploadError, UploadedFile};
pub use clock::wall;
pub use config::{Config, SendPolicy};
pub use conn::{ConnInfo, Local, Peer};
pub use control::{Control, Counters, Idle, Metrics, NoMetrics};
pub use framing::framing;
pub use message_conn::{
    Broadcast, Delivery, Drained, Kind, Message, MessageConn, MessageConnWritable, OwnedMessage, Recv, Refusal, Upgrade,
};
pub use names::{Added, MAX_NAME, NameIndex, Removed, is_name};
pub use regular_file::open_regular;
pub use request::Request;
pub use response::{Gone, Responder, SendFile, Writable, WriteState};
pub use serve::serve;
pub use udp::{Datagram, PacketApp, serve_datagrams};
