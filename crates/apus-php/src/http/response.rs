//! `Apus\Http\Response`.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use apus_net::proto::http1::response::{is_field_name, is_field_value, is_reason, may_be_trailer};
use apus_net::{AnswerState, MessageConn, Responder, SendError, Upgrade};
use apus_zend::object::Object;
use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value, engine, native};

use super::answer::Answer;
use super::bare::{create, create_second};
use super::cookie;
use super::head::{Borrowed, Set};
use super::reply::{self, Step};
use super::shown;
use super::websocket::HandshakeLines;
use super::writing::write;
use crate::exception::{self};
use crate::failed;
use crate::mistakes;
use crate::swoole;

/// Where `fd` stands among the declared properties.
const FD: u32 = 0;

/// What is behind a response object.
pub(crate) struct Response {
    /// Knows how far the answer is.
    pub(super) answer: Answer,
    /// What the connection became, for `recv()` and `push()`.
    pub(super) message_conn: RefCell<Option<Rc<MessageConn>>>,
    pub(super) head: RefCell<Borrowed>,
    trailers: RefCell<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Whether its object is of the class that code written for Swoole knows, whose properties show what was set.
    second: bool,
    /// Whether the program has chosen a status.
    chosen: Cell<bool>,
    /// Whether a field was left out for its line breaks, of which code written for Swoole hears when the head is sent.
    broken: Cell<bool>,
}

native!(Response, "Apus\\Http\\Response");

impl Response {
    /// A response object that answers through `responder`; `second`: of the class that code written for Swoole knows.
    pub(crate) fn object(responder: Responder, second: bool) -> Result<Object, Raise> {
        Self::through(Answer::Here(responder), second)
    }

    pub(super) fn through(answer: Answer, second: bool) -> Result<Object, Raise> {
        let fd = answer.fd();
        let response = Self {
            answer,
            message_conn: RefCell::new(None),
            head: RefCell::new(Borrowed::take()),
            trailers: RefCell::new(Vec::new()),
            second,
            chosen: Cell::new(false),
            broken: Cell::new(false),
        };
        let object = Object::new(RESPONSE.named(second), response)?;
        object.init_slot(FD, Value::int(fd));
        Ok(object)
    }

    /// The program accepts a handshake, whose messages go to `recv()` (`pull`) or come as events. `None`: it was
    /// refused.
    pub(crate) fn accept_handshake(&self, pull: bool) -> Result<Option<Rc<MessageConn>>, Raise> {
        let lines = HandshakeLines::of(&self.head.borrow());
        let Answer::Here(responder) = self.answering()? else { return Ok(None) };
        let (has_subprotocol, has_server) = (lines.has_subprotocol, lines.has_server);
        let upgrade = Upgrade { lines: &lines.bytes, has_subprotocol, has_server, pull };
        match responder.upgrade(&upgrade) {
            Ok(message_conn) => Ok(Some(message_conn)),
            Err(refusal) => {
                if responder.is_open() {
                    responder.refuse_upgrade(refusal);
                }
                Ok(None)
            }
        }
    }

    /// What answers, unless the answer was left to others.
    pub(super) fn answering(&self) -> Result<&Answer, Raise> {
        if self.answer.is_detached() {
            let text = "this response was detached and answers nothing any more";
            return Err(exception::throw(exception::code::http::DETACHED, text));
        }
        Ok(&self.answer)
    }

    /// Whether the answer is complete; an upgrade is not looked at as one.
    fn is_answered(&self) -> bool {
        self.answer.state() == AnswerState::Answered && self.message_conn.borrow().is_none()
    }

    /// Whether the head can still be changed.
    pub(super) fn is_open(&self) -> bool {
        self.answer.is_open()
    }

    /// What was left out of the head that is about to be sent, in the words there.
    fn tell_broken(&self) -> Result<(), Raise> {
        if self.broken.take() && self.is_open() {
            swoole::warning("Header may not contain more than a single header, new line detected")?;
        }
        Ok(())
    }

    /// Ends with `body`; `owner` gives another reference to the string that holds it.
    fn end_with(&self, body: &[u8], owner: impl FnOnce() -> Value) -> Result<bool, Raise> {
        let responder = match self.answering()? {
            Answer::Here(responder) => responder,
            Answer::Elsewhere(there) => {
                return there.send(Step::End, &self.head.borrow().wire, &self.trailers.borrow(), body);
            }
        };
        if !self.trailers.borrow().is_empty() && !self.trail(responder) {
            return self.end_with_trailers(responder, body);
        }
        let head = self.head.borrow();
        let ended = if body.len() < SHARED {
            responder.end(&head.wire, body)
        } else {
            // Slow readers of the same string share its memory.
            responder.end_shared(&head.wire, body, || Box::new(SharedBody(owner())))
        };
        drop(head);
        succeeded(&ended)
    }

    /// Has a stream of HTTP/2 send the trailers at its end. Whether the answer goes over one.
    fn trail(&self, responder: &Responder) -> bool {
        let trailers = self.trailers.borrow();
        let fields: Vec<(&[u8], &[u8])> = trailers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        responder.trail(&fields)
    }

    /// What code written for Swoole has begun to answer is complete when it gives its response away, unless it failed:
    /// then the client is to see that something is missing.
    fn conclude(&self) {
        let answer = &self.answer;
        let begun = self.chosen.get() || !answer.is_open();
        if answer.is_ended() || !begun || failed::is_unwinding() {
            return;
        }
        // A client that is gone needs no answer.
        let _ = match answer {
            Answer::Here(responder) => self.finish(responder).is_ok(),
            Answer::Elsewhere(there) => {
                matches!(there.send(Step::End, &self.head.borrow().wire, &self.trailers.borrow(), b""), Ok(true))
            }
        };
    }

    fn finish(&self, responder: &Responder) -> Result<(), SendError> {
        let trailers = self.trailers.borrow();
        let fields: Vec<(&[u8], &[u8])> = trailers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        responder.finish(&self.head.borrow().wire, &fields)
    }

    fn end_with_trailers(&self, responder: &Responder, body: &[u8]) -> Result<bool, Raise> {
        if !body.is_empty() && responder.write(&self.head.borrow().wire, body).is_err() {
            return Ok(false);
        }
        succeeded(&self.finish(responder))
    }
}

/// Bodies from this many bytes on are not copied for a client that reads slowly.
const SHARED: usize = 64 * 1024;

/// A PHP string that waits to be sent.
struct SharedBody(Value);

impl AsRef<[u8]> for SharedBody {
    fn as_ref(&self) -> &[u8] {
        match self.0.view() {
            View::Str(bytes) => bytes,
            _ => &[],
        }
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        if let Some(message_conn) = self.message_conn.take() {
            // Nobody is left who would read or answer.
            message_conn.close(apus_net::proto::websocket::close::NORMAL, "");
        } else if self.second {
            self.conclude();
        }
    }
}

/// Whether something was sent; the reasons why not are no fault of the program's (it may ask `isWritable()`).
pub(super) fn succeeded<T>(result: &Result<T, SendError>) -> Result<bool, Raise> {
    match result {
        Ok(_) => Ok(true),
        Err(SendError::Length) => {
            engine::warning(
                "the body does not have the length that its Content-Length announced; the connection is cut",
            )?;
            Ok(false)
        }
        Err(_) => Ok(false),
    }
}

fn status(call: &Call) -> Result<(), Raise> {
    let code = call.int(0, 200)?;
    let reason = call.bytes(1)?;
    let response = call.this::<Response>()?;
    // 1xx is no answer: another one would have to follow.
    let handshake = || response.answer.is_handshake();
    let allowed = (200..=999).contains(&code) || (code == 101 && handshake());
    if code > 599 {
        mistakes::ODD_STATUS.here(format_args!(
            "status {code} lies outside 100 to 599: clients take it for 500 or for an error of their own"
        ));
    }
    if !allowed {
        let text = format!("the status code of an answer lies between 200 and 999 (RFC 9110 section 15), {code} given");
        return Err(exception::throw(exception::code::http::INVALID_STATUS, &text));
    }
    if !is_reason(reason) {
        return Err(exception::throw(
            exception::code::http::INVALID_STATUS,
            "the reason phrase holds control characters",
        ));
    }
    if !response.is_open() {
        return call.ret(false);
    }
    let mut head = response.head.borrow_mut();
    head.wire.status = code as u16;
    head.wire.reason = (!reason.is_empty()).then(|| reason.to_vec());
    drop(head);
    response.chosen.set(true);
    call.ret(true)
}

fn header(call: &Call) -> Result<(), Raise> {
    let name = call.bytes(0)?;
    let format = call.bool(2, true)?;
    let response = call.this::<Response>()?;
    if !response.is_open() {
        return call.ret(false);
    }
    let set = match call.string(1) {
        // There an empty coding is how a program has an answer left as it is.
        Some(b"") if response.second && name.eq_ignore_ascii_case(b"content-encoding") => {
            response.head.borrow_mut().set_one(name, b"identity", format)
        }
        // Nor is an empty length told.
        Some(b"") if response.second && name.eq_ignore_ascii_case(b"content-length") => {
            response.head.borrow_mut().tell_no_length();
            Set::Taken
        }
        Some(value) => response.head.borrow_mut().set_one(name, value, format),
        None => set_lines(call, response, name, format)?,
    };
    match set {
        Set::Taken => {
            if response.second {
                shown::add(call, "header", Some(name), call.value(1))?;
            }
            call.ret(true)
        }
        Set::Ours => call.ret(false),
        Set::Invalid if response.second && is_field_name(name) && has_line_break(call.view(1)) => {
            response.broken.set(true);
            call.ret(true)
        }
        Set::Invalid => Err(invalid_field(name)),
    }
}

fn has_line_break(value: View<'_>) -> bool {
    match value {
        View::Str(bytes) => bytes.trim_ascii().iter().any(|byte| matches!(byte, b'\r' | b'\n')),
        View::Array(values) => values.iter().any(|(_, value)| has_line_break(value.view())),
        _ => false,
    }
}

/// `header()` with anything but a string.
fn set_lines(call: &Call, response: &Response, name: &[u8], format: bool) -> Result<Set, Raise> {
    Ok(match call.view(1) {
        View::Array(values) => {
            if let (1, Some((_, value))) = (values.len(), values.iter().next())
                && let View::Str(text) = value.view()
            {
                return Ok(response.head.borrow_mut().set_one(name, text, format));
            }
            let mut texts = Vec::with_capacity(values.len());
            for (_, value) in values.iter() {
                match scalar(value.view()) {
                    Some(text) => texts.push(text),
                    None if response.second && matches!(value.view(), View::Null) => {}
                    None => return Err(call.type_error(1, "of type array of strings")),
                }
            }
            response.head.borrow_mut().set(name, texts.iter().map(Vec::as_slice), format)
        }
        View::Null => response.head.borrow_mut().set(name, std::iter::empty(), format),
        _ => {
            let value = call.bytes(1)?;
            response.head.borrow_mut().set_one(name, value, format)
        }
    })
}

fn invalid_field(name: &[u8]) -> Raise {
    let text = format!(
        "header \"{}\": a name is a token, a value must hold no control characters, line breaks above all (RFC 9110 section 5)",
        String::from_utf8_lossy(name).escape_debug()
    );
    exception::throw(exception::code::http::INVALID_HEADER, &text)
}

fn scalar(view: View<'_>) -> Option<Vec<u8>> {
    Some(match view {
        View::Str(bytes) => bytes.to_vec(),
        View::Int(value) => value.to_string().into_bytes(),
        View::Float(value) => value.to_string().into_bytes(),
        View::Bool(value) => vec![b'0' + u8::from(value)],
        _ => return None,
    })
}

fn set_cookie(call: &Call, raw: bool) -> Result<(), Raise> {
    call.expect(1, 10)?;
    let response = call.this::<Response>()?;
    let value = match call.view(0) {
        View::Object(_) if response.second => cookie::of_object(call)?,
        _ => cookie::from_call(call, raw, response.second)?,
    };
    if value.is_empty() {
        return call.ret(false);
    }
    if !response.is_open() {
        return call.ret(false);
    }
    let added = response.head.borrow_mut().add(b"Set-Cookie", &value, false);
    match added {
        Set::Taken => {
            if response.second {
                shown::add(call, "cookie", None, Value::string(&value)?)?;
            }
            call.ret(true)
        }
        Set::Ours | Set::Invalid => Err(invalid_field(b"Set-Cookie")),
    }
}

fn cookie_encoded(call: &Call) -> Result<(), Raise> {
    set_cookie(call, false)
}

fn cookie_raw(call: &Call) -> Result<(), Raise> {
    set_cookie(call, true)
}

fn trailer(call: &Call) -> Result<(), Raise> {
    let response = call.this::<Response>()?;
    if response.second && matches!(call.view(1), View::Null) {
        // No value there is no field.
        return call.ret(true);
    }
    let (name, value) = (call.bytes(0)?, call.bytes(1)?.trim_ascii());
    if !is_field_name(name) || !is_field_value(value) {
        return Err(invalid_field(name));
    }
    if !may_be_trailer(name) {
        let text = format!(
            "{} cannot be sent as a trailer: it frames the message, or has to be known before the content (RFC 9110 section 6.5.1)",
            String::from_utf8_lossy(name)
        );
        return Err(exception::throw(exception::code::http::INVALID_HEADER, &text));
    }
    if response.answering()?.is_ended() {
        return call.ret(false);
    }
    response.trailers.borrow_mut().push((name.to_vec(), value.to_vec()));
    if response.second {
        shown::add(call, "trailer", Some(name), Value::string(value)?)?;
    }
    call.ret(true)
}

fn informational(call: &Call) -> Result<(), Raise> {
    let code = call.int(0, 103)?;
    if !(102..=199).contains(&code) {
        let text = format!("the status code of an interim answer lies between 102 and 199, {code} given");
        return Err(exception::throw(exception::code::http::INVALID_STATUS, &text));
    }
    let mut head = Borrowed::take();
    if let View::Array(fields) = call.view(1) {
        for (name, value) in fields.iter() {
            let name = match name {
                Key::Str(name) => name,
                Key::Index(_) => return Err(call.type_error(1, "an array of values by name")),
            };
            let values = match value.view() {
                View::Array(several) => several.iter().map(|(_, value)| scalar(value.view())).collect(),
                one => scalar(one).map(|text| vec![text]),
            };
            let Some(values) = values else { return Err(call.type_error(1, "an array of strings")) };
            if head.set(name, values.iter().map(Vec::as_slice), true) == Set::Invalid {
                return Err(invalid_field(name));
            }
        }
    }
    match call.this::<Response>()?.answering()? {
        Answer::Here(responder) => call.ret(succeeded(&responder.informational(code as u16, &head.wire.lines))?),
        Answer::Elsewhere(_) => call.ret(false),
    }
}

fn ping(call: &Call) -> Result<(), Raise> {
    call.ret(matches!(call.this::<Response>()?.answering()?, Answer::Here(responder) if responder.ping()))
}

fn goaway(call: &Call) -> Result<(), Raise> {
    let (code, text) = (call.int(0, 0)?, call.bytes(1)?);
    let Ok(code) = u32::try_from(code) else {
        return Err(engine::throw_value_error("Argument #1 ($code) must be between 0 and 4294967295"));
    };
    let response = call.this::<Response>()?;
    call.ret(matches!(response.answering()?, Answer::Here(responder) if responder.go_away(code, text)))
}

fn end(call: &Call) -> Result<(), Raise> {
    let body = call.opt_bytes(0)?.unwrap_or_default();
    let response = call.this::<Response>()?;
    if response.is_answered() {
        mistakes::ENDED_TWICE
            .here(format_args!("Response::end() is called, but the answer has ended before, and nothing is sent"));
        return call.ret(false);
    }
    response.tell_broken()?;
    let accepts = response.head.borrow().wire.status == 101;
    let ended = if accepts {
        response.accept_handshake(false)?.is_some()
    } else if response.second && body.len() > reply::most() {
        reply::refuse_long(response.answering()?, body.len())
    } else {
        let sent = response.end_with(body, || call.value(0))?;
        // There its connection is what is missing.
        sent || (response.second && crate::last_error::fail(crate::last_error::NOT_EXIST))
    };
    call.ret(ended)
}

fn send_file(call: &Call) -> Result<(), Raise> {
    let path = PathBuf::from(call.text(0)?);
    let (offset, length) = (call.int(1, 0)?, call.int(2, 0)?);
    let response = call.this::<Response>()?;
    let answer = response.answering()?;
    if !response.is_open() {
        return call.ret(false);
    }
    let whole = offset == 0 && length == 0;
    let (file, length) = reply::open_part(&path, offset, length)?;
    {
        let mut head = response.head.borrow_mut();
        if !head.wire.has_content_type {
            let kind = if response.second { apus_edge::types::plain(&path) } else { apus_edge::types::of(&path) };
            head.add(b"Content-Type", kind.as_bytes(), false);
        }
    }
    let head = response.head.borrow();
    let sent = match answer {
        Answer::Here(responder) => {
            if !response.trailers.borrow().is_empty() {
                response.trail(responder);
            }
            succeeded(&reply::send_part(responder, &head.wire, file, (offset as u64, length), whole))?
        }
        Answer::Elsewhere(there) => {
            // To its end, and the end may be another one there.
            let length = if whole { u64::MAX } else { length };
            there.send(Step::File, &head.wire, &Vec::new(), &reply::file(&path, offset as u64, length))?
        }
    };
    drop(head);
    call.ret(sent)
}

fn redirect(call: &Call) -> Result<(), Raise> {
    let location = call.bytes(0)?;
    let code = call.int(1, 302)?;
    let response = call.this::<Response>()?;
    if !(300..=399).contains(&code) {
        let text = format!("a redirection has a status code between 300 and 399, {code} given");
        return Err(exception::throw(exception::code::http::INVALID_STATUS, &text));
    }
    if !response.is_open() {
        return call.ret(false);
    }
    {
        let mut head = response.head.borrow_mut();
        if head.set_one(b"Location", location, true) == Set::Invalid {
            return Err(invalid_field(b"Location"));
        }
        head.wire.status = code as u16;
        head.wire.reason = None;
    }
    let ended = response.end_with(b"", Value::null)?;
    call.ret(ended)
}

fn is_writable(call: &Call) -> Result<(), Raise> {
    call.ret(call.this::<Response>()?.answer.is_writable())
}

fn detach(call: &Call) -> Result<(), Raise> {
    let answer = &call.this::<Response>()?.answer;
    if matches!(answer, Answer::Here(responder) if responder.shares_id()) {
        engine::warning(
            "Response::detach(): a stream of HTTP/2 cannot be found again by its fd, which all streams of a connection share: keep the response itself",
        )?;
        return call.ret(false);
    }
    let open = !answer.is_ended();
    answer.detach();
    call.ret(open)
}

/// The properties that show what was set are arrays from now on, as long as the head can be changed.
fn init_header(call: &Call) -> Result<(), Raise> {
    if !call.this::<Response>()?.is_open() {
        return call.ret(false);
    }
    let object = call.object()?;
    for slot in ["header", "cookie", "trailer"].iter().filter_map(|name| RESPONSE.second?.slot(name)) {
        if matches!(object.slot(slot).view(), View::Null) {
            object.set_slot(slot, Array::new(0)?.into());
        }
    }
    call.ret(true)
}

fn get_headers(call: &Call) -> Result<(), Raise> {
    let response: &Response = call.this()?;
    let lines: Vec<(Vec<u8>, Vec<u8>)> =
        response.head.borrow().lines().map(|(name, value)| (name.to_ascii_lowercase(), value.to_vec())).collect();
    let mut names: Vec<Rc<[u8]>> = Vec::new();
    let mut array = Array::new(lines.len())?;
    for (name, _) in &lines {
        if names.iter().any(|seen| **seen == **name) {
            continue;
        }
        names.push(Rc::from(name.as_slice()));
        let values: Vec<&Vec<u8>> = lines.iter().filter(|(other, _)| other == name).map(|(_, value)| value).collect();
        if let [value] = values[..] {
            array.set_str(name, value)?;
            continue;
        }
        let mut several = Array::new(values.len())?;
        for value in values {
            several.push(Value::string(value)?)?;
        }
        array.set(name, several.into())?;
    }
    call.ret(array)
}

apus_zend::stub!("http/response");
