//! `Coroutine\System` and `Event`: the operating system seen from a coroutine.

pub(crate) mod children;
mod class;
pub(crate) mod event;
mod exec;
pub(crate) mod failure;
pub(crate) mod files;
pub(crate) mod host;
pub(crate) mod lookup;
pub(crate) mod notifier;
pub(crate) mod ready;
mod select;
pub(crate) mod signals;
mod streams;
pub(crate) mod sys;
mod watch;

use apus_zend::class::Class;

pub(crate) use exec::exec_whole;
pub(crate) use host::{know_constants, know_swoole};
pub(crate) use select::client_select;
pub(crate) use watch::{Watching, watched_count};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&class::SYSTEM, &event::EVENT];

apus_zend::stub!("system/functions");
