//! `Apus\Server\Task`.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Raise, Value, native};

use super::answer::decode;
use super::running::Running;
use super::system_queue;
use crate::memory::pack;

struct TaskHandle(Rc<Running>);

native!(TaskHandle, "Apus\\Server\\Task");

/// The object that a callback gets.
pub(super) fn object(running: &Rc<Running>, data: Value) -> Result<Object, Raise> {
    let object = Object::new(TASK.named(running.second()), TaskHandle(Rc::clone(running)))?;
    object.set_slot(slot::task::DATA, data);
    object.set_slot(slot::task::DISPATCH_TIME, Value::float(running.dispatched()));
    object.set_slot(slot::task::ID, Value::int(running.id()));
    object.set_slot(slot::task::WORKER_ID, Value::int(running.sender()));
    object.set_slot(slot::task::FLAGS, Value::int(running.flags()));
    Ok(object)
}

fn finish(task: &TaskHandle, data: Value) -> Result<bool, Raise> {
    task.0.finish(&data)
}

fn is_cancelled(task: &TaskHandle) -> bool {
    task.0.is_cancelled()
}

fn pack_value(data: Value) -> Result<Vec<u8>, Raise> {
    let mut bytes = Vec::new();
    pack::encode(&data, &mut bytes)?;
    Ok(bytes)
}

fn unpack_value(data: &[u8]) -> Result<Value, Raise> {
    decode(true, data)
}

fn pack_there(data: Value) -> Result<Vec<u8>, Raise> {
    system_queue::pack(&data)
}

fn unpack_there(data: &[u8]) -> Result<Value, Raise> {
    Ok(system_queue::unpack(data)?.unwrap_or_else(|| Value::bool(false)))
}

apus_zend::stub!("server/task/object");
