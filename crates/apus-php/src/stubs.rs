//! What `apus stubs` prints: the declarations that the module was built from.

/// The whole text.
pub(crate) const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/stubs.php"));
