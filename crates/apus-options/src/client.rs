//! The settings of clients. What all of them take stands here; [`socket`] and [`http`] have what each adds. They are
//! apart from the server's, whose names they share.

pub mod http;
pub mod socket;

use std::collections::BTreeMap;

use crate::coerce::coerce;
use crate::declare::{settings, unread};
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
    unread: UNREAD;
    /// How long the client waits for anything that has no time-out of its own: to connect, for data to come, for data
    /// to leave. For an HTTP client, the time for a request and its whole answer once there is a connection; each
    /// redirection has its own. -1 for no limit, 0 for `socket_connect_timeout` and `socket_timeout`.
    Client timeout: f64 = 0.0 => seconds();
    /// How long connecting may take, with the resolution of the name, the proxy's and the TLS handshake. -1 for no
    /// limit; 0 for `timeout`, or for an HTTP client `socket_connect_timeout`.
    Client connect_timeout: f64 = 0.0 => seconds();
    /// How long a method waits for data to come; for an HTTP client, how long nothing of an answer may come, 60 seconds
    /// where there is no time-out at all. -1 for no limit, 0 for `timeout`.
    Client read_timeout: f64 = 0.0 => seconds();
    /// How long a method waits for data, or a WebSocket message, to leave. -1 for no limit, 0 for `timeout`.
    Client write_timeout: f64 = 0.0 => seconds();
    /// The local address to connect from; empty for any.
    Client bind_address: String = String::new() => Kind::Str;
    /// The local port to connect from; 0 for any.
    Client bind_port: u16 = 0 => port();
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
    /// PEM file of the key of `ssl_cert_file`; empty when that file holds it, too.
    Client ssl_key_file: String = String::new() => Kind::Str;
    /// What the key is encrypted with (PKCS#8); empty where it is not.
    Client ssl_passphrase: String = String::new() => Kind::Str;
    /// The TLS versions to speak, the sum of `Apus\SSL_TLSv1_2` (32) and `Apus\SSL_TLSv1_3` (64); 0 for both. Older
    /// ones are not spoken.
    Client ssl_protocols: u32 = 0 => Kind::Int { min: 0, max: 255, unit: "" };
}

/// What programs written for other engines bring along, whichever client they use.
static UNREAD: &[Row] = unread! {
    Client NoEffect "TLS compression is never used, as it is not safe." => ssl_compress, ssl_disable_compression;
    Client NoEffect "Use ssl_protocols." => ssl_method;
    Client NoEffect "Chains of any sensible depth are verified." => ssl_verify_depth;
    Client NoEffect "Only cipher suites that are safe today are offered." => ssl_ciphers;
    Client NoEffect "Only curves that are safe today are offered." => ssl_ecdh_curve;
    Client NoEffect "A write waits until the kernel has taken it." => buffer_output_size;
};

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
    fn limits_of_time_fall_back() {
        let mut settings = Settings::default();
        assert_eq!(settings.limit(settings.read_timeout), None);
        settings.set("timeout", &Value::Float(2.5)).unwrap();
        settings.set("connect_timeout", &Value::Int(-1)).unwrap();
        assert_eq!(settings.limit(settings.read_timeout), Some(2.5));
        assert_eq!(settings.limit(settings.connect_timeout), Some(f64::INFINITY));
        assert!(settings.set("read_timeout", &Value::Int(-2)).is_err());
    }
}
