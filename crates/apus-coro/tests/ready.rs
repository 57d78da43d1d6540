//! The engine's own driver: who wakes whom, in which turn, and what a future's panic leaves whole.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::cell::{Cell, RefCell};
use std::future::{poll_fn, ready};
use std::rc::Rc;
use std::task::{Poll, Waker};

use apus_coro::{Cancel, Foresight, Idle, State, Wait, WaitError};
use support::World;
use tokio::sync::oneshot;

const OUTSIDE: Wait = Wait::Outside("test");
const INSIDE: Wait = Wait::Inside("test");

/// Waits until the next wake, whoever wakes; the waker is left in `kept`.
fn wait_for_wake(world: &World, kept: &Rc<RefCell<Option<Waker>>>) -> Result<(), WaitError> {
    let mut asked = false;
    world.engine.wait(
        OUTSIDE,
        poll_fn(|cx| {
            *kept.borrow_mut() = Some(cx.waker().clone());
            if std::mem::replace(&mut asked, true) { Poll::Ready(()) } else { Poll::Pending }
        }),
    )
}

#[test]
fn another_thread_wakes_a_task() {
    let world = World::new();
    let (send, receive) = oneshot::channel();
    let (begun, begin) = std::sync::mpsc::channel();
    world.go(move |w| {
        begun.send(()).expect("the thread waits");
        assert_eq!(w.engine.wait(OUTSIDE, receive), Ok(Ok(7)));
        w.say("woken");
    });
    let thread = std::thread::spawn(move || {
        begin.recv().expect("the task runs");
        send.send(7).expect("it waits");
    });
    assert_eq!(world.run(), Idle::Empty);
    thread.join().expect("it ends");
    assert_eq!(world.said(), ["woken"]);
}

#[test]
fn a_task_that_was_adopted_begins_with_the_loop() {
    let world = World::new();
    let task = world.create(|w| w.say("runs"));
    world.engine.adopt(&task);
    assert_eq!((task.state(), world.said()), (State::New, Vec::new()));
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["runs"]);
}

#[test]
fn drives_and_the_driver_go_together() {
    let world = World::new();
    let (send, receive) = oneshot::channel();
    let task = world.create(move |w| {
        assert_eq!(w.engine.wait(INSIDE, receive), Ok(Ok(1)));
        w.say("driven by itself");
    });
    world.spawn(world.engine.start(&task).expect("it waits"));
    world.go(move |w| {
        assert_eq!(w.engine.wait(OUTSIDE, tokio::task::yield_now()), Ok(()));
        send.send(1).expect("it waits");
        w.say("driven by the engine");
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["driven by the engine", "driven by itself"]);
}

#[test]
fn tasks_go_on_in_the_order_of_their_wakes() {
    let world = World::new();
    let kept: Vec<Rc<RefCell<Option<Waker>>>> = (0..300).map(|_| Rc::default()).collect();
    for (n, slot) in kept.iter().enumerate() {
        let slot = Rc::clone(slot);
        world.go(move |w| {
            wait_for_wake(w, &slot).expect("woken");
            w.say(format!("{n}"));
        });
    }
    world.go(move |w| {
        // Everyone has been polled once when this goes on.
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        for slot in kept.iter().rev() {
            slot.borrow().as_ref().expect("it waits").wake_by_ref();
        }
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), (0..300).rev().map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn what_the_next_tasks_need_is_foreseen_step_by_step() {
    let world = World::new();
    let kept: Vec<Rc<RefCell<Option<Waker>>>> = (0..6).map(|_| Rc::default()).collect();
    let ids: Vec<_> =
        kept.iter().cloned().map(|slot| world.go(move |w| wait_for_wake(w, &slot).expect("woken"))).collect();
    world.go(move |w| {
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        w.engine.switch().foreseen.take();
        for slot in &kept {
            slot.borrow().as_ref().expect("it waits").wake_by_ref();
        }
    });
    assert_eq!(world.run(), Idle::Empty);
    let foreseen = world.engine.switch().foreseen.take();
    let steps = |id| foreseen.iter().filter(|(of, _)| *of == id).map(|(_, step)| *step).collect::<Vec<_>>();
    assert_eq!(steps(ids[4]), [Foresight::Task, Foresight::Record, Foresight::Stack]);
    assert_eq!((steps(ids[0]), steps(ids[1])), (vec![], vec![]), "they run before anything could be fetched");
}

#[test]
fn a_task_that_never_has_to_wait_lets_others_run() {
    let world = World::new();
    let done = Rc::new(Cell::new(0));
    let seen = Rc::clone(&done);
    world.go(move |w| {
        let mut rounds = 0;
        while seen.get() < 2 {
            w.engine.wait(OUTSIDE, ready(())).expect("not cancelled");
            rounds += 1;
            assert!(rounds < 100_000, "nobody else has run");
        }
        w.say("all have run");
    });
    let flag = Rc::clone(&done);
    world.go(move |w| {
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        flag.set(flag.get() + 1);
    });
    // One beside the engine.
    world.spawn(async move { done.set(done.get() + 1) });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(world.said(), ["all have run"]);
}

#[test]
fn an_old_waker_wakes_nobody_else() {
    let world = World::new();
    let old: Rc<RefCell<Option<Waker>>> = Rc::default();
    let slot = Rc::clone(&old);
    let first = world.go(move |w| {
        assert_eq!(wait_for_wake(w, &slot), Err(WaitError::Cancelled(Cancel::Return)));
    });
    let polls = Rc::new(Cell::new(0));
    let count = Rc::clone(&polls);
    world.go(move |w| {
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        w.engine.cancel(first, Cancel::Return);
        w.engine.wait(INSIDE, w.engine.all_ended(&[first])).expect("not cancelled");
        let second = w.go(move |w| {
            let polled = poll_fn(|_| {
                count.set(count.get() + 1);
                Poll::<()>::Pending
            });
            assert_eq!(w.engine.wait(OUTSIDE, polled), Err(WaitError::Cancelled(Cancel::Return)));
        });
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        old.borrow().as_ref().expect("it waited").wake_by_ref();
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        w.engine.cancel(second, Cancel::Return);
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(polls.get(), 1, "only its own first poll");
}

#[test]
fn a_future_that_panics_breaks_off_its_own_wait_only() {
    let world = World::new();
    let silent = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    world.go(|w| {
        let bad = poll_fn(|_| -> Poll<()> { panic!("in a future") });
        assert_eq!(w.engine.wait(OUTSIDE, bad), Err(WaitError::Cancelled(Cancel::Throw)));
        assert_eq!(w.engine.wait(OUTSIDE, ready(1)), Ok(1));
        w.say("broken off");
    });
    world.go(|w| {
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        w.say("whole");
    });
    let idle = world.run();
    std::panic::set_hook(silent);
    assert_eq!(idle, Idle::Empty);
    let mut said = world.said();
    said.sort();
    assert_eq!(said, ["broken off", "whole"]);
}

#[test]
fn ten_thousand_wait_for_one_channel_each() {
    let world = World::new();
    let sum = Rc::new(Cell::new(0_u64));
    let mut senders = Vec::new();
    for _ in 0..10_000 {
        let (send, receive) = oneshot::channel();
        senders.push(send);
        let sum = Rc::clone(&sum);
        world.go(move |w| {
            let got: u64 = w.engine.wait(INSIDE, receive).expect("not cancelled").expect("sent");
            sum.set(sum.get() + got);
        });
    }
    world.go(move |w| {
        w.engine.wait(OUTSIDE, tokio::task::yield_now()).expect("not cancelled");
        for (n, send) in senders.into_iter().enumerate() {
            send.send(n as u64).expect("it waits");
        }
    });
    assert_eq!(world.run(), Idle::Empty);
    assert_eq!(sum.get(), 9_999 * 10_000 / 2);
}
