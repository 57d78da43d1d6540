//! Where a server is told to listen.

use std::path::PathBuf;

use apus_process::ListenAddr;

/// The numbers that programs use for kinds of sockets.
pub(super) const SOCK_TCP: i64 = 1;
pub(super) const SOCK_UDP: i64 = 2;
pub(super) const SOCK_TCP6: i64 = 3;
pub(super) const SOCK_UDP6: i64 = 4;
pub(super) const SOCK_UNIX_STREAM: i64 = 5;
pub(super) const SOCK_UNIX_DGRAM: i64 = 6;
/// Added to a kind for TLS.
pub(super) const SSL: i64 = 512;

/// Whether a kind of socket takes datagrams.
pub(super) fn is_datagram(kind: i64) -> bool {
    matches!(kind, SOCK_UDP | SOCK_UDP6 | SOCK_UNIX_DGRAM)
}

/// The host that stands for all sockets that systemd passed, in code written for Swoole.
pub(super) fn means_passed(host: &str, port: i64) -> bool {
    port == 0 && host.eq_ignore_ascii_case("SYSTEMD") && crate::swoole::is_on()
}

/// The kind of a socket that listens there.
pub(super) fn kind_of(addr: &ListenAddr, datagram: bool) -> i64 {
    match (addr, datagram) {
        (ListenAddr::Unix(_), false) => SOCK_UNIX_STREAM,
        (ListenAddr::Unix(_), true) => SOCK_UNIX_DGRAM,
        (ListenAddr::Tcp(addr), false) => {
            if addr.is_ipv4() {
                SOCK_TCP
            } else {
                SOCK_TCP6
            }
        }
        (ListenAddr::Tcp(addr), true) => {
            if addr.is_ipv4() {
                SOCK_UDP
            } else {
                SOCK_UDP6
            }
        }
    }
}

/// The address that host, port and kind of socket mean; the error says what is wrong.
pub(super) fn parse(host: &str, port: i64, kind: i64) -> Result<ListenAddr, String> {
    if kind & SSL != 0 && is_datagram(kind & !SSL) {
        return Err("TLS over datagrams (DTLS) is not in this version of Apus".to_owned());
    }
    match kind & !SSL {
        SOCK_UNIX_STREAM | SOCK_UNIX_DGRAM => {
            let path = host.strip_prefix("unix:").unwrap_or(host);
            if path.is_empty() {
                return Err("a Unix socket needs a path as its host".to_owned());
            }
            Ok(ListenAddr::Unix(PathBuf::from(path)))
        }
        SOCK_TCP | SOCK_TCP6 | SOCK_UDP | SOCK_UDP6 => ip(host, port),
        _ => Err(format!(
            "{kind} is no kind of socket: use Apus\\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, SOCK_UNIX_STREAM or SOCK_UNIX_DGRAM"
        )),
    }
}

pub(crate) fn ip(host: &str, port: i64) -> Result<ListenAddr, String> {
    let port = u16::try_from(port).map_err(|_| format!("a port lies between 0 and 65535, {port} given"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match ListenAddr::resolve((host, port)) {
        Ok(found) => found.ok_or_else(|| format!("host \"{host}\" has no address")),
        Err(error) => Err(format!("host \"{host}\" is neither an address nor a known name: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_each_kind() {
        let tcp = |text: &str| ListenAddr::Tcp(text.parse().unwrap());
        assert_eq!(parse("127.0.0.1", 80, SOCK_TCP), Ok(tcp("127.0.0.1:80")));
        assert_eq!(parse("::1", 80, SOCK_TCP6), Ok(tcp("[::1]:80")));
        assert_eq!(parse("[::]", 0, SOCK_TCP), Ok(tcp("[::]:0")));
        assert_eq!(parse("unix:/a/b", 0, SOCK_UNIX_STREAM), Ok(ListenAddr::Unix("/a/b".into())));
        assert_eq!(parse("127.0.0.1", 53, SOCK_UDP), Ok(tcp("127.0.0.1:53")));
        assert_eq!(parse("::1", 53, SOCK_UDP6), Ok(tcp("[::1]:53")));
        assert_eq!(parse("/a/b", 0, SOCK_UNIX_DGRAM), Ok(ListenAddr::Unix("/a/b".into())));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(parse("127.0.0.1", 65_536, SOCK_TCP).unwrap_err().contains("65535"));
        assert!(parse("127.0.0.1", 1, SOCK_UDP | SSL).unwrap_err().contains("DTLS"));
        assert!(parse("127.0.0.1", 1, 7).unwrap_err().contains("SOCK_UDP6"));
        assert!(parse("", 0, SOCK_UNIX_STREAM).unwrap_err().contains("path"));
    }
}
