//! `Apus\Coroutine\Context`: values that belong to one coroutine.

use apus_zend::Value;
use apus_zend::class::Class;
use apus_zend::object::Object;
use apus_zend::{Array, Raise};

use crate::exception::entry;

/// `ArrayObject::ARRAY_AS_PROPS`: `$context->name` and `$context['name']` are the same.
const ARRAY_AS_PROPS: i64 = 2;

/// A new, empty context.
pub(crate) fn new() -> Result<Object, Raise> {
    super::construct(CONTEXT.name, Some(CONTEXT.get()), &[Array::new(0)?.into(), Value::int(ARRAY_AS_PROPS)])
}

/// `Apus\Coroutine\Context`.
pub(crate) static CONTEXT: Class = Class {
    name: "Apus\\Coroutine\\Context",
    modifiers: "",
    extends: "ArrayObject",
    implements: &[],
    doc: "Values that belong to one coroutine and go when it ends: read and written as an array or as properties.\n\
          Apus\\Coroutine::getContext() gives it.\n@since 0.1.0",
    constants: &[],
    properties: &[],
    methods: &[],
    native: false,
    lazy: None,
    entry: entry!(),
};
