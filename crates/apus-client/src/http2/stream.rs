//! One stream of an HTTP/2 connection, from its request to the end of its answer.

use std::future::poll_fn;
use std::rc::Rc;

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderName, Uri};

use super::{Http2Request, Http2Response, Inbox, Streams, code_of};
use crate::connect::Endpoint;
use crate::failure::{Failure, Stage};
use crate::http::{BodyDecoder, too_large};

/// The head of a request (RFC 9113 section 8.3.1).
pub(super) fn head(to: &Endpoint, request: &Http2Request) -> Result<http::Request<()>, Failure> {
    let authority = request.authority.clone().unwrap_or_else(|| to.authority());
    let uri: Uri = format!("{}://{authority}{}", to.scheme(), request.target)
        .parse()
        .map_err(|_| Failure::new(Stage::Send, libc::EINVAL, "the path or the host cannot be sent"))?;
    let mut head = http::Request::new(());
    *head.method_mut() = request.method.clone();
    *head.uri_mut() = uri;
    *head.version_mut() = http::Version::HTTP_2;
    for (name, value) in &request.headers {
        // Fields of one connection have no place here (RFC 9113 section 8.2.2).
        let hop = matches!(
            name.as_str(),
            "connection" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" | "host"
        );
        if !hop && (name != http::header::TE || value == "trailers") {
            head.headers_mut().append(name.clone(), value.clone());
        }
    }
    Ok(head)
}

/// Sends a body as fast as the server's window takes it.
pub(super) async fn send_all(body: &mut SendStream<Bytes>, mut data: Bytes, end: bool) -> Result<(), h2::Error> {
    while !data.is_empty() {
        body.reserve_capacity(data.len());
        let room = match poll_fn(|cx| body.poll_capacity(cx)).await {
            Some(room) => room?,
            None => return Err(Reason::STREAM_CLOSED.into()),
        };
        let piece = data.split_to(room.min(data.len()));
        body.send_data(piece, end && data.is_empty())?;
        if data.is_empty() && end {
            return Ok(());
        }
    }
    if end {
        body.send_data(Bytes::new(), true)?;
    }
    Ok(())
}

/// Why a stream gives no whole answer.
enum Broken {
    Protocol(h2::Error),
    Ours(Failure),
}

impl From<h2::Error> for Broken {
    fn from(error: h2::Error) -> Self {
        Self::Protocol(error)
    }
}

/// Holds a value for as long as the future is polled.
async fn drop_later<T, N>(value: T) -> N {
    let never = std::future::pending().await;
    drop(value);
    never
}

/// What reads one stream's answer.
pub(super) struct Task {
    pub(super) id: u32,
    pub(super) by_piece: bool,
    /// Whether the pieces are kept apart in any case, fields with the first.
    pub(super) splits: bool,
    pub(super) decode: bool,
    pub(super) max_body: u64,
    pub(super) inbox: Rc<Inbox>,
    pub(super) streams: Streams,
}

impl Task {
    /// Sends the body, reads the answer, and puts it where it is waited for.
    pub(super) async fn run(self, answer: ResponseFuture, body: Option<(SendStream<Bytes>, Bytes)>) {
        let sending = async {
            if let Some((mut stream, data)) = body {
                // A server may answer without having read it all; what matters is told by its answer.
                let _ = send_all(&mut stream, data, true).await;
                // Its half stays until the answer is there: dropped before its end it would reset the stream.
                drop_later(stream).await
            } else {
                std::future::pending().await
            }
        };
        let read = tokio::select! {
            read = self.read(answer) => read,
            never = sending => never,
        };
        self.streams.borrow_mut().remove(&self.id);
        let answer = match read {
            Ok(answer) => answer,
            Err(Broken::Protocol(error)) => {
                Http2Response { stream: self.id, error: code_of(&error), ..Http2Response::default() }
            }
            Err(Broken::Ours(failure)) => {
                Http2Response { stream: self.id, error: i64::from(failure.errno), ..Http2Response::default() }
            }
        };
        self.inbox.put(answer);
    }

    async fn read(&self, answer: ResponseFuture) -> Result<Http2Response, Broken> {
        let (head, mut body) = answer.await?.into_parts();
        let coding = head.headers.get(CONTENT_ENCODING).filter(|_| self.decode).map(|value| value.as_bytes().to_vec());
        let mut decoder = BodyDecoder::new(coding.as_deref(), self.max_body);
        let mut answer =
            Http2Response { stream: self.id, status: Some(head.status.as_u16()), ..Http2Response::default() };
        copy_fields(&mut answer, &head.headers);
        if self.by_piece && !self.splits && !body.is_end_stream() {
            answer = self.piece(answer);
        }
        let mut given = 0;
        while let Some(data) = body.data().await {
            let data = data?;
            self.take(&mut decoder, &data, &mut body, &mut answer)?;
            if !self.by_piece && given + answer.data.len() as u64 > self.max_body {
                return Err(Broken::Ours(too_large(self.max_body)));
            }
            if (self.by_piece || self.splits) && !answer.data.is_empty() && !body.is_end_stream() {
                given += answer.data.len() as u64;
                answer = self.piece(answer);
            }
        }
        if let Some(trailers) = body.trailers().await? {
            copy_fields(&mut answer, &trailers);
        }
        answer.data.extend(decoder.finish().map_err(Broken::Ours)?);
        Ok(answer)
    }

    fn take(
        &self,
        decoder: &mut BodyDecoder,
        data: &Bytes,
        body: &mut RecvStream,
        answer: &mut Http2Response,
    ) -> Result<(), Broken> {
        decoder.feed(data, |piece| answer.data.extend(piece)).map_err(Broken::Ours)?;
        if answer.data.len() as u64 > self.max_body {
            return Err(Broken::Ours(too_large(self.max_body)));
        }
        body.flow_control().release_capacity(data.len())?;
        Ok(())
    }

    /// Gives away what there is of an answer; more follows.
    fn piece(&self, answer: Http2Response) -> Http2Response {
        let (stream, status) = (answer.stream, answer.status);
        self.inbox.put(Http2Response { more: true, by_piece: self.by_piece, ..answer });
        Http2Response { stream, status, ..Http2Response::default() }
    }
}

fn copy_fields(answer: &mut Http2Response, headers: &HeaderMap) {
    for (name, value) in headers {
        let name: HeaderName = name.clone();
        answer.headers.push((name, Bytes::copy_from_slice(value.as_bytes())));
    }
}
