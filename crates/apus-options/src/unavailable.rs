//! Settings that programs written for other servers bring along and this version does not act on.

use crate::declare::unread;
use crate::row::{Row, Scope, Support};

/// The rows, by subject.
pub(crate) static ROWS: &[Row] = unread! {
    Server NoEffect "There is no separate event thread: each worker has its own event loop." =>
        reactor_num, single_thread;
    Server NoEffect "A write in a coroutine always waits without blocking." => send_yield;
    Server NoEffect "A connection belongs to one worker, so nothing outlives it in a queue." => discard_timeout_request;
    Server NoEffect "Connection events are delivered whatever the dispatch." => enable_unsafe_event;
    Coroutine NoEffect "Coroutines that nothing can wake are always reported." => enable_deadlock_check;
    Coroutine NoEffect "Up to 8 threads a core (16 to 64) work on files; they come and go by themselves." =>
        aio_core_worker_num, aio_worker_num, aio_max_wait_time, aio_max_idle_time;
    Server NoEffect "There is no buffer between processes; under the names of Swoole it bounds answers." => output_buffer_size;
    Server NoEffect "Reading stops by itself while a handler is behind." => max_queued_bytes;
    Server NoEffect "There are no trace channels; see log_level." => trace_flags;
    Server NoEffect "The log's times are RFC 3339." => log_date_format, log_date_with_microseconds;
    Server NoEffect "Rotate with logrotate and send HUP: the log is opened anew." => log_rotation;
    Server NoEffect "PHP's own display_errors rules." => display_errors;
    Coroutine NoEffect "The system's resolver is used." => dns_server;
    Port NoEffect "Nothing is pushed, browsers no longer take it: Response::informational() tells them what to load." => http2_enable_push;
    Server NoEffect "Tasks wait in memory that the processes share; see task_queue_size." =>
        task_ipc_mode, task_tmpdir, message_queue_key;
    Port NoEffect "No cipher suite that is offered uses it." => ssl_dhparam;
    Port NoEffect "The server's order rules." => ssl_prefer_server_ciphers;
    Port NoEffect "TLS compression is never used, as it is not safe." => ssl_compress;
    Port NoEffect "A server shows the certificate of the name that the client asks for: ssl_sni_certs." => ssl_host_name;
    Port NoEffect "Chains of any sensible depth are verified." => ssl_verify_depth;
    Port NoEffect "A server's frames are never masked (RFC 6455)." => websocket_mask;
    Port NoEffect "A certificate that signed itself is accepted where ssl_client_cert_file names it." =>
        ssl_allow_self_signed;
    Port Missing "Use open_length_check: type n, length at 4, body at 8." => open_fastcgi_protocol;
    Server Missing "Use Server::stats() or `apus status --json`." => stats_file;
    Server Missing "Use `apus status --json`." => admin_server;
    Server Missing "Threads are not used: each worker is a process." => bootstrap, init_arguments;
};
