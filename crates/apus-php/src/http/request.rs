//! `Apus\Http\Request`.

use std::rc::Rc;

use apus_coro::Wait;
use apus_net::Collected;
use apus_zend::class::{Class, Method, Property};
use apus_zend::object::Object;
use apus_zend::{Call, PhpString, Raise, Value, engine, handler, lazy_fill, native};

use super::fill;
use crate::exception::{self, HTTP, entry};
use crate::runtime::State;
use crate::wait::wait;

/// Where `fd` stands among the declared properties.
const FD: u32 = 7;

/// What a request may hold, from the settings of its port.
pub(crate) struct Limits {
    pub(crate) max_vars: usize,
    pub(crate) parse_post: bool,
    pub(crate) parse_cookie: bool,
}

/// What is behind a request object.
pub(crate) struct Request {
    pub(super) net: apus_net::Request,
    pub(super) limits: Rc<Limits>,
}

native!(Request, "Apus\\Http\\Request");

impl Request {
    /// A request object.
    pub(crate) fn object(net: apus_net::Request, limits: Rc<Limits>) -> Result<Object, Raise> {
        let fd = net.conn().id();
        fill::announce_uploads(&net)?;
        let object = Object::new(REQUEST.get(), Self { net, limits })?;
        object.init_slot(FD, Value::int(fd));
        Ok(object)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        fill::forget_uploads(&self.net);
    }
}

fn fill_property(object: &Object, slot: u32) -> Result<(), Raise> {
    if let Some(request) = object.payload::<Request>() {
        object.init_slot(slot, fill::value(request, slot)?);
    }
    Ok(())
}

fn get_method(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret_bytes(call.this::<Request>()?.net.method())
}

fn raw_content(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let request = call.this::<Request>()?;
    match request.net.body().collected() {
        Some(Collected::Raw(bytes)) => call.ret_bytes(bytes),
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
    let reading = request.net.body().read_chunk(max);
    match wait(&state, Wait::Outside("Request::read()"), reading)? {
        Some(Ok(chunk)) => Ok(chunk),
        Some(Err(error)) => Err(exception::throw(&HTTP, "BODY", &error.to_string())),
        None => Err(exception::throw(&HTTP, "BODY", "the coroutine was cancelled while it read the body")),
    }
}

fn read(call: &Call) -> Result<(), Raise> {
    call.expect(0, 1)?;
    let max = call.int(0, 65_536)?;
    if !(1..=16 << 20).contains(&max) {
        return Err(apus_zend::engine::throw_value_error(&format!(
            "Argument #1 ($max) must be between 1 and 16777216 bytes, {max} given"
        )));
    }
    let request = call.this::<Request>()?;
    let chunk = match request.net.body().collected() {
        Some(Collected::Raw(bytes)) if bytes.is_empty() => None,
        _ => read_some(request, max as usize)?,
    };
    call.ret_bytes(chunk.as_deref().unwrap_or_default())
}

fn get_data(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let request = call.this::<Request>()?;
    let mut all = request.net.raw_head().to_vec();
    if let Some(Collected::Raw(bytes)) = request.net.body().collected() {
        all.extend_from_slice(bytes);
    }
    call.ret_bytes(&all)
}

fn trailers(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let fields = call.this::<Request>()?.net.body().trailers();
    let mut array = apus_zend::Array::new(fields.len())?;
    for (name, value) in fields {
        array.set_str(&name.to_ascii_lowercase(), &value)?;
    }
    call.ret(array)
}

fn is_aborted(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(call.this::<Request>()?.net.conn().is_gone())
}

/// `Apus\Http\Request`.
pub(crate) static REQUEST: Class = Class {
    name: "Apus\\Http\\Request",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "One HTTP request. Its properties are built when they are first read.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property {
            decl: "public ?array $server",
            doc: "request_method, request_uri (path as sent), path_info (path decoded), query_string (when there is one),\n\
                  request_time, request_time_float, server_protocol, server_port, remote_addr, remote_port,\n\
                  master_time (when the connection was made). Keys are lower-case.",
        },
        Property {
            decl: "public ?array $header",
            doc: "Header fields, names lower-case; several of one name are joined with \", \" (RFC 9110 section 5.3).",
        },
        Property {
            decl: "public ?array $get",
            doc: "Query variables, nested as PHP does; null without any. Limit: max_input_vars.",
        },
        Property {
            decl: "public ?array $post",
            doc: "Form fields of an urlencoded or multipart body; null without any. Limits: max_input_vars, max_form_memory.",
        },
        Property { decl: "public ?array $cookie", doc: "Cookies; null without any." },
        Property {
            decl: "public ?array $files",
            doc: "Uploaded files by field: name, full_path, type, tmp_name, error (UPLOAD_ERR_*), size, as in $_FILES, but a field\n\
                  list[] holds a list of such entries; null without any.\n\
                  is_uploaded_file() and move_uploaded_file() know them. They are removed when the request object goes.",
        },
        Property { decl: "public ?array $tmpfiles", doc: "Paths of the uploaded files; null without any." },
        Property { decl: "public int $fd = 0", doc: "The connection's session id." },
        Property { decl: "public int $streamId = 0", doc: "The stream of an HTTP/2 request; 0 in HTTP/1." },
    ],
    methods: METHODS,
    native: true,
    lazy: Some((7, lazy_fill!(fill_property))),
    entry: entry!(),
};

const METHODS: &[Method] = &[
    Method {
        decl: "public function getMethod(): string",
        doc: "The request method as sent, such as GET (RFC 9110 section 9).\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_method)),
    },
    Method {
        decl: "public function rawContent(): string|false",
        doc: "The whole body; empty without one. With the setting stream_request_body it waits for what has not come yet.\n\
              @return string|false false, with a warning, for a multipart form, whose parts are in $post and $files; with the setting http_parse_post\n\
              off it is given whole\n\
              @throws \\Apus\\Http\\Exception BODY when the body broke off (streamed bodies only)\n@since 0.1.0",
        handler: Some(handler!(raw_content)),
    },
    Method {
        decl: "public function getContent(): string|false",
        doc: "The same as rawContent().\n@since 0.1.0",
        handler: Some(handler!(raw_content)),
    },
    Method {
        decl: "public function read(int $max = 65536): string",
        doc: "The next bytes of the body. With the setting stream_request_body it waits until some have come, and a body of\n\
              any allowed size passes in constant memory; the client is read from only as fast as this is called.\n\
              @param int $max 1 to 16777216 bytes\n\
              @return string at most $max bytes; empty at the end\n\
              @throws \\ValueError when $max is out of its limits\n\
              @throws \\Apus\\Http\\Exception BODY when the body broke off or came too slowly\n\
              Waits.\n@since 0.1.0",
        handler: Some(handler!(read)),
    },
    Method {
        decl: "public function getTrailers(): array",
        doc: "Trailer fields of a chunked body, names lower-case (RFC 9110 section 6.5); of a streamed body once it was read.\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(trailers)),
    },
    Method {
        decl: "public function getData(): string|false",
        doc: "The request as it was sent: head, and the body where it was kept whole.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_data)),
    },
    Method {
        decl: "public function isAborted(): bool",
        doc: "Whether the client has closed the connection. See also the setting cancel_on_disconnect.\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(is_aborted)),
    },
];
