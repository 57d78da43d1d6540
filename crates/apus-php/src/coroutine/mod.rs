//! `Apus\Coroutine` and what belongs to it.

mod batch;
mod class;
mod context;
mod scheduler;
mod second;

use apus_zend::class::Class;

pub(crate) use apus_runtime::builtin::{array_iterator, construct};
pub(crate) use batch::{batch, parallel};
pub(crate) use class::{COROUTINE, create, defer, set_known};
pub(crate) use scheduler::{allow_nested, run};
pub(crate) use second::GivenOptions;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&COROUTINE, &context::CONTEXT, &scheduler::SCHEDULER];
