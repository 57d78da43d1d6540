//! `Apus\Coroutine\select()`: whichever of several channels is ready first.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use apus_zend::arg::Given;
use apus_zend::object::Object;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Raise, Value};

use super::channel::{CHANNEL, Channel, ChannelWaiter, Done, Offer, Tried, go_on};
use super::line::Waiter;
use crate::codes::{CLOSED, OK};
use crate::runtime::State;
use crate::wait::Timeout;

const SELECT: &str = "Coroutine\\select()";

enum CaseKey {
    Str(Vec<u8>),
    Index(u64),
}

/// One case: a channel, and the value to push; none to pop.
struct Case {
    key: CaseKey,
    object: Object,
    value: Option<Value>,
    pushes: bool,
}

impl Case {
    fn channel(&self) -> Option<&Channel> {
        self.object.payload::<Channel>()
    }

    fn is_ready(&self) -> bool {
        self.channel().is_some_and(|channel| if self.pushes { channel.can_push() } else { channel.can_pop() })
    }

    fn join(&self, waiter: &Rc<ChannelWaiter>, number: usize) {
        if let Some(channel) = self.channel() {
            if self.pushes { &channel.producers } else { &channel.consumers }.join(waiter, number);
        }
    }

    fn left(&self) {
        if let Some(channel) = self.channel() {
            if self.pushes { &channel.producers } else { &channel.consumers }.left();
        }
    }

    /// `[key, value]` of a case that is done.
    fn result(&self, done: Done) -> Result<Array, Raise> {
        let mut done = done;
        if let Some(channel) = self.channel() {
            done = channel.redeem(done);
            channel.set_err_code(&self.object, if matches!(done, Done::Closed) { CLOSED } else { OK });
        }
        let mut pair = Array::new(2)?;
        pair.push(match &self.key {
            CaseKey::Str(bytes) => Value::string(bytes)?,
            CaseKey::Index(index) => Value::int(*index as i64),
        })?;
        pair.push(match done {
            Done::Popped(value) => value,
            Done::Pushed => Value::bool(true),
            Done::Closed | Done::Promised => Value::bool(false),
        })?;
        Ok(pair)
    }
}

fn channel_of(given: Given<ArrayView<'_>>, view: View<'_>) -> Result<Object, Raise> {
    let wrong = || given.content_error("must hold channels (to pop) and [channel, value] pairs (to push) only");
    let View::Object(object) = view else { return Err(wrong()) };
    if !object.is(&CHANNEL) {
        return Err(wrong());
    }
    let object = object.share();
    if object.payload::<Channel>().is_none() {
        return Err(given.content_error("must not hold a channel whose constructor did not call parent::__construct()"));
    }
    Ok(object)
}

fn push_case(given: Given<ArrayView<'_>>, key: CaseKey, pair: ArrayView<'_>) -> Result<Case, Raise> {
    let mut parts = pair.iter().map(|(_, part)| part);
    let (Some(channel), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(given.content_error("must hold a push case as an array of exactly two: [channel, value]"));
    };
    let object = channel_of(given, channel.view())?;
    Ok(Case { key, object, value: Some(value.value()), pushes: true })
}

fn cases(given: Given<ArrayView<'_>>) -> Result<Vec<Case>, Raise> {
    let mut cases = Vec::with_capacity(given.value.len());
    for (key, case) in given.value.iter() {
        let key = match key {
            Key::Str(bytes) => CaseKey::Str(bytes.to_vec()),
            Key::Index(index) => CaseKey::Index(index),
        };
        cases.push(match case.view() {
            View::Array(pair) => push_case(given, key, pair)?,
            view => Case { key, object: channel_of(given, view)?, value: None, pushes: false },
        });
    }
    if cases.is_empty() {
        return Err(given.value_error("must hold at least one channel"));
    }
    Ok(cases)
}

/// A number below `bound`, for fairness and nothing else (xorshift64*).
fn random_below(bound: usize) -> usize {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0_u8) | 1);
    }
    let mut x = STATE.get();
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    STATE.set(x);
    let high = x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
    ((high * bound as u64) >> 32) as usize
}

/// One of the cases that need not wait, each as likely as the others.
fn ready_case(cases: &[Case]) -> Option<usize> {
    let mut chosen = None;
    let mut ready = 0;
    for (number, _) in cases.iter().enumerate().filter(|(_, case)| case.is_ready()) {
        ready += 1;
        if random_below(ready) == 0 {
            chosen = Some(number);
        }
    }
    chosen
}

/// `Apus\Coroutine\select()`.
pub(super) fn select(given: Given<ArrayView<'_>>, timeout: Timeout) -> Result<Option<Array>, Raise> {
    let mut cases = cases(given)?;
    if let Some(number) = ready_case(&cases) {
        let case = &mut cases[number];
        let mut value = case.value.take();
        let tried = case.channel().map(|c| if case.pushes { c.try_push(&mut value) } else { c.try_pop() });
        if let Some(Tried::Done(done, served)) = tried {
            let result = case.result(done)?;
            case.channel().map_or(Ok(()), |channel| go_on(channel, served))?;
            return Ok(Some(result));
        }
    }
    if timeout.is_zero() {
        return Ok(None);
    }
    let state = State::get()?;
    let values = cases.iter_mut().map(|case| case.value.take()).collect();
    let waiter = Waiter::new(&state, SELECT, Offer::by_case(values))?;
    for (number, case) in cases.iter().enumerate() {
        case.join(&waiter, number);
    }
    let waited = waiter.wait(&state, SELECT, timeout.limit());
    let served = if let Ok(Ok((number, _))) = &waited { Some(*number) } else { None };
    for (number, case) in cases.iter().enumerate() {
        if served != Some(number) {
            case.left();
        }
    }
    waiter.offer.clear();
    match waited? {
        Ok((number, done)) => cases[number].result(done).map(Some),
        Err(_) => Ok(None),
    }
}
