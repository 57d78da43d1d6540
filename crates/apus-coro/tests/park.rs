//! Parking: tasks that another task has entered again, at once or by the loop; and what tasks hold.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, Held, Idle, TaskId, Wait, WaitError};
use support::World;
use tokio::time::sleep;

const INSIDE: Wait = Wait::Inside("the other one");
const OUTSIDE: Wait = Wait::Outside("a time");

/// A time that begins when it is first waited for: the first slice of a task runs without a clock.
async fn after(milliseconds: u64) {
    sleep(Duration::from_millis(milliseconds)).await;
}

fn parked(world: &World, name: &'static str) -> TaskId {
    world.go(move |w| {
        assert_eq!(w.engine.park(INSIDE), Ok(()));
        w.say(name);
    })
}

#[test]
fn unpark_leaves_it_to_the_loop_and_unpark_now_does_not() {
    let world = World::new();
    world.go(|w| {
        let (later, now) = (parked(w, "later"), parked(w, "now"));
        w.engine.unpark(&w.engine.find(later).expect("it waits"));
        w.unpark_now(&w.engine.find(now).expect("it waits"));
        w.say("unparked");
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["now", "unparked", "later"]);
}

#[test]
fn where_nothing_may_be_suspended_the_loop_enters_it() {
    let world = World::new();
    world.go(|w| {
        let id = parked(w, "parked");
        w.engine.switch().blocked.set(true);
        w.unpark_now(&w.engine.find(id).expect("it waits"));
        assert_eq!(w.engine.park(INSIDE), Err(WaitError::Blocked));
        w.engine.switch().blocked.set(false);
        w.say("unparked");
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["unparked", "parked"]);
    assert_eq!(world.engine.park(INSIDE), Err(WaitError::Outside));
}

#[test]
fn resume_where_nothing_may_be_suspended_is_done_by_the_loop() {
    let world = World::new();
    world.go(|w| {
        let id = w.go(|w| {
            for name in ["first", "second", "third"] {
                assert_eq!(w.engine.suspend(), Ok(()));
                w.say(name);
            }
            assert_eq!(w.engine.suspend(), Err(WaitError::Cancelled(Cancel::Throw)));
        });
        let blocked = |blocked| w.engine.switch().blocked.set(blocked);
        blocked(true);
        assert!(w.engine.resume(id));
        assert!(!w.engine.resume(id), "it is on its way");
        blocked(false);
        assert_eq!(w.said(), [""; 0]);
        assert_eq!(w.engine.wait(OUTSIDE, after(1)), Ok(()));
        assert_eq!(w.said(), ["first"]);
        // The earlier resume is not lost to a later one that comes before it.
        blocked(true);
        assert!(w.engine.resume(id));
        blocked(false);
        assert!(w.engine.resume(id));
        assert_eq!(w.said(), ["second", "third"]);
        assert_eq!(w.engine.wait(OUTSIDE, after(1)), Ok(()));
        assert_eq!(w.said(), [""; 0]);
        assert!(w.engine.cancel(id, Cancel::Throw));
    });
    assert_eq!(world.run(), Idle::Empty);
}

#[test]
fn a_resume_on_its_way_outlives_a_cancellation() {
    let world = World::new();
    world.go(|w| {
        let id = w.go(|w| {
            assert_eq!(w.engine.suspend(), Ok(()));
            assert_eq!(w.engine.suspend(), Err(WaitError::Cancelled(Cancel::Scope(1))));
            w.say("over");
        });
        w.engine.switch().blocked.set(true);
        assert!(w.engine.resume(id));
        w.engine.switch().blocked.set(false);
        assert!(w.engine.cancel(id, Cancel::Scope(1)));
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["over"]);
}

#[test]
fn tasks_that_wake_each_other_for_ever_give_the_loop_its_turn() {
    let world = World::new();
    let over = Rc::new(Cell::new(false));
    let seen = Rc::clone(&over);
    world.go(move |w| {
        let seen_there = Rc::clone(&seen);
        let other = w.go(move |w| {
            while !seen_there.get() {
                assert_eq!(w.engine.park(INSIDE), Ok(()));
            }
        });
        let mut rounds = 0_u32;
        while !seen.get() {
            let Some(task) = w.engine.find(other) else { break };
            let before = task.switches();
            w.unpark_now(&task);
            rounds += 1;
            if task.switches() == before {
                // It was left to the loop, which needs a wait of ours to come to its turn.
                assert_eq!(w.engine.wait(OUTSIDE, after(1)), Ok(()));
            }
            assert!(rounds < 100_000, "the loop has no turn");
        }
        if let Some(task) = w.engine.find(other) {
            w.engine.unpark(&task);
        }
    });
    world.spawn(async move {
        after(5).await;
        over.set(true);
    });
    assert_eq!(world.run(), Idle::Empty);
}

#[test]
fn a_park_has_a_limit_or_is_cancelled_but_not_after_it_was_ended() {
    let world = World::new();
    world.go(|w| {
        assert_eq!(w.engine.park_until(OUTSIDE, after(1)), Ok(false));
        for how in [Cancel::Return, Cancel::Throw, Cancel::Scope(3), Cancel::Deadline(4)] {
            let id = w.go(move |w| {
                assert_eq!(w.engine.park(INSIDE), Err(WaitError::Cancelled(how)));
                w.say("cancelled");
            });
            assert!(w.engine.cancel(id, how));
        }
        let id = w.go(|w| {
            assert_eq!(w.engine.park_until(OUTSIDE, pending()), Ok(true));
            w.say("unparked");
        });
        let task = w.engine.find(id).expect("it waits");
        w.engine.unpark(&task);
        assert!(w.engine.cancel(id, Cancel::Throw));
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["cancelled", "cancelled", "cancelled", "cancelled", "unparked"]);
}

#[test]
fn what_ends_a_stretch_of_code_waits_for_the_next_wait_or_is_taken_back() {
    for taken_back in [false, true] {
        let world = World::new();
        world.go(move |w| {
            let id = w.go(move |w| {
                assert_eq!(w.engine.park(INSIDE), Ok(()));
                let task = w.engine.current().expect("itself");
                w.engine.take_back(&task, Cancel::Deadline(8));
                if taken_back {
                    w.engine.take_back(&task, Cancel::Deadline(7));
                }
                let next = w.engine.park_until(OUTSIDE, after(1));
                let struck = Err(WaitError::Cancelled(Cancel::Deadline(7)));
                assert_eq!(next, if taken_back { Ok(false) } else { struck });
            });
            w.engine.unpark(&w.engine.find(id).expect("it waits"));
            assert!(w.engine.cancel(id, Cancel::Deadline(7)));
        });
        assert_eq!(world.run(), Idle::Empty);
    }
}

#[test]
fn parked_tasks_that_nobody_can_end_are_noticed() {
    let world = World::new();
    world.go(|w| assert_eq!(w.engine.park(INSIDE), Err(WaitError::Cancelled(Cancel::Unwind))));
    assert_eq!(world.run(), Idle::Stuck);
    assert_eq!(world.engine.drain(Cancel::Unwind, 1), 0);
}

#[test]
fn tasks_of_another_engine_are_not_entered() {
    let (world, other) = (World::new(), World::new());
    let id = parked(&world, "entered");
    let task = world.engine.find(id).expect("it waits");
    other.engine.unpark(&task);
    other.unpark_now(&task);
    assert_eq!(world.said(), [""; 0]);
    world.unpark_now(&task);
    assert_eq!(world.said(), ["entered"]);
}

struct Thing(RefCell<Vec<TaskId>>);

impl Held for Thing {
    fn abandoned(self: Rc<Self>, by: TaskId) {
        self.0.borrow_mut().push(by);
    }
}

#[test]
fn what_a_task_holds_at_its_end_is_told() {
    let world = World::new();
    let thing = Rc::new(Thing(RefCell::default()));
    let kept = Rc::clone(&thing);
    let id = world.go(move |w| {
        let task = w.engine.current().expect("itself");
        for _ in 0..3 {
            let held: Rc<dyn Held> = Rc::<Thing>::clone(&kept);
            task.hold(held);
        }
        task.give_back(&kept);
        task.give_back(&Rc::new(Thing(RefCell::default())));
        assert!(kept.0.borrow().is_empty());
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(*thing.0.borrow(), [id, id]);
    assert_eq!(Rc::strong_count(&thing), 1);
}
