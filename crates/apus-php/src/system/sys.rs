//! System calls that no library makes safe.

use std::ffi::{c_int, c_void};

use super::failure::errno;

/// kill(2).
pub(crate) fn kill(pid: libc::pid_t, signal: c_int) -> Result<(), c_int> {
    // SAFETY: takes integers.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(errno()) }
}

/// Gives this thread's errno back when dropped: a handler of a signal runs between any two instructions.
pub(crate) struct KeptErrno(*mut c_int, c_int);

impl KeptErrno {
    pub(crate) fn new() -> Self {
        // SAFETY: this thread's errno is there as long as the thread.
        let (at, errno) = unsafe { (libc::__errno_location(), *libc::__errno_location()) };
        Self(at, errno)
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        // SAFETY: as above; this is no type that could be sent to another thread.
        unsafe { *self.0 = self.1 };
    }
}

/// A handler of a signal.
pub(crate) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// What a process does when a signal comes.
#[derive(Clone, Copy)]
pub(crate) struct Disposition(libc::sigaction);

impl Disposition {
    /// The default action.
    pub(crate) fn default() -> Self {
        // SAFETY: all zeroes are a valid sigaction: the default action, no flags, an empty mask.
        Self(unsafe { std::mem::zeroed() })
    }

    /// Calls a handler.
    ///
    /// # Safety
    /// The handler does what is async-signal-safe, and nothing else.
    pub(crate) unsafe fn handler(handler: Handler, flags: c_int) -> Self {
        let mut action = Self::default();
        action.0.sa_sigaction = handler as *const () as usize;
        action.0.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
        action
    }

    /// What happens now.
    pub(crate) fn of(signal: c_int) -> Result<Self, c_int> {
        let mut now = Self::default();
        // SAFETY: the out pointer is local; numbers without a signal fail.
        if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now.0) } == 0 { Ok(now) } else { Err(errno()) }
    }

    /// Has this happen from now on. Async-signal-safe.
    pub(crate) fn set(&self, signal: c_int) -> Result<(), c_int> {
        // SAFETY: the default action, what stood before, or a handler that its maker has answered for.
        if unsafe { libc::sigaction(signal, &raw const self.0, std::ptr::null_mut()) } == 0 {
            Ok(())
        } else {
            Err(errno())
        }
    }

    /// The address of the handler, or `SIG_DFL` or `SIG_IGN`.
    pub(crate) fn address(&self) -> usize {
        self.0.sa_sigaction
    }

    /// Whether a handler is called.
    pub(crate) fn is_handled(&self) -> bool {
        ![libc::SIG_DFL, libc::SIG_IGN].contains(&self.0.sa_sigaction)
    }

    pub(crate) fn flags(&self) -> c_int {
        self.0.sa_flags
    }

    /// One that was taken apart by [`address`](Self::address) and [`flags`](Self::flags).
    ///
    /// # Safety
    /// Both are of the same disposition.
    pub(crate) unsafe fn of_parts(address: usize, flags: c_int) -> Self {
        let mut action = Self::default();
        (action.0.sa_sigaction, action.0.sa_flags) = (address, flags);
        action
    }

    /// Calls the handler, if there is one.
    pub(crate) fn call(&self, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        if !self.is_handled() {
            return;
        }
        if self.0.sa_flags & libc::SA_SIGINFO != 0 {
            // SAFETY: the flag says that this is a handler with three arguments.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(self.0.sa_sigaction) };
            handler(signal, info, context);
        } else {
            // SAFETY: without the flag it has one argument.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(self.0.sa_sigaction) };
            handler(signal);
        }
    }
}
