//! Redirections (RFC 9110 section 15.4).

use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, LOCATION};
use http::{Method, Uri};

use super::{Request, RequestBody, Response};
use crate::connect::Endpoint;
use crate::failure::Failure;

/// Where a response leads, and the request to make there; none when it leads nowhere.
pub(super) fn next(
    from: &Endpoint,
    request: &Request,
    response: &Response,
) -> Result<Option<(Endpoint, Request)>, Failure> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) || request.websocket.is_some() {
        return Ok(None);
    }
    let Some(location) = response.header(&LOCATION) else { return Ok(None) };
    let (to, target) = resolve(from, &request.target, location)?;
    let mut next = Request { target, ..request.clone() };
    let post = next.method == Method::POST && matches!(response.status, 301 | 302);
    if post || (response.status == 303 && next.method != Method::HEAD) {
        next.method = Method::GET;
        next.body = RequestBody::default();
        for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING] {
            next.headers.remove(name);
        }
    }
    next.headers.remove(HOST);
    if to != *from {
        // What was meant for one server is not told to another one.
        next.headers.remove(AUTHORIZATION);
        next.headers.remove(COOKIE);
    }
    Ok(Some((to, next)))
}

/// A location, relative to the request that it answers (RFC 3986 section 5.2, without dot segments: servers know them).
fn resolve(from: &Endpoint, target: &str, location: &[u8]) -> Result<(Endpoint, String), Failure> {
    let wrong = || {
        Failure::protocol(format!("the redirection leads to \"{}\", which is no http(s) URL", location.escape_ascii()))
    };
    let text = std::str::from_utf8(location).map_err(|_| wrong())?;
    let text = text.split('#').next().unwrap_or_default();
    let absolute = if text.starts_with("//") { format!("{}:{text}", from.scheme()) } else { text.to_owned() };
    let lower = absolute.get(..8).unwrap_or(&absolute).to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        let (to, target) = endpoint(&absolute).ok_or_else(wrong)?;
        // A server behind a Unix socket names itself by the Host that it was told.
        let same = to.tls == from.tls && to.authority() == from.authority();
        return Ok((if same { from.clone() } else { to }, target));
    }
    let path = target.split('?').next().unwrap_or("/");
    let joined = match text.as_bytes().first() {
        Some(b'/') => text.to_owned(),
        Some(b'?') => format!("{path}{text}"),
        _ => format!("{}/{text}", path.rsplit_once('/').map_or("", |(folder, _)| folder)),
    };
    let joined: Uri = joined.parse().map_err(|_| wrong())?;
    Ok((from.clone(), joined.path_and_query().map_or_else(|| "/".to_owned(), |p| p.as_str().to_owned())))
}

/// Endpoint and target of an http(s) URL; none when it is not one.
pub fn endpoint(url: &str) -> Option<(Endpoint, String)> {
    let uri: Uri = url.parse().ok()?;
    let tls = match uri.scheme_str()? {
        "http" => false,
        "https" => true,
        _ => return None,
    };
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
    if host.is_empty() {
        return None;
    }
    let port = uri.port_u16().unwrap_or(if tls { 443 } else { 80 });
    let target = uri.path_and_query().map_or("/", |p| p.as_str());
    let target = if target.starts_with('?') { format!("/{target}") } else { target.to_owned() };
    Some((Endpoint { host, port, tls }, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(location: &str) -> (Endpoint, String) {
        let from = Endpoint { host: "a.test".to_owned(), port: 80, tls: false };
        resolve(&from, "/x/y?z=1", location.as_bytes()).unwrap()
    }

    #[test]
    fn locations_are_resolved() {
        let at = |host: &str, port, tls| Endpoint { host: host.to_owned(), port, tls };
        assert_eq!(to("/n?q#f"), (at("a.test", 80, false), "/n?q".to_owned()));
        assert_eq!(to("n"), (at("a.test", 80, false), "/x/n".to_owned()));
        assert_eq!(to("?q=2"), (at("a.test", 80, false), "/x/y?q=2".to_owned()));
        assert_eq!(to("HTTPS://b.test"), (at("b.test", 443, true), "/".to_owned()));
        assert_eq!(to("//b.test:81/p"), (at("b.test", 81, false), "/p".to_owned()));
        assert_eq!(to("http://[::1]:82/p"), (at("::1", 82, false), "/p".to_owned()));
        assert_eq!(to("http://b.test?q"), (at("b.test", 80, false), "/?q".to_owned()));
        let from = at("a.test", 80, false);
        for bad in [&b"http://"[..], b"/a b", b"/\xff", b"http://a b/"] {
            assert!(resolve(&from, "/", bad).is_err(), "{}", bad.escape_ascii());
        }
        // Not a URL that HTTP can fetch: taken for a relative path, as RFC 3986 would only for one without a colon.
        assert!(resolve(&from, "/", b"ftp://b.test/").is_ok_and(|(to, _)| to == from));
    }
}
