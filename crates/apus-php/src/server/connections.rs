//! `$server->connections`: the session ids of all connections, of all workers.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Raise, native};

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

fn get_iterator(all: &Connections) -> Result<Object, Raise> {
    let mut ids = Vec::new();
    if let Some(worker) = &*all.0.worker.borrow() {
        loop {
            let page = worker.connections.sessions(ids.last().copied().unwrap_or(0), PAGE);
            let last = page.len() < PAGE;
            ids.extend(page);
            if last {
                break;
            }
        }
    }
    array_iterator(&ids)
}

fn count(all: &Connections) -> usize {
    all.0.worker.borrow().as_ref().map_or(0, |worker| worker.connections.len())
}

apus_zend::stub!("server/connections");
