//! PHP's values and what is done with them: objects and their classes, calls, exceptions. One room, for each is made of
//! the others: a value holds objects, an object has values, a call takes and gives them, and what it throws is an
//! object.

mod array;
pub mod call;
pub mod callable;
pub mod class;
pub mod engine;
pub mod object;
pub mod value;
