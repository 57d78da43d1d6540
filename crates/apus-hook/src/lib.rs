//! Blocking libc functions that wait in a coroutine instead: redirection, readiness, and what guards PHP objects
//! meanwhile.
//!
//! The functions that PHP's extensions and their libraries call to block (`recv`, `poll`, `nanosleep`, …) are
//! redirected to those of this room. Outside a coroutine each goes straight on to libc. Inside one it does what libc
//! would do without blocking, and where that is not possible waits on the event loop and does it again. A descriptor
//! stays as its owner made it: that it blocks is what the owner sees, `O_NONBLOCK`, `SO_RCVTIMEO` and `SO_SNDTIMEO`
//! mean what they say.
//!
//! Waiting is possible only where a function that PHP code called leads to the call ([`gate`]): what the VM itself does
//! (`include`, freeing values, printing) blocks as ever.

mod accept;
mod args;
mod autoload;
mod curl;
mod descriptor;
mod dns;
mod file;
mod gate;
mod guard;
mod install;
mod message;
mod poll;
mod process;
mod reactor;
mod resolve;
pub mod runtime;
mod serial;
mod sleep;
mod standing;
mod stream;
mod sys;
mod timeout;

use std::io;
use std::rc::Rc;

use apus_loop::Loop;
use apus_options::Settings;
use apus_runtime::runtime::Room;
use apus_zend::class::Class;

pub use guard::{install as install_guards, prepare};
pub use reactor::Reactor;

/// The classes of this room, parents first.
pub static ALL: &[&Class] = &[&runtime::RUNTIME];

impl Room for Reactor {
    fn configure(&self, settings: &Settings) {
        install::configure(settings.hook_flags);
    }
}

/// What the hooks keep for a thread. From then on what blocks is hooked.
pub fn room(events: &Rc<Loop>) -> io::Result<Rc<dyn Room>> {
    install::install();
    Ok(Reactor::new(events)?)
}

apus_zend::stub!("hook/functions");
