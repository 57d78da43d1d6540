//! `Apus\Event`.

use std::os::fd::RawFd;
use std::rc::{Rc, Weak};
use std::time::Duration;

use apus_coro::{Cancel, Idle};
use apus_zend::value::View;
use apus_zend::{Call, Callable, Raise, engine};
use tokio::task::yield_now;

use super::failure::{give, set_last_error};
use super::ready::{self, READ, WRITE, descriptor_of};
use super::watch::{Events, Watched, Watching, hold, release, report};
use crate::exception;
use crate::runtime::{Mode, Room, State};
use crate::timer::Timers;

/// How often it is looked whether a turn of the loop has run coroutines.
const TURN: Duration = Duration::from_millis(1);

fn opt_callable(call: &Call, index: usize) -> Result<Option<Callable>, Raise> {
    if matches!(call.view(index), View::Null) { Ok(None) } else { call.callable(index).map(Some) }
}

fn callbacks(call: &Call) -> Result<[Option<Callable>; 2], Raise> {
    Ok([opt_callable(call, 1)?, opt_callable(call, 2)?])
}

/// Throws unless the callbacks answer the events.
fn expect_answers(call: &Call, entry: &Watched, events: i64) -> Result<(), Raise> {
    for (event, index, name) in [(READ, 1, "EVENT_READ"), (WRITE, 2, "EVENT_WRITE")] {
        if !entry.answers(events & event) {
            return Err(
                call.value_error(index, &format!("must be a callback when Apus\\{name} is watched, null given"))
            );
        }
    }
    Ok(())
}

/// `Event::add()`.
fn add(call: &Call) -> Result<(), Raise> {
    let value = call.value(0);
    let fd = descriptor_of(call, 0)?;
    let callbacks = callbacks(call)?;
    let watched = ready::events(call, 3, READ)?;
    let Some(fd) = fd else { return give(call, Err::<i64, _>(libc::EBADF)) };
    if let Err(code) = ready::now(fd, watched) {
        return give(call, Err::<i64, _>(code));
    }
    let state = State::get()?;
    let events = Events::get(&state);
    events.forget_stale(fd)?;
    if events.find(Some(fd), &value).is_some() {
        set_last_error(libc::EEXIST);
        engine::warning(&format!("Apus\\Event::add(): descriptor {fd} is watched already: use Event::set()"))?;
        return call.ret(false);
    }
    let entry = Watched::new(fd, value, callbacks, watched);
    expect_answers(call, &entry, watched)?;
    state.register_finish();
    events.add(&state, &entry);
    call.ret(i64::from(fd))
}

/// An entry and where it is kept.
type Found = (Rc<Events>, Rc<Watched>);

/// The entry of the first argument. `None`: there is none, which function `told` warns of.
fn entry_of(call: &Call, told: Option<&str>) -> Result<Option<Found>, Raise> {
    let value = call.value(0);
    let fd: Option<RawFd> = descriptor_of(call, 0)?;
    let events = State::existing().and_then(|state| Events::existing(&state));
    if let Some((events, entry)) = events.and_then(|events| events.find(fd, &value).map(|entry| (events, entry))) {
        return Ok(Some((events, entry)));
    }
    set_last_error(libc::ENOENT);
    if let Some(function) = told {
        engine::warning(&format!("Apus\\Event::{function}(): the descriptor is not watched: use Event::add() first"))?;
    }
    Ok(None)
}

/// `Event::set()`.
fn set(call: &Call) -> Result<(), Raise> {
    let callbacks = callbacks(call)?;
    let events = if call.int(3, 0)? == 0 { 0 } else { ready::events(call, 3, 0)? };
    let Some((_, entry)) = entry_of(call, Some("set"))? else { return call.ret(false) };
    for (index, event) in [(0, READ), (1, WRITE)] {
        if events & event != 0 && callbacks[index].is_none() {
            expect_answers(call, &entry, event)?;
        }
    }
    entry.set(callbacks, events);
    call.ret(true)
}

/// `Event::del()`.
fn del(call: &Call) -> Result<(), Raise> {
    let Some((events, entry)) = entry_of(call, None)? else { return call.ret(false) };
    call.ret(events.remove(&entry))
}

/// `Event::isset()`.
fn is_set(call: &Call) -> Result<(), Raise> {
    let asked = ready::events(call, 1, READ | WRITE)?;
    call.ret(entry_of(call, None)?.is_some_and(|(_, entry)| entry.events() & asked != 0))
}

/// `Event::write()`.
fn write(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(1)?;
    if bytes.is_empty() {
        return Err(call.value_error(1, "cannot be empty"));
    }
    let Some((_, entry)) = entry_of(call, Some("write"))? else { return call.ret(false) };
    give(call, entry.send(bytes).map(|()| true))
}

fn expect_outside(state: &State, what: &str) -> Result<(), Raise> {
    if !state.is_looping() && state.engine.current_id() == -1 {
        return Ok(());
    }
    let message = format!("{what} cannot be called inside a coroutine: the event loop that it would run runs already");
    Err(exception::throw(exception::code::coroutine::NESTED_RUN, &message))
}

fn run(what: &str) -> Result<(), Raise> {
    let Some(state) = State::existing() else { return Ok(()) };
    expect_outside(&state, what)?;
    let ended = state.run_to_end();
    if ended.is_err() {
        state.room::<Watching>().end_all(&state);
    }
    ended
}

/// `Event::wait()`.
fn wait(_call: &Call) -> Result<(), Raise> {
    run("Event::wait()")
}

/// `Event::rshutdown()`.
fn rshutdown(_call: &Call) -> Result<(), Raise> {
    run("Event::rshutdown()")
}

/// Resolves when a coroutine has run.
async fn one_turn(state: &State) {
    let before = state.engine.stats().switches;
    loop {
        yield_now().await;
        if state.engine.stats().switches != before {
            return;
        }
        tokio::time::sleep(TURN).await;
    }
}

/// `Event::dispatch()`.
fn dispatch(call: &Call) -> Result<(), Raise> {
    let Some(state) = State::existing() else { return call.ret(false) };
    expect_outside(&state, "Event::dispatch()")?;
    let idle = state.block_on(async {
        tokio::select! {
            biased;
            idle = state.engine.until_idle() => Some(idle),
            () = one_turn(&state) => None,
        }
    });
    if idle == Some(Idle::Interrupted) {
        // What interrupted it is thrown where the loop ends.
        state.engine.interrupt();
        run("Event::dispatch()")?;
    }
    call.ret(true)
}

/// `Event::exit()`.
#[expect(clippy::unnecessary_wraps, reason = "what a method looks like")]
fn exit(_call: &Call) -> Result<(), Raise> {
    let Some(state) = State::existing() else { return Ok(()) };
    state.room::<Watching>().end_all(&state);
    Timers::of(&state).clear_all(&state);
    if state.mode.get() == Mode::Script {
        for id in state.engine.ids() {
            state.engine.cancel(id, Cancel::Throw);
        }
    }
    Ok(())
}

/// `Event::defer()`.
fn defer(call: &Call) -> Result<(), Raise> {
    let callback = call.callable(0)?;
    let state = State::get()?;
    state.register_finish();
    hold(&state);
    let weak = Rc::downgrade(&state);
    state.spawn(async move {
        let Some(state) = weak.upgrade() else { return };
        report(&state, state.go(callback, Vec::new(), None));
        release(&state);
    });
    call.ret(true)
}

/// Calls what `cycle()` was given after each turn in which coroutines ran, as long as there is such a callback. It holds the
/// loop but for a moment after a turn without any, so that the last turn is followed by a call, too.
async fn cycle_on(state: Weak<State>, events: Weak<Events>) {
    let mut seen = u64::MAX;
    loop {
        let (Some(state), Some(events)) = (state.upgrade(), events.upgrade()) else { return };
        // Whatever is due now has its turn first.
        yield_now().await;
        if events.cycles.iter().all(|cycle| cycle.borrow().is_none()) {
            events.cycling.set(false);
            release(&state);
            return;
        }
        if state.engine.stats().switches == seen {
            release(&state);
            yield_now().await;
            hold(&state);
        } else {
            for cycle in &events.cycles {
                let callback = cycle.borrow().as_ref().map(Rc::clone);
                if let Some(callback) = callback {
                    report(&state, state.go(callback.share(), Vec::new(), None));
                }
            }
            State::catch_stray();
            seen = state.engine.stats().switches;
        }
        drop((state, events));
        tokio::time::sleep(TURN).await;
    }
}

/// `Event::cycle()`.
fn cycle(call: &Call) -> Result<(), Raise> {
    let callback = opt_callable(call, 0)?;
    let slot = usize::from(!call.bool(1, false)?);
    let state = State::get()?;
    let events = Events::get(&state);
    let setting = callback.is_some();
    let old = events.cycles[slot].replace(callback.map(Rc::new));
    if setting && !events.cycling.replace(true) {
        state.register_finish();
        hold(&state);
        state.spawn(cycle_on(Rc::downgrade(&state), Rc::downgrade(&events)));
    }
    call.ret(setting || old.is_some())
}

apus_zend::stub!("system/event");
