//! What answers the requests of a port whose scripts run in processes of their own.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_edge::script::{Script, Served, Site, Variables};
use apus_net::proto::http1::Version;
use apus_net::{App, Collected, Request, Responder};
use apus_process::log;
use apus_shm::handover::Held;

use super::answer;
use super::desk::{Desk, Refused};
use super::form;
use super::refresh::Refresh;

/// Scripts behind one port.
pub(crate) struct ServeApp {
    site: Rc<Site>,
    /// Of a port: what answers for its hosts, by their numbers from 1 on.
    hosts: Vec<Rc<Site>>,
    desk: Rc<Desk>,
    refresh: Option<Rc<Refresh>>,
}

/// The handling of one request.
pub(crate) enum Serving {
    /// It is answered.
    Done,
    /// It goes on.
    Running(Pin<Box<dyn Future<Output = ()>>>),
}

impl Future for Serving {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Self::Done => Poll::Ready(()),
            Self::Running(running) => running.as_mut().poll(cx),
        }
    }
}

impl ServeApp {
    pub(crate) fn new(site: Rc<Site>, hosts: Vec<Rc<Site>>, desk: Rc<Desk>, refresh: Option<Rc<Refresh>>) -> Rc<Self> {
        Rc::new(Self { site, hosts, desk, refresh })
    }

    fn site(&self, number: u16) -> &Rc<Site> {
        if number == 0 { &self.site } else { self.hosts.get(usize::from(number) - 1).unwrap_or(&self.site) }
    }
}

impl App for ServeApp {
    type Handling = Serving;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Serving {
        if let Some(refresh) = self.refresh.as_ref().filter(|_| Refresh::is_asked(&request)) {
            return Serving::Running(Box::pin(Rc::clone(refresh).tell(request, response)));
        }
        let desk = Rc::clone(&self.desk);
        let tail = self.refresh.as_ref().and_then(|refresh| refresh.tail(&request));
        match self.site(request.host_number()).answer(request, &response) {
            Served::Answered => Serving::Done,
            Served::Script(request, script) => Serving::Running(Box::pin(run(desk, request, script, response, tail))),
            Served::Later(found) => Serving::Running(Box::pin(async move {
                if let Some((request, script)) = found.await {
                    run(desk, request, script, response, tail).await;
                }
            })),
        }
    }
}

/// Has a script answer a request; `tail` is added to a page.
async fn run(desk: Rc<Desk>, request: Request, script: Script, responder: Responder, tail: Option<String>) {
    let body = match request.body().collected() {
        Some(Collected::Raw(bytes)) => bytes.clone(),
        // The port collects bodies as they are.
        Some(Collected::Form { .. }) | None => return responder.fail(500),
    };
    let mut process = match desk.process(responder.gone()).await {
        Ok(process) => process,
        Err(Refused::Busy) => return responder.fail_for(503, desk.turn()),
        Err(Refused::Gone) => return,
    };
    let length = (!body.is_empty()).then_some(body.len() as u64).or(request.body().content_length());
    let variables = Variables::of(&request, &script, length);
    let mut form = Vec::with_capacity(2048);
    form::write(&mut form, &variables, request.received_at(), request.version() == Version::Http10);
    if form.len() > Held::most() {
        log::warning(format_args!(
            "a request for {} is answered 431: its head takes {} bytes for the script",
            script.script_name,
            form.len()
        ));
        return responder.fail(431);
    }
    process.begin(&form, body.len() as u64, &script.filename);
    drop(form);
    answer::relay(process, &responder, &body, tail).await;
}
