//! State that C code keeps in globals of the process. See `shim/apus_state.h`.

use crate::sys;

/// Functions that share such a state, and so exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// `array_multisort()`.
    Multisort,
    /// `Collator::sort()` and the like.
    Collator,
}

impl Group {
    fn of(raw: sys::apus_serial_group) -> Self {
        match raw {
            sys::apus_serial_group_APUS_SERIAL_COLLATOR => Self::Collator,
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
        sys::apus_serial_install(&raw const hooks);
    }
}
