use std::time::{Duration, Instant};

use super::*;

fn one() -> (&'static Handover, Front, ScriptSeat) {
    let handover = Handover::new(3, 2).unwrap();
    let front = Front::sit(handover, 7).unwrap();
    let seat = ScriptSeat::join(handover, 4, 1234).unwrap();
    seat.ready();
    (handover, front, seat)
}

/// What a process sees of a request, and the front of its answer.
fn exchange(front: &Front, seat: &mut ScriptSeat, text: &[u8]) -> Vec<u8> {
    let mut held = front.take().unwrap();
    held.begin(text, 0, b"x.php", &mut front.wakes());
    assert_eq!(seat.wait(None), Wait::Request);
    let mut begin = Begin::default();
    assert!(seat.begin(&mut begin));
    assert_eq!((&begin.request[..], begin.body), (text, 0));
    assert!(seat.head(b"head") && seat.body(text));
    assert!(text.len() > 1000 || held.piece(0).is_none(), "what is short is published at the end");
    seat.end();
    let answer = body_of(&mut held);
    held.release();
    answer
}

fn body_of(held: &mut Held) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some((piece, len)) = held.piece(0) {
        let end = piece == Pieces::End;
        if let Pieces::Body(first, rest) = piece {
            body.extend_from_slice(first);
            body.extend_from_slice(rest);
        }
        held.free(len);
        if end {
            break;
        }
    }
    body
}

#[test]
fn requests_go_there_and_answers_come_back() {
    let (handover, front, mut seat) = one();
    for text in [&b"one"[..], b"two", &vec![7; 100_000]] {
        assert_eq!(exchange(&front, &mut seat, text), text);
    }
    assert_eq!(handover.usage(), Usage { idle: 1, ..Usage::default() });
}

#[test]
fn a_body_goes_piece_by_piece_in_both_directions() {
    let (_, front, mut seat) = one();
    let body: Vec<u8> = (0..3 * RING).map(|at| (at % 251) as u8).collect();
    let sent = body.clone();
    let mut held = front.take().unwrap();
    held.begin(b"r", body.len() as u64, b"", &mut front.wakes());
    let process = std::thread::spawn(move || {
        let mut begin = Begin::default();
        assert_eq!(seat.wait(None), Wait::Request);
        assert!(seat.begin(&mut begin));
        assert_eq!(begin.body, 3 * RING as u64);
        let mut piece = vec![0; 10_000];
        seat.head(b"");
        loop {
            let read = seat.read(&mut piece);
            if read == 0 {
                break;
            }
            assert!(seat.body(&piece[..read]));
        }
        seat.end();
    });
    let (mut fed, mut got) = (0, Vec::new());
    loop {
        fed += held.feed(&sent[fed..]);
        let Some((piece, len)) = held.piece(0) else {
            std::thread::yield_now();
            continue;
        };
        let end = piece == Pieces::End;
        if let Pieces::Body(first, rest) = piece {
            got.extend_from_slice(first);
            got.extend_from_slice(rest);
        }
        held.free(len);
        if end {
            break;
        }
    }
    process.join().unwrap();
    assert!(got == body, "{} of {} bytes", got.len(), body.len());
}

#[test]
fn who_waits_longest_gets_the_process() {
    let (handover, first, _seat) = one();
    let second = Front::sit(handover, 8).unwrap();
    let held = first.take().unwrap();
    assert!(second.take().is_none() && first.take().is_none());
    first.waits(Some(10));
    second.waits(Some(500));
    held.release();
    assert!(first.take().is_none() && first.given(|_| false).is_none());
    let held = second.given(|_| false).unwrap();
    assert!(second.given(|number| number == held.number()).is_none(), "it is known");
    second.waits(None);
    held.release();
    assert!(first.given(|_| false).is_some());
}

#[test]
fn the_death_of_a_process_is_seen_once_by_its_front() {
    let (handover, front, _seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 0, b"", &mut front.wakes());
    handover.reaped(4);
    assert!(held.is_dead());
    assert_eq!(handover.usage().busy, 0);
    let other = ScriptSeat::join(handover, 4, 5).unwrap();
    other.ready();
    let next = front.take().unwrap();
    assert_ne!(next.number(), held.number(), "it is the front's until that has seen it");
    drop(held);
    assert!(!next.is_dead());
    drop(next);
    handover.reaped(4);
    assert_eq!(handover.usage(), Usage::default());
}

#[test]
fn the_death_of_an_idle_process_leaves_nothing() {
    let (handover, front, _seat) = one();
    handover.reaped(4);
    assert!(front.take().is_none());
    assert_eq!((0..3).filter_map(|slot| ScriptSeat::join(handover, slot, 1)).count(), 3);
}

#[test]
fn the_death_of_a_front_gives_its_processes_back() {
    let (handover, front, mut seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 5, b"", &mut front.wakes());
    assert_eq!(seat.wait(None), Wait::Request);
    let mut begin = Begin::default();
    assert!(seat.begin(&mut begin));
    std::mem::forget(held);
    handover.reaped(7);
    assert!(seat.is_gone());
    assert_eq!(seat.read(&mut [0; 10]), 0, "nobody gives the body");
    let long = vec![1; 2 * RING];
    assert!(!seat.body(&long), "nobody reads the answer");
    seat.end();
    let other = Front::sit(handover, 9).unwrap();
    assert!(other.take().is_none());
    let now = std::time::Instant::now();
    assert_eq!(seat.wait(Some(now)), Wait::Nothing);
    assert_eq!(exchange(&other, &mut seat, b"again"), b"again");
}

#[test]
fn a_request_that_its_process_has_not_begun_dies_with_its_front() {
    let (handover, front, mut seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 0, b"", &mut front.wakes());
    std::mem::forget(held);
    handover.reaped(7);
    assert_eq!(seat.wait(Some(std::time::Instant::now())), Wait::Nothing);
    assert_eq!(handover.usage().idle, 1);
}

#[test]
fn who_is_to_leave_ends_its_request_first() {
    let (handover, front, mut seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 0, b"", &mut front.wakes());
    handover.dismiss(4);
    assert_eq!(seat.wait(None), Wait::Request);
    assert!(seat.begin(&mut Begin::default()));
    seat.end();
    body_of(&mut held);
    front.waits(Some(1000));
    held.release();
    assert_eq!(seat.wait(None), Wait::Leave, "nobody gets it, however long it has waited");
    assert!(front.take().is_none());
}

#[test]
fn what_runs_is_shown() {
    let (handover, front, _seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 0, &[b'x'; 1000], &mut front.wakes());
    let running = handover.running();
    assert_eq!((running.len(), running[0].process, running[0].script.len()), (1, 4, SHOWN));
    drop(held);
}

/// Forked processes that take requests and are killed at any moment; whatever happens, every request ends as answered
/// whole or as lost with its process.
#[test]
fn killed_at_any_instruction() {
    let handover = Handover::new(8, 2).unwrap();
    let front = Front::sit(handover, 100).unwrap();
    let (mut whole, mut lost) = (0, 0);
    for round in 0..200u32 {
        let slot = (round % 4) as usize;
        // SAFETY: the child uses the hand-over alone, and ends by _exit or a signal.
        let child = unsafe { libc::fork() };
        if child == 0 {
            serve_until_killed(handover, slot);
        }
        let deadline = std::time::Instant::now() + std::time::Duration::from_micros(u64::from(round) * 17 % 3000);
        let mut killed = false;
        loop {
            if !killed && std::time::Instant::now() >= deadline {
                // SAFETY: the child is ours and not waited for yet.
                unsafe { libc::kill(child, libc::SIGKILL) };
                // SAFETY: as above.
                unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
                handover.reaped(slot);
                killed = true;
            }
            let Some(mut held) = front.take() else {
                if killed {
                    break;
                }
                std::thread::yield_now();
                continue;
            };
            assert!(!killed, "a process is given that is dead");
            let text = [round as u8; 300];
            held.begin(&text, 0, b"", &mut front.wakes());
            match answer_or_death(&mut held, handover, (child, slot), deadline, &mut killed) {
                Some(body) => {
                    assert_eq!(body, text);
                    whole += 1;
                    held.release();
                }
                None => lost += 1,
            }
        }
        assert_eq!(handover.usage(), Usage::default(), "round {round}");
    }
    assert!(whole > 0 && lost > 0, "{whole} answered, {lost} lost");
}

fn serve_until_killed(handover: &'static Handover, slot: usize) -> ! {
    let Some(mut seat) = ScriptSeat::join(handover, slot, 0) else {
        // SAFETY: ends the child.
        unsafe { libc::_exit(1) };
    };
    seat.ready();
    let mut begin = Begin::default();
    loop {
        if seat.wait(None) == Wait::Request && seat.begin(&mut begin) {
            seat.head(b"h");
            seat.body(&begin.request);
            seat.end();
        }
    }
}

fn answer_or_death(
    held: &mut Held,
    handover: &'static Handover,
    (child, slot): (i32, usize),
    deadline: std::time::Instant,
    killed: &mut bool,
) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        if !*killed && std::time::Instant::now() >= deadline {
            // SAFETY: the child is ours and not waited for yet.
            unsafe { libc::kill(child, libc::SIGKILL) };
            // SAFETY: as above.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
            handover.reaped(slot);
            *killed = true;
        }
        let Some((piece, len)) = held.piece(0) else {
            if held.is_dead() {
                return None;
            }
            std::thread::yield_now();
            continue;
        };
        let end = piece == Pieces::End;
        if let Pieces::Body(first, rest) = piece {
            body.extend_from_slice(first);
            body.extend_from_slice(rest);
        }
        held.free(len);
        if end {
            return Some(body);
        }
    }
}

#[test]
fn a_read_waits_until_it_has_all_or_the_body_ends() {
    let (handover, front, mut seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 12, b"", &mut front.wakes());
    assert_eq!(held.feed(b"0123"), 4);
    let process = std::thread::spawn(move || {
        assert_eq!(seat.wait(None), Wait::Request);
        assert!(seat.begin(&mut Begin::default()));
        let mut piece = [0; 8];
        let first = (seat.read(&mut piece), piece);
        (first, seat.read(&mut piece))
    });
    let wait_until_read = || {
        while !handover.channels[0].to_process.is_read() {
            std::thread::yield_now();
        }
    };
    wait_until_read();
    assert_eq!(held.feed(b"45678"), 5);
    // Of the last four there is one, and then nobody who would send the others.
    wait_until_read();
    handover.reaped(7);
    assert_eq!(process.join().unwrap(), ((8, *b"01234567"), 1));
}

#[test]
fn a_silent_script_is_found_from_outside() {
    let (handover, front, mut seat) = one();
    let mut watch = Watch::default();
    let mut silent = || handover.silent(&mut watch, Duration::ZERO).iter().map(|found| found.pid).collect::<Vec<_>>();
    assert_eq!(silent(), [0; 0], "it has no request");
    let mut held = front.take().unwrap();
    held.begin(b"r", 0, b"x.php", &mut front.wakes());
    assert_eq!(seat.wait(None), Wait::Request);
    assert!(seat.begin(&mut Begin::default()));
    assert_eq!(silent(), [0; 0], "its front is there, and has longer");
    handover.reaped(7);
    assert_eq!(silent(), [1234]);
    seat.end();
    assert_eq!(silent(), [0; 0], "its script has ended");
    assert_eq!(seat.wait(None), Wait::Leave, "it gets no further request");
}

#[test]
fn a_front_that_is_stuck_does_not_keep_a_silent_script() {
    let (handover, front, mut seat) = one();
    let mut held = front.take().unwrap();
    held.begin(b"r", 0, b"x.php", &mut front.wakes());
    assert_eq!(seat.wait(None), Wait::Request);
    assert!(seat.begin(&mut Begin::default()));
    let long_ago = now_ms().saturating_sub(FRONT_FIRST.as_millis() as u64 + 1000);
    handover.channels[held.number()].began.store(long_ago, Relaxed);
    let mut watch = Watch::default();
    assert_eq!(handover.silent(&mut watch, Duration::from_secs(60)), []);
    seat.head(b"head");
    assert!(seat.flush());
    assert_eq!(handover.silent(&mut watch, Duration::ZERO), [], "it has given something");
    let (seen, _) = watch.seen[held.number()].unwrap();
    watch.seen[held.number()] = Some((seen, long_ago));
    let found = handover.silent(&mut watch, Duration::ZERO);
    assert_eq!((found.len(), found[0].pid, &found[0].script[..]), (1, 1234, &b"x.php"[..]));
}

/// Has a process sleep on another thread until it is given a request, or its front is gone.
fn asleep(handover: &'static Handover, mut seat: ScriptSeat) -> std::thread::JoinHandle<Wait> {
    let number = seat.number();
    let thread = std::thread::spawn(move || seat.wait(Some(Instant::now() + Duration::from_secs(60))));
    while handover.channels[number].asleep.load(SeqCst) == 0 {
        std::thread::yield_now();
    }
    thread
}

#[test]
fn several_that_sleep_are_woken_together() {
    let handover = Handover::new(40, 1).unwrap();
    let front = Front::sit(handover, 7).unwrap();
    let seats = (0..40).map(|slot| ScriptSeat::join(handover, slot, 1).unwrap());
    let threads: Vec<_> = seats.inspect(ScriptSeat::ready).map(|seat| asleep(handover, seat)).collect();
    let mut wakes = front.wakes();
    let mut all: Vec<Held> = std::iter::from_fn(|| front.take()).collect();
    for held in &mut all {
        held.begin(b"r", 0, b"", &mut wakes);
    }
    assert_eq!((all.len(), wakes.count()), (40, 40));
    wakes.ring();
    assert_eq!(wakes.count(), 0);
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Wait::Request);
    }
}

#[test]
fn a_front_that_is_killed_before_it_wakes_a_process_leaves_none_asleep() {
    let (handover, front, seat) = one();
    let thread = asleep(handover, seat);
    let mut held = front.take().unwrap();
    let mut wakes = front.wakes();
    held.begin(b"r", 0, b"", &mut wakes);
    std::mem::forget((held, wakes));
    handover.reaped(7);
    while handover.usage().idle == 0 {
        std::thread::yield_now();
    }
    handover.dismiss(4);
    assert_eq!(thread.join().unwrap(), Wait::Leave);
}
