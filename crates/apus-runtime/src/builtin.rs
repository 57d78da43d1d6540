//! Objects of PHP's own classes.

use std::sync::OnceLock;

use apus_zend::engine::ClassEntry;
use apus_zend::object::Object;
use apus_zend::{Array, Callable, Raise, Value, engine};

/// An object of PHP's own class `name`, constructed with `args`.
pub fn construct(name: &str, class: Option<ClassEntry>, args: &[Value]) -> Result<Object, Raise> {
    let class = class
        .or_else(|| ClassEntry::find(name))
        .ok_or_else(|| engine::throw_error(&format!("class {name} is not loaded")))?;
    let object = Object::plain(class)?;
    let mut pair = Array::new(2)?;
    pair.push(object.share().into())?;
    pair.push(Value::string(b"__construct")?)?;
    let mut pair = Value::from(pair);
    let constructor = Callable::new(&mut pair).map_err(|not| not.or(engine::throw_error))?;
    constructor.call(args)?;
    Ok(object)
}

/// An `ArrayIterator` over ids.
pub fn array_iterator(ids: &[i64]) -> Result<Object, Raise> {
    static CLASS: OnceLock<Option<ClassEntry>> = OnceLock::new();
    let class = *CLASS.get_or_init(|| ClassEntry::find("ArrayIterator"));
    construct("ArrayIterator", class, &[array_of(ids)?])
}

/// The same of a class that descends from it.
pub fn iterator(class: &str, ids: &[i64]) -> Result<Object, Raise> {
    construct(class, None, &[array_of(ids)?])
}

fn array_of(ids: &[i64]) -> Result<Value, Raise> {
    let mut array = Array::new(ids.len())?;
    for &id in ids {
        array.push(Value::int(id))?;
    }
    Ok(array.into())
}

/// `printf('%s', $text)`: output as PHP code makes it.
pub fn print(text: &[u8]) -> Result<(), Raise> {
    Callable::named("printf")?.call(&[Value::string(b"%s")?, Value::string(text)?]).map(drop)
}
