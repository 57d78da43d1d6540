//! What a port does before its handlers are asked: whom it answers, where it sends them, logins, files.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use apus_edge::settings::protected;
pub(crate) use apus_edge::settings::{gate, gate_with, open, plan};
use apus_edge::{Edge, EdgeConfig};
use apus_net::{Request, Responder};
use apus_options::Settings;
use tokio::sync::Semaphore;

use crate::handlers::Begun;
use crate::handling::{Admission, Handling, place_in};

/// Opens, in a worker, the directory that is served, with the users as their files have them now. Where it may not read
/// them, the master has.
pub(crate) fn open_now(config: Option<&EdgeConfig>, settings: &Settings) -> Result<Option<Rc<Edge>>, String> {
    let Some(config) = config.filter(|config| !config.protected.is_empty()) else { return open(config) };
    match protected(settings) {
        Ok(protected) => open(Some(&EdgeConfig { protected, ..config.clone() })),
        Err(why) => {
            apus_process::log::warning(format_args!("{why}: those who may log in are the users of the start"));
            open(Some(config))
        }
    }
}

/// A request that is for a handler unless it turns out to be none of its.
pub(crate) fn first(
    found: impl Future<Output = Option<Request>> + 'static,
    places: Option<Arc<Semaphore>>,
    begin: impl FnOnce(Request, &Responder) -> Begun + 'static,
    responder: Responder,
) -> Handling {
    let left = Rc::new(Cell::new(None));
    let taken = Rc::clone(&left);
    let admission = async move {
        let Some(request) = found.await else { return Admission::Answered };
        left.set(Some(request));
        place_in(places).await
    };
    let begin = move |responder: &Responder| taken.take().and_then(|request| begin(request, responder));
    Handling::queued(admission, begin, responder)
}
