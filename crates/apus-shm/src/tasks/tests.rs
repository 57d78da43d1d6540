//! The task queue as its processes use it, and with processes that are killed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

use super::*;
use crate::notifier::{Heard, Watch};
use crate::region::map;

const NOW: Order =
    Order { sender: 0, priority: 1, worker: None, when: When::Now, flags: 5, wants: 9, key: 0, interest: false };

fn task_queue() -> TaskQueue {
    TaskQueue::new(1 << 20, 4, 2).unwrap()
}

fn task(taken: Taken) -> Task {
    match taken {
        Taken::Task(task) => task,
        Taken::Nothing(after) => panic!("no task; look again after {after:?}"),
    }
}

fn is_nothing(taken: &Taken) -> bool {
    matches!(taken, Taken::Nothing(_))
}

#[test]
fn a_task_goes_there_and_its_reports_come_back() {
    let task_queue = task_queue();
    for len in [0, 100, SHORT + 1, 200_000] {
        let payload: Vec<u8> = (0..len).map(|n| n as u8).collect();
        let id = task_queue.submit(&NOW, &payload).unwrap();
        let got = task(task_queue.take(1, 0));
        assert_eq!((got.id, got.sender, got.flags, got.wants, got.repeats), (id, 0, 5, 9, false));
        assert!(got.payload == payload && got.born > 1_600_000_000_000_000);
        assert!(is_nothing(&task_queue.take(2, 1)));
        task_queue.report(&got, 1, 7, b"half").unwrap();
        task_queue.finish(&got, 1, Some((8, &payload)), None).unwrap();
        let half = task_queue.collect(0).unwrap();
        assert_eq!(half, Report { task: id, kind: 7, flags: 5, wants: 9, payload: b"half".to_vec() });
        let whole = task_queue.collect(0).unwrap();
        assert!((whole.task, whole.kind) == (id, 8) && whole.payload == payload);
        assert_eq!(task_queue.collect(0), None);
        task_queue.leave(2);
    }
    let id = task_queue.submit(&NOW, b"no answer").unwrap();
    let got = task(task_queue.take(1, 0));
    task_queue.finish(&got, 1, None, None).unwrap();
    assert_eq!((got.id, task_queue.collect(0)), (id, None));
    assert_eq!(task_queue.stats(), Stats { capacity: 1 << 20, ..Stats::default() });
}

#[test]
fn priorities_go_first_and_workers_get_their_own() {
    let task_queue = task_queue();
    let submit = |priority, worker| task_queue.submit(&Order { priority, worker, ..NOW }, b"").unwrap();
    let low = submit(2, None);
    let (own, other) = (submit(1, Some(0)), submit(0, Some(1)));
    let (later, high) = (submit(1, None), submit(0, None));
    let order: Vec<u64> = (0..4).map(|_| task(task_queue.take(1, 0)).id).collect();
    assert_eq!(order, [high, own, later, low]);
    assert!(is_nothing(&task_queue.take(1, 0)));
    assert_eq!((task_queue.stats().waiting, task_queue.stats().idle), (1, 1));
    assert_eq!(task(task_queue.take(2, 1)).id, other);
}

#[test]
fn who_hears_of_an_end_finds_the_worker_idle() {
    let task_queue = task_queue();
    let [first, second] = [1, 2].map(|slot| Watch::new(task_queue.notifier(slot)).unwrap());
    let heard = |watch: &Watch| watch.wait(None, Some(Instant::now())).unwrap();
    assert!(is_nothing(&task_queue.take(2, 1)));
    let waiting = task_queue.submit(&Order { worker: Some(0), ..NOW }, b"").unwrap();
    let own = task(task_queue.take(1, 0));
    assert_eq!(own.id, waiting);
    let next = task_queue.submit(&Order { worker: Some(0), ..NOW }, b"").unwrap();
    let next_taken = task(task_queue.finish_and_take(&own, (1, 0), Some((8, b"")), None).unwrap());
    assert_eq!(next_taken.id, next);
    assert!(is_nothing(&task_queue.finish_and_take(&next_taken, (1, 0), Some((8, b"")), None).unwrap()));
    assert_eq!((task_queue.stats().running, task_queue.stats().idle), (0, 2));
    heard(&first);
    heard(&second);
    task_queue.submit(&NOW, b"").unwrap();
    assert_eq!((heard(&first), heard(&second)), (Heard::Something, Heard::Nothing));
    assert!(matches!(task_queue.take(1, 0), Taken::Task(_)));
}

#[test]
fn a_full_queue_says_so_and_calls_when_there_is_room() {
    let task_queue = task_queue();
    let half = vec![1; 600 << 10];
    assert_eq!(task_queue.submit(&NOW, &vec![0; (1 << 20) + 1]), Err(SubmitError::TooLarge));
    task_queue.submit(&NOW, &half).unwrap();
    assert_eq!(task_queue.submit(&Order { interest: true, ..NOW }, &half), Err(SubmitError::Full));
    let (watch, got) = (Watch::new(task_queue.notifier(0)).unwrap(), task(task_queue.take(1, 0)));
    assert_eq!(watch.wait(None, Some(Instant::now())).unwrap(), Heard::Nothing);
    task_queue.finish(&got, 1, Some((8, &half)), None).unwrap();
    assert_eq!(watch.wait(None, None).unwrap(), Heard::Something);
    task_queue.submit(&NOW, &half).unwrap();
    let again = task(task_queue.take(1, 0));
    assert_eq!(task_queue.finish(&again, 1, Some((8, &half)), None), Err(SubmitError::Full));
    assert_eq!(task_queue.stats().running, 1, "it is not over without its report");
    task_queue.collect(0).unwrap();
    task_queue.finish(&again, 1, Some((8, &half)), None).unwrap();
    assert_eq!(task_queue.collect(0).unwrap().payload, half);
}

/// Takes once the time has come.
fn take_when_due(task_queue: &TaskQueue, slot: usize) -> Task {
    loop {
        match task_queue.take(slot, 0) {
            Taken::Task(task) => return task,
            Taken::Nothing(Some(after)) => {
                Watch::new(task_queue.notifier(slot)).unwrap().wait(None, Some(Instant::now() + after)).unwrap();
            }
            Taken::Nothing(None) => panic!("nothing is due, ever"),
        }
    }
}

#[test]
fn tasks_wait_for_their_time_and_come_again() {
    let task_queue = task_queue();
    let begun = now();
    let later = task_queue.submit(&Order { when: When::After(Duration::from_millis(60)), ..NOW }, b"later").unwrap();
    let every = task_queue.submit(&Order { when: When::Every(Duration::from_millis(20)), ..NOW }, b"every").unwrap();
    let wall = unix_micros() / 1000 + 30;
    let dated = task_queue.submit(&Order { when: When::At(wall), ..NOW }, b"dated").unwrap();
    assert_eq!(task_queue.stats().delayed, 3);
    let mut runs = HashMap::new();
    while runs.len() < 3 || runs[&every] < 3 {
        let task = take_when_due(&task_queue, 1);
        assert!(task.id != later || now() - begun >= 60_000);
        assert!(task.id != dated || unix_micros() / 1000 + 2 >= wall);
        *runs.entry(task.id).or_insert(0) += 1;
        task_queue.finish(&task, 1, None, None).unwrap();
    }
    assert_eq!((runs[&later], runs[&dated]), (1, 1));
    assert_eq!(task_queue.cancel(every), Cancelled::Removed);
    assert_eq!((task_queue.cancel(every), task_queue.cancel(later)), (Cancelled::Unknown, Cancelled::Unknown));
    assert!(matches!(task_queue.take(1, 0), Taken::Nothing(None)));
}

#[test]
fn what_runs_can_be_called_off_and_does_not_come_again() {
    let task_queue = task_queue();
    let id = task_queue.submit(&Order { when: When::Every(Duration::from_micros(1)), ..NOW }, b"").unwrap();
    let task = take_when_due(&task_queue, 1);
    assert!(!task_queue.is_cancelled(&task));
    assert_eq!(task_queue.cancel(id), Cancelled::Running);
    assert!(task_queue.is_cancelled(&task));
    task_queue.finish(&task, 1, Some((1, b"")), None).unwrap();
    assert_eq!(task_queue.cancel(id), Cancelled::Unknown);
    let waiting = task_queue.submit(&NOW, b"").unwrap();
    assert_eq!(task_queue.cancel(waiting), Cancelled::Removed);
    // A key has one task; the one before may still run, and does not come again.
    let keyed = Order { key: 77, when: When::Every(Duration::from_micros(1)), ..NOW };
    task_queue.submit(&keyed, b"first").unwrap();
    let running = take_when_due(&task_queue, 1);
    task_queue.submit(&Order { when: When::After(Duration::from_secs(9)), ..keyed }, b"second").unwrap();
    task_queue.submit(&Order { when: When::After(Duration::from_secs(9)), ..keyed }, b"third").unwrap();
    assert!(task_queue.is_cancelled(&running));
    task_queue.finish(&running, 1, None, None).unwrap();
    assert_eq!((task_queue.stats().delayed, task_queue.stats().running), (1, 0));
    assert!(is_nothing(&task_queue.take(1, 0)));
}

#[test]
fn the_dead_are_told_of_and_what_they_held_comes_back() {
    let task_queue = task_queue();
    let (id, lasting) = (task_queue.submit(&NOW, b"one").unwrap(), {
        let order = Order { when: When::At(1), ..NOW };
        task_queue.submit(&order, b"lasting").unwrap()
    });
    // Not begun when its worker died: it still waits.
    let waiting = task_queue.submit(&Order { priority: 2, ..NOW }, b"waiting").unwrap();
    let begun = [task(task_queue.take(1, 0)).id, task(task_queue.take(1, 0)).id];
    assert!(begun.contains(&id) && begun.contains(&lasting));
    let asked = std::cell::Cell::new(0);
    let lost = task_queue.bury(1, |payload| {
        asked.set(payload.len());
        Some(unix_micros() / 1000 + 1_000_000)
    });
    assert_eq!((lost.len(), asked.get()), (2, b"lasting".len()));
    let told: Vec<(u64, u32)> = std::iter::from_fn(|| task_queue.collect(0)).map(|r| (r.task, r.kind)).collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|(task, kind)| begun.contains(task) && *kind == DIED));
    assert_eq!((task_queue.stats().waiting, task_queue.stats().delayed, task_queue.stats().running), (1, 1, 0));
    assert_eq!(task(task_queue.take(1, 0)).id, waiting);
    // The sender's death: its tasks go on, nobody is told.
    let orphan = task_queue.submit(&Order { sender: 3, ..NOW }, b"").unwrap();
    let got = task(task_queue.take(2, 1));
    task_queue.report(&got, 2, 1, b"half").unwrap();
    task_queue.bury(3, |_| None);
    task_queue.report(&got, 2, 1, b"half").unwrap();
    task_queue.finish(&got, 2, Some((2, b"")), None).unwrap();
    assert_eq!((got.id, task_queue.collect(3)), (orphan, None));
    assert_eq!(task_queue.stats().report_bytes, 0);
}

/// Runs in a process of its own; 0 when it returns.
fn process(run: impl FnOnce()) -> i32 {
    // SAFETY: the child runs `run` and ends by _exit; this test process has no other thread that could hold a lock that
    // `run` needs.
    match unsafe { libc::fork() } {
        0 => {
            let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok();
            // SAFETY: ends this process without running anything of the parent's.
            unsafe { libc::_exit(i32::from(!good)) }
        }
        pid => pid,
    }
}

/// `None` while it lives; else whether it ended well.
fn ended(pid: i32, flags: i32) -> Option<bool> {
    let mut status = 0;
    // SAFETY: a child of this process, and a live integer.
    (unsafe { libc::waitpid(pid, &raw mut status, flags) } == pid).then_some(status == 0)
}

const SENDERS: usize = 2;
const SLOTS: usize = 7;

fn payload(random: &mut u64) -> Vec<u8> {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let len = if *random >> 60 == 0 { 40_000 } else { (*random >> 40) % 1500 } as usize;
    let mut bytes = vec![(*random >> 33) as u8; len + 8];
    let sum = bytes.iter().skip(8).map(|byte| u64::from(*byte)).sum::<u64>();
    bytes[..8].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn check(bytes: &[u8]) {
    let sum = bytes.iter().skip(8).map(|byte| u64::from(*byte)).sum::<u64>();
    assert_eq!(bytes[..8], sum.to_le_bytes(), "torn");
}

fn work(task_queue: &TaskQueue, slot: usize) {
    let watch = Watch::new(task_queue.notifier(slot)).unwrap();
    loop {
        match task_queue.take(slot, slot - SENDERS) {
            Taken::Task(task) => {
                check(&task.payload);
                while task_queue.finish(&task, slot, Some((8, &task.payload)), None) == Err(SubmitError::Full) {
                    watch.wait(None, None).unwrap();
                }
            }
            Taken::Nothing(after) => {
                watch.wait(None, after.map(|after| Instant::now() + after)).unwrap();
            }
        }
    }
}

/// Fewer kills are no storm.
const KILLS: u64 = 20;

/// Hands over so many tasks, more until there have been enough kills, and leaves when each has been answered once.
fn send(task_queue: &TaskQueue, slot: usize, count: usize, answered: &AtomicU64, kills: &AtomicU64) {
    let watch = Watch::new(task_queue.notifier(slot)).unwrap();
    let (mut open, mut random, mut sent) = (HashMap::new(), slot as u64, 0);
    loop {
        let goes_on = sent < count || kills.load(SeqCst) <= KILLS;
        if !goes_on && open.is_empty() {
            return;
        }
        let bytes = payload(&mut random);
        let when = if random >> 58 == 3 { When::After(Duration::from_micros(random >> 54)) } else { When::Now };
        let order = Order { sender: slot, interest: true, when, priority: (random >> 20) as usize % 3, ..NOW };
        let full = if goes_on {
            match task_queue.submit(&order, &bytes) {
                Ok(id) => {
                    sent += 1;
                    assert!(open.insert(id, bytes).is_none());
                    false
                }
                Err(error) => error == SubmitError::Full,
            }
        } else {
            true
        };
        while let Some(report) = task_queue.collect(slot) {
            let bytes = open.remove(&report.task).expect("answered once");
            assert!(report.kind == DIED || report.payload == bytes, "kind {}", report.kind);
            answered.fetch_add(1, SeqCst);
        }
        if full && (goes_on || !open.is_empty()) {
            watch.wait(None, None).unwrap();
        }
    }
}

/// Two senders, four workers of which one is killed every moment, and a sender that is killed as well.
fn storm(count: usize) -> u64 {
    let task_queue: &'static TaskQueue = Box::leak(Box::new(TaskQueue::new(256 << 10, SLOTS, 4).unwrap()));
    let answered: &'static [AtomicU64] = map(SLOTS).unwrap();
    let kills: &'static AtomicU64 = &map(1).unwrap()[0];
    let start = |slot: usize| match slot {
        0..SENDERS => process(|| send(task_queue, slot, count, &answered[slot], kills)),
        6 => process(|| send(task_queue, slot, usize::MAX, &answered[slot], kills)),
        _ => process(|| work(task_queue, slot)),
    };
    let mut pids: Vec<i32> = (0..SLOTS).map(start).collect();
    let (mut random, begun) = (1u64, Instant::now());
    let mut left = SENDERS;
    while left > 0 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let until = Instant::now() + Duration::from_nanos((random >> 33) % 1_000_000);
        // Not a wait for anything: the moment of the kill is what the test varies.
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let slot = SENDERS + (random >> 20) as usize % (SLOTS - SENDERS);
        // SAFETY: a child of this process that was not waited for.
        unsafe { libc::kill(pids[slot], libc::SIGKILL) };
        assert_eq!(ended(pids[slot], 0), Some(false), "slot {slot} had ended by itself");
        task_queue.bury(slot, |_| None);
        pids[slot] = start(slot);
        kills.fetch_add(1, SeqCst);
        for pid in pids.iter_mut().take(SENDERS) {
            if *pid != 0
                && let Some(good) = ended(*pid, libc::WNOHANG)
            {
                assert!(good, "a sender was answered wrong");
                *pid = 0;
                left -= 1;
            }
        }
        let numbers: Vec<u64> = answered.iter().map(|n| n.load(SeqCst)).collect();
        assert!(begun.elapsed() < Duration::from_secs(120), "{numbers:?} {:?}", task_queue.stats());
    }
    for slot in (SENDERS..SLOTS).rev() {
        // SAFETY: as above.
        unsafe { libc::kill(pids[slot], libc::SIGKILL) };
        ended(pids[slot], 0);
        task_queue.bury(slot, |_| None);
    }
    while let Taken::Task(task) = task_queue.take(SENDERS, 0) {
        check(&task.payload);
        task_queue.finish(&task, SENDERS, None, None).unwrap();
    }
    let left = task_queue.stats();
    assert_eq!((left.running, left.waiting, left.report_bytes), (0, 0, 0));
    assert!(left.delayed > 0 || left.task_bytes == 0, "{left:?}");
    kills.load(SeqCst)
}

#[test]
fn kills_at_any_instruction_lose_no_task_and_hang_nobody() {
    let kills = storm(5_000);
    assert!(kills > KILLS, "{kills} kills are no storm");
}

/// `cargo test --release -p apus-shm --lib -- --ignored --nocapture many_kills`
#[test]
#[ignore = "takes a minute"]
fn many_kills() {
    println!("{} kills", storm(1_000_000));
}
