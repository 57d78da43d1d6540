//! `Apus\Server\Task`.

use std::rc::Rc;

use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Call, Raise, Value, handler, native};

use super::answer::decode;
use super::running::Running;
use crate::exception::entry;
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
    call.expect(1, 1)?;
    let done = call.this::<TaskHandle>()?.0.finish(&call.value(0))?;
    call.ret(done)
}

fn is_cancelled(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<TaskHandle>()?.0.is_cancelled())
}

fn pack_value(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let mut bytes = Vec::new();
    pack::encode(&call.value(0), &mut bytes)?;
    call.ret_bytes(&bytes)
}

fn unpack_value(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let data = call.bytes(0)?.to_vec();
    call.ret(decode(true, &data)?)
}

/// `Apus\Server\Task`.
pub(super) static TASK: Class = Class {
    name: "Apus\\Server\\Task",
    modifiers: "final",
    extends: "",
    implements: &[],
    doc: "A task, as the callback of the event task gets it with task_enable_coroutine or task_use_object.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "public mixed $data = null", doc: "What was handed over." },
        Property { decl: "public ?float $dispatch_time = null", doc: "When, in seconds since 1970." },
        Property { decl: "public int $id = -1", doc: "Its number, as task() returned it." },
        Property { decl: "public int $worker_id = -1", doc: "The id of the process that handed it over." },
        Property {
            decl: "public int $flags = 0",
            doc: "Bits: 2 the data was packed (no string), 4 its sender blocks until it is over, 8 it has a callback of its own, 32 a\n\
                  coroutine waits for it.",
        },
    ],
    methods: &[
        Method {
            decl: "public function finish(mixed $data): bool",
            doc: "Gives the sender a result: each call one finish event, or call of the task's own callback; who waits with taskwait() gets the\n\
                  first. What the callback returns, unless null, does the same.\n\
                  @return bool false when the sender has neither, or there is no room for the result: see getLastError()\n\
                  @throws \\Apus\\Server\\TaskException TOO_LARGE\n@throws \\Exception what packing the value throws\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(finish)),
        },
        Method {
            decl: "public function isCancelled(): bool",
            doc: "Whether the task was called off meanwhile, by taskCancel(): nobody wants its result.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(is_cancelled)),
        },
        Method {
            decl: "public static function pack(mixed $data): string",
            doc: "The same as Apus\\pack().\n@throws \\Apus\\PackException\n@since 0.1.0",
            handler: Some(handler!(pack_value)),
        },
        Method {
            decl: "public static function unpack(string $data): mixed",
            doc: "The same as Apus\\unpack().\n@throws \\Apus\\PackException\n@since 0.1.0",
            handler: Some(handler!(unpack_value)),
        },
    ],
    native: true,
    lazy: None,
    entry: entry!(),
};
