//! Addresses: from what a program wrote to the kernel's form, and back to PHP arrays.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use apus_zend::{Array, Raise};
use socket2::SockAddr;

use super::descriptor::Pace;
use super::fault::{DNS_FAILED, Fault, Outcome};

/// Addresses of one name that are tried at most.
const MAX_TRIED: usize = 8;

/// Whether this address family has ports.
pub(super) fn has_ports(domain: i32) -> bool {
    domain == libc::AF_INET || domain == libc::AF_INET6
}

/// An address that needs no resolution; `None` for a name.
pub(super) fn literal(domain: i32, host: &[u8], port: u16) -> Outcome<Option<SockAddr>> {
    if domain == libc::AF_UNIX {
        let path = Path::new(std::ffi::OsStr::from_bytes(host));
        return SockAddr::unix(path).map(Some).map_err(|error| Fault::new(libc::EINVAL, error.to_string()));
    }
    let Ok(text) = std::str::from_utf8(host) else { return Err(bad_name(host)) };
    let ip = match domain {
        libc::AF_INET => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        libc::AF_INET6 => text.trim_start_matches('[').trim_end_matches(']').parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        _ => return Err(Fault::errno(libc::EAFNOSUPPORT)),
    };
    Ok(ip.map(|ip| SockAddr::from(SocketAddr::new(ip, port))))
}

fn bad_name(host: &[u8]) -> Fault {
    Fault::new(DNS_FAILED, format!("\"{}\" is no host name", String::from_utf8_lossy(host).escape_debug()))
}

/// The addresses of a host in this family, the preferred one first. Resolving does not block the loop; outside
/// coroutines it blocks the process.
pub(super) async fn resolve(domain: i32, host: &[u8], port: u16, pace: Pace) -> Outcome<Vec<SockAddr>> {
    if let Some(address) = literal(domain, host, port)? {
        return Ok(vec![address]);
    }
    let name = std::str::from_utf8(host).map_err(|_| bad_name(host))?.to_owned();
    if name.is_empty() || name.len() > 255 || name.contains('\0') {
        return Err(bad_name(host));
    }
    let found = match pace {
        Pace::Loop(_) => tokio::net::lookup_host((name.clone(), port)).await.map(Iterator::collect),
        Pace::Block(_) | Pace::Try => (name.as_str(), port).to_socket_addrs().map(Iterator::collect),
    };
    let found: Vec<SocketAddr> = found.map_err(|error| unresolved(&name, &error))?;
    let wanted = |address: &&SocketAddr| address.is_ipv4() == (domain == libc::AF_INET);
    let addresses: Vec<SockAddr> = found.iter().filter(wanted).take(MAX_TRIED).map(|&a| SockAddr::from(a)).collect();
    if addresses.is_empty() {
        let family = if domain == libc::AF_INET { "IPv4" } else { "IPv6" };
        return Err(Fault::new(DNS_FAILED, format!("the name \"{name}\" has no {family} address")));
    }
    Ok(addresses)
}

fn unresolved(name: &str, error: &io::Error) -> Fault {
    let text = error.to_string();
    let why = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    Fault::new(DNS_FAILED, format!("the name \"{name}\" could not be resolved: {why}"))
}

/// Host and port of an address: a path and 0 for Unix sockets.
pub(super) fn parts(address: &SockAddr) -> (Vec<u8>, u16) {
    if let Some(inet) = address.as_socket() {
        return (inet.ip().to_string().into_bytes(), inet.port());
    }
    if let Some(path) = address.as_pathname() {
        return (path.as_os_str().as_bytes().to_vec(), 0);
    }
    let name = address.as_abstract_namespace().map(|name| [b"\0", name].concat());
    (name.unwrap_or_default(), 0)
}

/// `['address' => …, 'port' => …]`, and a copy of the address under `host` where a client gives it.
pub(super) fn to_array(address: &SockAddr, with_host: bool) -> Result<Array, Raise> {
    let (host, port) = parts(address);
    let mut array = Array::new(3)?;
    if with_host {
        array.set_str(b"host", &host)?;
    }
    array.set_str(b"address", &host)?;
    array.set_int(b"port", i64::from(port))?;
    Ok(array)
}
