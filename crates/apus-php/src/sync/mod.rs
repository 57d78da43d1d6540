//! What coroutines coordinate with: channels, wait groups, barriers, locks, semaphores, scopes and deadlines.

use apus_zend::class::{Class, Constant, Method};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[];

/// The functions of this room.
pub(crate) static FUNCTIONS: &[Method] = &[];

/// The constants of this room.
pub(crate) static CONSTANTS: &[Constant] = &[];
