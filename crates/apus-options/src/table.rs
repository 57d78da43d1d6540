//! The settings themselves: one row each.

mod defaults;

use std::collections::BTreeMap;
use std::time::Duration;

use self::defaults::{cores, cors_methods, watch_patterns};
use crate::client::socket::Bytes;
use crate::coerce::coerce;
use crate::declare::settings;
use crate::error::OptionError;
use crate::field::{Field, HostCertificate, Limit};
use crate::hooks;
use crate::networks::Networks;
use crate::row::{Kind, Row, Scope, Support};
use crate::value::Value;

const KIB: i64 = 1 << 10;
const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;
const TIB: i64 = 1 << 40;

/// The number of the log level "info".
const INFO: u8 = 2;

/// Log levels, with the numbers PHP programs use for them.
const LEVELS: &[(&str, i64)] =
    &[("debug", 0), ("trace", 1), ("info", 2), ("notice", 3), ("warning", 4), ("error", 5), ("none", 6)];

/// What is done when as much waits for a slow client as may.
const PROXY_FIELDS: &[(&str, i64)] = &[("x-forwarded", 0), ("forwarded", 1), ("x-real-ip", 2)];
const REQUEST_IDS: &[(&str, i64)] = &[("off", 0), ("own", 1), ("trusted", 2), ("all", 3)];
const SEND_POLICIES: &[(&str, i64)] = &[("wait", 0), ("drop", 1), ("close", 2)];

/// The furthest that a length field may lie from the start of its message.
const MAX_OFFSET: i64 = 65_536;

const fn count(min: i64, max: i64, unit: &'static str) -> Kind {
    Kind::Int { min, max, unit }
}

const fn size(min: i64, max: i64) -> Kind {
    Kind::Size { min, max }
}

const fn seconds(min: f64, max: f64) -> Kind {
    Kind::Duration { min, max }
}

/// A day: the longest that a connection's deadline makes sense.
const DAY: f64 = 86400.0;

settings! {
    unread: crate::unavailable::ROWS;
    /// Worker processes. Each has its own event loop and runs PHP on one core.
    Server worker_num: u32 = cores(), shown "number of CPU cores" => count(1, 1024, "processes");
    /// Connections open at once, over all workers. Further ones wait in the listening queue until one closes.
    Server max_connection ["max_conn"]: u32 = 100_000 => count(1, 10_000_000, "connections");
    /// Which worker handles what clients of stream and datagram ports send: 2 and 8 the one that accepted the
    /// connection, which had nothing to do, 1 one after the other, 3, 7, 9 and 10 the one with the fewest messages in
    /// hand, 4 always the same for an IP address, 5 for a user (`Server::bind()`). HTTP and WebSocket stay with the
    /// first. With `dispatch_func`, a callable (Server $server, int $fd, int $type, string $data): int, the program
    /// says the worker's id, or -1 to drop the message, -2 to close the connection, -3 for what `dispatch_mode` says.
    Server dispatch_mode: u8 = 2 => count(1, 10, "");
    /// Requests after which a worker is replaced by a fresh one; 0 for never. Nothing is lost: the new worker serves
    /// before the old one leaves.
    Server max_request: u64 = 0 => count(0, i64::MAX, "requests");
    /// Random share added to `max_request`, up to this many requests, so that workers do not leave together; 0 for half
    /// of `max_request`.
    Server max_request_grace: u64 = 0 => count(0, i64::MAX, "requests");
    /// Processes that run the tasks which other processes hand over with `Server::task()` and its like; 0 for none.
    Server task_worker_num: u32 = 0 => count(0, 1024, "processes");
    /// Tasks after which a task worker is replaced by a fresh one; 0 for never.
    Server task_max_request: u64 = 0 => count(0, i64::MAX, "tasks");
    /// Random share added to `task_max_request`, up to this many tasks; 0 for half of `task_max_request`.
    Server task_max_request_grace: u64 = 0 => count(0, i64::MAX, "tasks");
    /// Whether a task worker runs many tasks at a time, each in a coroutine; when off, one after the other. The task
    /// event has an `Apus\Server\Task` then.
    Server task_enable_coroutine: bool = false => Kind::Bool;
    /// Whether the task event has an `Apus\Server\Task` in place of task id, worker id and data.
    Server task_use_object ["task_object"]: bool = false => Kind::Bool;
    /// Memory for tasks that wait or run, and as much again for their results; the system gives it when it is used. A
    /// task that finds no room is refused.
    Server task_queue_size: usize = 64 << 20 => size(64 * KIB, 64 * GIB);
    /// Processes that run the PHP scripts of `apus serve`, one request at a time each; 0 for none.
    Server script_processes: u32 = 0 => count(0, 1024, "processes");
    /// A script that each of these processes runs from its start on, and that stays: it boots an application, and
    /// answers one request after the other by `Apus\\handle_request()`, whatever no file answers. Empty: every request
    /// runs its script anew. See [serve.md](serve.md#scripts-that-stay).
    Server script_worker: String = String::new() => Kind::Str;
    /// How many processes that run scripts there may be while requests wait for one; 0 for `script_processes`, always.
    Server script_processes_max: u32 = 0 => count(0, 1024, "processes");
    /// How long more than one process has to be idle before those beyond `script_processes` leave, one a second.
    Server script_idle_timeout: Duration = Duration::from_secs(10) => seconds(0.1, DAY);
    /// Requests after which a process that runs scripts is replaced by a fresh one, plus up to half as many by chance;
    /// 0 for never.
    Server script_max_request: u64 = 0 => count(0, i64::MAX, "requests");
    /// Requests that may wait in each worker for a process that runs scripts; further ones are answered 503.
    Server script_queue: u32 = 1000 => count(0, 1_000_000, "requests");
    /// How long a request may wait for a process that runs scripts before it is answered 503.
    Server script_queue_timeout: Duration = Duration::from_secs(30) => seconds(0.001, DAY);
    /// How long a script may run without giving any output that its client takes, before its process is killed and its
    /// client answered 504; 0 for as long as it likes. Time that it waits for its client counts for nothing.
    Server script_timeout: Duration = Duration::from_secs(300) => seconds(0.0, DAY);
    /// How long a script may run before the log names it, with the calls that it stands in; 0 for as long as it likes.
    Server script_slow_time: Duration = Duration::ZERO => seconds(0.0, DAY);
    /// Whether an error that a script does not handle is answered with a page of the exception, its code, the calls and
    /// the request. For development alone: it shows what a program keeps secret. See [serve.md](serve.md#development).
    Server script_error_page: bool = false => Kind::Bool;
    /// Whether HTML pages of scripts get a script of the server's, by which they load anew in the browser after each
    /// reload. For development.
    Server script_refresh: bool = false => Kind::Bool;
    /// The path at which clients of `apus serve` open WebSockets, to which pages send by `Apus\\Push`; empty for none.
    /// The script that answers it says whose they are. See [serve.md](serve.md#pushing-to-browsers).
    Port script_websocket: String = String::new() => Kind::Str;
    /// Directories below which a change of a file reloads the server, for development; empty for none.
    Server watch_directories: Vec<String> = Vec::new() => Kind::Texts;
    /// Names of the files whose change counts; with `!` before, of directories that are left out. `*` stands for any
    /// text; a pattern with `/` is one of the path below the watched directory.
    Server watch_patterns: Vec<String> = watch_patterns(), shown "see [serve.md](serve.md#development)" => Kind::Texts;
    /// Resident memory at which a worker is replaced; 0 for no limit.
    Server max_worker_memory: u64 = 0 => size(0, TIB);
    /// Age at which a worker is replaced, plus up to a tenth of it by chance; 0 for never.
    Server max_worker_age: Duration = Duration::ZERO => seconds(0.0, 365.0 * DAY);
    /// How long a leaving worker may finish its requests before it is killed.
    Server max_wait_time: Duration = Duration::from_secs(30) => seconds(0.01, DAY);
    /// Whether a leaving worker finishes the requests it has begun. When off, it closes its connections at once.
    Server reload_async: bool = true => Kind::Bool;
    /// File that holds the master's process id while the server runs.
    Server pid_file: String = String::new() => Kind::Str;
    /// Whether the server leaves its terminal and runs in the background; `log_file` should be set then.
    Server daemonize: bool = false => Kind::Bool;
    /// User (name or number) the workers run as; needs a master that runs as root.
    Server user: String = String::new() => Kind::Str;
    /// Group (name or number) the workers run as; the user's own group when empty.
    Server group: String = String::new() => Kind::Str;
    /// Directory the workers take as their root directory; needs a master that runs as root.
    Server chroot: String = String::new() => Kind::Str;
    /// File that the log is appended to; standard error when empty. HUP opens it anew.
    Server log_file: String = String::new() => Kind::Str;
    /// The minimum level that is logged.
    Server log_level: u8 = INFO => Kind::Choice(LEVELS);
    /// File that gets a line for each answer of an HTTP port, or "stdout"; empty for none. HUP opens it anew. See
    /// [logging.md](logging.md#the-access-log). A [host](hosts.md) may have its own, also what it looks like and how
    /// many are logged.
    Server access_log: String = String::new() => Kind::Str;
    /// What its lines look like: "combined", "json", or a text with variables such as `$status`.
    Server access_log_format: String = "combined".to_owned() => Kind::Str;
    /// Of so many answers one is logged, and every one with a status of 500 or more.
    Server access_log_sample: u32 = 1 => count(1, 1_000_000, "answers");
    /// Size at which the access log is renamed to FILE.1, FILE.1 to FILE.2 and so on; 0 for never.
    Server access_log_max_size: u64 = 0 => size(0, TIB);
    /// How many renamed access logs are kept.
    Server access_log_keep: u32 = 5 => count(1, 1000, "files");
    /// Where the master tells the server's figures: `/metrics` for Prometheus and `/status` as JSON. `127.0.0.1:9100`
    /// or `unix:/run/shop.sock`; empty for nowhere. Whoever reaches it may read it: see [metrics.md](metrics.md).
    Server metrics_address: String = String::new() => Kind::Str;
    /// How the processes call themselves in lists of processes, with their part added: "apus: master", "apus: worker
    /// 0".
    Server process_title: String = "apus".to_owned() => Kind::Str;
    /// Whether each worker is bound to one CPU core.
    Server open_cpu_affinity: bool = false => Kind::Bool;
    /// Cores that `open_cpu_affinity` leaves alone, numbered from 0.
    Server cpu_affinity_ignore: Vec<u32> = Vec::new() => Kind::Ints { min: 0, max: 1023 };
    /// Time after which PHP code that has not given way to its event loop is reported with its stack; 0 for never.
    Server blocked_loop_warn: Duration = Duration::from_millis(50) => seconds(0.0, 3600.0);
    /// Whether a request's coroutine is cancelled when its client goes away before the answer.
    Server cancel_on_disconnect: bool = false => Kind::Bool;
    /// Whether `$_GET`, `$_POST`, `$_COOKIE`, `$_FILES`, `$_SERVER` and `$_REQUEST` are those of the request in its
    /// handler's coroutine, and in coroutines that it starts. Needs `enable_coroutine`.
    Server superglobals: bool = false => Kind::Bool;
    /// Requests that one worker handles at once; further ones wait. 0 for no limit. Of each datagram port so many
    /// datagrams, 10,000 with 0; further ones are dropped. Messages of streams and WebSockets have
    /// `connection_concurrency`.
    Server max_concurrency ["worker_max_concurrency"]: u32 = 0 => count(0, 10_000_000, "requests");
    /// Output that may wait in memory for slow clients, over all of a worker's connections. Beyond it every connection
    /// has reached its own bound.
    Server max_buffered_bytes: u64 = 256 << 20 => size(64 * KIB, TIB);
    /// Memory of one worker for what clients have sent and the program has not finished with: request bodies, form
    /// fields, messages that are not complete. Beyond it bodies and fields go on in a file in `upload_tmp_dir` and
    /// messages wait; where that does not help, who brings the least is ended (503, WebSockets 1013).
    Server max_incoming_bytes: u64 = 128 << 20 => size(64 * KIB, TIB);
    /// Memory of each ring through which one worker sends messages to another; 0 chooses by the number of workers.
    Server ring_size: usize = 0, shown "chosen by the number of workers" => size(0, 256 * MIB);
    /// Where several machines meet, so that `publish()` and `sendToUser()` reach the clients of all; empty for this
    /// machine alone. `redis://[user:password@]host[:port]` (`rediss://` with TLS),
    /// `redis+sentinel://[user:password@]host[:port],.../service`, `redis+cluster://[user:password@]host[:port],...`,
    /// `nats://[user:password@]host[:port],...` or `nats://token@host` (`tls://` demands TLS).
    Server broker: String = String::new() => Kind::Str;
    /// What the names of this server's channels at the broker begin with; servers that belong together have the same.
    Server broker_prefix: String = "apus".to_owned() => Kind::Str;
    /// File that proves to NATS who this is: credentials (`.creds`, a JWT and its key) or the seed of an `NKey`. Read
    /// at the start, before `user` takes effect.
    Server broker_credentials: String = String::new() => Kind::Str;
    /// User for Sentinels that demand a login other than the default user's.
    Server broker_sentinel_user: String = String::new() => Kind::Str;
    /// Password for Sentinels that demand one.
    Server broker_sentinel_password: String = String::new() => Kind::Str;
    /// Whether the broker's certificate must be valid: signed by a known authority, in its dates, made for the name.
    Server broker_ssl_verify_peer: bool = true => Kind::Bool;
    /// Whether a broker's certificate that signed itself is valid, too.
    Server broker_ssl_allow_self_signed: bool = false => Kind::Bool;
    /// The name that the broker's certificate must be made for, and that is sent in SNI; empty for the host of the URL
    /// (with Sentinels: of the master).
    Server broker_ssl_host_name: String = String::new() => Kind::Str;
    /// PEM file of the authorities to believe; empty for the system's.
    Server broker_ssl_cafile: String = String::new() => Kind::Str;
    /// PEM file of the certificate to show to the broker, with its chain.
    Server broker_ssl_cert_file: String = String::new() => Kind::Str;
    /// PEM file of the key of `broker_ssl_cert_file`, without a passphrase; empty when that file holds it, too.
    Server broker_ssl_key_file: String = String::new() => Kind::Str;

    /// How often the master looks whether files of certificates have changed (also by a link that leads elsewhere): new
    /// ones are used without a reload, once they have stayed as they are from one look to the next. 0 for never.
    Server ssl_watch_interval: Duration = Duration::from_secs(10) => seconds(0.0, 86_400.0);

    /// Length of the queue of connections that no worker has accepted yet; the kernel's `net.core.somaxconn` caps it.
    Port backlog: u32 = 1024 => count(1, 65_535, "connections");
    /// PEM file of the port's certificate, with those between it and an authority behind it. The port speaks TLS then.
    /// Read by the master at the start and when it changes, with the rights of before `user`.
    Port ssl_cert_file: String = String::new() => Kind::Str;
    /// Demands TLS: without `ssl_cert_file` the server does not start.
    Port open_ssl: bool = false => Kind::Bool;
    /// PEM file of the certificate's key (PKCS#8, PKCS#1 or SEC1); empty when `ssl_cert_file` holds it, too.
    Port ssl_key_file: String = String::new() => Kind::Str;
    /// What the key is encrypted with (PKCS#8); empty where it is not.
    Port ssl_passphrase: String = String::new() => Kind::Str;
    /// Certificates for clients that ask for one of these hosts (SNI, RFC 6066); `*.` begins a wildcard. Others are
    /// shown that of `ssl_cert_file`.
    Port ssl_sni_certs: Vec<HostCertificate> = Vec::new() => Kind::Certificates;
    /// Versions to speak: a sum of `SSL_TLSv1_2` (32) and `SSL_TLSv1_3` (64); 0 for both. Older ones are never spoken.
    Port ssl_protocols: u32 = 0 => count(0, 255, "");
    /// Cipher suites, the best first, by OpenSSL's names or the IANA's, with commas or colons; empty for the safe ones,
    /// AES-128-GCM first.
    Port ssl_ciphers: String = String::new() => Kind::Str;
    /// Groups of the key exchange, the best first: X25519MLKEM768, X25519, P-256, P-384; empty or "auto" for all.
    Port ssl_ecdh_curve: String = String::new() => Kind::Str;
    /// Whether clients must show a certificate that an authority of `ssl_client_cert_file`, `ssl_cafile` or
    /// `ssl_capath` has signed. A [host](hosts.md) may demand what others on its port do not.
    Port ssl_verify_peer: bool = false => Kind::Bool;
    /// PEM file of the authorities of clients' certificates.
    Port ssl_client_cert_file ["ssl_cafile"]: String = String::new() => Kind::Str;
    /// Folder of PEM files of such authorities.
    Port ssl_capath: String = String::new() => Kind::Str;
    /// DER file of an OCSP response that is stapled to the certificate of `ssl_cert_file` (RFC 6066 section 8).
    Port ssl_stapling_file: String = String::new() => Kind::Str;
    /// Whether connections of a stream port begin in clear, until the program calls `Server::enableSSL()` (STARTTLS).
    Port ssl_starttls: bool = false => Kind::Bool;
    /// Time for a TLS handshake; 0 for no limit.
    Port ssl_handshake_timeout: Duration = Duration::from_secs(10) => seconds(0.0, 3600.0);
    /// TLS connections that a worker begins a second, as many at once; further ones wait in the backlog. 0 for no
    /// limit.
    Port ssl_handshake_rate: u32 = 0 => count(0, 1_000_000, "handshakes");
    /// `Strict-Transport-Security` of answers over TLS (RFC 6797), such as `max-age=31536000; includeSubDomains`; empty
    /// for none. A program's own field comes in its place.
    Port ssl_hsts: String = String::new() => Kind::Str;
    /// An HTTP port without TLS answers each request with a redirect (308) to the same address under https at this port
    /// number; 0 for none.
    Port https_redirect: u16 = 0 => count(0, 65_535, "");
    /// Whether small answers leave at once instead of waiting for more data (`TCP_NODELAY`).
    Port open_tcp_nodelay: bool = true => Kind::Bool;
    /// Whether the kernel hands over a connection only when its first data is there (`TCP_DEFER_ACCEPT`), and for how
    /// many seconds it waits; 0 for off.
    Port tcp_defer_accept: u32 = 0 => count(0, 3600, "seconds");
    /// Whether servers of the same user that all have this setting share the port (`SO_REUSEPORT`): the kernel gives
    /// each a part of the new connections and of the datagrams. Without it, a port that others share is refused by
    /// `start()`, any other taken port already by the constructor.
    Port enable_reuse_port: bool = false => Kind::Bool;
    /// Largest body of a request (413 beyond), and longest message of a WebSocket (1009 beyond) or framed connection
    /// (closed beyond). With `stream_request_body` a body of any allowed size takes constant memory.
    Port package_max_length: u64 = 8 << 20 => size(0, 16 * TIB);
    /// Largest head of a request: request line and header fields (414 or 431 beyond).
    Port max_header_size: usize = 16 << 10 => size(256, MIB);
    /// Header fields in one request (431 beyond).
    Port max_headers: usize = 100 => count(1, 10_000, "fields");
    /// Time for the whole head of a request, from its first byte (408 beyond); 0 for no limit.
    Port header_timeout: Duration = Duration::from_secs(10) => seconds(0.0, DAY);
    /// Least rate, in bytes a second, at which a request's body must arrive once `body_timeout` has passed (408 below);
    /// 0 for no limit.
    Port body_min_rate: u64 = 500 => count(0, GIB, "bytes a second");
    /// Time before `body_min_rate` is asked of a body.
    Port body_timeout: Duration = Duration::from_secs(10) => seconds(0.0, DAY);
    /// Time that a connection may stay open between two requests; 0 closes it after each answer.
    Port keepalive_timeout: Duration = Duration::from_secs(75) => seconds(0.0, DAY);
    /// Requests on one connection before it is closed; 0 for no limit.
    Port keepalive_requests: u64 = 0 => count(0, i64::MAX, "requests");
    /// Time in which a client must take at least `body_min_rate` times as many seconds of the data waiting for it; 0
    /// for no limit.
    Port send_timeout: Duration = Duration::from_secs(60) => seconds(0.0, DAY);
    /// Data of one connection that may wait in memory for a slow client; writers wait beyond it.
    Port buffer_output_size: usize = 2 << 20 => size(4 * KIB, GIB);
    /// Data of one connection that the server keeps for a slow client: another name that programs use for
    /// `buffer_output_size`; the larger of the two rules.
    Port socket_buffer_size: usize = 0 => size(0, GIB);
    /// Requests of one connection, pipelined or by streams, that are begun before other connections have their
    /// turn, which they have after 2 ms, too.
    Port max_pipelined: u32 = 32 => count(1, 10_000, "requests");
    /// Whether the request event comes with the head, and the handler reads the body as it arrives.
    Port stream_request_body: bool = false => Kind::Bool;
    /// Value of the `Server` header field; empty for none.
    Port server_header: String = "apus".to_owned() => Kind::Str;
    /// Whether form bodies (urlencoded and multipart) are parsed.
    Port http_parse_post: bool = true => Kind::Bool;
    /// Whether files in multipart bodies are stored; when off they are skipped.
    Port http_parse_files: bool = true => Kind::Bool;
    /// Whether `Request::$cookie` is filled.
    Port http_parse_cookie: bool = true => Kind::Bool;
    /// Whether CONNECT requests reach the request handler; otherwise they are answered 501. A 2xx answer to one has no
    /// framing (RFC 9110 section 9.3.6): what is written after it goes to the client as it is, until the connection is
    /// closed.
    Port http_connect: bool = false => Kind::Bool;
    /// Whether an HTTP/1.1 request without a Host field is answered 400, as RFC 9112 section 3.2 demands. Off in code
    /// written for Swoole, unless it says otherwise.
    Port http_require_host: bool = true => Kind::Bool;
    /// Directory for uploaded files; the system's directory for temporary files when empty.
    Port upload_tmp_dir: String = String::new() => Kind::Str;
    /// Largest uploaded file; a larger one is dropped and marked with `UPLOAD_ERR_INI_SIZE`.
    Port upload_max_filesize ["upload_max_size"]: u64 = 8 << 20 => size(0, 16 * TIB);
    /// Uploaded files in one request; further ones are skipped.
    Port max_file_uploads: u32 = 20 => count(0, 10_000, "files");
    /// Variables in one form, query or cookie field; further ones are dropped.
    Port max_input_vars: u32 = 1000 => count(0, 1_000_000, "variables");
    /// Memory that the fields of one multipart form may take, files apart (413 beyond).
    Port max_form_memory: usize = 8 << 20 => size(KIB, GIB);
    /// Parts in one multipart body, fields and files together (413 beyond).
    Port max_multipart_parts: u32 = 1100 => count(1, 1_000_000, "parts");

    /// Whether files below `document_root` answer GET and HEAD before PHP is asked. Hidden files, links out of the
    /// directory and PHP code are never sent. See [static-files.md](static-files.md).
    Port enable_static_handler: bool = false => Kind::Bool;
    /// Directory of the files.
    Port document_root: String = String::new() => Kind::Str;
    /// Directories outside of `document_root` into which links in it may lead; links that lead elsewhere are not
    /// followed.
    Port document_root_links: Vec<String> = Vec::new() => Kind::Texts;
    /// Paths below which requests are for files only: 404 where there is none. Empty: whatever path there is a file
    /// for, and PHP answers the others.
    Port static_handler_locations: Vec<String> = Vec::new() => Kind::Texts;
    /// Names of the file that answers for its directory, in the order they are looked for.
    Port http_index_files: Vec<String> = vec!["index.html".to_owned()], shown "`index.html`" => Kind::Texts;
    /// Whether a directory without such a file is listed.
    Port http_autoindex: bool = false => Kind::Bool;
    /// What is looked for, in this order, where `$uri` stands for the path, and what ends with `/` is a directory:
    /// `["$uri", "$uri/", "/index.html"]` serves an application that runs in the browser.
    Port try_files: Vec<String> = vec!["$uri".to_owned(), "$uri/".to_owned()], shown "`$uri`, `$uri/`" => Kind::Texts;
    /// Patterns of paths whose files are not sent, as `static_cache_control` has them: `["/config/*"]`. `apus serve`
    /// executes no PHP there either and answers 403, see [serve.md](serve.md).
    Port denied_paths: Vec<String> = Vec::new() => Kind::Texts;
    /// Patterns of paths whose PHP files `apus serve` does not execute (403), as `static_cache_control` has them:
    /// `["/uploads/*"]`. See [serve.md](serve.md).
    Port denied_scripts: Vec<String> = Vec::new() => Kind::Texts;
    /// Entries of php.ini for the scripts of `apus serve`, by name, as `php_value` of a pool of php-fpm; those of a
    /// host come on top of its port's and the server's. `.user.ini` and `ini_set()` may change what PHP lets them.
    Port php_values: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// The same, which nothing changes: `php_admin_value`. See [serve.md](serve.md#phps-settings).
    Port php_admin_values: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// Whether FILE.zst, FILE.br or FILE.gz beside a file, if it is not older, is sent to clients that accept it.
    Port static_precompressed: bool = true => Kind::Bool;
    /// Cache-Control of files by pattern: `["*.css" => "max-age=3600", "/assets/*" => "immutable"]`; the first that
    /// fits.
    Port static_cache_control: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// Memory of each worker for files of up to 64 KiB; 0 for none.
    Port static_cache_size: usize = 16 << 20 => size(0, 16 * GIB);

    /// Whether answers that a program makes are compressed (zstd, br, gzip, deflate) for clients that accept it. See
    /// [compression.md](compression.md).
    Port http_compression ["compression"]: bool = true => Kind::Bool;
    /// How hard: 1 is fastest. gzip and deflate go up to 9, br to 11.
    Port http_compression_level ["http_gzip_level", "compression_level"]: u32 = 1 => count(1, 11, "");
    /// Shorter answers are sent as they are.
    Port compression_min_length ["http_compression_min_length"]: usize = 20 => size(0, GIB);
    /// Media types of answers that are compressed, `text/*` for all of a kind; empty for texts, JSON, XML, and what
    /// else becomes much smaller.
    Port compression_types ["http_compression_types"]: Vec<String> = Vec::new() => Kind::Texts;

    /// Fields that every answer of the port gets, files and refusals too, unless the program has set one of that name:
    /// `["X-Content-Type-Options" => "nosniff"]`.
    Port response_headers: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// Fields that no answer of the port has, whoever has set them: `["Server", "X-Powered-By"]`.
    Port response_headers_removed: Vec<String> = Vec::new() => Kind::Texts;
    /// Where requests are sent instead, by path: `["/old" => "/new", "/blog/*" => "308 https://blog.example.org/*"]`.
    /// The status may stand before the target; 301 without. See [hosts.md](hosts.md#redirects-and-rewrites).
    Port redirects: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// Paths that stand for others before files are looked for and PHP sees them: `["/v1/*" => "/api/*"]`; the first
    /// that fits, once. Between two `~` a regular expression is looked for in the path, and `$1` is what its first
    /// group has found: `['~^/post/(\\d+)$~' => '/posts/$1.html']`.
    Port rewrites: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// Paths whose clients have to log in (RFC 7617), with those who may: a file of `name:hash` lines, or such lines
    /// themselves. Hashes are of bcrypt or argon2.
    Port basic_auth: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// What clients are told that the login is for.
    Port basic_auth_realm: String = "restricted".to_owned() => Kind::Str;
    /// Origins whose pages may read the answers (CORS): `https://app.example.org`, or `*` for all. Preflight requests
    /// are answered before PHP is asked.
    Port cors_origins: Vec<String> = Vec::new() => Kind::Texts;
    /// Methods that those pages may use.
    Port cors_methods: Vec<String> = cors_methods(), shown "`GET`, `HEAD`, `POST`" => Kind::Texts;
    /// Header fields that they may send; `*` for those that they ask for.
    Port cors_headers: Vec<String> = Vec::new() => Kind::Texts;
    /// Header fields of answers that they may read.
    Port cors_expose_headers: Vec<String> = Vec::new() => Kind::Texts;
    /// Whether they may send cookies and logins; not with `*`.
    Port cors_credentials: bool = false => Kind::Bool;
    /// How long a browser may remember the answer to a preflight request.
    Port cors_max_age: Duration = Duration::from_secs(600) => seconds(0.0, DAY);
    /// How many times larger a request body in gzip, deflate, br or zstd may become when it is decoded (413 beyond;
    /// 64 KiB always may, and `package_max_length` holds), with 415 for other codings. 0: bodies are given as they are
    /// sent, as those of `stream_request_body` always are.
    Port http_decompression_ratio: u32 = 0 => count(0, 100_000, "times");
    /// Peers that are believed what they tell of their clients, by the PROXY protocol (`open_proxy_protocol`) or by
    /// fields of requests (`trusted_proxy_fields`). See [clients.md](clients.md).
    Port trusted_proxies: Networks = Networks::default(), shown "none" => Kind::Networks;
    /// The fields that trusted proxies set themselves: X-Forwarded-For, -Proto and -Host; Forwarded; or X-Real-IP,
    /// X-Forwarded-Proto and -Host. No others are believed, for proxies hand on those that their clients send.
    Port trusted_proxy_fields: u8 = 0 => Kind::Choice(PROXY_FIELDS);
    /// Whether connections of `trusted_proxies` begin with a header of the PROXY protocol, version 1 or 2. Those of
    /// others begin without.
    Port open_proxy_protocol: bool = false => Kind::Bool;
    /// Whether lines of the log say which request they are of, by the id of its trace (W3C Trace Context): one that is
    /// made here for each request ("own"), or the one that the field `traceparent` brings, if that comes from
    /// `trusted_proxies` ("trusted") or from anybody ("all"). See [logging.md](logging.md#request-ids).
    Port request_ids: u8 = 0 => Kind::Choice(REQUEST_IDS);
    /// Field in which answers tell that id, those of files and refusals too: "X-Request-Id"; empty for none. Needs
    /// `request_ids`.
    Port request_id_header: String = String::new() => Kind::Str;
    /// Clients that are answered at all (403 for others); empty for all.
    Port allowed_clients: Networks = Networks::default(), shown "all" => Kind::Networks;
    /// Clients that are not answered (403).
    Port denied_clients: Networks = Networks::default(), shown "none" => Kind::Networks;
    /// Requests in each `rate_limit_period` that each client may send, counted over all workers (429 beyond); 0 for no
    /// limit.
    Port rate_limit: u32 = 0 => count(0, 1_000_000_000, "requests");
    /// The time of `rate_limit`.
    Port rate_limit_period: Duration = Duration::from_secs(1) => seconds(0.001, 30.0 * DAY);
    /// Requests that a client may send at once; 0 for as many as `rate_limit` has.
    Port rate_limit_burst: u32 = 0 => count(0, 1_000_000_000, "requests");
    /// What makes requests one client's: `address` (its first bits: `client_prefix_v4`, `client_prefix_v6`), `path`, or
    /// `header:NAME`, where it is sent.
    Port rate_limit_by: String = "address".to_owned() => Kind::Str;
    /// The same for what lies below some paths, besides: `["/login" => "5/1m", "/api" => "100/1s by header:X-Key"]`.
    /// The longest path counts, and paths are compared as they are sent.
    Port rate_limits: Vec<(String, String)> = Vec::new() => Kind::TextsByName;
    /// Clients that are known at once, eight bytes each; beyond, those that have been silent longest are forgotten.
    Port rate_limit_clients: usize = 1 << 16 => count(64, 1 << 30, "clients");

    /// Connections that each client may have open at once, counted over all workers; further ones are closed at once. 0
    /// for no limit. Those of `trusted_proxies` are not counted, but for clients that the PROXY protocol names.
    Port max_client_connections: u32 = 0 => count(0, 1_000_000, "connections");
    /// Bits of an address of IPv4 that make one client.
    Port client_prefix_v4: u32 = 32 => count(1, 32, "bits");
    /// Bits of an address of IPv6 that make one client.
    Port client_prefix_v6: u32 = 64 => count(1, 128, "bits");

    /// Whether the port speaks HTTP. An `Apus\Http\Server` can have raw ports when this is off, an `Apus\Server` HTTP
    /// ports when it is on.
    Port open_http_protocol: bool = false, shown "true on an `Apus\\Http\\Server`" => Kind::Bool;
    /// Whether the port speaks HTTP/2, too: over TLS to clients that ask for it (ALPN), and to those that begin with
    /// it.
    Port open_http2_protocol: bool = false => Kind::Bool;
    /// Streams that a client may have open at once on a connection of HTTP/2.
    Port http2_max_concurrent_streams: u32 = 128 => count(1, 100_000, "streams");
    /// Data that a client may send on a stream before the handler has taken it; all streams of a connection together
    /// may bring as much, at least 1 MiB.
    Port http2_init_window_size ["http2_initial_window_size"]: u32 = 256 << 10 => size(1, 0x7fff_ffff);
    /// Longest payload of a frame of HTTP/2 that is taken.
    Port http2_max_frame_size: usize = 16 << 10 => size(16 << 10, (1 << 24) - 1);
    /// Memory in which header fields of HTTP/2 are remembered for compression, each way.
    Port http2_header_table_size: usize = 4 << 10 => size(0, MIB);
    /// Largest head of a request over HTTP/2, 32 bytes for each field included (431 beyond).
    Port http2_max_header_list_size: usize = 16 << 10 => size(256, MIB);
    /// Header fields of a request over HTTP/2, each part of a cookie counted (431 beyond); 0 for `max_headers`.
    Port http2_max_headers: usize = 0 => count(0, 10_000, "fields");
    /// Whether HTTP connections of the port may be upgraded to WebSocket without a request handler's doing.
    Port open_websocket_protocol: bool = false, shown "true on an `Apus\\WebSocket\\Server`" => Kind::Bool;
    /// Whether CLOSE frames come with the message event, before the server answers them.
    Port open_websocket_close_frame: bool = false => Kind::Bool;
    /// Whether PING frames come with the message event; the answer to them is the program's then.
    Port open_websocket_ping_frame: bool = false => Kind::Bool;
    /// Whether PONG frames come with the message event.
    Port open_websocket_pong_frame: bool = false => Kind::Bool;
    /// Subprotocols that the server speaks, with commas between them, the preferred one first; empty for none.
    Port websocket_subprotocol: String = String::new() => Kind::Str;
    /// Origins whose pages may open a WebSocket (403 for others), with commas between them: `https://example.org`;
    /// empty for any.
    Port websocket_origins: String = String::new() => Kind::Str;
    /// Whether WebSocket messages are compressed where the client agrees (permessage-deflate).
    Port websocket_compression: bool = false => Kind::Bool;
    /// How hard messages are compressed: 1 is fastest, 9 smallest.
    Port websocket_compression_level: u32 = 6 => count(1, 9, "");
    /// Messages shorter than this are not compressed.
    Port websocket_compression_threshold: usize = 1024 => size(0, GIB);
    /// Whether compression remembers earlier messages of the connection: smaller messages for about 300 KiB of memory a
    /// connection.
    Port websocket_context_takeover: bool = false => Kind::Bool;
    /// How long a WebSocket may be silent before it gets a PING; 0 for never.
    Port websocket_ping_interval: Duration = Duration::from_secs(30) => seconds(0.0, DAY);
    /// How long a client may take to answer a PING (with anything) before its connection is closed; 0 for no limit.
    Port websocket_ping_timeout: Duration = Duration::from_secs(20) => seconds(0.0, DAY);
    /// How long a client may take to answer a CLOSE frame before its connection is closed; 0 closes at once.
    Port websocket_close_timeout: Duration = Duration::from_secs(5) => seconds(0.0, DAY);
    /// Messages of one connection that are handled at once; 1 handles them strictly in order.
    Port connection_concurrency: u32 = 32 => count(1, 100_000, "messages");
    /// What happens to a message for a client for which `buffer_output_size` bytes wait already: the sender waits, the
    /// message is dropped, or the connection is closed.
    Port send_policy: u8 = 0 => Kind::Choice(SEND_POLICIES);
    /// Waiting output at which the bufferfull event comes; 0 for 80 % of `buffer_output_size`.
    Port buffer_high_watermark: usize = 0 => size(0, GIB);
    /// Waiting output at which writers that wait for room go on, and, after bufferfull, the bufferempty event comes; 0
    /// for half of the high watermark.
    Port buffer_low_watermark: usize = 0 => size(0, GIB);
    /// How long a raw connection may bring no data before it is closed; 0 for no limit, or twice
    /// `heartbeat_check_interval` when that is set.
    Port heartbeat_idle_time ["max_idle_time"]: Duration = Duration::ZERO => seconds(0.0, 365.0 * DAY);
    /// How often connections are looked at for `heartbeat_idle_time`; 0 for as soon as it has passed.
    Port heartbeat_check_interval: Duration = Duration::ZERO => seconds(0.0, 365.0 * DAY);
    /// Whether nothing is read from a new raw connection before `Server::confirm()`.
    Port enable_delay_receive: bool = false => Kind::Bool;
    /// Whether the kernel probes silent connections (`SO_KEEPALIVE`), so that peers that vanished are noticed.
    Port open_tcp_keepalive: bool = false => Kind::Bool;
    /// Silence before the kernel's first probe.
    Port tcp_keepidle: u32 = 60 => count(1, 32_767, "seconds");
    /// Time between the kernel's probes.
    Port tcp_keepinterval: u32 = 10 => count(1, 32_767, "seconds");
    /// Unanswered probes after which the connection is lost.
    Port tcp_keepcount: u32 = 5 => count(1, 127, "probes");
    /// Memory that the kernel takes for datagrams that were not received yet; 0 for its default
    /// (`net.core.rmem_default`, at most `rmem_max`). It tunes that of streams by itself.
    Port kernel_socket_recv_buffer_size: usize = 0 => size(0, GIB);
    /// Memory that the kernel takes for datagrams that have not left yet; 0 for its default (`net.core.wmem_default`,
    /// at most `wmem_max`). It tunes that of streams by itself.
    Port kernel_socket_send_buffer_size: usize = 0 => size(0, GIB);
    /// Whether a message is preceded by its length; the receive event has one whole message. `package_length_func` can
    /// tell the length in place of the three settings that follow.
    Port open_length_check: bool = false => Kind::Bool;
    /// How the length is written, a letter of PHP's `pack()`: c C s S n v l L N V q Q J P.
    Port package_length_type: String = "N".to_owned() => Kind::Str;
    /// Where the length lies in a message.
    Port package_length_offset: usize = 0 => count(0, MAX_OFFSET, "bytes");
    /// How many bytes at the start of a message its length does not count; 0 when it counts the whole message.
    Port package_body_offset ["package_body_start"]: usize = 0 => count(0, MAX_OFFSET, "bytes");
    /// Whether data is kept until it ends with the marker `package_eof`; the receive event may have several messages at
    /// once. See `open_eof_split`.
    Port open_eof_check: bool = false => Kind::Bool;
    /// Whether data is split at the marker `package_eof`; the receive event has one message, with its marker.
    Port open_eof_split: bool = false => Kind::Bool;
    /// The marker that ends a message, 1 to 64 bytes.
    Port package_eof: Bytes = Bytes(b"\r\n".to_vec()), shown "`\\r\\n`" => Kind::Any;
    /// Whether data is split at line ends (LF or CR LF); the receive event has one line, without its end.
    Port open_line_protocol: bool = false => Kind::Bool;
    /// Length of every message; 0 for messages that are not of one length.
    Port package_fixed_length: usize = 0 => size(0, GIB);
    /// Whether the receive event has one whole MQTT packet.
    Port open_mqtt_protocol: bool = false => Kind::Bool;
    /// Whether the receive event has one whole Redis request.
    Port open_redis_protocol: bool = false => Kind::Bool;

    /// Coroutines that one process may have at once.
    Coroutine max_coroutine ["max_coro_num"]: u32 = 100_000 => count(1, 10_000_000, "coroutines");
    /// C stack of a coroutine, of which only what is used takes memory. PHP's `serialize()` of deeply nested data needs
    /// up to 2 KiB a level.
    Coroutine stack_size ["c_stack_size"]: usize = 2 << 20 => size(64 * KIB, 64 * MIB);
    /// Whether the callbacks of events run in coroutines of their own: those of ports, of tasks' results, of messages
    /// between workers, of a worker's beginning and end. When off, a handler that waits blocks its worker.
    Coroutine enable_coroutine: bool = true => Kind::Bool;
    /// Whether a coroutine that computes for longer than `preemptive_slice` lets others run (see docs/coroutines.md).
    Coroutine enable_preemptive_scheduler: bool = false => Kind::Bool;
    /// Milliseconds that a coroutine computes before it does so.
    Coroutine preemptive_slice: u32 = 10 => count(1, 10_000, "milliseconds");
    /// Kinds of blocking calls that let other coroutines run instead: `Apus\HOOK_*` bits, 0 for none.
    Coroutine hook_flags: i64 = hooks::DEFAULT, shown "all but HOOK_FILE" => count(0, i64::MAX, "");
    /// How long a coroutine client may take to connect; -1 for no limit.
    Coroutine socket_connect_timeout ["connect_timeout"]: Limit = Limit::seconds(2) => seconds(-1.0, DAY);
    /// How long a coroutine client or socket waits for data to come or to leave; -1 for no limit.
    Coroutine socket_timeout: Limit = Limit::NONE => seconds(-1.0, DAY);
    /// The same for data to come; 0 for `socket_timeout`.
    Coroutine socket_read_timeout ["socket_recv_timeout"]: Limit = Limit::seconds(0) => seconds(-1.0, DAY);
    /// The same for data to leave; 0 for `socket_timeout`.
    Coroutine socket_write_timeout ["socket_send_timeout"]: Limit = Limit::seconds(0) => seconds(-1.0, DAY);
}

/// Every setting, the supported ones first, in the order of the reference page.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    Settings::rows()
}

/// The row that answers to `name`.
pub fn find(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.answers_to(name))
}

#[cfg(test)]
mod tests;
