//! The process that runs scripts: one request of PHP after the other.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use apus_process::{Worker, log};
use apus_shm::handover::{Begin, Handover, ScriptSeat, Wait};
use apus_zend::sapi;

use super::form;

/// The exit code of a process that could not begin.
const FAILED: i32 = 255;
/// How often a process without requests looks whether its master still lives, and whether its log is read again.
const LOOK: Duration = Duration::from_secs(5);

/// What the request that runs reads and writes by.
struct Running {
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
    write: |text| with(false, |running| running.seat.body(text)),
    flush: || with(false, |running| running.seat.flush()),
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

/// The variables of the request that runs.
pub(super) fn variables() -> Vec<(Vec<u8>, Vec<u8>)> {
    BEGIN.with(|begin| form::variables(&begin.borrow().request))
}

/// Lets the client have the answer, which is complete, while the script goes on.
pub(super) fn finish() {
    with((), |running| running.seat.finish());
}

/// Runs requests until it is told to leave. The process was just forked, and ends here.
pub(crate) fn run(handover: &'static Handover, worker: &Worker) -> ! {
    let code = serve(handover, worker);
    log::settle_for_good();
    // SAFETY: _exit takes any code. Nothing may unwind: what the frames below belong to is the parent's.
    unsafe { libc::_exit(code) }
}

fn serve(handover: &'static Handover, worker: &Worker) -> i32 {
    let Some(seat) = ScriptSeat::join(handover, worker.slot_index(), std::process::id()) else {
        log::error(format_args!("script process {}: there is no channel for it", worker.id));
        return FAILED;
    };
    // SAFETY: a fork of the master, whose one thread is outside coroutines; the process ends by _exit() in `run`, whose
    // caller is never gone back to.
    unsafe { sapi::take_over(HOOKS) };
    seat.ready();
    RUNNING.with(|running| running.replace(Some(Running { seat, head: Vec::with_capacity(1024) })));
    worker.ready();
    loop {
        match with(Wait::Leave, |running| running.seat.wait(Some(Instant::now() + LOOK))) {
            Wait::Leave => return 0,
            Wait::Nothing => {
                log::settle();
                if rustix::process::getppid()
                    .is_none_or(|parent| parent.as_raw_nonzero().get() as u32 != worker.master_pid)
                {
                    return 0;
                }
            }
            Wait::Request => {
                let begun = BEGIN.with(|begin| with(false, |running| running.seat.begin(&mut begin.borrow_mut())));
                if begun {
                    BEGIN.with(|begin| handle(worker, &begin.borrow()));
                }
            }
        }
    }
}

fn handle(worker: &Worker, begin: &Begin) {
    let began = Instant::now();
    worker.slot.active.set(1);
    let status = form::with(&begin.request, begin.body, sapi::run).unwrap_or(500);
    with((), |running| running.seat.end());
    worker.slot.active.set(0);
    worker.count_request(began.elapsed().as_micros() as u64, status);
}
