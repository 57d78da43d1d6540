//! Waiting for what other processes do in shared memory: in a coroutine, which alone waits then, and outside, where the
//! process does.
//!
//! Each structure of `apus-shm` has a notifier: a descriptor that is watched edge-triggered and never read (see the
//! head of its `notifier.rs`). Whoever waits looks, registers its interest, and waits for the notifier; a notification
//! makes all who wait look again.

use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use apus_coro::Wait;
use apus_shm::{ForkEpoch, Heard, Lock, LockStep, Mode, TakeError, Taken, Watch};
use apus_zend::{Callable, Raise, Value, engine};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;

use crate::descriptor;
use crate::runtime::State;
use crate::wait::{Deadline, Waited, wait, wait_until};

/// Operations in a row that found at once what they wanted, before the coroutine lets the event loop turn to other
/// things.
const AT_ONCE: u32 = 64;

thread_local! {
    static SERVED: Cell<u32> = const { Cell::new(0) };
}

/// A notifier as coroutines wait for it.
struct Listener {
    process: ForkEpoch,
    /// The event loop that it is registered with: one of another request, or of the parent, is none.
    state: *const State,
    fd: ManuallyDrop<AsyncFd<OwnedFd>>,
    /// Held by the one coroutine that looks and waits; the others stand in line for it. So a notification wakes one
    /// coroutine of a process and not all, and they are served in the order of their coming.
    turn: Mutex<()>,
}

impl Listener {
    /// Ready when it was notified since the last time.
    async fn notified(&self) -> io::Result<()> {
        self.fd.readable().await?.clear_ready();
        Ok(())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // In a forked child it is the parent's: taking it out of the epoll instance, which both have, would end the
        // parent's waits.
        if self.process.is_now() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
    }
}

/// How one object waits for one notifier; made when first needed, and anew in a forked child.
#[derive(Default)]
pub(crate) struct Subscription {
    listener: RefCell<Option<Rc<Listener>>>,
    watch: RefCell<Option<(ForkEpoch, Rc<Watch>)>>,
}

impl Subscription {
    /// The listener of this process and event loop. To be called on that.
    fn listener(&self, fd: BorrowedFd<'_>) -> io::Result<Rc<Listener>> {
        let (process, state) =
            (ForkEpoch::now(), State::existing().map_or(std::ptr::null(), |state| Rc::as_ptr(&state)));
        let mut slot = self.listener.borrow_mut();
        if let Some(listener) = slot.as_ref().filter(|known| known.process == process && known.state == state) {
            return Ok(Rc::clone(listener));
        }
        let fd = descriptor::watch(fd.try_clone_to_owned()?, Interest::READABLE)?;
        let listener = Rc::new(Listener { process, state, fd: ManuallyDrop::new(fd), turn: Mutex::default() });
        *slot = Some(Rc::clone(&listener));
        Ok(listener)
    }

    fn watch(&self, fd: BorrowedFd<'_>) -> io::Result<Rc<Watch>> {
        let process = ForkEpoch::now();
        let mut slot = self.watch.borrow_mut();
        if let Some((_, watch)) = slot.as_ref().filter(|(owner, _)| *owner == process) {
            return Ok(Rc::clone(watch));
        }
        let watch = Rc::new(Watch::new(fd)?);
        *slot = Some((process, Rc::clone(&watch)));
        Ok(watch)
    }
}

/// The coroutine that runs, if any: who waits there must not block the process.
pub(crate) fn coroutine() -> Option<Rc<State>> {
    State::existing().filter(|state| state.engine.current_id() != -1)
}

/// Lets the event loop turn to other things now and then, although nothing has to be waited for. `false`: cancelled
/// meanwhile.
pub(crate) fn give_way(what: &'static str) -> Result<bool, Raise> {
    let served = SERVED.get() + 1;
    SERVED.set(served % AT_ONCE);
    if served < AT_ONCE || !engine::can_switch() {
        return Ok(true);
    }
    match coroutine() {
        Some(state) => Ok(wait(&state, Wait::Outside(what), tokio::task::yield_now())?.is_some()),
        None => Ok(true),
    }
}

/// Waits until `look` finds something. It is called at first, and after each notification; it registers its interest
/// when it finds nothing.
pub(crate) fn wait_for<T>(
    subscription: &Subscription,
    fd: BorrowedFd<'_>,
    what: &'static str,
    until: Deadline,
    mut look: impl FnMut() -> Option<T>,
) -> Result<Waited<T>, Raise> {
    if let Some(state) = coroutine() {
        let found = async {
            let listener = subscription.listener(fd)?;
            let _turn = listener.turn.lock().await;
            loop {
                if let Some(found) = look() {
                    return Ok(found);
                }
                listener.notified().await?;
            }
        };
        return in_time(&state, what, until, found);
    }
    loop {
        if let Some(found) = look() {
            return Ok(Waited::Got(found));
        }
        if !block(subscription, fd, None, until)? {
            return Ok(Waited::TimedOut);
        }
    }
}

fn in_time<T>(
    state: &State,
    what: &'static str,
    until: Deadline,
    found: impl Future<Output = io::Result<T>>,
) -> Result<Waited<T>, Raise> {
    Ok(match wait_until(state, Wait::Outside(what), until, found)? {
        Waited::Got(found) => Waited::Got(found.map_err(|error| no_descriptor(&error))?),
        Waited::TimedOut => Waited::TimedOut,
        Waited::Cancelled => Waited::Cancelled,
    })
}

/// Blocks the process until there is something to look at; `false`: the time was over.
fn block(
    subscription: &Subscription,
    fd: BorrowedFd<'_>,
    other: Option<BorrowedFd<'_>>,
    until: Deadline,
) -> Result<bool, Raise> {
    let watch = subscription.watch(fd).map_err(|error| no_descriptor(&error))?;
    match watch.wait(other, until.instant()).map_err(|error| no_descriptor(&error))? {
        Heard::Something => Ok(true),
        Heard::Nothing => Ok(false),
        Heard::Signal => handle_signals().map(|()| true),
    }
}

/// A signal broke a wait off outside the event loop: PHP's handlers of it run, if they are due.
pub(crate) fn handle_signals() -> Result<(), Raise> {
    // They run where the VM looks for interruptions, one of which is after any function of an extension that was called
    // from native code. Where that one is forbidden they run when this call is over.
    let mut name = Value::string(b"getmypid")?;
    Callable::new(&mut name).map_or(Ok(()), |any| any.call(&[]).map(drop))
}

fn no_descriptor(error: &io::Error) -> Raise {
    engine::throw_error(&format!("the system gives no descriptor to wait with: {error} (see ulimit -n)"))
}

/// Why a lock was not waited for to the end.
#[derive(Debug)]
enum LockError {
    /// More processes use locks than can.
    TooMany,
    /// The system gives no descriptor to wait with.
    NoDescriptor(io::Error),
}

impl From<LockError> for Raise {
    fn from(why: LockError) -> Self {
        match why {
            LockError::TooMany => too_many(),
            LockError::NoDescriptor(error) => no_descriptor(&error),
        }
    }
}

fn too_many() -> Raise {
    engine::throw_error("more than 8,192 processes of this program use locks at once")
}

/// A lock between processes, as an object has it.
pub(crate) struct ProcessLock {
    shared: Lock,
    subscription: Subscription,
}

impl Deref for ProcessLock {
    type Target = Lock;

    fn deref(&self) -> &Lock {
        &self.shared
    }
}

impl ProcessLock {
    /// A new one.
    pub(crate) fn new() -> Result<Self, Raise> {
        let shared = Lock::new()
            .map_err(|error| engine::throw_error(&format!("no memory could be shared for the lock: {error}")))?;
        Ok(Self { shared, subscription: Subscription::default() })
    }

    /// Takes it if it is free: `None` when it is not.
    pub(crate) fn take(&self, mode: Mode) -> Result<Option<Taken>, Raise> {
        match self.try_take(mode) {
            Ok(taken) => Ok(Some(taken)),
            Err(TakeError::Busy(_)) => Ok(None),
            Err(TakeError::TooMany) => Err(too_many()),
        }
    }

    /// Waits until it was taken: in a coroutine, or outside, where the process waits.
    pub(crate) fn wait(&self, what: &'static str, mode: Mode, until: Deadline) -> Result<Waited<Taken>, Raise> {
        if let Some(state) = coroutine() {
            return Ok(match in_time(&state, what, until, async { Ok(self.taken(mode).await) })? {
                Waited::Got(taken) => Waited::Got(taken?),
                Waited::TimedOut => Waited::TimedOut,
                Waited::Cancelled => Waited::Cancelled,
            });
        }
        let waiting = self.waiting(mode);
        loop {
            let (death, again) = match waiting.step() {
                LockStep::Taken(taken) => return Ok(Waited::Got(taken)),
                LockStep::TooMany => return Err(too_many()),
                LockStep::Listen(death, again, _) => (death, again),
            };
            let next = until.or_sooner(Deadline::after(again));
            if !block(&self.subscription, self.fd(), death.as_deref().map(AsFd::as_fd), next)? && until.is_over() {
                return Ok(Waited::TimedOut);
            }
        }
    }

    /// Ready when it was taken. On the event loop.
    async fn taken(&self, mode: Mode) -> Result<Taken, LockError> {
        let listener = self.subscription.listener(self.fd()).map_err(LockError::NoDescriptor)?;
        let _turn = listener.turn.lock().await;
        let waiting = self.waiting(mode);
        loop {
            let (death, again) = match waiting.step() {
                LockStep::Taken(taken) => return Ok(taken),
                LockStep::TooMany => return Err(LockError::TooMany),
                LockStep::Listen(death, again, _) => (death, again),
            };
            let death = death.map(|fd| descriptor::watch(fd, Interest::READABLE)).transpose();
            let death = death.map_err(LockError::NoDescriptor)?;
            let died = async {
                match &death {
                    Some(death) => _ = death.readable().await,
                    None => tokio::time::sleep(again.unwrap_or(Duration::MAX)).await,
                }
            };
            tokio::select! {
                notified = listener.notified() => notified.map_err(LockError::NoDescriptor)?,
                () = died => {}
            }
        }
    }
}
