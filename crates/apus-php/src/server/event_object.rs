//! What callbacks get with the setting `event_object` of code written for Swoole: one object in place of several
//! arguments.

use apus_zend::class::Class;
use apus_zend::object::Object;
use apus_zend::{Raise, Value};

/// The classes.
pub(crate) static ALL: &[&Class] =
    &[&EVENT_OBJECT, &PACKET_OBJECT, &PIPE_MESSAGE_OBJECT, &STATUS_INFO_OBJECT, &TASK_RESULT_OBJECT];

/// The object whose properties these are, in the order of their declarations.
fn object<const N: usize>(class: &Class, values: [Value; N]) -> Result<Value, Raise> {
    let object = Object::plain(class.get())?;
    for (slot, value) in (0..).zip(values) {
        object.set_slot(slot, value);
    }
    Ok(object.into())
}

fn now() -> Value {
    Value::float(apus_net::wall())
}

/// Of a connection, with what it sent.
pub(super) fn event(fd: i64, worker: i64, data: Option<Value>) -> Result<Value, Raise> {
    object(&EVENT_OBJECT, [Value::int(worker), Value::int(fd), now(), data.unwrap_or_else(Value::null)])
}

/// A datagram, and where it came from and to.
pub(super) fn packet(data: Value, from: (&str, u16), place: i64, server_port: u16) -> Result<Value, Raise> {
    let (address, port) = (Value::string(from.0.as_bytes())?, Value::int(i64::from(from.1)));
    let (place, server_port) = (Value::int(place), Value::int(i64::from(server_port)));
    object(&PACKET_OBJECT, [place, server_port, now(), address, port, data])
}

/// A message of a worker, which has two names there.
pub(super) fn pipe_message(from: i64, data: Value) -> Result<Value, Raise> {
    object(&PIPE_MESSAGE_OBJECT, [Value::int(from), Value::int(from), now(), data])
}

/// How a worker ended: its id, process id, exit code and signal.
pub(super) fn status(worker: i64, pid: i64, exit_code: i64, signal: i64) -> Result<Value, Raise> {
    let status = exit_code << 8 | signal;
    object(&STATUS_INFO_OBJECT, [worker, pid, status, exit_code, signal].map(Value::int))
}

/// The result of a task. Which task worker ran it is not told.
pub(super) fn task_result(task: i64, data: Value) -> Result<Value, Raise> {
    object(&TASK_RESULT_OBJECT, [Value::int(task), Value::int(-1), now(), data])
}

apus_zend::stub!("swoole/server");
