//! Arguments and results of typed functions: what a declaration in `php/stub` promises, and what the Rust function wants of it.
//!
//! The code that the build makes of a stub takes each argument by its declared type (`int` as `i64`, `?string` as `Option<&[u8]>`) with the
//! declared default, and hands it to the function as whatever type the function has there ([`Want`]): the same, or one that a room makes of
//! it, as a time-out of a float. What the function gives back becomes the PHP value ([`Give`]).

use crate::call::{Call, Raise};
use crate::callable::Callable;
use crate::object::Object;
use crate::value::{Array, PhpString, Value, View};

/// A passed argument, or its default.
#[derive(Clone, Copy)]
pub struct Given<T> {
    /// Its place, from 0, for messages about it.
    pub index: usize,
    /// Its value by the declared type.
    pub value: T,
}

/// A type that a typed function takes where a `T` is declared.
pub trait Want<T>: Sized {
    /// Makes it, or throws what is wrong with the argument: see [`value_error`](crate::call::value_error).
    fn want(given: Given<T>) -> Result<Self, Raise>;
}

impl<T> Want<T> for T {
    #[inline]
    fn want(given: Given<T>) -> Result<Self, Raise> {
        Ok(given.value)
    }
}

/// The argument as the function wants it.
#[inline]
pub fn want<T, W: Want<T>>(index: usize, value: T) -> Result<W, Raise> {
    W::want(Given { index, value })
}

/// The callable of an argument that may be null or missing.
pub fn optional_callable(call: &Call, index: usize) -> Result<Option<Callable>, Raise> {
    if matches!(call.view(index), View::Null) { Ok(None) } else { call.callable(index).map(Some) }
}

/// The arguments from a place on.
#[derive(Clone, Copy)]
pub struct Rest<'c> {
    call: &'c Call,
    from: usize,
}

impl<'c> Rest<'c> {
    /// Those from `from` on.
    pub fn new(call: &'c Call, from: usize) -> Self {
        Self { call, from }
    }

    /// Another reference to each.
    pub fn values(self) -> impl ExactSizeIterator<Item = Value> {
        (self.from.min(self.call.count())..self.call.count()).map(|index| self.call.value(index))
    }
}

/// A parameter that is passed by reference.
#[derive(Clone, Copy)]
pub struct Variable<'c> {
    call: &'c Call,
    index: usize,
}

impl<'c> Variable<'c> {
    /// The one at that place.
    pub fn new(call: &'c Call, index: usize) -> Self {
        Self { call, index }
    }

    /// What it holds.
    pub fn view(self) -> View<'c> {
        self.call.view(self.index)
    }

    /// Assigns to it. A typed property behind the reference may refuse the value.
    pub fn assign(self, value: Value) -> Result<(), Raise> {
        self.call.assign(self.index, value)
    }
}

/// What a typed function may give back.
pub trait Give {
    /// Makes it the result of the call.
    fn give(self, call: &Call) -> Result<(), Raise>;
}

impl Give for () {
    #[inline]
    fn give(self, _: &Call) -> Result<(), Raise> {
        Ok(())
    }
}

impl<T: Give> Give for Result<T, Raise> {
    #[inline]
    fn give(self, call: &Call) -> Result<(), Raise> {
        self?.give(call)
    }
}

/// `None` is null.
impl<T: Give> Give for Option<T> {
    #[inline]
    fn give(self, call: &Call) -> Result<(), Raise> {
        self.map_or(Ok(()), |value| value.give(call))
    }
}

macro_rules! give {
    ($($type:ty),+) => {
        $(impl Give for $type {
            #[inline]
            fn give(self, call: &Call) -> Result<(), Raise> {
                call.ret(self)
            }
        })+
    };
}
give!(bool, i64, f64, Value, PhpString, Object, Array);
