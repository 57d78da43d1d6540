//! The sleep family.

use std::ffi::{c_int, c_uint};
use std::time::Duration;

use apus_options::hooks;
use libc::{clockid_t, timespec, useconds_t};
use tokio::time::Instant;

use super::args::Place;
use super::gate::{Gate, fail, gate, set_errno};
use super::sys;

/// Sleeps; what is left of the time when the sleep was broken off.
fn sleep_for(gate: &Gate, time: Duration) -> Result<(), Duration> {
    let begun = Instant::now();
    gate.park(gate.state.alarm.sleep(time)).map_err(|_| time.saturating_sub(begun.elapsed()))
}

/// sleep(3): what is left of the time is rounded up to seconds.
pub(super) extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let Some(gate) = gate("sleep()", hooks::SLEEP) else {
        return sys::sleep(seconds);
    };
    match sleep_for(&gate, Duration::from_secs(u64::from(seconds))) {
        Ok(()) => gate.success(0),
        Err(left) => left.as_secs() as c_uint + c_uint::from(left.subsec_nanos() > 0),
    }
}

/// usleep(3).
pub(super) extern "C" fn usleep(microseconds: useconds_t) -> c_int {
    let Some(gate) = gate("usleep()", hooks::SLEEP) else {
        return sys::usleep(microseconds);
    };
    match sleep_for(&gate, Duration::from_micros(u64::from(microseconds))) {
        Ok(()) => gate.success(0),
        Err(_) => fail(libc::ECANCELED),
    }
}

/// The time that a caller gave, if it is one (nanosleep(2)).
fn duration(time: Place<'_, timespec>) -> Option<Duration> {
    let time = time.get()?;
    let valid = time.tv_sec >= 0 && (0..1_000_000_000).contains(&time.tv_nsec);
    valid.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

fn time(rest: Duration) -> timespec {
    timespec { tv_sec: rest.as_secs() as i64, tv_nsec: i64::from(rest.subsec_nanos()) }
}

/// nanosleep(2).
pub(super) extern "C" fn nanosleep(asked: Place<'_, timespec>, left: Place<'_, timespec>) -> c_int {
    let wanted = gate("nanosleep()", hooks::SLEEP).and_then(|gate| Some((gate, duration(asked)?)));
    let Some((gate, wanted)) = wanted else {
        return sys::nanosleep(asked, left);
    };
    match sleep_for(&gate, wanted) {
        Ok(()) => gate.success(0),
        Err(rest) => {
            left.set(time(rest));
            // Not EINTR: PHP would go on sleeping.
            fail(libc::ECANCELED)
        }
    }
}

/// What is left until `at` on a clock.
fn until(clock: clockid_t, at: Duration) -> Option<Duration> {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    if sys::clock_gettime(clock, Place::of(&mut now)) != 0 {
        return None;
    }
    Some(at.saturating_sub(Duration::new(now.tv_sec as u64, now.tv_nsec as u32)))
}

/// `clock_nanosleep(2)`, which returns its error.
pub(super) extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    asked: Place<'_, timespec>,
    left: Place<'_, timespec>,
) -> c_int {
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    let wanted = gate("clock_nanosleep()", hooks::SLEEP)
        .and_then(|gate| Some((gate, duration(asked)?)))
        .and_then(|(gate, time)| Some((gate, if absolute { until(clock, time)? } else { time })));
    let Some((gate, wanted)) = wanted else {
        return sys::clock_nanosleep(clock, flags, asked, left);
    };
    match sleep_for(&gate, wanted) {
        Ok(()) => gate.success(0),
        Err(rest) => {
            if !absolute {
                left.set(time(rest));
            }
            set_errno(libc::ECANCELED);
            libc::ECANCELED
        }
    }
}
