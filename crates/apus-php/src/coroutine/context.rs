//! `Apus\Coroutine\Context`: values that belong to one coroutine.

use apus_zend::Value;
use apus_zend::object::Object;
use apus_zend::{Array, Raise};

/// `ArrayObject::ARRAY_AS_PROPS`: `$context->name` and `$context['name']` are the same.
const ARRAY_AS_PROPS: i64 = 2;

/// A new, empty context.
pub(crate) fn new() -> Result<Object, Raise> {
    super::construct(
        "Apus\\Coroutine\\Context",
        Some(CONTEXT.latest()),
        &[Array::new(0)?.into(), Value::int(ARRAY_AS_PROPS)],
    )
}

apus_zend::stub!("coroutine/context");
