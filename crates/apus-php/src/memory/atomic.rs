//! `Apus\Atomic` and `Apus\Atomic\Long`: numbers that processes share.

use std::sync::atomic::Ordering::SeqCst;

use apus_shm::{Heard, Look, Number};
use apus_zend::class::{Class, Method};
use apus_zend::{Call, Raise, engine, handler, native};

use super::bell::{self, Ears, Waited};
use crate::exception::entry;
use crate::wait::{limit_or_none, seconds};

const WAIT: &str = "Atomic::wait()";

struct Atomic {
    number: Number,
    ears: Ears,
}

native!(Atomic, "Apus\\Atomic");

struct Long(Number);

native!(Long, "Apus\\Atomic\\Long");

fn number() -> Result<Number, Raise> {
    Number::new().map_err(|error| engine::throw_error(&format!("no memory could be shared for the number: {error}")))
}

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let number = number()?;
    number.word().store(call.int(0, 0)? as u32, SeqCst);
    call.construct(Atomic { number, ears: Ears::default() })
}

fn add(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let by = call.int(0, 1)? as u32;
    call.ret(i64::from(call.this::<Atomic>()?.number.word().fetch_add(by, SeqCst).wrapping_add(by)))
}

fn sub(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let by = call.int(0, 1)? as u32;
    call.ret(i64::from(call.this::<Atomic>()?.number.word().fetch_sub(by, SeqCst).wrapping_sub(by)))
}

fn get(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(i64::from(call.this::<Atomic>()?.number.word().load(SeqCst)))
}

fn set(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let value = call.int(0, 0)? as u32;
    call.this::<Atomic>()?.number.word().store(value, SeqCst);
    Ok(())
}

fn cmpset(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let (expected, new) = (call.int(0, 0)? as u32, call.int(1, 0)? as u32);
    call.ret(call.this::<Atomic>()?.number.word().compare_exchange(expected, new, SeqCst, SeqCst).is_ok())
}

fn wait(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let limit = limit_or_none(seconds(call, 0, 1.0)?);
    let (atomic, until) = (call.this::<Atomic>()?, bell::deadline(limit));
    let taken = match atomic.number.take() {
        Look::Taken => true,
        Look::Other => false,
        Look::Zero if bell::coroutine().is_some() => {
            let look = || match atomic.number.take_or_wish() {
                Look::Taken => Some(true),
                Look::Other => Some(false),
                Look::Zero => None,
            };
            bell::wait_for(&atomic.ears, atomic.number.fd(), WAIT, until, look)? == Waited::Got(true)
        }
        Look::Zero => sleep(&atomic.number, until)?,
    };
    call.ret(taken)
}

/// Blocks the process until it is woken.
fn sleep(number: &Number, until: Option<std::time::Instant>) -> Result<bool, Raise> {
    loop {
        let heard = number.sleep(until);
        match number.take() {
            Look::Taken => return Ok(true),
            Look::Other => return Ok(false),
            Look::Zero => {}
        }
        match heard {
            Heard::Something => {}
            Heard::Nothing => return Ok(false),
            Heard::Signal => bell::handle_signals()?,
        }
    }
}

fn wakeup(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let count = call.int(0, 1)?;
    if count < 1 {
        return Err(call.value_error(0, &format!("must be at least 1, {count} given")));
    }
    call.this::<Atomic>()?.number.wake();
    call.ret(true)
}

fn long_construct(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let number = number()?;
    number.long().store(call.int(0, 0)?, SeqCst);
    call.construct(Long(number))
}

fn long_add(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let by = call.int(0, 1)?;
    call.ret(call.this::<Long>()?.0.long().fetch_add(by, SeqCst).wrapping_add(by))
}

fn long_sub(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let by = call.int(0, 1)?;
    call.ret(call.this::<Long>()?.0.long().fetch_sub(by, SeqCst).wrapping_sub(by))
}

fn long_get(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Long>()?.0.long().load(SeqCst))
}

fn long_set(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let value = call.int(0, 0)?;
    call.this::<Long>()?.0.long().store(value, SeqCst);
    Ok(())
}

fn long_cmpset(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let (expected, new) = (call.int(0, 0)?, call.int(1, 0)?);
    call.ret(call.this::<Long>()?.0.long().compare_exchange(expected, new, SeqCst, SeqCst).is_ok())
}

const ADD: &str = "public function add(int $add_value = 1): int";
const SUB: &str = "public function sub(int $sub_value = 1): int";
const GET: &str = "public function get(): int";
const SET: &str = "public function set(int $value): void";
const CMPSET: &str = "public function cmpset(int $cmp_value, int $new_value): bool";
const CONSTRUCT: &str = "public function __construct(int $value = 0)";
const GET_DOC: &str = "What it is now.\nDoes not wait.\n@since 0.1.0";
const CMPSET_DOC: &str = "Sets it to $new_value if it is $cmp_value, in one step.\n@return bool whether it was\nDoes not wait.\n@since 0.1.0";

/// `Apus\Atomic`.
pub(crate) static ATOMIC: Class = Class {
    name: "Apus\\Atomic",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "A whole number from 0 to 4,294,967,295 that all processes share which are forked while it is there: made before the server starts, it is\n\
          the same in every worker. Each operation is one step for all of them. Arithmetic is modulo 2^32, negative numbers included. An object made in a\n\
          worker is that worker's own.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: CONSTRUCT,
            doc: "@param int $value what it is at first; of an integer that does not fit, the lowest 32 bits\n\
                  @throws \\Error when the system gives no memory to share\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: ADD,
            doc: "Adds.\n@return int the sum\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(add)),
        },
        Method {
            decl: SUB,
            doc: "Subtracts.\n@return int the difference; 4,294,967,295 follows 0\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(sub)),
        },
        Method { decl: GET, doc: GET_DOC, handler: Some(handler!(get)) },
        Method {
            decl: SET,
            doc: "Sets it.\n@param int $value of an integer that does not fit, the lowest 32 bits\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set)),
        },
        Method {
            decl: "public function wait(float $timeout = 1): bool",
            doc: "Waits until it is 1, and makes it 0: so one wakeup() lets one wait() through, whichever is called first. In a coroutine that alone\n\
                  waits; outside, the process does, and handlers of signals run meanwhile.\n\
                  @param float $timeout seconds; 0 or less for no limit\n\
                  @return bool false when the time was over first, the coroutine was cancelled, or at once when it is neither 0 nor 1\n\
                  @throws \\Apus\\Coroutine\\Exception CANNOT_SWITCH\n\
                  @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
                  Waits while it is 0.\n@since 0.1.0",
            handler: Some(handler!(wait)),
        },
        Method {
            decl: "public function wakeup(int $count = 1): bool",
            doc: "Makes 0 into 1, and wakes those in wait(): the first of them goes on, the others find it 0 and wait on.\n\
                  @param int $count 1 or more; as in Swoole, one goes on whatever it is\n\
                  @return bool true\n@throws \\ValueError for a count below 1\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(wakeup)),
        },
        Method { decl: CMPSET, doc: CMPSET_DOC, handler: Some(handler!(cmpset)) },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};

/// `Apus\Atomic\Long`.
pub(crate) static LONG: Class = Class {
    name: "Apus\\Atomic\\Long",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "As Apus\\Atomic, with 64 bits and a sign: any integer of PHP. Above the greatest one follows the least.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: CONSTRUCT,
            doc: "@param int $value what it is at first\n@throws \\Error when the system gives no memory to share\n@since 0.1.0",
            handler: Some(handler!(long_construct)),
        },
        Method {
            decl: ADD,
            doc: "Adds.\n@return int the sum\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(long_add)),
        },
        Method {
            decl: SUB,
            doc: "Subtracts.\n@return int the difference\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(long_sub)),
        },
        Method { decl: GET, doc: GET_DOC, handler: Some(handler!(long_get)) },
        Method { decl: SET, doc: "Sets it.\nDoes not wait.\n@since 0.1.0", handler: Some(handler!(long_set)) },
        Method { decl: CMPSET, doc: CMPSET_DOC, handler: Some(handler!(long_cmpset)) },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
