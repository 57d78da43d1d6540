//! A directory of a PHP application, as requests meet it: what is done before scripts, files, then scripts.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use apus_net::{Request, Responder, ResponseHead};
use apus_options::Settings;

use super::{Resolved, Resolving, Script, Scripts, ScriptsConfig};
use crate::edge::{Edge, EdgeConfig, Outcome};
use crate::settings;

/// What became of a request.
pub enum Served {
    /// It is answered, or will be.
    Answered,
    /// A script has to answer it.
    Script(Request, Script),
    /// That has to be found out. Then: the request, if it is a script's.
    Later(Pin<Box<dyn Future<Output = Scripted>>>),
}

/// The request, if it is a script's.
type Scripted = Option<(Request, Script)>;

/// What answers the requests of a port, or of one of its hosts.
pub struct Site {
    edge: Rc<Edge>,
    scripts: Arc<Scripts>,
}

impl Site {
    /// Opens what settings name.
    ///
    /// # Errors
    /// What is wrong with which setting, or cannot be opened.
    pub fn open(settings: &Settings) -> Result<Rc<Self>, String> {
        if settings.document_root.is_empty() {
            return Err("document_root, the directory of the scripts, is not set".into());
        }
        let config = ScriptsConfig::of(settings)?;
        let plan = Self::plan(settings, &config)?;
        let scripts =
            Scripts::open(config).map_err(|error| format!("document_root {}: {error}", settings.document_root))?;
        let edge = settings::open(Some(&plan))?.ok_or("document_root is not set")?;
        Ok(Rc::new(Self { edge, scripts }))
    }

    /// What is done before scripts. Which file answers for a directory is a question of scripts, too.
    fn plan(settings: &Settings, scripts: &ScriptsConfig) -> Result<EdgeConfig, String> {
        let with_files = Settings { enable_static_handler: true, ..settings.clone() };
        let mut config = settings::plan(&with_files, false)?.unwrap_or_default();
        if let Some(statics) = &mut config.statics {
            statics.root.clone_from(&scripts.root);
            statics.links.clone_from(&scripts.links);
            statics.denied.clone_from(&scripts.denied);
            statics.tries = vec!["$uri".to_owned()];
            statics.index = Vec::new();
            statics.listing = false;
        }
        Ok(config)
    }

    /// `DOCUMENT_ROOT`.
    pub fn document_root(&self) -> &Arc<str> {
        self.scripts.document_root()
    }

    /// Answers a request, or says which script has to.
    pub fn answer(self: &Rc<Self>, request: Request, responder: &Responder) -> Served {
        match self.edge.answer(request, responder) {
            Outcome::Answered => Served::Answered,
            Outcome::NotMine(request) => self.find(request, responder),
            Outcome::Later(found) => {
                let (this, responder) = (Rc::clone(self), responder.clone());
                Served::Later(Box::pin(async move { this.find(found.await?, &responder).settled().await }))
            }
        }
    }

    fn find(self: &Rc<Self>, request: Request, responder: &Responder) -> Served {
        match self.scripts.resolve(request.path()) {
            Resolving::Now(resolved) => self.hand(resolved, request, responder),
            Resolving::Later(found) => {
                let (this, responder) = (Rc::clone(self), responder.clone());
                Served::Later(Box::pin(async move { this.hand(found.await, request, &responder).settled().await }))
            }
        }
    }

    fn hand(&self, resolved: Resolved, mut request: Request, responder: &Responder) -> Served {
        match resolved {
            Resolved::Script(script) => match self.edge.also(script.script_name.as_bytes(), request, responder) {
                Outcome::Answered => Served::Answered,
                Outcome::NotMine(request) => Served::Script(request, script),
                Outcome::Later(found) => {
                    Served::Later(Box::pin(async move { found.await.map(|request| (request, script)) }))
                }
            },
            Resolved::File(_) if !matches!(request.method(), b"GET" | b"HEAD") => {
                refuse(responder, ResponseHead::new(405), &[(b"Allow", b"GET, HEAD")])
            }
            Resolved::File(path) => {
                let (edge, responder) = (Rc::clone(&self.edge), responder.clone());
                match self.edge.also(path.as_bytes(), request, &responder) {
                    Outcome::Answered => Served::Answered,
                    Outcome::NotMine(again) => {
                        request = again;
                        request.rewrite(path.as_bytes());
                        sent(edge.file(request, &responder), responder)
                    }
                    Outcome::Later(found) => Served::Later(Box::pin(async move {
                        let mut request = found.await?;
                        request.rewrite(path.as_bytes());
                        sent(edge.file(request, &responder), responder).settled().await
                    })),
                }
            }
            Resolved::Directory(mut location) => {
                if let Some(query) = request.query() {
                    location.push('?');
                    location.push_str(&String::from_utf8_lossy(query));
                }
                refuse(responder, ResponseHead::new(301), &[(b"Location", location.as_bytes())])
            }
            Resolved::Status(status) => {
                responder.fail(status);
                Served::Answered
            }
        }
    }
}

impl Served {
    async fn settled(self) -> Scripted {
        match self {
            Self::Answered => None,
            Self::Script(request, script) => Some((request, script)),
            Self::Later(found) => found.await,
        }
    }
}

/// A file that is gone by the time it is to be sent is none.
fn sent(outcome: Outcome, responder: Responder) -> Served {
    match outcome {
        Outcome::Answered => Served::Answered,
        Outcome::NotMine(_) => {
            responder.fail(404);
            Served::Answered
        }
        Outcome::Later(found) => Served::Later(Box::pin(async move {
            if found.await.is_some() {
                responder.fail(404);
            }
            None
        })),
    }
}

fn refuse(responder: &Responder, mut head: ResponseHead, fields: &[(&[u8], &[u8])]) -> Served {
    for (name, value) in fields {
        head.push_field(name, value);
    }
    // A client that is gone needs no answer.
    let _ = responder.end(&head, b"");
    Served::Answered
}
