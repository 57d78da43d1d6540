//! `Apus\Http\Request`.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use apus_coro::Wait;
use apus_net::{Collected, Parsing};
use apus_options::Settings;
use apus_zend::object::Object;
use apus_zend::{Call, PhpString, Raise, Value, engine, native};

use super::fill;
use super::parsed::Parsed;
use crate::exception::{self};
use crate::runtime::State;
use crate::wait::wait;

/// Where `fd` stands among the declared properties.
const FD: u32 = 0;
/// The same of `streamId`.
const STREAM: u32 = 1;

/// What a request may hold, from the settings of its port.
#[expect(clippy::struct_excessive_bools, reason = "each mirrors a setting that is a switch")]
pub(crate) struct Limits {
    pub(crate) max_vars: usize,
    pub(crate) parse_post: bool,
    pub(crate) parse_cookie: bool,
    /// Whether `$files` has for each attribute a list where a field's name has brackets, as `$_FILES` has it.
    pub(crate) files_by_attribute: bool,
    /// Whether the objects are of the classes that code written for Swoole knows.
    pub(crate) second: bool,
    /// Whether the log tells of the traces.
    pub(crate) traced: bool,
}

impl Limits {
    pub(crate) fn new(of_port: &Settings, second: bool) -> Self {
        Self {
            max_vars: of_port.max_input_vars as usize,
            parse_post: of_port.http_parse_post,
            parse_cookie: of_port.http_parse_cookie,
            files_by_attribute: second && of_port.http_parse_files,
            second,
            traced: of_port.request_ids > 0,
        }
    }
}

/// What is behind a request object.
pub(crate) struct Request {
    net: apus_net::Request,
    pub(super) limits: Rc<Limits>,
    /// Of one that the program parses itself: how far that is.
    pub(super) parsed: Option<Box<Parsed>>,
    /// Whether variables beyond the limit were told of.
    told: Cell<bool>,
}

native!(Request, "Apus\\Http\\Request");

impl Request {
    /// A request object.
    pub(crate) fn object(net: apus_net::Request, limits: Rc<Limits>) -> Result<Object, Raise> {
        let (fd, stream) = (net.conn().id(), net.stream());
        fill::announce_uploads(&net)?;
        let second = limits.second;
        let object = Object::new(REQUEST.named(second), Self { net, limits, parsed: None, told: Cell::new(!second) })?;
        object.init_slot(FD, Value::int(fd));
        if stream > 0 {
            object.init_slot(STREAM, Value::int(stream.into()));
        }
        Ok(object)
    }
}

impl Request {
    /// One that the program parses itself.
    pub(super) fn to_parse(parsing: Parsing, limits: Limits) -> Result<Object, Raise> {
        let class = REQUEST.named(limits.second);
        let net = parsing.blank();
        let parsed = Some(Box::new(Parsed::new(parsing)));
        Object::new(class, Self { net, limits: Rc::new(limits), parsed, told: Cell::new(true) })
    }

    /// Has the object of one that the program has parsed tell the connection that it came on.
    pub(super) fn tell_fd(object: &Object, fd: i64) {
        if object.is(&REQUEST) && object.payload::<Self>().is_some_and(|request| request.parsed.is_some()) {
            object.set_slot(FD, Value::int(fd));
        }
    }

    /// What came from the client; empty before all of it was parsed.
    pub(super) fn net(&self) -> &apus_net::Request {
        self.parsed.as_ref().and_then(|parsed| parsed.whole()).unwrap_or(&self.net)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        fill::forget_uploads(self.net());
    }
}

fn fill_property(object: &Object, slot: u32) -> Result<(), Raise> {
    if let Some(request) = object.payload::<Request>() {
        if matches!(slot, fill::GET | fill::POST | fill::COOKIE) && !request.told.replace(true) {
            fill::tell_of_more(request);
        }
        object.init_slot(slot, fill::value(request, slot)?);
    }
    Ok(())
}

fn get_method(call: &Call) -> Result<(), Raise> {
    let request = call.this::<Request>()?;
    match request.parsed.as_ref().filter(|parsed| parsed.whole().is_none()) {
        Some(parsed) => call.ret(parsed.method()?),
        None => call.ret_bytes(request.net().method()),
    }
}

fn get_trace_id(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(call.this::<Request>()?.net().trace().to_string().as_bytes())
}

fn get_traceparent(call: &Call) -> Result<(), Raise> {
    call.ret_bytes(call.this::<Request>()?.net().trace().parent().as_bytes())
}

fn raw_content(call: &Call) -> Result<(), Raise> {
    let request = call.this::<Request>()?;
    match request.net().body().collected() {
        Some(Collected::Raw(bytes)) => call.ret_bytes(bytes),
        // Code written for Swoole asks for it of every request.
        Some(Collected::Form { .. }) if request.limits.second => call.ret_bytes(b""),
        Some(Collected::Form { .. }) => {
            engine::warning(
                "Request::rawContent(): the body was a multipart form, which is taken apart as it comes and is not kept: see $post and $files, or switch \
                 http_parse_post off to have it whole",
            )?;
            call.ret(false)
        }
        None => call.ret(PhpString::new(&read_rest(request)?)?),
    }
}

/// The body as it was sent, once all of it has come; `None` for a form that was taken apart.
pub(super) fn whole_body(request: &Request) -> Result<Option<Cow<'_, [u8]>>, Raise> {
    match request.net().body().collected() {
        Some(Collected::Raw(bytes)) => Ok(Some(Cow::Borrowed(bytes))),
        Some(Collected::Form { .. }) => Ok(None),
        None => read_rest(request).map(|bytes| Some(Cow::Owned(bytes))),
    }
}

/// The rest of a streamed body, which the port's limit bounds.
fn read_rest(request: &Request) -> Result<Vec<u8>, Raise> {
    let mut all = Vec::new();
    while let Some(chunk) = read_some(request, 256 * 1024)? {
        all.extend_from_slice(&chunk);
    }
    Ok(all)
}

fn read_some(request: &Request, max: usize) -> Result<Option<bytes::Bytes>, Raise> {
    let state = State::get()?;
    let reading = request.net().body().read_chunk(max);
    match wait(&state, Wait::Outside("Request::read()"), reading)? {
        Some(Ok(chunk)) => Ok(chunk),
        Some(Err(error)) => Err(exception::throw(exception::code::http::BODY, &error.to_string())),
        None => {
            Err(exception::throw(exception::code::http::BODY, "the coroutine was cancelled while it read the body"))
        }
    }
}

fn read(call: &Call) -> Result<(), Raise> {
    let max = call.int(0, 65_536)?;
    if !(1..=16 << 20).contains(&max) {
        return Err(apus_zend::engine::throw_value_error(&format!(
            "Argument #1 ($max) must be between 1 and 16777216 bytes, {max} given"
        )));
    }
    let request = call.this::<Request>()?;
    let chunk = match request.net().body().collected() {
        Some(Collected::Raw(bytes)) if bytes.is_empty() => None,
        _ => read_some(request, max as usize)?,
    };
    call.ret_bytes(chunk.as_deref().unwrap_or_default())
}

fn get_data(call: &Call) -> Result<(), Raise> {
    let request = call.this::<Request>()?;
    if let Some(parsed) = &request.parsed {
        return call.ret_bytes(&parsed.data());
    }
    let mut all = request.net().raw_head().to_vec();
    if let Some(Collected::Raw(bytes)) = request.net().body().collected() {
        all.extend_from_slice(bytes);
    }
    call.ret_bytes(&all)
}

fn trailers(call: &Call) -> Result<(), Raise> {
    let fields = call.this::<Request>()?.net().body().trailers();
    let mut array = apus_zend::Array::new(fields.len())?;
    for (name, value) in fields {
        array.set_str(&name.to_ascii_lowercase(), &value)?;
    }
    call.ret(array)
}

fn is_aborted(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Request>()?.net().is_gone())
}

apus_zend::stub!("http/request");
