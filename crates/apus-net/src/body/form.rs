//! A multipart form: fields into memory, files to disk as they arrive.
//!
//! Writing goes to the page cache and is done on the worker's own thread: a hand-over to another thread costs more than
//! the copy.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

use apus_proto::form::{Kind, kind};
use apus_proto::http1::Reject;
use apus_proto::multipart::{self, Ending, Event, Multipart, PartHead};
use bytes::Bytes;

use super::collect::NO_MEMORY;
use super::decode::TOO_LARGE;
use super::spool::Spool;
use super::temp::TempFile;
use super::{Collected, UploadError, UploadedFile};
use crate::account::{Share, leaving_reserve};
use crate::config::Config;
use crate::head_bytes::Inner;

/// A form field of this name limits the files that follow it, as in PHP.
const MAX_FILE_SIZE: &[u8] = b"MAX_FILE_SIZE";
/// Bytes that every field costs besides its name and value.
const FIELD_COST: usize = 64;
/// A number in a form field is not longer, bytes.
const MAX_NUMBER: usize = 32;

/// What a form may cost, of the port's configuration.
struct Limits {
    dir: PathBuf,
    /// Whether the names of files there are as code written for Swoole knows them.
    named_there: bool,
    store_files: bool,
    max_file: u64,
    refuses_large_files: bool,
    max_files: u32,
    max_fields: u32,
    /// Bytes left for fields.
    memory: usize,
    /// Bytes that all bodies of the worker together may take.
    incoming: usize,
}

/// A form being read.
pub(crate) struct Form {
    parser: Multipart,
    sink: Sink,
}

/// What was read so far.
struct Sink {
    limits: Limits,
    /// Name and value; the value of the current field grows.
    fields: Vec<(Text, Text)>,
    /// Where names and values go when the worker has no memory left.
    spool: Option<Spool>,
    files: Vec<UploadedFile>,
    /// Files that count against `max_files`: those with a name.
    uploads: u32,
    /// The form's own limit, once its field was seen.
    form_max_file: Option<u64>,
    part: Part,
}

/// Where the current part's bytes go.
enum Part {
    Skip,
    /// The last of `fields`.
    Field,
    /// The last of `files`; `None` once it failed.
    File(Option<File>),
}

/// Bytes in memory, or where they are in the file.
enum Text {
    Kept(Vec<u8>),
    Spooled(Range<usize>),
}

impl Text {
    fn len(&self) -> usize {
        match self {
            Self::Kept(bytes) => bytes.len(),
            Self::Spooled(at) => at.len(),
        }
    }

    fn into_bytes(self, spooled: &Bytes) -> Bytes {
        match self {
            Self::Kept(bytes) => bytes.into(),
            Self::Spooled(at) => spooled.slice(at),
        }
    }
}

impl Form {
    /// How long a request's body may be: files may have more room than what stays in memory.
    pub(crate) fn max_body(inner: &Inner, config: &Config) -> u64 {
        if config.max_form == config.max_body || config.stream_body || !config.parse_multipart {
            return config.max_body;
        }
        let content_type = inner.head.header(&inner.bytes, b"content-type").unwrap_or_default();
        if kind(content_type) == Kind::Multipart { config.max_form } else { config.max_body }
    }

    /// A form for a request whose content type asks for one; `None` for any other.
    pub(crate) fn of(inner: &Inner, config: &Config) -> Result<Option<Self>, Reject> {
        let content_type = inner.head.header(&inner.bytes, b"content-type").unwrap_or_default();
        if kind(content_type) != Kind::Multipart {
            return Ok(None);
        }
        let limits = multipart::Limits { max_parts: config.max_parts as usize, ..multipart::Limits::default() };
        let parser =
            multipart::boundary(content_type).and_then(|boundary| Multipart::new(boundary, limits)).map_err(reject)?;
        let limits = Limits {
            dir: config.upload_dir.clone(),
            named_there: config.lenient,
            store_files: config.store_files,
            max_file: config.max_file,
            refuses_large_files: config.refuses_large_files,
            max_files: config.max_files,
            max_fields: config.max_fields,
            memory: config.max_form_memory,
            incoming: config.max_incoming,
        };
        let sink = Sink {
            limits,
            fields: Vec::new(),
            spool: None,
            files: Vec::new(),
            uploads: 0,
            form_max_file: None,
            part: Part::Skip,
        };
        Ok(Some(Self { parser, sink }))
    }

    /// Takes bytes of the body.
    pub(crate) fn feed(&mut self, mut input: &[u8], share: &mut Share) -> Result<(), Reject> {
        loop {
            let (used, event) = self.parser.feed(input).map_err(reject)?;
            match event {
                Event::PartBegin(head) => self.sink.begin(head, share)?,
                Event::Data(data) => self.sink.data(data, share)?,
                Event::PartEnd => self.sink.end(),
                Event::NeedMore | Event::End => return Ok(()),
            }
            input = &input[used..];
        }
    }

    /// The body is over. As in PHP, a part that was cut counts with what it has: a field as it is, a file as partial.
    pub(crate) fn finish(mut self) -> Result<Collected, Reject> {
        if let Ending::InPart { cut } = self.parser.finish() {
            if cut && matches!(self.sink.part, Part::File(Some(_))) {
                self.sink.fail(UploadError::Partial);
            }
            self.sink.end();
        }
        let Sink { fields, spool, files, .. } = self.sink;
        let spooled = spool.map_or_else(|| Ok(Bytes::new()), Spool::map).map_err(|_| NO_MEMORY)?;
        let fields = fields.into_iter().map(|(name, value)| (name.into_bytes(&spooled), value.into_bytes(&spooled)));
        Ok(Collected::Form { fields: fields.collect(), files })
    }
}

impl Sink {
    fn begin(&mut self, head: &PartHead, share: &mut Share) -> Result<(), Reject> {
        self.charge(head.name.len() + FIELD_COST)?;
        self.part = match &head.filename {
            Some(filename) => self.begin_file(head, filename, share)?,
            None if self.fields.len() >= self.limits.max_fields as usize => Part::Skip,
            None => {
                self.keep_always(FIELD_COST, share)?;
                let empty = || self.spool.as_ref().map_or(Text::Kept(Vec::new()), |s| Text::Spooled(s.end()..s.end()));
                let (name, value) = (empty(), empty());
                self.fields.push((name, value));
                self.append(&head.name, share, |field| &mut field.0)?;
                if let (Some(spool), Some((_, value))) = (&self.spool, self.fields.last_mut()) {
                    *value = Text::Spooled(spool.end()..spool.end());
                }
                Part::Field
            }
        };
        Ok(())
    }

    /// Adds to the name or value of the last field. What is added to in a file is its last.
    fn append(
        &mut self,
        bytes: &[u8],
        share: &mut Share,
        which: impl Fn(&mut (Text, Text)) -> &mut Text,
    ) -> Result<(), Reject> {
        if self.spool.is_none() && !share.take(bytes.len(), leaving_reserve(self.limits.incoming)) {
            self.begin_spool(share).map_err(|_| self.no_room(share))?;
        }
        let Some(text) = self.fields.last_mut().map(which) else { return Ok(()) };
        match (text, &mut self.spool) {
            (Text::Kept(kept), _) => kept.extend_from_slice(bytes),
            (Text::Spooled(at), Some(spool)) => match spool.append(bytes) {
                Ok(added) => at.end = added.end,
                Err(_) => return Err(self.no_room(share)),
            },
            (Text::Spooled(_), None) => {}
        }
        Ok(())
    }

    /// Moves the fields to a file, where they go on.
    #[cold]
    fn begin_spool(&mut self, share: &mut Share) -> io::Result<()> {
        let mut spool = Spool::create(&self.limits.dir)?;
        for text in self.fields.iter_mut().flat_map(|(name, value)| [name, value]) {
            if let Text::Kept(bytes) = text {
                let at = spool.append(bytes)?;
                share.give(bytes.len());
                *text = Text::Spooled(at);
            }
        }
        self.spool = Some(spool);
        Ok(())
    }

    /// Takes memory for what cannot go to a file; what can makes room for it.
    fn keep_always(&mut self, bytes: usize, share: &mut Share) -> Result<(), Reject> {
        let bound = self.limits.incoming;
        let room = share.take(bytes, bound)
            || (self.spool.is_none() && self.begin_spool(share).is_ok() && share.take(bytes, bound));
        if room { Ok(()) } else { Err(self.no_room(share)) }
    }

    /// Neither memory nor a file can be had.
    #[cold]
    fn no_room(&self, share: &Share) -> Reject {
        share.press(self.limits.incoming);
        NO_MEMORY
    }

    fn begin_file(&mut self, head: &PartHead, filename: &[u8], share: &mut Share) -> Result<Part, Reject> {
        if !has_closed_brackets(&head.name) {
            return Ok(Part::Skip);
        }
        if !self.limits.store_files || (!filename.is_empty() && self.uploads >= self.limits.max_files) {
            return Ok(Part::Skip);
        }
        self.charge(filename.len() + head.content_type.len())?;
        self.keep_always(head.name.len() + filename.len() + head.content_type.len() + FIELD_COST, share)?;
        let (tmp, file, error) = if filename.is_empty() {
            (None, None, UploadError::NoFile)
        } else {
            self.uploads += 1;
            match TempFile::create(&self.limits.dir, self.limits.named_there) {
                Ok((tmp, file)) => (Some(tmp), Some(file), UploadError::Ok),
                Err(error) if error.kind() == io::ErrorKind::NotFound => (None, None, UploadError::NoTmpDir),
                Err(_) => (None, None, UploadError::CantWrite),
            }
        };
        self.files.push(UploadedFile {
            field: head.name.clone(),
            filename: filename.to_vec(),
            content_type: head.content_type.clone(),
            tmp,
            size: 0,
            error,
        });
        Ok(Part::File(file))
    }

    fn data(&mut self, data: &[u8], share: &mut Share) -> Result<(), Reject> {
        match &mut self.part {
            Part::Skip | Part::File(None) => {}
            Part::Field => {
                self.charge(data.len())?;
                self.append(data, share, |field| &mut field.1)?;
            }
            Part::File(Some(file)) => {
                let Some(entry) = self.files.last_mut() else { return Ok(()) };
                let size = entry.size + data.len() as u64;
                let error = if size > self.limits.max_file {
                    if self.limits.refuses_large_files {
                        return Err(TOO_LARGE);
                    }
                    UploadError::IniSize
                } else if self.form_max_file.is_some_and(|max| size > max) {
                    UploadError::FormSize
                } else if file.write_all(data).is_err() {
                    UploadError::CantWrite
                } else {
                    entry.size = size;
                    return Ok(());
                };
                self.fail(error);
            }
        }
        Ok(())
    }

    /// The current file is given up: what is on disk goes.
    fn fail(&mut self, error: UploadError) {
        if let Some(entry) = self.files.last_mut() {
            entry.error = error;
            entry.size = 0;
            entry.tmp = None;
        }
        self.part = Part::File(None);
    }

    fn end(&mut self) {
        if !matches!(std::mem::replace(&mut self.part, Part::Skip), Part::Field) {
            return;
        }
        let Some((name, value)) = self.fields.last() else { return };
        if self.is(name, MAX_FILE_SIZE) {
            let number = self.short(value, MAX_NUMBER);
            self.form_max_file = number.and_then(|n| std::str::from_utf8(&n).ok().and_then(|n| n.trim().parse().ok()));
        }
    }

    fn is(&self, text: &Text, word: &[u8]) -> bool {
        text.len() == word.len() && self.short(text, word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word))
    }

    /// A text of at most so many bytes.
    fn short(&self, text: &Text, max: usize) -> Option<Vec<u8>> {
        match text {
            _ if text.len() > max => None,
            Text::Kept(bytes) => Some(bytes.clone()),
            Text::Spooled(at) => self.spool.as_ref()?.read(at.clone()).ok(),
        }
    }

    /// Counts memory that the form takes.
    fn charge(&mut self, bytes: usize) -> Result<(), Reject> {
        let left = self.limits.memory.checked_sub(bytes);
        self.limits.memory = left.ok_or(Reject::new(413, "the form's fields take more memory than allowed"))?;
        Ok(())
    }
}

/// Whether the brackets in a file's field name are sound: each closed, and after a closed one the end or the next. PHP
/// drops other files.
fn has_closed_brackets(name: &[u8]) -> bool {
    let mut open = 0usize;
    for (at, byte) in name.iter().enumerate() {
        match byte {
            b'[' => open += 1,
            b']' if open == 0 || !matches!(name.get(at + 1), None | Some(b'[')) => return false,
            b']' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

fn reject(error: multipart::Error) -> Reject {
    let reason = match error {
        multipart::Error::MissingBoundary => "multipart body without a boundary",
        multipart::Error::TooManyParts => "too many parts in a multipart body",
        _ => "malformed multipart body",
    };
    Reject::new(error.status(), reason)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::account::tests::share;

    fn config() -> Config {
        Config { max_file: 10, max_files: 2, max_fields: 2, max_form_memory: 2000, ..Config::default() }
    }

    fn read(config: &Config, body: &str, step: usize) -> Result<Collected, Reject> {
        let bytes = b"content-type: multipart/form-data; boundary=b";
        let inner = Inner::of(bytes, head_with(bytes));
        let mut form = Form::of(&inner, config)?.expect("multipart");
        let account = Rc::default();
        let (_holder, mut share) = share(&account);
        for piece in body.replace('\n', "\r\n").as_bytes().chunks(step) {
            form.feed(piece, &mut share)?;
        }
        assert!(account.used() <= config.max_incoming);
        form.finish()
    }

    fn head_with(bytes: &[u8]) -> apus_proto::http1::RequestHead {
        let span = |start: usize, end: usize| apus_proto::http1::Span { start: start as u32, end: end as u32 };
        apus_proto::http1::RequestHead { headers: vec![(span(0, 12), span(14, bytes.len()))], ..Default::default() }
    }

    fn file(name: &str, filename: &str, content: &str) -> String {
        format!(
            "--b\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\nContent-Type: text/x\n\n{content}\n"
        )
    }

    fn field(name: &str, value: &str) -> String {
        format!("--b\nContent-Disposition: form-data; name=\"{name}\"\n\n{value}\n")
    }

    #[test]
    fn fields_and_files_in_pieces_of_any_size() {
        let body = field("a", "1") + &file("f", "x.txt", "content") + &field("b", "") + "--b--\n";
        for step in [1, 2, 7, 4096] {
            let Ok(Collected::Form { fields, files }) = read(&config(), &body, step) else { panic!("not a form") };
            assert_eq!(
                fields,
                [(Bytes::from_static(b"a"), Bytes::from_static(b"1")), (Bytes::from_static(b"b"), Bytes::new())]
            );
            assert_eq!(files.len(), 1);
            let entry = &files[0];
            assert_eq!((entry.error, entry.size), (UploadError::Ok, 7));
            assert_eq!((&entry.filename[..], &entry.content_type[..]), (&b"x.txt"[..], &b"text/x"[..]));
            let path = entry.tmp.as_ref().unwrap().path().to_owned();
            assert_eq!(std::fs::read(&path).unwrap(), b"content");
            drop(files);
            assert!(!path.exists(), "removed with the request");
        }
    }

    #[test]
    fn fields_go_to_a_file_when_there_is_no_memory_and_come_out_the_same() {
        let long = "0123456789".repeat(30);
        let body = field("first", "1") + &field("empty", "") + &field("long", &long) + &file("f", "x", "ten");
        let body = body + &field("MAX_FILE_SIZE", "3") + &field("", "nameless") + &file("f", "x", "four") + "--b--";
        let plenty = Config { max_fields: 10, ..config() };
        let Ok(Collected::Form { fields: expected, .. }) = read(&plenty, &body, 7) else { panic!("not a form") };
        // With 600 bytes the long field finds no room, with 800 it is cut between memory and file.
        for (max_incoming, step) in [(600, 1), (600, 7), (700, 3), (800, 4096)] {
            let scarce = Config { max_incoming, ..plenty.clone() };
            let Collected::Form { fields, files } = read(&scarce, &body, step).unwrap() else { panic!("not a form") };
            assert_eq!(fields, expected, "{max_incoming} {step}");
            assert_eq!((files[0].error, files[1].error), (UploadError::Ok, UploadError::FormSize));
        }
        assert_eq!(expected.len(), 5);
        let none = Config { max_incoming: 100, ..plenty.clone() };
        assert_eq!(read(&none, &body, 64).unwrap_err().status, 503, "fields take memory besides their bytes");
        let nowhere = Config { max_incoming: 600, upload_dir: "/nonexistent/apus".into(), ..plenty };
        assert_eq!(read(&nowhere, &body, 64).unwrap_err().status, 503);
    }

    #[test]
    fn limits_have_phps_codes() {
        let body =
            file("big", "x", "01234567890") + &file("none", "", "") + &file("f", "y", "ok") + &file("g", "z", "third");
        let Ok(Collected::Form { files, .. }) = read(&config(), &(body + "--b--"), 5) else { panic!("not a form") };
        let codes: Vec<_> = files.iter().map(|f| (f.error as u8, f.size)).collect();
        assert_eq!(codes, [(1, 0), (4, 0), (0, 2)], "the third named file is beyond max_files");
        let body = field("MAX_FILE_SIZE", "3") + &file("f", "x", "four") + "--b--";
        let Ok(Collected::Form { files, .. }) = read(&config(), &body, 64) else { panic!("not a form") };
        assert_eq!(files[0].error, UploadError::FormSize);
    }

    #[test]
    fn a_cut_file_is_partial_and_a_missing_directory_is_told() {
        let cut = file("f", "x", "cont");
        let Ok(Collected::Form { files, .. }) = read(&config(), cut.trim_end(), 64) else { panic!("not a form") };
        assert_eq!(files[0].error, UploadError::Partial);
        assert!(files[0].tmp.is_none());
        let nowhere = Config { upload_dir: "/nonexistent/apus".into(), ..config() };
        let Ok(Collected::Form { files, .. }) = read(&nowhere, &(file("f", "x", "c") + "--b--"), 64) else {
            panic!("not a form")
        };
        assert_eq!(files[0].error, UploadError::NoTmpDir);
    }

    #[test]
    fn fields_are_bounded_in_number_and_memory() {
        let body = field("a", "1") + &field("b", "2") + &field("c", "3") + "--b--";
        let Ok(Collected::Form { fields, .. }) = read(&config(), &body, 64) else { panic!("not a form") };
        assert_eq!(fields.len(), 2);
        let error = read(&config(), &(field("a", &"x".repeat(3000)) + "--b--"), 64).unwrap_err();
        assert_eq!(error.status, 413);
    }

    #[test]
    fn files_with_open_brackets_in_their_name_are_dropped() {
        let wide = Config { max_files: 20, ..config() };
        for name in ["f[", "f]", "f[a", "f[a]b", "f[[a]]", "[", "f[a]]", "f]["] {
            let body = file(name, "x", "c") + &field("a", "1") + "--b--";
            let Ok(Collected::Form { fields, files }) = read(&wide, &body, 64) else { panic!("not a form") };
            assert_eq!((fields.len(), files.len()), (1, 0), "{name}");
        }
        for name in ["f", "f[]", "f[a]", "f[a][b]", "[a]", "f[][c]"] {
            let Ok(Collected::Form { files, .. }) = read(&wide, &(file(name, "x", "c") + "--b--"), 64) else {
                panic!("not a form")
            };
            assert_eq!(files.len(), 1, "{name}");
        }
    }

    #[test]
    fn files_are_skipped_when_they_are_not_wanted() {
        let without = Config { store_files: false, ..config() };
        let body = file("f", "x", "c") + &field("a", "1") + "--b--";
        let Ok(Collected::Form { fields, files }) = read(&without, &body, 64) else { panic!("not a form") };
        assert_eq!((fields.len(), files.len()), (1, 0));
    }
}
