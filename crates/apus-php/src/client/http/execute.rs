//! Making requests and taking their answers.

use std::pin::pin;
use std::rc::Rc;

use apus_client::failure::{Failure, Stage};
use apus_client::http::{Finished, Job, Request, Response, Sink, run};
use apus_coro::Wait;
use apus_zend::arg::{Any, Given};
use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Callable, Raise, Value};
use tokio::sync::{mpsc, oneshot};

use super::plain::Me;
use super::shown::copy_of;
use super::{CLIENT_CLASS, Deferred, HttpClient, NAME, request, slot};
use crate::client::{settings, values};
use crate::exception::{self};
use crate::runtime::State;
use crate::system::failure::strerror;
use crate::wait::{Timeout, expect_suspendable, wait};

/// The highest error number of the kernel.
const LAST_ERRNO: i32 = libc::EHWPOISON;

/// `$statusCode` of a request without an answer.
fn status_of(stage: Stage) -> i64 {
    match stage {
        Stage::Connect => -1,
        Stage::Timeout => -2,
        Stage::Receive => -3,
        Stage::Send => -4,
    }
}

/// Forgets the last answer.
fn clear(object: &Object) -> Result<(), Raise> {
    object.set_slot(slot::STATUS_CODE, Value::int(0));
    object.set_slot(slot::HEADERS, Value::null());
    object.set_slot(slot::SET_COOKIE_HEADERS, Value::null());
    object.set_slot(slot::BODY, Value::string(b"")?);
    values::set_error(object, slot::ERR_CODE, 0, "")
}

/// Writes a failure into the properties.
pub(super) fn fail(object: &Object, failure: &Failure) -> Result<(), Raise> {
    object.set_slot(slot::STATUS_CODE, Value::int(status_of(failure.stage)));
    // In code written for Swoole the text is that of the number, where the kernel knows it.
    let of_number = object.is_second(&CLIENT_CLASS) && (1..=LAST_ERRNO).contains(&failure.errno);
    let text = of_number.then(|| strerror(failure.errno));
    values::set_error(object, slot::ERR_CODE, i64::from(failure.errno), text.as_deref().unwrap_or(&failure.message))
}

/// Writes an answer into the properties.
pub(super) fn fill(object: &Object, client: &HttpClient, response: &Response) -> Result<(), Raise> {
    object.set_slot(slot::STATUS_CODE, Value::int(i64::from(response.status)));
    object.set_slot(slot::HEADERS, values::header_array(&response.headers)?.into());
    if let Some(lines) = values::set_cookie_list(&response.headers)? {
        object.set_slot(slot::SET_COOKIE_HEADERS, lines.into());
        let known = object.slot(slot::COOKIES);
        let merged = client.cookies.merged(&known, values::set_cookie_lines(&response.headers))?;
        object.set_slot(slot::COOKIES, merged);
    }
    object.set_slot(slot::BODY, Value::string(&response.body)?);
    Ok(())
}

/// Takes what came of a request: whether there is an answer.
pub(super) fn finish(object: &Object, client: &HttpClient, finished: Finished) -> Result<bool, Raise> {
    let Finished { mut result, mut connection, head } = finished;
    *client.head.borrow_mut() = head;
    object.set_slot(slot::CONNECTED, Value::bool(connection.is_some()));
    *client.facts.borrow_mut() = connection.as_ref().map(|connection| Rc::clone(connection.facts()));
    let events = result.as_mut().ok().and_then(|response| response.events.take());
    if let Some((events, connection)) = events.and_then(|events| Some((events, connection.take()?))) {
        client.show_events(object, connection, events)?;
    } else {
        client.connection.replace(connection);
        client.show(object)?;
    }
    match result {
        Ok(response) => {
            fill(object, client, &response)?;
            Ok(true)
        }
        Err(failure) => {
            fail(object, &failure)?;
            Ok(false)
        }
    }
}

/// What a request that was broken off by its own side leaves.
pub(super) fn abandoned(object: &Object, errno: i32, message: &str) -> Result<(), Raise> {
    object.set_slot(slot::CONNECTED, Value::bool(false));
    // There a close() cancels whoever waits.
    let errno = if errno == libc::ECONNRESET && object.name_there().is_some() { libc::ECANCELED } else { errno };
    fail(object, &Failure::new(Stage::Receive, errno, message))
}

/// Throws where a request cannot be begun now.
fn expect_free(client: &HttpClient, state: &State, (name, what): (&'static str, &'static str)) -> Result<(), Raise> {
    expect_suspendable(state, name)?;
    client.reading.check(state, NAME, what)?;
    client.heed_shown();
    let wrong = |text: &str| Err(exception::throw(exception::code::client::STATE, text));
    if client.websocket.borrow().is_some() {
        return wrong("this client speaks WebSocket: push() and recv() go on with it, close() ends it");
    }
    if client.deferred.borrow().is_some() {
        return wrong("the answer to the deferred request was not fetched: call recv() first, or close()");
    }
    Ok(())
}

/// Takes the connection and makes a job of the request.
fn job(object: &Object, client: &HttpClient, state: &State, request: Request) -> Job {
    let websocket = request.websocket.is_some();
    let mut options = settings::http(&client.settings.borrow(), state, websocket);
    // There a program sees that the server closed the connection, and decides itself.
    options.repeats = object.name_there().is_none();
    // There they are read from its `$socket`.
    options.event_stream = object.is_second(&CLIENT_CLASS);
    let options = Rc::new(options);
    // A kept connection may be one to the proxy itself; a WebSocket needs one through it.
    let usable = !(websocket && options.connect.proxy.is_some());
    let connection = client.connection.borrow_mut().take().filter(|_| usable);
    Job { endpoint: client.endpoint.clone(), options, connection, request, opened: None }
}

/// What a wait for an answer ends with.
enum Step {
    /// The next piece of a body that the program takes as it comes.
    Piece(Vec<u8>),
    Done(Finished),
    /// The program closed the client.
    Closed,
}

async fn next_piece(pieces: &mut Option<mpsc::Receiver<Vec<u8>>>) -> Option<Vec<u8>> {
    match pieces {
        Some(pieces) => pieces.recv().await,
        None => None,
    }
}

/// Makes a request and waits for its answer; none when it was broken off, which the properties tell.
pub(super) fn exchange(
    object: &Object,
    client: &HttpClient,
    state: &State,
    mut request: Request,
    (name, what): (&'static str, &'static str),
) -> Result<Option<Finished>, Raise> {
    let in_use = client.reading.enter(state, NAME, what)?;
    let writer = if matches!(request.sink, Sink::Memory) { writer(object)? } else { None };
    let mut pieces = writer.as_ref().map(|_| {
        let (sender, receiver) = mpsc::channel(PIECES);
        request.sink = Sink::Stream(sender);
        receiver
    });
    let closing = Rc::clone(&client.closing);
    // Made here, not when first polled: a close() before that counts, too.
    let mut closed = pin!(closing.notified());
    let mut running = pin!(run(job(object, client, state, request)));
    let give = |piece: &[u8]| {
        let Some(writer) = &writer else { return Ok(()) };
        let given = Value::string(piece).and_then(|data| writer.call(&[object.share().into(), data]));
        // What the callable throws breaks the request off.
        given.map(drop).inspect_err(|_| object.set_slot(slot::CONNECTED, Value::bool(false)))
    };
    let waited = loop {
        let step = wait(state, Wait::Outside(name), async {
            tokio::select! {
                biased;
                Some(piece) = next_piece(&mut pieces) => Step::Piece(piece),
                finished = running.as_mut() => Step::Done(finished),
                () = closed.as_mut() => Step::Closed,
            }
        });
        match step {
            Ok(Some(Step::Piece(piece))) => give(&piece)?,
            ended => break ended,
        }
    };
    while let Some(piece) = pieces.as_mut().and_then(|pieces| pieces.try_recv().ok()) {
        give(&piece)?;
    }
    drop(in_use);
    match waited {
        Ok(Some(Step::Done(finished))) => Ok(Some(finished)),
        Ok(Some(_)) => {
            abandoned(object, libc::ECONNRESET, "the client was closed meanwhile")?;
            Ok(None)
        }
        Ok(None) => {
            abandoned(object, libc::ECANCELED, "the coroutine was cancelled")?;
            Ok(None)
        }
        Err(raise) => {
            object.set_slot(slot::CONNECTED, Value::bool(false));
            Err(raise)
        }
    }
}

/// Pieces of a body that wait for the program.
const PIECES: usize = 16;

/// The callable that `set(['write_func' => …])` was given. It is looked up each time: only `$setting` holds it, where
/// PHP's cycle collector sees it.
fn writer(object: &Object) -> Result<Option<Callable>, Raise> {
    let settings = object.slot(slot::SETTING);
    let View::Array(settings) = settings.view() else { return Ok(None) };
    let found = settings.iter().find(|(key, _)| *key == Key::Str(b"write_func"));
    let Some((_, value)) = found else { return Ok(None) };
    let mut value = value.value();
    if matches!(value.view(), View::Null) {
        return Ok(None);
    }
    values::write_func(&mut value).map(Some)
}

/// Begins a request whose answer `recv()` fetches.
fn defer(me: &Me<'_>, state: &State, request: Request, names: (&'static str, &'static str)) -> Result<bool, Raise> {
    let (client, object): (&HttpClient, _) = (me, &me.object);
    let mut job = job(object, client, state, request);
    let (opened, opening) = oneshot::channel();
    let second = object.is_second(&CLIENT_CLASS);
    if second {
        // There the time of a deferred request is that of recv().
        Rc::make_mut(&mut job.options).timeout = None;
        job.opened = Some(Box::new(|facts| {
            // Nobody waits for it any more when the client was closed.
            let _ = opened.send((Rc::clone(facts), copy_of(facts)));
        }));
    }
    let (done, answer) = oneshot::channel();
    let running = state.spawn(async move {
        // Nobody waits for it any more when the client was closed.
        let _ = done.send(run(job).await);
    });
    *client.deferred.borrow_mut() = Some(Deferred { running, answer });
    object.set_slot(slot::CONNECTED, Value::bool(true));
    if !second {
        return Ok(true);
    }
    // There a connection that cannot be made is told of at once.
    let in_use = client.reading.enter(state, NAME, names.1)?;
    let opened = wait(state, Wait::Outside(names.0), opening).inspect_err(|_| client.drop_connection());
    drop(in_use);
    match opened? {
        Some(Ok((facts, copy))) => {
            client.facts.replace(Some(Rc::clone(&facts)));
            client.show_copy(object, Some(facts), copy)?;
            Ok(true)
        }
        Some(Err(_)) => receive_deferred(me, Timeout::NEVER),
        None => {
            client.drop_connection();
            abandoned(object, libc::ECANCELED, "the coroutine was cancelled")?;
            Ok(false)
        }
    }
}

/// Makes the request that the properties describe.
fn execute_path(me: &Me<'_>, path: &[u8], names: (&'static str, &'static str)) -> Result<bool, Raise> {
    let (client, object): (&HttpClient, _) = (me, &me.object);
    let state = State::get()?;
    expect_free(client, &state, names)?;
    let request = request::build(object, client, path)?;
    clear(object)?;
    request::forget(object);
    if client.defer.get() {
        return defer(me, &state, request, names);
    }
    match exchange(object, client, &state, request, names)? {
        Some(finished) => finish(object, client, finished),
        None => Ok(false),
    }
}

pub(super) fn execute(me: Me<'_>, path: &[u8]) -> Result<bool, Raise> {
    execute_path(&me, path, ("Coroutine\\Http\\Client::execute()", "execute()"))
}

pub(super) fn get(me: Me<'_>, path: &[u8]) -> Result<bool, Raise> {
    me.object.set_slot(slot::REQUEST_METHOD, Value::string(b"GET")?);
    execute_path(&me, path, ("Coroutine\\Http\\Client::get()", "get()"))
}

pub(super) fn post(me: Me<'_>, path: &[u8], data: Any<'_>) -> Result<bool, Raise> {
    me.object.set_slot(slot::REQUEST_METHOD, Value::string(b"POST")?);
    me.object.set_slot(slot::REQUEST_BODY, data.value());
    let done = execute_path(&me, path, ("Coroutine\\Http\\Client::post()", "post()"));
    // The data of one post() is not that of the next request.
    me.object.set_slot(slot::REQUEST_BODY, Value::null());
    done
}

pub(super) fn download(me: Me<'_>, path: &[u8], file: &[u8], offset: Given<i64>) -> Result<bool, Raise> {
    if offset.value < 0 {
        return Err(offset.must_be("0 or more bytes"));
    }
    me.object.set_slot(slot::DOWNLOAD_FILE, Value::string(file)?);
    me.object.set_slot(slot::DOWNLOAD_OFFSET, Value::int(offset.value));
    let done = execute_path(&me, path, ("Coroutine\\Http\\Client::download()", "download()"));
    request::forget(&me.object);
    done
}

/// Makes the request of `upgrade()`; whether the connection is a WebSocket now.
pub(super) fn upgrade(me: Me<'_>, path: &[u8]) -> Result<bool, Raise> {
    const NAMES: (&str, &str) = ("Coroutine\\Http\\Client::upgrade()", "upgrade()");
    let (client, object): (&HttpClient, _) = (&me, &me.object);
    let state = State::get()?;
    expect_free(client, &state, NAMES)?;
    object.set_slot(slot::REQUEST_METHOD, Value::string(b"GET")?);
    let mut request = request::build(object, client, path)?;
    let options = settings::websocket(&client.settings.borrow());
    clear(object)?;
    if let Err(failure) = apus_client::websocket::ask(&mut request.headers, &options) {
        fail(object, &failure)?;
        return Ok(false);
    }
    request.websocket = Some(options);
    let Some(mut finished) = exchange(object, client, &state, request, NAMES)? else { return Ok(false) };
    let websocket = finished.result.as_mut().ok().and_then(|response| response.websocket.take());
    let answered = finish(object, client, finished)?;
    let Some(websocket) = websocket else {
        if answered {
            values::set_error(
                object,
                slot::ERR_CODE,
                i64::from(apus_client::failure::HANDSHAKE_FAILED),
                "the server did not change to WebSocket: $statusCode, $headers and $body tell what it answered",
            )?;
        }
        return Ok(false);
    };
    object.set_slot(slot::CONNECTED, Value::bool(true));
    *client.facts.borrow_mut() = Some(Rc::clone(websocket.facts()));
    *client.websocket.borrow_mut() = Some(Rc::from(websocket));
    client.was_websocket.set(true);
    client.show(object)?;
    Ok(true)
}

/// Fetches the answer to a deferred request.
pub(super) fn receive_deferred(me: &Me<'_>, timeout: Timeout) -> Result<bool, Raise> {
    let (client, object): (&HttpClient, _) = (me, &me.object);
    let state = State::get()?;
    expect_suspendable(&state, "Coroutine\\Http\\Client::recv()")?;
    let in_use = client.reading.enter(&state, NAME, "recv()")?;
    let of_settings = || settings::whole(&client.settings.borrow(), &state);
    let limit = timeout.limit_or(|| if object.is_second(&CLIENT_CLASS) { of_settings() } else { None });
    let Some(mut deferred) = client.deferred.borrow_mut().take() else { return Ok(false) };
    let closing = Rc::clone(&client.closing);
    // Made here, not when first polled: a close() before that counts, too.
    let closed = closing.notified();
    let waited = wait(&state, Wait::Outside("Coroutine\\Http\\Client::recv()"), async {
        tokio::select! {
            finished = &mut deferred.answer => finished.ok().ok_or(libc::ECONNRESET),
            () = closed => Err(libc::ECONNRESET),
            () = sleep(limit) => Err(libc::ETIMEDOUT),
        }
    });
    drop(deferred);
    drop(in_use);
    match waited {
        Err(raise) => {
            object.set_slot(slot::CONNECTED, Value::bool(false));
            return Err(raise);
        }
        Ok(Some(Ok(finished))) => return finish(object, client, finished),
        Ok(Some(Err(libc::ETIMEDOUT))) => {
            object.set_slot(slot::CONNECTED, Value::bool(false));
            fail(object, &Failure::timeout("the answer"))?;
        }
        Ok(Some(Err(errno))) => abandoned(object, errno, "the client was closed meanwhile")?,
        Ok(None) => abandoned(object, libc::ECANCELED, "the coroutine was cancelled")?,
    }
    Ok(false)
}

/// Sleeps for a time-out; for ever without one.
pub(in crate::client) async fn sleep(limit: Option<std::time::Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}
