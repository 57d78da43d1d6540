//! `Apus\Coroutine\Barrier`: waiting until nobody refers to an object any more.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::class::{Class, Method};
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Call, Raise, Value, handler, native};

use super::line::Waiter;
use crate::exception::{self, entry};
use crate::runtime::State;
use crate::wait::{expect_suspendable, limit_or_none, seconds};

const WAIT: &str = "Coroutine\\Barrier::wait()";

/// Behind the object: dropped with the last reference to it, it serves who waits.
#[derive(Default)]
struct Barrier {
    waiter: RefCell<Option<Rc<Waiter<()>>>>,
}

native!(Barrier, "Apus\\Coroutine\\Barrier");

impl Drop for Barrier {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            waiter.serve_later(());
        }
    }
}

fn construct(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.construct(Barrier::default())
}

fn make(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(Object::new(BARRIER.get(), Barrier::default())?)
}

fn wait(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let seconds = seconds(call, 1, -1.0)?;
    let wrong = || call.type_error(0, "of type Apus\\Coroutine\\Barrier");
    let View::Object(object) = call.view(0) else { return Err(wrong()) };
    let Some(barrier) = BARRIER.payload::<Barrier>(object) else { return Err(wrong()) };
    if barrier.waiter.borrow().is_some() {
        return Err(exception::throw(
            &exception::COROUTINE,
            "STATE",
            "a coroutine has called wait() for this barrier already: each barrier is waited for once",
        ));
    }
    let state = State::get()?;
    expect_suspendable(&state, WAIT)?;
    let waiter = Waiter::new(&state, WAIT, ())?;
    *barrier.waiter.borrow_mut() = Some(Rc::clone(&waiter));
    // From here on the barrier may be gone.
    call.assign(0, Value::null())?;
    waiter.wait(&state, WAIT, limit_or_none(seconds)).map(drop)
}

/// `Apus\Coroutine\Barrier`.
pub(crate) static BARRIER: Class = Class {
    name: "Apus\\Coroutine\\Barrier",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Waits for coroutines that need not tell when they are done: each holds the barrier (use ($barrier)), and wait() ends\n\
          when the last of these references is gone, however the coroutines end.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function __construct()",
            doc: "The same as make().\n@since 0.1.0",
            handler: Some(handler!(construct)),
        },
        Method {
            decl: "public static function make(): Apus\\Coroutine\\Barrier",
            doc: "A new barrier.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(make)),
        },
        Method {
            decl: "public static function wait(Apus\\Coroutine\\Barrier &$barrier, float $timeout = -1): void",
            doc: "Sets $barrier to null, so that the caller refers to it no more, and waits until nobody else does.\n\
                  @param Barrier $barrier a variable that holds one\n\
                  @param float $timeout seconds after which it returns all the same; 0 or negative for no limit\n\
                  @throws \\Apus\\Coroutine\\Exception STATE when it is waited for already; NOT_IN_COROUTINE, CANNOT_SWITCH\n\
                  @throws \\Apus\\Coroutine\\CanceledException when cancelled with an exception\n\
                  Waits.\n@since 0.1.0",
            handler: Some(handler!(wait)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
