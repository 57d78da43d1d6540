//! Numbers in shared memory.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use apus_shm::{Heard, Look, Number, Watch, map};

mod fork;
use fork::{Child, alone, numbers};

fn address(number: &Number) -> usize {
    number.word().as_ptr() as usize
}

#[test]
fn children_see_the_same_and_new_ones_do_not() {
    alone(|| {
        let (first, second) = (Number::new().unwrap(), Number::new().unwrap());
        assert_ne!(address(&first), address(&second));
        first.word().store(7, SeqCst);
        first.long().store(-7, SeqCst);
        Child::fork(|| {
            assert_eq!((first.word().load(SeqCst), first.long().load(SeqCst)), (7, -7));
            first.word().fetch_add(1, SeqCst);
            let own = Number::new().unwrap();
            own.word().store(99, SeqCst);
        })
        .finish(Duration::from_secs(20));
        assert_eq!(first.word().load(SeqCst), 8);
        let third = Number::new().unwrap();
        assert_eq!(third.word().load(SeqCst), 0, "the child's is not the parent's");
    });
}

#[test]
fn cells_are_used_again_unless_a_child_may_have_them() {
    alone(|| {
        let number = Number::new().unwrap();
        let first = address(&number);
        number.word().store(5, SeqCst);
        drop(number);
        let number = Number::new().unwrap();
        assert_eq!((address(&number), number.word().load(SeqCst)), (first, 0));
        Child::fork(|| ()).finish(Duration::from_secs(20));
        drop(number);
        let after = Number::new().unwrap();
        assert_ne!(address(&after), first, "a child may use it");
        let second = address(&after);
        Child::fork(|| {
            drop(after);
            let own: Vec<Number> = (0..200).map(|_| Number::new().unwrap()).collect();
            assert!(own.iter().all(|own| own.word().load(SeqCst) == 0 && own.fd().as_raw_fd() > 0));
            own[0].word().store(1, SeqCst);
        })
        .finish(Duration::from_secs(20));
        let other = Number::new().unwrap();
        assert!(address(&other) != second && address(&other) != first);
    });
}

#[test]
fn one_wake_up_lets_one_through_also_when_it_comes_first() {
    alone(|| {
        let number = Number::new().unwrap();
        let watch = Watch::new(number.fd()).unwrap();
        number.wake();
        number.wake();
        assert_eq!(watch.wait(None, Some(Instant::now())).unwrap(), Heard::Nothing, "nobody had registered");
        assert_eq!(number.take_or_register(), Look::Taken);
        assert_eq!(number.take_or_register(), Look::Zero);
        assert_eq!(number.sleep(Some(Instant::now() + Duration::from_millis(1))), Heard::Nothing);
        number.wake();
        assert_eq!(watch.wait(None, Some(Instant::now())).unwrap(), Heard::Something);
        assert_eq!(number.sleep(None), Heard::Something);
        assert_eq!(number.take(), Look::Taken);
        number.word().store(2, SeqCst);
        number.wake();
        assert_eq!((number.take(), number.word().load(SeqCst)), (Look::Other, 2));
    });
}

/// Waiters of both kinds are killed at random moments, and so are wakers: each accepted wake-up is taken, and nobody
/// sleeps over one.
fn wake_and_kill(seed: u64, kills: usize) {
    let (number, taken, done) =
        (Number::new().unwrap(), &map::<AtomicU32>(2).unwrap()[0], &map::<AtomicU32>(1).unwrap()[0]);
    let wait = |listens: bool| {
        let watch = Watch::new(number.fd()).unwrap();
        while done.load(SeqCst) == 0 {
            match number.take_or_register() {
                Look::Taken => _ = taken.fetch_add(1, SeqCst),
                _ if listens => _ = watch.wait(None, None).unwrap(),
                _ => _ = number.sleep(None),
            }
        }
        // Whoever is next ends, too.
        number.wake();
    };
    let mut children: Vec<Child> = (0..4usize).map(|place| Child::fork(|| wait(place.is_multiple_of(2)))).collect();
    let mut next = numbers(seed);
    for _ in 0..kills {
        let mut waker = Child::fork(|| {
            loop {
                number.wake();
            }
        });
        std::thread::sleep(Duration::from_micros(next() as u64 % 500));
        let place = next() % children.len();
        children[place].kill();
        children[place] = Child::fork(|| wait(place.is_multiple_of(2)));
        waker.kill();
        // One who is alive takes it, whatever the dead have left.
        let until = Instant::now() + Duration::from_secs(20);
        number.wake();
        while number.word().load(SeqCst) == 1 {
            assert!(Instant::now() < until, "all sleep over a wake-up; seed {seed}");
            std::thread::yield_now();
        }
    }
    assert!(taken.load(SeqCst) > 0);
    done.store(1, SeqCst);
    let until = Instant::now() + Duration::from_secs(20);
    for child in &mut children {
        number.wake();
        child.finish(until.saturating_duration_since(Instant::now()));
    }
}

#[test]
fn killed_waiters_and_wakers_take_no_wake_up_with_them() {
    alone(|| (0..10).for_each(|seed| wake_and_kill(seed, 15)));
}

/// Thousands of kills: `cargo test -p apus-shm --test number -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn thousands_of_killed_waiters_and_wakers() {
    for seed in 100..200 {
        alone(|| wake_and_kill(seed, 30));
    }
}
