//! Arguments and results of typed functions: what a declaration in `php/stub` promises, and what the Rust function
//! wants of it.
//!
//! The code that the build makes of a stub takes each argument by its declared type (`int` as `i64`, `?string` as
//! `Option<&[u8]>`) with the declared default, and hands it to the function as whatever type the function has there
//! ([`Want`]): the same, or one that a room makes of it, as a time-out of a float. What the function gives back becomes
//! the PHP value ([`Give`]).

use std::ops::Deref;

use crate::call::{Call, Raise, content_error, value_error};
use crate::callable::Callable;
use crate::class::Class;
use crate::object::{Native, Object};
use crate::value::{Array, ArrayView, PhpString, Value, View};

/// A passed argument, or its default.
#[derive(Clone, Copy)]
pub struct Given<T> {
    /// Its place, from 0, for messages about it.
    pub index: usize,
    /// Its value by the declared type.
    pub value: T,
}

impl<T> Given<T> {
    /// Throws the `ValueError` that says what it must be: `must be …`.
    pub fn value_error(&self, text: &str) -> Raise {
        value_error(self.index, text)
    }

    /// Throws the `TypeError` that says what it must hold: `must hold …`.
    pub fn content_error(&self, text: &str) -> Raise {
        content_error(self.index, text)
    }
}

impl Given<i64> {
    /// It as a number of another type; what does not fit must be `what`: `0 or more bytes`.
    pub fn number<N: TryFrom<i64>>(&self, what: &str) -> Result<N, Raise> {
        N::try_from(self.value).map_err(|_| self.must_be(what))
    }

    /// The same of those that are good, too.
    pub fn number_where<N: TryFrom<i64>>(&self, good: impl FnOnce(&N) -> bool, what: &str) -> Result<N, Raise> {
        N::try_from(self.value).ok().filter(good).ok_or_else(|| self.must_be(what))
    }

    /// Throws the `ValueError` that says what it must be, and what was given.
    pub fn must_be(&self, what: &str) -> Raise {
        self.value_error(&format!("must be {what}, {} given", self.value))
    }
}

/// The argument with its place, for functions that look at it themselves.
impl<T> Want<T> for Given<T> {
    #[inline]
    fn want(given: Given<T>) -> Result<Self, Raise> {
        Ok(given)
    }
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

/// The text of a string, with anything that is not UTF-8 replaced.
impl Want<&[u8]> for String {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        Ok(Self::from_utf8_lossy(given.value).into_owned())
    }
}

impl Want<&[u8]> for Value {
    fn want(given: Given<&[u8]>) -> Result<Self, Raise> {
        Self::string(given.value)
    }
}

impl Want<Option<&[u8]>> for Value {
    fn want(given: Given<Option<&[u8]>>) -> Result<Self, Raise> {
        given.value.map_or_else(|| Ok(Self::null()), Self::string)
    }
}

impl Want<ArrayView<'_>> for Value {
    fn want(given: Given<ArrayView<'_>>) -> Result<Self, Raise> {
        Ok(given.value.value())
    }
}

macro_rules! want_value {
    ($($type:ty),+) => {
        $(impl Want<$type> for Value {
            fn want(given: Given<$type>) -> Result<Self, Raise> {
                Ok(given.value.into())
            }
        })+
    };
}
want_value!(bool, i64, f64);

/// What an argument is that may be null or missing.
pub fn optional<'c, T>(
    call: &'c Call,
    index: usize,
    take: impl FnOnce(&'c Call, usize) -> Result<T, Raise>,
) -> Result<Option<T>, Raise> {
    if matches!(call.view(index), View::Null) { Ok(None) } else { take(call, index).map(Some) }
}

/// An argument that is an object of that class, under whichever of its names; `declared` is the one to complain with.
pub fn instance(call: &Call, index: usize, class: &Class, declared: &str) -> Result<Object, Raise> {
    match call.view(index) {
        View::Object(object) if object.is(class) => Ok(object.share()),
        _ => Err(call.type_error(index, &format!("of type {declared}"))),
    }
}

/// How a typed method gets the object that it was called on.
pub trait This<'c>: Sized {
    /// Takes it from the call.
    fn this(call: &'c Call) -> Result<Self, Raise>;
}

impl<'c, T: Native> This<'c> for &'c T {
    #[inline]
    fn this(call: &'c Call) -> Result<Self, Raise> {
        call.this()
    }
}

impl This<'_> for Object {
    fn this(call: &Call) -> Result<Self, Raise> {
        call.object()
    }
}

/// The Rust value behind `$this`, and the object itself, which lives as long as this: for methods that wait, or set
/// properties.
pub struct Me<'c, T> {
    native: &'c T,
    /// The object.
    pub object: Object,
}

impl<'c, T: Native> This<'c> for Me<'c, T> {
    fn this(call: &'c Call) -> Result<Self, Raise> {
        Ok(Self { native: call.this()?, object: call.object()? })
    }
}

impl<T> Deref for Me<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.native
    }
}

/// What a constructor makes.
pub trait Make {
    /// Gives `$this` its Rust value.
    fn make(self, call: &Call) -> Result<(), Raise>;
}

impl<T: Native> Make for T {
    #[inline]
    fn make(self, call: &Call) -> Result<(), Raise> {
        call.construct(self)
    }
}

impl<T: Make> Make for Result<T, Raise> {
    #[inline]
    fn make(self, call: &Call) -> Result<(), Raise> {
        self?.make(call)
    }
}

/// A Rust value, and what its object's declared properties hold, by their places.
pub struct Made<T, const N: usize>(pub T, pub [(u32, Value); N]);

impl<T: Native, const N: usize> Make for Made<T, N> {
    fn make(self, call: &Call) -> Result<(), Raise> {
        call.construct(self.0)?;
        let object = call.object()?;
        for (slot, value) in self.1 {
            object.set_slot(slot, value);
        }
        Ok(())
    }
}

/// An argument that may be of several types, or of any.
#[derive(Clone, Copy)]
pub struct Any<'c> {
    call: &'c Call,
    index: usize,
}

impl<'c> Any<'c> {
    /// The one at that place; null when not passed.
    pub fn new(call: &'c Call, index: usize) -> Self {
        Self { call, index }
    }

    /// What it is.
    pub fn view(self) -> View<'c> {
        self.call.view(self.index)
    }

    /// Another reference to it.
    pub fn value(self) -> Value {
        self.call.value(self.index)
    }

    /// Whether it was passed.
    pub fn is_passed(self) -> bool {
        self.index < self.call.count()
    }

    /// It as a string, by PHP's rules.
    pub fn bytes(self) -> Result<&'c [u8], Raise> {
        self.call.bytes(self.index)
    }

    /// It as a callable.
    pub fn callable(self) -> Result<Callable, Raise> {
        self.call.callable(self.index)
    }

    /// It as an object.
    pub fn object(self) -> Option<Object> {
        match self.call.view(self.index) {
            View::Object(object) => Some(object.share()),
            _ => None,
        }
    }

    /// It as an integer, by PHP's rules.
    pub fn int(self) -> Result<i64, Raise> {
        self.call.int(self.index, 0)
    }

    /// Throws the `ValueError` that says what it must be: `must be …`.
    pub fn value_error(self, text: &str) -> Raise {
        self.call.value_error(self.index, text)
    }

    /// Throws the `TypeError` that says of which type it must be: `a stream`.
    pub fn type_error(self, expected: &str) -> Raise {
        self.call.type_error(self.index, expected)
    }

    /// Throws the `TypeError` that says what it must hold: `must hold …`.
    pub fn content_error(self, text: &str) -> Raise {
        self.call.content_error(self.index, text)
    }
}

impl<'c> Want<Any<'c>> for View<'c> {
    #[inline]
    fn want(given: Given<Any<'c>>) -> Result<Self, Raise> {
        Ok(given.value.view())
    }
}

impl<'c> Want<Any<'c>> for Value {
    fn want(given: Given<Any<'c>>) -> Result<Self, Raise> {
        Ok(given.value.value())
    }
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

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.call.count().saturating_sub(self.from)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Each as a string, by PHP's rules.
    #[inline]
    pub fn bytes(self) -> impl ExactSizeIterator<Item = Result<&'c [u8], Raise>> {
        let call = self.call;
        (self.from.min(call.count())..call.count()).map(move |index| call.bytes(index))
    }

    /// Another reference to each.
    pub fn values(self) -> impl ExactSizeIterator<Item = Value> {
        (self.from.min(self.call.count())..self.call.count()).map(|index| self.call.value(index))
    }
}

/// A parameter that is passed by reference.
#[derive(Clone, Copy)]
pub struct Variable<'c>(Any<'c>);

impl<'c> Variable<'c> {
    /// The one at that place.
    pub fn new(call: &'c Call, index: usize) -> Self {
        Self(Any::new(call, index))
    }

    /// Assigns to it. A typed property behind the reference may refuse the value.
    pub fn assign(self, value: Value) -> Result<(), Raise> {
        self.0.call.assign(self.0.index, value)
    }
}

impl<'c> Deref for Variable<'c> {
    type Target = Any<'c>;
    fn deref(&self) -> &Any<'c> {
        &self.0
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

/// What a function returns that is declared as `…|false`; `None` is false.
pub struct OrFalse<T>(pub Option<T>);

impl<T: Give> Give for OrFalse<T> {
    #[inline]
    fn give(self, call: &Call) -> Result<(), Raise> {
        match self.0 {
            Some(value) => value.give(call),
            None => call.ret(false),
        }
    }
}

/// An integer.
impl Give for usize {
    fn give(self, call: &Call) -> Result<(), Raise> {
        call.ret(self as i64)
    }
}

/// An integer.
impl Give for u64 {
    fn give(self, call: &Call) -> Result<(), Raise> {
        call.ret(self as i64)
    }
}

/// A string.
impl Give for &[u8] {
    fn give(self, call: &Call) -> Result<(), Raise> {
        call.ret_bytes(self)
    }
}

/// A string.
impl Give for Vec<u8> {
    fn give(self, call: &Call) -> Result<(), Raise> {
        call.ret_bytes(&self)
    }
}

/// A string.
impl Give for String {
    fn give(self, call: &Call) -> Result<(), Raise> {
        call.ret_bytes(self.as_bytes())
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
