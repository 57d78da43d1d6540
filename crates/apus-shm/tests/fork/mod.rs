//! Processes of tests, and numbers that look random.

use std::time::{Duration, Instant};

/// A forked process that runs a function and ends. Killed when it is dropped.
pub(crate) struct Child {
    pid: i32,
}

impl Child {
    /// The function must not return into the test: a panic ends the process with 101.
    pub(crate) fn fork(run: impl FnOnce()) -> Self {
        // SAFETY: the child runs what the test gives it, which takes no lock of another thread of this process, and
        // leaves by _exit.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
        if pid == 0 {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            // SAFETY: ends this process without running anything of the parent's.
            unsafe { libc::_exit(if ended.is_ok() { 0 } else { 101 }) };
        }
        Self { pid }
    }

    /// Kills it now, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        if self.pid > 0 {
            let mut status = 0;
            // SAFETY: a child of this process that was not waited for, so its id is its own.
            unsafe {
                libc::kill(self.pid, libc::SIGKILL);
                libc::waitpid(self.pid, &raw mut status, 0);
            }
            self.pid = 0;
        }
    }

    /// Waits for it to end by itself, and well.
    pub(crate) fn finish(&mut self, within: Duration) {
        let until = Instant::now() + within;
        let mut status = 0;
        loop {
            // SAFETY: as in `kill`.
            let ended = unsafe { libc::waitpid(self.pid, &raw mut status, libc::WNOHANG) };
            if ended == self.pid {
                break;
            }
            assert!(Instant::now() < until, "a process hangs");
            std::thread::sleep(Duration::from_micros(200));
        }
        self.pid = 0;
        assert_eq!(status, 0, "a process of the test failed");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a test in a process of its own, which has one thread: for what belongs to a process, and its first thread.
#[allow(dead_code, reason = "each test file is a program of its own, and some do without")]
pub(crate) fn alone(test: impl FnOnce()) {
    Child::fork(test).finish(Duration::from_secs(60));
}

/// A stream of numbers that looks random and is the same each time.
pub(crate) fn numbers(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}
