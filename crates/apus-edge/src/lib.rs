//! What answers a request before PHP is asked: files.
//!
//! A port that has nothing of this pays one comparison a request.

mod content;
mod path;
mod root;
mod statics;
pub mod types;

pub use content::send_file;
pub use statics::{Outcome, Statics, StaticsConfig};
