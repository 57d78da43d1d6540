//! Connections that a `Client` with the flag KEEP leaves behind when it is closed, for the next one to the same server.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use apus_shm::ForkEpoch;

use super::core::Sock;

/// As many wait for one server; more are closed.
const MOST: usize = 128;

/// A connection without a client.
struct Kept {
    sock: Rc<Sock>,
    /// How often it was taken up.
    uses: i64,
    /// A forked child has the same connection, and must not use it.
    process: ForkEpoch,
}

thread_local! {
    static KEPT: RefCell<HashMap<Vec<u8>, Vec<Kept>>> = RefCell::default();
}

/// A connection that still stands, and how often it was taken up, this time with it.
pub(super) fn take(name: &[u8]) -> Option<(Rc<Sock>, i64)> {
    loop {
        let kept = KEPT.with(|all| {
            let mut all = all.borrow_mut();
            let of_name = all.get_mut(name)?;
            let kept = of_name.pop();
            if of_name.is_empty() {
                all.remove(name);
            }
            kept
        })?;
        if kept.process.is_now() && kept.sock.is_alive().is_ok() {
            return Some((kept.sock, kept.uses + 1));
        }
    }
}

/// Keeps a connection; `false`: enough are kept.
pub(super) fn keep(name: Vec<u8>, sock: Rc<Sock>, uses: i64) -> bool {
    KEPT.with(|all| {
        let mut all = all.borrow_mut();
        let of_name = all.entry(name).or_default();
        let room = of_name.len() < MOST;
        if room {
            of_name.push(Kept { sock, uses, process: ForkEpoch::now() });
        }
        room
    })
}
