//! Processes that a program starts itself: single ones, pools, and message queues between them.

use apus_zend::class::{Class, Constant};

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[];

/// The constants of this room.
pub(crate) static CONSTANTS: &[Constant] = &[];
