//! A setting's value as a program wrote it.

use std::fmt;

/// What a caller hands to [`Settings::set`](crate::Settings::set): PHP's scalars, and lists of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing: restores the default.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// Text.
    Str(String),
    /// Several values.
    List(Vec<Value>),
    /// Values by name, in their order.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Whether the value asks for nothing: null, false, zero, empty text or an empty list.
    pub fn is_off(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(on) => !on,
            Self::Int(n) => *n == 0,
            Self::Float(n) => *n == 0.0,
            Self::Str(s) => s.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Map(items) => items.is_empty(),
        }
    }
}

/// As an error message shows it: text quoted and cut at 60 characters.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(on) => write!(f, "{on}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(n) => write!(f, "{n}"),
            Self::Str(s) if s.chars().count() > 60 => write!(f, "\"{}…\"", s.chars().take(60).collect::<String>()),
            Self::Str(s) => write!(f, "\"{s}\""),
            Self::List(items) => write!(f, "a list of {}", items.len()),
            Self::Map(items) => write!(f, "an array of {} by name", items.len()),
        }
    }
}

macro_rules! from {
    ($($type:ty => $kind:ident),+) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$kind(value)
            }
        })+
    };
}
from!(bool => Bool, i64 => Int, f64 => Float, String => Str);

impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Self::Str(v.to_owned())
    }
}
