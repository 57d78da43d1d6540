use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::*;

const IN: u32 = epoll::EventFlags::IN.bits();
const PATIENCE: Duration = Duration::from_secs(60);

fn runtime() -> LocalRuntime {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).expect("a runtime")
}

fn in_loop<F: Future<Output = ()>>(test: impl FnOnce(Rc<Loop>) -> F) {
    let events = Loop::new().expect("an instance of epoll");
    runtime().block_on(async {
        tokio::task::spawn_local(events.driver());
        tokio::time::timeout(PATIENCE, test(events)).await.expect("everybody was told");
    });
}

async fn until(fact: impl Fn() -> bool) {
    while !fact() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Writes down what it is told.
struct Notes {
    id: SourceId,
    told: RefCell<Vec<(Key, u32)>>,
    rung: RefCell<Vec<Key>>,
    runs: Cell<usize>,
    pace: Cell<Pace>,
    ended: Cell<bool>,
}

impl Notes {
    fn of(events: &Loop) -> Rc<Self> {
        let make = |id| {
            Rc::new(Self {
                id,
                told: RefCell::default(),
                rung: RefCell::default(),
                runs: Cell::new(0),
                pace: Cell::new(Pace::Done),
                ended: Cell::new(false),
            })
        };
        events.add(make).expect("a place")
    }
}

impl Source for Notes {
    fn event(&self, key: Key, events: u32) -> bool {
        self.told.borrow_mut().push((key, events));
        true
    }

    fn woken(&self, key: Key) -> bool {
        self.rung.borrow_mut().push(key);
        true
    }

    fn run(&self, _cx: &mut Context<'_>) -> Pace {
        self.runs.set(self.runs.get() + 1);
        self.pace.get()
    }

    fn end(&self) {
        self.ended.set(true);
    }
}

#[test]
fn what_comes_to_a_connection_is_told_under_its_key() {
    in_loop(|events| async move {
        let notes = Notes::of(&events);
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let [first, second] = [1, 2].map(|generation| Key::new(notes.id, 7, generation));
        events.watch(ours.as_fd(), first).expect("watched");
        assert!(events.is_watched(ours.as_raw_fd()) && !events.is_watched(theirs.as_raw_fd()));
        // Again and again, each time after the loop has gone to sleep.
        for _ in 0..20 {
            notes.told.borrow_mut().clear();
            (&theirs).write_all(b"x").expect("written");
            until(|| notes.told.borrow().iter().any(|&(key, events)| key == first && events & IN != 0)).await;
            assert_eq!((&ours).read(&mut [0; 8]).expect("read"), 1);
        }
        events.rewatch(ours.as_fd(), second).expect("watched");
        notes.told.borrow_mut().clear();
        (&theirs).write_all(b"x").expect("written");
        until(|| notes.told.borrow().iter().any(|&(key, events)| key == second && events & IN != 0)).await;
        assert!(notes.told.borrow().iter().all(|&(key, _)| key == second) && notes.runs.get() > 0);
        events.unwatch(ours.as_raw_fd());
        assert!(!events.is_watched(ours.as_raw_fd()));
    });
}

#[test]
fn more_connections_than_the_kernel_tells_of_at_once() {
    in_loop(|events| async move {
        let notes = Notes::of(&events);
        let pairs: Vec<_> = (0..EVENTS + 50).map(|_| UnixStream::pair().expect("a pair")).collect();
        for (place, (ours, _)) in (0..).zip(&pairs) {
            events.watch(ours.as_fd(), Key::new(notes.id, place, 0)).expect("watched");
        }
        for (_, theirs) in &pairs {
            let mut end: &UnixStream = theirs;
            end.write_all(b"x").expect("written");
        }
        let told = || {
            let told = notes.told.borrow();
            (0..pairs.len()).all(|place| told.iter().any(|(key, events)| key.place() == place && events & IN != 0))
        };
        until(told).await;
    });
}

#[test]
fn no_ring_of_another_thread_is_lost() {
    in_loop(|events| async move {
        let notes = Notes::of(&events);
        let bell = events.bell(Key::new(notes.id, 3, 1));
        for round in 0..2_000 {
            let waker = bell.waker().clone();
            // It rings while the loop is at work, going to sleep, or asleep.
            let ringing = std::thread::spawn(move || waker.wake());
            while notes.rung.borrow().len() <= round {
                tokio::task::yield_now().await;
            }
            bell.answer();
            ringing.join().expect("rung");
        }
        bell.waker().wake_by_ref();
        bell.waker().wake_by_ref();
        until(|| notes.rung.borrow().len() == 2_001).await;
    });
}

#[test]
fn guests_go_on_beside_each_other_until_they_end() {
    in_loop(|events| async move {
        let (told, count) = (Rc::new(Cell::new(0)), 100);
        for at in 0..count {
            let told = Rc::clone(&told);
            events.spawn(async move {
                tokio::time::sleep(Duration::from_millis(at % 3)).await;
                assert!(at % 10 != 0, "one of them panics");
                tokio::task::yield_now().await;
                told.set(told.get() + 1);
            });
        }
        until(|| told.get() == 90).await;
        until(|| Rc::strong_count(&told) == 1).await;
    });
}

#[test]
fn who_always_has_more_to_do_leaves_the_others_their_turn() {
    in_loop(|events| async move {
        let notes = Notes::of(&events);
        notes.pace.set(Pace::Later);
        events.ask(notes.id);
        until(|| notes.runs.get() > 1_000).await;
        let (busy, again) = (Notes::of(&events), Rc::clone(&events));
        // A guest that wakes itself, and is never late for it.
        let turns = Rc::new(Cell::new(0));
        let count = Rc::clone(&turns);
        events.spawn(std::future::poll_fn(move |cx| {
            count.set(count.get() + 1);
            again.ask(busy.id);
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        until(|| turns.get() > 10_000).await;
        notes.pace.set(Pace::Done);
        tokio::time::sleep(Duration::from_millis(5)).await;
    });
}

#[test]
fn sources_and_guests_are_given_up_with_the_runtime() {
    let events = Loop::new().expect("an instance of epoll");
    let (notes, removed, held) = (Notes::of(&events), Notes::of(&events), Rc::new(()));
    events.remove(removed.id);
    let kept = Rc::clone(&held);
    events.spawn(async move {
        std::future::pending::<()>().await;
        drop(kept);
    });
    let runtime = runtime();
    runtime.spawn_local(events.driver());
    runtime.block_on(tokio::task::yield_now());
    assert_eq!((notes.ended.get(), Rc::strong_count(&held)), (false, 2));
    drop(runtime);
    assert_eq!((notes.ended.get(), removed.ended.get()), (true, false));
    assert_eq!((Rc::strong_count(&held), Rc::strong_count(&notes)), (1, 1));
    // What comes too late is dropped.
    let kept = Rc::clone(&held);
    events.spawn(async move { drop(kept) });
    assert_eq!(Rc::strong_count(&held), 1);
}
