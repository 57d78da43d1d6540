//! What settings ask for, or what is wrong with them. Opens nothing but files of users, and the directory that is
//! served.

use std::path::PathBuf;
use std::rc::Rc;

use apus_net::{Gate, Rate, check_response_headers};
use apus_options::Settings;

use crate::auth::Protected;
use crate::cors::CorsConfig;
use crate::edge::{Edge, EdgeConfig};
use crate::rules::{Redirects, Rewrites};
use crate::statics::StaticsConfig;

/// What settings have done with requests before their handlers see them, if anything; or what is wrong with them.
/// `second`: for code written for Swoole.
///
/// # Errors
/// What is wrong with which setting.
pub fn plan(settings: &Settings, second: bool) -> Result<Option<EdgeConfig>, String> {
    let cors = CorsConfig {
        origins: settings.cors_origins.clone(),
        methods: settings.cors_methods.clone(),
        headers: settings.cors_headers.clone(),
        expose: settings.cors_expose_headers.clone(),
        credentials: settings.cors_credentials,
        max_age: settings.cors_max_age.as_secs(),
    };
    cors.check()?;
    let config = EdgeConfig {
        statics: statics(settings, second)?,
        redirects: Redirects::read(&settings.redirects)?,
        rewrites: Rewrites::read(&settings.rewrites)?,
        protected: protected(settings)?,
        realm: settings.basic_auth_realm.clone(),
        cors: (!cors.origins.is_empty()).then_some(cors),
    };
    Ok((!config.is_empty()).then_some(config))
}

/// Opens the directory that is served, if one is.
///
/// # Errors
/// What cannot be opened.
pub fn open(config: Option<&EdgeConfig>) -> Result<Option<Rc<Edge>>, String> {
    let Some(config) = config else { return Ok(None) };
    let root = config.statics.as_ref().map(|statics| statics.root.display().to_string()).unwrap_or_default();
    Edge::open(config).map(Some).map_err(|error| format!("document_root {root}: {error}"))
}

/// Who may see what.
///
/// # Errors
/// Which file cannot be read, or what is wrong with it.
pub fn protected(settings: &Settings) -> Result<Vec<Protected>, String> {
    let one = |(path, users): &(String, String)| {
        if Protected::is_text(users) {
            return Protected::read(path, users).map_err(|why| format!("basic_auth {path}: {why}"));
        }
        let text = std::fs::read_to_string(users).map_err(|error| error.to_string());
        text.and_then(|text| Protected::read(path, &text)).map_err(|why| format!("basic_auth {path}: {users}: {why}"))
    };
    settings.basic_auth.iter().map(one).collect()
}

fn statics(settings: &Settings, second: bool) -> Result<Option<StaticsConfig>, String> {
    if !settings.enable_static_handler {
        return Ok(None);
    }
    let root = &settings.document_root;
    if root.is_empty() {
        return Err("enable_static_handler needs document_root, the directory of the files".into());
    }
    Ok(Some(StaticsConfig {
        root: root.into(),
        links: links(settings, second),
        locations: settings.static_handler_locations.clone(),
        denied: settings.denied_paths.clone(),
        tries: settings.try_files.clone(),
        index: settings.http_index_files.clone(),
        listing: settings.http_autoindex,
        precompressed: settings.static_precompressed,
        second,
        cache_control: settings.static_cache_control.clone(),
        cache_size: settings.static_cache_size,
    }))
}

/// Where links may lead out of the root. Programs written for Swoole expect that all are followed, as `public/storage`
/// of Laravel is; they can name directories, too.
fn links(settings: &Settings, second: bool) -> Vec<PathBuf> {
    if second && settings.document_root_links.is_empty() {
        return vec![PathBuf::from("/")];
    }
    settings.document_root_links.iter().map(Into::into).collect()
}

/// Whom a port of HTTP answers, where that is not everybody; or what is wrong with its settings. Made before the
/// processes are forked that count together.
///
/// # Errors
/// What is wrong with which setting.
pub fn gate(settings: &Settings) -> Result<Option<Gate>, String> {
    if settings.open_proxy_protocol && settings.trusted_proxies.is_empty() {
        return Err("open_proxy_protocol needs trusted_proxies, the addresses of the proxies".into());
    }
    gate_with(settings, Rate::of(settings)?)
}

/// The same with what is counted elsewhere, too.
///
/// # Errors
/// What is wrong with which setting.
pub fn gate_with(settings: &Settings, rate: Option<Rate>) -> Result<Option<Gate>, String> {
    check_response_headers(settings)?;
    Ok(Gate::of(settings, rate))
}
