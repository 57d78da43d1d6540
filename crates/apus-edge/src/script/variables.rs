//! What `$_SERVER` says of a request: what nginx gives to php-fpm, in the order it arrives there.

use std::borrow::Cow;
use std::sync::OnceLock;

use apus_net::proto::http1::Version;
use apus_net::{Local, Request};

use super::Script;
use super::pairs::{self, Open};
use crate::auth::credentials;

/// Bytes of the name of a variable made of a field's; longer ones are left out.
const LONGEST_NAME: usize = 256;

/// Where a request has come from and what it asks for, as far as `$_SERVER` tells.
#[derive(Debug, Clone)]
pub struct Via<'a> {
    /// GET and the like.
    pub method: &'a [u8],
    /// Path and query as sent.
    pub uri: Cow<'a, [u8]>,
    /// What follows the `?` of it.
    pub query: &'a [u8],
    /// `HTTP/1.1` and the like.
    pub protocol: &'static str,
    /// Whether the client speaks https.
    pub https: bool,
    /// The authority that it was sent to: with the port, if it has one.
    pub host: &'a [u8],
    /// The client's address and port; an empty one for a Unix socket.
    pub remote: (Cow<'a, str>, u16),
    /// The server's.
    pub local: (Cow<'a, str>, u16),
    /// What a trusted proxy is asked for in the server's place.
    pub forwarded_host: Option<&'a [u8]>,
    /// The field of that name, or nothing.
    pub content_type: &'a [u8],
    /// Bytes of the body; none where there is no body.
    pub content_length: Option<u64>,
    /// The name of a login by name and password, verified or not.
    pub user: Vec<u8>,
}

impl<'a> Via<'a> {
    /// That of a request whose body has `body` bytes.
    pub fn of(request: &'a Request, body: Option<u64>) -> Self {
        let target = request.target();
        let uri = if target.first() == Some(&b'/') {
            Cow::Borrowed(target)
        } else {
            let mut uri = request.path().to_vec();
            if let Some(query) = request.query() {
                uri.push(b'?');
                uri.extend_from_slice(query);
            }
            Cow::Owned(uri)
        };
        let conn = request.conn();
        let local = match conn.local() {
            Local::Tcp(_) => (Cow::Borrowed(conn.local_ip()), conn.local().port()),
            Local::Unix(path) => (Cow::Owned(format!("unix:{}", path.display())), 0),
        };
        Self {
            method: request.method(),
            uri,
            query: request.query().unwrap_or_default(),
            protocol: match (request.stream(), request.version()) {
                (0, Version::Http10) => "HTTP/1.0",
                (0, Version::Http11) => "HTTP/1.1",
                _ => "HTTP/2.0",
            },
            https: request.is_https(),
            host: request.host().unwrap_or_default(),
            remote: (request.remote_ip(), request.remote_port()),
            local,
            forwarded_host: request.forwarded_host(),
            content_type: request.header(b"content-type").unwrap_or_default(),
            content_length: body,
            user: request
                .header(b"authorization")
                .and_then(credentials)
                .map(|(name, _)| name.into())
                .unwrap_or_default(),
        }
    }
}

/// The variables, each with its name and value, as [`pairs`] are written down, behind whatever stands there before.
#[derive(Debug)]
pub struct Variables<'v>(&'v mut Vec<u8>);

impl<'v> Variables<'v> {
    /// Writes those of a request for a script. `REQUEST_TIME`, `PHP_AUTH_*` and `argv` are PHP's own to add.
    pub fn write(into: &'v mut Vec<u8>, request: &Request, script: &Script, body: Option<u64>) {
        static OWNER: OnceLock<Vec<(&str, String)>> = OnceLock::new();
        // What php-fpm tells of the user that its processes run as.
        let of = |name| std::env::var(name).ok().map(|value| (name, value));
        let owner = OWNER.get_or_init(|| ["USER", "HOME"].into_iter().filter_map(of).collect());
        Self::made(into, owner, &Via::of(request, body), request.headers(), script);
    }

    /// The same of parts, behind what is known already.
    fn made<'a>(
        into: &'v mut Vec<u8>,
        first: &[(&str, String)],
        via: &Via<'a>,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        script: &Script,
    ) {
        let mut this = Self(into);
        for (name, value) in first {
            this.push(name, value);
        }
        this.of_fields(&fields.filter(|(name, _)| is_plain(name)).collect::<Vec<_>>());
        this.of_connection(via);
        this.of_script(via, script);
    }

    #[inline]
    fn push(&mut self, name: &str, value: impl AsRef<[u8]>) {
        pairs::push(self.0, name.as_bytes(), value.as_ref());
    }

    fn push_number(&mut self, name: &str, number: u64) {
        self.push(name, itoa::Buffer::new().format(number));
    }

    /// `HTTP_*` of the fields, the last one first; fields of one name are one variable.
    fn of_fields(&mut self, fields: &[(&[u8], &[u8])]) {
        for (at, (name, value)) in fields.iter().enumerate().rev() {
            let same = |(other, _): &&(&[u8], &[u8])| other.eq_ignore_ascii_case(name);
            if fields[..at].iter().any(|field| same(&field)) {
                continue;
            }
            let pair = Open::begin(self.0);
            self.0.extend_from_slice(b"HTTP_");
            let upper = |byte: &u8| if *byte == b'-' { b'_' } else { byte.to_ascii_uppercase() };
            self.0.extend(name.iter().map(upper));
            let pair = pair.end_name(self.0);
            self.0.extend_from_slice(value);
            let between: &[u8] = if name.eq_ignore_ascii_case(b"cookie") { b"; " } else { b", " };
            for (_, value) in fields[at + 1..].iter().filter(same) {
                self.0.extend_from_slice(between);
                self.0.extend_from_slice(value);
            }
            pair.end(self.0);
        }
    }

    fn of_connection(&mut self, via: &Via<'_>) {
        let (name, port) = server(via);
        let is_unix = via.remote.0.is_empty();
        self.push("REDIRECT_STATUS", "200");
        self.push("SERVER_NAME", name);
        self.push_number("SERVER_PORT", port.into());
        self.push("SERVER_ADDR", &*via.local.0);
        self.push("REMOTE_USER", &via.user);
        if is_unix {
            self.push("REMOTE_PORT", "");
        } else {
            self.push_number("REMOTE_PORT", via.remote.1.into());
        }
        self.push("REMOTE_ADDR", if is_unix { "unix:" } else { &*via.remote.0 });
        self.push("SERVER_SOFTWARE", concat!("Apus/", env!("CARGO_PKG_VERSION")));
        self.push("GATEWAY_INTERFACE", "CGI/1.1");
        if via.https {
            self.push("HTTPS", "on");
        }
        self.push("REQUEST_SCHEME", if via.https { "https" } else { "http" });
        self.push("SERVER_PROTOCOL", via.protocol);
    }

    fn of_script(&mut self, via: &Via<'_>, script: &Script) {
        self.push("DOCUMENT_ROOT", &*script.document_root);
        self.push("DOCUMENT_URI", &script.script_name);
        self.push("REQUEST_URI", &via.uri);
        self.push("SCRIPT_NAME", &script.script_name);
        match via.content_length {
            Some(length) => self.push_number("CONTENT_LENGTH", length),
            None => self.push("CONTENT_LENGTH", ""),
        }
        self.push("CONTENT_TYPE", via.content_type);
        self.push("REQUEST_METHOD", via.method);
        self.push("QUERY_STRING", via.query);
        self.push("SCRIPT_FILENAME", &script.filename);
        self.push("PATH_INFO", &script.path_info);
        self.push("FCGI_ROLE", "RESPONDER");
        let pair = Open::begin(self.0);
        self.0.extend_from_slice(b"PHP_SELF");
        let pair = pair.end_name(self.0);
        self.0.extend_from_slice(script.script_name.as_bytes());
        self.0.extend_from_slice(&script.path_info);
        pair.end(self.0);
    }
}

/// Whether a field is told of at all: its name has letters, digits and `-` alone, for another character would make two
/// fields of one name where a proxy has checked one. `Proxy` is left out, because programs take `HTTP_PROXY` for a
/// setting of their own.
fn is_plain(field: &[u8]) -> bool {
    field.len() <= LONGEST_NAME
        && field.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && !field.eq_ignore_ascii_case(b"proxy")
}

/// The server's name and port as its clients know them: the port is that of the connection, unless a proxy stands in
/// between.
fn server<'a>(via: &'a Via<'a>) -> (Cow<'a, [u8]>, u16) {
    let (host, told) = match via.forwarded_host {
        Some(host) => (host, true),
        None => (via.host, false),
    };
    let (name, port) = split_port(host);
    let name =
        if name.is_empty() { Cow::Borrowed(via.local.0.as_bytes()) } else { Cow::Owned(name.to_ascii_lowercase()) };
    let default = if via.https { 443 } else { 80 };
    (name, if told { port.unwrap_or(default) } else { via.local.1 })
}

/// An authority's host and port.
fn split_port(host: &[u8]) -> (&[u8], Option<u16>) {
    let Some(colon) = host.iter().rposition(|byte| *byte == b':') else { return (host, None) };
    let (name, port) = (&host[..colon], &host[colon + 1..]);
    // A bare IPv6 address has colons of its own.
    if name.contains(&b':') && name.last() != Some(&b']') {
        return (host, None);
    }
    (name, std::str::from_utf8(port).ok().and_then(|port| port.parse().ok()))
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::super::pairs::Pairs;
    use super::*;

    fn via() -> Via<'static> {
        Via {
            method: b"GET",
            uri: Cow::Borrowed(b"/blog/a%20b?x=1&y"),
            query: b"x=1&y",
            protocol: "HTTP/1.1",
            https: false,
            host: b"Example.org:8080",
            remote: (Cow::Borrowed("192.0.2.7"), 51_000),
            local: (Cow::Borrowed("192.0.2.1"), 8080),
            forwarded_host: None,
            content_type: b"",
            content_length: None,
            user: Vec::new(),
        }
    }

    fn script() -> Script {
        Script {
            filename: "/srv/www/index.php".into(),
            script_name: "/index.php".into(),
            path_info: b"/a b".to_vec(),
            document_root: "/srv/www".into(),
        }
    }

    fn read(bytes: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| CStr::from_bytes_with_nul(bytes).unwrap().to_str().unwrap().to_owned();
        Pairs { rest: bytes }.map(|(name, value)| (text(name), text(value))).collect()
    }

    fn made(via: &Via<'_>, fields: &[(&str, &str)]) -> Vec<(String, String)> {
        let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let mut bytes = Vec::new();
        Variables::made(&mut bytes, &[], via, fields, &script());
        read(&bytes)
    }

    #[test]
    fn all_of_a_request_in_the_order_of_php_fpm() {
        let list = made(&via(), &[("Host", "Example.org:8080"), ("Accept", "*/*")]);
        let lines: Vec<String> = list.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let software = concat!("SERVER_SOFTWARE=Apus/", env!("CARGO_PKG_VERSION"));
        assert_eq!(
            lines,
            [
                "HTTP_ACCEPT=*/*",
                "HTTP_HOST=Example.org:8080",
                "REDIRECT_STATUS=200",
                "SERVER_NAME=example.org",
                "SERVER_PORT=8080",
                "SERVER_ADDR=192.0.2.1",
                "REMOTE_USER=",
                "REMOTE_PORT=51000",
                "REMOTE_ADDR=192.0.2.7",
                software,
                "GATEWAY_INTERFACE=CGI/1.1",
                "REQUEST_SCHEME=http",
                "SERVER_PROTOCOL=HTTP/1.1",
                "DOCUMENT_ROOT=/srv/www",
                "DOCUMENT_URI=/index.php",
                "REQUEST_URI=/blog/a%20b?x=1&y",
                "SCRIPT_NAME=/index.php",
                "CONTENT_LENGTH=",
                "CONTENT_TYPE=",
                "REQUEST_METHOD=GET",
                "QUERY_STRING=x=1&y",
                "SCRIPT_FILENAME=/srv/www/index.php",
                "PATH_INFO=/a b",
                "FCGI_ROLE=RESPONDER",
                "PHP_SELF=/index.php/a b",
            ]
        );
    }

    #[test]
    fn fields_that_could_be_taken_for_others_are_left_out() {
        let long = "x".repeat(300);
        let fields = [("Proxy", "evil"), ("X_Real_IP", "1"), ("X-Real-IP", "2"), ("A.B", "3"), (&long, "4")];
        let list = made(&via(), &fields);
        let http: Vec<_> = list.iter().filter(|(name, _)| name.starts_with("HTTP_")).collect();
        assert_eq!(http, [&("HTTP_X_REAL_IP".to_owned(), "2".to_owned())]);
    }

    #[test]
    fn fields_of_one_name_are_joined() {
        let fields = [("A", "1"), ("Cookie", "a=1"), ("a", "2"), ("cookie", "b=2"), ("B", ""), ("A", "3")];
        let list = made(&via(), &fields);
        let expected = [("HTTP_B", ""), ("HTTP_COOKIE", "a=1; b=2"), ("HTTP_A", "1, 2, 3")];
        assert_eq!(list[..3], expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn https_proxies_and_sockets_show() {
        let of = |via: &Via<'_>, name: &str| {
            let mut bytes = Vec::new();
            Variables::made(&mut bytes, &[("USER", "me".into())], via, std::iter::empty(), &script());
            read(&bytes).into_iter().find(|(other, _)| other == name).map(|(_, value)| value)
        };
        let tls = Via { https: true, host: b"[::1]:443", content_length: Some(0), ..via() };
        assert_eq!(of(&tls, "HTTPS").as_deref(), Some("on"));
        assert_eq!(of(&tls, "REQUEST_SCHEME").as_deref(), Some("https"));
        assert_eq!(of(&tls, "SERVER_NAME").as_deref(), Some("[::1]"));
        assert_eq!(of(&tls, "CONTENT_LENGTH").as_deref(), Some("0"));
        assert_eq!(of(&via(), "HTTPS"), None);
        assert_eq!(of(&via(), "USER").as_deref(), Some("me"));
        let behind = Via { https: true, forwarded_host: Some(b"shop.example"), ..via() };
        assert_eq!(of(&behind, "SERVER_NAME").as_deref(), Some("shop.example"));
        assert_eq!(of(&behind, "SERVER_PORT").as_deref(), Some("443"));
        let socket = Via { remote: ("".into(), 0), local: ("unix:/run/a".into(), 0), host: b"", ..via() };
        assert_eq!(of(&socket, "REMOTE_ADDR").as_deref(), Some("unix:"));
        assert_eq!(of(&socket, "REMOTE_PORT").as_deref(), Some(""));
        assert_eq!(of(&socket, "SERVER_NAME").as_deref(), Some("unix:/run/a"));
    }
}
