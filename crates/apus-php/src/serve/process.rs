//! The process that runs scripts: one request of PHP after the other.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use apus_options::Settings;
use apus_process::{Worker, log};
use apus_shm::handover::{Begin, Handover, ScriptSeat, Wait};
use apus_zend::library::Source;
use apus_zend::{Raise, sapi};

use super::{form, stay};

static ERROR_PAGE: Source = Source::new(c"the page of an error", include_str!("error_page.php"), c"");
/// The exit code of a process that could not begin.
pub(super) const FAILED: i32 = 255;
/// How often a process without requests looks whether its master still lives, and whether its log is read again.
const LOOK: Duration = Duration::from_secs(5);

/// What the request that runs reads and writes by.
struct Running {
    worker: Rc<Worker>,
    seat: ScriptSeat,
    head: Vec<u8>,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    /// The request that runs, which stays as it is meanwhile.
    static BEGIN: RefCell<Begin> = RefCell::default();
}

fn with<T>(otherwise: T, use_it: impl FnOnce(&mut Running) -> T) -> T {
    RUNNING.with(|running| running.borrow_mut().as_mut().map_or(otherwise, use_it))
}

const HOOKS: sapi::Hooks = sapi::Hooks {
    // A child of the process has nobody to leave it.
    write: |text| with(true, |running| running.seat.body(text)),
    flush: || with(true, |running| running.seat.flush()),
    status: |status, line| with((), |running| form::begin_head(&mut running.head, status, line)),
    line: |line| with((), |running| form::add_line(&mut running.head, line)),
    headed: || with((), send_head),
    read: |into| with(0, |running| running.seat.read(into)),
};

fn send_head(running: &mut Running) {
    if !running.seat.head(&running.head) && !running.seat.is_gone() {
        log::error(format_args!("an answer's header lines take {} bytes: it is answered 500", running.head.len()));
        form::begin_head(&mut running.head, 500, b"");
        running.seat.head(&running.head);
    }
}

/// A script may fork (ext/pcntl). Its child has no request: what it prints goes nowhere, and it ends with its script.
unsafe extern "C" fn leave_to_parent() {
    RUNNING.with(|running| {
        if let Ok(mut running) = running.try_borrow_mut() {
            // The seat is the parent's: nothing of it may be given back.
            std::mem::forget(running.take());
        }
    });
}

/// The variables of the request that runs.
pub(super) fn variables() -> Vec<(Vec<u8>, Vec<u8>)> {
    BEGIN.with(|begin| form::variables(&begin.borrow().request))
}

/// Lets the client have the answer, which is complete, while the script goes on.
pub(super) fn finish() {
    with((), |running| running.seat.finish());
}

/// Runs requests until it is told to leave; by the script that stays, if there is one. The process was just forked, and
/// ends here.
pub(crate) fn run(handover: &'static Handover, worker: Rc<Worker>, settings: &Settings) -> ! {
    let code = serve_all(handover, worker, settings);
    log::settle_for_good();
    #[cfg(profile_counters)]
    // SAFETY: the runtime of rustc's -Cprofile-generate; it writes what was counted, which _exit() would lose.
    unsafe {
        unsafe extern "C" {
            fn __llvm_profile_write_file() -> libc::c_int;
        }
        __llvm_profile_write_file();
    }
    // SAFETY: _exit takes any code. Nothing may unwind: what the frames below belong to is the parent's.
    unsafe { libc::_exit(code) }
}

fn serve_all(handover: &'static Handover, worker: Rc<Worker>, settings: &Settings) -> i32 {
    let Some(seat) = ScriptSeat::join(handover, worker.slot_index(), std::process::id()) else {
        log::error(format_args!("script process {}: there is no channel for it", worker.id));
        return FAILED;
    };
    // SAFETY: a fork of the master, whose one thread is outside coroutines; the process ends by _exit() in `run`, whose
    // caller is never gone back to.
    unsafe { sapi::take_over(HOOKS) };
    RUNNING.with(|running| {
        running.replace(Some(Running { worker: Rc::clone(&worker), seat, head: Vec::with_capacity(1024) }))
    });
    // SAFETY: the handler touches nothing but this thread's own value, and allocates nothing. Without it a child would
    // answer beside its parent: a failure, which is one of memory, is reason not to begin.
    if unsafe { libc::pthread_atfork(None, None, Some(leave_to_parent)) } != 0 {
        return FAILED;
    }
    if settings.script_error_page {
        sapi::show_errors(&ERROR_PAGE);
    }
    if !settings.script_worker.is_empty() {
        return stay::run(&worker, settings);
    }
    ready();
    while wait_for_request() {
        // What runs whole has no result but its status.
        let _ = serve(|request| (sapi::run(request), Ok(())));
        ended();
    }
    // Of a child of a script its own.
    if with(false, |_| true) { 0 } else { apus_zend::engine::exit_status() }
}

/// Takes requests from now on.
pub(super) fn ready() {
    with((), |running| {
        running.seat.ready();
        running.worker.ready();
    });
}

/// Waits for a request; false when there are no more, and the process is to end.
pub(super) fn wait_for_request() -> bool {
    loop {
        match with(Wait::Leave, |running| running.seat.wait(Some(Instant::now() + LOOK))) {
            Wait::Leave => return false,
            Wait::Nothing => {
                log::settle();
                let master = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get() as u32);
                if with(true, |running| master != Some(running.worker.master_pid)) {
                    return false;
                }
            }
            Wait::Request => {
                if BEGIN.with(|begin| with(false, |running| running.seat.begin(&mut begin.borrow_mut()))) {
                    return true;
                }
            }
        }
    }
}

/// Has `run` answer the request that was waited for; it gives the status of the answer.
pub(super) fn serve(run: impl FnOnce(&sapi::Request<'_>) -> (u16, Result<(), Raise>)) -> Result<(), Raise> {
    let began = Instant::now();
    with((), |running| running.worker.slot.active.set(1));
    let served = BEGIN.with(|begin| {
        let begin = begin.borrow();
        form::with(&begin.request, begin.body, run)
    });
    let (status, result) = served.unwrap_or((500, Ok(())));
    with((), |running| {
        running.worker.slot.active.set(0);
        running.worker.count_request(began.elapsed().as_micros() as u64, status);
    });
    result
}

/// The process can be given the next request.
pub(super) fn ended() {
    with((), |running| running.seat.end());
}
