//! What a listening port allows its clients, taken from the settings in one place.

use std::path::PathBuf;
use std::time::Duration;

use apus_options::Settings;
use apus_proto::http1::Limits;

/// The limits and habits of one listening port. Defaults are those of [`Settings`].
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each mirrors a setting that is a switch")]
pub struct Config {
    /// Bounds of a request head.
    pub head: Limits,
    /// Largest request body in bytes (413 beyond).
    pub max_body: u64,
    /// Whether `on_request` comes with the head, and the handler reads the body as it arrives.
    pub stream_body: bool,
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
}

impl From<&Settings> for Config {
    fn from(s: &Settings) -> Self {
        let upload_dir =
            if s.upload_tmp_dir.is_empty() { std::env::temp_dir() } else { PathBuf::from(&s.upload_tmp_dir) };
        Self {
            // A request line as long as the whole head is the head's own limit to refuse, with 414.
            head: Limits { max_head: s.max_header_size, max_headers: s.max_headers, max_target: s.max_header_size },
            max_body: s.package_max_length,
            stream_body: s.stream_request_body,
            header_timeout: millis(s.header_timeout),
            body_timeout: millis(s.body_timeout),
            min_rate: s.body_min_rate,
            keepalive_timeout: millis(s.keepalive_timeout),
            keepalive_requests: s.keepalive_requests,
            send_timeout: millis(s.send_timeout),
            max_output: s.buffer_output_size.max(s.socket_buffer_size),
            max_pipelined: s.max_pipelined,
            max_connections: s.max_connection as usize,
            server_header: s.server_header.clone(),
            nodelay: s.open_tcp_nodelay,
            parse_multipart: s.http_parse_post,
            store_files: s.http_parse_files,
            upload_dir,
            max_file: s.upload_max_filesize,
            max_files: s.max_file_uploads,
            max_fields: s.max_input_vars,
            max_form_memory: s.max_form_memory,
            max_parts: s.max_multipart_parts,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&Settings::default())
    }
}

/// Whole milliseconds; a limit above zero never becomes "no limit".
fn millis(limit: Duration) -> u64 {
    if limit.is_zero() { 0 } else { u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1) }
}
