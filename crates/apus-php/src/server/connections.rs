//! `$server->connections`: the session ids of all connections, of all workers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Raise, Value, engine, native};

use super::core::ServerCore;
use crate::coroutine::array_iterator;

/// Ids read at one go.
const PAGE: usize = 4096;

struct Connections {
    core: Rc<ServerCore>,
    /// Whose connections they are, where not all ports' are meant.
    port: Option<i64>,
    /// Where `rewind()` and `next()` are: the ids, and the place among them.
    ids: RefCell<Vec<i64>>,
    at: Cell<usize>,
}

native!(Connections, "Apus\\Server\\Connections");

/// The object.
pub(super) fn object(core: Rc<ServerCore>, port: Option<i64>) -> Result<Object, Raise> {
    let class = CONNECTIONS.named(core.second);
    Object::new(class, Connections { core, port, ids: RefCell::default(), at: Cell::new(0) })
}

impl Connections {
    fn has(&self, id: i64) -> bool {
        let worker = self.core.worker.borrow();
        let entry = worker.as_ref().and_then(|worker| worker.connections.get(id));
        entry.is_some_and(|entry| self.port.is_none_or(|port| i64::from(entry.server_port) == port))
    }

    /// The ids, ascending.
    fn all(&self) -> Vec<i64> {
        let mut ids = Vec::new();
        if let Some(worker) = &*self.core.worker.borrow() {
            loop {
                let page = worker.connections.sessions(ids.last().copied().unwrap_or(0), PAGE);
                let last = page.len() < PAGE;
                ids.extend(page);
                if last {
                    break;
                }
            }
        }
        if self.port.is_some() {
            ids.retain(|id| self.has(*id));
        }
        ids
    }

    fn here(&self) -> Option<i64> {
        self.ids.borrow().get(self.at.get()).copied()
    }
}

fn get_iterator(all: &Connections) -> Result<Object, Raise> {
    array_iterator(&all.all())
}

fn count(all: &Connections) -> usize {
    match all.port {
        None => all.core.worker.borrow().as_ref().map_or(0, |worker| worker.connections.len()),
        Some(_) => all.all().len(),
    }
}

fn rewind(all: &Connections) {
    all.at.set(0);
    *all.ids.borrow_mut() = all.all();
}

fn next(all: &Connections) {
    all.at.set(all.at.get() + 1);
}

fn current(all: &Connections) -> Option<i64> {
    all.here()
}

fn key(all: &Connections) -> Option<usize> {
    // Programs written for Swoole count from 1.
    all.here().map(|_| all.at.get() + usize::from(all.core.second))
}

fn valid(all: &Connections) -> bool {
    all.here().is_some()
}

fn offset_exists(all: &Connections, fd: View<'_>) -> bool {
    matches!(fd, View::Int(id) if all.has(id))
}

fn offset_get(all: &Connections, fd: View<'_>) -> Result<Value, Raise> {
    if let View::Int(id) = fd
        && all.has(id)
    {
        return Ok(Value::int(id));
    }
    engine::warning("there is no such connection")?;
    Ok(Value::bool(false))
}

fn offset_set(_: &Connections, _fd: View<'_>, _value: View<'_>) -> Result<(), Raise> {
    engine::warning("connections cannot be set")
}

fn offset_unset(_: &Connections, _fd: View<'_>) -> Result<(), Raise> {
    engine::warning("connections cannot be unset: use close()")
}

apus_zend::stub!("server/connections");
