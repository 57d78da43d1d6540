//! `Apus\Coroutine\Barrier`: waiting until nobody refers to an object any more.

use std::cell::RefCell;
use std::rc::Rc;

use apus_zend::arg::Variable;
use apus_zend::object::Object;
use apus_zend::{Raise, Value, native};

use super::line::Waiter;
use crate::exception;
use crate::runtime::State;
use crate::wait::{Timeout, expect_suspendable};

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

fn construct() -> Barrier {
    Barrier::default()
}

fn make() -> Result<Object, Raise> {
    Object::new(BARRIER.get(), Barrier::default())
}

fn make_second() -> Result<Object, Raise> {
    Object::new(SECOND_BARRIER.get(), Barrier::default())
}

fn wait(variable: Variable<'_>, timeout: Timeout) -> Result<(), Raise> {
    let object = variable.object();
    let Some(barrier) = object.as_ref().and_then(Object::payload::<Barrier>) else {
        return Err(variable.type_error("of type Apus\\Coroutine\\Barrier"));
    };
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
    drop(object);
    // From here on the barrier may be gone.
    variable.assign(Value::null())?;
    waiter.wait(&state, WAIT, timeout.limit_or_none()).map(drop)
}

apus_zend::stub!("sync/barrier");
