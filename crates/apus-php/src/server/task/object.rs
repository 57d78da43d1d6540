//! `Apus\Server\Task`.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, native};

use super::answer::decode;
use super::running::Running;
use crate::memory::pack;

/// Where the properties stand.
mod slot {
    pub(super) const DATA: u32 = 0;
    pub(super) const DISPATCH_TIME: u32 = 1;
    pub(super) const ID: u32 = 2;
    pub(super) const WORKER_ID: u32 = 3;
    pub(super) const FLAGS: u32 = 4;
}

struct TaskHandle(Rc<Running>);

native!(TaskHandle, "Apus\\Server\\Task");

/// The object that a callback gets.
pub(super) fn object(running: &Rc<Running>, data: Value) -> Result<Object, Raise> {
    let object = Object::new(TASK.get(), TaskHandle(Rc::clone(running)))?;
    object.set_slot(slot::DATA, data);
    object.set_slot(slot::DISPATCH_TIME, Value::float(running.dispatched()));
    object.set_slot(slot::ID, Value::int(running.id()));
    object.set_slot(slot::WORKER_ID, Value::int(running.sender()));
    object.set_slot(slot::FLAGS, Value::int(running.flags()));
    Ok(object)
}

fn finish(call: &Call) -> Result<(), Raise> {
    let done = call.this::<TaskHandle>()?.0.finish(&call.value(0))?;
    call.ret(done)
}

fn is_cancelled(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<TaskHandle>()?.0.is_cancelled())
}

fn pack_value(call: &Call) -> Result<(), Raise> {
    let mut bytes = Vec::new();
    pack::encode(&call.value(0), &mut bytes)?;
    call.ret_bytes(&bytes)
}

fn unpack_value(call: &Call) -> Result<(), Raise> {
    let data = call.bytes(0)?.to_vec();
    call.ret(decode(true, &data)?)
}

apus_zend::stub!("server/task/object");
