//! Turns of the event loop that coroutines of code written for Swoole do not take by themselves:
//! `enable_preemptive_scheduler`.
//!
//! A thread of its own looks which stay in PHP code runs. One that takes longer than [`SLICE`] is interrupted where the
//! VM can be, and the coroutine that stands there waits for a turn of the loop, as if it slept for no time.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use apus_coro::{TaskId, Wait};
use apus_process::log;
use apus_zend::{Raise, process};

use crate::running;
use crate::runtime::State;
use crate::wait::{may_wait, wait};

/// What a coroutine may run on while others wait.
const SLICE: Duration = Duration::from_millis(10);

/// How often the thread looks.
const PAUSE: Duration = Duration::from_millis(2);

static WANTED: AtomicBool = AtomicBool::new(false);
/// Whoever runs has had its time.
static DUE: AtomicBool = AtomicBool::new(false);
/// The process that has the thread, or 0: a forked child has none.
static WATCHED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Coroutines that are not to be interrupted.
    static EXCEPTED: RefCell<HashSet<TaskId>> = RefCell::default();
}

/// Whether coroutines are interrupted from now on.
pub fn set(on: bool) {
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
    if let Err(error) = started {
        WATCHED.store(0, Ordering::Relaxed);
        log::warning(format_args!("coroutines will not be interrupted: no thread for it ({error})"));
    }
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
    let (mut seen, mut since) = (0, Instant::now());
    while WANTED.load(Ordering::Relaxed) {
        let running = running::slice();
        if running != seen {
            (seen, since) = (running, Instant::now());
        } else if running != 0 && since.elapsed() >= SLICE {
            since = Instant::now();
            DUE.store(true, Ordering::Relaxed);
            process::signal_due();
        }
        thread::sleep(PAUSE);
    }
}

/// Excepts the running coroutine, or no longer. `false`: it was so, or there is none.
pub fn except(excepted: bool) -> bool {
    let Some(state) = State::existing() else { return false };
    let id = state.engine.current_id();
    if id == -1 {
        return false;
    }
    EXCEPTED.with_borrow_mut(|all| {
        if !excepted {
            return all.remove(&id);
        }
        // Those that ended so are not kept.
        all.retain(|&id| state.engine.find(id).is_some());
        all.insert(id)
    })
}

/// Has the running coroutine wait for a turn, if its time is over. To be called where the VM can be interrupted.
pub fn give_way() -> Result<(), Raise> {
    if !DUE.swap(false, Ordering::Relaxed) || !WANTED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let Some(state) = State::existing().filter(|state| may_wait(state)) else { return Ok(()) };
    if EXCEPTED.with_borrow(|all| all.contains(&state.engine.current_id())) {
        return Ok(());
    }
    wait(&state, Wait::Outside("its next turn"), tokio::task::yield_now()).map(drop)
}
