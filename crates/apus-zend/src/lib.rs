//! The Zend island: PHP's values, classes, calls and fiber contexts, made safe to use from Rust.
//!
//! Three rules hold this crate together; its functions keep them so that callers need not know them by heart.
//!
//! 1. **A longjmp never crosses a Rust frame.** PHP reports a fatal error by longjmp. Everything that can end so runs
//!    in the C shim inside `zend_try` and comes back as [`Raise::Bailed`]. A native function drops all it holds,
//!    returns the error, and only the outermost frame, which owns nothing, bails out again (see [`call::enter`]).
//! 2. **No Rust borrow lives across a wait or a call into PHP.** Payloads of PHP objects are reached as `&T` and keep
//!    their state in cells.
//! 3. **A context switch is a function call that returns later.** [`fiber::Fiber::enter`] and [`fiber::Fiber::leave`]
//!    are the only ones.

pub mod arg;
pub mod assemble;
pub mod autoload;
pub mod closure;
pub mod descriptor;
pub mod exit;
pub mod fiber;
pub mod got;
pub mod graph;
pub mod guard;
pub mod hook;
pub mod library;
pub mod mistake;
pub mod module;
pub mod output;
pub mod process;
pub mod reader;
pub mod remote;
pub mod row;
pub mod sapi;
pub mod state;

pub mod stream;
pub mod sys;
mod values;
pub mod watch;

pub use values::{call, callable, class, engine, object, value};

pub use call::{Call, Raise};
pub use callable::{Callable, Uncallable};
pub use value::{Array, PhpString, Value};
