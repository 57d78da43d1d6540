//! Settings that programs written for other servers bring along and this version does not act on.

use crate::row::{Row, Scope, Support};

const fn inert(name: &'static str, scope: Scope, doc: &'static str) -> Row {
    Row::unread(name, scope, Support::NoEffect, doc)
}

const fn missing(name: &'static str, scope: Scope, doc: &'static str) -> Row {
    Row::unread(name, scope, Support::Missing, doc)
}

const TASK_MEMORY: &str = "Tasks wait in memory that the processes share; see task_queue_size.";
const TLS: &str = "TLS comes in a later version; put a proxy that ends TLS in front.";
const NO_TLS: &str = "Refines TLS, which this version does not have.";
const STATIC: &str = "Static files come in a later version; answer with Response::sendfile().";
const COMPRESSION: &str =
    "Response compression comes in a later version; let a proxy compress, or compress in the handler.";
const EVENTS: &str = "There is no separate event thread: each worker has its own event loop.";

/// The rows, by subject.
pub(crate) static ROWS: &[Row] = &[
    inert("reactor_num", Scope::Server, EVENTS),
    inert("single_thread", Scope::Server, EVENTS),
    inert("dispatch_mode", Scope::Server, "A connection belongs to the worker that accepted it."),
    inert("send_yield", Scope::Server, "A write in a coroutine always waits without blocking."),
    inert(
        "discard_timeout_request",
        Scope::Server,
        "A connection belongs to one worker, so nothing outlives it in a queue.",
    ),
    inert("enable_unsafe_event", Scope::Server, "Connection events are delivered whatever the dispatch."),
    inert("enable_preemptive_scheduler", Scope::Coroutine, "Coroutines give way where they wait."),
    inert("enable_deadlock_check", Scope::Coroutine, "Coroutines that nothing can wake are always reported."),
    inert("aio_core_worker_num", Scope::Coroutine, "The thread pool grows and shrinks by itself."),
    inert("aio_worker_num", Scope::Coroutine, "The thread pool grows and shrinks by itself."),
    inert("aio_max_wait_time", Scope::Coroutine, "The thread pool grows and shrinks by itself."),
    inert("aio_max_idle_time", Scope::Coroutine, "The thread pool grows and shrinks by itself."),
    inert(
        "output_buffer_size",
        Scope::Server,
        "Nothing is passed between a worker and another process that needs a buffer.",
    ),
    inert("max_queued_bytes", Scope::Server, "Reading stops by itself while a handler is behind."),
    inert("trace_flags", Scope::Server, "There are no trace channels; see log_level."),
    inert("log_date_format", Scope::Server, "The log's times are RFC 3339."),
    inert("log_date_with_microseconds", Scope::Server, "The log's times are RFC 3339."),
    inert("log_rotation", Scope::Server, "Rotate with logrotate and send HUP: the log is opened anew."),
    inert("display_errors", Scope::Server, "PHP's own display_errors rules."),
    inert("dns_server", Scope::Coroutine, "The system's resolver is used."),
    inert("http_autoindex", Scope::Port, "Refines static files, which this version does not have."),
    inert("http_index_files", Scope::Port, "Refines static files, which this version does not have."),
    inert("static_handler_locations", Scope::Port, "Refines static files, which this version does not have."),
    inert("http_compression_level", Scope::Port, "Refines compression, which this version does not have."),
    inert("http_gzip_level", Scope::Port, "Refines compression, which this version does not have."),
    inert("http_compression_min_length", Scope::Port, "Refines compression, which this version does not have."),
    inert("compression_min_length", Scope::Port, "Refines compression, which this version does not have."),
    inert("http_compression_types", Scope::Port, "Refines compression, which this version does not have."),
    inert("compression_level", Scope::Port, "Refines compression, which this version does not have."),
    inert("task_ipc_mode", Scope::Server, TASK_MEMORY),
    inert("task_tmpdir", Scope::Server, TASK_MEMORY),
    inert("message_queue_key", Scope::Server, TASK_MEMORY),
    inert("ssl_protocols", Scope::Port, NO_TLS),
    inert("ssl_ciphers", Scope::Port, NO_TLS),
    inert("ssl_ecdh_curve", Scope::Port, NO_TLS),
    inert("ssl_dhparam", Scope::Port, NO_TLS),
    inert("ssl_prefer_server_ciphers", Scope::Port, NO_TLS),
    inert("ssl_passphrase", Scope::Port, NO_TLS),
    inert("ssl_compress", Scope::Port, NO_TLS),
    inert("websocket_mask", Scope::Port, "A server's frames are never masked (RFC 6455)."),
    missing("open_http2_protocol", Scope::Port, "HTTP/2 comes in a later version; HTTP/1.1 is served."),
    missing("ssl_cert_file", Scope::Port, TLS),
    missing("ssl_key_file", Scope::Port, TLS),
    missing("ssl_sni_certs", Scope::Port, TLS),
    missing("ssl_verify_peer", Scope::Port, TLS),
    missing("ssl_allow_self_signed", Scope::Port, TLS),
    missing("ssl_client_cert_file", Scope::Port, TLS),
    missing("ssl_verify_depth", Scope::Port, TLS),
    missing("ssl_host_name", Scope::Port, TLS),
    missing("ssl_cafile", Scope::Port, TLS),
    missing("ssl_capath", Scope::Port, TLS),
    missing("open_ssl", Scope::Port, TLS),
    missing("open_fastcgi_protocol", Scope::Port, "Use open_length_check: type n, length at 4, body at 8."),
    missing("http_compression", Scope::Port, COMPRESSION),
    missing("compression", Scope::Port, COMPRESSION),
    missing("enable_static_handler", Scope::Port, STATIC),
    missing("document_root", Scope::Port, STATIC),
    missing("dispatch_func", Scope::Server, "A connection belongs to the worker that accepted it."),
    missing("stats_file", Scope::Server, "Use Server::stats() or `apus status --json`."),
    missing("admin_server", Scope::Server, "Use `apus status --json`."),
    missing("bootstrap", Scope::Server, "Threads are not used: each worker is a process."),
    missing("init_arguments", Scope::Server, "Threads are not used: each worker is a process."),
];
