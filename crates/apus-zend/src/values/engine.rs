//! Zend at large: classes by handle, exceptions, messages, the state of the request.

use std::ptr::NonNull;

use crate::call::Raise;
use crate::object::Object;
use crate::sys;
use crate::value::{PhpString, Value, check, raised};

/// A class of PHP's, alive for the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassEntry(NonNull<sys::zend_class_entry>);

// SAFETY: PHP without thread safety runs on one thread; the handle is only carried through statics.
unsafe impl Send for ClassEntry {}
// SAFETY: as above.
unsafe impl Sync for ClassEntry {}

impl ClassEntry {
    pub(crate) fn from_raw(raw: *mut sys::zend_class_entry) -> Option<Self> {
        NonNull::new(raw).map(Self)
    }

    /// A class by its name, if it is loaded.
    pub fn find(name: &str) -> Option<Self> {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: the name ends in NUL; the class table exists while PHP runs.
        Self::from_raw(unsafe { sys::apus_class_find(name.as_ptr()) })
    }

    /// The raw class.
    pub fn as_ptr(self) -> *mut sys::zend_class_entry {
        self.0.as_ptr()
    }

    /// Whether `object` is an instance.
    pub fn contains(self, object: NonNull<sys::zend_object>) -> bool {
        // SAFETY: both are alive.
        unsafe { sys::apus_object_is(object.as_ptr(), self.as_ptr()) }
    }

    /// PHP's `Error`.
    pub fn error() -> Self {
        // SAFETY: set by PHP at its start, before any extension's.
        unsafe { Self(NonNull::new_unchecked(sys::zend_ce_error)) }
    }

    /// PHP's `TypeError`.
    pub fn type_error() -> Self {
        // SAFETY: as above.
        unsafe { Self(NonNull::new_unchecked(sys::zend_ce_type_error)) }
    }

    /// PHP's `ValueError`.
    pub fn value_error() -> Self {
        // SAFETY: as above.
        unsafe { Self(NonNull::new_unchecked(sys::zend_ce_value_error)) }
    }
}

/// Throws an exception of `class`.
pub fn throw(class: ClassEntry, code: i64, message: &str) -> Raise {
    // Zend formats the message as a C string, which a NUL of somebody's data would end.
    let shown = if message.contains('\0') { message.replace('\0', "\\0") } else { String::new() };
    let message = if shown.is_empty() { message } else { &shown };
    // SAFETY: a Throwable class; the message is copied.
    raised(unsafe { sys::apus_throw(class.as_ptr(), code, message.as_ptr().cast(), message.len()) })
}

/// Throws PHP's `Error`.
pub fn throw_error(message: &str) -> Raise {
    throw(ClassEntry::error(), 0, message)
}

/// Throws PHP's `ValueError`.
pub fn throw_value_error(message: &str) -> Raise {
    throw(ClassEntry::value_error(), 0, message)
}

/// Emits a PHP warning, of which an error handler may make anything.
pub fn warning(message: &str) -> Result<(), Raise> {
    error(sys::E_WARNING, message)
}

/// Tells of what a program should not do any more.
pub fn deprecated(message: &str) -> Result<(), Raise> {
    error(sys::E_DEPRECATED, message)
}

/// Emits a PHP warning that begins with the name of the running function.
pub fn warning_of_function(message: &str) -> Result<(), Raise> {
    // SAFETY: the message is copied.
    check(unsafe { sys::apus_docref(sys::E_WARNING as i32, message.as_ptr().cast(), message.len()) })
}

/// Emits a fatal error, which ends the script or worker whatever it catches.
pub fn fatal(message: &str) -> Raise {
    error(sys::E_ERROR, message).err().unwrap_or(Raise::Bailed)
}

/// The same, beginning with the name of the running function.
pub fn fatal_of_function(message: &str) -> Raise {
    // SAFETY: the message is copied.
    let told = check(unsafe { sys::apus_docref(sys::E_ERROR as i32, message.as_ptr().cast(), message.len()) });
    told.err().unwrap_or(Raise::Bailed)
}

/// The same as if the program itself had emitted it.
pub fn user_warning(message: &str) -> Result<(), Raise> {
    error(sys::E_USER_WARNING, message)
}

fn error(kind: u32, message: &str) -> Result<(), Raise> {
    // SAFETY: the message is copied.
    check(unsafe { sys::apus_error(kind as i32, message.as_ptr().cast(), message.len()) })
}

/// An exception that was thrown, caught by Rust.
pub struct Thrown {
    object: Object,
    kind: ThrownKind,
}

/// What a thrown object means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThrownKind {
    /// A real exception.
    Exception,
    /// `exit()`: not an exception, never to be seen by `catch`.
    Exit,
    /// A fatal error, reported already: some versions of PHP unwind after the memory limit as after `exit()`.
    Fatal,
    /// The quiet unwinding with which Apus ends a coroutine for good.
    Graceful,
}

impl Thrown {
    /// Takes the pending exception, if there is one.
    pub fn take() -> Option<Self> {
        // SAFETY: the shim hands over a reference.
        NonNull::new(unsafe { sys::apus_take_exception() }).map(Self::own)
    }

    pub(crate) fn own(raw: NonNull<sys::zend_object>) -> Self {
        // SAFETY: shares the live object, then gives back the reference that was handed over.
        unsafe {
            let object = Object::share_raw(raw);
            sys::apus_object_release(raw.as_ptr());
            Self { kind: Self::kind_of(raw), object }
        }
    }

    /// Looked at when it is caught: later it could not be told which of two unwindings was that of the fatal error.
    fn kind_of(raw: NonNull<sys::zend_object>) -> ThrownKind {
        // SAFETY: the object is alive; the rest reads, or resets, a state.
        unsafe {
            if sys::zend_is_unwind_exit(raw.as_ptr()) {
                if sys::apus_take_memory_exit() { ThrownKind::Fatal } else { ThrownKind::Exit }
            } else if sys::zend_is_graceful_exit(raw.as_ptr()) {
                ThrownKind::Graceful
            } else {
                ThrownKind::Exception
            }
        }
    }

    /// What it is.
    pub fn kind(&self) -> ThrownKind {
        self.kind
    }

    /// Whether it is an instance of `class`.
    pub fn is(&self, class: ClassEntry) -> bool {
        self.kind() == ThrownKind::Exception && class.contains(self.object.as_raw())
    }

    /// Its class, message and trace, as PHP prints them.
    pub fn text(&self) -> String {
        // SAFETY: alive; NULL tells a bailout, which the text then names.
        match NonNull::new(unsafe { sys::apus_exception_text(self.object.as_raw().as_ptr()) }) {
            // SAFETY: the shim hands over a reference.
            Some(raw) => unsafe { PhpString::from_raw(raw) }.to_text(),
            None => "(no text: a fatal error while describing the exception)".to_owned(),
        }
    }

    /// Its code.
    pub fn code(&self) -> i64 {
        if self.kind() != ThrownKind::Exception {
            return 0;
        }
        // SAFETY: alive; every exception declares the property.
        unsafe { sys::apus_exception_code(self.object.as_raw().as_ptr()) }
    }

    /// Its message alone; none of what unwinds as `exit()` does, whose object has no properties.
    pub fn message(&self) -> String {
        if self.kind() != ThrownKind::Exception {
            return String::new();
        }
        // SAFETY: alive; every exception declares the property, of which the shim hands over a reference.
        match NonNull::new(unsafe { sys::apus_exception_message(self.object.as_raw().as_ptr()) }) {
            // SAFETY: the reference that was handed over.
            Some(raw) => unsafe { PhpString::from_raw(raw) }.to_text(),
            None => String::new(),
        }
    }

    /// Throws it again.
    pub fn rethrow(self) -> Raise {
        throw_object(&self.object)
    }

    /// Gives it to the handler that `set_exception_handler()` set; gives it back when there is none.
    pub fn give_to_handler(self) -> Result<Result<(), Raise>, Self> {
        // SAFETY: reads a value.
        if !unsafe { sys::apus_has_exception_handler() } {
            return Err(self);
        }
        if self.rethrow() == Raise::Bailed {
            return Ok(Err(Raise::Bailed));
        }
        // SAFETY: guarded by the shim.
        Ok(check(unsafe { sys::apus_call_exception_handler() }))
    }

    /// Where it is, which is no other's while it lives.
    pub fn address(&self) -> usize {
        self.object.as_raw().as_ptr() as usize
    }

    /// The object.
    pub fn value(&self) -> Value {
        self.object.share().into()
    }

    /// The object itself.
    pub fn object(&self) -> &Object {
        &self.object
    }
}

/// Throws an object, which must be an exception.
pub fn throw_object(exception: &Object) -> Raise {
    let raw = exception.as_raw();
    // SAFETY: one reference goes to Zend; the caller keeps its own.
    raised(unsafe {
        sys::apus_object_addref(raw.as_ptr());
        sys::apus_rethrow(raw.as_ptr())
    })
}

/// Throws the quiet pseudo-exception that `finally` sees and `catch` does not.
pub fn throw_graceful_exit() -> Raise {
    // SAFETY: makes a pseudo-exception, which is pending then.
    raised(unsafe { sys::apus_throw_graceful_exit() })
}

/// Does what `exit()` does: ends the script from here.
pub fn throw_exit(status: i32) -> Raise {
    // SAFETY: sets a value and a pseudo-exception.
    raised(unsafe {
        sys::apus_set_exit_status(status);
        sys::apus_throw_unwind_exit()
    })
}

/// Sets what the process is to end with.
pub fn set_exit_status(status: i32) {
    // SAFETY: writes a global of Zend's.
    unsafe { sys::apus_set_exit_status(status) };
}

/// The exit status that `exit()` or a fatal error left.
pub fn exit_status() -> i32 {
    // SAFETY: reads a value.
    unsafe { sys::apus_exit_status() }
}

/// Whether a destructor that ran when something was given back met a fatal error, on the stack that runs. Asked once.
#[inline]
pub fn take_bailed() -> bool {
    // SAFETY: reads and resets a flag of the thread that runs PHP code.
    unsafe { sys::apus_bailed_in_release && sys::apus_take_bailed() }
}

/// Whether there is something for [`take_bailed`] or [`Thrown::take`].
pub fn is_stray() -> bool {
    // SAFETY: reads flags.
    unsafe { sys::apus_is_stray() }
}

/// Whether a fatal error has been reported in this request, by whatever code.
pub fn after_fatal() -> bool {
    // SAFETY: reads a flag.
    unsafe { sys::apus_after_fatal() }
}

/// Whether PHP's last message told of a fatal error, or of an exception that nobody caught.
pub fn told_fatal() -> bool {
    // SAFETY: reads two fields.
    unsafe { sys::apus_told_fatal() }
}

/// Bytes that PHP's allocator has given out (`real`: taken from the system).
pub fn memory_usage(real: bool) -> usize {
    // SAFETY: reads counters.
    unsafe { sys::apus_memory_usage(real) }
}

/// Whether the running PHP code may be suspended: not in a tick function nor at shutdown.
pub fn can_switch() -> bool {
    // SAFETY: reads a counter.
    unsafe { sys::apus_can_switch() }
}

/// Whether PHP ends the request: it has begun with calling shutdown functions.
pub fn is_shutting_down() -> bool {
    // SAFETY: reads a flag.
    unsafe { sys::apus_is_shutting_down() }
}

/// Whether the shutdown functions have been called: what runs now are the last destructors.
pub fn is_past_shutdown_functions() -> bool {
    // SAFETY: reads flags.
    unsafe { sys::apus_is_past_shutdown_functions() }
}

/// Enters other code from code that may not be suspended itself: a tick function. `None` at shutdown
/// and in the compiler, from where none may be entered.
pub fn entering_from_blocked<T>(enter: impl FnOnce() -> T) -> Option<T> {
    /// Blocks again, however the code entered ended.
    struct Again(u32);
    impl Drop for Again {
        fn drop(&mut self) {
            // SAFETY: what `apus_switch_open` has unblocked.
            unsafe { sys::apus_switch_close(self.0) };
        }
    }
    // SAFETY: counters alone.
    let again = Again(unsafe { sys::apus_switch_open() });
    can_switch().then(|| {
        let entered = enter();
        drop(again);
        entered
    })
}

/// Whether the function that runs is one of C code: where the VM is interrupted, one that has just returned.
pub fn returns() -> bool {
    // SAFETY: reads the current frame.
    unsafe { sys::apus_returns() }
}

/// Whether the VM alone has called the code that runs, from its coroutine's own function on, so that no C code waits
/// for it.
pub fn vm_alone() -> bool {
    // SAFETY: follows the frames of the code that runs, which all live.
    unsafe { sys::apus_vm_alone() }
}

/// Makes `is_uploaded_file()` and `move_uploaded_file()` know a path.
pub fn add_uploaded_file(path: &[u8]) -> Result<(), Raise> {
    // SAFETY: the bytes are copied.
    check(unsafe { sys::apus_uploaded_file_add(path.as_ptr().cast(), path.len()) })
}

/// Takes back [`add_uploaded_file`].
pub fn remove_uploaded_file(path: &[u8]) {
    // SAFETY: the bytes are only compared.
    unsafe { sys::apus_uploaded_file_remove(path.as_ptr().cast(), path.len()) };
}

/// The value of an ini directive.
pub fn ini(name: &str) -> Option<String> {
    // SAFETY: the name is only compared; the shim hands over a reference.
    let value = NonNull::new(unsafe { sys::apus_ini(name.as_ptr().cast(), name.len()) })?;
    // SAFETY: as above.
    Some(unsafe { PhpString::from_raw(value) }.to_text())
}

/// The text of a constant, if there is one of this name and it is a text.
pub fn constant(name: &str) -> Option<String> {
    // SAFETY: the name is only compared; the shim hands over a reference.
    let value = NonNull::new(unsafe { sys::apus_constant_text(name.as_ptr().cast(), name.len()) })?;
    // SAFETY: as above.
    Some(unsafe { PhpString::from_raw(value) }.to_text())
}

/// Whether an ini directive is on.
pub fn ini_switch(name: &str) -> bool {
    let on = |value: String| {
        ["on", "yes", "true"].iter().any(|word| value.eq_ignore_ascii_case(word))
            || value.trim().parse::<i64>().is_ok_and(|number| number != 0)
    };
    ini(name).is_some_and(on)
}

/// The path of the script that PHP was started with.
pub fn main_script() -> Option<Vec<u8>> {
    // SAFETY: PHP keeps the path for the whole request.
    let path = unsafe { sys::apus_main_script() };
    // SAFETY: a C string, alive as above.
    (!path.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(path) }.to_bytes().to_vec())
}
