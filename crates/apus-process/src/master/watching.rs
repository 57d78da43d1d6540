//! Files whose change reloads the server (`watch_directories`), by the kernel's word.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use apus_options::{Settings, fits};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::Master;
use super::reload::Scope;
use crate::log;

/// How long nothing may change before the server is reloaded: programs write several files, and each in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// How long a change waits for that.
const LONGEST: Duration = Duration::from_millis(500);
/// Directories that are watched at most.
const MOST: usize = 20_000;

/// What is watched.
#[derive(Debug)]
pub(crate) struct Watch {
    inotify: OwnedFd,
    roots: Vec<PathBuf>,
    wanted: Vec<String>,
    left_out: Vec<String>,
    /// The directories, by the numbers that the kernel knows them by.
    directories: HashMap<i32, PathBuf>,
    changed: Option<Changed>,
    /// Not all directories could be watched, and the log says so.
    told: bool,
}

/// What has changed since the last reload.
#[derive(Debug)]
struct Changed {
    first: PathBuf,
    since: Instant,
    last: Instant,
}

impl Watch {
    /// `None` where nothing is to be watched, or can be.
    pub(crate) fn open(settings: &Settings) -> Option<Self> {
        if settings.watch_directories.is_empty() {
            return None;
        }
        let opened = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let inotify = opened.inspect_err(|error| log::warning(format_args!("files are not watched: {error}"))).ok()?;
        let (left_out, wanted): (Vec<_>, Vec<_>) =
            settings.watch_patterns.iter().cloned().partition(|pattern| pattern.starts_with('!'));
        let mut watch = Self {
            inotify,
            roots: settings.watch_directories.iter().map(PathBuf::from).collect(),
            wanted,
            left_out: left_out.iter().map(|pattern| pattern[1..].to_owned()).collect(),
            directories: HashMap::new(),
            changed: None,
            told: false,
        };
        watch.watch_roots();
        Some(watch)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// When the server is to be reloaded.
    pub(crate) fn due_at(&self) -> Option<Instant> {
        self.changed.as_ref().map(|changed| (changed.last + QUIET).min(changed.since + LONGEST))
    }

    fn watch_roots(&mut self) {
        for root in self.roots.clone() {
            self.enter(root);
        }
    }

    /// Watches a directory and those below it; gives back a file that is in them already.
    fn enter(&mut self, directory: PathBuf) -> Option<PathBuf> {
        let (mut found, mut todo) = (None, vec![directory]);
        while let Some(directory) = todo.pop() {
            if self.directories.len() >= MOST {
                self.tell(&directory, "too many directories");
                break;
            }
            let flags = WatchFlags::CLOSE_WRITE
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::ONLYDIR
                | WatchFlags::EXCL_UNLINK;
            match inotify::add_watch(&self.inotify, &directory, flags) {
                Ok(number) => self.directories.insert(number, directory.clone()),
                // It is gone already, or a file's link.
                Err(Errno::NOENT | Errno::NOTDIR) => continue,
                Err(error) => {
                    self.tell(&directory, &error.to_string());
                    continue;
                }
            };
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && self.enters(&path) => todo.push(path),
                    Ok(kind) if !kind.is_dir() && self.counts(&path) => found = Some(path),
                    _ => {}
                }
            }
        }
        found
    }

    fn tell(&mut self, directory: &Path, why: &str) {
        if !std::mem::replace(&mut self.told, true) {
            log::warning(format_args!(
                "{} and maybe others are not watched: {why}; leave directories out by watch_patterns (\"!name\"), or \
                 raise fs.inotify.max_user_watches",
                directory.display()
            ));
        }
    }

    /// Whether a path fits one of the patterns.
    fn any(&self, patterns: &[String], path: &Path) -> bool {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.to_str().is_some_and(|below| patterns.iter().any(|pattern| fits(pattern, below)))
    }

    fn enters(&self, directory: &Path) -> bool {
        !self.any(&self.left_out, directory)
    }

    fn counts(&self, file: &Path) -> bool {
        self.any(&self.wanted, file)
    }

    /// Takes what the kernel tells.
    fn read(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = Vec::new();
        {
            let mut reader = Reader::new(&self.inotify, &mut buffer);
            // An error is that there is nothing more.
            while let Ok(event) = reader.next() {
                let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
                events.push((event.wd(), event.events(), name));
            }
        }
        for (number, what, name) in events {
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                // What was lost is not known: all of it is looked at anew.
                self.watch_roots();
                self.note(self.roots.first().cloned().unwrap_or_default());
            } else if what.contains(ReadFlags::IGNORED) {
                self.directories.remove(&number);
            } else if let Some(path) = name.and_then(|name| Some(self.directories.get(&number)?.join(name))) {
                self.happened(path, what);
            }
        }
    }

    fn happened(&mut self, path: PathBuf, what: ReadFlags) {
        if !what.contains(ReadFlags::ISDIR) {
            if self.counts(&path) {
                self.note(path);
            }
        } else if what.intersects(ReadFlags::MOVED_FROM | ReadFlags::DELETE) {
            let gone = self.directories.iter().filter(|(_, of)| of.starts_with(&path)).map(|(number, _)| *number);
            let gone: Vec<_> = gone.collect();
            for number in &gone {
                // It is forgotten when the kernel says that it is.
                let _ = inotify::remove_watch(&self.inotify, *number);
            }
            if !gone.is_empty() {
                self.note(path);
            }
        } else if self.enters(&path)
            && let Some(found) = self.enter(path)
        {
            self.note(found);
        }
    }

    fn note(&mut self, path: PathBuf) {
        let now = Instant::now();
        self.changed.get_or_insert(Changed { first: path, since: now, last: now }).last = now;
    }
}

impl Master<'_> {
    /// Reloads the server when what is watched has changed.
    pub(crate) fn look_at_watched(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        watch.read();
        if watch.due_at().is_some_and(|at| at <= Instant::now())
            && let Some(changed) = watch.changed.take()
        {
            log::info(format_args!("{} has changed", changed.first.display()));
            self.request_reload(Scope::All);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_scratch::Folder;

    fn watch(folder: &Folder) -> Watch {
        let directory = folder.path().to_str().expect("UTF-8").to_owned();
        let settings = Settings { watch_directories: vec![directory], ..Settings::default() };
        Watch::open(&settings).expect("a watch")
    }

    /// What has changed first, if anything has; the kernel tells at once.
    fn changed(watch: &mut Watch, folder: &Folder) -> Option<String> {
        watch.read();
        let changed = watch.changed.take()?;
        Some(changed.first.strip_prefix(folder.path()).expect("below it").to_str().expect("UTF-8").to_owned())
    }

    #[test]
    fn what_programs_are_made_of_counts_and_what_they_write_does_not() {
        let folder = Folder::new("watch");
        for directory in ["src/deep", "var/cache", ".git", "vendor/x"] {
            fs::create_dir_all(folder.path().join(directory)).expect("a folder");
        }
        let mut watch = watch(&folder);
        assert_eq!(changed(&mut watch, &folder), None);
        for name in ["index.php", "src/deep/a.php", ".env.local", "style.css"] {
            folder.write(name, "x");
            assert_eq!(changed(&mut watch, &folder).as_deref(), Some(name));
        }
        for name in ["x.log", "data.sqlite", "var/cache/a.php", ".git/a.php", "vendor/x/a.php"] {
            folder.write(name, "x");
            assert_eq!(changed(&mut watch, &folder), None, "{name}");
        }
        fs::remove_file(folder.path().join("index.php")).expect("it is there");
        assert_eq!(changed(&mut watch, &folder).as_deref(), Some("index.php"));
        fs::rename(folder.path().join("x.log"), folder.path().join("x.php")).expect("renamed");
        assert_eq!(changed(&mut watch, &folder).as_deref(), Some("x.php"));
    }

    #[test]
    fn directories_come_and_go() {
        let folder = Folder::new("watch");
        fs::create_dir(folder.path().join("src")).expect("a folder");
        let mut watch = watch(&folder);
        fs::create_dir_all(folder.path().join("new/below")).expect("a folder");
        assert_eq!(changed(&mut watch, &folder), None);
        folder.write("new/below/a.php", "x");
        assert_eq!(changed(&mut watch, &folder).as_deref(), Some("new/below/a.php"));
        fs::rename(folder.path().join("new"), folder.path().join("src/moved")).expect("renamed");
        assert!(changed(&mut watch, &folder).is_some());
        folder.write("src/moved/below/a.php", "y");
        assert_eq!(changed(&mut watch, &folder).as_deref(), Some("src/moved/below/a.php"));
        fs::remove_dir_all(folder.path().join("src")).expect("removed");
        assert!(changed(&mut watch, &folder).is_some());
        assert_eq!(changed(&mut watch, &folder), None);
        assert_eq!(watch.directories.len(), 1, "the one that is left");
    }

    #[test]
    fn a_change_waits_until_nothing_changes_and_not_for_ever() {
        let folder = Folder::new("watch");
        let mut watch = watch(&folder);
        assert_eq!(watch.due_at(), None);
        let now = Instant::now();
        watch.changed = Some(Changed { first: PathBuf::new(), since: now, last: now });
        assert_eq!(watch.due_at(), Some(now + QUIET));
        watch.changed = Some(Changed { first: PathBuf::new(), since: now, last: now + LONGEST });
        assert_eq!(watch.due_at(), Some(now + LONGEST));
    }
}
