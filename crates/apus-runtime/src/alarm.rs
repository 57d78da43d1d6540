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
use apus_zend::fiber::prefetch;
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
/// After a ring that ended so many sleeps the next one does not follow before so many nanoseconds: setting the timer
/// takes a microsecond or two of the kernel, and on a virtual machine up to thirty.
const CROWD: usize = 4;
const GAP: u64 = 200_000;
/// What `armed` holds while the timer is not set.
const NEVER: u64 = u64::MAX;

/// Wakers whose tasks' tickets are fetched before theirs is.
const AHEAD: usize = 4;

/// One for each sleep meanwhile.
static UNWATCHED: Repeats = Repeats::new(Level::Error, "sleeps whose timer could not be watched");

/// Lists of wakers that are kept to be used again, and how long each may have become.
const SPARES: usize = 64;
const SPARE_LONGEST: usize = 1024;

/// The sleeps that end at one time. A sleep knows its place among them, which one that was given up leaves empty.
#[derive(Default)]
struct Ending {
    wakers: Vec<Option<Waker>>,
    /// Those that were not given up.
    left: usize,
}

/// The sleeps of a thread.
pub struct Alarm {
    timer: OwnedFd,
    events: Rc<Loop>,
    id: SourceId,
    /// By the nanosecond of the monotonic clock.
    due: RefCell<BTreeMap<u64, Ending>>,
    spares: RefCell<Vec<Vec<Option<Waker>>>>,
    /// Every sleep that ended until then is over: it is not in `due`, or is being taken out.
    rang: Cell<u64>,
    /// When the timer fires.
    armed: Cell<u64>,
    /// It is not set to fire before.
    earliest: Cell<u64>,
    /// The loop watches the timer.
    watched: Cell<bool>,
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Wakes all; what the next ones refer to is fetched meanwhile, as nobody has touched it since they were made.
fn wake_all(wakers: &mut Vec<Option<Waker>>) {
    for at in 0..wakers.len() {
        if let Some(Some(later)) = wakers.get(at + AHEAD) {
            prefetch(later.data().cast::<[u8; 64]>());
        }
        if let Some(waker) = wakers[at].take() {
            waker.wake();
        }
    }
    wakers.clear();
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
                spares: RefCell::default(),
                rang: Cell::new(0),
                armed: Cell::new(NEVER),
                earliest: Cell::new(0),
                watched: Cell::new(false),
            })
        })
    }

    /// A sleep of this time from now; not shorter, and longer by what the loop needs to come round to it.
    pub fn sleep(self: &Rc<Self>, time: Duration) -> Sleep {
        let time = u64::try_from(time.as_nanos()).unwrap_or(NEVER);
        let step = (time / PART).clamp(SHORTEST_STEP, LONGEST_STEP);
        // A time that the clock cannot count to does not come.
        let end = now().checked_add(time).and_then(|end| end.checked_next_multiple_of(step));
        let end = end.filter(|&end| end < i64::MAX as u64).unwrap_or(NEVER);
        Sleep { alarm: Rc::clone(self), end, place: None }
    }

    /// Has the timer fire when the soonest sleep ends, at the latest.
    fn arm(&self, at: u64) {
        let at = at.max(self.earliest.get());
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
        let next = |due: &mut BTreeMap<u64, Ending>| match due.first_entry() {
            Some(first) if *first.key() <= now => Ok(first.remove()),
            Some(first) => Err(*first.key()),
            None => Err(NEVER),
        };
        self.rang.set(now);
        self.armed.set(NEVER);
        let mut ended = 0;
        loop {
            // Wakers are called with nothing borrowed.
            let first = next(&mut self.due.borrow_mut());
            match first {
                Ok(mut ending) => {
                    ended += ending.left;
                    wake_all(&mut ending.wakers);
                    self.keep(ending.wakers);
                }
                Err(end) => {
                    self.earliest.set(if ended >= CROWD { now + GAP } else { 0 });
                    return self.arm(end);
                }
            }
        }
    }

    fn keep(&self, wakers: Vec<Option<Waker>>) {
        let mut spares = self.spares.borrow_mut();
        if spares.len() < SPARES && wakers.capacity() <= SPARE_LONGEST {
            spares.push(wakers);
        }
    }

    /// A sleep begins; gives its place among those that end with it.
    fn enter(&self, end: u64, waker: &Waker) -> usize {
        let mut due = self.due.borrow_mut();
        let ending = due
            .entry(end)
            .or_insert_with(|| Ending { wakers: self.spares.borrow_mut().pop().unwrap_or_default(), left: 0 });
        ending.wakers.push(Some(waker.clone()));
        ending.left += 1;
        ending.wakers.len() - 1
    }

    /// A sleep is given up.
    fn give_up(&self, end: u64, place: usize) {
        let mut due = self.due.borrow_mut();
        let Some(ending) = due.get_mut(&end) else { return };
        let waker = ending.wakers.get_mut(place).and_then(Option::take);
        ending.left -= usize::from(waker.is_some());
        // The timer may fire for nothing, once.
        let ending = if ending.left == 0 { due.remove(&end) } else { None };
        drop(due);
        drop(waker);
        if let Some(mut ending) = ending {
            ending.wakers.clear();
            self.keep(ending.wakers);
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
    end: u64,
    /// Among those that end with it; `None` before it begins.
    place: Option<usize>,
}

impl Sleep {
    fn is_over(&self) -> bool {
        self.end <= self.alarm.rang.get()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        if let Some(place) = self.place {
            let mut due = self.alarm.due.borrow_mut();
            if let Some(Some(waker)) = due.get_mut(&self.end).and_then(|ending| ending.wakers.get_mut(place)) {
                waker.clone_from(cx.waker());
            }
            return Poll::Pending;
        }
        self.place = Some(self.alarm.enter(self.end, cx.waker()));
        if !self.alarm.watched.get() {
            self.alarm.watch();
        }
        self.alarm.arm(self.end);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(place) = self.place.filter(|_| !self.is_over()) {
            self.alarm.give_up(self.end, place);
        }
    }
}
