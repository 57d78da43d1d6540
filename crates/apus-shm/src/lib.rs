//! Memory that processes share, and what is kept in it.
//!
//! Everything here is made before the first `fork` and inherited by it. All of it holds against `SIGKILL` at any
//! instruction: what a process had begun and not finished is undone or completed by whoever comes next, nobody waits
//! for the dead, and nobody reads what was half-written. Knows no PHP and no runtime.

mod cache;
mod cache_make;
mod cache_part;
mod cells;
mod clock;
mod crowd;
mod futex;
pub mod handover;
mod limiter;
mod lock;
mod notifier;
mod process_registry;
mod queue;
mod region;
mod replace;
mod robust;
mod series;
pub mod table;
pub mod tasks;

pub use cache::{CACHE_KEY_MOST, CACHE_LEAST, CACHE_MOST, Cache, CacheError, CacheStats};
pub use cache_make::{Claim, Making};
pub use cache_part::{Found, Stored};
pub use cells::{Look, Number};
pub use crowd::Crowd;
pub use limiter::{LIMITER_KEYS_MOST, Limiter, Verdict};
pub use lock::{Busy, Lock, LockStep, Mode, TakeError, Taken, Waiting};
pub use notifier::{Heard, Watch};
pub use process_registry::ForkEpoch;
pub use queue::{Nothing, QueueStats, Refused, SharedQueue};
pub use region::{Region, Shared, map};
pub use replace::Replacement;
pub use robust::{Guard, RobustMutex};
pub use series::{LABEL_MOST, OTHER, Place, SERIES_MOST, Series, add_float};
