//! `Apus\Coroutine\Channel`: a queue of bounded length between coroutines.
//!
//! A value goes straight to a coroutine that waits for it, which is entered at once, as in the peer: one switch there
//! and one back for what would else take a turn of the event loop. Where it cannot be entered at once, the value goes
//! to the end of the buffer and the coroutine is promised one: it takes the first that is there when it runs, and so
//! does everybody else, so that values come out in the order of their coming whoever is entered first. Invariants: the
//! buffer holds at least what is promised; somebody waits to pop only while it holds no more than that, and to push
//! only while it holds the capacity besides; of a closed channel nobody waits for anything.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use apus_zend::arg::{Made, Me};
use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value, native};

use super::line::{Line, LineError, Waiter};
use crate::codes::{CANCELED, CLOSED, OK, TIMEOUT};
use crate::runtime::State;
use crate::wait::Timeout;

const PUSH: &str = "Coroutine\\Channel::push()";
const POP: &str = "Coroutine\\Channel::pop()";

/// How an operation ended.
pub(super) enum Done {
    Popped(Value),
    /// One of the buffer's values is the coroutine's ([`Channel::redeem`]).
    Promised,
    Pushed,
    Closed,
}

/// What a waiter gets: the number of its case (0 outside `select()`), and what came of it.
pub(super) type Got = (usize, Done);

/// The values that a waiter wants to push.
#[derive(Default)]
pub(super) struct Offer(Cell<Offered>);

#[derive(Default)]
enum Offered {
    #[default]
    Nothing,
    /// One, without an allocation of its own.
    One(Value),
    /// Those of its cases.
    ByCase(Box<[Option<Value>]>),
}

impl Offer {
    fn one(value: Value) -> Self {
        Self(Cell::new(Offered::One(value)))
    }

    pub(super) fn by_case(values: Vec<Option<Value>>) -> Self {
        Self(Cell::new(Offered::ByCase(values.into())))
    }

    fn take(&self, case: usize) -> Option<Value> {
        match self.0.take() {
            Offered::Nothing => None,
            Offered::One(value) => Some(value),
            Offered::ByCase(mut values) => {
                let value = values.get_mut(case).and_then(Option::take);
                self.0.set(Offered::ByCase(values));
                value
            }
        }
    }

    /// Gives back what nobody took; a waiter that has left a line may stay there for a while.
    #[inline]
    pub(super) fn clear(&self) {
        drop(self.0.take());
    }
}

/// A coroutine that waits at a channel, or at several.
pub(super) type ChannelWaiter = Waiter<Got, Offer>;

/// What came of an operation that does not wait, and who is to go on because of it.
pub(super) enum Tried {
    Done(Done, Option<Rc<ChannelWaiter>>),
    /// It would have to wait.
    NotNow,
}

/// The state of a channel.
pub(super) struct Channel {
    capacity: usize,
    buffer: RefCell<VecDeque<Value>>,
    /// How many of the buffer's values belong to coroutines that were served and have not run yet.
    promised: Cell<usize>,
    pub(super) consumers: Line<Got, usize, Offer>,
    pub(super) producers: Line<Got, usize, Offer>,
    closed: Cell<bool>,
    /// The waiter that was used last, to be used again.
    spare: Cell<Option<Rc<ChannelWaiter>>>,
    /// What `$errCode` was set to last.
    err_code: Cell<i64>,
    /// The lines of which it was told that nobody will serve them.
    discarded: Cell<Discarded>,
}

/// Whether code written for Swoole was told of the producers, and of the consumers, that wait for ever.
#[derive(Default, Clone, Copy)]
struct Discarded {
    producers: bool,
    consumers: bool,
}

native!(Channel, "Apus\\Coroutine\\Channel", |channel, held| {
    // Who waits with a value to push holds the channel itself.
    if let Ok(buffer) = channel.buffer.try_borrow() {
        buffer.iter().for_each(|value| held.value(value));
    }
});

impl Channel {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            buffer: RefCell::default(),
            promised: Cell::new(0),
            consumers: Line::default(),
            producers: Line::default(),
            closed: Cell::new(false),
            spare: Cell::default(),
            err_code: Cell::new(OK),
            discarded: Cell::default(),
        }
    }

    /// Values that nobody was promised.
    #[inline]
    fn len(&self) -> usize {
        self.buffer.borrow().len() - self.promised.get()
    }

    pub(super) fn can_push(&self) -> bool {
        self.closed.get() || self.consumers.first().is_some() || self.len() < self.capacity
    }

    pub(super) fn can_pop(&self) -> bool {
        self.closed.get() || self.len() > 0
    }

    /// Whether a value can be put into the buffer with nobody to be told.
    #[inline]
    fn takes_quietly(&self) -> bool {
        !self.closed.get() && self.consumers.is_bare() && self.len() < self.capacity
    }

    /// The first value, where nobody waits for its room.
    #[inline]
    fn give_quietly(&self) -> Option<Value> {
        if self.producers.is_bare() && self.len() > 0 { self.buffer.borrow_mut().pop_front() } else { None }
    }

    /// Pushes without waiting; takes the value only when that succeeds.
    #[inline]
    pub(super) fn try_push(&self, value: &mut Option<Value>) -> Tried {
        if self.closed.get() {
            return Tried::Done(Done::Closed, None);
        }
        if let Some((consumer, case)) = self.consumers.take() {
            if let Some(value) = value.take() {
                consumer.serve((case, self.hand_over(value)));
            }
            return Tried::Done(Done::Pushed, Some(consumer));
        }
        if self.len() >= self.capacity {
            return Tried::NotNow;
        }
        if let Some(value) = value.take() {
            self.buffer.borrow_mut().push_back(value);
        }
        Tried::Done(Done::Pushed, None)
    }

    /// What a coroutine that waits to pop is served with: the value, unless earlier ones are on their way.
    #[inline]
    fn hand_over(&self, value: Value) -> Done {
        if self.promised.get() == 0 { Done::Popped(value) } else { self.promise(value) }
    }

    #[cold]
    fn promise(&self, value: Value) -> Done {
        self.buffer.borrow_mut().push_back(value);
        self.promised.set(self.promised.get() + 1);
        Done::Promised
    }

    /// What an operation came to, now that its coroutine runs.
    #[inline]
    pub(super) fn redeem(&self, done: Done) -> Done {
        let Done::Promised = done else { return done };
        self.promised.set(self.promised.get() - 1);
        self.buffer.borrow_mut().pop_front().map_or(Done::Closed, Done::Popped)
    }

    /// Pops without waiting; the first who waits to push gets the room.
    #[inline]
    pub(super) fn try_pop(&self) -> Tried {
        let popped = if self.len() > 0 { self.buffer.borrow_mut().pop_front() } else { None };
        let Some(value) = popped else {
            return if self.closed.get() { Tried::Done(Done::Closed, None) } else { Tried::NotNow };
        };
        let producer = self.producers.take().map(|(producer, case)| {
            self.buffer.borrow_mut().extend(producer.offer.take(case));
            producer.serve((case, Done::Pushed));
            producer
        });
        Tried::Done(Done::Popped(value), producer)
    }

    /// Coroutines that wait here are ended because nothing can wake them: there that is told of when the script has
    /// ended.
    #[cold]
    fn tell_discarded(&self, state: &State, what: &str, number: usize) {
        let mut told = self.discarded.get();
        let (line, known) =
            if what == PUSH { ("producers", &mut told.producers) } else { ("consumers", &mut told.consumers) };
        if !std::mem::replace(known, true) {
            state.warn_at_end(format!(
                "Channel::~Channel() (ERRNO 10003): channel is destroyed, {number} {line} will be discarded"
            ));
        }
        self.discarded.set(told);
    }

    /// Closes it: everybody who waits is served, and given to be entered. `None`: it was closed before.
    fn close(&self) -> Option<Vec<Rc<ChannelWaiter>>> {
        if self.closed.replace(true) {
            return None;
        }
        let mut served = Vec::new();
        for line in [&self.producers, &self.consumers] {
            while let Some((waiter, case)) = line.take() {
                waiter.serve((case, Done::Closed));
                served.push(waiter);
            }
        }
        Some(served)
    }

    /// Sets `$errCode` of `object`, which is the channel's.
    pub(super) fn set_err_code(&self, object: &Object, code: i64) {
        if self.err_code.replace(code) != code {
            object.set_slot(slot::channel::ERR_CODE, Value::int(code));
        }
    }
}

/// Enters the coroutine that an operation on the channel served.
#[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
#[inline(always)]
pub(super) fn go_on(channel: &Channel, served: Option<Rc<ChannelWaiter>>) -> Result<(), Raise> {
    let Some(served) = served else { return Ok(()) };
    let Some(state) = State::existing() else { return Ok(()) };
    let task = Rc::clone(served.task());
    if !state.engine.enters_now() {
        leave_to_loop(channel, &served);
        state.engine.unpark(&task);
        return state.check_stop();
    }
    // The coroutine may want to wait again with the same waiter.
    drop(served);
    state.engine.enter_now(&task);
    state.check_stop()
}

/// A value on its way to a coroutine that others will overtake waits for it in the buffer.
#[cold]
fn leave_to_loop(channel: &Channel, served: &ChannelWaiter) {
    served.change(|(case, done)| match done {
        Done::Popped(value) => (case, channel.promise(value)),
        done => (case, done),
    });
}

#[inline]
fn set_err(call: &Call, channel: &Channel, code: i64) -> Result<(), Raise> {
    if channel.err_code.get() == code { Ok(()) } else { change_err(call, channel, code) }
}

#[cold]
fn change_err(call: &Call, channel: &Channel, code: i64) -> Result<(), Raise> {
    let object = call.object()?;
    channel.set_err_code(&object, code);
    Ok(())
}

/// Returns what came of an operation, after the coroutine that it served has run. `$errCode` comes last: that one may
/// have used the channel meanwhile.
#[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
#[inline(always)]
fn finish(call: &Call, channel: &Channel, done: Done, served: Option<Rc<ChannelWaiter>>) -> Result<(), Raise> {
    let code = if matches!(done, Done::Closed) { CLOSED } else { OK };
    match done {
        Done::Popped(value) => call.ret(value)?,
        Done::Pushed => call.ret(true)?,
        Done::Closed | Done::Promised => call.ret(false)?,
    }
    go_on(channel, served)?;
    set_err(call, channel, code)
}

/// Waits in one line of the channel.
#[expect(clippy::inline_always, reason = "one return less after a switch, which the processor cannot predict")]
#[inline(always)]
fn wait(
    call: &Call,
    channel: &Channel,
    what: &'static str,
    line: &Line<Got, usize, Offer>,
    offer: Offer,
    limit: Option<Duration>,
) -> Result<(), Raise> {
    let state = State::get()?;
    let waiter = Waiter::renew(channel.spare.take(), &state, what, offer)?;
    line.join(&waiter, 0);
    let waited = waiter.wait(&state, what, limit);
    if !matches!(waited, Ok(Ok(_))) {
        line.left();
        if waited.is_err() && state.is_stuck() {
            channel.tell_discarded(&state, what, line.len() + 1);
        }
    }
    waiter.offer.clear();
    channel.spare.set(Some(waiter));
    match waited? {
        Ok((_, done)) => finish(call, channel, channel.redeem(done), None),
        Err(unserved) => {
            set_err(call, channel, if unserved == LineError::TimedOut { TIMEOUT } else { CANCELED })?;
            call.ret(false)
        }
    }
}

#[inline]
fn limit(call: &Call, index: usize) -> Result<Option<Duration>, Raise> {
    if call.count() <= index { Ok(None) } else { Ok(Timeout::of(call, index, -1.0)?.limit_or_none()) }
}

fn construct(size: i64) -> Made<Channel, 1> {
    let capacity = size.max(1);
    Made(Channel::new(capacity as usize), [(slot::channel::CAPACITY, Value::int(capacity))])
}

fn push(call: &Call) -> Result<(), Raise> {
    let channel = call.this::<Channel>()?;
    let limit = limit(call, 1)?;
    if channel.takes_quietly() {
        channel.buffer.borrow_mut().push_back(call.value(0));
        call.ret(true)?;
        return set_err(call, channel, OK);
    }
    let mut value = Some(call.value(0));
    match channel.try_push(&mut value) {
        Tried::Done(done, served) => finish(call, channel, done, served),
        Tried::NotNow => {
            let offer = value.map(Offer::one).unwrap_or_default();
            wait(call, channel, PUSH, &channel.producers, offer, limit)
        }
    }
}

fn pop(call: &Call) -> Result<(), Raise> {
    let channel = call.this::<Channel>()?;
    let limit = limit(call, 0)?;
    if let Some(value) = channel.give_quietly() {
        call.ret(value)?;
        return set_err(call, channel, OK);
    }
    match channel.try_pop() {
        Tried::Done(done, served) => finish(call, channel, done, served),
        Tried::NotNow => wait(call, channel, POP, &channel.consumers, Offer::default(), limit),
    }
}

fn close(channel: Me<'_, Channel>) -> Result<bool, Raise> {
    let Some(served) = channel.close() else {
        channel.set_err_code(&channel.object, CLOSED);
        return Ok(false);
    };
    let mut outcome = Ok(());
    for waiter in served {
        // Who was served goes on whatever becomes of the others.
        match outcome {
            Ok(()) => outcome = go_on(&channel, Some(waiter)),
            Err(_) => waiter.unpark(),
        }
    }
    outcome.map(|()| true)
}

fn stats(channel: &Channel) -> Result<Array, Raise> {
    let mut array = Array::new(3)?;
    array.set_int(b"consumer_num", channel.consumers.len() as i64)?;
    array.set_int(b"producer_num", channel.producers.len() as i64)?;
    array.set_int(b"queue_num", channel.len() as i64)?;
    Ok(array)
}

fn length(channel: &Channel) -> usize {
    channel.len()
}

fn is_empty(channel: &Channel) -> bool {
    channel.len() == 0
}

fn is_full(channel: &Channel) -> bool {
    channel.len() >= channel.capacity
}

apus_zend::stub!("sync/channel");
