//! The time that coroutines may compute while others wait: settings `enable_preemptive_scheduler` and
//! `preemptive_slice`.
//!
//! A thread of its own looks which stay in PHP code runs. One that takes longer than the slice is interrupted where the
//! VM can be, and then [gives way](crate::preempt::give_way). While nothing runs, the thread sleeps until something
//! does.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use apus_process::log;
use apus_zend::process;

use crate::running::{self, Watcher};

/// Looks in the time of a slice.
const LOOKS: u32 = 5;
/// Looks without anything running after which the thread goes to sleep.
const IDLE_LOOKS: u32 = 20;
/// How long it sleeps at most: a stay that begins in the very moment of falling asleep does not wake it.
const SLEEP: Duration = Duration::from_secs(1);

static WANTED: AtomicBool = AtomicBool::new(false);
/// Milliseconds.
static SLICE: AtomicU32 = AtomicU32::new(10);
/// Whoever runs has had its time.
static DUE: AtomicBool = AtomicBool::new(false);
/// The process that has the thread, or 0: a forked child has none.
static WATCHED: AtomicU32 = AtomicU32::new(0);

/// Whether coroutines are interrupted from now on, and after how many milliseconds.
pub(crate) fn configure(on: bool, slice: u32) {
    SLICE.store(slice.max(1), Ordering::SeqCst);
    WANTED.store(on, Ordering::SeqCst);
    if !on {
        return;
    }
    let me = std::process::id();
    if WATCHED.swap(me, Ordering::SeqCst) == me {
        return;
    }
    let started = thread::Builder::new().name("apus turns".to_owned()).spawn(|| {
        apus_process::block_signals();
        look();
    });
    match started {
        Ok(handle) => Watcher::Turns.is(handle.thread().clone()),
        Err(error) => {
            WATCHED.store(0, Ordering::Relaxed);
            log::warning(format_args!("coroutines will not be interrupted: no thread for it ({error})"));
        }
    }
}

/// Whether coroutines are interrupted.
pub fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Whether the code that runs has had its time; asked once.
pub(crate) fn take_due() -> bool {
    DUE.swap(false, Ordering::Relaxed) && is_wanted()
}

/// Has the code that runs be asked again, where the VM can be interrupted next.
pub(crate) fn put_off() {
    DUE.store(true, Ordering::Relaxed);
    process::signal_due();
}

/// Runs until it is no longer wanted.
fn look() {
    loop {
        watch();
        WATCHED.store(0, Ordering::SeqCst);
        // Whoever wanted it again before that saw it alive, and started no other.
        if !WANTED.load(Ordering::SeqCst) || WATCHED.swap(std::process::id(), Ordering::SeqCst) != 0 {
            return;
        }
    }
}

fn watch() {
    let (mut seen, mut since, mut idle) = (0, Instant::now(), 0);
    while is_wanted() {
        let slice = Duration::from_millis(u64::from(SLICE.load(Ordering::Relaxed)));
        let running = running::slice();
        if running != seen {
            (seen, since, idle) = (running, Instant::now(), 0);
        } else if running == 0 {
            idle += 1;
        } else if since.elapsed() >= slice {
            since = Instant::now();
            put_off();
        }
        if idle < IDLE_LOOKS {
            thread::sleep(slice / LOOKS);
        } else {
            Watcher::Turns.sleep(SLEEP);
            // One look, if nothing has begun meanwhile.
            idle -= 1;
        }
    }
}
