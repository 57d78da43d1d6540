//! Binding, for servers that live in a coroutine.

use std::path::PathBuf;

use apus_process::{BindOptions, ListenAddr, Listener, bind};
use apus_zend::Raise;

use crate::exception;

/// Binds and listens as a constructor says.
pub(super) fn listen(host: &str, port: i64, reuse_port: bool) -> Result<Listener, Raise> {
    let failed = |text: &str| exception::throw(exception::code::server::BIND, text);
    let port = u16::try_from(port).map_err(|_| failed(&format!("a port lies between 0 and 65535, {port} given")))?;
    let address = address(host, port).map_err(|why| failed(&why))?;
    let options = BindOptions { reuse_port: reuse_port.into(), ..BindOptions::default() };
    bind(&address, &options).map_err(|error| failed(&error.to_string()))
}

/// The address that host and port mean: `unix:` and a path, an IP address, or a name that the system knows.
fn address(host: &str, port: u16) -> Result<ListenAddr, String> {
    if let Some(path) = host.strip_prefix("unix:") {
        return match path {
            "" => Err("\"unix:\" must be followed by the path of the socket".to_owned()),
            path => Ok(ListenAddr::Unix(PathBuf::from(path))),
        };
    }
    crate::server::listen_ip(host, i64::from(port))
}

/// What `$host` and `$port` show.
pub(super) fn shown(listener: &Listener) -> (String, i64) {
    match &listener.addr {
        ListenAddr::Tcp(addr) => (addr.ip().to_string(), i64::from(addr.port())),
        ListenAddr::Unix(path) => (path.display().to_string(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_each_kind() {
        let tcp = |text: &str| Ok(ListenAddr::Tcp(text.parse().unwrap()));
        assert_eq!(address("127.0.0.1", 80), tcp("127.0.0.1:80"));
        assert_eq!(address("[::1]", 80), tcp("[::1]:80"));
        assert_eq!(address("::", 0), tcp("[::]:0"));
        assert_eq!(address("unix:/a/b", 0), Ok(ListenAddr::Unix("/a/b".into())));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(address("unix:", 0).unwrap_err().contains("path"));
        assert!(address("no such host", 1).unwrap_err().contains("neither an address"));
    }
}
