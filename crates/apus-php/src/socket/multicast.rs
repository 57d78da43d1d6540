//! Options of sockets that speak of groups and interfaces, in the forms that PHP's sockets extension gives them.

use std::ffi::CString;
use std::io;
use std::mem::{align_of, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use apus_zend::Raise;
use apus_zend::arg::Any;
use apus_zend::value::{ArrayView, View};

use super::fault::{Fault, Outcome};
use crate::swoole::{There, there};
use crate::system::host;

// What include/uapi/linux/in.h calls them, for IPv4 and IPv6 alike.
pub(super) const MCAST_JOIN_GROUP: i32 = 42;
pub(super) const MCAST_BLOCK_SOURCE: i32 = 43;
pub(super) const MCAST_UNBLOCK_SOURCE: i32 = 44;
pub(super) const MCAST_LEAVE_GROUP: i32 = 45;
pub(super) const MCAST_JOIN_SOURCE_GROUP: i32 = 46;
pub(super) const MCAST_LEAVE_SOURCE_GROUP: i32 = 47;

/// What an option takes that is an array: `['group' => …, 'source' => …, 'interface' => int|string]`, the source for
/// those that know one.
pub(super) fn group(given: Any<'_>, with_source: bool) -> Result<Outcome<Vec<u8>>, Raise> {
    let array = array_of(given)?;
    let interface = match array.get("interface") {
        None => Ok(0),
        Some(view) => index_of(given, &view)?,
    };
    let group = address(given, array, "group")?;
    let source = if with_source { Some(address(given, array, "source")?) } else { None };
    Ok(interface.map(|interface| {
        // struct group_req and struct group_source_req: the addresses are aligned as the kernel's are.
        let mut bytes = interface.to_ne_bytes().to_vec();
        bytes.resize(align_of::<libc::sockaddr_storage>().max(bytes.len()), 0);
        for address in std::iter::once(group).chain(source) {
            bytes.extend(storage(address));
        }
        bytes
    }))
}

/// What `IPV6_PKTINFO` takes: `['addr' => …, 'ifindex' => int|string]`.
pub(super) fn packet_info(given: Any<'_>) -> Result<Outcome<Vec<u8>>, Raise> {
    let array = array_of(given)?;
    let path = |key: &str| format!("error converting user data (path: in6_pktinfo): The key '{key}' is required");
    let missing = |key: &str| there(given.value_error(&format!("must have the key \"{key}\"")), There::Text(path(key)));
    let Some(View::Str(text)) = array.get("addr") else { return Err(missing("addr")) };
    let Some(view) = array.get("ifindex") else { return Err(missing("ifindex")) };
    let Some(address) = parse::<Ipv6Addr>(text) else {
        return Err(given.value_error("must have an IPv6 address as \"addr\""));
    };
    Ok(index_of(given, &view)?.map(|interface| [address.octets().as_slice(), &interface.to_ne_bytes()].concat()))
}

/// An interface by its number or its name.
pub(super) fn interface(given: Any<'_>) -> Result<Outcome<u32>, Raise> {
    index_of(given, &given.view())
}

/// The IPv4 address of an interface, as `IP_MULTICAST_IF` takes it; 0 is any.
pub(super) fn address_of(interface: u32) -> Outcome<Ipv4Addr> {
    if interface == 0 {
        return Ok(Ipv4Addr::UNSPECIFIED);
    }
    let address = name_of(interface).and_then(|name| host::address_of_interface(&name));
    address.ok_or_else(|| Fault::errno(libc::EADDRNOTAVAIL))
}

/// The interface with an IPv4 address.
pub(super) fn interface_with(address: Ipv4Addr) -> Outcome<u32> {
    if address.is_unspecified() {
        return Ok(0);
    }
    host::interface_with_address(address).map_or_else(|| Err(Fault::errno(libc::EADDRNOTAVAIL)), |name| index(&name))
}

fn array_of(given: Any<'_>) -> Result<ArrayView<'_>, Raise> {
    match given.view() {
        View::Array(array) => Ok(array),
        _ => Err(given.type_error("of type array for this option")),
    }
}

fn index_of(given: Any<'_>, view: &View<'_>) -> Result<Outcome<u32>, Raise> {
    match view {
        View::Int(number) => u32::try_from(*number)
            .map(Ok)
            .map_err(|_| given.value_error("must name an interface by its number, 0 to 4294967295, or its name")),
        View::Str(name) => Ok(index(name)),
        _ => Err(given.value_error("must name an interface by its number or its name")),
    }
}

fn index(name: &[u8]) -> Outcome<u32> {
    let name = CString::new(name).map_err(|_| Fault::errno(libc::ENODEV))?;
    // SAFETY: reads a text that ends in NUL.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error().into()),
        index => Ok(index),
    }
}

fn name_of(interface: u32) -> Option<Vec<u8>> {
    let mut name = [0_u8; libc::IF_NAMESIZE];
    // SAFETY: the kernel's library writes at most IF_NAMESIZE bytes.
    let found = unsafe { libc::if_indextoname(interface, name.as_mut_ptr().cast()) };
    (!found.is_null()).then(|| name.split(|&byte| byte == 0).next().unwrap_or_default().to_vec())
}

fn parse<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn address(given: Any<'_>, array: ArrayView<'_>, key: &str) -> Result<IpAddr, Raise> {
    let Some(view) = array.get(key) else { return Err(no_key(given, key)) };
    let found = if let View::Str(text) = view { parse(text) } else { None };
    found.ok_or_else(|| given.value_error(&format!("must have an IP address as \"{key}\"")))
}

/// The exception for an array without a key.
pub(super) fn no_key(given: Any<'_>, key: &str) -> Raise {
    let raise = given.value_error(&format!("must have the key \"{key}\""));
    there(raise, There::Text(format!("no key \"{key}\" passed in optval")))
}

/// An address as `struct sockaddr_storage`, with port 0.
fn storage(address: IpAddr) -> Vec<u8> {
    let (family, at, octets) = match address {
        IpAddr::V4(ip) => (libc::AF_INET, 4, ip.octets().to_vec()),
        IpAddr::V6(ip) => (libc::AF_INET6, 8, ip.octets().to_vec()),
    };
    let mut bytes = (family as libc::sa_family_t).to_ne_bytes().to_vec();
    bytes.resize(at, 0);
    bytes.extend(octets);
    bytes.resize(size_of::<libc::sockaddr_storage>(), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stand_where_the_kernel_looks_for_them() {
        let v4 = storage(IpAddr::V4(Ipv4Addr::new(224, 0, 0, 23)));
        assert_eq!((v4.len(), &v4[4..8]), (128, &[224, 0, 0, 23][..]));
        let v6 = storage(IpAddr::V6(Ipv6Addr::LOCALHOST));
        assert_eq!((v6.len(), v6[23]), (128, 1));
    }

    #[test]
    fn the_loopback_interface_has_its_address() {
        let interface = index(b"lo").unwrap();
        assert_eq!(address_of(interface).unwrap(), Ipv4Addr::LOCALHOST);
        assert_eq!(interface_with(Ipv4Addr::LOCALHOST).unwrap(), interface);
        assert_eq!(interface_with(Ipv4Addr::UNSPECIFIED).unwrap(), 0);
        assert!(index(b"nosuchdevice").is_err());
    }
}
