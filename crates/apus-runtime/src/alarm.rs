//! Sleeping: who is to wake up when. tokio's timers count in milliseconds, which makes a sleep up to 2 ms too long; a
//! timer of the kernel's, set to the soonest, is right to a fraction of that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use apus_loop::{Key, Loop, Source, SourceId};
use apus_process::log::{Level, Repeats};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};

/// Sleeps end at multiples of so many nanoseconds, so that those that end at nearly the same time share a turn of the
/// loop: of the shortest step for short ones, of the longest for those of 40 ms and more.
const SHORTEST_STEP: u64 = 20_000;
const LONGEST_STEP: u64 = 300_000;
/// Which part of a sleep its step is.
const PART: u64 = 128;
/// What `armed` holds while the timer is not set.
const NEVER: u64 = u64::MAX;

/// One for each sleep meanwhile.
static UNWATCHED: Repeats = Repeats::new(Level::Error, "sleeps whose timer could not be watched");

/// Nanoseconds of the monotonic clock, and the number of the sleep among those that end at the same time.
type End = (u64, u64);

/// The sleeps of a thread.
pub struct Alarm {
    timer: OwnedFd,
    events: Rc<Loop>,
    id: SourceId,
    due: RefCell<BTreeMap<End, Waker>>,
    made: Cell<u64>,
    /// When the timer fires.
    armed: Cell<u64>,
    /// The loop watches the timer.
    watched: Cell<bool>,
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Alarm {
    /// An alarm that nobody has set.
    pub fn new(events: &Rc<Loop>) -> io::Result<Rc<Self>> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        events.add(|id| {
            Rc::new(Self {
                timer,
                events: Rc::clone(events),
                id,
                due: RefCell::default(),
                made: Cell::new(0),
                armed: Cell::new(NEVER),
                watched: Cell::new(false),
            })
        })
    }

    /// A sleep of this time from now; not shorter, and longer by what the loop needs to come round to it.
    pub fn sleep(self: &Rc<Self>, time: Duration) -> Sleep {
        let number = self.made.get() + 1;
        self.made.set(number);
        let time = u64::try_from(time.as_nanos()).unwrap_or(NEVER);
        let step = (time / PART).clamp(SHORTEST_STEP, LONGEST_STEP);
        // A time that the clock cannot count to does not come.
        let end = now().checked_add(time).and_then(|end| end.checked_next_multiple_of(step));
        let key = (end.filter(|&end| end < i64::MAX as u64).unwrap_or(NEVER), number);
        Sleep { alarm: Rc::clone(self), key, begun: false }
    }

    /// Has the timer fire when the soonest sleep ends, at the latest.
    fn arm(&self, at: u64) {
        if at >= self.armed.get() {
            return;
        }
        self.armed.set(at);
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as i64 };
        let setting = Itimerspec { it_interval, it_value };
        let _ = timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting);
    }

    /// Wakes all whose time has come, and sets the timer for the next.
    fn ring(&self) {
        let now = now();
        // Wakers are called with nothing borrowed.
        let next = |due: &mut BTreeMap<End, Waker>| match due.first_entry() {
            Some(first) if first.key().0 <= now => Ok(first.remove()),
            Some(first) => Err(first.key().0),
            None => Err(NEVER),
        };
        self.armed.set(NEVER);
        loop {
            let first = next(&mut self.due.borrow_mut());
            match first {
                Ok(waker) => waker.wake(),
                Err(end) => return self.arm(end),
            }
        }
    }

    /// Has the loop watch the timer. Each time it fires is an edge: it need not be read. Where that fails, for want of
    /// memory, the next sleep tries it again: the timer tells then what it has to tell.
    #[cold]
    fn watch(&self) {
        match self.events.watch_readable(self.timer.as_fd(), Key::new(self.id, 0, 0)) {
            Ok(()) => self.watched.set(true),
            Err(error) => UNWATCHED.tell(format_args!("the timer of sleeps cannot be watched: {error}")),
        }
    }
}

impl Source for Alarm {
    fn event(&self, _key: Key, _events: u32) -> bool {
        self.ring();
        false
    }
}

/// See [`Alarm::sleep`].
pub struct Sleep {
    alarm: Rc<Alarm>,
    key: End,
    begun: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let alarm = Rc::clone(&self.alarm);
        let mut due = alarm.due.borrow_mut();
        if self.begun {
            // Not among the sleeping any more: it was woken.
            let Some(waker) = due.get_mut(&self.key) else { return Poll::Ready(()) };
            waker.clone_from(cx.waker());
            return Poll::Pending;
        }
        self.begun = true;
        due.insert(self.key, cx.waker().clone());
        drop(due);
        if !alarm.watched.get() {
            alarm.watch();
        }
        alarm.arm(self.key.0);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if self.begun {
            // The timer may fire for nothing, once.
            drop(self.alarm.due.borrow_mut().remove(&self.key));
        }
    }
}
