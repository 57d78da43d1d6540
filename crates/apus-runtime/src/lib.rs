//! What every room of the extension stands on: the state of PHP's thread, waiting, exceptions, conversion of values,
//! clocks, and reports of what ended badly.

pub mod alarm;
pub mod backtrace;
pub mod builtin;
pub mod clock;
pub mod convert;
pub mod descriptor;
pub mod exception;
pub mod failed;
pub mod holder;
pub mod last_error;
pub mod preempt;
pub mod remembered;
pub mod running;
pub mod runtime;
pub mod swoole;
pub mod trace;
pub mod traced;
pub mod wait;
pub mod watchdog;

mod background;
mod blocked;
mod ending;
mod failure;
mod slices;
