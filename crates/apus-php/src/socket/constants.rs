//! The constants of sockets and clients.

use apus_zend::class::{Const, Constant};

use super::{fault, peer, settings};

const fn int(name: &'static str, value: i64, doc: &'static str) -> Constant {
    Constant { name, value: Const::Int(value), doc }
}

/// All.
pub(super) static ALL: &[Constant] = &[
    int("Apus\\SOCK_UDP", peer::SOCK_UDP, "A client or port of UDP over IPv4."),
    int("Apus\\SOCK_UDP6", peer::SOCK_UDP6, "A client or port of UDP over IPv6."),
    int("Apus\\UNIX_STREAM", peer::UNIX_STREAM, "A client or port of a Unix socket of bytes."),
    int("Apus\\UNIX_DGRAM", peer::UNIX_DGRAM, "A client or port of a Unix socket of datagrams."),
    int("Apus\\SSL", peer::SSL, "Added to a type of streams: TLS is spoken."),
    int("Apus\\SYNC", peer::SYNC, "Added to a type: without effect, clients block outside coroutines."),
    int("Apus\\ASYNC", peer::ASYNC, "Added to a type: refused by Client, use Coroutine\\Client."),
    int("Apus\\AF_UNIX", libc::AF_UNIX as i64, "Unix sockets; ext/sockets has it as AF_UNIX."),
    int("Apus\\AF_INET", libc::AF_INET as i64, "IPv4; ext/sockets has it as AF_INET."),
    int("Apus\\AF_INET6", libc::AF_INET6 as i64, "IPv6; ext/sockets has it as AF_INET6."),
    int("Apus\\SOCK_STREAM", libc::SOCK_STREAM as i64, "A stream of bytes; ext/sockets has it as SOCK_STREAM."),
    int("Apus\\SOCK_DGRAM", libc::SOCK_DGRAM as i64, "Datagrams; ext/sockets has it as SOCK_DGRAM."),
    int("Apus\\SSL_TLSv1_2", settings::TLS_1_2 as i64, "TLS 1.2, for ssl_protocols."),
    int("Apus\\SSL_TLSv1_3", settings::TLS_1_3 as i64, "TLS 1.3, for ssl_protocols."),
    int("Apus\\ERROR_SSL_NOT_READY", fault::SSL_NOT_READY as i64, "errCode: the connection does not speak TLS."),
    int(
        "Apus\\ERROR_SSL_EMPTY_PEER_CERTIFICATE",
        fault::SSL_NO_CERTIFICATE as i64,
        "errCode: the peer showed no certificate.",
    ),
    int("Apus\\ERROR_SSL_VERIFY_FAILED", fault::SSL_REFUSED as i64, "errCode: the peer's certificate was refused."),
    int("Apus\\ERROR_SSL_HANDSHAKE_FAILED", fault::SSL_HANDSHAKE as i64, "errCode: the peers could not agree on TLS."),
    int(
        "Apus\\ERROR_SSL_CREATE_CONTEXT_FAILED",
        fault::SSL_OPTIONS as i64,
        "errCode: a setting of TLS cannot be honoured; errMsg tells which.",
    ),
    int(
        "Apus\\ERROR_PACKAGE_LENGTH_TOO_LARGE",
        fault::PACKAGE_TOO_LARGE as i64,
        "errCode: a message is longer than package_max_length.",
    ),
    int(
        "Apus\\ERROR_PACKAGE_LENGTH_NOT_FOUND",
        fault::PACKAGE_NO_LENGTH as i64,
        "errCode: the length of a message makes no sense.",
    ),
    int(
        "Apus\\ERROR_PACKAGE_MALFORMED_DATA",
        fault::PACKAGE_ENDLESS as i64,
        "errCode: no message ends within package_max_length.",
    ),
    int("Apus\\ERROR_CLIENT_NO_CONNECTION", fault::NOT_CONNECTED as i64, "errCode: the client is not connected."),
];
