//! What a port does before its handlers are asked: whom it answers, and files.

use std::rc::Rc;
use std::sync::Arc;

use apus_edge::{Statics, StaticsConfig};
use apus_net::{Gate, Rate, Responder, check_response_headers};
use apus_options::Settings;
use tokio::sync::Semaphore;

use crate::handlers::Begun;
use crate::handling::{Admission, Handling, place_in};

/// Opens the directory that a port serves, if it serves one; or why it cannot.
pub(crate) fn open(settings: &Settings) -> Result<Option<Rc<Statics>>, String> {
    if !settings.enable_static_handler {
        return Ok(None);
    }
    let root = &settings.document_root;
    if root.is_empty() {
        return Err("enable_static_handler needs document_root, the directory of the files".into());
    }
    let config = StaticsConfig {
        root: root.into(),
        locations: settings.static_handler_locations.clone(),
        tries: settings.try_files.clone(),
        index: settings.http_index_files.clone(),
        listing: settings.http_autoindex,
        precompressed: settings.static_precompressed,
        cache_control: settings.static_cache_control.clone(),
        cache_size: settings.static_cache_size,
    };
    Statics::open(config).map(Some).map_err(|error| format!("document_root {root}: {error}"))
}

/// Whom a port of HTTP answers, where that is not everybody; or what is wrong with its settings. Made before the
/// processes are forked that count together.
pub(crate) fn gate(settings: &Settings) -> Result<Option<Gate>, String> {
    if settings.open_proxy_protocol && settings.trusted_proxies.is_empty() {
        return Err("open_proxy_protocol needs trusted_proxies, the addresses of the proxies".into());
    }
    check_response_headers(settings)?;
    Ok(Gate::of(settings, Rate::of(settings)?))
}

/// A request that is for a handler unless the disk has a file for it.
pub(crate) fn first(
    found: impl Future<Output = bool> + 'static,
    places: Option<Arc<Semaphore>>,
    begin: impl FnOnce(&Responder) -> Begun + 'static,
    responder: Responder,
) -> Handling {
    let admission = async move { if found.await { Admission::Answered } else { place_in(places).await } };
    Handling::queued(admission, begin, responder)
}
