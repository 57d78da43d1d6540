//! `Apus\Coroutine\Context`: values that belong to one coroutine.

use apus_zend::Value;
use apus_zend::object::Object;
use apus_zend::{Array, Raise};

/// `ArrayObject::ARRAY_AS_PROPS`: `$context->name` and `$context['name']` are the same.
const ARRAY_AS_PROPS: i64 = 2;

/// A new, empty context. `apart`: what stands in its properties is not in the array, as there.
pub(crate) fn new(apart: bool) -> Result<Object, Raise> {
    let flags = Value::int(if apart { 0 } else { ARRAY_AS_PROPS });
    super::construct("Apus\\Coroutine\\Context", Some(CONTEXT.latest()), &[Array::new(0)?.into(), flags])
}

apus_zend::stub!("coroutine/context");
