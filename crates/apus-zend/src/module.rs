//! The module entry: when PHP starts us, and when it ends.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use crate::sys;

/// What the module does at PHP's milestones. Each runs on PHP's thread and MUST NOT panic.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// The process starts: register classes. `false` refuses to load.
    pub startup: unsafe extern "C" fn(module_number: i32) -> bool,
    /// The process ends.
    pub shutdown: unsafe extern "C" fn(),
    /// A request (for the command line: the script) begins.
    pub activate: unsafe extern "C" fn(),
    /// It ends: after shutdown functions and destructors, before Zend's memory goes.
    pub deactivate: unsafe extern "C" fn(),
    /// `phpinfo()` prints our table: call [`info_row`].
    pub info: unsafe extern "C" fn(),
}

/// The module entry that `get_module()` returns.
pub fn entry(version: &str, hooks: Hooks) -> *mut sys::zend_module_entry {
    static HOOKS: OnceLock<sys::apus_module_hooks> = OnceLock::new();
    let hooks = HOOKS.get_or_init(|| sys::apus_module_hooks {
        startup: Some(hooks.startup),
        shutdown: Some(hooks.shutdown),
        activate: Some(hooks.activate),
        deactivate: Some(hooks.deactivate),
        info: Some(hooks.info),
    });
    let version = CString::new(version).unwrap_or_default().into_raw();
    // SAFETY: both live as long as the process.
    unsafe { sys::apus_module(version, std::ptr::from_ref(hooks)) }
}

/// Has PHP see a module named `swoole`, whose classes, functions and constants `startup` registers. To be called at
/// module start; `false` when it is not possible, which PHP was told.
pub fn second(
    version: &'static CStr,
    startup: unsafe extern "C" fn(module_number: i32) -> bool,
    info: unsafe extern "C" fn(),
) -> bool {
    // SAFETY: module start; all three live as long as the process.
    unsafe { sys::apus_second_module(version.as_ptr(), Some(startup), Some(info)) }
}

/// Whether there is a module of that name, started or not. To be called at module start.
pub fn is_loaded(name: &CStr) -> bool {
    // SAFETY: module start; the table of modules exists.
    unsafe { sys::apus_module_loaded(name.as_ptr()) }
}

/// A row of the `phpinfo()` table.
pub fn info_row(name: &str, value: &str) {
    let (name, value) = (CString::new(name).unwrap_or_default(), CString::new(value).unwrap_or_default());
    // SAFETY: both end in NUL; PHP prints them at once.
    unsafe { sys::apus_info_row(name.as_ptr(), value.as_ptr()) };
}

/// Makes the strings that every request needs. To be called at module start.
pub fn prepare_requests() {
    // SAFETY: module start; the strings are interned for the life of the process.
    unsafe { sys::apus_request_keys() };
}
