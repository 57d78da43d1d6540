//! One request from beginning to end: connection, retry, redirections.

use std::fmt::Write as _;
use std::rc::Rc;

use http::header::{CONNECTION, HOST, HeaderName, PROXY_AUTHORIZATION};
use http::{HeaderValue, Uri};

use super::body::Sending;
use super::connection::{Connection, Sent};
use super::{Options, Request, Response, redirect};
use crate::connect::Endpoint;
use crate::failure::{Failure, Stage};
use crate::proxy::Proxy;
use crate::wire::Facts;

/// A request to be made. It owns all it needs, so it can run by itself.
pub struct Job {
    /// Where it goes.
    pub endpoint: Endpoint,
    /// How it is made.
    pub options: Rc<Options>,
    /// A connection that was kept.
    pub connection: Option<Connection>,
    /// What is asked.
    pub request: Request,
    /// What is to be done as soon as there is a connection, while it is open.
    pub opened: Option<Opened>,
}

/// Is told of the connection.
pub type Opened = Box<dyn FnOnce(&Rc<Facts>)>;

/// What came of a job.
pub struct Finished {
    /// The answer.
    pub result: Result<Response, Failure>,
    /// The connection, when it can be used again.
    pub connection: Option<Connection>,
    /// The head that was sent last.
    pub head: String,
}

/// Makes a request. Dropped half-way it closes the connection.
pub async fn run(job: Job) -> Finished {
    let mut head = String::new();
    let Job { mut endpoint, options, mut connection, mut request, mut opened } = job;
    let home = endpoint.clone();
    let mut kept_home = None;
    let mut redirects = 0;
    let result = loop {
        let told = (&mut head, &mut opened);
        let one = exchange(&endpoint, &options, connection.take(), &request, told).await;
        let (response, kept) = match one {
            Ok(answered) => answered,
            Err(failure) => break Err(failure),
        };
        let next = if options.max_redirects == 0 { Ok(None) } else { redirect::next(&endpoint, &request, &response) };
        match next {
            Ok(None) => {
                connection = kept;
                break Ok(response);
            }
            Err(failure) => break Err(failure),
            Ok(Some(_)) if redirects == options.max_redirects => {
                let text = format!("more than {redirects} redirections (max_redirects): is there a loop?");
                break Err(Failure::new(Stage::Receive, libc::ELOOP, text));
            }
            Ok(Some((to, next))) => {
                redirects += 1;
                if endpoint == home {
                    kept_home = kept;
                    connection = None;
                } else {
                    connection = kept;
                }
                if to == home {
                    connection = kept_home.take();
                }
                (endpoint, request) = (to, next);
            }
        }
    };
    // A connection that redirections led to is of no use to the next request, which goes home.
    let connection = connection.filter(|connection| connection.leads_to(&home)).or(kept_home);
    Finished { result, connection, head }
}

/// One request to one server: over a kept connection if there is one, over a new one if that turns out to be closed; as
/// often again as the options say.
async fn exchange(
    to: &Endpoint,
    options: &Rc<Options>,
    kept: Option<Connection>,
    request: &Request,
    (head, opened): (&mut String, &mut Option<Opened>),
) -> Result<(Response, Option<Connection>), Failure> {
    let mut kept = kept.filter(|connection| connection.is_open() && connection.leads_to(to));
    let mut retries = options.max_retries;
    loop {
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => match Connection::open(to, options).await {
                Ok(connection) => connection,
                Err(_) if retries > 0 => {
                    retries -= 1;
                    continue;
                }
                Err(failure) => return Err(failure),
            },
        };
        if let Some(opened) = opened.take() {
            opened(connection.facts());
        }
        let message = message(to, options, request)?;
        *head = head_text(&message);
        let sent = {
            let sending = connection.send(message, request, options);
            match options.timeout {
                None => sending.await,
                Some(limit) => match tokio::time::timeout(limit, sending).await {
                    Ok(sent) => sent,
                    Err(_) => return Err(Failure::timeout("the request")),
                },
            }
        };
        match sent {
            Sent::Answered(response, _) if retries > 0 && matches!(response.status, 502 | 503) => retries -= 1,
            Sent::Answered(response, true) => return Ok((response, Some(connection))),
            Sent::Answered(response, false) => return Ok((response, None)),
            Sent::Failed(failure) => return Err(failure),
            // A connection made just now cannot be stale: there is one further round of this kind at most.
            Sent::Stale => {}
        }
    }
}

/// What is put on the wire.
fn message(to: &Endpoint, options: &Options, request: &Request) -> Result<http::Request<Sending>, Failure> {
    let forwarded = options.connect.proxy.as_ref().filter(|proxy| !to.tls && proxy.forwards_plain());
    let uri = match forwarded {
        Some(_) => format!("{}://{}{}", to.scheme(), to.authority(), request.target),
        None => request.target.clone(),
    };
    let wrong = |what: &str| Failure::new(Stage::Send, libc::EINVAL, format!("{what} cannot be sent"));
    let uri: Uri = uri.parse().map_err(|_| wrong("the path"))?;
    let mut message = http::Request::new(request.body.sending());
    *message.method_mut() = request.method.clone();
    *message.uri_mut() = uri;
    let headers = message.headers_mut();
    if !request.headers.contains_key(HOST) {
        headers.insert(HOST, to.authority().parse().map_err(|_| wrong("the host's name"))?);
    }
    for (name, value) in &request.headers {
        headers.append(name.clone(), value.clone());
    }
    if !headers.contains_key(CONNECTION) {
        headers.insert(CONNECTION, HeaderValue::from_static(if options.keep_alive { "keep-alive" } else { "close" }));
    }
    if let Some(authorization) = forwarded.and_then(Proxy::authorization) {
        headers.insert(PROXY_AUTHORIZATION, authorization.parse().map_err(|_| wrong("the proxy's credentials"))?);
    }
    let length = request.body.len();
    if length > 0 || expects_body(&request.method) {
        headers.insert(http::header::CONTENT_LENGTH, length.into());
    }
    Ok(message)
}

/// Whether a request without a body says so (RFC 9110 section 8.6).
fn expects_body(method: &http::Method) -> bool {
    matches!(*method, http::Method::POST | http::Method::PUT | http::Method::PATCH)
}

fn head_text(message: &http::Request<Sending>) -> String {
    let mut text = format!("{} {} HTTP/1.1\r\n", message.method(), message.uri());
    for (name, value) in message.headers() {
        let _ = write!(text, "{}: {}\r\n", title_case(name), String::from_utf8_lossy(value.as_bytes()));
    }
    text.push_str("\r\n");
    text
}

/// A field name as it is put on the wire: `Content-Type`.
fn title_case(name: &HeaderName) -> String {
    let mut begins = true;
    name.as_str()
        .chars()
        .map(|c| {
            let c = if begins { c.to_ascii_uppercase() } else { c };
            begins = c == '-';
            c
        })
        .collect()
}
