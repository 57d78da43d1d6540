//! The properties of a request, each built when PHP first reads it.

use apus_net::proto::http1::Version;
use apus_net::proto::{cookie, form, query};
use apus_net::{Collected, UploadError, UploadedFile};
use apus_zend::value::{ServerFields, View};
use apus_zend::{Array, Raise, Value, engine};

use super::Request;

/// The lazily built properties, in the order of the class's declarations, after those that are set at once.
pub(super) const HEADER: u32 = 2;
pub(super) const SERVER: u32 = 3;
pub(super) const COOKIE: u32 = 4;
pub(super) const GET: u32 = 5;
pub(super) const FILES: u32 = 6;
pub(super) const POST: u32 = 7;
pub(super) const TMPFILES: u32 = 8;

/// The value of one property.
pub(super) fn value(request: &Request, slot: u32) -> Result<Value, Raise> {
    match slot {
        SERVER => server(request),
        HEADER => header(request),
        GET => get(request),
        POST => post(request),
        COOKIE => cookies(request),
        FILES if request.limits.files_by_attribute && !uploads(request).is_empty() => files_by_attribute(request),
        FILES => files(request),
        TMPFILES => tmpfiles(request),
        _ => Ok(Value::null()),
    }
}

fn server(request: &Request) -> Result<Value, Raise> {
    let net = request.net();
    let conn = net.conn();
    let decoded = query::percent_decode(net.path());
    let mut array = Array::of_server(&ServerFields {
        method: net.method(),
        path: net.path(),
        decoded_path: &decoded,
        query: net.query(),
        server_addr: conn.local_ip().as_bytes(),
        remote_addr: net.remote_ip().as_bytes(),
        remote_port: net.remote_port(),
        server_port: conn.local().port(),
        protocol: match net.version() {
            Version::Http11 => 0,
            Version::Http10 => 1,
            Version::Http2 => 2,
        },
        received_at: net.received_at(),
        connected_at: conn.connected_at(),
    })?;
    if net.is_https() {
        array.set_str(b"https", b"on")?;
    }
    if let Some(tls) = conn.tls()
        && !tls.client_certificate.is_empty()
    {
        let pem = apus_net::tls::pem::encode(&tls.client_certificate);
        array.set_str(b"ssl_client_cert", pem.as_bytes())?;
    }
    Ok(array.into())
}

fn header(request: &Request) -> Result<Value, Raise> {
    let mut array = Array::new(8)?;
    for (name, value) in request.net().headers() {
        if array.add_field(name, value)? {
            continue;
        }
        let name = name.to_ascii_lowercase();
        match earlier(&array, &name) {
            Earlier::Several(values) => set_several(&mut array, &name, values, value)?,
            // Code written for Swoole is told of each.
            Earlier::One(one) if request.limits.second && name != b"cookie" => {
                set_several(&mut array, &name, vec![Value::string(&one)?], value)?;
            }
            // RFC 9110 section 5.3; RFC 9113 section 8.2.3 for Cookie.
            Earlier::One(mut joined) => {
                joined.extend_from_slice(if name == b"cookie" { b"; " } else { b", " });
                joined.extend_from_slice(value);
                array.set_str(&name, &joined)?;
            }
        }
    }
    if let Some(host) = request.net().forwarded_host() {
        array.set_str(b"host", host)?;
    }
    // A 1.0 client that names the host in its target need not send the field (RFC 9112 section 3.2.2).
    if let Some(host) = request.net().host()
        && array.view().get("host").is_none()
    {
        array.set_str(b"host", host)?;
    }
    Ok(array.into())
}

/// What earlier fields of a name have said.
enum Earlier {
    One(Vec<u8>),
    Several(Vec<Value>),
}

fn earlier(fields: &Array, name: &[u8]) -> Earlier {
    match std::str::from_utf8(name).ok().and_then(|name| fields.view().get(name)) {
        Some(View::Str(one)) => Earlier::One(one.to_vec()),
        Some(View::Array(several)) => Earlier::Several(several.iter().map(|(_, value)| value.value()).collect()),
        // Nothing else was put there.
        _ => Earlier::One(Vec::new()),
    }
}

/// Fields of one name as an array of their values.
#[cold]
fn set_several(array: &mut Array, name: &[u8], before: Vec<Value>, value: &[u8]) -> Result<(), Raise> {
    let mut several = Array::new(before.len() + 1)?;
    for earlier in before {
        several.push(earlier)?;
    }
    several.push(Value::string(value)?)?;
    array.set(name, several.into())
}

fn variables(text: &[u8], max: usize) -> Result<Value, Raise> {
    let pairs: Vec<_> = query::pairs(text, max).collect();
    if pairs.is_empty() {
        return Ok(Value::null());
    }
    Array::of_variables(pairs.iter().map(|(name, value)| (&**name, &**value)))
}

fn get(request: &Request) -> Result<Value, Raise> {
    request.net().query().map_or_else(|| Ok(Value::null()), |text| variables(text, request.limits.max_vars))
}

fn post(request: &Request) -> Result<Value, Raise> {
    if !request.limits.parse_post {
        return Ok(Value::null());
    }
    match request.net().body().collected() {
        Some(Collected::Form { fields, .. }) if !fields.is_empty() => {
            Array::of_variables(fields.iter().map(|(name, value)| (&name[..], &value[..])))
        }
        Some(Collected::Raw(bytes)) if is_urlencoded(request) => variables(bytes, request.limits.max_vars),
        _ => Ok(Value::null()),
    }
}

fn is_urlencoded(request: &Request) -> bool {
    request.net().header(b"content-type").is_some_and(|t| matches!(form::kind(t), form::Kind::UrlEncoded))
}

fn cookies(request: &Request) -> Result<Value, Raise> {
    if !request.limits.parse_cookie {
        return Ok(Value::null());
    }
    let max = request.limits.max_vars;
    let fields = request.net().headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"cookie"));
    let pairs: Vec<_> = fields.flat_map(|(_, field)| cookie::pairs(field, max)).take(max).collect();
    if pairs.is_empty() {
        return Ok(Value::null());
    }
    // The more specific path stands first, so the first of a name counts (RFC 6265 section 5.4).
    Array::of_cookies(pairs.iter().map(|(name, value)| (*name, &**value)))
}

/// There the log tells of variables beyond the limit, of each kind by itself, when the first are looked at.
pub(super) fn tell_of_more(request: &Request) {
    let (net, max) = (request.net(), request.limits.max_vars);
    // Each takes a byte at least.
    let is_more =
        |bytes: &[u8], between: u8| bytes.len() > max && bytes.split(|byte| *byte == between).nth(max).is_some();
    let of_form = match net.body().collected() {
        Some(Collected::Raw(bytes)) => is_more(bytes, b'&') && request.limits.parse_post && is_urlencoded(request),
        _ => false,
    };
    let of_query = net.query().is_some_and(|text| is_more(text, b'&'));
    let mut cookies = net.headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"cookie"));
    let of_cookies = cookies.any(|(_, field)| is_more(field, b';')) && request.limits.parse_cookie;
    for _ in [of_query, of_form, of_cookies].into_iter().filter(|more| *more) {
        apus_process::log::warning(format_args!(
            "Input variables exceeded {max}. To increase the limit change max_input_vars in php.ini."
        ));
    }
}

fn uploads(request: &Request) -> &[UploadedFile] {
    match request.net().body().collected() {
        Some(Collected::Form { files, .. }) => files,
        _ => &[],
    }
}

fn path_bytes(file: &UploadedFile) -> &[u8] {
    use std::os::unix::ffi::OsStrExt;
    file.tmp.as_ref().map_or(&[], |tmp| tmp.path().as_os_str().as_bytes())
}

/// What PHP tells of an uploaded file.
fn attributes(file: &UploadedFile) -> Result<[(&'static str, Value); 6], Raise> {
    // PHP tells no type of what it did not store.
    let kind: &[u8] = if file.error == UploadError::Ok { &file.content_type } else { b"" };
    Ok([
        ("name", Value::string(apus_net::proto::multipart::basename(&file.filename))?),
        ("full_path", Value::string(&file.filename)?),
        ("type", Value::string(kind)?),
        ("tmp_name", Value::string(path_bytes(file))?),
        ("error", Value::int(i64::from(file.error as u8))),
        ("size", Value::int(file.size as i64)),
    ])
}

fn files(request: &Request) -> Result<Value, Raise> {
    let files = uploads(request);
    if files.is_empty() {
        return Ok(Value::null());
    }
    let mut entries = Array::new(files.len())?;
    for file in files {
        let mut entry = Array::new(6)?;
        for (name, value) in attributes(file)? {
            entry.set(name.as_bytes(), value)?;
        }
        entries.push(entry.into())?;
    }
    Array::of_named(&entries, files.iter().map(|file| &file.field[..]))
}

/// The same as `$_FILES` has it: of a field `list[]` each attribute is a list.
pub(super) fn files_by_attribute(request: &Request) -> Result<Value, Raise> {
    let files = uploads(request);
    let mut values = Array::new(files.len() * 6)?;
    let mut names = Vec::with_capacity(files.len() * 6);
    for file in files {
        let (base, path) = file.field.split_at(file.field.iter().position(|&b| b == b'[').unwrap_or(file.field.len()));
        for (name, value) in attributes(file)? {
            values.push(value)?;
            names.push([base, b"[", name.as_bytes(), b"]", path].concat());
        }
    }
    Array::of_named(&values, names.iter().map(|name| &name[..]))
}

fn tmpfiles(request: &Request) -> Result<Value, Raise> {
    let files = uploads(request);
    if files.is_empty() {
        return Ok(Value::null());
    }
    let mut array = Array::new(files.len())?;
    for file in files.iter().filter(|file| file.error == UploadError::Ok) {
        array.push(Value::string(path_bytes(file))?)?;
    }
    Ok(array.into())
}

/// Makes `is_uploaded_file()` know the request's files.
pub(super) fn announce_uploads(net: &apus_net::Request) -> Result<(), Raise> {
    if let Some(Collected::Form { files, .. }) = net.body().collected() {
        for file in files.iter().filter(|file| file.error == UploadError::Ok) {
            engine::add_uploaded_file(path_bytes(file))?;
        }
    }
    Ok(())
}

/// Takes back [`announce_uploads`].
pub(super) fn forget_uploads(net: &apus_net::Request) {
    if let Some(Collected::Form { files, .. }) = net.body().collected() {
        for file in files.iter().filter(|file| file.error == UploadError::Ok) {
            engine::remove_uploaded_file(path_bytes(file));
        }
    }
}
