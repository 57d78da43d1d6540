//! The settings of sockets and their clients: what `Coroutine\Socket::setProtocol()`, `Coroutine\Client::set()` and
//! `Client::set()` take. They are apart from the server's, whose names they share.

use std::collections::BTreeMap;

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

const fn offset() -> Kind {
    Kind::Int { min: 0, max: 65_536, unit: "bytes" }
}

settings! {
    unread: TLS_UNREAD.iter().chain(UNREAD);
    /// How long the client waits, for anything that has no time-out of its own: to connect, for data to come, for data
    /// to leave. -1 for no limit, 0 for the defaults `socket_connect_timeout` and `socket_timeout`.
    Client timeout: f64 = 0.0 => seconds();
    /// How long connecting may take, with the resolution of the name and the TLS handshake. -1 for no limit, 0 for
    /// `timeout`.
    Client connect_timeout: f64 = 0.0 => seconds();
    /// How long a method waits for data to come. -1 for no limit, 0 for `timeout`.
    Client read_timeout: f64 = 0.0 => seconds();
    /// How long a method waits for data to leave. -1 for no limit, 0 for `timeout`.
    Client write_timeout: f64 = 0.0 => seconds();
    /// The local address to connect from; empty for any.
    Client bind_address: String = String::new() => Kind::Str;
    /// The local port to connect from; 0 for any.
    Client bind_port: u16 = 0 => Kind::Int { min: 0, max: 65_535, unit: "" };
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
    /// The longest message. A peer that sends a longer one is disconnected.
    Client package_max_length: usize = 2 << 20 => Kind::Size { min: 1, max: 1 << 30 };
    /// Whether TLS is spoken from the start of a connection.
    Client open_ssl: bool = false => Kind::Bool;
    /// Whether the server's certificate must be valid: signed by a known authority, in its dates, made for the name.
    Client ssl_verify_peer: bool = true => Kind::Bool;
    /// Whether a certificate that signed itself is valid, too.
    Client ssl_allow_self_signed: bool = false => Kind::Bool;
    /// The name that the certificate must be made for, and that is sent in SNI; empty for the host that was connected
    /// to.
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

pub(crate) const fn unread(name: &'static str, support: Support, doc: &'static str) -> Row {
    Row::unread(name, Scope::Client, support, doc)
}

/// What programs written for other engines bring along for TLS, whichever client they use.
pub(crate) static TLS_UNREAD: &[Row] = &[
    unread("ssl_compress", Support::NoEffect, "TLS compression is never used, as it is not safe."),
    unread("ssl_disable_compression", Support::NoEffect, "TLS compression is never used, as it is not safe."),
    unread("ssl_method", Support::NoEffect, "Use ssl_protocols."),
    unread("ssl_verify_depth", Support::NoEffect, "Chains of any sensible depth are verified."),
    unread("ssl_ciphers", Support::NoEffect, "Only cipher suites that are safe today are offered."),
    unread("ssl_ecdh_curve", Support::NoEffect, "Only curves that are safe today are offered."),
    unread("ssl_passphrase", Support::Missing, "Store the key without a passphrase, readable by its user only."),
];

/// What else they bring along.
static UNREAD: &[Row] = &[
    unread("buffer_output_size", Support::NoEffect, "A write waits until the kernel has taken it."),
    unread(
        "open_mqtt_protocol",
        Support::Missing,
        "Read the fixed header with recv() and frame it with package_length_func.",
    ),
    unread("open_fastcgi_protocol", Support::Missing, "Use open_length_check: n at offset 4, body at 8."),
    unread("open_redis_protocol", Support::Missing, "Use a Redis client."),
    unread("socks5_host", Support::Missing, "SOCKS proxies come in a later version."),
    unread("socks5_port", Support::Missing, "SOCKS proxies come in a later version."),
    unread("socks5_username", Support::Missing, "SOCKS proxies come in a later version."),
    unread("socks5_password", Support::Missing, "SOCKS proxies come in a later version."),
    unread("http_proxy_host", Support::Missing, "Proxies are a matter of Coroutine\\Http\\Client."),
    unread("http_proxy_port", Support::Missing, "Proxies are a matter of Coroutine\\Http\\Client."),
    unread("http_proxy_user", Support::Missing, "Proxies are a matter of Coroutine\\Http\\Client."),
    unread("http_proxy_password", Support::Missing, "Proxies are a matter of Coroutine\\Http\\Client."),
];

impl Settings {
    /// A time-out of these: `own`, else `timeout`. `None`: the engine's default; an infinite one is no limit.
    pub fn limit(&self, own: f64) -> Option<f64> {
        let chosen = if own == 0.0 { self.timeout } else { own };
        match chosen {
            0.0 => None,
            limit if limit < 0.0 => Some(f64::INFINITY),
            limit => Some(limit),
        }
    }
}

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
    fn limits_of_time_fall_back() {
        let mut settings = Settings::default();
        assert_eq!(settings.limit(settings.read_timeout), None);
        settings.set("timeout", &Value::Float(2.5)).unwrap();
        settings.set("connect_timeout", &Value::Int(-1)).unwrap();
        assert_eq!(settings.limit(settings.read_timeout), Some(2.5));
        assert_eq!(settings.limit(settings.connect_timeout), Some(f64::INFINITY));
        assert!(settings.set("read_timeout", &Value::Int(-2)).is_err());
    }

    #[test]
    fn an_unknown_name_is_met_with_the_nearest_of_this_table() {
        let mut settings = Settings::default();
        let text = settings.set("open_lenght_check", &true.into()).unwrap_err().to_string();
        assert_eq!(text, "unknown setting \"open_lenght_check\": did you mean \"open_length_check\"?");
        // A server's setting is none of a client's.
        assert!(matches!(settings.set("worker_num", &Value::Int(1)), Err(OptionError::Unknown { .. })));
        assert!(
            settings.set("ssl_passphrase", &"secret".into()).unwrap_err().to_string().contains("without a passphrase")
        );
        settings.set("ssl_passphrase", &"".into()).unwrap();
    }
}
