//! `$server->connections`: the session ids of all connections, of all workers.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Call, Raise, native};

use super::core::ServerCore;
use crate::coroutine::array_iterator;

/// Ids read at one go.
const PAGE: usize = 4096;

struct Connections(Rc<ServerCore>);

native!(Connections, "Apus\\Server\\Connections");

/// The object.
pub(super) fn object(core: Rc<ServerCore>) -> Result<Object, Raise> {
    Object::new(CONNECTIONS.get(), Connections(core))
}

fn get_iterator(call: &Call) -> Result<(), Raise> {
    let mut ids = Vec::new();
    if let Some(worker) = &*call.this::<Connections>()?.0.worker.borrow() {
        loop {
            let page = worker.connections.sessions(ids.last().copied().unwrap_or(0), PAGE);
            let last = page.len() < PAGE;
            ids.extend(page);
            if last {
                break;
            }
        }
    }
    call.ret(array_iterator(&ids)?)
}

fn count(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Connections>()?.0.worker.borrow().as_ref().map_or(0, |worker| worker.connections.len() as i64))
}

apus_zend::stub!("server/connections");
