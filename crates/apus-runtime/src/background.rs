//! The thread's runtime.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use tokio::runtime::LocalRuntime;

/// A runtime that, dropped, does not wait for what its threads still do for coroutines that were cancelled.
pub(crate) struct Background(ManuallyDrop<LocalRuntime>);

impl Background {
    pub(crate) fn of(runtime: LocalRuntime) -> Self {
        Self(ManuallyDrop::new(runtime))
    }
}

impl Deref for Background {
    type Target = LocalRuntime;

    fn deref(&self) -> &LocalRuntime {
        &self.0
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // SAFETY: taken once, here; the value is gone afterwards.
        unsafe { ManuallyDrop::take(&mut self.0) }.shutdown_background();
    }
}
