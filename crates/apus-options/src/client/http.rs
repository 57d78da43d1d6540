//! The settings of `Coroutine\Http\Client` and `Coroutine\Http2\Client`: what their `set()` takes.

use std::collections::BTreeMap;

use super::{Settings as Common, port};
use crate::coerce::coerce;
use crate::declare::{settings, unread};
use crate::error::OptionError;
use crate::field::Field;
use crate::row::{Kind, Row, Scope, Support};
use crate::value::Value;

settings! {
    unread: UNREAD;
    group common: Common;
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
    /// How often a request is tried again where no connection can be made, or the answer is 502 or 503.
    Client max_retries: u32 = 0 => Kind::Int { min: 0, max: 255, unit: "attempts" };
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
}

/// What programs written for other engines bring along.
static UNREAD: &[Row] = unread! {
    Client NoEffect "The names of header fields are always lower-case." => lowercase_header;
    Client NoEffect "Small writes always leave at once." => open_tcp_nodelay;
    Client NoEffect "The kernel tunes its buffers." => socket_buffer_size;
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_met_with_the_nearest_of_this_table() {
        let mut settings = Settings::default();
        let text = settings.set("keepalive", &true.into()).unwrap_err().to_string();
        assert_eq!(text, "unknown setting \"keepalive\": did you mean \"keep_alive\"?");
        assert!(settings.set("max_retries", &Value::Int(-1)).unwrap_err().to_string().contains("attempts"));
        settings.set("max_body", &"1K".into()).unwrap();
        assert_eq!(settings.package_max_length, 1024);
    }
}
