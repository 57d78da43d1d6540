//! `Apus\pack()` and `Apus\unpack()`: the bytes in which values cross from process to process.

mod decode;
mod encode;
mod format;
mod texts;

use std::collections::HashSet;

use apus_zend::class::Method;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Call, Raise, Value, handler};

use self::decode::Allowed;

/// Appends `value` to `into`. PHP code runs when there are objects in it with methods for this. After an error, what `into` holds beyond its
/// former length means nothing.
pub(crate) fn encode(value: &Value, into: &mut Vec<u8>) -> Result<(), Raise> {
    encode::encode(value, into)
}

/// The value that was encoded as `bytes`. PHP code runs when there are objects in it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, Raise> {
    decode::decode(bytes, &Allowed::All)
}

fn pack(call: &Call) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let value = call.value(0);
    let mut bytes = Vec::with_capacity(128);
    encode(&value, &mut bytes)?;
    call.ret_bytes(&bytes)
}

fn unpack(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let allowed = match call.opt_array(1)? {
        Some(options) => allowed(call, options)?,
        None => Allowed::All,
    };
    // The argument's string is shared: PHP code that runs meanwhile may assign to the variable.
    let data = call.value(0);
    let bytes = match data.view() {
        View::Str(bytes) => bytes,
        _ => call.bytes(0)?,
    };
    call.ret(decode::decode(bytes, &allowed)?)
}

fn allowed(call: &Call, options: ArrayView<'_>) -> Result<Allowed, Raise> {
    let mut allowed = Allowed::All;
    for (key, value) in options.iter() {
        if key != Key::Str(b"allowed_classes") {
            return Err(call.value_error(1, "can have the option \"allowed_classes\" only"));
        }
        // SAFETY: the element lives as long as the array, which the call holds.
        allowed = match unsafe { View::of(value) } {
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
        // SAFETY: as above.
        .map(|(_, name)| match unsafe { View::of(name) } {
            View::Str(name) => Ok(name.to_ascii_lowercase()),
            _ => Err(call.value_error(1, "must have strings only in \"allowed_classes\"")),
        })
        .collect()
}

/// `Apus\pack()`.
pub(crate) const PACK: Method = Method {
    decl: "function Apus\\pack(mixed $value): string",
    doc: "Makes a string of a value, for another process, a file or a cache: smaller and faster than serialize(). Objects, references and cycles come\n\
          out as they went in; __serialize(), __sleep() and Serializable are called as serialize() calls them. The format is Apus's own: read it\n\
          with Apus\\unpack() of the same major version.\n\
          @param mixed $value nested at most 1024 deep\n\
          @return string at most 1 GiB\n\
          @throws \\Apus\\PackException UNSUPPORTED for a resource, DEPTH when nested deeper, TOO_LARGE\n\
          @throws \\Exception for objects that PHP forbids to serialize, such as closures, and what magic methods throw\n\
          Does not wait by itself.\n@since 0.1.0",
    handler: Some(handler!(pack)),
};

/// `Apus\unpack()`.
pub(crate) const UNPACK: Method = Method {
    decl: "function Apus\\unpack(string $data, array $options = []): mixed",
    doc: "The value that Apus\\pack() made a string of. __unserialize(), __wakeup() and Serializable are called as unserialize() calls them; a class\n\
          that cannot be loaded gives a __PHP_Incomplete_Class. Bytes that did not come from pack() give an exception and no harm; but bytes of a\n\
          stranger can name any class of the program, so allow only those that are meant.\n\
          @param array $options \"allowed_classes\": true for all (the default), false for none, or an array of names\n\
          @throws \\Apus\\PackException MALFORMED, and MISMATCH when an enumeration or class does not fit what was packed\n\
          @throws \\ValueError for another option\n\
          @throws \\TypeError when a value does not have its property's type\n\
          Does not wait by itself.\n@since 0.1.0",
    handler: Some(handler!(unpack)),
};
