//! What answers a request before PHP is asked: redirects, logins, files.
//!
//! A port that has nothing of this pays one comparison a request.

mod auth;
mod content;
mod cors;
mod edge;
mod path;
mod root;
mod rules;
pub mod script;
pub mod settings;
mod statics;
pub mod types;

pub use auth::Protected;
pub use content::send_file;
pub use cors::CorsConfig;
pub use edge::{Edge, EdgeConfig, Outcome};
pub use rules::{Redirects, Rewrites};
pub use statics::StaticsConfig;
