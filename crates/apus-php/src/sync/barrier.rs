//! `Apus\Coroutine\Barrier`: waiting until nobody refers to an object any more.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Call, Raise, Value, native};

use super::line::Waiter;
use crate::exception;
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
    call.construct(Barrier::default())
}

fn make(call: &Call) -> Result<(), Raise> {
    call.ret(Object::new(BARRIER.get(), Barrier::default())?)
}

fn wait(call: &Call) -> Result<(), Raise> {
    let seconds = seconds(call, 1, -1.0)?;
    let wrong = || call.type_error(0, "of type Apus\\Coroutine\\Barrier");
    let View::Object(object) = call.view(0) else { return Err(wrong()) };
    let Some(barrier) = BARRIER.payload::<Barrier>(object.as_raw()) else { return Err(wrong()) };
    if barrier.waiter.borrow().is_some() {
        return Err(exception::throw(
            exception::code::coroutine::STATE,
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

apus_zend::stub!("sync/barrier");
