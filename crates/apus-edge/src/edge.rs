//! What a port, or one of its hosts, does with a request before its handler sees it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;

use apus_net::{Request, Responder};

use crate::auth::{Auth, Login, Protected, Verdict};
use crate::cors::{Cors, CorsConfig};
use crate::rules::{Redirects, Rewrites};
use crate::statics::{Outcome as Found, Statics, StaticsConfig};

/// All that is done.
#[derive(Debug, Clone, Default)]
pub struct EdgeConfig {
    /// Files that are served.
    pub statics: Option<StaticsConfig>,
    /// Where requests are sent instead.
    pub redirects: Redirects,
    /// Paths that stand for others.
    pub rewrites: Rewrites,
    /// Paths whose clients have to log in.
    pub protected: Vec<Protected>,
    /// What they are told that it is for.
    pub realm: String,
    /// Which pages may read the answers.
    pub cors: Option<CorsConfig>,
}

/// What became of a request.
pub enum Outcome {
    /// It is answered, or will be.
    Answered,
    /// It is the handler's.
    NotMine(Request),
    /// That has to be found out. Then: the request, if it is the handler's.
    Later(Pin<Box<dyn Future<Output = Option<Request>>>>),
}

impl Outcome {
    /// The request, if it is the handler's.
    pub(crate) async fn settled(self) -> Option<Request> {
        match self {
            Self::Answered => None,
            Self::NotMine(request) => Some(request),
            Self::Later(found) => found.await,
        }
    }
}

/// The same, ready to be asked.
pub struct Edge {
    statics: Option<Rc<Statics>>,
    redirects: Redirects,
    rewrites: Rewrites,
    auth: Option<Rc<Auth>>,
    cors: Option<Cors>,
}

impl EdgeConfig {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.statics.is_none()
            && self.redirects.is_empty()
            && self.rewrites.is_empty()
            && self.protected.is_empty()
            && self.cors.is_none()
    }

    /// Whether it answers requests by itself.
    pub fn answers(&self) -> bool {
        self.statics.is_some() || !self.redirects.is_empty()
    }
}

impl Edge {
    /// Opens the directory of the files.
    ///
    /// # Errors
    /// When it cannot be opened, or the system has no random numbers.
    pub fn open(config: &EdgeConfig) -> io::Result<Rc<Self>> {
        let protected = config.protected.clone();
        let auth = if protected.is_empty() { None } else { Some(Rc::new(Auth::new(protected, &config.realm)?)) };
        Ok(Rc::new(Self {
            statics: config.statics.clone().map(Statics::open).transpose()?,
            redirects: config.redirects.clone(),
            rewrites: config.rewrites.clone(),
            auth,
            cors: config.cors.as_ref().map(Cors::new),
        }))
    }

    /// Answers a request, or lets it pass. One that asks for another protocol gets no file.
    pub fn answer(self: &Rc<Self>, mut request: Request, responder: &Responder) -> Outcome {
        if self.cors.as_ref().is_some_and(|cors| cors.answer(&request, responder))
            || !self.redirects.is_empty() && self.redirects.answer(&request, responder)
        {
            return Outcome::Answered;
        }
        let auth = self.auth.as_ref();
        let mut demanded = auth.map_or_else(Vec::new, |auth| auth.demanded(request.path()));
        if let Some(path) = self.rewrites.find(request.path()) {
            request.rewrite(&path);
            for after in auth.map_or_else(Vec::new, |auth| auth.demanded(&path)) {
                if !demanded.contains(&after) {
                    demanded.push(after);
                }
            }
        }
        if demanded.is_empty() {
            return self.file(request, responder);
        }
        let (this, then) = (Rc::clone(self), responder.clone());
        self.admit(&demanded, request, responder, move |request| this.file(request, &then))
    }

    /// The same for a path that a request has been found to mean beside its own: what it demands more.
    pub(crate) fn also(&self, path: &[u8], request: Request, responder: &Responder) -> Outcome {
        let Some(auth) = &self.auth else { return Outcome::NotMine(request) };
        let before = auth.demanded(request.path());
        let mut demanded = auth.demanded(path);
        demanded.retain(|after| !before.contains(after));
        self.admit(&demanded, request, responder, Outcome::NotMine)
    }

    /// Goes on with a request whose client may have what it demands.
    fn admit(
        &self,
        demanded: &[usize],
        request: Request,
        responder: &Responder,
        then: impl FnOnce(Request) -> Outcome + 'static,
    ) -> Outcome {
        let Some(auth) = self.auth.as_ref().filter(|_| !demanded.is_empty()) else { return then(request) };
        match auth.login(demanded, &request) {
            Login::Passed => then(request),
            Login::Refused => {
                auth.challenge(responder);
                Outcome::Answered
            }
            Login::Unknown(checks) => {
                let (auth, responder) = (Rc::clone(auth), responder.clone());
                Outcome::Later(Box::pin(async move {
                    match Rc::clone(&auth).verify(checks).await {
                        Verdict::Passed => then(request).settled().await,
                        Verdict::Refused => {
                            auth.challenge(&responder);
                            None
                        }
                        Verdict::Busy => {
                            responder.fail(503);
                            None
                        }
                    }
                }))
            }
        }
    }

    /// Sends the file that a request has been rewritten to.
    pub(crate) fn file(&self, request: Request, responder: &Responder) -> Outcome {
        let Some(statics) = self.statics.as_ref().filter(|_| !request.upgrade()) else {
            return Outcome::NotMine(request);
        };
        match statics.answer(&request, responder) {
            Found::Answered => Outcome::Answered,
            Found::NotMine => Outcome::NotMine(request),
            Found::Later(found) => Outcome::Later(Box::pin(async move { (!found.await).then_some(request) })),
        }
    }
}
