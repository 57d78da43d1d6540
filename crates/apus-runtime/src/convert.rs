//! PHP values to and from the table of settings.

use apus_options as options;
use apus_zend::value::{ArrayView, Key, View};
use apus_zend::{Array, Raise, Value};

/// A PHP value as a setting's value; `None` for objects and resources.
pub fn to_option(view: View<'_>) -> Option<options::Value> {
    Some(match view {
        View::Null => options::Value::Null,
        View::Bool(value) => options::Value::Bool(value),
        View::Int(value) => options::Value::Int(value),
        View::Float(value) => options::Value::Float(value),
        View::Str(bytes) => options::Value::Str(String::from_utf8_lossy(bytes).into_owned()),
        View::Array(array) => {
            if array.iter().any(|(key, _)| matches!(key, Key::Str(_))) {
                let named = array.iter().map(|(key, item)| {
                    let name = match key {
                        Key::Str(name) => String::from_utf8_lossy(name).into_owned(),
                        Key::Index(number) => number.to_string(),
                    };
                    Some((name, to_option(item.view())?))
                });
                return Some(options::Value::Map(named.collect::<Option<_>>()?));
            }
            let items = array.iter().map(|(_, item)| to_option(item.view()));
            options::Value::List(items.collect::<Option<_>>()?)
        }
        View::Object(_) | View::Other => return None,
    })
}

/// A setting's value as a PHP value.
pub fn from_option(value: &options::Value) -> Result<Value, Raise> {
    Ok(match value {
        options::Value::Null => Value::null(),
        options::Value::Bool(value) => Value::bool(*value),
        options::Value::Int(value) => Value::int(*value),
        options::Value::Float(value) => Value::float(*value),
        options::Value::Str(text) => Value::string(text.as_bytes())?,
        options::Value::List(items) => {
            let mut array = Array::new(items.len())?;
            for item in items {
                array.push(from_option(item)?)?;
            }
            array.into()
        }
        options::Value::Map(items) => {
            let mut array = Array::new(items.len())?;
            for (name, item) in items {
                array.set(name.as_bytes(), from_option(item)?)?;
            }
            array.into()
        }
    })
}

/// An array of settings as pairs.
pub fn pairs(given: ArrayView<'_>) -> Result<Vec<(String, options::Value)>, String> {
    let mut pairs = Vec::with_capacity(given.len());
    for (key, value) in given.iter() {
        let Key::Str(name) = key else {
            return Err("settings are given as 'name' => value, but a numeric key was found".to_owned());
        };
        let name = String::from_utf8_lossy(name);
        let value =
            to_option(value.view()).ok_or_else(|| format!("setting \"{name}\" cannot be an object or a resource"))?;
        pairs.push((name.into_owned(), value));
    }
    Ok(pairs)
}

/// Applies an array of settings, all or none; the error says which one is wrong and why.
pub fn apply(settings: &mut options::Settings, given: ArrayView<'_>) -> Result<(), String> {
    let mut changed = settings.clone();
    for (name, value) in pairs(given)? {
        changed.set(&name, &value).map_err(|error| error.to_string())?;
    }
    *settings = changed;
    Ok(())
}

/// Applies what is known of an array of settings, one by one; gives what is wrong with values that do not fit. What is
/// unknown or unsupported is passed over. `other` is asked first: a setting that somebody else heeds has what is wrong
/// with it, or nothing.
pub fn apply_known(
    settings: &mut options::Settings,
    given: ArrayView<'_>,
    other: impl Fn(&[u8], View<'_>) -> Option<Result<(), String>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, given) in given.iter() {
        let (Key::Str(name), Some(value)) = (key, to_option(given.view())) else { continue };
        if let Some(heeded) = other(name, given.view()) {
            wrong.extend(heeded.err());
            continue;
        }
        if let Err(error @ options::OptionError::Invalid { .. }) = settings.set(&String::from_utf8_lossy(name), &value)
        {
            wrong.push(error.to_string());
        }
    }
    wrong
}
