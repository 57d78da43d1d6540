//! `Swoole\Http\Request::create()`, `parse()` and `isCompleted()`: a request that the program reads itself.

use std::cell::{OnceCell, Ref, RefCell};

use apus_net::{Config, Parsing};
use apus_options::Settings;
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value};

use super::fill;
use super::request::{Limits, Request};

/// How far it is.
pub(super) struct Parsed {
    parsing: RefCell<Parsing>,
    /// What was taken, for `getData()`.
    data: RefCell<Vec<u8>>,
    whole: OnceCell<apus_net::Request>,
}

impl Parsed {
    pub(super) fn new(parsing: Parsing) -> Self {
        Self { parsing: RefCell::new(parsing), data: RefCell::default(), whole: OnceCell::new() }
    }

    /// The request, once all of it has come.
    pub(super) fn whole(&self) -> Option<&apus_net::Request> {
        self.whole.get()
    }

    pub(super) fn data(&self) -> Ref<'_, [u8]> {
        Ref::map(self.data.borrow(), Vec::as_slice)
    }

    /// The method as soon as it is known, else false.
    pub(super) fn method(&self) -> Result<Value, Raise> {
        let data = self.data();
        let end = data.iter().position(|byte| *byte == b' ');
        end.map_or_else(|| Ok(Value::bool(false)), |end| Value::string(&data[..end]))
    }
}

/// What the options say, else what a server does.
fn settings(call: &Call) -> Settings {
    let mut settings = Settings::default();
    let View::Array(options) = call.view(0) else { return settings };
    let is_on =
        |name: &str| options.get(name).map(|view| !matches!(view, View::Bool(false) | View::Int(0) | View::Null));
    let (cookies, body, files) = (is_on("parse_cookie"), is_on("parse_body"), is_on("parse_files"));
    settings.http_parse_cookie = cookies.unwrap_or(settings.http_parse_cookie);
    settings.http_parse_post = body.unwrap_or(settings.http_parse_post);
    settings.http_parse_files = files.unwrap_or(settings.http_parse_files);
    if let Some(View::Str(dir)) = options.get("upload_tmp_dir") {
        settings.upload_tmp_dir = String::from_utf8_lossy(dir).into_owned();
    }
    settings
}

pub(super) fn create(call: &Call) -> Result<(), Raise> {
    let settings = settings(call);
    let mut config = Config::from(&settings);
    config.head.without_host = true;
    let object = Request::to_parse(Parsing::new(config), Limits::new(&settings, true))?;
    for slot in [fill::SERVER, fill::HEADER] {
        object.set_slot(slot, Array::new(0)?.into());
    }
    for slot in [fill::GET, fill::POST, fill::COOKIE, fill::FILES, fill::TMPFILES] {
        object.set_slot(slot, Value::null());
    }
    call.ret(object)
}

pub(super) fn parse(call: &Call) -> Result<(), Raise> {
    let input = call.bytes(0)?;
    let request = call.this::<Request>()?;
    let Some(parsed) = request.parsed.as_ref().filter(|parsed| parsed.whole().is_none()) else {
        return call.ret(false);
    };
    let fed = parsed.parsing.borrow_mut().feed(input);
    // What is wrong with a client's bytes is no fault of the program's.
    let Ok((taken, whole)) = fed else { return call.ret(false) };
    parsed.data.borrow_mut().extend_from_slice(&input[..taken]);
    if let Some(whole) = whole {
        fill::announce_uploads(&whole)?;
        let _ = parsed.whole.set(whole);
        let object = call.object()?;
        for slot in fill::HEADER..=fill::TMPFILES {
            object.set_slot(slot, fill::value(request, slot)?);
        }
    }
    call.ret(taken as i64)
}

pub(super) fn is_completed(call: &Call) -> Result<(), Raise> {
    let request = call.this::<Request>()?;
    call.ret(request.parsed.as_ref().is_none_or(|parsed| parsed.whole().is_some()))
}
