//! Messages between processes that are forked for the test, and killed.
//!
//! Forking would keep other tests' descriptors open, so each test here runs its ignored twin alone in a process of its
//! own.

use std::collections::HashMap;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::PostError;
use crate::ipc::{IpcEndpoint, IpcRings};
use crate::sys;
use apus_shm as shm;

/// A process that sleeps this long is ended by its alarm, in seconds: somebody always has something for it, so a
/// wake-up was lost.
const HANGS: u32 = 30;

/// Runs `life` in a process of its own. The C library makes its allocator usable there, and nothing here takes another
/// lock.
fn process(life: impl FnOnce()) -> Pid {
    if let Some(pid) = sys::fork().unwrap() {
        return pid;
    }
    // Not left behind when the test fails.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).unwrap();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(life));
    sys::leave(if ended.is_ok() { 0 } else { 101 });
}

fn expect_good_end(pid: Pid) {
    assert_eq!(waitpid(pid, None), Ok(WaitStatus::Exited(pid, 0)));
}

fn alarm(seconds: u32) {
    // SAFETY: alarm takes a number and touches no memory.
    unsafe { libc::alarm(seconds) };
}

fn wait_for_ipc(ipc: &IpcEndpoint) {
    alarm(HANGS);
    let _ = poll(&mut [PollFd::new(ipc.fd(), PollFlags::POLLIN)], PollTimeout::NONE);
    alarm(0);
    ipc.clear_signal();
}

/// Two processes, each of which sleeps until the other has answered.
fn ping_pong(turns: u64) -> Duration {
    let office = IpcRings::new(2, 8192).unwrap();
    office.open(0);
    office.open(1);
    let began = Instant::now();
    let player = |slot: usize| {
        move || {
            let ipc = IpcEndpoint::new(office, slot);
            let mut wanted = 1 - slot as u64;
            if slot == 0 {
                ipc.post(1, 0, &[&0u64.to_ne_bytes()]).unwrap();
            }
            while wanted < turns {
                wait_for_ipc(&ipc);
                while ipc.take(usize::MAX, |from, _, payload| {
                    assert_eq!((from, payload), (1 - slot, &wanted.to_ne_bytes()[..]));
                    ipc.post(from, 0, &[&(wanted + 1).to_ne_bytes()]).unwrap();
                    wanted += 2;
                }) {}
            }
        }
    };
    [process(player(0)), process(player(1))].into_iter().for_each(expect_good_end);
    began.elapsed()
}

/// Runs one of the ignored tests in a process that has one thread.
fn alone(test: &str) {
    let program = std::env::current_exe().unwrap();
    let name = format!("ipc_tests::{test}");
    let output = std::process::Command::new(program)
        .args(["--ignored", "--exact", "--test-threads=1", "--nocapture", &name])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let ran = output.status.success() && text.contains("1 passed");
    assert!(ran, "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_wake_up_is_lost_in_a_long_ping_pong() {
    alone("ping_pong_of_100_000");
}

#[test]
#[ignore = "run by no_wake_up_is_lost_in_a_long_ping_pong"]
fn ping_pong_of_100_000() {
    ping_pong(100_000);
}

/// Slots of processes that live through the storm; the other two are killed again and again.
const STEADY: usize = 2;
const SLOTS: usize = 4;

/// What the processes of the storm share beside their messages.
#[derive(Clone, Copy)]
struct Board {
    /// 0: post and take; 1: post nothing more; 2: nobody posts any more, take what is left and go.
    phase: &'static AtomicU64,
    /// Processes that post nothing more.
    quiet: &'static AtomicU64,
    /// For each victim, life and steady receiver: records that `post` took.
    accepted: &'static [AtomicU64],
    lives: usize,
}

impl Board {
    fn new(lives: usize) -> Self {
        let numbers = shm::map::<AtomicU64>(2).unwrap();
        let accepted = shm::map(SLOTS * STEADY * lives).unwrap();
        Self { phase: &numbers[0], quiet: &numbers[1], accepted, lives }
    }

    fn accepted(&self, from: usize, life: usize, to: usize) -> &'static AtomicU64 {
        &self.accepted[(from * self.lives + life) * STEADY + to]
    }
}

/// A process of the storm.
struct Correspondent {
    ipc: IpcEndpoint,
    board: Board,
    life: usize,
    /// Records posted to each.
    sent: [u64; SLOTS],
    /// The next number from each sender and life.
    wanted: HashMap<(usize, usize), u64>,
    random: u64,
}

impl Correspondent {
    fn live(mut self) {
        let steady = self.ipc.slot() < STEADY;
        let mut quiet = false;
        loop {
            let phase = self.board.phase.load(Acquire);
            if phase > 0 && !quiet {
                quiet = true;
                if !steady {
                    return;
                }
                self.board.quiet.fetch_add(1, Release);
            }
            let posted = phase == 0 && (0..SLOTS).map(|to| usize::from(self.post_some(to))).sum::<usize>() > 0;
            let more = self.take_some();
            if phase == 2 && !more {
                break;
            }
            if !posted && !more {
                wait_for_ipc(&self.ipc);
            }
        }
        self.check_that_nothing_is_missing();
    }

    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % below
    }

    fn post_some(&mut self, to: usize) -> bool {
        for n in 0..20 {
            let len = if self.random(8) == 0 { self.random(4000) } else { self.random(200) };
            let number = self.sent[to];
            let head = [self.ipc.slot() as u64, self.life as u64, number].map(u64::to_ne_bytes);
            let body: Vec<u8> = (0..len).map(|at| (number as usize + at) as u8).collect();
            match self.ipc.post(to, number as u8, &[head.as_flattened(), &body]) {
                Ok(()) => self.sent[to] += 1,
                Err(PostError::Full | PostError::Gone) => return n > 0,
                Err(PostError::TooLarge) => panic!("{len} bytes are too large"),
            }
            if to < STEADY {
                self.board.accepted(self.ipc.slot(), self.life, to).store(number + 1, Release);
            }
        }
        true
    }

    fn take_some(&mut self) -> bool {
        let (wanted, lasting) = (&mut self.wanted, self.ipc.slot() < STEADY);
        let mut took = false;
        let more = self.ipc.take(100_000, |from, kind, payload| {
            took = true;
            let word = |n: usize| u64::from_ne_bytes(payload[n * 8..][..8].try_into().unwrap());
            let (life, number) = (word(1) as usize, word(2));
            assert_eq!((word(0), kind), (from as u64, number as u8), "a record from another ring");
            assert!(payload[24..].iter().enumerate().all(|(at, byte)| *byte == (number as usize + at) as u8), "torn");
            assert!(!wanted.contains_key(&(from, life + 1)), "a record of an earlier life after one of a later");
            // Who has lived all along gets all; who was just born may begin in the middle.
            let next = wanted.entry((from, life)).or_insert(if lasting { 0 } else { number });
            assert_eq!(*next, number, "from slot {from}, life {life}");
            *next += 1;
        });
        took || more
    }

    fn check_that_nothing_is_missing(&self) {
        for from in 0..SLOTS {
            for life in 0..self.board.lives {
                let accepted = self.board.accepted(from, life, self.ipc.slot()).load(Acquire);
                let got = self.wanted.get(&(from, life)).copied().unwrap_or(0);
                // One more may be published when the sender is killed before it notes that.
                assert!(got == accepted || got == accepted + 1, "{got} of {accepted} from slot {from}, life {life}");
            }
        }
    }
}

/// Four processes post to each other as fast as they can; two of them are killed and replaced at any instruction.
fn storm(kills: usize) -> u64 {
    let office = IpcRings::new(SLOTS, 16_384).unwrap();
    let board = Board::new(kills / 2 + 2);
    let start = |slot: usize, life: usize| {
        office.open(slot);
        process(move || {
            let ipc = IpcEndpoint::new(office, slot);
            let random = (slot + life * SLOTS) as u64;
            Correspondent { ipc, board, life, sent: [0; SLOTS], wanted: HashMap::new(), random }.live();
        })
    };
    let mut pids: Vec<(Pid, usize)> = (0..SLOTS).map(|slot| (start(slot, 0), 0)).collect();
    let mut random = 1u64;
    for n in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (until, slot) = (Instant::now() + Duration::from_nanos((random >> 33) % 2_000_000), STEADY + n % 2);
        // Not a wait for anything: the moment of the kill is what the test varies.
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let (pid, life) = pids[slot];
        kill(pid, Signal::SIGKILL).unwrap();
        assert_eq!(waitpid(pid, None), Ok(WaitStatus::Signaled(pid, Signal::SIGKILL, false)), "it had ended by itself");
        office.close(slot);
        pids[slot] = (start(slot, life + 1), life + 1);
    }
    end_storm(office, board, &pids);
    board.accepted.iter().map(|count| count.load(Relaxed)).sum()
}

fn end_storm(office: &IpcRings, board: Board, pids: &[(Pid, usize)]) {
    let announce = |phase| {
        board.phase.store(phase, Release);
        office.ring_all();
    };
    announce(1);
    for (slot, (pid, _)) in pids.iter().enumerate().skip(STEADY) {
        expect_good_end(*pid);
        office.close(slot);
    }
    while board.quiet.load(Acquire) < STEADY as u64 {
        assert_eq!(waitpid(pids[0].0, Some(nix::sys::wait::WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive));
        std::thread::yield_now();
    }
    announce(2);
    pids.iter().take(STEADY).for_each(|(pid, _)| expect_good_end(*pid));
}

#[test]
fn kills_at_any_instruction_lose_tear_and_hang_nothing() {
    alone("storm_of_500");
}

#[test]
#[ignore = "run by kills_at_any_instruction_lose_tear_and_hang_nothing"]
fn storm_of_500() {
    let accepted = storm(500);
    assert!(accepted > 10_000, "{accepted} records are no storm");
}

/// `cargo test --release -p apus-process --lib -- --ignored --nocapture --test-threads=1 twenty_thousand`
#[test]
#[ignore = "takes a minute"]
fn twenty_thousand_kills() {
    println!("{} records through 20,000 kills", storm(20_000));
}

/// One process posts as fast as it can, another takes; both sleep when there is nothing to do. Records a second.
fn throughput(len: usize, records: u64) -> f64 {
    let office = IpcRings::new(12, 0).unwrap();
    office.open(0);
    office.open(1);
    let began = Instant::now();
    let sender = process(|| {
        let (ipc, payload) = (IpcEndpoint::new(office, 0), vec![7; len]);
        for n in 0..records {
            while ipc.post(1, 0, &[&n.to_ne_bytes(), &payload[8..]]) == Err(PostError::Full) {
                wait_for_ipc(&ipc);
            }
        }
    });
    let receiver = process(|| {
        let (ipc, mut wanted) = (IpcEndpoint::new(office, 1), 0u64);
        while wanted < records {
            wait_for_ipc(&ipc);
            while ipc.take(256 << 10, |_, _, payload| {
                assert_eq!((&payload[..8], payload.len()), (&wanted.to_ne_bytes()[..], len));
                wanted += 1;
            }) {}
        }
    });
    [sender, receiver].into_iter().for_each(expect_good_end);
    records as f64 / began.elapsed().as_secs_f64()
}

/// One record each `pause` to a process that sleeps in between; how long they took, sorted, in nanoseconds.
fn latencies(records: usize, pause: Duration) -> Vec<u64> {
    let office = IpcRings::new(12, 0).unwrap();
    office.open(0);
    office.open(1);
    let took = shm::map::<AtomicU64>(records).unwrap();
    let clock = Instant::now();
    let sender = process(|| {
        let ipc = IpcEndpoint::new(office, 0);
        for n in 0..records {
            while clock.elapsed() < pause * n as u32 {
                std::hint::spin_loop();
            }
            let now = clock.elapsed().as_nanos() as u64;
            while ipc.post(1, 0, &[&now.to_ne_bytes(), &[0; 92]]) == Err(PostError::Full) {
                wait_for_ipc(&ipc);
            }
        }
    });
    let receiver = process(|| {
        let (ipc, mut got) = (IpcEndpoint::new(office, 1), 0);
        while got < records {
            wait_for_ipc(&ipc);
            while ipc.take(256 << 10, |_, _, payload| {
                let sent = u64::from_ne_bytes(payload[..8].try_into().unwrap());
                took[got].store(clock.elapsed().as_nanos() as u64 - sent, Relaxed);
                got += 1;
            }) {}
        }
    });
    [sender, receiver].into_iter().for_each(expect_good_end);
    let mut took: Vec<u64> = took.iter().map(|nanos| nanos.load(Relaxed)).collect();
    took.sort_unstable();
    took
}

/// `cargo test --release -p apus-process --lib -- --ignored --nocapture --test-threads=1 figures`
#[test]
#[ignore = "prints figures"]
fn figures() {
    for (len, records) in [(16, 20_000_000), (100, 20_000_000), (1000, 5_000_000), (16_000, 500_000)] {
        let rate = throughput(len, records);
        println!("{len} bytes: {:.2} million records/s, {:.0} MB/s", rate / 1e6, rate * len as f64 / 1e6);
    }
    let took = latencies(150_000, Duration::from_micros(33));
    let at = |share: f64| took[(took.len() as f64 * share) as usize] as f64 / 1e3;
    println!("30,000 records/s: p50 {:.1} us, p99 {:.1} us, p99.9 {:.1} us", at(0.5), at(0.99), at(0.999));
    let turns = 200_000;
    println!(
        "ping-pong, both asleep in poll(2): {:.1} us one way",
        ping_pong(turns).as_secs_f64() * 1e6 / turns as f64
    );
}
