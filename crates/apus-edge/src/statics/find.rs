//! Finding the file for a path, on the loop or on a thread.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use apus_loop::disk::cached;
use apus_net::proto::coding::{Accepted, Coding, is_compressible};
use apus_net::proto::date::imf_fixdate;
use apus_options::fits;
use rustix::io::Errno;

use super::{StaticsConfig, listing};
use crate::content::etag;
use crate::path::Decoded;
use crate::root::{Identity, Opened, Patience, Root};
use crate::types;

/// Files up to this many bytes are sent from memory.
const SMALL: u64 = 64 * 1024;

/// Extensions that hold code for PHP: it is not shown to anybody.
const CODE: [&str; 8] = ["php", "php3", "php4", "php5", "phtml", "phar", "phps", "inc"];

/// Where files are looked for, and how.
pub(super) struct Find {
    pub(super) root: Root,
    pub(super) config: StaticsConfig,
}

/// What there is for a path.
pub(super) enum Found {
    /// A file; open where it is not in memory.
    Page(Page, Option<File>),
    /// A directory, asked for without its slash.
    Directory,
    /// A directory's content, as HTML.
    Listing(String),
    Nothing,
}

/// A file as it is sent.
pub(super) struct Page {
    /// The content, where it is small.
    pub(super) body: Option<Box<[u8]>>,
    pub(super) len: u64,
    /// Seconds since 1970.
    pub(super) modified: u64,
    pub(super) etag: String,
    /// Field lines that a 304 has, too.
    pub(super) lines: Vec<u8>,
    pub(super) kind: String,
    /// The names it was found by, and what it was then: asked again before it is sent from memory after some time.
    pub(super) names: String,
    pub(super) identity: Identity,
}

impl Find {
    /// What is to be sent for a path.
    pub(super) fn find(&self, path: &Decoded, accepted: Accepted, patience: Patience) -> io::Result<Found> {
        let mut absent: Option<Cow<'_, str>> = None;
        for candidate in &self.config.tries {
            let directory = candidate.ends_with('/');
            let names = match candidate.trim_matches('/') {
                "$uri" => Cow::Borrowed(&*path.names),
                other => Cow::Owned(other.replace("$uri", &path.names).trim_end_matches('/').to_owned()),
            };
            // What ends with a slash is no file of that name.
            if !directory && path.directory && candidate.ends_with("$uri") {
                continue;
            }
            // What is not there as a file is no directory.
            if directory && absent.as_ref() == Some(&names) {
                continue;
            }
            let found = if directory {
                self.directory(&names, path.directory, accepted, patience)?
            } else {
                let found = self.file(&names, accepted, patience)?;
                found.unwrap_or_else(|| {
                    absent = Some(names);
                    Found::Nothing
                })
            };
            if !matches!(found, Found::Nothing) {
                return Ok(found);
            }
        }
        Ok(Found::Nothing)
    }

    fn get(&self, names: &str, patience: Patience) -> io::Result<Option<Opened>> {
        match self.root.get(names, patience) {
            Ok(opened) => Ok(Some(opened)),
            Err(error) => match Errno::from_io_error(&error) {
                // EXDEV: a link leads out of the root. ELOOP: links lead to each other, or are not followed.
                Some(Errno::NOENT | Errno::NOTDIR | Errno::XDEV | Errno::LOOP | Errno::NAMETOOLONG) => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn directory(&self, names: &str, slash: bool, accepted: Accepted, patience: Patience) -> io::Result<Found> {
        let Some(Opened::Directory(directory)) = self.get(names, patience)? else { return Ok(Found::Nothing) };
        for index in &self.config.index {
            let file = if names.is_empty() { index.clone() } else { format!("{names}/{index}") };
            match self.file(&file, accepted, patience)? {
                None | Some(Found::Nothing) => {}
                Some(found) => return Ok(if slash { found } else { Found::Directory }),
            }
        }
        if !self.config.listing {
            return Ok(Found::Nothing);
        }
        if !slash {
            return Ok(Found::Directory);
        }
        self.listing(directory, names, patience)
    }

    /// Reading a directory may wait for the disk, and there is no way to tell.
    fn listing(&self, directory: OwnedFd, names: &str, patience: Patience) -> io::Result<Found> {
        if patience == Patience::Cached {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        listing::html(&self.root, directory, names).map(Found::Listing)
    }

    /// What is to be sent of a file; `None` where there is nothing of that name.
    fn file(&self, names: &str, accepted: Accepted, patience: Patience) -> io::Result<Option<Found>> {
        if is_code(names) || self.config.denied.iter().any(|pattern| fits(pattern, names)) {
            return Ok(Some(Found::Nothing));
        }
        let (file, identity) = match self.get(names, patience)? {
            Some(Opened::File(file, identity)) => (file, identity),
            Some(Opened::Directory(_)) => return Ok(Some(Found::Nothing)),
            None => return Ok(None),
        };
        let kind = if self.config.second { types::plain(Path::new(names)) } else { types::of(Path::new(names)) };
        let varies = self.config.precompressed && is_compressible(kind.as_bytes());
        if varies {
            for coding in accepted.by_preference() {
                let Some(extension) = coding.extension() else { continue };
                let coded = format!("{names}{extension}");
                // One that is older than the file is of an earlier one.
                if let Some(Opened::File(file, of_coded)) = self.get(&coded, patience)?
                    && of_coded.modified >= identity.modified
                {
                    return self.page(coded, names, file, of_coded, kind, (varies, Some(coding)), patience).map(Some);
                }
            }
        }
        self.page(names.to_owned(), names, file, identity, kind, (varies, None), patience).map(Some)
    }

    #[expect(clippy::too_many_arguments, reason = "what was found, in the order it is found")]
    fn page(
        &self,
        names: String,
        shown: &str,
        file: File,
        identity: Identity,
        kind: String,
        (varies, coding): (bool, Option<Coding>),
        patience: Patience,
    ) -> io::Result<Found> {
        let body = match identity.len {
            len @ 0..=SMALL => Some(read(&file, len as usize, patience)?),
            _ => None,
        };
        let modified = identity.modified_seconds();
        let etag = etag(identity.modified, identity.len);
        let mut lines = Vec::with_capacity(160);
        let mut field = |name: &str, value: &[u8]| {
            for piece in [name.as_bytes(), b": ", value, b"\r\n"] {
                lines.extend_from_slice(piece);
            }
        };
        field("Last-Modified", &imf_fixdate(modified));
        field("ETag", etag.as_bytes());
        if let Some(coding) = coding {
            field("Content-Encoding", coding.name().as_bytes());
        }
        if varies {
            field("Vary", b"Accept-Encoding");
        }
        if let Some((_, value)) = self.config.cache_control.iter().find(|(pattern, _)| fits(pattern, shown)) {
            field("Cache-Control", value.as_bytes());
        }
        let file = body.is_none().then_some(file);
        let page = Page { body, len: identity.len, modified, etag, lines, kind, names, identity };
        Ok(Found::Page(page, file))
    }

    /// Whether a page in memory is still what its name leads to; `false` where the disk would have to be asked, too.
    pub(super) fn is_current(&self, page: &Page) -> bool {
        matches!(self.get(&page.names, Patience::Cached), Ok(Some(Opened::File(_, now))) if now == page.identity)
    }
}

/// Reads a whole file. One that became shorter meanwhile is an error.
fn read(file: &File, len: usize, patience: Patience) -> io::Result<Box<[u8]>> {
    if patience == Patience::Cached {
        return cached::read_exact(file, len).map(Vec::into_boxed_slice);
    }
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes.into_boxed_slice())
}

/// Whether a file of that name holds code for PHP.
pub(crate) fn is_code(names: &str) -> bool {
    let extension = Path::new(names).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    CODE.iter().any(|code| code.eq_ignore_ascii_case(extension))
}
