//! Sending a page, or what a request wants of it.

use std::fs::File;
use std::rc::Rc;

use apus_net::proto::conditional::Conditions;
use apus_net::{Asked, Request, Responder, ResponseHead};

use super::find::Page;
use crate::content::{Content, Source};

/// What a request says, kept for after it.
pub(super) struct Asking {
    /// What it wants of the file.
    pub(super) asked: Asked,
    pub(super) query: Option<Box<[u8]>>,
}

impl Asking {
    pub(super) fn of(request: &Request) -> Self {
        Self { asked: request.asked(), query: request.query().map(Into::into) }
    }

    /// Sends a page; `file` is open where it is not in memory.
    pub(super) fn send(&self, page: &Rc<Page>, responder: &Responder, file: Option<File>) {
        send(page, file, &self.asked.conditions(), (self.asked.get, self.asked.received_at), responder);
    }
}

/// Sends a page that is in memory.
pub(super) fn from_memory(page: &Rc<Page>, request: &Request, responder: &Responder) {
    let asked = (request.method() == b"GET", request.received_at());
    send(page, None, &Conditions::read(request.headers()), asked, responder);
}

/// Sends a document of our own.
pub(super) fn html(responder: &Responder, text: &str) {
    let mut head = ResponseHead::new(200);
    head.push_field(b"Content-Type", b"text/html; charset=UTF-8");
    head.has_content_type = true;
    // A client that is gone needs no answer.
    let _ = responder.end(&head, text.as_bytes());
}

fn send(
    page: &Rc<Page>,
    file: Option<File>,
    conditions: &Conditions<'_>,
    (get, now): (bool, f64),
    responder: &Responder,
) {
    let mut head = ResponseHead::new(200);
    head.lines.reserve(page.lines.len() + 128);
    head.lines.extend_from_slice(&page.lines);
    let (kind, etag) = (page.kind.as_bytes(), page.etag.as_bytes());
    let source = match file {
        Some(file) => Source::File(file),
        None => Source::Memory(Rc::<Page>::clone(page)),
    };
    let content = Content { head, kind, etag, modified: page.modified, len: page.len, source };
    // A client that is gone needs no answer.
    let _ = content.send(conditions, get, now as u64, responder);
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        self.body.as_deref().unwrap_or_default()
    }
}
