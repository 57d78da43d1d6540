//! Every rule of the engine, on real stacks, without PHP.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::cell::Cell;
use std::future::{pending, ready};
use std::rc::Rc;
use std::time::Duration;

use apus_coro::{Cancel, Idle, State, Wait, WaitError};
use support::World;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

const OUTSIDE: Wait = Wait::Outside("test");
const INSIDE: Wait = Wait::Inside("test");

fn nap(world: &World, milliseconds: u64) -> Result<(), WaitError> {
    world.engine.wait(OUTSIDE, async move { sleep(Duration::from_millis(milliseconds)).await })
}

#[test]
fn a_task_runs_at_once_until_it_waits() {
    let world = World::new();
    let id = world.go(|w| {
        w.say("begins");
        assert_eq!(nap(w, 5), Ok(()));
        w.say("ends");
    });
    assert_eq!(world.said(), ["begins"]);
    let task = world.engine.find(id).expect("it waits");
    assert_eq!((task.state(), task.wait().name(), task.parent(), task.switches()), (State::Waiting, "test", -1, 1));
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["ends"]);
    assert_eq!((task.state(), task.switches()), (State::Ended, 2));
    assert!(world.engine.find(id).is_none());
    assert_eq!(world.ended(), [id]);
}

#[test]
fn a_task_without_a_wait_needs_no_runtime() {
    let world = World::new();
    let task = world.create(|w| w.say("whole"));
    assert_eq!(task.state(), State::New);
    assert!(world.engine.start(&task).is_none());
    assert_eq!(world.said(), ["whole"]);
    assert_eq!((world.engine.live(), task.state()), (0, State::Ended));
}

#[test]
fn a_drive_runs_a_new_task_to_its_end() {
    let world = World::new();
    let task = world.create(|w| {
        let _ = nap(w, 1);
        w.say("driven");
    });
    world.block_on(world.engine.drive(&task));
    assert_eq!(world.said(), ["driven"]);
}

#[test]
fn a_wait_gives_what_its_future_gives() {
    let world = World::new();
    world.go(|w| {
        assert_eq!(w.engine.wait(OUTSIDE, ready(7)), Ok(7));
        let (send, receive) = oneshot::channel();
        w.go(move |w| {
            let _ = nap(w, 1);
            send.send("text".to_owned()).expect("somebody waits");
        });
        assert_eq!(w.engine.wait(INSIDE, receive), Ok(Ok("text".to_owned())));
        w.say("done");
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["done"]);
}

#[test]
fn waits_outside_tasks_and_where_switching_is_blocked_fail() {
    let world = World::new();
    assert_eq!(nap(&world, 1), Err(WaitError::Outside));
    assert_eq!(world.engine.suspend(), Err(WaitError::Outside));
    world.go(|w| {
        w.engine.switch().blocked.set(true);
        assert_eq!(nap(w, 1), Err(WaitError::Blocked));
        assert_eq!(w.engine.suspend(), Err(WaitError::Blocked));
        w.engine.switch().blocked.set(false);
        assert_eq!(nap(w, 1), Ok(()));
        w.say("waited");
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["waited"]);
}

#[test]
fn ids_count_up_and_parents_are_known() {
    let world = World::new();
    let first = world.go(|w| {
        assert_eq!(w.engine.current_id(), 1);
        let child = w.go(|w| {
            let _ = nap(w, 1);
        });
        assert_eq!((child, w.engine.current_id()), (2, 1));
        assert_eq!(w.engine.find(child).expect("it waits").parent(), 1);
        assert_eq!(w.engine.ids(), [1, 2]);
    });
    assert_eq!((first, world.engine.current_id()), (1, -1));
    assert_eq!(world.run(), Idle::Empty);
    let stats = world.engine.stats();
    assert_eq!((stats.live, stats.peak, stats.created, stats.switches), (0, 2, 2, 3));
}

#[test]
fn resume_runs_a_suspended_task_at_once_and_nothing_else() {
    let world = World::new();
    let suspended = world.go(|w| {
        assert_eq!(w.engine.suspend(), Ok(()));
        w.say("resumed");
        assert_eq!(nap(w, 1), Ok(()));
        w.say("over");
    });
    let sleeping = world.go(|w| {
        let _ = nap(w, 1);
    });
    world.go(move |w| {
        assert!(!w.engine.resume(sleeping));
        assert!(!w.engine.resume(w.engine.current_id()));
        assert!(!w.engine.resume(99));
        assert!(w.engine.resume(suspended));
        w.say("back");
        assert!(!w.engine.resume(suspended));
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["resumed", "back", "over"]);
}

#[test]
fn nested_resumes_unwind_in_order() {
    let world = World::new();
    let ids: Vec<_> = (0..5_i64)
        .map(|n| {
            world.go(move |w| {
                w.engine.suspend().expect("resumed");
                w.say(format!("in {n}"));
                w.engine.resume(w.engine.current_id() + 1);
                w.say(format!("out {n}"));
            })
        })
        .collect();
    assert!(world.engine.resume(ids[0]));
    assert_eq!(world.run(), Idle::Empty);
    let said = world.said();
    assert_eq!(
        (said[0].as_str(), said[4].as_str(), said[5].as_str(), said[9].as_str()),
        ("in 0", "in 4", "out 4", "out 0")
    );
}

/// What a wait gives when it is cancelled in each of the three ways, at each kind of wait.
#[test]
fn cancel_breaks_off_every_wait_in_every_way() {
    type Waiting = fn(&World) -> Result<(), WaitError>;
    let waits: [Waiting; 5] = [
        |w| nap(w, 1_000_000),
        |w| w.engine.suspend(),
        |w| w.engine.wait(INSIDE, pending()),
        |w| w.engine.wait(INSIDE, w.engine.all_ended(&[1])),
        |w| w.engine.wait(OUTSIDE, async { drop(timeout(Duration::from_secs(9), pending::<()>()).await) }),
    ];
    for waiting in waits {
        for how in [Cancel::Return, Cancel::Throw, Cancel::Unwind] {
            let world = World::new();
            // Number 1, for those who wait for it.
            world.go(move |w| {
                let id = w.go(move |w| {
                    assert_eq!(waiting(w), Err(WaitError::Cancelled(how)));
                    assert!(w.engine.current().expect("itself").was_cancelled());
                    assert_eq!(nap(w, 1), Ok(()));
                    assert!(!w.engine.current().expect("itself").was_cancelled());
                    w.say("whole again");
                });
                assert!(w.engine.cancel(id, how));
                assert!(!w.engine.cancel(id, how), "it is cancelled already");
                assert!(!w.engine.cancel(w.engine.current_id(), how), "it runs");
                assert!(!w.engine.cancel(99, how), "there is none");
                assert_eq!(nap(w, 50), Ok(()));
                w.say("parent ends");
            });
            assert_eq!(world.run(), Idle::Empty);
            assert_eq!(world.said(), ["whole again", "parent ends"]);
        }
    }
}

#[test]
fn what_came_before_the_cancellation_is_not_lost() {
    let world = World::new();
    world.go(|w| {
        let (send, receive) = oneshot::channel();
        let id = w.go(move |w| {
            // Ready and cancelled in the same turn: either is right, losing the value and going on is not.
            match w.engine.wait(INSIDE, receive) {
                Ok(value) => assert_eq!(value, Ok(5)),
                Err(error) => assert_eq!(error, WaitError::Cancelled(Cancel::Return)),
            }
            w.say("over");
        });
        send.send(5).expect("it waits");
        w.engine.cancel(id, Cancel::Return);
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["over"]);
}

#[test]
fn a_cancelled_future_is_dropped_before_its_task_goes_on() {
    struct Flag(Rc<Cell<bool>>);
    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let world = World::new();
    let dropped = Rc::new(Cell::new(false));
    let seen = Rc::clone(&dropped);
    let id = world.go(move |w| {
        let flag = Flag(Rc::clone(&seen));
        let future = async move {
            let _flag = flag;
            pending::<()>().await;
        };
        assert!(w.engine.wait(OUTSIDE, future).is_err());
        assert!(seen.get());
    });
    assert!(!dropped.get());
    assert!(world.engine.cancel(id, Cancel::Throw));
    assert_eq!(world.run(), Idle::Empty);
    assert!(dropped.get());
}

#[test]
fn all_ended_waits_for_the_last() {
    let world = World::new();
    world.go(|w| {
        let ids: Vec<_> = [3, 1, 2]
            .into_iter()
            .map(|time| {
                w.go(move |w| {
                    let _ = nap(w, time);
                    w.say(format!("{time}"));
                })
            })
            .collect();
        assert_eq!(w.engine.wait(INSIDE, w.engine.all_ended(&ids)), Ok(()));
        assert_eq!(w.engine.wait(INSIDE, w.engine.all_ended(&ids)), Ok(()), "ended ones count as ended");
        assert_eq!(w.engine.wait(INSIDE, w.engine.all_ended(&[])), Ok(()));
        assert_eq!(w.engine.wait(INSIDE, w.engine.all_ended(&[77])), Ok(()));
        w.say("joined");
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["1", "2", "3", "joined"]);
}

#[test]
fn many_join_one() {
    let world = World::new();
    let one = world.go(|w| {
        let _ = nap(w, 1);
    });
    for _ in 0..10 {
        world.go(move |w| {
            assert_eq!(w.engine.wait(INSIDE, w.engine.all_ended(&[one])), Ok(()));
            w.say("joined");
        });
    }
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said().len(), 10);
}

#[test]
fn tasks_that_wait_for_each_other_are_stuck() {
    let world = World::new();
    let first = world.go(|w| {
        let _ = w.engine.suspend();
    });
    world.go(move |w| {
        let _ = w.engine.wait(INSIDE, w.engine.all_ended(&[first]));
    });
    assert_eq!(world.run(), Idle::Stuck);
    assert_eq!(world.engine.drain(Cancel::Throw, 1), 0);
    assert_eq!(world.run(), Idle::Empty);
}

#[test]
fn nobody_is_stuck_while_the_outside_or_a_hold_can_wake() {
    let world = World::new();
    let suspended = world.go(|w| {
        let _ = w.engine.suspend();
        w.say("resumed");
    });
    world.go(move |w| {
        let _ = nap(w, 100);
        w.engine.resume(suspended);
    });
    assert_eq!(world.run(), Idle::Empty);

    let suspended = world.go(|w| {
        let _ = w.engine.suspend();
        w.say("resumed by a timer");
    });
    world.engine.hold();
    let (engine, again) = (Rc::clone(&world.engine), world.clone());
    world.spawn(async move {
        sleep(Duration::from_millis(100)).await;
        again.engine.resume(suspended);
        engine.release();
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["resumed", "resumed by a timer"]);
}

#[test]
fn stuck_is_noticed_when_the_last_hold_goes() {
    let world = World::new();
    world.go(|w| {
        let _ = w.engine.suspend();
    });
    world.engine.hold();
    let engine = Rc::clone(&world.engine);
    world.spawn(async move {
        sleep(Duration::from_millis(1)).await;
        engine.release();
    });
    assert_eq!(world.run(), Idle::Stuck);
    world.engine.drain(Cancel::Unwind, 1);
}

#[test]
fn an_interrupt_ends_the_waiting_only() {
    let world = World::new();
    world.go(|w| {
        let _ = nap(w, 10);
        w.say("goes on");
    });
    let engine = Rc::clone(&world.engine);
    world.spawn(async move {
        sleep(Duration::from_millis(1)).await;
        engine.interrupt();
    });
    assert_eq!(world.run(), Idle::Interrupted);
    assert_eq!(world.said(), Vec::<String>::new());
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["goes on"]);
}

#[test]
fn drain_ends_all_oldest_first_in_rounds() {
    let world = World::new();
    for n in 0..3 {
        world.go(move |w| {
            for round in 0..n {
                assert!(nap(w, 1_000).is_err());
                w.say(format!("{n} in round {round}"));
            }
        });
    }
    assert_eq!(world.engine.drain(Cancel::Throw, 1), 1);
    assert_eq!(world.engine.drain(Cancel::Throw, 8), 0);
    assert_eq!(world.said(), ["1 in round 0", "2 in round 0", "2 in round 1"]);
    assert_eq!(world.ended(), [1, 2, 3]);
    assert_eq!(world.run(), Idle::Empty);
}

#[test]
fn drain_gives_up_on_those_who_always_wait_again() {
    let world = World::new();
    let id =
        world.go(|w| while w.engine.wait(OUTSIDE, pending::<()>()) != Err(WaitError::Cancelled(Cancel::Unwind)) {});
    assert_eq!(world.engine.drain(Cancel::Throw, 4), 1);
    assert!(world.engine.find(id).is_some());
    assert_eq!(world.engine.drain(Cancel::Unwind, 1), 0);
}

#[test]
fn drain_ends_what_has_not_begun() {
    let world = World::new();
    let task = world.create(|w| w.say("must not run"));
    assert_eq!(world.engine.drain(Cancel::Throw, 1), 0);
    assert_eq!((task.state(), task.switches()), (State::Ended, 0));
    world.block_on(world.engine.drive(&task));
    assert_eq!(world.said(), Vec::<String>::new());
    assert_eq!(world.ended(), [task.id()]);
}

#[test]
fn tasks_made_while_draining_are_ended_too() {
    let world = World::new();
    world.go(|w| {
        assert!(nap(w, 1_000).is_err());
        w.go(|w| {
            assert!(nap(w, 1_000).is_err());
            w.say("the late one is ended");
        });
    });
    assert_eq!(world.engine.drain(Cancel::Throw, 8), 0);
    assert_eq!(world.said(), ["the late one is ended"]);
}

#[test]
fn a_dropped_drive_leaves_its_task_suspended() {
    let world = World::new();
    let task = world.create(|w| {
        assert_eq!(nap(w, 1), Err(WaitError::Cancelled(Cancel::Throw)));
        w.say("ended by the drain");
    });
    drop(world.engine.start(&task).expect("it waits"));
    assert_eq!(task.state(), State::Waiting);
    assert_eq!(world.engine.live(), 1);
    // Somebody else may take it up again.
    drop(world.engine.drive(&task));
    assert_eq!(world.engine.drain(Cancel::Throw, 1), 0);
    assert_eq!(world.said(), ["ended by the drain"]);
}

#[test]
fn a_drive_can_be_handed_on_in_the_middle() {
    let world = World::new();
    let task = world.create(|w| {
        assert_eq!(nap(w, 10), Ok(()));
        assert_eq!(nap(w, 10), Ok(()));
        w.say("whole");
    });
    let drive = world.engine.start(&task).expect("it waits");
    world.block_on(async {
        let mut drive = drive;
        assert!(timeout(Duration::from_millis(15), &mut drive).await.is_err());
        // From a connection's task to the runtime.
        world.spawn(drive);
        world.engine.until_idle().await
    });
    assert_eq!(world.said(), ["whole"]);
}

#[test]
fn ten_thousand_in_turn_and_a_thousand_at_once() {
    let world = World::new();
    for _ in 0..10_000 {
        world.go(|_| {});
    }
    assert_eq!(world.engine.stats().peak, 1);
    for n in 0..1_000 {
        world.go(move |w| {
            assert_eq!(nap(w, n % 7), Ok(()));
            w.say("");
        });
    }
    assert_eq!(world.engine.live(), 1_000);
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said().len(), 1_000);
}
