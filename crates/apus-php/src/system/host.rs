//! Facts about this machine and this process.

use std::ffi::{CStr, c_int};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;

use apus_zend::arg::Given;
use apus_zend::class::{Const, Constant};
use apus_zend::{Array, Callable, Raise, Uncallable, Value};

use super::failure::{self, Name, set_last_error};
use super::lookup::{Family, ip_address};

/// `Apus\cpu_num()`.
pub(crate) fn cpu_num() -> i64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as i64)
}

/// The list of `getifaddrs(3)`, freed when dropped.
struct Interfaces(*mut libc::ifaddrs);

/// One address of an interface.
struct Interface<'a> {
    name: &'a [u8],
    flags: u32,
    address: Option<Address>,
}

impl Interface<'_> {
    fn ipv4(&self) -> Option<Ipv4Addr> {
        if let Some(Address::Ip(IpAddr::V4(ip))) = self.address { Some(ip) } else { None }
    }
}

enum Address {
    Ip(IpAddr),
    Mac([u8; 6]),
}

impl Interfaces {
    fn get() -> Option<Self> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the out pointer is local.
        if unsafe { libc::getifaddrs(&raw mut list) } == 0 {
            return Some(Self(list));
        }
        set_last_error(failure::errno());
        None
    }

    fn all(&self) -> impl Iterator<Item = Interface<'_>> {
        let mut next = self.0;
        std::iter::from_fn(move || {
            // SAFETY: the list lives as long as self; names end in NUL, and each address is of the family that it
            // tells.
            unsafe {
                let entry = next.as_ref()?;
                next = entry.ifa_next;
                let name = CStr::from_ptr(entry.ifa_name).to_bytes();
                Some(Interface { name, flags: entry.ifa_flags, address: address(entry.ifa_addr) })
            }
        })
    }

    /// Those that are up and no loopback.
    fn iter(&self) -> impl Iterator<Item = (&[u8], Address)> {
        let (up, loopback) = (libc::IFF_UP as u32, libc::IFF_LOOPBACK as u32);
        self.all()
            .filter(move |one| one.flags & up != 0 && one.flags & loopback == 0)
            .filter_map(|one| Some((one.name, one.address?)))
    }
}

/// # Safety
/// The address is null, or alive and of the family that it tells.
unsafe fn address(raw: *const libc::sockaddr) -> Option<Address> {
    // SAFETY: as promised by the caller; the kernel's records need not be aligned.
    unsafe {
        if c_int::from(raw.as_ref()?.sa_family) == libc::AF_PACKET {
            let link = raw.cast::<libc::sockaddr_ll>().read_unaligned();
            return (link.sll_halen == 6).then(|| link.sll_addr.first_chunk().copied()).flatten().map(Address::Mac);
        }
        ip_address(raw).map(Address::Ip)
    }
}

impl Drop for Interfaces {
    fn drop(&mut self) {
        // SAFETY: made by getifaddrs, freed once.
        unsafe { libc::freeifaddrs(self.0) };
    }
}

/// The first IPv4 address of an interface.
pub(crate) fn address_of_interface(name: &[u8]) -> Option<Ipv4Addr> {
    Interfaces::get()?.all().filter(|one| one.name == name).find_map(|one| one.ipv4())
}

/// The name of the interface with an IPv4 address.
pub(crate) fn interface_with_address(address: Ipv4Addr) -> Option<Vec<u8>> {
    Interfaces::get()?.all().find(|one| one.ipv4() == Some(address)).map(|one| one.name.to_vec())
}

/// `Apus\get_local_ip()`.
pub(crate) fn get_local_ip(family: Family) -> Result<Array, Raise> {
    let mut array = Array::new(4)?;
    let Some(interfaces) = Interfaces::get() else { return Ok(array) };
    for (name, address) in interfaces.iter() {
        if let Address::Ip(address) = address
            && family.has(address)
        {
            array.set_str(name, address.to_string().as_bytes())?;
        }
    }
    Ok(array)
}

/// `Apus\get_local_mac()`.
pub(crate) fn get_local_mac() -> Result<Array, Raise> {
    let mut array = Array::new(4)?;
    let Some(interfaces) = Interfaces::get() else { return Ok(array) };
    for (name, address) in interfaces.iter() {
        if let Address::Mac(address) = address {
            let text = address.map(|byte| format!("{byte:02X}")).join(":");
            array.set_str(name, text.as_bytes())?;
        }
    }
    Ok(array)
}

/// The module's constants, whose documentation says what error numbers mean.
static CONSTANTS: OnceLock<&'static [&'static [Constant]]> = OnceLock::new();

/// At module start: all constants, of every room.
pub(crate) fn know_constants(constants: &'static [&'static [Constant]]) {
    let _ = CONSTANTS.set(constants);
}

/// The constants of Swoole, where they are switched on.
static SWOOLE: OnceLock<&'static [Constant]> = OnceLock::new();

/// At module start: the same of the module that code written for Swoole sees.
pub(crate) fn know_swoole(constants: &'static [Constant]) {
    let _ = SWOOLE.set(constants);
}

/// The name of the error with that number there, as words.
fn swoole_text(number: i64) -> Option<String> {
    let mut names = SWOOLE.get()?.iter().filter_map(|constant| {
        let name = constant.name.to_str().ok()?.strip_prefix("SWOOLE_ERROR_")?;
        matches!(constant.value, Const::Int(value) if value == number).then_some(name)
    });
    let mut text = names.next()?.to_ascii_lowercase().replace('_', " ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Some(text)
}

/// What the constant with that number says of it.
fn own_text(number: i64) -> Option<&'static str> {
    let mut errors = CONSTANTS
        .get()
        .copied()
        .unwrap_or_default()
        .iter()
        .copied()
        .flatten()
        .filter(|constant| constant.name.to_bytes().starts_with(b"Apus\\ERROR_"));
    let found = errors.find(|constant| matches!(constant.value, Const::Int(value) if value == number))?;
    let text = found.doc.trim_start_matches("errCode: ").trim_end_matches('.');
    Some(text.split_once(';').map_or(text, |(text, _)| text))
}

/// `Apus\strerror()`.
pub(crate) fn strerror(given: i64, kind: Given<i64>) -> Result<String, Raise> {
    let number = c_int::try_from(given).unwrap_or(-1);
    Ok(match kind.value {
        0 | 9 if [failure::RESOLVE_FAILED, failure::RESOLVE_TIMEOUT].contains(&number) => failure::strerror(number),
        0 | 9 => own_text(given)
            .map(str::to_owned)
            .or_else(|| swoole_text(given))
            .unwrap_or_else(|| failure::strerror(number)),
        // SAFETY: gives a text that lives as long as the process, for every number.
        1 => unsafe { CStr::from_ptr(libc::gai_strerror(number)) }.to_string_lossy().into_owned(),
        2 => resolver_text(number).to_owned(),
        _ => return Err(kind.must_be("one of the STRERROR constants")),
    })
}

/// The texts of `h_errno`, RFC 2553 section 6.
fn resolver_text(number: c_int) -> &'static str {
    match number {
        0 => "Resolver Error 0 (no error)",
        1 => "Unknown host",
        2 => "Host name lookup failure",
        3 => "Unknown server error",
        4 => "No address associated with name",
        -1 => "Resolver internal error",
        _ => "Unknown resolver error",
    }
}

/// `Apus\errno()`.
pub(crate) fn errno() -> i64 {
    i64::from(failure::errno())
}

/// `Apus\clear_error()`.
pub(crate) fn clear_error() {
    set_last_error(0);
}

/// `Apus\set_process_name()`.
pub(crate) fn set_process_name(Name(title): Name) -> Result<Value, Raise> {
    set_title(title.as_bytes())
}

/// Has the process listed under a name, by PHP's own function, which keeps the room of argv; the command line alone has
/// it.
pub(crate) fn set_title(title: &[u8]) -> Result<Value, Raise> {
    let title = Value::string(title)?;
    let mut name = Value::string(b"cli_set_process_title")?;
    match Callable::new(&mut name) {
        Ok(function) => function.call(&[title]),
        Err(Uncallable::Not(_)) => Ok(Value::bool(false)),
        Err(Uncallable::Raised(raise)) => Err(raise),
    }
}
