//! `Apus\pack()` and `Apus\unpack()`: the bytes in which values cross from process to process.

mod decode;
mod encode;
mod format;
mod texts;

use std::collections::HashSet;

use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Call, Raise, Value};

use self::decode::Allowed;

/// Appends `value` to `into`. PHP code runs when there are objects in it with methods for this. After an error, what
/// `into` holds beyond its former length means nothing.
pub(crate) fn encode(value: &Value, into: &mut Vec<u8>) -> Result<(), Raise> {
    encode::encode(value, into)
}

/// The value that was encoded as `bytes`. PHP code runs when there are objects in it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, Raise> {
    decode::decode(bytes, &Allowed::All)
}

pub(super) fn pack(call: &Call) -> Result<(), Raise> {
    let value = call.value(0);
    let mut bytes = Vec::with_capacity(128);
    encode(&value, &mut bytes)?;
    call.ret_bytes(&bytes)
}

pub(super) fn unpack(call: &Call) -> Result<(), Raise> {
    let bytes = call.bytes(0)?;
    let options = if call.count() > 1 { call.opt_array(1)? } else { None };
    call.ret(match options {
        None => decode::decode(bytes, &Allowed::All)?,
        Some(options) => decode::decode(bytes, &allowed(call, options)?)?,
    })
}

fn allowed(call: &Call, options: ArrayView<'_>) -> Result<Allowed, Raise> {
    let mut allowed = Allowed::All;
    for (key, value) in options.iter() {
        if key != Key::Str(b"allowed_classes") {
            return Err(call.value_error(1, "can have the option \"allowed_classes\" only"));
        }
        allowed = match value.view() {
            View::Bool(true) => Allowed::All,
            View::Bool(false) => Allowed::Only(HashSet::new()),
            View::Array(names) => Allowed::Only(class_names(call, names)?),
            _ => {
                return Err(
                    call.value_error(1, "must have true, false or an array of class names as \"allowed_classes\"")
                );
            }
        };
    }
    Ok(allowed)
}

fn class_names(call: &Call, names: ArrayView<'_>) -> Result<HashSet<Vec<u8>>, Raise> {
    names
        .iter()
        .map(|(_, name)| match name.view() {
            View::Str(name) => Ok(name.to_ascii_lowercase()),
            _ => Err(call.value_error(1, "must have strings only in \"allowed_classes\"")),
        })
        .collect()
}
