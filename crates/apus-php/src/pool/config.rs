//! What the three configuration classes share: values under fluent setters, kept as PHP properties.

use apus_zend::arg::Given;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value};

use crate::exception;

/// What a property holds.
pub(super) fn get(config: Object, slot: u32) -> Value {
    config.slot(slot)
}

/// The array that a property holds; an empty one until it was set.
pub(super) fn get_array(config: Object, slot: u32) -> Result<Value, Raise> {
    let value = config.slot(slot);
    if let View::Array(_) = value.view() { Ok(value) } else { Array::new(0).map(Value::from) }
}

/// The seconds that a property holds; 0 until they were set.
pub(super) fn get_seconds(config: Object, slot: u32) -> f64 {
    Config(config).float(slot)
}

/// Has a property hold it, and returns the configuration.
pub(super) fn with(config: Object, slot: u32, value: Value) -> Object {
    config.set_slot(slot, value);
    config
}

/// The same of a port.
pub(super) fn with_port(config: Object, slot: u32, port: Given<i64>) -> Result<Object, Raise> {
    if !(0..=65535).contains(&port.value) {
        return Err(port.must_be("a port from 0 to 65535"));
    }
    Ok(with(config, slot, Value::int(port.value)))
}

/// The same of a number, 0 or more.
pub(super) fn with_count(config: Object, slot: u32, count: Given<i64>) -> Result<Object, Raise> {
    if count.value < 0 {
        return Err(count.must_be("0 or more"));
    }
    Ok(with(config, slot, Value::int(count.value)))
}

/// The same of seconds.
pub(super) fn with_seconds(config: Object, slot: u32, seconds: Given<f64>) -> Result<Object, Raise> {
    if !(seconds.value >= 0.0 && seconds.value.is_finite()) {
        return Err(seconds.value_error(&format!("must be 0 or more seconds, {:?} given", seconds.value)));
    }
    Ok(with(config, slot, Value::float(seconds.value)))
}

/// Throws OPTION unless the PHP class is there that has the name of its extension.
pub(super) fn expect_class(extension: &str) -> Result<(), Raise> {
    if apus_zend::engine::ClassEntry::find(extension).is_some() {
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
