//! Name resolution, by libc itself on another thread: `/etc/hosts`, nsswitch and all.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::ptr;

use apus_options::hooks;
use libc::{addrinfo, hostent, size_t, sockaddr, socklen_t};

use super::args::{Place, Text, bytes, zeroed};
use super::gate::{Gate, errno, gate, set_errno};
use super::sys::{self, set_h_errno};

pub(super) const NAMES: i64 = hooks::BLOCKING_FUNCTION | hooks::NET_FUNCTION;
/// Bytes of the longest record that is taken for a host (its names and addresses).
const LARGEST: usize = 64 << 10;
/// Records of hosts that stay alive after they were handed out, as libc's own static one does.
const KEPT: usize = 64;

fn is_address(name: &CStr) -> bool {
    name.to_str().is_ok_and(|name| name.parse::<IpAddr>().is_ok())
}

/// What `getaddrinfo()` gave, until it is handed over.
struct Addresses(*mut addrinfo);

// SAFETY: a list on the heap that nobody else knows.
unsafe impl Send for Addresses {}

impl Drop for Addresses {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: a list of getaddrinfo().
            unsafe { libc::freeaddrinfo(self.0) };
        }
    }
}

/// The result of a function that returns its error: what the other thread has said, and `handed` over when that is
/// success.
fn finish<T>(gate: &Gate, looked_up: Result<(c_int, c_int, T), c_int>, handed: impl FnOnce(T)) -> c_int {
    match looked_up {
        Ok((0, _, found)) => {
            handed(found);
            gate.success(0)
        }
        Ok((code, errno, _)) => {
            set_errno(errno);
            code
        }
        Err(errno) => {
            set_errno(errno);
            libc::EAI_SYSTEM
        }
    }
}

/// getaddrinfo(3).
pub(super) extern "C" fn getaddrinfo(
    node: Text<'_>,
    service: Text<'_>,
    hints: Place<'_, addrinfo>,
    result: Place<'_, *mut addrinfo>,
) -> c_int {
    let Some((gate, name)) = name_gate("getaddrinfo()", node) else {
        return sys::getaddrinfo(node, service, hints, result);
    };
    // Of the record four fields count.
    let hints = hints.get().map(|h| (h.ai_flags, h.ai_family, h.ai_socktype, h.ai_protocol));
    let service = service.to_owned();
    let looked_up = gate.on_thread(move || {
        let mut asked: addrinfo = zeroed();
        if let Some(hints) = hints {
            (asked.ai_flags, asked.ai_family, asked.ai_socktype, asked.ai_protocol) = hints;
        }
        let asked = if hints.is_some() { Place::of(&mut asked) } else { Place::none() };
        let service = service.as_deref().map_or(Text::none(), Text::of);
        let mut found = Addresses(ptr::null_mut());
        let code = sys::getaddrinfo(Text::of(&name), service, asked, Place::of(&mut found.0));
        (code, errno(), found)
    });
    finish(&gate, looked_up, |mut found| result.set(std::mem::replace(&mut found.0, ptr::null_mut())))
}

/// getnameinfo(3).
pub(super) unsafe extern "C" fn getnameinfo(
    address: *const sockaddr,
    len: socklen_t,
    host: *mut c_char,
    host_len: socklen_t,
    service: *mut c_char,
    service_len: socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's buffers; one that is NULL is of no size.
    let (address, host, service) = unsafe {
        let sized = |at: *mut c_char, len: socklen_t| bytes(at, if at.is_null() { 0 } else { len as usize });
        (bytes(address, len as usize), sized(host, host_len), sized(service, service_len))
    };
    let (Some(address), Some(host), Some(service)) = (address, host, service) else { return libc::EAI_FAMILY };
    let numeric = flags & libc::NI_NUMERICHOST != 0 || host.is_empty();
    let small = address.len() <= size_of::<libc::sockaddr_storage>();
    let Some(gate) = (!numeric && small).then(|| gate("getnameinfo()", NAMES)).flatten() else {
        return sys::getnameinfo(address, host, service, flags);
    };
    let (address, lens) = (address.to_vec(), (host.len(), service.len()));
    let looked_up = gate.on_thread(move || {
        let mut names = (vec![MaybeUninit::new(0); lens.0], vec![MaybeUninit::new(0); lens.1]);
        let code = sys::getnameinfo(&address, &mut names.0, &mut names.1, flags);
        (code, errno(), names)
    });
    finish(&gate, looked_up, |names| {
        host.copy_from_slice(&names.0);
        service.copy_from_slice(&names.1);
    })
}

mod libc_hosts {
    use std::ffi::{c_char, c_int, c_void};

    use libc::{hostent, size_t, socklen_t};

    use crate::args::{Place, Text};

    // SAFETY: the safe ones take integers, texts and places that are valid by their types.
    unsafe extern "C" {
        pub(super) safe fn gethostbyname(name: Text<'_>) -> *mut hostent;
        pub(super) safe fn gethostbyname2(name: Text<'_>, family: c_int) -> *mut hostent;
        pub(super) fn gethostbyaddr(address: *const c_void, len: socklen_t, family: c_int) -> *mut hostent;
        pub(super) fn gethostbyname2_r(
            name: Text<'_>,
            family: c_int,
            record: Place<'_, hostent>,
            buffer: *mut c_char,
            len: size_t,
            result: Place<'_, *mut hostent>,
            error: Place<'_, c_int>,
        ) -> c_int;
        pub(super) fn gethostbyname_r(
            name: Text<'_>,
            record: Place<'_, hostent>,
            buffer: *mut c_char,
            len: size_t,
            result: Place<'_, *mut hostent>,
            error: Place<'_, c_int>,
        ) -> c_int;
        pub(super) fn gethostbyaddr_r(
            address: *const c_void,
            size: socklen_t,
            family: c_int,
            record: Place<'_, hostent>,
            buffer: *mut c_char,
            len: size_t,
            result: Place<'_, *mut hostent>,
            error: Place<'_, c_int>,
        ) -> c_int;
    }
}

/// What is looked up.
enum Asked {
    Name(CString, Option<c_int>),
    Address(Vec<MaybeUninit<u8>>, c_int),
}

impl Asked {
    /// Asks the reentrant function for it.
    fn ask(&self, record: &mut hostent, buffer: &mut [u8], found: &mut *mut hostent, error: &mut c_int) -> c_int {
        let (bytes, len) = (buffer.as_mut_ptr().cast(), buffer.len());
        let (record, found, error) = (Place::of(record), Place::of(found), Place::of(error));
        // SAFETY: slices with their lengths.
        unsafe {
            match self {
                Self::Name(name, None) => libc_hosts::gethostbyname_r(Text::of(name), record, bytes, len, found, error),
                Self::Name(name, Some(family)) => {
                    libc_hosts::gethostbyname2_r(Text::of(name), *family, record, bytes, len, found, error)
                }
                Self::Address(address, family) => {
                    let (at, size) = (address.as_ptr().cast(), address.len() as socklen_t);
                    libc_hosts::gethostbyaddr_r(at, size, *family, record, bytes, len, found, error)
                }
            }
        }
    }
}

/// A host's record with all that it points to, which stands still on the heap.
struct Host {
    record: Box<hostent>,
    _buffer: Vec<u8>,
}

// SAFETY: the pointers lead into the buffer, which the value owns.
unsafe impl Send for Host {}

/// Looks a host up, with a buffer that grows as libc asks. `Err`: an `h_errno`.
fn look_up(asked: &Asked) -> Result<Host, c_int> {
    let mut len = 1024;
    loop {
        let mut buffer = vec![0; len];
        let mut record: Box<hostent> = Box::new(zeroed());
        let (mut found, mut error) = (ptr::null_mut(), 0);
        let code = asked.ask(&mut record, &mut buffer, &mut found, &mut error);
        if code == libc::ERANGE && len < LARGEST {
            len *= 2;
            continue;
        }
        return if code == 0 && !found.is_null() { Ok(Host { record, _buffer: buffer }) } else { Err(error) };
    }
}

thread_local! {
    /// What was handed out last. libc's static record is overwritten by the next call; these last for some more, since
    /// several coroutines may each have made one.
    static HOSTS: RefCell<VecDeque<Host>> = const { RefCell::new(VecDeque::new()) };
}

fn keep(host: Host) -> *mut hostent {
    HOSTS.with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(host);
        kept.back_mut().map_or(ptr::null_mut(), |host| &raw mut *host.record)
    })
}

/// Looks up on another thread, and hands out what was found. `Err`: an `h_errno`; -1 (`NETDB_INTERNAL`) says "see
/// errno".
fn handed_out(gate: &Gate, asked: Asked) -> Result<*mut hostent, c_int> {
    match gate.on_thread(move || look_up(&asked)) {
        Ok(Ok(host)) => Ok(gate.success(keep(host))),
        Ok(Err(h_errno)) => Err(h_errno),
        Err(errno) => {
            set_errno(errno);
            Err(-1)
        }
    }
}

/// The result of a function that has one static record.
fn static_record(gate: &Gate, asked: Asked) -> *mut hostent {
    handed_out(gate, asked).unwrap_or_else(|h_errno| {
        set_h_errno(h_errno);
        ptr::null_mut()
    })
}

/// The result of a reentrant function. The record's pointers lead to memory of ours, not into the caller's buffer: PHP
/// gives each call the same buffer, which another coroutine may have freed meanwhile.
fn reentrant(
    gate: &Gate,
    asked: Asked,
    record: Place<'_, hostent>,
    result: Place<'_, *mut hostent>,
    error: Place<'_, c_int>,
) -> c_int {
    match handed_out(gate, asked) {
        Ok(host) => {
            // SAFETY: a host that is kept.
            record.set(unsafe { *host });
            result.set(record.as_ptr());
            0
        }
        // libc's sets the thread's h_errno, too, which PHP reads.
        Err(h_errno) => {
            result.set(ptr::null_mut());
            error.set(h_errno);
            set_h_errno(h_errno);
            if h_errno == -1 { errno() } else { 0 }
        }
    }
}

/// The gate for looking up a name that is no address.
fn name_gate(what: &'static str, name: Text<'_>) -> Option<(Gate, CString)> {
    let name = name.to_owned().filter(|name| !is_address(name))?;
    Some((gate(what, NAMES)?, name))
}

/// gethostbyname(3).
pub(super) extern "C" fn gethostbyname(name: Text<'_>) -> *mut hostent {
    match name_gate("gethostbyname()", name) {
        Some((gate, name)) => static_record(&gate, Asked::Name(name, None)),
        None => libc_hosts::gethostbyname(name),
    }
}

/// gethostbyname2(3).
pub(super) extern "C" fn gethostbyname2(name: Text<'_>, family: c_int) -> *mut hostent {
    match name_gate("gethostbyname2()", name) {
        Some((gate, name)) => static_record(&gate, Asked::Name(name, Some(family))),
        None => libc_hosts::gethostbyname2(name, family),
    }
}

/// `gethostbyname_r(3)`.
pub(super) unsafe extern "C" fn gethostbyname_r(
    name: Text<'_>,
    record: Place<'_, hostent>,
    buffer: *mut c_char,
    len: size_t,
    result: Place<'_, *mut hostent>,
    error: Place<'_, c_int>,
) -> c_int {
    match name_gate("gethostbyname_r()", name) {
        Some((gate, name)) => reentrant(&gate, Asked::Name(name, None), record, result, error),
        // SAFETY: the caller's buffer.
        None => unsafe { libc_hosts::gethostbyname_r(name, record, buffer, len, result, error) },
    }
}

/// `gethostbyname2_r(3)`.
pub(super) unsafe extern "C" fn gethostbyname2_r(
    name: Text<'_>,
    family: c_int,
    record: Place<'_, hostent>,
    buffer: *mut c_char,
    len: size_t,
    result: Place<'_, *mut hostent>,
    error: Place<'_, c_int>,
) -> c_int {
    match name_gate("gethostbyname2_r()", name) {
        Some((gate, name)) => reentrant(&gate, Asked::Name(name, Some(family)), record, result, error),
        // SAFETY: the caller's buffer.
        None => unsafe { libc_hosts::gethostbyname2_r(name, family, record, buffer, len, result, error) },
    }
}

/// gethostbyaddr(3).
pub(super) unsafe extern "C" fn gethostbyaddr(address: *const c_void, len: socklen_t, family: c_int) -> *mut hostent {
    // SAFETY: the caller's address, of that length.
    let (plainly, owned) = unsafe {
        (|| libc_hosts::gethostbyaddr(address, len, family), bytes(address, len as usize).map(|bytes| bytes.to_vec()))
    };
    match owned.and_then(|owned| Some((gate("gethostbyaddr()", NAMES)?, owned))) {
        Some((gate, owned)) => static_record(&gate, Asked::Address(owned, family)),
        None => plainly(),
    }
}
