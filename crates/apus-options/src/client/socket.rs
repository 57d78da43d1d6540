//! The settings of sockets and their clients: what `Coroutine\Socket::setProtocol()`, `Coroutine\Client::set()` and
//! `Client::set()` take.

use std::collections::BTreeMap;

use super::Settings as Common;
use crate::coerce::coerce;
use crate::declare::{settings, unread};
use crate::error::OptionError;
use crate::field::Field;
use crate::row::{Kind, Row, Scope, Support};
use crate::value::Value;

settings! {
    unread: UNREAD;
    group common: Common;
    /// The kernel's buffers of the connection, each way; 0 lets the kernel tune them.
    Client socket_buffer_size: usize = 0 => Kind::Size { min: 0, max: 1 << 30 };
    /// Whether small writes leave at once (`TCP_NODELAY`).
    Client open_tcp_nodelay ["tcp_nodelay"]: bool = true => Kind::Bool;
    /// Whether a message is preceded by its length: `recvPacket()` and the clients' `recv()` then return one whole
    /// message.
    Client open_length_check: bool = false => Kind::Bool;
    /// How the length is written, a letter of PHP's `pack()`: c C s S n v l L N V q Q J P.
    Client package_length_type: String = "N".to_owned() => Kind::Str;
    /// Where the length lies in a message.
    Client package_length_offset: usize = 0 => offset();
    /// How many bytes at the start of a message its length does not count; 0 when it counts the whole message.
    Client package_body_offset: usize = 0 => offset();
    /// Whether a message ends with the marker `package_eof`: `recvPacket()` and the clients' `recv()` then return one
    /// whole message.
    Client open_eof_check ["open_eof_split"]: bool = false => Kind::Bool;
    /// The marker that ends a message and belongs to it, 1 to 64 bytes.
    Client package_eof: Bytes = Bytes(b"\r\n".to_vec()), shown "`\\r\\n`" => Kind::Any;
    /// Whether a message is one packet of MQTT: `recvPacket()` and the clients' `recv()` then return one whole packet.
    Client open_mqtt_protocol: bool = false => Kind::Bool;
    /// The longest message. A peer that sends a longer one is disconnected.
    Client package_max_length: usize = 2 << 20 => Kind::Size { min: 1, max: 1 << 30 };
    /// Whether TLS is spoken from the start of a connection.
    Client open_ssl: bool = false => Kind::Bool;
}

const fn offset() -> Kind {
    Kind::Int { min: 0, max: 65_536, unit: "bytes" }
}

/// What programs written for other engines bring along.
static UNREAD: &[Row] = unread! {
    Client Missing "Use open_length_check: n at offset 4, body at 8." => open_fastcgi_protocol;
    Client Missing "Use a Redis client." => open_redis_protocol;
    Client Missing "SOCKS proxies come in a later version." =>
        socks5_host, socks5_port, socks5_username, socks5_password;
    Client Missing "Proxies are a matter of Coroutine\\Http\\Client." =>
        http_proxy_host, http_proxy_port, http_proxy_user, http_proxy_password;
};

/// Bytes that may be any; a value holds them as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

impl Field for Bytes {
    fn load(value: &Value) -> Option<Self> {
        match value {
            Value::Str(text) => Some(Self(text.clone().into_bytes())),
            _ => None,
        }
    }

    fn show(&self) -> Value {
        Value::Str(String::from_utf8_lossy(&self.0).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_met_with_the_nearest_of_this_table() {
        let mut settings = Settings::default();
        let text = settings.set("open_lenght_check", &true.into()).unwrap_err().to_string();
        assert_eq!(text, "unknown setting \"open_lenght_check\": did you mean \"open_length_check\"?");
        // A server's setting is none of a client's.
        assert!(matches!(settings.set("worker_num", &Value::Int(1)), Err(OptionError::Unknown { .. })));
    }
}
