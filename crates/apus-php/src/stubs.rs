//! What `apus stubs` prints: the declarations that the module was built from.

/// The second declarations, which code written for Swoole sees.
pub(crate) const SECOND: &str = include_str!(concat!(env!("OUT_DIR"), "/stubs.second.php"));
/// The first ones.
pub(crate) const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/stubs.php"));
