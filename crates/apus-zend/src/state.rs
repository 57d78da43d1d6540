//! State that C code keeps in globals of the process. See `shim/apus_state.h`.

use std::ffi::c_char;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{Array, Value};

/// Functions that share such a state, and so exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// `array_multisort()`.
    Multisort,
    /// `Collator::sort()` and the like.
    Collator,
    /// Calls of ext/soap, where its globals are not those that are swapped.
    Soap,
    /// ext/imap: the user, password and lists of the C client.
    Imap,
    /// ext/snmp: sessions, and how the library writes values.
    Snmp,
    /// ext/readline: the line being edited, the history, the completion function.
    Readline,
}

impl Group {
    fn of(raw: sys::apus_serial_group) -> Self {
        match raw {
            sys::apus_serial_group_APUS_SERIAL_COLLATOR => Self::Collator,
            sys::apus_serial_group_APUS_SERIAL_SOAP => Self::Soap,
            sys::apus_serial_group_APUS_SERIAL_IMAP => Self::Imap,
            sys::apus_serial_group_APUS_SERIAL_SNMP => Self::Snmp,
            sys::apus_serial_group_APUS_SERIAL_READLINE => Self::Readline,
            _ => Self::Multisort,
        }
    }
}

/// Who lets one coroutine at a time into the functions of a group.
pub trait Serial {
    /// May wait; `false`: the function is not to run, and an exception may be pending.
    fn enter(group: Group) -> bool;
    /// The function that was entered last has returned.
    fn leave(group: Group);
}

/// To be called at module start.
pub fn prepare() {
    // SAFETY: module start.
    unsafe {
        sys::apus_wrap_startup();
        sys::apus_compiler_startup();
    }
}

/// When all modules are loaded.
pub fn install<S: Serial>() {
    unsafe extern "C" fn enter<S: Serial>(group: sys::apus_serial_group) -> bool {
        std::panic::catch_unwind(|| S::enter(Group::of(group))).unwrap_or(false)
    }
    unsafe extern "C" fn leave<S: Serial>(group: sys::apus_serial_group) {
        drop(std::panic::catch_unwind(|| S::leave(Group::of(group))));
    }
    let hooks = sys::apus_serial_hooks { enter: Some(enter::<S>), leave: Some(leave::<S>) };
    // SAFETY: the tables of functions and classes are complete, and no PHP code runs; the hooks are copied.
    unsafe {
        sys::apus_compiler_install();
        sys::apus_swap_install();
        sys::apus_own_install();
        sys::apus_serial_install(&raw const hooks);
    }
}

/// What PHP's sessions ask of the response of the running handler.
pub fn install_sessions(
    is_open: unsafe extern "C" fn(response: *mut sys::zend_object) -> bool,
    field: unsafe extern "C" fn(*mut sys::zend_object, *const c_char, usize, *const c_char, usize),
) {
    let hooks = sys::apus_session_hooks { is_open: Some(is_open), field: Some(field) };
    // SAFETY: the table of functions is complete, and no PHP code runs; the hooks are copied.
    unsafe { sys::apus_session_install(&raw const hooks) };
}

/// `$_GET`, `$_POST`, `$_COOKIE`, `$_FILES` and `$_SERVER` for a coroutine that is to be made, and what `$_REQUEST` is
/// then.
pub struct Superglobals(NonNull<sys::apus_own>);

impl Superglobals {
    /// Of these values.
    pub fn new(values: [Value; 5]) -> Result<Self, Raise> {
        // SAFETY: plain data, all undefined; the five values' references are passed on.
        let own = unsafe {
            let mut raw: [sys::zval; sys::APUS_SUPERGLOBALS as usize] = std::mem::zeroed();
            for (slot, value) in raw.iter_mut().zip(values) {
                value.move_into(slot);
            }
            sys::apus_own_superglobals(raw.as_mut_ptr())
        };
        NonNull::new(own).map(Self).ok_or(Raise::Bailed)
    }

    pub(crate) fn into_raw(self) -> *mut sys::apus_own {
        let own = self.0.as_ptr();
        std::mem::forget(self);
        own
    }
}

impl Drop for Superglobals {
    fn drop(&mut self) {
        // SAFETY: no coroutine has it.
        unsafe { sys::apus_own_free(self.0.as_ptr()) };
    }
}

/// A copy of the `$_SERVER` that the process itself has, without what would pass for a request's header field.
pub fn server_base() -> Result<Array, Raise> {
    // SAFETY: reads PHP's globals; the array is a new one.
    let array = unsafe { sys::apus_own_server_base() };
    // SAFETY: as above.
    NonNull::new(array).map(|array| unsafe { Array::from_raw(array) }).ok_or(Raise::Bailed)
}
