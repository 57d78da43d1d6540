//! What connections with many streams have in common, whatever carries them: whose turn it is, and what a peer may
//! make us do for nothing.

mod budget;
mod schedule;

pub(crate) use budget::Budget;
pub(crate) use schedule::Schedule;
