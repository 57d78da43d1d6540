//! What the three configuration classes share: values under fluent setters, kept as PHP properties.

use std::ffi::CString;

use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value};

use crate::exception::{self};

/// The object that a method was called on.
pub(super) fn this(call: &Call) -> Result<Object, Raise> {
    call.object()
}

/// Returns what property number `slot` holds.
pub(super) fn get(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(this(call)?.slot(slot))
}

/// Overwrites property number `slot` and returns `$this`.
pub(super) fn with(call: &Call, slot: u32, value: Value) -> Result<(), Raise> {
    let object = this(call)?;
    object.set_slot(slot, value);
    call.ret(object)
}

/// Returns the array of property number `slot`; an empty one until it was set.
pub(super) fn get_array(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let value = this(call)?.slot(slot);
    if let View::Array(_) = value.view() { call.ret(value) } else { call.ret(Array::new(0)?) }
}

/// Returns the seconds of property number `slot`; 0 until they were set.
pub(super) fn get_seconds(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(Config(this(call)?).float(slot))
}

/// `with…(string)`
pub(super) fn with_text(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let value = Value::string(call.bytes(0)?)?;
    with(call, slot, value)
}

/// `with…(?string)`
pub(super) fn with_optional_text(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let value = match call.opt_bytes(0)? {
        Some(bytes) => Value::string(bytes)?,
        None => Value::null(),
    };
    with(call, slot, value)
}

/// `with…(int)`, a port.
pub(super) fn with_port(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let port = call.int(0, 0)?;
    if !(0..=65535).contains(&port) {
        return Err(call.value_error(0, &format!("must be a port from 0 to 65535, {port} given")));
    }
    with(call, slot, Value::int(port))
}

/// `with…(int)`, 0 or more.
pub(super) fn with_count(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let count = call.int(0, 0)?;
    if count < 0 {
        return Err(call.value_error(0, &format!("must be 0 or more, {count} given")));
    }
    with(call, slot, Value::int(count))
}

/// `with…(float)`, seconds.
pub(super) fn with_seconds(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(1, 1)?;
    let seconds = call.float(0, 0.0)?;
    if !(seconds >= 0.0 && seconds.is_finite()) {
        return Err(call.value_error(0, &format!("must be 0 or more seconds, {seconds:?} given")));
    }
    with(call, slot, Value::float(seconds))
}

/// `with…(array)`
pub(super) fn with_array(call: &Call, slot: u32) -> Result<(), Raise> {
    call.expect(1, 1)?;
    call.array(0)?;
    with(call, slot, call.value(0))
}

/// Throws OPTION unless the PHP class is there that `extension` brings.
pub(super) fn expect_class(class: &str, extension: &str) -> Result<(), Raise> {
    let known = CString::new(class).is_ok() && apus_zend::engine::ClassEntry::find(class).is_some();
    if known {
        return Ok(());
    }
    let text = format!("this pool needs the PHP extension {extension}, which is not loaded");
    Err(exception::throw(exception::code::pool::OPTION, &text))
}

/// One value of a configuration, as connections are made from it.
pub(super) struct Config(Object);

impl Config {
    /// The configuration that a pool keeps.
    pub(super) fn of(value: &Value) -> Result<Self, Raise> {
        super::php::object(value, "the pool's configuration").map(Self)
    }

    pub(super) fn value(&self, slot: u32) -> Value {
        self.0.slot(slot)
    }

    pub(super) fn text(&self, slot: u32) -> String {
        super::php::string(&self.value(slot))
    }

    pub(super) fn integer(&self, slot: u32) -> i64 {
        super::php::integer(&self.value(slot))
    }

    pub(super) fn float(&self, slot: u32) -> f64 {
        match self.value(slot).view() {
            View::Float(number) => number,
            View::Int(number) => number as f64,
            _ => 0.0,
        }
    }

    /// Calls `apply` with each option: key and value.
    pub(super) fn each_option(
        &self,
        slot: u32,
        mut apply: impl FnMut(i64, Value) -> Result<(), Raise>,
    ) -> Result<(), Raise> {
        let options = self.value(slot);
        let View::Array(options) = options.view() else { return Ok(()) };
        for (key, zval) in options.iter() {
            let apus_zend::value::Key::Index(key) = key else { continue };
            apply(key.cast_signed(), zval.value())?;
        }
        Ok(())
    }
}

/// Makes the getter and the setter of one property.
macro_rules! property {
    ($slot:expr, $get:ident by $reader:ident, $with:ident by $writer:ident) => {
        fn $get(call: &apus_zend::Call) -> Result<(), apus_zend::Raise> {
            $crate::pool::config::$reader(call, $slot)
        }

        fn $with(call: &apus_zend::Call) -> Result<(), apus_zend::Raise> {
            $crate::pool::config::$writer(call, $slot)
        }
    };
}
pub(super) use property;
