//! What the pools of a process tell of themselves all together.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use super::core::{Core, count};

thread_local! {
    static POOLS: RefCell<Vec<Weak<Core>>> = const { RefCell::new(Vec::new()) };
    static EXHAUSTED: Cell<u64> = const { Cell::new(0) };
    static WAITS: Cell<u64> = const { Cell::new(0) };
    static CREATED: Cell<u64> = const { Cell::new(0) };
}

/// The pools of this process, those included of which the counters are gone with them.
#[derive(Debug, Default)]
pub(crate) struct PoolFigures {
    pub(crate) used: u64,
    pub(crate) idle: u64,
    pub(crate) waiting: u64,
    pub(crate) exhausted: u64,
    pub(crate) waits: u64,
    pub(crate) created: u64,
}

/// A pool was made.
pub(super) fn made(core: &Rc<Core>) {
    POOLS.with_borrow_mut(|pools| {
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Rc::downgrade(core));
    });
}

/// Somebody waited in vain.
pub(super) fn exhausted() {
    EXHAUSTED.with(count);
}

/// Somebody waited.
pub(super) fn waited() {
    WAITS.with(count);
}

/// A connection was made.
pub(super) fn created() {
    CREATED.with(count);
}

/// What all pools come to.
pub(crate) fn all() -> PoolFigures {
    let mut all = PoolFigures {
        exhausted: EXHAUSTED.get(),
        waits: WAITS.get(),
        created: CREATED.get(),
        ..PoolFigures::default()
    };
    POOLS.with_borrow(|pools| {
        for core in pools.iter().filter_map(Weak::upgrade) {
            core.enter_process();
            let (_, used, idle) = core.occupancy();
            all.used += used as u64;
            all.idle += idle as u64;
            all.waiting += core.queue.len() as u64;
        }
    });
    all
}
