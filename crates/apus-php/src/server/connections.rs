//! `$server->connections`: the session ids of all connections, of all workers.

use std::rc::Rc;

use apus_zend::class::{Class, Method};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, handler, native};

use super::core::ServerCore;
use crate::coroutine::array_iterator;
use crate::exception::entry;

/// Ids read at one go.
const PAGE: usize = 4096;

struct Connections(Rc<ServerCore>);

native!(Connections, "Apus\\Server\\Connections");

/// The object.
pub(super) fn object(core: Rc<ServerCore>) -> Result<Object, Raise> {
    Object::new(CONNECTIONS.get(), Connections(core))
}

fn get_iterator(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
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
    call.expect(0, 0)?;
    call.ret(call.this::<Connections>()?.0.worker.borrow().as_ref().map_or(0, |worker| worker.connections.len() as i64))
}

/// `Apus\Server\Connections`.
pub(super) static CONNECTIONS: Class = Class {
    name: "Apus\\Server\\Connections",
    modifiers: "final",
    extends: "",
    implements: &["IteratorAggregate", "Countable"],
    doc: "The session ids of a server's connections, those of other workers too. Empty outside workers.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[
        Method {
            decl: "public function getIterator(): ArrayIterator",
            doc: "The ids, ascending.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_iterator)),
        },
        Method {
            decl: "public function count(): int",
            doc: "How many there are.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(count)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
