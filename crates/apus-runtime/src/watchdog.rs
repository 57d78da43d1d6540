//! Notices PHP code that keeps its event loop from everything else, and says where that code stands.
//!
//! The event loop only stores a number when it hands the thread to PHP code, and 0 when it has it back. A thread of its
//! own looks at that number now and then: the same one for longer than the limit means that the loop is blocked. It
//! then interrupts the PHP code, which logs its own stack. While nothing runs, the thread sleeps until something does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use apus_process::log;
use apus_zend::{fiber, watch};

use crate::blocked;
use crate::running::{self, REPORTED, Watcher};
use crate::runtime::State;

/// Milliseconds that the reported slice had taken when it was reported.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// What PHP's thread was in when that was noticed: a function, and perhaps a system call.
static WHERE: Mutex<String> = Mutex::new(String::new());
/// Slices that were reported.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// A report has a stack: what blocks in every request would fill the disk.
static REPORTS: log::Repeats =
    log::Repeats::new(log::Level::Warning, "reports of coroutines that kept their worker busy");

/// Looks without anything running after which the thread goes to sleep.
const IDLE_LOOKS: u32 = 20;

/// How many slices were reported in this process.
pub fn blocked() -> u64 {
    BLOCKED.load(Ordering::Relaxed)
}

/// At module start.
pub fn prepare() {
    watch::on_interrupt(report);
}

/// Watches this process, if `limit` is not 0.
pub fn start(limit: Duration) {
    if limit.is_zero() {
        return;
    }
    // SAFETY: has no preconditions.
    let watched = unsafe { libc::gettid() };
    let started = thread::Builder::new().name("apus watchdog".to_owned()).spawn(move || {
        apus_process::block_signals();
        look(limit, watched);
    });
    match started {
        Ok(handle) => Watcher::Watchdog.is(handle.thread().clone()),
        Err(error) => {
            log::warning(format_args!("blocked event loops will not be reported: no thread for it ({error})"));
        }
    }
}

fn look(limit: Duration, thread: i32) {
    let pause = (limit / 2).max(Duration::from_millis(1));
    let (mut seen, mut since, mut idle) = (0, Instant::now(), 0);
    loop {
        let running = running::slice();
        if running != seen {
            (seen, since, idle) = (running, Instant::now(), 0);
        } else if running == 0 {
            idle += 1;
        } else if since.elapsed() >= limit && REPORTED.swap(running, Ordering::Relaxed) != running {
            TAKEN.store(since.elapsed().as_millis() as u64, Ordering::Relaxed);
            *WHERE.lock().unwrap_or_else(PoisonError::into_inner) = blocked::place(thread);
            BLOCKED.fetch_add(1, Ordering::Relaxed);
            watch::interrupt();
        }
        if idle < IDLE_LOOKS {
            thread::sleep(pause);
            continue;
        }
        Watcher::Watchdog.sleep(Duration::from_secs(10));
        // One look, if nothing has begun meanwhile.
        idle -= 1;
    }
}

/// Runs on PHP's thread, at a place where its stack can be read.
unsafe extern "C" fn report() {
    let reported = std::panic::catch_unwind(|| {
        let cid = State::existing().map_or(-1, |state| state.engine.current_id());
        let milliseconds = TAKEN.load(Ordering::Relaxed);
        REPORTS.tell(format_args!(
            "coroutine {cid} has kept its worker busy for {milliseconds} ms without waiting (setting blocked_loop_warn){}, \
             it stands at {}\n{}",
            WHERE.lock().unwrap_or_else(PoisonError::into_inner),
            fiber::position(),
            fiber::trace_text(None)
        ));
    });
    if reported.is_err() {
        log::warning(format_args!("a blocked event loop could not be described"));
    }
}
