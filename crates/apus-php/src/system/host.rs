//! Facts about this machine and this process.

use std::ffi::{CStr, c_int};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ptr::NonNull;
use std::sync::OnceLock;

use apus_zend::class::{Const, Constant};
use apus_zend::{Array, Call, Callable, Raise, Uncallable, Value};

use super::failure::{self, set_last_error};

/// `Apus\cpu_num()`.
pub(super) fn cpu_num(call: &Call) -> Result<(), Raise> {
    call.ret(std::thread::available_parallelism().map_or(1, |count| count.get() as i64))
}

/// The list of `getifaddrs(3)`, freed when dropped.
struct Interfaces(Option<NonNull<libc::ifaddrs>>);

impl Interfaces {
    fn get() -> Option<Self> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the out pointer is local.
        if unsafe { libc::getifaddrs(&raw mut list) } == 0 {
            return Some(Self(NonNull::new(list)));
        }
        set_last_error(failure::errno());
        None
    }

    /// Those that are up and no loopback: name, family, address.
    fn iter(&self) -> impl Iterator<Item = (&[u8], c_int, NonNull<libc::sockaddr>)> {
        let mut next = self.0;
        let all = std::iter::from_fn(move || {
            // SAFETY: the list lives as long as self.
            let entry = unsafe { next?.as_ref() };
            next = NonNull::new(entry.ifa_next);
            Some(entry)
        });
        let (up, loopback) = (libc::IFF_UP as u32, libc::IFF_LOOPBACK as u32);
        all.filter(move |entry| entry.ifa_flags & up != 0 && entry.ifa_flags & loopback == 0).filter_map(|entry| {
            let address = NonNull::new(entry.ifa_addr)?;
            // SAFETY: alive as above; the name ends in NUL.
            let (name, family) = unsafe { (CStr::from_ptr(entry.ifa_name), address.as_ref().sa_family) };
            Some((name.to_bytes(), c_int::from(family), address))
        })
    }
}

impl Drop for Interfaces {
    fn drop(&mut self) {
        if let Some(list) = self.0 {
            // SAFETY: made by getifaddrs, freed once.
            unsafe { libc::freeifaddrs(list.as_ptr()) };
        }
    }
}

/// `Apus\get_local_ip()`.
pub(super) fn get_local_ip(call: &Call) -> Result<(), Raise> {
    let wanted = call.int(0, i64::from(libc::AF_INET))?;
    if ![libc::AF_INET, libc::AF_INET6].map(i64::from).contains(&wanted) {
        return Err(call.value_error(0, &format!("must be AF_INET or AF_INET6, {wanted} given")));
    }
    let mut array = Array::new(4)?;
    let Some(interfaces) = Interfaces::get() else { return call.ret(array) };
    for (name, family, address) in interfaces.iter().filter(|&(_, family, _)| i64::from(family) == wanted) {
        // SAFETY: the address is of the family that it tells, and lives as long as the list.
        let text = unsafe {
            if family == libc::AF_INET {
                let address = address.cast::<libc::sockaddr_in>().as_ptr().read_unaligned();
                Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).to_string()
            } else {
                let address = address.cast::<libc::sockaddr_in6>().as_ptr().read_unaligned();
                Ipv6Addr::from(address.sin6_addr.s6_addr).to_string()
            }
        };
        array.set_str(name, text.as_bytes())?;
    }
    call.ret(array)
}

/// `Apus\get_local_mac()`.
pub(super) fn get_local_mac(call: &Call) -> Result<(), Raise> {
    let mut array = Array::new(4)?;
    let Some(interfaces) = Interfaces::get() else { return call.ret(array) };
    for (name, _, address) in interfaces.iter().filter(|&(_, family, _)| family == libc::AF_PACKET) {
        // SAFETY: as above.
        let address = unsafe { address.cast::<libc::sockaddr_ll>().as_ptr().read_unaligned() };
        if address.sll_halen == 6 {
            let text: Vec<String> = address.sll_addr[..6].iter().map(|byte| format!("{byte:02X}")).collect();
            array.set_str(name, text.join(":").as_bytes())?;
        }
    }
    call.ret(array)
}

/// The module's constants, whose documentation says what error numbers mean.
static CONSTANTS: OnceLock<&'static [&'static [Constant]]> = OnceLock::new();

/// At module start: all constants, of every room.
pub(crate) fn know_constants(constants: &'static [&'static [Constant]]) {
    let _ = CONSTANTS.set(constants);
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
pub(super) fn strerror(call: &Call) -> Result<(), Raise> {
    let (given, kind) = (call.int(0, 0)?, call.int(1, 0)?);
    let number = c_int::try_from(given).unwrap_or(-1);
    let text = match kind {
        0 | 9 if [failure::RESOLVE_FAILED, failure::RESOLVE_TIMEOUT].contains(&number) => failure::strerror(number),
        0 | 9 => own_text(given).map_or_else(|| failure::strerror(number), str::to_owned),
        // SAFETY: gives a text that lives as long as the process, for every number.
        1 => unsafe { CStr::from_ptr(libc::gai_strerror(number)) }.to_string_lossy().into_owned(),
        2 => resolver_text(number).to_owned(),
        _ => return Err(call.value_error(1, &format!("must be one of the STRERROR constants, {kind} given"))),
    };
    call.ret_bytes(text.as_bytes())
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
pub(super) fn errno(call: &Call) -> Result<(), Raise> {
    let errno = failure::errno();
    call.expect(0, 0)?;
    call.ret(i64::from(errno))
}

/// `Apus\clear_error()`.
#[expect(clippy::unnecessary_wraps, reason = "what a function looks like")]
pub(super) fn clear_error(_call: &Call) -> Result<(), Raise> {
    set_last_error(0);
    Ok(())
}

/// `Apus\set_process_name()`.
pub(super) fn set_process_name(call: &Call) -> Result<(), Raise> {
    let title = Value::string(failure::name(call, 0)?)?;
    // PHP's own function, which keeps the room of argv; the command line alone has it.
    let mut name = Value::string(b"cli_set_process_title")?;
    match Callable::new(&mut name) {
        Ok(function) => call.ret(function.call(&[title])?),
        Err(Uncallable::Not(_)) => call.ret(false),
        Err(Uncallable::Raised(raise)) => Err(raise),
    }
}
