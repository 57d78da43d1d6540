//! The queue between processes: what it promises, also when they are killed.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use apus_shm::{Heard, Nothing, Refused, SharedQueue, Watch, map};

mod fork;
use fork::{Child, numbers};

fn popped(queue: &SharedQueue) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    queue.try_pop(&mut message).map(|()| message)
}

#[test]
fn parts_arrive_as_one_message_and_positions_are_told() {
    let queue = SharedQueue::new(4096, 1000).unwrap();
    queue.try_push(&[b"one ", b"", b"message"]).unwrap();
    queue.try_push(&[]).unwrap();
    assert_eq!((queue.len(), queue.bytes(), queue.is_empty()), (2, 16 + 8 + 8, false));
    assert_eq!(popped(&queue).unwrap(), b"one message");
    assert_eq!(popped(&queue).unwrap(), b"");
    assert_eq!(popped(&queue), None);
    let stats = queue.stats();
    assert_eq!((stats.count, stats.bytes, stats.pushed, stats.popped), (0, 0, 2, 2));
}

#[test]
fn the_longest_fits_and_the_next_is_refused_for_good() {
    for longest in [1, 4095, 4096, 100_000] {
        let queue = SharedQueue::new(longest, longest).unwrap();
        let message = vec![7; longest];
        for _ in 0..5 {
            queue.try_push(&[&message]).unwrap();
            assert_eq!(popped(&queue).unwrap(), message);
        }
        assert_eq!(queue.try_push(&[&message, b"x"]), Err(Refused::TooLarge));
    }
}

#[test]
fn sizes_beyond_all_memory_are_refused() {
    assert!(SharedQueue::new(usize::MAX, 1).is_err());
    assert!(SharedQueue::new(usize::MAX / 2, 1).is_err());
}

#[test]
fn any_sequence_is_a_queue() {
    for seed in 0..20 {
        let (queue, mut next) = (SharedQueue::new(5000, 2500).unwrap(), numbers(seed));
        let (mut model, mut full) = (VecDeque::new(), 0);
        for n in 0..20_000usize {
            if next() % 5 < 3 {
                let len = if next() % 4 == 0 { next() % 2501 } else { next() % 60 };
                let message: Vec<u8> = (0..len).map(|at| (at + n) as u8).collect();
                let (first, second) = message.split_at(next() % (len + 1));
                match queue.try_push(&[first, second]) {
                    Ok(()) => model.push_back(message),
                    Err(why) => full += usize::from(why == Refused::Full),
                }
            } else {
                assert_eq!(popped(&queue), model.pop_front());
            }
            let bytes: usize = model.iter().map(|message| 8 + message.len().next_multiple_of(8)).sum();
            assert_eq!((queue.len(), queue.bytes()), (model.len() as u64, bytes as u64));
        }
        assert!(full > 0, "it was never full");
    }
}

#[test]
fn a_reader_that_unwinds_has_taken_nothing() {
    let queue = SharedQueue::new(4096, 100).unwrap();
    queue.try_push(&[b"a"]).unwrap();
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        queue.try_take(|_, _| std::panic::resume_unwind(Box::new(())))
    }));
    assert!(unwound.is_err());
    assert_eq!(popped(&queue).unwrap(), b"a");
}

#[test]
fn closed_it_gives_what_is_there_and_takes_no_more() {
    let queue = SharedQueue::new(4096, 100).unwrap();
    let watch = Watch::new(queue.readable_fd()).unwrap();
    assert_eq!(queue.pop_or_register(&mut Vec::new()), Err(Nothing::Empty));
    queue.try_push(&[b"a"]).unwrap();
    queue.close();
    assert!(queue.is_closed());
    assert_eq!(watch.wait(None, Some(Instant::now())).unwrap(), Heard::Something);
    assert_eq!(queue.try_push(&[b"b"]), Err(Refused::Closed));
    assert_eq!(popped(&queue).unwrap(), b"a");
    assert_eq!(queue.pop_or_register(&mut Vec::new()), Err(Nothing::Closed));
}

#[test]
fn notifiers_notify_those_who_registered_and_nobody_else() {
    let queue = SharedQueue::new(4096 - 8, 4096 - 8).unwrap();
    let heard = |watch: &Watch| watch.wait(None, Some(Instant::now())).unwrap() == Heard::Something;
    let (arrivals, room) = (Watch::new(queue.readable_fd()).unwrap(), Watch::new(queue.writable_fd()).unwrap());
    queue.try_push(&[b"a"]).unwrap();
    assert!(!heard(&arrivals), "nobody had registered");
    assert!(queue.pop_or_register(&mut Vec::new()).is_ok());
    assert!(queue.pop_or_register(&mut Vec::new()).is_err());
    queue.try_push(&[b"a"]).unwrap();
    assert!(heard(&arrivals));
    assert!(!heard(&arrivals), "told once");
    queue.try_push(&[b"b"]).unwrap();
    assert!(!heard(&arrivals), "the interest was fulfilled");
    assert!(popped(&queue).is_some());

    for _ in 0..3 {
        queue.try_push(&[&[0; 1000]]).unwrap();
    }
    assert_eq!(queue.push_or_register(&[&[0; 3000]]), Err(Refused::Full));
    assert!(popped(&queue).is_some() && popped(&queue).is_some());
    assert!(!heard(&room), "it would still not fit");
    queue.try_push(&[&[0; 1000]]).unwrap();
    assert_eq!(queue.push_or_register(&[&[0; 1100]]), Err(Refused::Full));
    assert!(popped(&queue).is_some());
    assert!(heard(&room), "the smaller one fits");
    assert_eq!(queue.push_or_register(&[&[0; 3000]]), Err(Refused::Full));
    assert!(popped(&queue).is_some());
    assert!(heard(&room));
}

#[test]
fn a_queue_whose_consumer_keeps_up_takes_few_pages() {
    let queue = SharedQueue::new(1 << 20, 1000).unwrap();
    for n in 0..20_000usize {
        queue.try_push(&[&[1; 500][..n % 500]]).unwrap();
        queue.try_push(&[b"two"]).unwrap();
        assert!(popped(&queue).is_some() && popped(&queue).is_some());
    }
    assert!(queue.resident() <= 2 * 4096, "{} bytes", queue.resident());
}

/// Messages of one round: who wrote it, its number, and as many bytes as the number says.
struct Round {
    queue: SharedQueue,
    /// By producer: how many messages were accepted for certain; the last one may have been besides.
    accepted: &'static [AtomicU64],
    /// By producer: how many it shall have sent before it ends.
    aims: u64,
    /// By message: how often it was taken.
    taken: &'static [AtomicU32],
    /// By consumer: the message that it was about to take, plus 1.
    about: &'static [AtomicU64],
    /// Messages that were not what a producer had written, or out of order.
    wrong: &'static AtomicU32,
}

const PRODUCERS: usize = 2;
const CONSUMERS: usize = 2;
/// Numbers that a producer may use.
const NUMBERS: u64 = 4096;

impl Round {
    fn new(aims: u64) -> Self {
        Self {
            queue: SharedQueue::new(4000, 700).unwrap(),
            accepted: map(PRODUCERS).unwrap(),
            aims,
            taken: map(PRODUCERS * NUMBERS as usize).unwrap(),
            about: map(CONSUMERS).unwrap(),
            wrong: &map(1).unwrap()[0],
        }
    }

    fn filling(number: u64) -> usize {
        (number * 7919 % if number.is_multiple_of(5) { 690 } else { 40 }) as usize
    }

    /// Sends from where the last process of this place had come to.
    fn produce(&self, me: usize) {
        let room = Watch::new(self.queue.writable_fd()).unwrap();
        let filling = [me as u8 + 1; 700];
        while self.accepted[me].load(SeqCst) < self.aims {
            let number = self.accepted[me].load(SeqCst);
            let id = me as u64 * NUMBERS + number;
            while self.queue.push_or_register(&[&id.to_ne_bytes(), &filling[..Self::filling(number)]]).is_err() {
                room.wait(None, None).unwrap();
            }
            self.accepted[me].store(number + 1, SeqCst);
        }
    }

    fn consume(&self, me: usize) {
        let arrivals = Watch::new(self.queue.readable_fd()).unwrap();
        let mut last = [None; PRODUCERS];
        loop {
            let taken = self.queue.take_or_register(|first, second| {
                let mut message = [0; 700];
                let len = first.len() + second.len();
                message[..first.len()].copy_from_slice(first);
                message[first.len()..len].copy_from_slice(second);
                let id = u64::from_ne_bytes(message[..8].try_into().unwrap());
                self.about[me].store(id + 1, SeqCst);
                (id, len, message)
            });
            match taken {
                Ok((id, len, message)) => {
                    let (from, number) = ((id / NUMBERS) as usize, id % NUMBERS);
                    let whole = from < PRODUCERS
                        && len == 8 + Self::filling(number)
                        && message[8..len].iter().all(|byte| *byte == from as u8 + 1);
                    if !whole || last[from].is_some_and(|last| last >= number) {
                        self.wrong.fetch_add(1, SeqCst);
                    }
                    last[from] = Some(number);
                    self.taken[id as usize].fetch_add(1, SeqCst);
                    self.about[me].store(0, SeqCst);
                }
                Err(Nothing::Empty) => _ = arrivals.wait(None, None).unwrap(),
                Err(Nothing::Closed) => return,
            }
        }
    }

    /// Starts the process of a place: producers first.
    fn start(&self, place: usize) -> Child {
        Child::fork(|| if place < PRODUCERS { self.produce(place) } else { self.consume(place - PRODUCERS) })
    }
}

/// Kills processes at random moments, `kills` times in one round, and looks what has become of the messages.
fn round(seed: u64, kills: usize) {
    let round = Round::new(600);
    let mut next = numbers(seed);
    let mut children: Vec<Child> = (0..PRODUCERS + CONSUMERS).map(|place| round.start(place)).collect();
    // What the dead had in their hands: a message that may be gone, numbers that may have been sent and not been
    // counted.
    let (mut gone, mut uncounted) = (Vec::new(), Vec::new());
    for _ in 0..kills {
        std::thread::sleep(Duration::from_micros(next() as u64 % 900));
        let place = next() % children.len();
        children[place].kill();
        if place < PRODUCERS {
            let number = round.accepted[place].load(SeqCst);
            uncounted.push(place as u64 * NUMBERS + number);
            // The next process must not use the number again.
            round.accepted[place].store(number + 1, SeqCst);
        } else {
            gone.push(round.about[place - PRODUCERS].swap(0, SeqCst).wrapping_sub(1));
        }
        children[place] = round.start(place);
    }
    for child in &mut children[..PRODUCERS] {
        child.finish(Duration::from_secs(30));
    }
    round.queue.close();
    for child in &mut children[PRODUCERS..] {
        child.finish(Duration::from_secs(30));
    }
    assert_eq!(round.wrong.load(SeqCst), 0, "torn, foreign or out of order; seed {seed}");
    for id in 0..PRODUCERS as u64 * NUMBERS {
        let times = round.taken[id as usize].load(SeqCst);
        let sent = id % NUMBERS < round.accepted[(id / NUMBERS) as usize].load(SeqCst);
        assert!(times <= 1, "message {id} came {times} times; seed {seed}");
        assert!(sent || times == 0, "message {id} was never sent; seed {seed}");
        let may_miss = !sent || gone.contains(&id) || uncounted.contains(&id);
        assert!(times == 1 || may_miss, "message {id} was accepted and lost; seed {seed}");
    }
    let stats = round.queue.stats();
    assert_eq!((stats.count, stats.bytes, stats.pushed), (0, 0, stats.popped));
}

#[test]
fn kills_lose_nothing_that_was_accepted() {
    for seed in 0..40 {
        round(seed, 8);
    }
}

/// Thousands of kills: `cargo test -p apus-shm --test queue -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn thousands_of_kills_lose_nothing_that_was_accepted() {
    for seed in 1000..1600 {
        round(seed, 10);
    }
}

#[test]
fn numbers_read_without_the_mutex_are_of_one_moment() {
    let (queue, done) = (SharedQueue::new(4096, 100).unwrap(), &map::<AtomicU32>(1).unwrap()[0]);
    let mut child = Child::fork(|| {
        let mut next = numbers(3);
        while done.load(SeqCst) == 0 {
            if next().is_multiple_of(2) {
                _ = queue.try_push(&[b"16 bytes in all."]);
            } else {
                _ = queue.try_take(|_, _| ());
            }
        }
    });
    // The child may get its first turn late.
    let (mut seen, mut looked, until) = (0, 0, Instant::now() + Duration::from_secs(20));
    while looked < 50_000 || (seen == 0 && Instant::now() < until) {
        let stats = queue.stats();
        assert_eq!(stats.bytes, stats.count * 24);
        assert_eq!(stats.pushed, stats.popped + stats.count);
        (seen, looked) = (seen.max(stats.pushed), looked + 1);
    }
    done.store(1, SeqCst);
    child.finish(Duration::from_secs(20));
    assert!(seen > 0, "nothing was pushed meanwhile");
}

#[test]
fn waiting_processes_hear_of_everything_in_time() {
    const MESSAGES: u64 = 20_000;
    // Room for one message, so that both sides wait all the time.
    let (queue, filling) = (SharedQueue::new(4000, 4000).unwrap(), [0; 3000]);
    let got: &'static [AtomicU64] = map(2).unwrap();
    let mut children: Vec<Child> = (0..2usize)
        .map(|me| {
            Child::fork(|| {
                let watch = Watch::new(queue.readable_fd()).unwrap();
                loop {
                    match queue.take_or_register(|first, _| first.len()) {
                        Ok(_) => _ = got[me].fetch_add(1, SeqCst),
                        Err(Nothing::Empty) => _ = watch.wait(None, None).unwrap(),
                        Err(Nothing::Closed) => return,
                    }
                }
            })
        })
        .collect();
    let room = Watch::new(queue.writable_fd()).unwrap();
    for _ in 0..MESSAGES {
        while queue.push_or_register(&[&filling]).is_err() {
            assert_eq!(
                room.wait(None, Some(Instant::now() + Duration::from_secs(20))).unwrap(),
                Heard::Something,
                "a wake-up was lost"
            );
        }
    }
    queue.close();
    for child in &mut children {
        child.finish(Duration::from_secs(30));
    }
    assert_eq!(got.iter().map(|got| got.load(SeqCst)).sum::<u64>(), MESSAGES);
}

#[test]
fn a_watch_hears_a_second_descriptor_and_the_end_of_time() {
    let queue = SharedQueue::new(8, 8).unwrap();
    let watch = Watch::new(queue.readable_fd()).unwrap();
    let (reader, mut writer) = std::io::pipe().unwrap();
    let soon = || Some(Instant::now() + Duration::from_millis(1));
    assert_eq!(watch.wait(Some(reader.as_fd()), soon()).unwrap(), Heard::Nothing);
    writer.write_all(b"x").unwrap();
    assert_eq!(watch.wait(Some(reader.as_fd()), soon()).unwrap(), Heard::Something);
    assert_eq!(watch.wait(None, soon()).unwrap(), Heard::Nothing);
}
