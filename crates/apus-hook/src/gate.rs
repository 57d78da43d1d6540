//! Whether a libc call that would block may let other coroutines run instead, and how it waits then.

use std::cell::Cell;
use std::ffi::c_int;
use std::future::Future;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use apus_coro::Wait;
use apus_loop::disk::Started;
use apus_options::hooks;
pub(super) use apus_runtime::running::in_coroutine;
use apus_runtime::runtime::State;
use apus_runtime::wait::wait;
use apus_runtime::{last_error, swoole};
use apus_zend::guard;
use apus_zend::hook::{Place, place};
use tokio::time::Instant;

use super::reactor::{Reactor, Woken};
use super::sys;
pub(super) use super::sys::{errno, set_errno};

/// `Apus\HOOK_*` bits in force.
static FLAGS: AtomicI64 = AtomicI64::new(hooks::DEFAULT);

/// The same as a program has asked for them.
static TOLD: AtomicI64 = AtomicI64::new(hooks::DEFAULT);

/// What was asked for.
pub(super) fn told_flags() -> i64 {
    TOLD.load(Ordering::Relaxed)
}

pub(super) fn flags() -> i64 {
    FLAGS.load(Ordering::Relaxed)
}

pub(super) fn set_flags(flags: i64) {
    set_flags_of(flags, flags);
}

/// Sets what is in force for what was asked for.
pub(super) fn set_flags_of(told: i64, flags: i64) {
    TOLD.store(told, Ordering::Relaxed);
    FLAGS.store(flags, Ordering::Relaxed);
}

/// How long a call may wait for descriptors.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    None,
    Until(Instant),
    /// So long that a tenth of a second more is neither here nor there.
    Far(Instant),
}

impl Limit {
    /// Of a call that begins now.
    pub(super) fn after(limit: Option<Duration>) -> Self {
        const FAR: Duration = Duration::from_secs(20);
        let Some((limit, at)) = limit.and_then(|limit| Some((limit, deadline(Some(limit))?))) else {
            return Self::None;
        };
        if limit >= FAR { Self::Far(at) } else { Self::Until(at) }
    }

    /// When that is over.
    pub(super) fn at(self) -> Option<Instant> {
        match self {
            Self::None => None,
            Self::Until(at) | Self::Far(at) => Some(at),
        }
    }
}

/// A hooked call of a coroutine.
pub(super) struct Gate {
    pub(super) state: Rc<State>,
    name: &'static str,
    /// Whether it may wait while a value is freed.
    freeing: bool,
    errno: Cell<c_int>,
}

/// Opens for calls of coroutines whose kind of blocking, one of `wanted`, is hooked. `None`: the call is to go to libc.
#[inline]
pub(super) fn gate(name: &'static str, wanted: i64) -> Option<Gate> {
    if in_coroutine() { Gate::open(name, wanted, false) } else { None }
}

/// The same for calls that PHP makes when it frees a value: the end of a child process takes as long as it likes.
pub(super) fn gate_when_freeing(name: &'static str, wanted: i64) -> Option<Gate> {
    if in_coroutine() { Gate::open(name, wanted, true) } else { None }
}

impl Gate {
    #[cold]
    fn open(name: &'static str, wanted: i64, freeing: bool) -> Option<Self> {
        if flags() & wanted == 0 {
            return None;
        }
        let errno = Cell::new(errno());
        let state = State::existing()?;
        state.engine.current()?;
        (place(freeing) != Place::Stay).then_some(Self { state, name, freeing, errno })
    }

    /// The result of the call that is to be made `attempt` by `attempt`, each after `park`, ends with this: a success
    /// leaves errno as it was found.
    pub(super) fn success<T>(&self, result: T) -> T {
        set_errno(self.errno.get());
        result
    }

    /// Waits. `Err`: the errno with which the call is to fail, an exception being pending perhaps.
    pub(super) fn park<T>(&self, future: impl Future<Output = T>) -> Result<T, c_int> {
        if place(self.freeing) == Place::Fail {
            return Err(libc::ECANCELED);
        }
        let waited = wait(&self.state, Wait::Outside(self.name), future);
        if let Ok(Some(value)) = waited {
            return Ok(value);
        }
        if swoole::is_on() {
            last_error::fail(swoole::error::CANCELED);
        }
        // An exception that is pending now is seen when the C code that called us has returned to PHP.
        guard::broken_off();
        Err(libc::ECANCELED)
    }

    /// Waits for one of some descriptors; `Ok(false)`: not before the deadline.
    pub(super) fn ready(&self, fds: &[(RawFd, u32)], deadline: Option<Instant>) -> Result<bool, c_int> {
        self.events(fds, deadline.map_or(Limit::None, Limit::Until)).map(|events| events.is_some())
    }

    /// The same, with the `EPOLL*` events that the one that woke it reports; 0 where it reports none.
    pub(super) fn events(&self, fds: &[(RawFd, u32)], limit: Limit) -> Result<Option<u32>, c_int> {
        super::guard::waiting(&self.state, fds)?;
        let reactor = self.state.room::<Reactor>();
        let cid = self.state.engine.current_id();
        let woken = self.park(async {
            match limit {
                Limit::None => Some(reactor.ready(cid, fds).await),
                Limit::Far(at) => Some(reactor.ready_until(cid, fds, at).await),
                Limit::Until(at) => tokio::time::timeout_at(at, reactor.ready(cid, fds)).await.ok(),
            }
        });
        match woken {
            // Interrupted, what is waited for has changed: as if the time were over.
            Ok(None | Some(Woken::Interrupted | Woken::TimedOut)) => Ok(None),
            Ok(Some(Woken::Ready(events))) => Ok(Some(events)),
            Ok(Some(Woken::Closed)) => Err(libc::EBADF),
            Err(errno) => {
                if guard::leaves_answer() {
                    end_connections(fds);
                }
                Err(errno)
            }
        }
    }
}

/// Libraries may take a connection whose wait has failed for idle, and the answer that comes late for that to the next
/// question.
fn end_connections(fds: &[(RawFd, u32)]) {
    for &(fd, _) in fds {
        // What is no socket is left as it is.
        sys::shutdown(fd, libc::SHUT_RDWR);
    }
}

impl Gate {
    /// Has `job` done by another thread. Cancelled, even before, it is done nevertheless: it MUST own all that it
    /// touches.
    pub(super) fn on_thread<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, c_int> {
        let job = self.state.spawn_blocking(job);
        self.park(job)?.map_err(|_| libc::EIO)
    }

    /// The same with what waits for a disk.
    pub(super) fn on_disk<T>(&self, start: impl FnOnce() -> Started<T>) -> Result<T, c_int> {
        let job = self.state.start(start);
        self.park(job)?.map_err(|_| libc::EIO)
    }

    /// Does `attempt` again and again, with growing pauses, until it gives something or the deadline has passed: for
    /// what the kernel announces to nobody.
    pub(super) fn retry<T>(
        &self,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, c_int> {
        const LONGEST: Duration = Duration::from_millis(20);
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(got) = attempt() {
                return Ok(Some(got));
            }
            if deadline.is_some_and(|at| Instant::now() >= at) {
                return Ok(None);
            }
            self.park(async { tokio::time::sleep(pause).await })?;
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// A call's failure with `errno`.
pub(super) fn fail<T: From<i8>>(errno: c_int) -> T {
    set_errno(errno);
    T::from(-1)
}

/// When `time` from now has passed; `None` for no limit.
pub(super) fn deadline(time: Option<Duration>) -> Option<Instant> {
    // A time too far to be told is none.
    time.and_then(|time| Instant::now().checked_add(time))
}
