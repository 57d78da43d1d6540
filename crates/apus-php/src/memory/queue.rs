//! `Apus\Queue`: values from any process to any other.

use std::rc::Rc;
use std::time::Duration;

use apus_shm::{Nothing, Queue as Shared, Refused};
use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Array, Call, Raise, Value, engine, handler, native};

use super::bell::{self, Ears, Waited};
use super::pack;
use crate::exception::{self, entry};
use crate::sync::codes;
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
    call.expect(1, 2)?;
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
    // SAFETY: $this is alive during the call.
    unsafe { Object::share_raw(call.this_object()?) }.set_slot(ERR_CODE_SLOT, Value::int(code));
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
    exception::throw(&exception::QUEUE, "TOO_LONG", &text)
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
    call.expect(1, 2)?;
    push_within(call, time_limit(call, 1, -1.0)?)
}

fn try_push(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    push_within(call, Some(Duration::ZERO))
}

fn pop(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    pop_within(call, time_limit(call, 0, -1.0)?)
}

fn try_pop(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    pop_within(call, Some(Duration::ZERO))
}

fn count(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(core(call)?.shared.len() as i64)
}

fn is_empty(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(core(call)?.shared.is_empty())
}

fn close(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    core(call)?.shared.close();
    Ok(())
}

fn is_closed(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(core(call)?.shared.is_closed())
}

fn stats(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
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

/// `Apus\Queue`.
pub(crate) static QUEUE: Class = Class {
    name: "Apus\\Queue",
    modifiers: "",
    extends: "",
    implements: &["Countable"],
    doc: "A queue between processes: any that was forked while it is there may push and pop. Values arrive whole, once, and in the order of each pusher;\n\
          what push() has accepted is lost with no process that is killed, but with one that had popped it. Its size is in bytes: a value takes\n\
          what Apus\\pack() makes of it and about 12 bytes more.\n@since 0.1.0",
    constants: &[],
    properties: &[Property {
        decl: "public $errCode = 0",
        doc: "How the last operation of this process ended: Apus\\CHANNEL_OK, CHANNEL_TIMEOUT (full, or empty), CHANNEL_CLOSED, CHANNEL_CANCELED.",
    }],
    methods: &[
        Method {
            decl: "public function __construct(int $bytes, int $longest = 0)",
            doc: "Memory is taken when it is first used.\n\
                  @param int $bytes room for packed values in all: 64 to 2^40\n\
                  @param int $longest of one packed value: 1 to $bytes and 1 GiB; 0 for a quarter of $bytes\n\
                  @throws \\ValueError for other numbers\n\
                  @throws \\Error when the system gives no memory to share\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public function push(mixed $value, float $timeout = -1): bool",
            doc: "Adds a value at the end. In a coroutine that alone waits for room; outside, the process does, and handlers of signals run meanwhile.\n\
                  A long value waits until there is room for all of it, and shorter ones may pass it.\n\
                  @param mixed $value anything that Apus\\pack() takes\n\
                  @param float $timeout seconds; negative for no limit, 0 for no waiting\n\
                  @return bool true: it is in the queue, whatever becomes of this process; false: see $errCode\n\
                  @throws \\Apus\\QueueException TOO_LONG when it is longer than the longest\n\
                  @throws \\Apus\\PackException and what else Apus\\pack() throws\n\
                  @throws \\Apus\\Coroutine\\Exception CANNOT_SWITCH when it would wait\n\
                  @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
                  Waits while there is no room.\n@since 0.1.0",
            handler: Some(handler!(push)),
        },
        Method {
            decl: "public function tryPush(mixed $value): bool",
            doc: "The same as push($value, 0).\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(try_push)),
        },
        Method {
            decl: "public function pop(float $timeout = -1): mixed",
            doc: "Takes the first value. In a coroutine that alone waits for one; outside, the process does, and handlers of signals run meanwhile. Of\n\
                  several who wait, any one gets it.\n\
                  @param float $timeout seconds; negative for no limit, 0 for no waiting\n\
                  @return mixed false when there was none: $errCode is not CHANNEL_OK then\n\
                  @throws \\Apus\\PackException and what else Apus\\unpack() throws: for a class that is not there in the same form, say. The value is gone then\n\
                  @throws \\Apus\\Coroutine\\Exception CANNOT_SWITCH when it would wait\n\
                  @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
                  Waits while it is empty.\n@since 0.1.0",
            handler: Some(handler!(pop)),
        },
        Method {
            decl: "public function tryPop(): mixed",
            doc: "The same as pop(0).\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(try_pop)),
        },
        Method {
            decl: "public function count(): int",
            doc: "How many values are in it now.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(count)),
        },
        Method {
            decl: "public function isEmpty(): bool",
            doc: "Whether none is in it now.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(is_empty)),
        },
        Method {
            decl: "public function close(): void",
            doc: "Closes it for all processes: push() fails from now on, pop() gives what is left and fails then; who waits is woken.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(close)),
        },
        Method {
            decl: "public function isClosed(): bool",
            doc: "Whether any process has closed it.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(is_closed)),
        },
        Method {
            decl: "public function stats(): array",
            doc: "@return array{count: int, bytes: int, capacity: int, longest: int, pushed: int, popped: int} values in it; the bytes that they take,\n\
                  eight more for each and rounded up to eight, and those that they may take; the greatest length of one; values accepted and taken\n\
                  since it was made, in all processes\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(stats)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
