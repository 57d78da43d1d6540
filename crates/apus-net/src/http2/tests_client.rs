//! The `h2` crate as a client, over a pipe in memory.

use std::time::Duration;

use apus_proto::http1::RequestHead;
use apus_proto::http2::ErrorCode;
use bytes::Bytes;
use h2::client::SendRequest;
use http::{Method, Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::{Event, Limits, Read, Session};

/// Answers by what the path says, until the connection is over. Gives the session back.
struct Server {
    session: Session,
    input: Vec<u8>,
    /// Bodies that are sent back: what could not be sent yet, and whether it ends then.
    echoes: Vec<(u32, Bytes, bool)>,
    resets: Vec<(u32, ErrorCode)>,
    begun: tokio::time::Instant,
}

impl Server {
    fn new(limits: Limits) -> Self {
        let begun = tokio::time::Instant::now();
        let session = Session::new(limits, 0);
        Self { session, input: Vec::new(), echoes: Vec::new(), resets: Vec::new(), begun }
    }

    async fn run(mut self, mut io: DuplexStream) -> Self {
        let mut output = Vec::new();
        loop {
            self.take();
            self.echo();
            output.clear();
            self.session.fill(&mut output, 64 * 1024);
            if !output.is_empty() {
                if io.write_all(&output).await.is_err() {
                    return self;
                }
                continue;
            }
            if self.session.is_over() {
                return self;
            }
            let mut piece = [0; 8192];
            match io.read(&mut piece).await {
                Ok(len @ 1..) => self.input.extend_from_slice(&piece[..len]),
                _ => return self,
            }
        }
    }

    fn take(&mut self) {
        let (mut bytes, mut head) = (Vec::new(), RequestHead::default());
        let input = std::mem::take(&mut self.input);
        let now = self.begun.elapsed().as_millis() as u64;
        let mut at = 0;
        while self.session.wants_input() {
            let Ok(Read { used, event }) = self.session.read(&input[at..], now, &mut bytes, &mut head) else { break };
            at += used;
            match event {
                None => break,
                Some(Event::Request { stream, end_stream }) => {
                    let path = head.path.of(&bytes).to_vec();
                    self.answer(stream, &path, end_stream);
                }
                Some(Event::Data { stream, data, end_stream }) => {
                    self.echoes.push((stream, Bytes::copy_from_slice(data), end_stream));
                }
                Some(Event::Trailers { stream }) => {
                    let line = head.headers.iter().flat_map(|(name, value)| {
                        [b"got-", name.of(&bytes), b": ", value.of(&bytes), b"\r\n"].concat()
                    });
                    let lines: Vec<u8> = line.collect();
                    self.echo();
                    assert_eq!(self.session.trailers(stream, &lines), Ok(()));
                    self.session.finish(stream);
                }
                Some(Event::Reset { stream, code }) => {
                    self.resets.push((stream, code));
                    self.session.finish(stream);
                }
            }
        }
        self.input = input[at..].to_vec();
    }

    fn answer(&mut self, stream: u32, path: &[u8], end_stream: bool) {
        let session = &mut self.session;
        match path {
            b"/drain" => {
                session.drain(0);
                assert_eq!(session.head(stream, 204, b"", true), Ok(()));
                session.finish(stream);
            }
            b"/hints" => {
                assert_eq!(session.informational(stream, 103, b"Link: </a.css>\r\n"), Ok(()));
                assert_eq!(session.head(stream, 200, b"X-After: hints\r\n", true), Ok(()));
                session.finish(stream);
            }
            b"/reset" => {
                session.reset(stream, ErrorCode::INTERNAL_ERROR);
                session.finish(stream);
            }
            b"/hang" => {}
            _ if end_stream => {
                let lines = b"Content-Type: text/plain\r\nX-Kept: always the same value\r\n";
                assert_eq!(session.head(stream, 200, lines, false), Ok(()));
                self.echoes.push((stream, Bytes::copy_from_slice(path), true));
            }
            _ => assert_eq!(session.head(stream, 200, b"", false), Ok(())),
        }
    }

    /// Sends back what came, as far as there is room, in order.
    fn echo(&mut self) {
        let mut waits: Vec<(u32, Bytes, bool)> = Vec::new();
        for (stream, data, end) in std::mem::take(&mut self.echoes) {
            let len = data.len();
            let blocked = waits.iter().any(|(other, ..)| *other == stream);
            if blocked || self.session.data(stream, data.clone(), end) == Err(crate::SendError::Full) {
                waits.push((stream, data, end));
                continue;
            }
            self.session.consumed(stream, len);
            if end {
                self.session.finish(stream);
            }
        }
        self.echoes = waits;
    }
}

/// Runs a client against a server; gives what the client gave, and the server after the connection's end.
fn with_client<F, T>(limits: Limits, client: impl FnOnce(SendRequest<Bytes>) -> F) -> (T, Server)
where
    F: Future<Output = T>,
{
    let builder = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = builder else { panic!("no runtime") };
    let all = async {
        let (near, far) = tokio::io::duplex(4096);
        let server = tokio::spawn(Server::new(limits).run(far));
        let Ok((sender, connection)) = h2::client::handshake(near).await else { panic!("no handshake") };
        let driven = tokio::spawn(async move { connection.await.is_ok() });
        let result = client(sender).await;
        let _ = driven.await;
        let Ok(server) = server.await else { panic!("the server failed") };
        (result, server)
    };
    let timed = async { tokio::time::timeout(Duration::from_secs(60), all).await };
    let Ok(result) = runtime.block_on(timed) else { panic!("too slow") };
    result
}

fn request(method: Method, path: &str) -> Request<()> {
    let request = Request::builder().method(method).uri(format!("http://example.com{path}"));
    let Ok(request) = request.header("cookie", "a=1").body(()) else { panic!("no request") };
    request
}

async fn body(response: Response<h2::RecvStream>) -> Result<(Vec<u8>, Option<http::HeaderMap>), h2::Error> {
    let mut stream = response.into_body();
    let mut all = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece?;
        all.extend_from_slice(&piece);
        stream.flow_control().release_capacity(piece.len())?;
    }
    Ok((all, stream.trailers().await?))
}

async fn get(sender: &SendRequest<Bytes>, path: &str) -> Result<Vec<u8>, h2::Error> {
    let mut sender = sender.clone().ready().await?;
    let (response, _) = sender.send_request(request(Method::GET, path), true)?;
    Ok(body(response.await?).await?.0)
}

/// Sends a body as fast as the windows allow.
async fn send(stream: &mut h2::SendStream<Bytes>, mut data: Bytes, end: bool) -> Result<(), h2::Error> {
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let Some(room) = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await else { break };
        let piece = data.split_to(room?.min(data.len()));
        stream.send_data(piece, end && data.is_empty())?;
    }
    Ok(())
}

#[test]
fn many_requests_at_once() {
    let (done, server) = with_client(Limits::default(), |sender| async move {
        let mut tasks = Vec::new();
        for turn in 0..300 {
            let sender = sender.clone();
            tasks.push(tokio::spawn(async move {
                let path = format!("/echo/{turn}");
                get(&sender, &path).await.map(|got| got == path.as_bytes())
            }));
        }
        for task in tasks {
            assert!(matches!(task.await, Ok(Ok(true))));
        }
        true
    });
    assert!(done && server.session.running_streams() == 0 && server.resets.is_empty());
    assert!(server.session.footprint() < 128 * 1024, "{}", server.session.footprint());
}

#[test]
fn big_bodies_both_ways() {
    let data: Vec<u8> = (0..3_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let expected = data.clone();
    let limits = Limits { max_output: 50_000, stream_window: 100_000, connection_window: 120_000, ..Limits::default() };
    let (got, server) = with_client(limits, |sender| async move {
        let Ok(mut sender) = sender.ready().await else { panic!("not ready") };
        let Ok((response, mut stream)) = sender.send_request(request(Method::POST, "/"), false) else {
            panic!("not sent")
        };
        let sending = tokio::spawn(async move { send(&mut stream, data.into(), true).await.is_ok() });
        let Ok(response) = response.await else { panic!("no answer") };
        let got = body(response).await;
        assert!(matches!(sending.await, Ok(true)));
        got.map(|(body, _)| body)
    });
    assert!(got.is_ok_and(|got| got == expected));
    assert_eq!(server.session.running_streams(), 0);
}

#[test]
fn trailers_both_ways() {
    let (trailers, _) = with_client(Limits::default(), |sender| async move {
        let Ok(mut sender) = sender.ready().await else { panic!("not ready") };
        let Ok((response, mut stream)) = sender.send_request(request(Method::POST, "/"), false) else {
            panic!("not sent")
        };
        assert!(send(&mut stream, Bytes::from_static(b"hello"), false).await.is_ok());
        let mut fields = http::HeaderMap::new();
        fields.insert("x-sum", http::HeaderValue::from_static("42"));
        assert!(stream.send_trailers(fields).is_ok());
        let Ok(response) = response.await else { panic!("no answer") };
        let Ok((body, trailers)) = body(response).await else { panic!("no body") };
        assert_eq!(body, b"hello");
        trailers.and_then(|fields| fields.get("got-x-sum").cloned())
    });
    assert_eq!(trailers.as_ref().map(http::HeaderValue::as_bytes), Some(&b"42"[..]));
}

#[test]
fn early_hints_and_then_an_answer() {
    let (after, _) = with_client(Limits::default(), |sender| async move {
        let Ok(mut sender) = sender.ready().await else { panic!("not ready") };
        let Ok((response, _)) = sender.send_request(request(Method::GET, "/hints"), true) else { panic!("not sent") };
        response.await.map(|response| (response.status().as_u16(), response.headers().get("x-after").cloned()))
    });
    assert!(after.is_ok_and(|(status, after)| status == 200 && after.is_some_and(|after| after == "hints")));
}

#[test]
fn resets_of_both_sides() {
    let (reason, server) = with_client(Limits::default(), |sender| async move {
        let reset = get(&sender, "/reset").await.err().and_then(|error| error.reason());
        let Ok(mut ready) = sender.clone().ready().await else { panic!("not ready") };
        let Ok((response, mut stream)) = ready.send_request(request(Method::GET, "/hang"), true) else {
            panic!("not sent")
        };
        // The server has it when the next answer comes.
        assert!(get(&sender, "/a").await.is_ok());
        stream.send_reset(h2::Reason::CANCEL);
        drop(response);
        assert!(get(&sender, "/b").await.is_ok());
        reset
    });
    assert_eq!(reason, Some(h2::Reason::INTERNAL_ERROR));
    assert_eq!(server.resets, [(3, ErrorCode::CANCEL)]);
    assert_eq!(server.session.running_streams(), 0);
}

#[test]
fn a_connection_that_drains() {
    let (last, server) = with_client(Limits::default(), |sender| async move {
        assert!(get(&sender, "/a").await.is_ok());
        let Ok(mut ready) = sender.clone().ready().await else { panic!("not ready") };
        let Ok((slow, mut stream)) = ready.send_request(request(Method::POST, "/slow"), false) else {
            panic!("not sent")
        };
        assert!(get(&sender, "/drain").await.is_ok());
        // The stream that was open goes on to its end.
        assert!(send(&mut stream, Bytes::from_static(b"late"), true).await.is_ok());
        let Ok(slow) = slow.await else { panic!("no answer") };
        let got = body(slow).await.map(|(body, _)| body);
        drop((ready, stream));
        let refused = loop {
            match get(&sender, "/more").await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => break error,
            }
        };
        assert!(refused.is_go_away() || refused.is_io() || refused.is_library() || refused.is_reset(), "{refused}");
        got
    });
    assert!(last.is_ok_and(|got| got == b"late"));
    assert!(server.session.is_over());
}
