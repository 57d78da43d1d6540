//! What PHP's own sessions send: it goes out with the response of the request whose handler runs.

use std::ffi::c_char;
use std::ptr::NonNull;

use apus_zend::{object, sys};

use super::head::Head;
use super::response::Response;

/// The response whose head can still be changed.
///
/// # Safety
/// `raw` is NULL or a live object, which outlives the borrow.
unsafe fn open<'a>(raw: *mut sys::zend_object) -> Option<&'a Response> {
    // SAFETY: by contract.
    unsafe { object::payload::<Response>(NonNull::new(raw)?) }.filter(|response| response.is_open())
}

unsafe extern "C" fn is_open(raw: *mut sys::zend_object) -> bool {
    // SAFETY: the shim passes the handler's argument, which its coroutine holds.
    std::panic::catch_unwind(|| unsafe { open(raw) }.is_some()).unwrap_or(false)
}

unsafe extern "C" fn field(
    raw: *mut sys::zend_object,
    line: *const c_char,
    len: usize,
    cookie: *const c_char,
    cookie_len: usize,
) {
    let set = std::panic::catch_unwind(|| {
        // SAFETY: as above; PHP's strings of these lengths.
        let (response, line, cookie) = unsafe {
            let bytes = |text: *const c_char, len| std::slice::from_raw_parts(text.cast::<u8>(), len);
            (open(raw), bytes(line, len), bytes(cookie, cookie_len))
        };
        if let Some(response) = response {
            put(&mut response.head.borrow_mut(), line, cookie);
        }
    });
    drop(set);
}

/// Puts a field line in place of earlier ones of its name; a cookie in place of earlier ones that begin so (`NAME=`).
fn put(head: &mut Head, line: &[u8], cookie: &[u8]) {
    let Some(colon) = line.iter().position(|&byte| byte == b':') else { return };
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if cookie.is_empty() {
        head.set(name, std::iter::once(value), true);
        return;
    }
    let mut values: Vec<Vec<u8>> = head
        .lines()
        .filter(|(other, value)| other.eq_ignore_ascii_case(name) && !value.starts_with(cookie))
        .map(|(_, value)| value.to_vec())
        .collect();
    values.push(value.to_vec());
    head.set(name, values.iter().map(Vec::as_slice), true);
}

/// When all modules are loaded.
pub(crate) fn install() {
    static DONE: std::sync::Once = std::sync::Once::new();
    DONE.call_once(|| apus_zend::state::install_sessions(is_open, field));
}

#[cfg(test)]
mod tests {
    use super::super::head::Borrowed;
    use super::*;

    #[test]
    fn a_cookie_of_a_session_replaces_its_own_only() {
        let mut head = Borrowed::take();
        head.set(b"Set-Cookie", [&b"a=1"[..], b"S=old; path=/"].into_iter(), true);
        put(&mut head, b"Set-Cookie: S=new; path=/", b"S=");
        put(&mut head, b"Cache-Control: no-store", b"");
        let lines: Vec<_> = head.lines().map(|(_, value)| value.to_vec()).collect();
        assert_eq!(lines, [&b"a=1"[..], b"S=new; path=/", b"no-store"]);
    }
}
