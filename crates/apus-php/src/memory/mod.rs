//! Memory that the processes of a program share, as PHP sees it: tables, atomics, locks, queues, a cache, a rate
//! limiter; and the serializer that values cross processes in. `apus-shm` is what lies beneath.

mod atomic;
mod bulk;
mod cache;
mod cache_remember;
mod figures;
mod file_lock;
mod limiter;
pub(crate) mod lock;
pub(crate) mod notifier;
pub(crate) mod pack;
mod queue;
mod table;
mod table_convert;
mod table_iterate;
mod table_query;
mod table_rows;
mod table_second;

use apus_zend::class::Class;

pub(crate) use figures::write as write_tables;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[
    &atomic::ATOMIC,
    &atomic::LONG,
    &lock::CLASS,
    &queue::QUEUE,
    &cache::CLASS,
    &limiter::CLASS,
    &table::TABLE,
    &table::COLUMN_TABLE,
];

apus_zend::stub!("memory/functions");
