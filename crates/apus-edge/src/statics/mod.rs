//! Files below a directory, served before PHP is asked.

mod cache;
mod find;
mod listing;
mod send;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use apus_loop::disk;
use apus_net::proto::coding::Accepted;
use apus_net::{Request, Responder, ResponseHead};

pub(crate) use self::find::is_code;

use self::cache::{Cache, Kept, Key};
use self::find::{Find, Found, Page};
use self::send::Asking;
use crate::path::Decoded;
use crate::root::{Patience, Root};

/// What a port serves from files.
#[derive(Debug, Clone)]
pub struct StaticsConfig {
    /// The directory.
    pub root: PathBuf,
    /// Directories outside of it that links in it may lead into.
    pub links: Vec<PathBuf>,
    /// Paths below which requests are for files, and never for PHP. None: whatever path there is a file for.
    pub locations: Vec<String>,
    /// Patterns of paths whose files are not sent.
    pub denied: Vec<String>,
    /// What is looked for, in this order; `$uri` stands for the path. What ends with `/` is a directory.
    pub tries: Vec<String>,
    /// Names of the file that answers for its directory, in the order they are looked for.
    pub index: Vec<String>,
    /// Whether a directory without one is listed.
    pub listing: bool,
    /// Whether `FILE.zst`, `FILE.br` and `FILE.gz` are sent in place of FILE to clients that accept them.
    pub precompressed: bool,
    /// For code written for Swoole: the type of a text has no character set, and several slashes are one.
    pub second: bool,
    /// Cache-Control by the pattern of a path (`*` stands for any characters); the first that fits.
    pub cache_control: Vec<(String, String)>,
    /// Bytes of small files that each worker keeps in memory; 0 for none.
    pub cache_size: usize,
}

/// What became of a request.
pub(crate) enum Outcome {
    /// It is answered, or will be.
    Answered,
    /// There is no file for it.
    NotMine,
    /// The disk is asked. Then `true`: it is answered.
    Later(Pin<Box<dyn Future<Output = bool>>>),
}

/// The files of one port.
pub(crate) struct Statics {
    find: Arc<Find>,
    cache: RefCell<Cache>,
}

/// A path with one slash in place of several; `None` where there are none.
fn merge_slashes(path: &[u8]) -> Option<Vec<u8>> {
    path.windows(2).find(|pair| pair == b"//")?;
    let mut merged = path.to_vec();
    merged.dedup_by(|next, before| *next == b'/' && *before == b'/');
    Some(merged)
}

/// A path whose dot segments lead out of the root and back into it, without them, by names alone; `None` for one that
/// has none, or leads elsewhere.
fn lead_back(path: &[u8], root: &Path) -> Option<Vec<u8>> {
    path.windows(3).find(|three| three == b"/..")?;
    let above: Vec<&[u8]> = root.iter().map(OsStr::as_bytes).collect();
    let mut names: Vec<&[u8]> = Vec::new();
    // How many names of the root's own path are still to come, until the path is in the root.
    let mut missing = 0;
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".") {
        if name != b".." {
            if missing == 0 {
                names.push(name);
            } else if above[above.len() - missing] == name {
                missing -= 1;
            } else {
                return None;
            }
        } else if names.pop().is_none() {
            missing += 1;
            if missing >= above.len() {
                return None;
            }
        }
    }
    if missing > 0 {
        return None;
    }
    let mut led: Vec<u8> = names.iter().flat_map(|name| [b"/", *name].concat()).collect();
    if names.is_empty() || path.ends_with(b"/") {
        led.push(b'/');
    }
    Some(led)
}

/// What a request says, for as long as it takes to answer it.
struct Asked {
    key: Key,
    path: Decoded,
    /// Whether the path is one that only files are served for.
    only_files: bool,
}

impl Statics {
    /// Opens the directory.
    pub(crate) fn open(config: StaticsConfig) -> io::Result<Rc<Self>> {
        let root = Root::open(&config.root, &config.links)?;
        let cache = RefCell::new(Cache::new(config.cache_size));
        Ok(Rc::new(Self { find: Arc::new(Find { root, config }), cache }))
    }

    /// Answers a GET or HEAD for which there is a file.
    pub(crate) fn answer(self: &Rc<Self>, request: &Request, responder: &Responder) -> Outcome {
        if !matches!(request.method(), b"GET" | b"HEAD") {
            return Outcome::NotMine;
        }
        let lines = request.headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"accept-encoding"));
        let accepted = if self.find.config.precompressed {
            Accepted::read(lines.map(|(_, value)| value))
        } else {
            Accepted::default()
        };
        let key = Key { path: request.path().into(), accepted };
        if let Some(page) = self.kept(&key, request.received_at()) {
            send::from_memory(&page, request, responder);
            return Outcome::Answered;
        }
        let locations = &self.find.config.locations;
        let merged = match &self.find.config {
            config if config.second => lead_back(&key.path, &config.root).or_else(|| merge_slashes(&key.path)),
            _ => None,
        };
        let Some(path) = Decoded::read(merged.as_deref().unwrap_or(&key.path)) else {
            return self.refused(&key, responder);
        };
        if !path.lies_in(locations) {
            return Outcome::NotMine;
        }
        let asked = Asked { key, path, only_files: !locations.is_empty() };
        match self.find.find(&asked.path, accepted, Patience::Cached) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.later(asked, request, responder),
            found => {
                let answered = self.answered(asked, found, &Asking::of(request), responder);
                if answered { Outcome::Answered } else { Outcome::NotMine }
            }
        }
    }

    /// A page that is in memory and still what is on disk.
    fn kept(&self, key: &Key, now: f64) -> Option<Rc<Page>> {
        let kept = self.cache.borrow_mut().get(key, now)?;
        match kept {
            Kept::Fresh(page) => Some(page),
            Kept::Stale(page) if self.find.is_current(&page) => {
                self.cache.borrow_mut().checked(key, now);
                Some(page)
            }
            Kept::Stale(_) => {
                self.cache.borrow_mut().remove(key);
                None
            }
        }
    }

    /// A path that no file is served for: PHP's, unless it is clearly meant for files.
    fn refused(&self, key: &Key, responder: &Responder) -> Outcome {
        let locations = &self.find.config.locations;
        let meant = locations.iter().any(|prefix| {
            let prefix = prefix.trim_end_matches('/').as_bytes();
            key.path.strip_prefix(prefix).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
        });
        if !meant {
            return Outcome::NotMine;
        }
        responder.fail(404);
        Outcome::Answered
    }

    /// Asks the disk, on a thread.
    fn later(self: &Rc<Self>, asked: Asked, request: &Request, responder: &Responder) -> Outcome {
        let (find, path, accepted) = (Arc::clone(&self.find), asked.path.clone(), asked.key.accepted);
        let job = disk::start(move || find.find(&path, accepted, Patience::Disk));
        let this = Rc::clone(self);
        let responder = responder.clone();
        let request = Asking::of(request);
        Outcome::Later(Box::pin(async move {
            let found = job.await.and_then(|found| found);
            this.answered(asked, found, &request, &responder)
        }))
    }

    /// Sends what was found. `false`: nothing was, and PHP is to be asked.
    fn answered(&self, asked: Asked, found: io::Result<Found>, request: &Asking, responder: &Responder) -> bool {
        match found {
            Ok(Found::Page(page, file)) => {
                let page = Rc::new(page);
                if page.body.is_some() {
                    self.cache.borrow_mut().put(asked.key, &page, request.asked.received_at);
                }
                request.send(&page, responder, file);
            }
            Ok(Found::Directory) => redirect(&asked.path, request, responder),
            Ok(Found::Listing(text)) => send::html(responder, &text),
            Ok(Found::Nothing) if !asked.only_files => return false,
            Ok(Found::Nothing) => responder.fail(404),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => responder.fail(403),
            Err(_) => responder.fail(500),
        }
        true
    }
}

/// A directory was asked for without the slash that relative links in it need.
fn redirect(path: &Decoded, request: &Asking, responder: &Responder) {
    let mut location = format!("/{}/", Decoded::encoded(&path.names)).into_bytes();
    if let Some(query) = &request.query {
        location.push(b'?');
        location.extend_from_slice(query);
    }
    let mut head = ResponseHead::new(301);
    head.push_field(b"Location", &location);
    // A client that is gone needs no answer.
    let _ = responder.end(&head, b"");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_back_into_the_root_by_its_name() {
        let led =
            |path: &str| lead_back(path.as_bytes(), Path::new("/srv/www")).map(|led| String::from_utf8(led).unwrap());
        for (path, expected) in [
            ("/../www/a.txt", Some("/a.txt")),
            ("/x/../../www/./b/", Some("/b/")),
            ("/a/../b", Some("/b")),
            ("/../../srv/www", Some("/")),
            ("/../www2/a.txt", None),
            ("/../a.txt", None),
            ("/..", None),
            ("/../../../www/a", None),
            ("/../../../../srv/www/a", None),
            ("/a..b", None),
        ] {
            assert_eq!(led(path).as_deref(), expected, "{path}");
        }
    }
}
