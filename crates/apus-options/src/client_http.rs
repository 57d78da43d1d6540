//! The settings of `Coroutine\Http\Client` and `Coroutine\Http2\Client`: what their `set()` takes.

use std::collections::BTreeMap;

use crate::client::{TLS_UNREAD, unread};
use crate::coerce::coerce;
use crate::declare::settings;
use crate::error::OptionError;
use crate::field::Field;
use crate::row::{Kind, Row, Scope, Support};
use crate::value::Value;

/// A day: the longest that a deadline makes sense.
const DAY: f64 = 86400.0;

const fn seconds() -> Kind {
    // Negative for no limit, 0 for the default of where it is used.
    Kind::Duration { min: -1.0, max: DAY }
}

const fn port() -> Kind {
    Kind::Int { min: 0, max: 65_535, unit: "" }
}

settings! {
    unread: TLS_UNREAD.iter().chain(UNREAD);
    /// Time for a request and its whole answer, once there is a connection; each redirection has its own. -1 for no
    /// limit, 0 for `socket_timeout` of `Coroutine::set()`.
    Client timeout: f64 = 0.0 => seconds();
    /// Time to connect, with the resolution of the name, the proxy's and the TLS handshake. -1 for no limit, 0 for
    /// `socket_connect_timeout` of `Coroutine::set()`.
    Client connect_timeout: f64 = 0.0 => seconds();
    /// Time in which nothing of an answer comes. -1 for no limit, 0 for `timeout`, or 60 seconds where there is none.
    /// Also that of `recv()` without one of its own, whose 0 is no limit where there is no `timeout`.
    Client read_timeout: f64 = 0.0 => seconds();
    /// Time for a WebSocket message to leave. -1 for no limit, 0 for `timeout`.
    Client write_timeout: f64 = 0.0 => seconds();
    /// Whether the connection is kept for the next request.
    Client keep_alive: bool = true => Kind::Bool;
    /// Whether `execute()` returns at once, and `recv()` gives the answer.
    Client defer: bool = false => Kind::Bool;
    /// Whether `Accept-Encoding` asks for compressed answers.
    Client http_compression: bool = true => Kind::Bool;
    /// Whether compressed bodies (gzip, deflate, br) are decompressed.
    Client body_decompression: bool = true => Kind::Bool;
    /// Redirections that are followed; 0 gives a redirection to the program.
    Client max_redirects: u32 = 0 => Kind::Int { min: 0, max: 100, unit: "redirections" };
    /// Largest body of an answer in memory, decompressed, and largest WebSocket message.
    Client package_max_length ["max_body"]: u64 = 64 << 20 => Kind::Size { min: 1, max: 1 << 40 };
    /// Largest body that `download()` stores.
    Client max_download: u64 = 16 << 30 => Kind::Size { min: 1, max: 1 << 50 };
    /// Largest head of an answer: status line and header fields.
    Client max_header_size: usize = 64 << 10 => Kind::Size { min: 8 << 10, max: 16 << 20 };
    /// Header fields in one answer.
    Client max_headers: usize = 256 => Kind::Int { min: 1, max: 10_000, unit: "fields" };
    /// Bytes that one HTTP/2 stream may send ahead of what was read of it.
    Client http2_window_size: u32 = 1 << 20 => Kind::Size { min: 65_535, max: 0x7fff_ffff };
    /// Whether WebSocket frames are masked, as RFC 6455 demands of a client. Only a server of one's own may do without.
    Client websocket_mask: bool = true => Kind::Bool;
    /// Whether compressed WebSocket messages (permessage-deflate) are offered in the handshake.
    Client websocket_compression: bool = false => Kind::Bool;
    /// Whether `recv()` gives pings to the program, which has to answer them, instead of answering them.
    Client open_websocket_ping_frame: bool = false => Kind::Bool;
    /// Whether `recv()` gives pongs to the program instead of skipping them.
    Client open_websocket_pong_frame: bool = false => Kind::Bool;
    /// Whether `recv()` gives the server's close frame to the program as a `CloseFrame` instead of an empty string.
    Client open_websocket_close_frame: bool = false => Kind::Bool;
    /// An HTTP proxy: plain requests are given to it, https and WebSocket go through its CONNECT. Empty for none.
    Client http_proxy_host: String = String::new() => Kind::Str;
    /// Its port.
    Client http_proxy_port: u16 = 0 => port();
    /// Its user, where it asks for one.
    Client http_proxy_user ["http_proxy_username"]: String = String::new() => Kind::Str;
    /// Its password.
    Client http_proxy_password: String = String::new() => Kind::Str;
    /// A SOCKS 5 proxy, which also resolves the names. Empty for none.
    Client socks5_host: String = String::new() => Kind::Str;
    /// Its port.
    Client socks5_port: u16 = 0 => port();
    /// Its user, where it asks for one.
    Client socks5_username: String = String::new() => Kind::Str;
    /// Its password.
    Client socks5_password: String = String::new() => Kind::Str;
    /// The local address to connect from; empty for any.
    Client bind_address: String = String::new() => Kind::Str;
    /// The local port to connect from; 0 for any.
    Client bind_port: u16 = 0 => port();
    /// Whether the server's certificate must be valid: signed by a known authority, in its dates, made for the name.
    Client ssl_verify_peer: bool = true => Kind::Bool;
    /// Whether a certificate that signed itself is valid, too.
    Client ssl_allow_self_signed: bool = false => Kind::Bool;
    /// The name that the certificate must be made for, and that is sent in SNI; empty for the host.
    Client ssl_host_name: String = String::new() => Kind::Str;
    /// PEM file of the authorities to believe; empty, with `ssl_capath`, for the system's.
    Client ssl_cafile: String = String::new() => Kind::Str;
    /// Folder of PEM files of authorities.
    Client ssl_capath: String = String::new() => Kind::Str;
    /// PEM file of the certificate to show, with its chain.
    Client ssl_cert_file: String = String::new() => Kind::Str;
    /// PEM file of the key of `ssl_cert_file`, without a passphrase; empty when that file holds it, too.
    Client ssl_key_file: String = String::new() => Kind::Str;
    /// The TLS versions to speak, the sum of `Apus\SSL_TLSv1_2` (32) and `Apus\SSL_TLSv1_3` (64); 0 for both. Older
    /// ones are not spoken.
    Client ssl_protocols: u32 = 0 => Kind::Int { min: 0, max: 255, unit: "" };
}

/// What programs written for other engines bring along.
static UNREAD: &[Row] = &[
    unread("lowercase_header", Support::NoEffect, "The names of header fields are always lower-case."),
    unread("open_tcp_nodelay", Support::NoEffect, "Small writes always leave at once."),
    unread("socket_buffer_size", Support::NoEffect, "The kernel tunes its buffers."),
    unread("buffer_output_size", Support::NoEffect, "A write waits until the kernel has taken it."),
    unread("max_retries", Support::Missing, "Look at the status code and send the request again."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_that_their_rows_allow_and_names_are_unique() {
        let mut names: Vec<&str> =
            Settings::rows().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied())).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(all, names.len());
        for row in ROWS {
            let mut settings = Settings::default();
            let default = settings.get(row.name).expect(row.name);
            settings.set(row.name, &default).expect(row.name);
            assert_eq!(settings, Settings::default(), "{}", row.name);
            settings.set(row.name, &Value::Null).expect(row.name);
        }
        assert!(Settings::rows().all(|row| row.doc.trim().ends_with('.')));
    }

    #[test]
    fn an_unknown_name_is_met_with_the_nearest_of_this_table() {
        let mut settings = Settings::default();
        let text = settings.set("keepalive", &true.into()).unwrap_err().to_string();
        assert_eq!(text, "unknown setting \"keepalive\": did you mean \"keep_alive\"?");
        assert!(settings.set("max_retries", &Value::Int(3)).unwrap_err().to_string().contains("status code"));
        settings.set("max_body", &"1K".into()).unwrap();
        assert_eq!(settings.package_max_length, 1024);
    }
}
