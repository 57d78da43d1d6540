use super::*;

fn limiter(keys: usize, rate: f64, per: u64, burst: u64) -> Limiter {
    Limiter::new(keys, rate, Duration::from_secs(per), burst).unwrap().unwrap()
}

/// A moment `seconds` after the limiter was made.
fn at(limiter: &Limiter, seconds: f64) -> u64 {
    (seconds * 1e9) as u64 / limiter.tick
}

#[test]
fn a_burst_then_the_rate() {
    let limiter = limiter(100, 10.0, 1, 5);
    let now = at(&limiter, 100.0);
    assert_eq!((0..10).filter(|_| limiter.take(b"a", 1, || now)).count(), 5);
    assert!(limiter.take(b"b", 5, || now), "keys do not share");
    // Ten seconds at ten attempts each tenth of a second: the rate, neither more nor less.
    let got = (1..=100)
        .map(|step| {
            (0..10).filter(|_| limiter.take(b"a", 1, || at(&limiter, 100.0 + f64::from(step) * 0.1001))).count()
        })
        .sum::<usize>();
    assert_eq!(got, 100);
}

#[test]
fn a_verdict_tells_what_is_left() {
    let limiter = limiter(100, 60.0, 60, 10);
    let now = at(&limiter, 5.0);
    let fresh = limiter.look(b"k", 1, || now);
    assert_eq!(
        (fresh.allowed, fresh.remaining, fresh.retry_after, fresh.reset),
        (true, 10, Some(Duration::ZERO), Duration::ZERO)
    );
    assert!(limiter.take(b"k", 7, || now));
    let after = limiter.look(b"k", 4, || now);
    assert!(!after.allowed);
    assert_eq!(after.remaining, 3);
    let close = |given: Duration, seconds: f64| (given.as_secs_f64() - seconds).abs() < 0.01;
    assert!(close(after.retry_after.unwrap(), 1.0), "{after:?}");
    assert!(close(after.reset, 7.0), "{after:?}");
    assert!(!limiter.take(b"k", 4, || now));
    assert!(limiter.take(b"k", 4, || at(&limiter, 6.01)));
    assert_eq!(limiter.look(b"k", 11, || now).retry_after, None);
    assert!(!limiter.take(b"new", 11, || now));
    limiter.reset(b"k");
    assert!(limiter.take(b"k", 10, || now));
}

#[test]
fn memory_is_bounded_and_the_oldest_goes() {
    let limiter = limiter(64, 1.0, 1, 2);
    for n in 0..10_000u32 {
        assert!(limiter.take(&n.to_le_bytes(), 2, || at(&limiter, 1.0 + f64::from(n) * 0.01)));
    }
    let words: &[AtomicU64] = limiter.region.slice(0, limiter.keys());
    assert!(words.iter().all(|word| word.load(Relaxed) != 0));
    let last = at(&limiter, 1.0 + 9999.0 * 0.01);
    assert!(!limiter.take(&9999u32.to_le_bytes(), 1, || last), "the newest is remembered");
}

#[test]
fn a_key_that_returns_after_the_circle_is_new() {
    let limiter = limiter(8, 1.0, 1, 1);
    assert!(limiter.take(b"k", 1, || 10));
    for later in [MOMENTS / 3, MOMENTS / 2, MOMENTS - MOMENTS / 5] {
        assert_eq!(limiter.look(b"k", 1, || 10 + later).remaining, 1, "after {later} ticks");
    }
    let later = (MOMENTS + 1) * 3 + 10 + limiter.unit;
    assert!(limiter.take(b"k", 1, || later));
    assert!(!limiter.take(b"k", 1, || later + 1));
    assert!(limiter.take(b"k", 1, || later + limiter.unit));
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let second = Duration::from_secs(1);
    for (rate, per, burst) in [
        (0.0, second, 1),
        (-1.0, second, 1),
        (f64::NAN, second, 1),
        (2e9, second, 1),
        (1.0, second, 0),
        (1e-12, second, 1),
        (1.0, second, u64::MAX),
    ] {
        assert!(Limiter::new(8, rate, per, burst).is_none(), "{rate} in {per:?}, {burst}");
    }
    for (rate, per, burst) in
        [(1e9, second, 1), (1e6, second, 1_000_000), (1.0, Duration::from_secs(86400), 1), (5000.0, second, 5000)]
    {
        let limiter = Limiter::new(8, rate, per, burst).unwrap().unwrap();
        let kept = limiter.unit as f64 * limiter.tick as f64 / (per.as_nanos() as f64 / rate);
        assert!((kept - 1.0).abs() < 0.001, "{rate} in {per:?}, {burst}: a unit is {kept} of what it is to be");
        assert_eq!((0..burst + 3).filter(|_| limiter.take(b"k", 1, || 7)).count() as u64, burst);
    }
}

#[test]
fn processes_share_one_limit() {
    let limiter = limiter(1000, 1.0, 3600, 1000);
    let granted: &[AtomicU64] = crate::region::map(1).unwrap();
    // Known before, so that no two enter it at once.
    assert!(limiter.allow(b"shared", 0));
    let children: Vec<i32> = (0..4)
        .map(|_| {
            // SAFETY: the child calls only what is safe after fork, and ends by _exit.
            let child = unsafe { libc::fork() };
            if child == 0 {
                for _ in 0..1000 {
                    granted[0].fetch_add(u64::from(limiter.allow(b"shared", 1)), Relaxed);
                }
                // SAFETY: ends this process without running anything of the parent's.
                unsafe { libc::_exit(0) };
            }
            child
        })
        .collect();
    for child in children {
        let mut status = 0;
        // SAFETY: the child just forked.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
    }
    assert_eq!(granted[0].load(Relaxed), 1000);
}

#[test]
fn a_word_that_a_clock_ahead_has_moved_is_a_full_bucket() {
    let limiter = limiter(100, 200.0, 1, 50);
    let now = at(&limiter, 100.0);
    assert!(limiter.take(b"k", 50, || now));
    for behind in [1, 1000, limiter.skew] {
        assert!(!limiter.take(b"k", 1, || now - behind), "{behind} ticks behind");
        let verdict = limiter.look(b"k", 1, || now - behind);
        assert_eq!((verdict.allowed, verdict.remaining), (false, 0), "{behind} ticks behind");
        assert!(verdict.reset.as_secs_f64() < 0.26, "{verdict:?}");
    }
    // Nothing that a clock behind has asked gives anything back.
    assert_eq!(limiter.look(b"k", 1, || now).remaining, 0);
    assert!(limiter.take(b"k", 1, || now + limiter.unit));
}

#[test]
fn the_clock_is_read_after_the_word_in_each_round() {
    let limiter = limiter(100, 10.0, 1, 5);
    let (rounds, now) = (std::cell::Cell::new(0), at(&limiter, 100.0));
    assert!(limiter.take(b"k", 1, || now));
    // Another process takes the rest of the burst, later, between this one's look and its exchange.
    let allowed = limiter.take(b"k", 1, || {
        rounds.set(rounds.get() + 1);
        if rounds.get() == 1 {
            assert!(limiter.take(b"k", 4, || now + 10));
            return now;
        }
        now + 20
    });
    assert_eq!((allowed, rounds.get()), (false, 2));
}

/// Four threads on one key, whose clocks lag by up to a millisecond: what they get is the burst and the rate, within
/// one part in a hundred.
#[test]
fn contending_threads_with_stale_clocks_get_the_limit() {
    let limiter = &limiter(1000, 20_000.0, 1, 500);
    // Entered before, so that no two enter it at once.
    assert!(limiter.allow(b"k", 0));
    let (granted, checked) = (&AtomicU64::new(0), &AtomicU64::new(0));
    let begun = now();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            scope.spawn(move || {
                let mut random = thread * 7919 + 1;
                while now() - begun < 500_000_000 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let lag = (random >> 33) % (1_000_000 / limiter.tick);
                    let clock = || limiter.moment().saturating_sub(lag);
                    if limiter.take(b"k", 1, clock) {
                        granted.fetch_add(1, Relaxed);
                    }
                    checked.fetch_max(limiter.look(b"k", 1, clock).remaining, Relaxed);
                }
            });
        }
    });
    let most = 500.0 + 20_000.0 * (now() - begun) as f64 / 1e9;
    let granted = granted.load(Relaxed) as f64;
    assert!(granted <= most * 1.01, "{granted} were allowed, of {most}");
    assert!(checked.load(Relaxed) <= 500);
}
