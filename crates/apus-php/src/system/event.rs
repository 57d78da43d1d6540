//! `Apus\Event`.

use std::rc::{Rc, Weak};
use std::time::Duration;

use apus_coro::{Cancel, Idle};
use apus_zend::arg::{Given, Want};
use apus_zend::call::value_error;
use apus_zend::{Callable, Raise, engine};
use tokio::task::yield_now;

use super::failure::{Noted, set_last_error};
use super::ready::{self, Descriptor, READ, WRITE, Wanted};
use super::watch::{Events, Watched, Watching, hold, release, report};
use crate::exception;
use crate::runtime::{Mode, Room, State};
use crate::timer::Timers;

/// How often it is looked whether a turn of the loop has run coroutines.
const TURN: Duration = Duration::from_millis(1);

/// Throws unless the callbacks answer the events.
fn expect_answers(entry: &Watched, events: i64) -> Result<(), Raise> {
    for (event, index, name) in [(READ, 1, "EVENT_READ"), (WRITE, 2, "EVENT_WRITE")] {
        if !entry.answers(events & event) {
            return Err(value_error(index, &format!("must be a callback when Apus\\{name} is watched, null given")));
        }
    }
    Ok(())
}

pub(crate) fn add(
    Descriptor { value, fd }: Descriptor,
    read: Option<Callable>,
    write: Option<Callable>,
    Wanted(watched): Wanted,
) -> Result<Noted<i64>, Raise> {
    let Some(fd) = fd else { return Ok(Noted(Err(libc::EBADF))) };
    if let Err(code) = ready::now(fd, watched) {
        return Ok(Noted(Err(code)));
    }
    let state = State::get()?;
    let events = Events::get(&state);
    events.forget_stale(fd)?;
    if events.find(Some(fd), &value).is_some() {
        engine::warning(&format!("Apus\\Event::add(): descriptor {fd} is watched already: use Event::set()"))?;
        return Ok(Noted(Err(libc::EEXIST)));
    }
    let entry = Watched::new(fd, value, [read, write], watched);
    expect_answers(&entry, watched)?;
    state.register_finish();
    events.add(&state, &entry);
    Ok(Noted(Ok(i64::from(fd))))
}

/// An entry and where it is kept.
type Found = (Rc<Events>, Rc<Watched>);

/// The entry of a descriptor. `None`: there is none, which function `told` warns of.
fn entry_of(given: &Descriptor, told: Option<&str>) -> Result<Option<Found>, Raise> {
    let events = State::existing().and_then(|state| Events::existing(&state));
    let entry = events.and_then(|events| events.find(given.fd, &given.value).map(|entry| (events, entry)));
    if entry.is_none() {
        set_last_error(libc::ENOENT);
        if let Some(function) = told {
            engine::warning(&format!(
                "Apus\\Event::{function}(): the descriptor is not watched: use Event::add() first"
            ))?;
        }
    }
    Ok(entry)
}

pub(crate) fn set(
    fd: Descriptor,
    read: Option<Callable>,
    write: Option<Callable>,
    events: Given<i64>,
) -> Result<bool, Raise> {
    let callbacks = [read, write];
    let events = if events.value == 0 { 0 } else { Wanted::want(events)?.0 };
    let Some((_, entry)) = entry_of(&fd, Some("set"))? else { return Ok(false) };
    for (index, event) in [(0, READ), (1, WRITE)] {
        if events & event != 0 && callbacks[index].is_none() {
            expect_answers(&entry, event)?;
        }
    }
    entry.set(callbacks, events);
    Ok(true)
}

pub(crate) fn del(fd: Descriptor) -> Result<bool, Raise> {
    Ok(entry_of(&fd, None)?.is_some_and(|(events, entry)| events.remove(&entry)))
}

pub(crate) fn is_set(fd: Descriptor, Wanted(asked): Wanted) -> Result<bool, Raise> {
    Ok(entry_of(&fd, None)?.is_some_and(|(_, entry)| entry.events() & asked != 0))
}

pub(crate) fn write(fd: Descriptor, bytes: Given<&[u8]>) -> Result<Noted<bool>, Raise> {
    if bytes.value.is_empty() {
        return Err(bytes.value_error("cannot be empty"));
    }
    Ok(match entry_of(&fd, Some("write"))? {
        Some((_, entry)) => Noted(entry.send(bytes.value).map(|()| true)),
        None => Noted(Ok(false)),
    })
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

pub(crate) fn wait() -> Result<(), Raise> {
    run("Event::wait()")
}

pub(crate) fn rshutdown() -> Result<(), Raise> {
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

pub(crate) fn dispatch() -> Result<bool, Raise> {
    let Some(state) = State::existing() else { return Ok(false) };
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
    Ok(true)
}

pub(crate) fn exit() {
    let Some(state) = State::existing() else { return };
    state.room::<Watching>().end_all(&state);
    Timers::of(&state).clear_all(&state);
    if state.mode.get() == Mode::Script {
        for id in state.engine.ids() {
            state.engine.cancel(id, Cancel::Throw);
        }
    }
}

pub(crate) fn defer(callback: Callable) -> Result<bool, Raise> {
    let state = State::get()?;
    state.register_finish();
    hold(&state);
    let weak = Rc::downgrade(&state);
    state.spawn(async move {
        let Some(state) = weak.upgrade() else { return };
        report(&state, state.go(callback, Vec::new(), None));
        release(&state);
    });
    Ok(true)
}

/// Calls what `cycle()` was given after each turn in which coroutines ran, as long as there is such a callback. It
/// holds the loop but for a moment after a turn without any, so that the last turn is followed by a call, too.
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

pub(crate) fn cycle(callback: Option<Callable>, before: bool) -> Result<bool, Raise> {
    let slot = usize::from(!before);
    let state = State::get()?;
    let events = Events::get(&state);
    let setting = callback.is_some();
    let old = events.cycles[slot].replace(callback.map(Rc::new));
    if setting && !events.cycling.replace(true) {
        state.register_finish();
        hold(&state);
        state.spawn(cycle_on(Rc::downgrade(&state), Rc::downgrade(&events)));
    }
    Ok(setting || old.is_some())
}

apus_zend::stub!("system/event");
