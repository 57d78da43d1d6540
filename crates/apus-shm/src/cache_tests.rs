use std::collections::HashMap;

use super::*;
use crate::cache_make::Claim;

fn bytes(cache: &Cache, key: &[u8]) -> Option<Vec<u8>> {
    let mut into = vec![7];
    let found = cache.get(key, &mut into);
    assert_eq!(into.remove(0), 7);
    found.map(|found| match found {
        Found::Bytes => into,
        Found::Int(value) => format!("int {value}").into_bytes(),
    })
}

fn set(cache: &Cache, key: &[u8], value: &[u8]) {
    assert_eq!(cache.set(key, Stored::Bytes(value), None, false), Ok(true));
}

/// A generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn fork(body: impl FnOnce()) -> i32 {
    // SAFETY: the child calls only what is safe after fork, and ends by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err();
        // SAFETY: ends this process without running anything of the parent's.
        unsafe { libc::_exit(failed.into()) };
    }
    child
}

fn wait(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: a child of this test.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    status
}

fn kill(child: i32) {
    // SAFETY: a child of this test, not yet waited for.
    unsafe { libc::kill(child, libc::SIGKILL) };
    wait(child);
}

#[test]
fn what_was_stored_is_found() {
    let cache = Cache::new(1 << 20).unwrap();
    assert_eq!(bytes(&cache, b"a"), None);
    for len in [0usize, 1, 7, 8, 9, 1000, 100_000] {
        let value: Vec<u8> = (0..len).map(|n| n as u8).collect();
        set(&cache, b"a", &value);
        assert_eq!(bytes(&cache, b"a"), Some(value));
    }
    assert_eq!(cache.set(b"a", Stored::Bytes(b"x"), None, true), Ok(false));
    assert_eq!(cache.set(b"b", Stored::Bytes(b"x"), None, true), Ok(true));
    assert!(cache.remove(b"a"));
    assert!(!cache.remove(b"a"));
    assert_eq!(bytes(&cache, b"a"), None);
    assert_eq!(bytes(&cache, b"b"), Some(b"x".to_vec()));
    assert!(cache.has(b"b") && !cache.has(b"a"));
    let stats = cache.stats();
    assert_eq!((stats.entries, stats.hits, stats.misses, stats.evictions), (1, 8, 2, 0));
    cache.clear();
    assert_eq!((bytes(&cache, b"b"), cache.stats().entries, cache.stats().used), (None, 0, 0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    let longest = cache.longest() - Part::size_of(1, 0);
    assert_eq!(cache.set(b"k", Stored::Bytes(&vec![1; longest]), None, false), Ok(true));
    assert_eq!(bytes(&cache, b"k"), Some(vec![1; longest]));
    let refused = cache.set(b"k", Stored::Bytes(&vec![1; longest + 1]), None, false);
    assert_eq!(refused, Err(CacheError::TooLarge { given: cache.longest() + 8, longest: cache.longest() }));
    assert_eq!(bytes(&cache, b"k").map(|v| v.len()), Some(longest), "the old value stays");
    for key in [&b""[..], &[b'k'; CACHE_KEY_MOST + 1]] {
        assert_eq!(cache.set(key, Stored::Int(1), None, false), Err(CacheError::Key { given: key.len() }));
    }
    assert_eq!(cache.set(&[b'k'; CACHE_KEY_MOST], Stored::Int(1), None, false), Ok(true));
}

#[test]
fn integers_are_added_to() {
    let cache = Cache::new(1 << 20).unwrap();
    assert_eq!(cache.add(b"n", 5, None), Ok(5));
    assert_eq!(cache.add(b"n", -7, None), Ok(-2));
    assert_eq!(bytes(&cache, b"n"), Some(b"int -2".to_vec()));
    set(&cache, b"s", b"text");
    assert_eq!(cache.add(b"s", 1, None), Err(CacheError::NoInteger));
    assert_eq!(cache.set(b"n", Stored::Int(i64::MAX), None, false), Ok(true));
    assert_eq!(cache.add(b"n", 1, None), Err(CacheError::Overflow));
    assert_eq!(bytes(&cache, b"n"), Some(format!("int {}", i64::MAX).into_bytes()));
}

#[test]
fn time_ends_entries() {
    let cache = Cache::new(1 << 20).unwrap();
    let (key, hash) = (b"k", cache.hash(b"k"));
    let part = cache.part(hash);
    let get = |now| part.get(hash, key, now, None);
    assert!(part.put(hash, key, Stored::Int(1), 1000, 10, false));
    assert_eq!((get(999), get(1000)), (Some(Found::Int(1)), None));
    assert!(!part.put(hash, key, Stored::Int(2), 2000, 999, true));
    assert!(part.put(hash, key, Stored::Int(2), 2000, 1000, true), "one that ran out is none");
    assert!(part.touch(hash, key, 3000, 1500));
    assert!(!part.touch(hash, key, 4000, 3000));
    assert_eq!((get(2999), get(3000)), (Some(Found::Int(2)), None));
    assert_eq!(part.number(hash, key, 3000), Ok(None));
    assert!(!part.remove(hash, key, 3000));
    assert_eq!(cache.stats().entries, 0);
    assert_eq!(cache.set(key, Stored::Int(3), Some(Duration::from_secs(3600)), false), Ok(true));
    assert_eq!(bytes(&cache, key), Some(b"int 3".to_vec()));
}

#[test]
fn memory_is_bounded_and_what_is_read_stays() {
    let cache = Cache::new(256 << 10).unwrap();
    set(&cache, b"hot", b"still here");
    for n in 0..20_000u32 {
        set(&cache, format!("cold{n}").as_bytes(), &[0; 100]);
        if n % 100 == 0 {
            assert_eq!(bytes(&cache, b"hot"), Some(b"still here".to_vec()), "after {n}");
        }
    }
    let stats = cache.stats();
    assert!(stats.used <= stats.bytes && stats.used > stats.bytes * 9 / 10, "{stats:?}");
    assert_eq!(stats.entries + stats.evictions, 20_001);
    assert_eq!(bytes(&cache, b"cold19999"), Some(vec![0; 100]));
    assert_eq!(bytes(&cache, b"cold0"), None);
    assert!(cache.region.resident() < 400 << 10);
}

#[test]
fn all_being_read_room_is_made_nevertheless() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    for n in 0..2000u32 {
        set(&cache, &n.to_le_bytes(), &[1; 500]);
        for back in 0..100 {
            bytes(&cache, &n.saturating_sub(back).to_le_bytes());
        }
    }
    assert!(cache.stats().entries > 50);
}

#[test]
fn it_agrees_with_a_map() {
    for seed in [1, 2, 3] {
        let mut numbers = Numbers(seed * 0x9e37_79b9);
        let cache = Cache::new(CACHE_LEAST).unwrap();
        let mut map: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        for _ in 0..10_000 {
            let key = vec![b'k'; 1 + numbers.below(40) as usize];
            match numbers.below(4) {
                0 => assert!(cache.remove(&key) <= map.remove(&key).is_some()),
                1 => {
                    let most = if numbers.below(20) == 0 { 20_000 } else { 300 };
                    let value = vec![numbers.below(256) as u8; numbers.below(most) as usize];
                    set(&cache, &key, &value);
                    map.insert(key, value);
                }
                // What it has forgotten is missing; what it has is right.
                _ => {
                    if let Some(found) = bytes(&cache, &key) {
                        assert_eq!(Some(&found), map.get(&key));
                    }
                }
            }
        }
        let there = map.keys().filter(|key| bytes(&cache, key).is_some()).count();
        assert_eq!(cache.stats().entries, there as u64, "seed {seed}");
    }
}

#[test]
fn readers_see_whole_values_while_others_write() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    let ready: &[AtomicU64] = crate::region::map(1).unwrap();
    let writers: Vec<i32> = (0..2u8)
        .map(|writer| {
            fork(|| {
                let mut numbers = Numbers(u64::from(writer) + 99);
                loop {
                    let n = numbers.below(50) as u8;
                    let _ = cache.set(&[n], Stored::Bytes(&vec![n; 1000 + numbers.below(3000) as usize]), None, false);
                    ready[0].fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    let mut seen = 0;
    while seen < 5000 || ready[0].load(Relaxed) < 500 {
        for n in 0..50u8 {
            if let Some(value) = bytes(&cache, &[n]) {
                assert!(value.len() >= 1000 && value.iter().all(|byte| *byte == n));
                seen += 1;
            }
        }
    }
    writers.into_iter().for_each(kill);
}

#[test]
fn writers_killed_at_any_moment_leave_a_cache_that_works() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    let ready: &[AtomicU64] = crate::region::map(1).unwrap();
    for round in 0..40u64 {
        let before = ready[0].load(Relaxed);
        let writer = fork(|| {
            let mut numbers = Numbers(round + 1);
            loop {
                let n = numbers.below(100) as u8;
                let _ = cache.set(&[n], Stored::Bytes(&vec![n; numbers.below(2000) as usize]), None, false);
                let _ = cache.add(b"count", 1, None);
                ready[0].fetch_add(1, Relaxed);
            }
        });
        while ready[0].load(Relaxed) < before + 50 + round * 7 {
            std::thread::yield_now();
        }
        kill(writer);
        for n in 0..100u8 {
            if let Some(value) = bytes(&cache, &[n]) {
                assert!(value.iter().all(|byte| *byte == n));
            }
        }
        set(&cache, b"new", b"value");
        assert_eq!(bytes(&cache, b"new"), Some(b"value".to_vec()));
        let stats = cache.stats();
        assert!(stats.used <= stats.bytes, "{stats:?}");
    }
}

#[test]
fn a_partition_whose_writer_died_is_emptied_once() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    set(&cache, b"a", b"1");
    let child = fork(|| {
        let part = cache.nth(0);
        std::mem::forget(part.lock());
        part.head().sequence_for_test().fetch_or(1, Relaxed);
    });
    assert_eq!(wait(child), 0);
    assert_eq!(bytes(&cache, b"a"), None, "read after the repair, not for ever");
    set(&cache, b"b", b"2");
    assert_eq!(bytes(&cache, b"b"), Some(b"2".to_vec()));
    assert_eq!((cache.stats().emptied, cache.stats().entries), (1, 1));
}

/// A life is its thread's, and the threads of tests end early: so in a process of its own.
#[test]
fn one_maker_at_a_time_and_the_dead_are_replaced() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    let whole = fork(|| {
        let Claim::Mine(mine) = cache.claim(b"k") else { panic!("nobody makes it") };
        assert!(matches!(cache.claim(b"k"), Claim::Taken { here: true }));
        assert!(cache.is_being_made(b"k"));
        assert_eq!(wait(fork(|| assert!(matches!(cache.claim(b"k"), Claim::Taken { here: false })))), 0);
        drop(mine);
        assert!(!cache.is_being_made(b"k"));
        assert_eq!(wait(fork(|| std::mem::forget(cache.claim(b"k")))), 0);
        assert!(cache.is_being_made(b"k"), "entered still");
        assert!(matches!(cache.claim(b"k"), Claim::Mine(_)), "but dead");
    });
    assert_eq!(wait(whole), 0);
}

#[test]
fn more_makers_than_can_be_tracked_make_untracked() {
    let cache = Cache::new(CACHE_LEAST).unwrap();
    let keys: Vec<[u8; 4]> = (0..=crate::cache_part::PRODUCERS as u32).map(u32::to_le_bytes).collect();
    let claims: Vec<Claim<'_>> = keys.iter().map(|key| cache.claim(key)).collect();
    assert!(claims[..crate::cache_part::PRODUCERS].iter().all(|claim| matches!(claim, Claim::Mine(_))));
    assert!(matches!(claims.last(), Some(Claim::Untracked)));
    drop(claims);
    assert!(matches!(cache.claim(&keys[0]), Claim::Mine(_)));
}
