//! `Process::signal()`: handlers of signals for as long as the process lives.
//!
//! The C handler notes the signal, makes one eventfd readable and has the VM interrupted. While an event loop runs,
//! handlers run in coroutines: a task of the loop starts them when nothing else does. Without one they run between two
//! opcodes, as those of ext/pcntl, or in the functions of this room that block, which wait for the eventfd, too. A
//! forked child begins with no handlers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::rc::{Rc, Weak};

use apus_process::Counter;
use apus_zend::{Callable, Raise, Value, process};
use tokio::io::Interest;

use crate::descriptor::watch;
use crate::preempt;
use crate::runtime::State;
use crate::system::notifier::{Event, Notifier, bit};
use crate::system::sys::{Disposition, KeptErrno};

/// One past the greatest number of a signal.
const SIGNALS: c_int = 65;

/// Signals that came and whose handlers have not run.
static NOTIFIER: Notifier = Notifier::new();

/// What a signal does.
#[derive(Clone)]
pub(super) enum Action {
    /// A callable, which gets the number.
    Php(Rc<Callable>),
    /// A part of this module.
    Native(Rc<dyn Fn()>),
}

struct Entry {
    action: Action,
    before: Disposition,
}

thread_local! {
    static ENTRIES: RefCell<BTreeMap<c_int, Entry>> = const { RefCell::new(BTreeMap::new()) };
    /// Where others read which signals have handlers, each a bit.
    static TOLD: Cell<Option<&'static Counter>> = const { Cell::new(None) };
    /// Whose loop has the task that starts handlers.
    static SERVED: RefCell<Weak<State>> = const { RefCell::new(Weak::new()) };
}

/// At module start: the compiler of opcache builds the hook of that time into its code.
pub(crate) fn prepare() {
    process::on_signal(interrupted);
}

extern "C" fn on_signal(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    let _errno = KeptErrno::new();
    NOTIFIER.note(signal);
    NOTIFIER.notify();
    process::signal_due();
}

unsafe extern "C" fn interrupted() -> bool {
    let Ok(result) = std::panic::catch_unwind(|| preempt::give_way().and_then(|()| dispatch())) else {
        eprintln!("apus: an interrupt failed; please report this");
        return false;
    };
    result == Err(Raise::Bailed)
}

/// What becomes readable when a signal with a handler comes; `None` when no handler is set.
pub(super) fn event() -> Option<Event> {
    ENTRIES.with(|entries| (!entries.borrow().is_empty()).then(|| NOTIFIER.open())).and_then(Result::ok)
}

/// Makes the eventfd unreadable until the next signal. To be followed by [`dispatch`].
pub(super) fn silence() {
    if let Some(event) = event() {
        event.silence();
    }
}

/// Whether a signal has a handler.
pub(super) fn has(signal: c_int) -> bool {
    ENTRIES.with(|entries| entries.borrow().contains_key(&signal))
}

/// Signals that have handlers.
pub(crate) fn count() -> usize {
    ENTRIES.with(|entries| entries.borrow().len())
}

/// Whether any signal has a handler.
pub(crate) fn takes() -> bool {
    ENTRIES.with(|entries| !entries.borrow().is_empty())
}

/// From now on this says which signals have handlers, each a bit.
pub(crate) fn tell(counter: &'static Counter) {
    TOLD.set(Some(counter));
    told();
}

fn told() {
    if let Some(counter) = TOLD.get() {
        counter.set(ENTRIES.with(|entries| entries.borrow().keys().map(|signal| bit(*signal)).sum()));
    }
}

/// A signal came by another way than its C handler. Whether the program has a handler for it, which runs soon.
pub(crate) fn take(signal: c_int) -> bool {
    let taken = has(signal);
    if taken {
        NOTIFIER.note(signal);
        NOTIFIER.notify();
    }
    taken
}

/// Sets what a signal does, in the place of what it did.
pub(super) fn set(signal: c_int, action: Action) -> Result<(), c_int> {
    NOTIFIER.open()?;
    let before = install(signal)?;
    // What it replaces is dropped after the borrow: a destructor may call back.
    let old = ENTRIES.with(|entries| {
        let mut entries = entries.borrow_mut();
        if let Some(entry) = entries.get_mut(&signal) {
            return Some(std::mem::replace(&mut entry.action, action));
        }
        entries.insert(signal, Entry { action, before });
        None
    });
    told();
    drop(old);
    Ok(())
}

/// Takes a handler away; the signal does what it did before. `false`: it had none.
pub(super) fn unset(signal: c_int) -> bool {
    let Some(entry) = ENTRIES.with(|entries| entries.borrow_mut().remove(&signal)) else { return false };
    let _ = entry.before.set(signal);
    NOTIFIER.clear(bit(signal));
    told();
    true
}

fn install(signal: c_int) -> Result<Disposition, c_int> {
    let before = Disposition::of(signal)?;
    // An alarm is set to break off what blocks; others are not to make reads of libraries fail.
    let restart = if signal == libc::SIGALRM { 0 } else { libc::SA_RESTART };
    // SAFETY: the handler makes only async-signal-safe calls and touches atomics.
    unsafe { Disposition::handler(on_signal, restart) }.set(signal)?;
    Ok(before)
}

/// Runs the handlers of all signals that have come. An exception of one is pending then; the others come later.
pub(super) fn dispatch() -> Result<(), Raise> {
    loop {
        let came = NOTIFIER.came();
        if came == 0 {
            return Ok(());
        }
        let next = ENTRIES.with(|entries| {
            let entries = entries.borrow();
            entries.iter().find(|(signal, _)| came & bit(**signal) != 0).map(|(s, e)| (*s, e.action.clone()))
        });
        let Some((signal, action)) = next else {
            NOTIFIER.clear(came);
            continue;
        };
        NOTIFIER.clear(bit(signal));
        let done = run(signal, &action);
        if done.is_err() {
            if NOTIFIER.came() != 0 {
                process::signal_due();
            }
            return done;
        }
    }
}

fn run(signal: c_int, action: &Action) -> Result<(), Raise> {
    let callable = match action {
        Action::Native(action) => {
            action();
            return Ok(());
        }
        Action::Php(callable) => callable,
    };
    let args = vec![Value::int(i64::from(signal))];
    match State::existing().filter(|state| state.is_looping() || state.engine.current_id() != -1) {
        Some(state) => state.go(callable.share(), args, None).map(drop),
        None => callable.call(&args).map(drop),
    }
}

/// Has the event loop of this thread start handlers while nothing else runs.
pub(super) fn serve(state: &Rc<State>) -> Result<(), c_int> {
    let served = SERVED.with(|served| std::ptr::eq(served.borrow().as_ptr(), Rc::as_ptr(state)));
    if served {
        return Ok(());
    }
    let event = NOTIFIER.open()?;
    SERVED.with(|served| *served.borrow_mut() = Rc::downgrade(state));
    drop(state.spawn(async move {
        let Ok(event) = watch(event, Interest::READABLE) else { return };
        loop {
            // Every signal makes the eventfd readable anew, so it need not be emptied.
            let Ok(mut ready) = event.readable().await else { return };
            ready.clear_ready();
            drop(ready);
            if let (Err(raise), Some(state)) = (dispatch(), State::existing()) {
                state.report(raise);
            }
        }
    }));
    Ok(())
}

/// At the end of a request: signals do again what they did before.
pub(crate) fn end_request() {
    let signals: Vec<c_int> = ENTRIES.with(|entries| entries.borrow().keys().copied().collect());
    for signal in signals {
        unset(signal);
    }
}

/// In a forked child, which has none of its parent's handlers.
pub(super) fn forget() {
    let entries = ENTRIES.with(RefCell::take);
    for signal in entries.keys() {
        default(*signal);
    }
    // The callables' captured values are the parent's copies; nobody is to notice their end here.
    std::mem::forget(entries);
    TOLD.set(None);
    SERVED.with(|served| drop(std::mem::take(&mut *served.borrow_mut())));
    NOTIFIER.close_inherited();
    NOTIFIER.clear(u64::MAX);
}

/// After a process went on as its own child (daemon): its handlers stay, its eventfd is made anew.
pub(super) fn moved() {
    SERVED.with(|served| drop(std::mem::take(&mut *served.borrow_mut())));
    if event().is_none() {
        NOTIFIER.close_inherited();
    }
}

fn default(signal: c_int) {
    let _ = Disposition::default().set(signal);
}

/// Gives every signal whose handler lies in this module its default action: in a forked child, where the parent's
/// servers and waits have no meaning.
pub(super) fn reset_module() {
    let Some(ours) = module_of(on_signal as *const () as usize) else { return };
    for signal in 1..SIGNALS {
        // Numbers without a signal fail.
        if Disposition::of(signal).is_ok_and(|now| now.is_handled() && module_of(now.address()) == Some(ours)) {
            default(signal);
        }
    }
}

/// Where the shared object that holds an address begins.
fn module_of(address: usize) -> Option<usize> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: any address may be asked for; the out pointer is local.
    let found = unsafe { libc::dladdr(address as *const c_void, &raw mut info) } != 0;
    found.then_some(info.dli_fbase as usize)
}
