//! Memory that the processes of a program share, as PHP sees it: tables, atomics, locks, queues, a cache, a rate limiter; and the
//! serializer that values cross processes in. `apus-shm` is what lies beneath.

use apus_zend::class::{Class, Constant, Method};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[];

/// The functions of this room.
pub(crate) static FUNCTIONS: &[Method] = &[];

/// The constants of this room.
pub(crate) static CONSTANTS: &[Constant] = &[];
