//! The lock between processes: what it promises, also when its holders are killed.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::os::fd::AsFd;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::time::{Duration, Instant};

use apus_shm::{Busy, Heard, Lock, LockStep, Mode, TakeError, Taken, Watch, map};

mod fork;
use fork::{Child, alone, numbers};

const PLAIN: Taken = Taken { after_death: false };
const AFTER_DEATH: Taken = Taken { after_death: true };

/// Blocks until the lock is acquired.
fn take(lock: &Lock, mode: Mode) -> Taken {
    let (watch, waiting) = (Watch::new(lock.fd()).unwrap(), lock.waiting(mode));
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match waiting.step() {
            LockStep::Taken(taken) => return taken,
            LockStep::Listen(death, again, _) => {
                let until = again.map_or(until, |again| until.min(Instant::now() + again));
                watch.wait(death.as_deref().map(AsFd::as_fd), Some(until)).unwrap();
            }
            LockStep::TooMany => panic!("too many processes"),
        }
        assert!(Instant::now() < until, "a lock that nobody holds is not given");
    }
}

fn is_busy(lock: &Lock, mode: Mode) -> bool {
    matches!(lock.try_take(mode), Err(TakeError::Busy(_)))
}

#[test]
fn one_holds_it_or_many_share_it() {
    alone(|| {
        let lock = Lock::new().unwrap();
        assert!(!lock.release());
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), PLAIN);
        assert_eq!(lock.held(), Some(Mode::Exclusive));
        assert!(matches!(lock.try_take(Mode::Shared), Err(TakeError::Busy(Busy::Own))));
        assert!(is_busy(&lock, Mode::Exclusive));
        assert!(lock.release() && !lock.release());
        assert_eq!(lock.try_take(Mode::Shared).unwrap(), PLAIN);
        assert_eq!(lock.try_take(Mode::Shared).unwrap(), PLAIN);
        assert_eq!(lock.held(), Some(Mode::Shared));
        assert!(lock.release());
        assert!(is_busy(&lock, Mode::Exclusive));
        assert!(lock.release());
        assert_eq!(lock.held(), None);
        assert!(lock.try_take(Mode::Exclusive).is_ok());
    });
}

#[test]
fn who_wants_it_alone_goes_before_new_sharers() {
    alone(|| {
        let lock = Lock::new().unwrap();
        lock.try_take(Mode::Shared).unwrap();
        let waiting = lock.waiting(Mode::Exclusive);
        assert!(matches!(waiting.step(), LockStep::Listen(None, None, Busy::Own)));
        assert!(matches!(waiting.step(), LockStep::Listen(None, None, Busy::Own)));
        assert!(is_busy(&lock, Mode::Shared), "it is claimed");
        assert!(lock.share_again() && lock.release());
        drop(waiting);
        lock.try_take(Mode::Shared).unwrap();
        assert!(lock.release() && lock.release());
        let waiting = lock.waiting(Mode::Exclusive);
        assert!(matches!(waiting.step(), LockStep::Taken(PLAIN)));
        drop(waiting);
        assert!(lock.release());
        lock.try_take(Mode::Shared).unwrap();
    });
}

#[test]
fn what_a_child_does_is_its_own() {
    alone(|| {
        let lock = Lock::new().unwrap();
        lock.try_take(Mode::Exclusive).unwrap();
        let me = std::process::id();
        Child::fork(|| {
            assert_eq!(lock.held(), None);
            assert!(!lock.release());
            let Err(TakeError::Busy(Busy::Process(holder))) = lock.try_take(Mode::Exclusive) else {
                panic!("it was given")
            };
            assert_eq!(holder, me);
            assert!(lock.release_anybodys());
            assert!(lock.try_take(Mode::Exclusive).is_ok());
            assert!(lock.release());
        })
        .finish(Duration::from_secs(20));
        assert_eq!(lock.held(), None);
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), PLAIN);
    });
}

#[test]
fn a_dead_holder_is_told_of_once_and_dead_sharers_are_not() {
    alone(|| {
        let lock = Lock::new().unwrap();
        Child::fork(|| _ = lock.try_take(Mode::Exclusive).unwrap()).finish(Duration::from_secs(20));
        assert_eq!(lock.try_take(Mode::Shared).unwrap(), AFTER_DEATH);
        assert!(lock.release());
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), AFTER_DEATH);
        lock.pass_on_death();
        assert!(lock.release());
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), AFTER_DEATH);
        assert!(lock.release());
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), PLAIN);
        assert!(lock.release());
        Child::fork(|| _ = lock.try_take(Mode::Shared).unwrap()).finish(Duration::from_secs(20));
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), PLAIN);
    });
}

#[test]
fn a_dead_claim_keeps_nobody_out() {
    alone(|| {
        let (lock, ready) = (Lock::new().unwrap(), &map::<AtomicU32>(1).unwrap()[0]);
        lock.try_take(Mode::Shared).unwrap();
        let mut child = Child::fork(|| {
            let waiting = lock.waiting(Mode::Exclusive);
            assert!(matches!(waiting.step(), LockStep::Listen(Some(_), None, Busy::Process(_))));
            ready.store(1, SeqCst);
            loop {
                std::thread::park();
            }
        });
        while ready.load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        assert!(is_busy(&lock, Mode::Shared));
        child.kill();
        lock.try_take(Mode::Shared).unwrap();
    });
}

#[test]
fn who_waits_hears_of_the_holders_death() {
    alone(|| {
        for mode in [Mode::Exclusive, Mode::Shared] {
            let (lock, ready) = (Lock::new().unwrap(), &map::<AtomicU32>(1).unwrap()[0]);
            let mut child = Child::fork(|| {
                lock.try_take(mode).unwrap();
                ready.store(1, SeqCst);
                loop {
                    std::thread::park();
                }
            });
            while ready.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
            let (watch, waiting) = (Watch::new(lock.fd()).unwrap(), lock.waiting(Mode::Exclusive));
            let LockStep::Listen(Some(death), None, Busy::Process(_)) = waiting.step() else { panic!("it is free") };
            assert_eq!(watch.wait(Some(death.as_fd()), Some(Instant::now())).unwrap(), Heard::Nothing);
            child.kill();
            assert_eq!(watch.wait(Some(death.as_fd()), None).unwrap(), Heard::Something);
            let LockStep::Taken(taken) = waiting.step() else { panic!("the dead hold it") };
            assert_eq!(taken.after_death, mode == Mode::Exclusive);
        }
    });
}

/// Processes that change two numbers together under the lock, and look at them under it.
struct Guarded {
    lock: Lock,
    left: &'static AtomicU64,
    right: &'static AtomicU64,
    wrong: &'static AtomicU32,
    told: &'static AtomicU32,
    done: &'static AtomicU32,
}

impl Guarded {
    fn work(&self, seed: u64) {
        let mut next = numbers(seed);
        while self.done.load(SeqCst) == 0 {
            let mode = if next().is_multiple_of(3) { Mode::Shared } else { Mode::Exclusive };
            let taken = take(&self.lock, mode);
            let (left, right) = (self.left.load(Relaxed), self.right.load(Relaxed));
            if left != right && !taken.after_death {
                self.wrong.fetch_add(1, SeqCst);
            }
            if mode == Mode::Exclusive {
                self.told.fetch_add(u32::from(taken.after_death), SeqCst);
                self.left.store(left.max(right) + 1, Relaxed);
                (0..next() % 500).for_each(|_| std::hint::spin_loop());
                self.right.store(left.max(right) + 1, Relaxed);
            }
            assert!(self.lock.release());
        }
    }
}

fn kill_holders(seed: u64, kills: usize) -> u32 {
    let word = || &map::<AtomicU32>(1).unwrap()[0];
    let long = || &map::<AtomicU64>(1).unwrap()[0];
    let guarded =
        Guarded { lock: Lock::new().unwrap(), left: long(), right: long(), wrong: word(), told: word(), done: word() };
    let mut next = numbers(seed);
    let mut start = || {
        let seed = next() as u64;
        Child::fork(|| guarded.work(seed))
    };
    let mut children: Vec<Child> = (0..3).map(|_| start()).collect();
    let mut moments = numbers(seed + 1);
    for _ in 0..kills {
        std::thread::sleep(Duration::from_micros(moments() as u64 % 700));
        let victim = &mut children[moments() % 3];
        victim.kill();
        *victim = start();
    }
    guarded.done.store(1, SeqCst);
    for child in &mut children {
        child.finish(Duration::from_secs(40));
    }
    assert_eq!(guarded.wrong.load(SeqCst), 0, "half a change was seen by one who was not told; seed {seed}");
    guarded.told.load(SeqCst)
}

#[test]
fn killed_holders_free_it_and_the_next_is_told() {
    alone(|| {
        let told: u32 = (0..10).map(|seed| kill_holders(seed, 30)).sum();
        assert!(told > 0, "no process was killed while it held the lock");
    });
}

/// Thousands of kills: `cargo test -p apus-shm --test lock -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn thousands_of_killed_holders() {
    alone(|| {
        let told: u32 = (100..300).map(|seed| kill_holders(seed, 30)).sum();
        assert!(told > 100, "{told} of 6000 were killed while they held it");
    });
}

#[test]
fn an_object_that_goes_gives_back_what_its_process_had() {
    alone(|| {
        let lock = Lock::new().unwrap();
        Child::fork(|| {
            lock.try_take(Mode::Exclusive).unwrap();
            // SAFETY: a copy for this process alone, which ends without dropping the original.
            drop(unsafe { std::ptr::read(&raw const lock) });
        })
        .finish(Duration::from_secs(20));
        assert_eq!(lock.try_take(Mode::Exclusive).unwrap(), PLAIN);
    });
}
