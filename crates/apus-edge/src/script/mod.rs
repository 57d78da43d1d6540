//! Which script of a PHP application answers a path: what nginx with `try_files` and its split of `PATH_INFO` says to
//! php-fpm.

mod entries;
mod known;
mod lately;
pub mod pairs;
mod preset;
mod site;
mod target;
#[cfg(test)]
mod tests;
mod variables;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use apus_loop::disk;
use apus_options::{Settings, fits};
use rustix::fs::FileType;
use rustix::io::Errno;

pub use self::entries::Entries;
use self::lately::Lately;
pub use self::preset::{Kind, Preset};
pub use self::site::{Served, Site};
pub use self::variables::{Variables, Via};
use crate::path::Decoded;
use crate::root::{Patience, Root};

/// How the scripts below a directory are found.
#[derive(Debug, Clone)]
pub struct ScriptsConfig {
    /// The directory.
    pub root: PathBuf,
    /// Directories outside of it that links in it may lead into.
    pub links: Vec<PathBuf>,
    /// What is looked for, in this order, where a path names no script; `$uri` stands for the path. What ends with `/`
    /// is a directory, what ends with `.php` a script, `=404` a status. The last one answers whatever is there.
    pub tries: Vec<String>,
    /// Names of what answers for its directory, in the order they are looked for.
    pub index: Vec<String>,
    /// Patterns of paths below which no script is executed: `/uploads/*`.
    pub forbidden: Vec<String>,
    /// Patterns of paths that nobody gets, whatever is there: `/config/*`.
    pub denied: Vec<String>,
    /// The script that stays, below the root: it answers in place of all others.
    pub stays: Option<String>,
}

/// The scripts of one port or host.
#[derive(Debug)]
pub struct Scripts {
    root: Root,
    document_root: Arc<str>,
    config: ScriptsConfig,
    lately: Lately,
}

/// What answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// A file that is sent as it is: the path to rewrite the request to, encoded. GET and HEAD alone may have it.
    File(String),
    /// A script.
    Script(Script),
    /// A directory, asked for without its slash: the encoded path to redirect to, to which the query belongs.
    Directory(String),
    /// Nothing, with this status: 400, 403, 404 or 500.
    Status(u16),
}

/// A script, with what its request says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The file: `SCRIPT_FILENAME`.
    pub filename: String,
    /// Its path below the document root, decoded: `SCRIPT_NAME`.
    pub script_name: String,
    /// What follows it in the path, decoded, with its slash; empty where nothing does.
    pub path_info: Vec<u8>,
    /// `DOCUMENT_ROOT`, without a slash behind.
    pub document_root: Arc<str>,
}

/// What answers a request, now or after the disk was asked on a thread.
pub enum Resolving {
    /// At once.
    Now(Resolved),
    /// Then.
    Later(Pin<Box<dyn Future<Output = Resolved>>>),
}

impl fmt::Debug for Resolving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(resolved) => resolved.fmt(f),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

impl Scripts {
    /// Opens the directory.
    ///
    /// # Errors
    /// When it, or one of those that links may lead into, cannot be opened, or its name is no UTF-8.
    pub fn open(config: ScriptsConfig) -> io::Result<Arc<Self>> {
        let root = Root::open(&config.root, &config.links)?;
        let path = std::path::absolute(&config.root)?;
        let text = path.to_str().ok_or_else(|| io::Error::other("the name of document_root is no UTF-8"))?;
        let document_root = text.trim_end_matches('/').into();
        Ok(Arc::new(Self { root, document_root, config, lately: Lately::default() }))
    }

    /// `DOCUMENT_ROOT`.
    pub fn document_root(&self) -> &Arc<str> {
        &self.document_root
    }

    /// What answers the path of a request, which is as it was sent.
    pub fn resolve(self: &Arc<Self>, path: &[u8]) -> Resolving {
        match self.look(path, Patience::Cached) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let (this, path) = (Arc::clone(self), path.to_vec());
                let job = disk::start(move || this.look(&path, Patience::Disk));
                Resolving::Later(Box::pin(async move { settled(job.await.and_then(|found| found)) }))
            }
            found => Resolving::Now(settled(found)),
        }
    }

    /// The same, which may wait for the disk.
    pub fn resolve_now(&self, path: &[u8]) -> Resolved {
        settled(self.look(path, Patience::Disk))
    }

    fn look(&self, path: &[u8], patience: Patience) -> io::Result<Resolved> {
        let Some(path) = target::normalised(path) else { return Ok(Resolved::Status(400)) };
        if target::names(&path).is_some_and(|names| self.is_denied(names)) {
            return Ok(Resolved::Status(403));
        }
        for (script, path_info) in target::splits(&path) {
            let Some(names) = target::names(script).filter(|names| !target::is_hidden(names)) else {
                return Ok(Resolved::Status(404));
            };
            match self.kind(names, patience)? {
                Some(FileType::RegularFile) => return Ok(self.script(names, path_info)),
                // A directory may be called so.
                Some(FileType::Directory) => {}
                _ => return Ok(Resolved::Status(404)),
            }
        }
        let names = target::names(&path).filter(|names| !target::is_hidden(names));
        self.try_all(names, path.ends_with(b"/"), patience)
    }

    /// `names` is `None` for a path that no file has.
    fn try_all(&self, names: Option<&str>, slash: bool, patience: Patience) -> io::Result<Resolved> {
        let tries = &self.config.tries;
        // A name is looked for as a file and as a directory: once.
        let mut known: Option<(String, Option<FileType>)> = None;
        for (candidate, last) in tries.iter().zip(1..).map(|(candidate, number)| (candidate, number == tries.len())) {
            if let Some(status) = candidate.strip_prefix('=') {
                return Ok(Resolved::Status(status.parse().unwrap_or(404)));
            }
            let wanted = match (candidate.contains("$uri"), names) {
                (true, None) => continue,
                (true, Some(names)) => candidate.replace("$uri", names),
                (false, _) => candidate.clone(),
            };
            let directory = wanted.ends_with('/');
            let wanted = wanted.trim_matches('/');
            if last && !directory && target::is_script(wanted.as_bytes()) && !candidate.contains("$uri") {
                return Ok(self.script(wanted, b""));
            }
            // What ends with a slash is no file of that name, and the root itself is none.
            if !directory && (wanted.is_empty() || slash && candidate.ends_with("$uri")) {
                continue;
            }
            let kind = match &known {
                Some((name, kind)) if name == wanted => *kind,
                _ => self.kind(wanted, patience)?,
            };
            let found = match kind {
                Some(FileType::Directory) if directory => self.directory(wanted, slash, patience)?,
                Some(FileType::RegularFile) if !directory => self.file(wanted),
                _ => {
                    known = Some((wanted.to_owned(), kind));
                    continue;
                }
            };
            return Ok(found);
        }
        Ok(Resolved::Status(404))
    }

    /// What is at the names, if anything that may be served.
    fn kind(&self, names: &str, patience: Patience) -> io::Result<Option<FileType>> {
        if names.is_empty() {
            return Ok(Some(FileType::Directory));
        }
        self.lately.kind(names, Instant::now(), || self.kind_now(names, patience))
    }

    fn kind_now(&self, names: &str, patience: Patience) -> io::Result<Option<FileType>> {
        match self.root.look(names, patience) {
            Ok(kind) => Ok(Some(kind)),
            Err(error) => match Errno::from_io_error(&error) {
                // EXDEV: a link leads out of the root. ELOOP: links lead to each other, or are not followed.
                Some(Errno::NOENT | Errno::NOTDIR | Errno::XDEV | Errno::LOOP | Errno::NAMETOOLONG) => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn directory(&self, names: &str, slash: bool, patience: Patience) -> io::Result<Resolved> {
        if !slash {
            return Ok(Resolved::Directory(format!("/{}/", Decoded::encoded(names))));
        }
        for index in &self.config.index {
            let file = if names.is_empty() { index.clone() } else { format!("{names}/{index}") };
            if self.kind(&file, patience)? == Some(FileType::RegularFile) {
                return Ok(self.file(&file));
            }
        }
        Ok(Resolved::Status(403))
    }

    /// A file that is there.
    fn file(&self, names: &str) -> Resolved {
        if target::is_script(names.as_bytes()) {
            return self.script(names, b"");
        }
        if crate::statics::is_code(names) || self.is_denied(names) {
            return Resolved::Status(403);
        }
        Resolved::File(format!("/{}", Decoded::encoded(names)))
    }

    fn is_denied(&self, names: &str) -> bool {
        self.config.denied.iter().any(|pattern| fits(pattern, names))
    }

    fn script(&self, names: &str, path_info: &[u8]) -> Resolved {
        if self.is_denied(names) || self.config.forbidden.iter().any(|pattern| fits(pattern, names)) {
            return Resolved::Status(403);
        }
        let (names, path_info) = match &self.config.stays {
            Some(stays) if stays != names => (&stays[..], &b""[..]),
            _ => (names, path_info),
        };
        Resolved::Script(Script {
            filename: format!("{}/{names}", self.document_root),
            script_name: format!("/{names}"),
            path_info: path_info.to_vec(),
            document_root: Arc::clone(&self.document_root),
        })
    }
}

impl ScriptsConfig {
    /// What settings say; what they leave at its default is that of what the directory holds. A script that stays
    /// answers what no file answers.
    ///
    /// # Errors
    /// When a script that stays lies elsewhere than below the directory.
    pub fn of(settings: &Settings) -> Result<Self, String> {
        let mut found = Preset::find(Path::new(&settings.document_root));
        let stays = Some(&settings.script_worker).filter(|script| !script.is_empty());
        let stays = stays.map(|script| below(script, &found.root)).transpose()?;
        if let Some(names) = &stays {
            found.tries = vec!["$uri".to_owned(), format!("/{names}")];
        }
        let default = Settings::default();
        let or = |own: &Vec<String>, default: &Vec<String>, found: Vec<String>| {
            if own == default { found } else { own.clone() }
        };
        let links: Vec<PathBuf> = settings.document_root_links.iter().map(Into::into).collect();
        Ok(Self {
            tries: or(&settings.try_files, &default.try_files, found.tries),
            index: or(&settings.http_index_files, &default.http_index_files, found.index),
            forbidden: or(&settings.denied_scripts, &default.denied_scripts, found.forbidden),
            denied: or(&settings.denied_paths, &default.denied_paths, found.denied),
            links: if links.is_empty() { found.links } else { links },
            root: found.root,
            stays,
        })
    }
}

/// The path of a script that stays below the document root.
fn below(script: &str, root: &Path) -> Result<String, String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
    let (file, root) = (absolute(Path::new(script))?, absolute(root)?);
    let names = file.strip_prefix(&root).ok().and_then(Path::to_str);
    names.map(str::to_owned).ok_or_else(|| {
        format!(
            "script_worker {script}: it has to lie below the document root {}, whose requests it answers",
            root.display()
        )
    })
}

fn settled(found: io::Result<Resolved>) -> Resolved {
    found.unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Resolved::Status(403),
        _ => Resolved::Status(500),
    })
}
