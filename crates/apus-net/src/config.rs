//! What a listening port allows its clients, taken from the settings in one place.

use std::path::PathBuf;
use std::time::Duration;

use apus_options::{Networks, Settings};
use apus_proto::forwarded::Fields;
use apus_proto::framing::Framing;
use apus_proto::http1::Limits;
use apus_proto::http1::response::{is_field_name, is_field_value};
use apus_proto::http2::HeadLimits;
use apus_proto::http2::hpack::ListLimits;

use crate::coding::Compression;
use crate::gate::{Connections, Gate};
use crate::http2;
use crate::note::LoggedFields;
use crate::port_tls::Tls;
use crate::trace::TraceFrom;

/// Bytes of an answer that a stream of HTTP/2 takes before the rest waits with its writer.
const STREAM_OUTPUT: usize = 64 * 1024;

/// The limits and habits of one listening port. Defaults are those of [`Settings`].
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each mirrors a setting that is a switch")]
pub struct Config {
    /// Bounds of a request head.
    pub head: Limits,
    /// Largest request body in bytes (413 beyond).
    pub max_body: u64,
    /// Largest message of a WebSocket in bytes (1009 beyond), and bytes of messages in hand for one connection.
    pub max_message: u64,
    /// Whether `on_request` comes with the head, and the handler reads the body as it arrives.
    pub stream_body: bool,
    /// Whether CONNECT requests go to the app (501 otherwise).
    pub connect: bool,
    /// Milliseconds for a whole request head, from its first byte; 0 for no limit.
    pub header_timeout: u64,
    /// Milliseconds of each window in which a body must bring its minimum rate.
    pub body_timeout: u64,
    /// Bytes a second that a body must bring, and that a slow reader must take; 0 for no limit.
    pub min_rate: u64,
    /// Milliseconds between two requests of a connection; 0 closes it after each answer.
    pub keepalive_timeout: u64,
    /// Requests on one connection; 0 for no limit.
    pub keepalive_requests: u64,
    /// Header fields that are noted of each request for whoever hears of its answer; `None` where nothing is noted.
    pub noted: Option<LoggedFields>,
    /// Whose traces are taken over; `None` where requests have none.
    pub traces: Option<TraceFrom>,
    /// The field in which every answer tells its request's trace; empty for none.
    pub trace_header: String,
    /// Milliseconds of each window in which a client must take waiting output; 0 for no limit.
    pub send_timeout: u64,
    /// Bytes of output that may wait for a slow client before writers must wait.
    pub max_output: usize,
    /// Pipelined requests answered in one turn, before other connections have theirs.
    pub max_pipelined: u32,
    /// Connections this worker keeps at once; further ones wait in the listening queue.
    pub max_connections: usize,
    /// Value of the `Server` field; empty for none.
    pub server_header: String,
    /// Whether a program's own fields stand before the server's, and every answer says what becomes of its connection
    /// and names a type.
    pub own_first: bool,
    /// Whether the answer to a request that is refused has a text that says why.
    pub explains: bool,
    /// Largest multipart form in bytes, with its files (413 beyond).
    pub max_form: u64,
    /// Whether a file larger than `max_file` has its form refused, with 413; else it is marked.
    pub refuses_large_files: bool,
    /// Whether the type of answers that name none has a character set.
    pub default_charset: bool,
    /// Whether it is as code written for Swoole knows it: WebSockets may be less strict than RFC 6455 (see the
    /// decoder's limits), the peer whose bytes make no sense sees its connection reset, uploads have names of there.
    pub lenient: bool,
    /// Whether small answers leave at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// Whether multipart bodies are parsed and their files spooled.
    pub parse_multipart: bool,
    /// Whether files of multipart bodies are stored; when off they are skipped.
    pub store_files: bool,
    /// Directory for uploaded files.
    pub upload_dir: PathBuf,
    /// Largest uploaded file in bytes.
    pub max_file: u64,
    /// Uploaded files in one request; further ones are skipped.
    pub max_files: u32,
    /// Fields in one form; further ones are dropped.
    pub max_fields: u32,
    /// Bytes that the fields of one multipart form may take in memory (413 beyond).
    pub max_form_memory: usize,
    /// Parts of one multipart body (413 beyond).
    pub max_parts: u32,
    /// TLS around the port's connections; none on a plain port.
    pub tls: Option<Tls>,
    /// The limits of HTTP/2; none where the port does not speak it.
    pub http2: Option<http2::Limits>,
    /// Whether the connections of a stream port begin without TLS.
    pub starttls: bool,
    /// Milliseconds for a TLS handshake; 0 for no limit.
    pub handshake_timeout: u64,
    /// TLS connections begun a second; 0 for no limit.
    pub handshake_rate: u32,
    /// Value of `Strict-Transport-Security` on a port that speaks TLS; empty for none.
    pub hsts: String,
    /// The port of https to which a plain port of HTTP sends its clients; 0 for none.
    pub https_redirect: u16,
    /// Whether the port is one of streams, not of HTTP.
    pub stream: bool,
    /// How a stream is cut into messages; without it each read is one.
    pub framing: Option<Framing>,
    /// Whether handshakes of WebSocket go to [`App::on_upgrade`](crate::App::on_upgrade).
    pub websocket: bool,
    /// Whether PING frames are shown to the app, and answered by it.
    pub show_pings: bool,
    /// Whether PONG frames are shown to the app.
    pub show_pongs: bool,
    /// Whether CLOSE frames are shown to the app before they are answered.
    pub show_closes: bool,
    /// The subprotocols the port speaks.
    pub subprotocols: Vec<String>,
    /// Origins whose pages may connect; empty for any.
    pub origins: Vec<String>,
    /// Fields of every answer: the name with its colon in lower case, and the line.
    pub response_headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Fields that no answer has, in lower case with their colon.
    pub removed_headers: Vec<Vec<u8>>,
    /// Whether fields are removed from answers, or added to some.
    pub adorns: bool,
    /// How many times larger a coded request body may become; 0: bodies are given as they are sent.
    pub decode_ratio: u32,
    /// Peers that are believed what they tell of their clients.
    pub trusted: Networks,
    /// The fields with which they tell.
    pub trusted_fields: Fields,
    /// Whether their connections begin with a header of the PROXY protocol.
    pub proxy_protocol: bool,
    /// Whom the port answers; none where it answers all.
    pub gate: Option<Gate>,
    /// How many connections each client may have; none where that is not limited.
    pub client_connections: Option<Connections>,
    /// Hosts that have settings of their own.
    pub hosts: Vec<Host>,
    /// What of its answers is coded; none where nothing is.
    pub http_compression: Option<Compression>,
    /// Bytes of an answer from which on it is looked at for that.
    pub compressed_from: usize,
    /// Whether permessage-deflate is agreed upon.
    pub compression: bool,
    /// zlib's level, 1 to 9.
    pub compression_level: u32,
    /// Shorter messages are sent as they are.
    pub compression_threshold: usize,
    /// Whether compression remembers earlier messages.
    pub context_takeover: bool,
    /// Milliseconds of silence before a ping; 0 for never.
    pub ping_interval: u64,
    /// Milliseconds that the answer may take.
    pub ping_timeout: u64,
    /// Milliseconds that the peer's close frame may take.
    pub close_timeout: u64,
    /// Milliseconds of silence after which a message connection is closed; 0 for never.
    pub heartbeat_idle: u64,
    /// How often connections are looked at for that, in milliseconds; 0 for always.
    pub heartbeat_check: u64,
    /// Whether nothing is read of a new stream before the program says so.
    pub delay_receive: bool,
    /// Probes of the kernel on silent connections.
    pub keepalive: Option<socket2::TcpKeepalive>,
    /// Messages of one message connection handled at once.
    pub concurrency: u16,
    /// What is done when as much output waits as may.
    pub send_policy: SendPolicy,
    /// Bytes of waiting output at which a connection is called full.
    pub high_watermark: usize,
    /// Bytes of waiting output at which it is no longer, and writers that wait for room go on.
    pub low_watermark: usize,
    /// Milliseconds that handlers have, when the worker leaves, before their WebSockets are closed.
    pub drain_patience: u64,
    /// Bytes of messages that handlers of the worker may hold before message connections are read on.
    pub max_pending: usize,
    /// Bytes of what clients have sent and the program has not finished with, over all connections of the worker.
    pub max_incoming: usize,
    /// Bytes of output that may wait over all connections of the worker.
    pub max_buffered: usize,
}

/// A host as it is configured.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its names; `*.` begins one that stands for every name with one label before the rest.
    pub names: Vec<String>,
    /// All that its requests are treated by.
    pub config: Config,
    /// Which certificate it shows, and which ones of clients it demands: requests for hosts of one number may come over
    /// one connection.
    pub certificate: usize,
    /// Whether clients must show a certificate.
    pub demands: bool,
}

/// What is done with a message for a peer for which as much output waits as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendPolicy {
    /// The sender waits.
    Wait,
    /// The message is lost.
    Drop,
    /// The connection is closed.
    Close,
}

impl From<&Settings> for Config {
    fn from(s: &Settings) -> Self {
        let max_output = s.buffer_output_size.max(s.socket_buffer_size);
        let high_watermark = if s.buffer_high_watermark > 0 { s.buffer_high_watermark } else { max_output / 5 * 4 };
        let low_watermark = if s.buffer_low_watermark > 0 { s.buffer_low_watermark } else { high_watermark / 2 };
        let upload_dir =
            if s.upload_tmp_dir.is_empty() { std::env::temp_dir() } else { PathBuf::from(&s.upload_tmp_dir) };
        Self {
            // A request line as long as the whole head is the head's own limit to refuse, with 414.
            head: Limits {
                max_head: s.max_header_size,
                max_headers: s.max_headers,
                max_target: s.max_header_size,
                without_host: !s.http_require_host,
            },
            max_body: s.package_max_length,
            max_message: s.package_max_length,
            stream_body: s.stream_request_body,
            connect: s.http_connect,
            header_timeout: millis(s.header_timeout),
            body_timeout: millis(s.body_timeout),
            min_rate: s.body_min_rate,
            keepalive_timeout: millis(s.keepalive_timeout),
            keepalive_requests: s.keepalive_requests,
            noted: None,
            traces: traces(s),
            trace_header: trace_header(s),
            send_timeout: millis(s.send_timeout),
            max_output,
            max_pipelined: s.max_pipelined,
            max_connections: s.max_connection as usize,
            server_header: if removes_server(s) { String::new() } else { s.server_header.clone() },
            own_first: false,
            explains: true,
            max_form: s.package_max_length,
            refuses_large_files: false,
            default_charset: true,
            lenient: false,
            nodelay: s.open_tcp_nodelay,
            parse_multipart: s.http_parse_post,
            store_files: s.http_parse_files,
            upload_dir,
            max_file: s.upload_max_filesize,
            max_files: s.max_file_uploads,
            max_fields: s.max_input_vars,
            max_form_memory: s.max_form_memory,
            max_parts: s.max_multipart_parts,
            tls: None,
            http2: s.open_http2_protocol.then(|| http2_limits(s)),
            starttls: s.ssl_starttls,
            handshake_timeout: millis(s.ssl_handshake_timeout),
            handshake_rate: s.ssl_handshake_rate,
            hsts: s.ssl_hsts.clone(),
            https_redirect: s.https_redirect,
            stream: false,
            framing: None,
            websocket: s.open_websocket_protocol,
            show_pings: s.open_websocket_ping_frame,
            show_pongs: s.open_websocket_pong_frame,
            show_closes: s.open_websocket_close_frame,
            subprotocols: list(&s.websocket_subprotocol),
            origins: list(&s.websocket_origins),
            response_headers: header_lines(s),
            removed_headers: s.response_headers_removed.iter().map(|name| with_colon(name)).collect(),
            adorns: adorns(s),
            decode_ratio: s.http_decompression_ratio,
            trusted: s.trusted_proxies.clone(),
            trusted_fields: trusted_fields(s),
            proxy_protocol: s.open_proxy_protocol && !s.trusted_proxies.is_empty(),
            gate: Gate::of(s, None),
            client_connections: None,
            hosts: Vec::new(),
            http_compression: s.http_compression.then(|| Compression::of(s)),
            compressed_from: if s.http_compression { s.compression_min_length.max(1) } else { usize::MAX },
            compression: s.websocket_compression,
            compression_level: s.websocket_compression_level,
            compression_threshold: s.websocket_compression_threshold,
            context_takeover: s.websocket_context_takeover,
            ping_interval: millis(s.websocket_ping_interval),
            ping_timeout: millis(s.websocket_ping_timeout),
            close_timeout: millis(s.websocket_close_timeout),
            heartbeat_idle: millis(s.heartbeat_idle_time),
            heartbeat_check: millis(s.heartbeat_check_interval),
            delay_receive: s.enable_delay_receive,
            keepalive: s.open_tcp_keepalive.then(|| {
                socket2::TcpKeepalive::new()
                    .with_time(Duration::from_secs(s.tcp_keepidle.into()))
                    .with_interval(Duration::from_secs(s.tcp_keepinterval.into()))
                    .with_retries(s.tcp_keepcount)
            }),
            concurrency: u16::try_from(s.connection_concurrency).unwrap_or(u16::MAX),
            send_policy: send_policy(s),
            high_watermark,
            low_watermark: low_watermark.min(high_watermark.saturating_sub(1)),
            drain_patience: millis(s.max_wait_time) / 2,
            max_pending: usize::try_from(s.max_buffered_bytes).unwrap_or(usize::MAX),
            max_incoming: usize::try_from(s.max_incoming_bytes).unwrap_or(usize::MAX),
            max_buffered: usize::try_from(s.max_buffered_bytes).unwrap_or(usize::MAX),
        }
    }
}

/// What becomes of answers that clients do not take.
fn send_policy(s: &Settings) -> SendPolicy {
    match s.send_policy {
        1 => SendPolicy::Drop,
        2 => SendPolicy::Close,
        _ => SendPolicy::Wait,
    }
}

/// Whose traces are taken over.
fn traces(s: &Settings) -> Option<TraceFrom> {
    match s.request_ids {
        0 => None,
        1 => Some(TraceFrom::Nobody),
        2 => Some(TraceFrom::Trusted),
        _ => Some(TraceFrom::Anybody),
    }
}

/// The field in which every answer tells its request's trace.
fn trace_header(s: &Settings) -> String {
    if s.request_ids > 0 { s.request_id_header.clone() } else { String::new() }
}

/// Whether answers get or lose fields one by one.
fn adorns(s: &Settings) -> bool {
    !s.response_headers_removed.is_empty() || !s.cors_origins.is_empty() || !trace_header(s).is_empty()
}

/// The fields in which trusted proxies tell of their clients.
fn trusted_fields(s: &Settings) -> Fields {
    match s.trusted_proxy_fields {
        1 => Fields::Forwarded,
        2 => Fields::XRealIp,
        _ => Fields::XForwarded,
    }
}

/// The limits of HTTP/2 that settings ask for.
fn http2_limits(s: &Settings) -> http2::Limits {
    let default = http2::Limits::default();
    let list = ListLimits {
        max_list: s.http2_max_header_list_size,
        max_fields: if s.http2_max_headers > 0 { s.http2_max_headers } else { s.max_headers },
    };
    http2::Limits {
        head: HeadLimits { list, max_target: s.max_header_size, connect_protocol: true },
        max_streams: s.http2_max_concurrent_streams,
        max_running: s.http2_max_concurrent_streams.saturating_add(s.http2_max_concurrent_streams / 2),
        stream_window: s.http2_init_window_size,
        connection_window: s.http2_init_window_size.max(default.connection_window),
        max_frame: s.http2_max_frame_size,
        decoder_table: s.http2_header_table_size,
        encoder_table: s.http2_header_table_size,
        max_output: STREAM_OUTPUT,
        header_timeout: millis(s.header_timeout),
        settings_timeout: millis(s.header_timeout),
        send_timeout: millis(s.send_timeout),
        min_rate: s.body_min_rate,
        ..default
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&Settings::default())
    }
}

fn with_colon(name: &str) -> Vec<u8> {
    format!("{}:", name.to_ascii_lowercase()).into_bytes()
}

fn removes_server(settings: &Settings) -> bool {
    settings.response_headers_removed.iter().any(|name| name.eq_ignore_ascii_case("server"))
}

fn header_lines(settings: &Settings) -> Vec<(Vec<u8>, Vec<u8>)> {
    settings.response_headers.iter().map(|(name, value)| header_line(name, value)).collect()
}

/// A field as [`Config::response_headers`] has it.
fn header_line(name: &str, value: &str) -> (Vec<u8>, Vec<u8>) {
    (with_colon(name), format!("{name}: {value}\r\n").into_bytes())
}

/// What is wrong with the setting `response_headers` or `request_id_header`.
///
/// # Errors
/// A name or a value that is none, or a field that is not the program's to send.
pub fn check_response_headers(settings: &Settings) -> Result<(), String> {
    let own = |name: &str| OWN_FIELDS.contains(&&*name.to_ascii_lowercase());
    let id = &settings.request_id_header;
    if !id.is_empty() && (!is_field_name(id.as_bytes()) || own(id)) {
        return Err(format!("request_id_header: \"{}\" is no name of a field that could be added", id.escape_debug()));
    }
    for (name, value) in &settings.response_headers {
        if !is_field_name(name.as_bytes()) || !is_field_value(value.as_bytes()) {
            return Err(format!("response_headers: \"{}\" is no header field", name.escape_debug()));
        }
        if own(name) {
            return Err(format!("response_headers: the server sends {name} by itself"));
        }
    }
    for name in &settings.response_headers_removed {
        let lower = name.to_ascii_lowercase();
        if !is_field_name(name.as_bytes()) || lower != "server" && OWN_FIELDS.contains(&&*lower) {
            return Err(format!("response_headers_removed: {} cannot be removed", name.escape_debug()));
        }
    }
    Ok(())
}

/// Fields that frame a message, or that each answer has its own of.
const OWN_FIELDS: [&str; 11] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "date",
    "keep-alive",
    "server",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The elements of a list with commas.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Whole milliseconds; a limit above zero never becomes "no limit".
fn millis(limit: Duration) -> u64 {
    if limit.is_zero() { 0 } else { u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1) }
}
