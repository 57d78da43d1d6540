//! What answers the requests of a port whose scripts run in processes of their own.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use apus_edge::script::{Entries, Script, Served, Site, Variables};
use apus_net::proto::http1::Version;
use apus_net::{App, Collected, Request, Responder, Upgrade};
use apus_options::Settings;
use apus_process::log;
use apus_shm::handover::Held;

use super::answer;
use super::dispatcher::{Dispatcher, Refused};
use super::form;
use super::live::{self, Door, Members};
use super::refresh::Refresh;

/// Scripts behind one port.
pub(crate) struct ServeApp {
    /// What answers for the port, and for its hosts by their numbers from 1 on.
    sites: Vec<Scripted>,
    dispatcher: Rc<Dispatcher>,
    refresh: Option<Rc<Refresh>>,
    members: Rc<dyn Members>,
}

/// A directory of scripts, with the entries of php.ini that these have, as requests are told them.
pub(crate) struct Scripted {
    site: Rc<Site>,
    entries: Rc<[u8]>,
    /// Where it takes WebSockets.
    door: Option<Door>,
}

impl Scripted {
    /// Opens what settings name.
    pub(crate) fn open(settings: &Settings, entries: &Entries) -> Result<Self, String> {
        live::check(settings)?;
        Ok(Self { site: Site::open(settings)?, entries: form::entries(entries).into(), door: Door::of(settings) })
    }
}

/// What a request takes from here to its script.
struct Task {
    dispatcher: Rc<Dispatcher>,
    entries: Rc<[u8]>,
    /// What is added to a page.
    tail: Option<String>,
    /// Of a handshake: who is told whose the connection is.
    members: Option<Rc<dyn Members>>,
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
    pub(crate) fn new(
        sites: Vec<Scripted>,
        dispatcher: Rc<Dispatcher>,
        refresh: Option<Rc<Refresh>>,
        members: Rc<dyn Members>,
    ) -> Rc<Self> {
        Rc::new(Self { sites, dispatcher, refresh, members })
    }

    /// The port itself where there is no such host.
    fn site(&self, number: u16) -> &Scripted {
        self.sites.get(usize::from(number)).unwrap_or(&self.sites[0])
    }

    fn serve(&self, scripted: &Scripted, request: Request, response: Responder, handshake: bool) -> Serving {
        let refresh = self.refresh.as_ref().filter(|_| !handshake);
        let task = Task {
            dispatcher: Rc::clone(&self.dispatcher),
            entries: Rc::clone(&scripted.entries),
            tail: refresh.and_then(|refresh| refresh.tail(&request)),
            members: handshake.then(|| Rc::clone(&self.members)),
        };
        match scripted.site.answer(request, &response) {
            Served::Answered => Serving::Done,
            Served::Script(request, script) => Serving::Running(Box::pin(task.run(request, script, response))),
            Served::Later(found) => Serving::Running(Box::pin(async move {
                if let Some((request, script)) = found.await {
                    task.run(request, script, response).await;
                }
            })),
        }
    }
}

impl App for ServeApp {
    type Handling = Serving;

    fn on_request(self: &Rc<Self>, request: Request, response: Responder) -> Serving {
        if let Some(refresh) = self.refresh.as_ref().filter(|_| Refresh::is_asked(&request)) {
            return Serving::Running(Box::pin(Rc::clone(refresh).tell(request, response)));
        }
        self.serve(self.site(request.host_number()), request, response, false)
    }

    fn on_upgrade(self: &Rc<Self>, request: Request, response: Responder) -> Serving {
        let scripted = self.site(request.host_number());
        let Some(door) = scripted.door.as_ref().filter(|door| door.is_at(request.path())) else {
            response.fail(404);
            return Serving::Done;
        };
        // A handshake that is none says what is wrong with it.
        let sound = if response.is_handshake() { Ok(()) } else { response.upgrade(&Upgrade::default()).map(drop) };
        if let Err(refusal) = sound.and_then(|()| door.check(&request)) {
            response.refuse_upgrade(refusal);
            return Serving::Done;
        }
        self.serve(scripted, request, response, true)
    }
}

impl Task {
    /// Has a script answer a request.
    async fn run(self, request: Request, script: Script, responder: Responder) {
        let Self { dispatcher, entries, tail, members } = self;
        let body = match request.body().collected() {
            Some(Collected::Raw(bytes)) => bytes.clone(),
            // The port collects bodies as they are.
            Some(Collected::Form { .. }) | None => return responder.fail(500),
        };
        let mut process = match dispatcher.process(responder.gone()).await {
            Ok(process) => process,
            Err(Refused::Busy) => return responder.fail_for(503, dispatcher.turn()),
            Err(Refused::Gone) => return,
        };
        let length = (!body.is_empty()).then_some(body.len() as u64).or(request.body().content_length());
        let mut form = dispatcher.form();
        form::begin(&mut form, &entries, request.received_at(), request.version() == Version::Http10);
        Variables::write(&mut form, &request, &script, length);
        if form.len() > Held::most() {
            log::warning(format_args!(
                "a request for {} is answered 431: its head takes {} bytes for the script",
                script.script_name,
                form.len()
            ));
            return responder.fail(431);
        }
        process.begin(&form, body.len() as u64, &script.filename);
        dispatcher.keep_form(form);
        if let Some(members) = members {
            return live::decide(process, &script.filename, &responder, members).await;
        }
        answer::relay(process, &responder, &body, tail).await;
    }
}
