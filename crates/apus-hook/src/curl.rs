//! `curl_easy_perform(3)`, for code written for Swoole: a transfer whose wait was cancelled says so there.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use apus_runtime::swoole;
use apus_zend::guard;

type Perform = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `CURLE_FAILED_INIT`
const FAILED_INIT: c_int = 2;
/// `CURLE_ABORTED_BY_CALLBACK`
const ABORTED_BY_CALLBACK: c_int = 42;
/// `CURLE_BAD_FUNCTION_ARGUMENT`: what libcurl makes of a poll(2) that failed.
const BAD_FUNCTION_ARGUMENT: c_int = 43;

/// libcurl's own, which is loaded: it was called.
fn own() -> Option<Perform> {
    static OWN: OnceLock<Option<Perform>> = OnceLock::new();
    *OWN.get_or_init(|| {
        // SAFETY: a name.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"curl_easy_perform".as_ptr()) };
        // SAFETY: libcurl's function of this name, which has this signature.
        (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Perform>(found) })
    })
}

/// `curl_easy_perform(3)`.
pub(super) unsafe extern "C" fn easy_perform(handle: *mut c_void) -> c_int {
    let Some(own) = own() else { return FAILED_INIT };
    // SAFETY: the caller's argument.
    let result = unsafe { own(handle) };
    let cancelled = result == BAD_FUNCTION_ARGUMENT && swoole::is_on() && guard::is_broken();
    if cancelled { ABORTED_BY_CALLBACK } else { result }
}
