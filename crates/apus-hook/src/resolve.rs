//! Name resolution, by libc itself on another thread: `/etc/hosts`, nsswitch and all.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::IpAddr;
use std::ptr;

use apus_options::hooks;
use libc::{addrinfo, hostent, size_t, sockaddr, socklen_t};

use super::gate::{Gate, errno, gate, set_errno};

pub(super) const NAMES: i64 = hooks::BLOCKING_FUNCTION | hooks::NET_FUNCTION;
/// Bytes of the longest record that is taken for a host (its names and addresses).
const LARGEST: usize = 64 << 10;
/// Records of hosts that stay alive after they were handed out, as libc's own static one does.
const KEPT: usize = 64;

/// # Safety
/// `text` MUST be NULL or end in NUL.
pub(super) unsafe fn owned(text: *const c_char) -> Option<CString> {
    // SAFETY: by contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned())
}

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

/// getaddrinfo(3).
pub(super) unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    result: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: the caller's text.
    let name = unsafe { owned(node) }.filter(|name| !is_address(name));
    let Some((gate, name)) = name.and_then(|name| Some((gate("getaddrinfo()", NAMES)?, name))) else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::getaddrinfo(node, service, hints, result) };
    };
    // SAFETY: the caller's text and record, of which four fields count.
    let (service, hints) = unsafe {
        let hints = hints.as_ref().map(|h| (h.ai_flags, h.ai_family, h.ai_socktype, h.ai_protocol));
        (owned(service), hints)
    };
    let looked_up = gate.on_thread(move || {
        // SAFETY: plain data.
        let mut asked: addrinfo = unsafe { std::mem::zeroed() };
        if let Some(hints) = hints {
            (asked.ai_flags, asked.ai_family, asked.ai_socktype, asked.ai_protocol) = hints;
        }
        let asked = if hints.is_some() { ptr::from_ref(&asked) } else { ptr::null() };
        let mut found = Addresses(ptr::null_mut());
        let service = service.as_ref().map_or(ptr::null(), |service| service.as_ptr());
        // SAFETY: text that ends in NUL; records of this frame.
        let code = unsafe { libc::getaddrinfo(name.as_ptr(), service, asked, &raw mut found.0) };
        (code, errno(), found)
    });
    match looked_up {
        Ok((0, _, mut found)) => {
            // SAFETY: the caller's place for the list.
            unsafe { *result = std::mem::replace(&mut found.0, ptr::null_mut()) };
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
    let numeric = flags & libc::NI_NUMERICHOST != 0 || host.is_null() || host_len == 0;
    let small = len as usize <= size_of::<libc::sockaddr_storage>() && !address.is_null();
    let Some(gate) = (!numeric && small).then(|| gate("getnameinfo()", NAMES)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { libc::getnameinfo(address, len, host, host_len, service, service_len, flags) };
    };
    // SAFETY: plain data.
    let mut copy: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    // SAFETY: `len` bytes of the caller's, no more than there is room for.
    unsafe { ptr::copy_nonoverlapping(address.cast::<u8>(), ptr::from_mut(&mut copy).cast(), len as usize) };
    let looked_up = gate.on_thread(move || {
        let mut names = (vec![0u8; host_len as usize], vec![0u8; service_len as usize]);
        // SAFETY: the thread's own buffers, of these sizes; an empty one is not written to.
        let code = unsafe {
            libc::getnameinfo(
                ptr::from_ref(&copy).cast(),
                len,
                names.0.as_mut_ptr().cast(),
                host_len,
                names.1.as_mut_ptr().cast(),
                service_len,
                flags,
            )
        };
        (code, errno(), names)
    });
    match looked_up {
        Ok((0, _, names)) => {
            // SAFETY: the caller's buffers, of these sizes.
            unsafe {
                ptr::copy_nonoverlapping(names.0.as_ptr(), host.cast(), names.0.len());
                if !service.is_null() {
                    ptr::copy_nonoverlapping(names.1.as_ptr(), service.cast(), names.1.len());
                }
            }
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

/// This thread's `h_errno`.
pub(super) fn h_errno_slot() -> *mut c_int {
    unsafe extern "C" {
        safe fn __h_errno_location() -> *mut c_int;
    }
    __h_errno_location()
}

mod sys {
    use super::{c_char, c_int, hostent, size_t, socklen_t};
    use std::ffi::c_void;

    unsafe extern "C" {
        pub(super) fn gethostbyname(name: *const c_char) -> *mut hostent;
        pub(super) fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent;
        pub(super) fn gethostbyaddr(address: *const c_void, len: socklen_t, family: c_int) -> *mut hostent;
        pub(super) fn gethostbyname2_r(
            name: *const c_char,
            family: c_int,
            record: *mut hostent,
            buffer: *mut c_char,
            len: size_t,
            result: *mut *mut hostent,
            error: *mut c_int,
        ) -> c_int;
        pub(super) fn gethostbyname_r(
            name: *const c_char,
            record: *mut hostent,
            buffer: *mut c_char,
            len: size_t,
            result: *mut *mut hostent,
            error: *mut c_int,
        ) -> c_int;
        pub(super) fn gethostbyaddr_r(
            address: *const c_void,
            size: socklen_t,
            family: c_int,
            record: *mut hostent,
            buffer: *mut c_char,
            len: size_t,
            result: *mut *mut hostent,
            error: *mut c_int,
        ) -> c_int;
    }
}

/// A host's record with all that it points to, which stands still on the heap.
struct Host {
    record: Box<hostent>,
    _buffer: Vec<u8>,
}

// SAFETY: the pointers lead into the buffer, which the value owns.
unsafe impl Send for Host {}

/// Looks a host up by one of libc's reentrant functions, with a buffer that grows as they ask. `Err`: an `h_errno`.
fn look_up(ask: impl Fn(*mut hostent, &mut [u8], *mut *mut hostent, *mut c_int) -> c_int) -> Result<Host, c_int> {
    let mut len = 1024;
    loop {
        let mut buffer = vec![0; len];
        // SAFETY: plain data.
        let mut record: Box<hostent> = Box::new(unsafe { std::mem::zeroed() });
        let (mut found, mut error) = (ptr::null_mut(), 0);
        let code = ask(&raw mut *record, &mut buffer, &raw mut found, &raw mut error);
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

fn handed_out(gate: &Gate, found: Result<Result<Host, c_int>, c_int>) -> Result<*mut hostent, c_int> {
    match found {
        Ok(Ok(host)) => Ok(gate.success(keep(host))),
        Ok(Err(h_errno)) => Err(h_errno),
        Err(errno) => {
            set_errno(errno);
            // NETDB_INTERNAL: see errno.
            Err(-1)
        }
    }
}

/// The result of a function that has one static record.
fn static_record(gate: &Gate, found: Result<Result<Host, c_int>, c_int>) -> *mut hostent {
    handed_out(gate, found).unwrap_or_else(|h_errno| {
        // SAFETY: this thread's own h_errno.
        unsafe { *h_errno_slot() = h_errno };
        ptr::null_mut()
    })
}

/// The result of a reentrant function. The record's pointers lead to memory of ours, not into the caller's buffer: PHP gives
/// each call the same buffer, which another coroutine may have freed meanwhile.
///
/// # Safety
/// The caller's own places.
unsafe fn reentrant(
    gate: &Gate,
    found: Result<Result<Host, c_int>, c_int>,
    record: *mut hostent,
    result: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    match handed_out(gate, found) {
        // SAFETY: by contract.
        Ok(host) => unsafe {
            ptr::copy_nonoverlapping(host, record, 1);
            *result = record;
            0
        },
        // libc's sets the thread's h_errno, too, which PHP reads.
        // SAFETY: by contract, and this thread's own h_errno.
        Err(h_errno) => unsafe {
            *result = ptr::null_mut();
            *error = h_errno;
            *h_errno_slot() = h_errno;
            if h_errno == -1 { errno() } else { 0 }
        },
    }
}

fn by_name(gate: &Gate, name: CString, family: Option<c_int>) -> Result<Result<Host, c_int>, c_int> {
    gate.on_thread(move || {
        look_up(|record, buffer, result, error| {
            let (bytes, len) = (buffer.as_mut_ptr().cast(), buffer.len());
            // SAFETY: text that ends in NUL, and places of the caller's.
            unsafe {
                match family {
                    Some(family) => sys::gethostbyname2_r(name.as_ptr(), family, record, bytes, len, result, error),
                    None => sys::gethostbyname_r(name.as_ptr(), record, bytes, len, result, error),
                }
            }
        })
    })
}

/// The gate for looking up a name that is no address.
///
/// # Safety
/// `name` MUST be NULL or end in NUL.
unsafe fn name_gate(what: &'static str, name: *const c_char) -> Option<(Gate, CString)> {
    // SAFETY: by contract.
    let name = unsafe { owned(name) }.filter(|name| !is_address(name))?;
    Some((gate(what, NAMES)?, name))
}

/// gethostbyname(3).
pub(super) unsafe extern "C" fn gethostbyname(name: *const c_char) -> *mut hostent {
    // SAFETY: the caller's text.
    match unsafe { name_gate("gethostbyname()", name) } {
        Some((gate, name)) => static_record(&gate, by_name(&gate, name, None)),
        // SAFETY: the caller's arguments.
        None => unsafe { sys::gethostbyname(name) },
    }
}

/// gethostbyname2(3).
pub(super) unsafe extern "C" fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent {
    // SAFETY: the caller's text.
    match unsafe { name_gate("gethostbyname2()", name) } {
        Some((gate, name)) => static_record(&gate, by_name(&gate, name, Some(family))),
        // SAFETY: the caller's arguments.
        None => unsafe { sys::gethostbyname2(name, family) },
    }
}

/// `gethostbyname_r(3)`.
pub(super) unsafe extern "C" fn gethostbyname_r(
    name: *const c_char,
    record: *mut hostent,
    buffer: *mut c_char,
    len: size_t,
    result: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    // SAFETY: the caller's text and places.
    unsafe {
        match name_gate("gethostbyname_r()", name) {
            Some((gate, name)) => reentrant(&gate, by_name(&gate, name, None), record, result, error),
            None => sys::gethostbyname_r(name, record, buffer, len, result, error),
        }
    }
}

/// `gethostbyname2_r(3)`.
pub(super) unsafe extern "C" fn gethostbyname2_r(
    name: *const c_char,
    family: c_int,
    record: *mut hostent,
    buffer: *mut c_char,
    len: size_t,
    result: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    // SAFETY: the caller's text and places.
    unsafe {
        match name_gate("gethostbyname2_r()", name) {
            Some((gate, name)) => reentrant(&gate, by_name(&gate, name, Some(family)), record, result, error),
            None => sys::gethostbyname2_r(name, family, record, buffer, len, result, error),
        }
    }
}

/// gethostbyaddr(3).
pub(super) unsafe extern "C" fn gethostbyaddr(address: *const c_void, len: socklen_t, family: c_int) -> *mut hostent {
    let Some(gate) = (!address.is_null()).then(|| gate("gethostbyaddr()", NAMES)).flatten() else {
        // SAFETY: the caller's arguments.
        return unsafe { sys::gethostbyaddr(address, len, family) };
    };
    // SAFETY: the caller's address, of that length.
    let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), len as usize) }.to_vec();
    let found = gate.on_thread(move || {
        look_up(|record, buffer, result, error| {
            // SAFETY: an address of that length, and places of the caller's.
            unsafe {
                let (to, room) = (buffer.as_mut_ptr().cast(), buffer.len());
                sys::gethostbyaddr_r(bytes.as_ptr().cast(), len, family, record, to, room, result, error)
            }
        })
    });
    static_record(&gate, found)
}
