//! What a response shows of its fields and cookies under Swoole's names.

use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value};

use super::response::RESPONSE;

/// Adds to an array that a property of the object shows, under a key or at the end.
#[inline(never)]
pub(super) fn add(call: &Call, property: &str, key: Option<&[u8]>, value: Value) -> Result<(), Raise> {
    let Some(slot) = RESPONSE.second.and_then(|class| class.slot(property)) else { return Ok(()) };
    let object = call.object()?;
    let mut shown = match Array::alone(object.take_slot(slot)) {
        Ok(array) => array,
        Err(held) => copy(held.view())?,
    };
    match key {
        Some(name) => shown.set(name, value)?,
        None => shown.push(value)?,
    }
    object.set_slot(slot, shown.into());
    Ok(())
}

fn copy(of: View<'_>) -> Result<Array, Raise> {
    let mut copy = Array::new(8)?;
    if let View::Array(array) = of {
        for (at, value) in array.iter() {
            match at {
                Key::Str(name) => copy.set(name, value.value())?,
                Key::Index(_) => copy.push(value.value())?,
            }
        }
    }
    Ok(copy)
}
