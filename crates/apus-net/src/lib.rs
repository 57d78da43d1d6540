//! Sockets around `apus-proto`: listeners, connections, HTTP/1.1 exchanges, limits, drain; the streams of HTTP/2.
//!
//! Everything runs on one thread, in one `tokio` current-thread runtime with `spawn_local` (a `LocalRuntime`), and the
//! connections in the `apus_loop::Loop` of that thread. The crate knows nothing of PHP: whoever answers requests
//! implements [`App`].
//!
//! ```text
//! listener ── accept ──> conn_task (one state machine a connection) ──> App::on_request(Request, Responder)
//!                           │  reads, parses, collects bodies            │ end / write / send_file
//!                           └────────── conn::Conn (out buffer, state) <─┘
//!            └─ upgrade, stream port ──> message_conn::MessageConn, run by message_runner ──> App::on_message
//! sweep: one coarse timer looks at the deadlines of all connections
//! ```

mod account;
mod answer;
mod app;
mod arrive;
mod asked;
mod body;
mod clock;
mod coding;
mod config;
mod conn;
mod conn_task;
mod control;
mod exchange;
mod file_part;
mod framing;
mod gate;
mod head_bytes;
mod http1;
pub mod http2;
mod info;
mod input;
mod kill;
mod listener;
mod message_conn;
mod message_runner;
mod method;
mod mux;
mod names;
mod note;
mod output;
mod pace;
mod parsing;
mod pool;
mod port;
mod port_tls;
mod registry;
mod request;
mod response;
mod runners;
mod serve;
mod shared;
mod sweep;
mod sys;
mod trace;
mod udp;
mod wake;
mod wire;
mod worker;

pub use apus_proto as proto;
pub use apus_tls as tls;

pub use answer::{AnswerState, ResponseHead, SendError};
pub use app::App;
pub use asked::Asked;
pub use body::{Body, BodyError, Collected, ReadChunk, TempFile, UploadError, UploadedFile};
pub use clock::wall;
pub use coding::Compression;
pub use config::{Config, Host, SendPolicy, check_response_headers};
pub use control::Control;
pub use file_part::SendFile;
pub use framing::{FRAMINGS, framing};
pub use gate::{Connections, Gate, Rate};
pub use http1::DEFAULT_TYPE;
pub use info::{ConnInfo, Local, Peer, TlsInfo};
pub use message_conn::{
    Broadcast, Delivery, Kind, Message, MessageConn, OwnedMessage, Recv, Refusal, Upgrade, WriteTurn,
};
pub use method::Method;
pub use names::{Added, MAX_NAME, MAX_TOPICS, NameIndex, Removed, is_name};
pub use note::LoggedFields;
pub use parsing::Parsing;
pub use port_tls::{Tls, check_hsts, demand, identities, identity, versions};
pub use request::Request;
pub use response::{Gone, Responder, Writable, WriteState};
pub use serve::serve;
pub use trace::{Trace, TraceFrom};
pub use udp::{Datagram, PacketApp, serve_datagrams};
pub use worker::{Answered, Counters, Metrics, NoMetrics, Standing};
