//! `stubs` and `options`: what the module says of itself.

mod options;
mod stubs;

pub(crate) use options::options;
pub(crate) use stubs::stubs;
