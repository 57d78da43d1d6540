//! `Apus\Queue`: values from any process to any other.

use std::rc::Rc;
use std::time::Duration;

use apus_shm::{Nothing, Queue as Shared, Refused};
use apus_zend::{Array, Call, Raise, Value, engine, native};

use super::bell::{self, Ears, Waited};
use super::pack;
use crate::codes;
use crate::exception;
use crate::wait::time_limit;

const PUSH: &str = "Queue::push()";
const POP: &str = "Queue::pop()";

/// The least and the greatest size that a queue can have.
const BYTES: std::ops::RangeInclusive<i64> = 64..=1 << 40;
/// The longest value when nobody says: a quarter of the queue.
const LONGEST_PART: i64 = 4;
/// The greatest length of one value, packed.
const LONGEST: i64 = 1 << 30;
const ERR_CODE_SLOT: u32 = 0;

struct Core {
    shared: Shared,
    arrivals: Ears,
    room: Ears,
}

struct Queue(Rc<Core>);

native!(Queue, "Apus\\Queue");

fn construct(call: &Call) -> Result<(), Raise> {
    let (bytes, longest) = (call.int(0, 0)?, call.int(1, 0)?);
    if !BYTES.contains(&bytes) {
        return Err(
            call.value_error(0, &format!("must be from {} to {} bytes, {bytes} given", BYTES.start(), BYTES.end()))
        );
    }
    let most = bytes.min(LONGEST);
    let longest = match longest {
        0 => (bytes / LONGEST_PART).min(most),
        longest if (1..=most).contains(&longest) => longest,
        longest => {
            return Err(call.value_error(
                1,
                &format!("must be from 1 to {most} bytes, or 0 for a quarter of $bytes, {longest} given"),
            ));
        }
    };
    let shared = Shared::new(bytes as usize, longest as usize)
        .map_err(|error| engine::throw_error(&format!("no memory could be shared for the queue: {error}")))?;
    call.construct(Queue(Rc::new(Core { shared, arrivals: Ears::default(), room: Ears::default() })))
}

fn set_err(call: &Call, code: i64) -> Result<(), Raise> {
    call.object()?.set_slot(ERR_CODE_SLOT, Value::int(code));
    Ok(())
}

fn core(call: &Call) -> Result<Rc<Core>, Raise> {
    Ok(Rc::clone(&call.this::<Queue>()?.0))
}

fn push_within(call: &Call, limit: Option<Duration>) -> Result<(), Raise> {
    let core = core(call)?;
    let mut bytes = Vec::with_capacity(128);
    pack::encode(&call.value(0), &mut bytes)?;
    if !bell::give_way(PUSH)? {
        return finish(call, codes::CANCELED, false);
    }
    let done = match core.shared.try_push(&[&bytes]) {
        Err(Refused::Full) if limit != Some(Duration::ZERO) => {
            let look = || match core.shared.push_or_wish(&[&bytes]) {
                Err(Refused::Full) => None,
                done => Some(done),
            };
            bell::wait_for(&core.room, core.shared.writable_fd(), PUSH, bell::deadline(limit), look)?
        }
        done => Waited::Got(done),
    };
    match done {
        Waited::Got(Ok(())) => finish(call, codes::OK, true),
        Waited::Got(Err(Refused::TooLarge)) => Err(too_long(&core.shared, bytes.len())),
        Waited::Got(Err(Refused::Closed)) => finish(call, codes::CLOSED, false),
        Waited::Got(Err(Refused::Full)) | Waited::TimedOut => finish(call, codes::TIMEOUT, false),
        Waited::Cancelled => finish(call, codes::CANCELED, false),
    }
}

fn too_long(queue: &Shared, len: usize) -> Raise {
    let longest = queue.longest();
    let text = format!(
        "the value takes {len} bytes when packed, and the queue takes at most {longest} for one value: give new Apus\\Queue() a greater $longest"
    );
    exception::throw(exception::code::queue::TOO_LONG, &text)
}

fn finish(call: &Call, code: i64, done: bool) -> Result<(), Raise> {
    set_err(call, code)?;
    call.ret(done)
}

fn pop_within(call: &Call, limit: Option<Duration>) -> Result<(), Raise> {
    let core = core(call)?;
    if !bell::give_way(POP)? {
        return finish(call, codes::CANCELED, false);
    }
    let mut bytes = Vec::new();
    let first = if limit == Some(Duration::ZERO) {
        core.shared.try_take(|first, second| copy(&mut bytes, first, second))
    } else {
        core.shared.take_or_wish(|first, second| copy(&mut bytes, first, second))
    };
    let done = match first {
        Err(Nothing::Empty) if limit != Some(Duration::ZERO) => {
            let look = || match core.shared.take_or_wish(|first, second| copy(&mut bytes, first, second)) {
                Err(Nothing::Empty) => None,
                done => Some(done),
            };
            bell::wait_for(&core.arrivals, core.shared.readable_fd(), POP, bell::deadline(limit), look)?
        }
        done => Waited::Got(done),
    };
    match done {
        Waited::Got(Ok(())) => {
            set_err(call, codes::OK)?;
            call.ret(pack::decode(&bytes)?)
        }
        Waited::Got(Err(Nothing::Closed)) => finish(call, codes::CLOSED, false),
        Waited::Got(Err(Nothing::Empty)) | Waited::TimedOut => finish(call, codes::TIMEOUT, false),
        Waited::Cancelled => finish(call, codes::CANCELED, false),
    }
}

fn copy(into: &mut Vec<u8>, first: &[u8], second: &[u8]) {
    into.reserve_exact(first.len() + second.len());
    into.extend_from_slice(first);
    into.extend_from_slice(second);
}

fn push(call: &Call) -> Result<(), Raise> {
    push_within(call, time_limit(call, 1, -1.0)?)
}

fn try_push(call: &Call) -> Result<(), Raise> {
    push_within(call, Some(Duration::ZERO))
}

fn pop(call: &Call) -> Result<(), Raise> {
    pop_within(call, time_limit(call, 0, -1.0)?)
}

fn try_pop(call: &Call) -> Result<(), Raise> {
    pop_within(call, Some(Duration::ZERO))
}

fn count(call: &Call) -> Result<(), Raise> {
    call.ret(core(call)?.shared.len() as i64)
}

fn is_empty(call: &Call) -> Result<(), Raise> {
    call.ret(core(call)?.shared.is_empty())
}

fn close(call: &Call) -> Result<(), Raise> {
    core(call)?.shared.close();
    Ok(())
}

fn is_closed(call: &Call) -> Result<(), Raise> {
    call.ret(core(call)?.shared.is_closed())
}

fn stats(call: &Call) -> Result<(), Raise> {
    let core = core(call)?;
    let (stats, mut array) = (core.shared.stats(), Array::new(6)?);
    for (name, value) in [
        ("count", stats.count),
        ("bytes", stats.bytes),
        ("capacity", core.shared.capacity()),
        ("longest", core.shared.longest()),
        ("pushed", stats.pushed),
        ("popped", stats.popped),
    ] {
        array.set_int(name.as_bytes(), value as i64)?;
    }
    call.ret(array)
}

apus_zend::stub!("memory/queue");
