//! A multipart form: fields into memory, files to disk as they arrive.
//!
//! Writing goes to the page cache and is done on the worker's own thread: a hand-over to another thread costs more than
//! the copy.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use apus_proto::form::{Kind, kind};
use apus_proto::http1::Reject;
use apus_proto::multipart::{self, Ending, Event, Multipart, PartHead};

use super::temp::TempFile;
use super::{Collected, UploadError, UploadedFile};
use crate::config::Config;
use crate::request::Inner;

/// A form field of this name limits the files that follow it, as in PHP.
const MAX_FILE_SIZE: &[u8] = b"MAX_FILE_SIZE";
/// Bytes that every field costs besides its name and value.
const FIELD_COST: usize = 64;

/// What a form may cost, of the port's configuration.
struct Limits {
    dir: PathBuf,
    store_files: bool,
    max_file: u64,
    max_files: u32,
    max_fields: u32,
    /// Bytes left for fields.
    memory: usize,
}

/// A form being read.
pub(crate) struct Form {
    parser: Multipart,
    sink: Sink,
}

/// What was read so far.
struct Sink {
    limits: Limits,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
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
    Field {
        name: Vec<u8>,
        value: Vec<u8>,
    },
    /// The last of `files`; `None` once it failed.
    File(Option<File>),
}

impl Form {
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
            store_files: config.store_files,
            max_file: config.max_file,
            max_files: config.max_files,
            max_fields: config.max_fields,
            memory: config.max_form_memory,
        };
        let sink =
            Sink { limits, fields: Vec::new(), files: Vec::new(), uploads: 0, form_max_file: None, part: Part::Skip };
        Ok(Some(Self { parser, sink }))
    }

    /// Takes bytes of the body.
    pub(crate) fn feed(&mut self, mut input: &[u8]) -> Result<(), Reject> {
        loop {
            let (used, event) = self.parser.feed(input).map_err(reject)?;
            match event {
                Event::PartBegin(head) => self.sink.begin(head)?,
                Event::Data(data) => self.sink.data(data)?,
                Event::PartEnd => self.sink.end(),
                Event::NeedMore | Event::End => return Ok(()),
            }
            input = &input[used..];
        }
    }

    /// The body is over. As in PHP, a part that was cut counts with what it has: a field as it is, a file as partial.
    pub(crate) fn finish(mut self) -> Collected {
        if let Ending::InPart { cut } = self.parser.finish() {
            if cut && matches!(self.sink.part, Part::File(Some(_))) {
                self.sink.fail(UploadError::Partial);
            }
            self.sink.end();
        }
        Collected::Form { fields: self.sink.fields, files: self.sink.files }
    }
}

impl Sink {
    fn begin(&mut self, head: &PartHead) -> Result<(), Reject> {
        self.charge(head.name.len() + FIELD_COST)?;
        self.part = match &head.filename {
            Some(filename) => self.begin_file(head, filename)?,
            None if self.fields.len() >= self.limits.max_fields as usize => Part::Skip,
            None => Part::Field { name: head.name.clone(), value: Vec::new() },
        };
        Ok(())
    }

    fn begin_file(&mut self, head: &PartHead, filename: &[u8]) -> Result<Part, Reject> {
        if !self.limits.store_files || (!filename.is_empty() && self.uploads >= self.limits.max_files) {
            return Ok(Part::Skip);
        }
        self.charge(filename.len() + head.content_type.len())?;
        let (tmp, file, error) = if filename.is_empty() {
            (None, None, UploadError::NoFile)
        } else {
            self.uploads += 1;
            match TempFile::create(&self.limits.dir) {
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

    fn data(&mut self, data: &[u8]) -> Result<(), Reject> {
        if matches!(self.part, Part::Field { .. }) {
            self.charge(data.len())?;
        }
        match &mut self.part {
            Part::Skip | Part::File(None) => {}
            Part::Field { value, .. } => value.extend_from_slice(data),
            Part::File(Some(file)) => {
                let Some(entry) = self.files.last_mut() else { return Ok(()) };
                let size = entry.size + data.len() as u64;
                let error = if size > self.limits.max_file {
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
        if let Part::Field { name, value } = std::mem::replace(&mut self.part, Part::Skip) {
            if name.eq_ignore_ascii_case(MAX_FILE_SIZE) {
                self.form_max_file = std::str::from_utf8(&value).ok().and_then(|n| n.trim().parse().ok());
            }
            self.fields.push((name, value));
        }
    }

    /// Counts memory that the form takes.
    fn charge(&mut self, bytes: usize) -> Result<(), Reject> {
        let left = self.limits.memory.checked_sub(bytes);
        self.limits.memory = left.ok_or(Reject::new(413, "the form's fields take more memory than allowed"))?;
        Ok(())
    }
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
    use super::*;

    fn config() -> Config {
        Config { max_file: 10, max_files: 2, max_fields: 2, max_form_memory: 2000, ..Config::default() }
    }

    fn read(config: &Config, body: &str, step: usize) -> Result<Collected, Reject> {
        let bytes = b"content-type: multipart/form-data; boundary=b";
        let inner = Inner { bytes: bytes.to_vec(), head: head_with(bytes) };
        let mut form = Form::of(&inner, config)?.expect("multipart");
        for piece in body.replace('\n', "\r\n").as_bytes().chunks(step) {
            form.feed(piece)?;
        }
        Ok(form.finish())
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
            assert_eq!(fields, [(b"a".to_vec(), b"1".to_vec()), (b"b".to_vec(), Vec::new())]);
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
    fn a_kept_file_stays() {
        let Ok(Collected::Form { files, .. }) = read(&config(), &(file("f", "x", "kept") + "--b--"), 64) else {
            panic!("not a form")
        };
        let path = files[0].tmp.as_ref().unwrap().keep().to_owned();
        drop(files);
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
        std::fs::remove_file(path).unwrap();
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
    fn files_are_skipped_when_they_are_not_wanted() {
        let without = Config { store_files: false, ..config() };
        let body = file("f", "x", "c") + &field("a", "1") + "--b--";
        let Ok(Collected::Form { fields, files }) = read(&without, &body, 64) else { panic!("not a form") };
        assert_eq!((fields.len(), files.len()), (1, 0));
    }
}
