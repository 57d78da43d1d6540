//! `Apus\Queue`: values from any process to any other.

use std::rc::Rc;

use apus_shm::{Nothing, Refused, SharedQueue as Shared};
use apus_zend::arg::{Given, Me};
use apus_zend::{Array, Raise, Value, engine, native};

use super::notifier::{self, Subscription};
use super::pack;
use crate::codes;
use crate::exception;
use crate::wait::{Deadline, Timeout, Waited};

const PUSH: &str = "Queue::push()";
const POP: &str = "Queue::pop()";

/// The least and the greatest size that a queue can have.
const BYTES: std::ops::RangeInclusive<i64> = 64..=1 << 40;
/// The longest value when nobody says: a quarter of the queue.
const LONGEST_PART: i64 = 4;
/// The greatest length of one value, packed.
const LONGEST: i64 = 1 << 30;

struct Core {
    shared: Shared,
    arrivals: Subscription,
    room: Subscription,
}

struct Queue(Rc<Core>);

native!(Queue, "Apus\\Queue");

fn construct(bytes: Given<i64>, longest: Given<i64>) -> Result<Queue, Raise> {
    if !BYTES.contains(&bytes.value) {
        return Err(bytes.value_error(&format!(
            "must be from {} to {} bytes, {} given",
            BYTES.start(),
            BYTES.end(),
            bytes.value
        )));
    }
    let most = bytes.value.min(LONGEST);
    let longest = match longest.value {
        0 => (bytes.value / LONGEST_PART).min(most),
        bytes if (1..=most).contains(&bytes) => bytes,
        given => {
            return Err(longest
                .value_error(&format!("must be from 1 to {most} bytes, or 0 for a quarter of $bytes, {given} given")));
        }
    };
    let shared = Shared::new(bytes.value as usize, longest as usize)
        .map_err(|error| engine::throw_error(&format!("no memory could be shared for the queue: {error}")))?;
    Ok(Queue(Rc::new(Core { shared, arrivals: Subscription::default(), room: Subscription::default() })))
}

/// Notes how an operation ended, and returns whether it succeeded.
fn finish(queue: &Me<'_, Queue>, code: i64) -> bool {
    queue.object.set_slot(slot::queue::ERR_CODE, Value::int(code));
    code == codes::OK
}

fn push_within(queue: &Me<'_, Queue>, value: &Value, timeout: Timeout) -> Result<bool, Raise> {
    let core = Rc::clone(&queue.0);
    let mut bytes = Vec::with_capacity(128);
    pack::encode(value, &mut bytes)?;
    if !notifier::give_way(PUSH)? {
        return Ok(finish(queue, codes::CANCELED));
    }
    let done = match core.shared.try_push(&[&bytes]) {
        Err(Refused::Full) if !timeout.is_zero() => {
            let look = || match core.shared.push_or_register(&[&bytes]) {
                Err(Refused::Full) => None,
                done => Some(done),
            };
            let until = Deadline::after(timeout.limit());
            notifier::wait_for(&core.room, core.shared.writable_fd(), PUSH, until, look)?
        }
        done => Waited::Got(done),
    };
    let code = match done {
        Waited::Got(Ok(())) => codes::OK,
        Waited::Got(Err(Refused::TooLarge)) => return Err(too_long(&core.shared, bytes.len())),
        Waited::Got(Err(Refused::Closed)) => codes::CLOSED,
        Waited::Got(Err(Refused::Full)) | Waited::TimedOut => codes::TIMEOUT,
        Waited::Cancelled => codes::CANCELED,
    };
    Ok(finish(queue, code))
}

fn too_long(queue: &Shared, len: usize) -> Raise {
    let longest = queue.longest();
    let text = format!(
        "the value takes {len} bytes when packed, and the queue takes at most {longest} for one value: give new Apus\\Queue() a greater $longest"
    );
    exception::throw(exception::code::queue::TOO_LONG, &text)
}

fn pop_within(queue: &Me<'_, Queue>, timeout: Timeout) -> Result<Value, Raise> {
    let core = Rc::clone(&queue.0);
    if !notifier::give_way(POP)? {
        return Ok(finish(queue, codes::CANCELED).into());
    }
    let mut bytes = Vec::new();
    let first = if timeout.is_zero() {
        core.shared.try_take(|first, second| copy(&mut bytes, first, second))
    } else {
        core.shared.take_or_register(|first, second| copy(&mut bytes, first, second))
    };
    let done = match first {
        Err(Nothing::Empty) if !timeout.is_zero() => {
            let look = || match core.shared.take_or_register(|first, second| copy(&mut bytes, first, second)) {
                Err(Nothing::Empty) => None,
                done => Some(done),
            };
            let until = Deadline::after(timeout.limit());
            notifier::wait_for(&core.arrivals, core.shared.readable_fd(), POP, until, look)?
        }
        done => Waited::Got(done),
    };
    let code = match done {
        Waited::Got(Ok(())) => {
            finish(queue, codes::OK);
            return pack::decode(&bytes);
        }
        Waited::Got(Err(Nothing::Closed)) => codes::CLOSED,
        Waited::Got(Err(Nothing::Empty)) | Waited::TimedOut => codes::TIMEOUT,
        Waited::Cancelled => codes::CANCELED,
    };
    Ok(finish(queue, code).into())
}

fn copy(into: &mut Vec<u8>, first: &[u8], second: &[u8]) {
    into.reserve_exact(first.len() + second.len());
    into.extend_from_slice(first);
    into.extend_from_slice(second);
}

fn push(queue: Me<'_, Queue>, value: Value, timeout: Timeout) -> Result<bool, Raise> {
    push_within(&queue, &value, timeout)
}

fn try_push(queue: Me<'_, Queue>, value: Value) -> Result<bool, Raise> {
    push_within(&queue, &value, Timeout::ZERO)
}

fn pop(queue: Me<'_, Queue>, timeout: Timeout) -> Result<Value, Raise> {
    pop_within(&queue, timeout)
}

fn try_pop(queue: Me<'_, Queue>) -> Result<Value, Raise> {
    pop_within(&queue, Timeout::ZERO)
}

fn count(queue: &Queue) -> u64 {
    queue.0.shared.len()
}

fn is_empty(queue: &Queue) -> bool {
    queue.0.shared.is_empty()
}

fn close(queue: &Queue) {
    queue.0.shared.close();
}

fn is_closed(queue: &Queue) -> bool {
    queue.0.shared.is_closed()
}

fn stats(queue: &Queue) -> Result<Array, Raise> {
    let shared = &queue.0.shared;
    let (stats, mut array) = (shared.stats(), Array::new(6)?);
    for (name, value) in [
        ("count", stats.count),
        ("bytes", stats.bytes),
        ("capacity", shared.capacity()),
        ("longest", shared.longest()),
        ("pushed", stats.pushed),
        ("popped", stats.popped),
    ] {
        array.set_int(name.as_bytes(), value as i64)?;
    }
    Ok(array)
}

apus_zend::stub!("memory/queue");
