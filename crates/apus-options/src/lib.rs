//! Every setting of Apus, declared once.
//!
//! One row names a setting, its kind, unit, default, limits, scope and meaning ([`table`] holds them all). From the
//! rows come the typed [`Settings`], the parser of values with its error texts, the reader of configuration files
//! ([`ConfigFile`]), and the reference page ([`markdown`]).
#![forbid(unsafe_code)]

pub mod client;
mod coerce;
mod config_file;
mod declare;
mod error;
mod field;
pub mod hooks;
mod host;
mod markdown;
mod networks;
mod pattern;
mod row;
pub mod table;
mod unavailable;
mod value;

pub use config_file::{ConfigFile, HostSection, Listen, PortSection, Problem, Setting, TextPlace};
pub use error::OptionError;
pub use field::{HostCertificate, Limit};
pub use host::check_host_name;
pub use markdown::markdown;
pub use networks::Networks;
pub use pattern::fits;
pub use row::{Kind, Row, Scope, Support};
pub use table::{Settings, find, rows};
pub use value::Value;

/// Header fields that a format of the access log may name.
pub const LOGGED_FIELDS_MOST: usize = 32;
