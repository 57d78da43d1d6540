//! `Apus\Coroutine\System`.

use std::time::Duration;

use apus_coro::Wait;
use apus_zend::{Call, Raise};

use super::{children, exec, files, lookup, ready, signals, streams};
use crate::runtime::State;
use crate::wait::wait;

/// `System::sleep()`.
fn sleep(call: &Call) -> Result<(), Raise> {
    let seconds = call.float(0, 0.0)?;
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|_| call.value_error(0, &format!("must be 0 or more seconds, {seconds:?} given")))?;
    let sleeping = async move {
        // The timer wheel's tick is a millisecond; 0 asks for a turn of the loop only.
        if time.is_zero() { tokio::task::yield_now().await } else { tokio::time::sleep(time).await }
    };
    let slept = wait(&*State::get()?, Wait::Outside("Coroutine\\System::sleep()"), sleeping)?;
    call.ret(slept.is_some())
}

apus_zend::stub!("system/class");
