//! Memory that processes share, and what is kept in it.
//!
//! Everything here is made before the first `fork` and inherited by it. All of it holds against `SIGKILL` at any instruction: what a process
//! had begun and not finished is undone or completed by whoever comes next, nobody waits for the dead, and nobody reads what was half-written.
//! Knows no PHP and no runtime.

mod region;
mod robust;

pub use region::{Region, Shared, map};
pub use robust::{Guard, RobustMutex};
