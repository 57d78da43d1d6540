//! A listening port, as its connections see it.

use std::cell::RefCell;
use std::rc::Rc;

use socket2::Socket;

use crate::config::Config;
use crate::info::Local;
use crate::worker::Worker;

/// A listening port, as its connections see it.
pub(crate) struct Port {
    pub(crate) config: Rc<Config>,
    pub(crate) worker: Rc<Worker>,
    pub(crate) local: Rc<Local>,
    /// `Server`, `Date` and `Strict-Transport-Security` lines of one second.
    pub(crate) standing: RefCell<StandingLines>,
}

impl Port {
    /// The address that a client has reached: that of the port, unless it is any address.
    pub(crate) fn reached(&self, socket: &Socket) -> Rc<Local> {
        if let Local::Tcp(addr) = &*self.local
            && addr.ip().is_unspecified()
            && let Ok(reached) = socket.local_addr()
        {
            return Rc::new(Local::from_addr(&reached));
        }
        Rc::clone(&self.local)
    }
}

/// Field lines that all answers of a second share.
#[derive(Default)]
pub(crate) struct StandingLines {
    pub(crate) seconds: u64,
    pub(crate) lines: Vec<u8>,
    /// Where in `lines` the `Date` line starts.
    pub(crate) date_at: usize,
    /// Where it ends.
    pub(crate) hsts_at: usize,
}
