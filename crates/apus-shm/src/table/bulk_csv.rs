//! Loading rows from comma-separated values (RFC 4180), or values separated by another byte.
//!
//! A field that begins with a quote ends with one; within it a quote is written twice. A quote anywhere else, or one
//! that is never closed, is an error: it is the sign of a source that would be understood wrongly. Lines end with LF,
//! CR LF or CR; empty ones count for nothing.

use std::io::Read;

use super::bulk::{Load, Loaded, Part, ROW_LONGEST, Source};
use super::schema::{Cell, Keys, Kind, Mode};
use super::{Table, TableError};

/// How the values are to be read.
#[derive(Debug, Clone, Copy)]
pub struct CsvOptions<'a> {
    /// What the fields of a line are: the key's name, names of columns, or empty for a field that is passed over. None:
    /// the first line names them.
    pub columns: Option<&'a [&'a str]>,
    /// The name of the field that is the row's key.
    pub key: &'a str,
    /// The byte between two fields.
    pub separator: u8,
    /// What to do with rows that are there, or are not.
    pub mode: Mode,
    /// Longest row, in bytes.
    pub row_longest: usize,
}

impl Default for CsvOptions<'_> {
    fn default() -> Self {
        Self { columns: None, key: "id", separator: b',', mode: Mode::Upsert, row_longest: ROW_LONGEST }
    }
}

impl Table {
    /// Loads rows from CSV. Columns that no field is named after become 0 or empty in new rows. `progress` as in
    /// [`load_json`](Self::load_json).
    pub fn load_csv(
        &self,
        source: impl Read,
        options: &CsvOptions<'_>,
        progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Loaded, TableError> {
        if matches!(options.separator, b'"' | b'\n' | b'\r') {
            return Err(TableError::File("the separator must not be a quote or a line's end".into()));
        }
        let source = Source::new(source, options.row_longest);
        let mut reader = Reader { source, separator: options.separator, line: 1, after_cr: false };
        reader.pass_mark()?;
        let mut load = Load::new(self, options.key, options.mode, progress);
        let mut record = Record::default();
        let mut parts = None;
        if let Some(names) = options.columns {
            parts = Some(resolve(&load, names.iter().map(|name| name.as_bytes()), 1)?);
        }
        let mut values = Vec::new();
        while reader.read(&mut record)? {
            let line = record.line;
            let Some(parts) = &parts else {
                parts = Some(resolve(&load, (0..record.ends.len()).map(|at| record.field(at)), line)?);
                continue;
            };
            values.clear();
            let place = || format!("line {line}");
            let key = row(&load, parts, &record, &mut values).map_err(|why| load.error(&place(), &why))?;
            // The record's borrow ends with the row.
            let cells: Vec<_> = values.iter().map(|(column, value)| (*column, value.cell(&record))).collect();
            load.row(key.cell(&record), &cells, place)?;
            if !load.goes_on(reader.source.offset) {
                break;
            }
        }
        Ok(load.end(reader.source.offset))
    }
}

/// A line's fields, without their quotes.
#[derive(Debug, Default)]
struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Where it starts; the first line is 1.
    line: u64,
}

impl Record {
    fn field(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }
}

/// Where the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// At the start of a field.
    Start,
    /// In one without quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind a quote that closes, or is the first of two.
    Closed,
}

struct Reader<R> {
    source: Source<R>,
    separator: u8,
    line: u64,
    /// The line before ended with CR: an LF belongs to that.
    after_cr: bool,
}

impl<R: Read> Reader<R> {
    /// Passes over a byte order mark, as some programs write it.
    fn pass_mark(&mut self) -> Result<(), TableError> {
        while self.source.rest().len() < 3 && self.source.more()? {}
        if self.source.rest().starts_with(b"\xef\xbb\xbf") {
            self.source.pass(3);
        }
        Ok(())
    }

    /// Reads the next line that is not empty. False: there is none.
    fn read(&mut self, record: &mut Record) -> Result<bool, TableError> {
        record.bytes.clear();
        record.ends.clear();
        record.line = self.line;
        let mut at = At::Start;
        loop {
            if self.source.rest().is_empty() && !self.source.more()? {
                return end(at, record);
            }
            if std::mem::take(&mut self.after_cr) && self.source.rest()[0] == b'\n' {
                self.source.pass(1);
                continue;
            }
            if self.part(&mut at, record)? {
                if record.ends.len() > 1 || !record.bytes.is_empty() {
                    return Ok(true);
                }
                record.ends.clear();
                record.line = self.line;
                at = At::Start;
            }
            if record.bytes.len() > self.source.longest {
                return Err(error(
                    record,
                    &format!("it is longer than {} bytes; is a quote not closed?", self.source.longest),
                ));
            }
        }
    }

    /// Goes through what is in memory, to the end of the line at most. True: the line is complete.
    fn part(&mut self, at: &mut At, record: &mut Record) -> Result<bool, TableError> {
        let rest = &self.source.buffer[self.source.start..self.source.end];
        let (mut passed, mut fault, mut complete) = (0, None, false);
        for byte in rest {
            passed += 1;
            match (*at, *byte) {
                (At::Start, b'"') => *at = At::Quoted,
                (At::Quoted, b'"') => *at = At::Closed,
                (At::Closed, b'"') => {
                    record.bytes.push(b'"');
                    *at = At::Quoted;
                }
                (At::Plain, b'"') => fault = Some("a quote stands in a field that does not begin with one"),
                (At::Quoted, byte) => {
                    record.bytes.push(byte);
                    self.line += u64::from(byte == b'\n');
                }
                (_, byte) if byte == self.separator => {
                    record.ends.push(record.bytes.len());
                    *at = At::Start;
                }
                (_, b'\n' | b'\r') => {
                    record.ends.push(record.bytes.len());
                    self.line += 1;
                    self.after_cr = *byte == b'\r';
                    complete = true;
                }
                (At::Closed, _) => fault = Some("something follows a closing quote"),
                (At::Start | At::Plain, byte) => {
                    record.bytes.push(byte);
                    *at = At::Plain;
                }
            }
            if complete || fault.is_some() {
                break;
            }
        }
        self.source.pass(passed);
        fault.map_or(Ok(complete), |why| Err(error(record, why)))
    }
}

/// The source has ended.
fn end(at: At, record: &mut Record) -> Result<bool, TableError> {
    match at {
        At::Quoted => Err(error(record, "a quote is not closed")),
        At::Start if record.ends.is_empty() => Ok(false),
        At::Start | At::Plain | At::Closed => {
            record.ends.push(record.bytes.len());
            Ok(true)
        }
    }
}

fn error(record: &Record, why: &str) -> TableError {
    TableError::File(format!("line {}: {why}", record.line))
}

/// A value of a record: a number, or the text of a field.
#[derive(Debug, Clone, Copy)]
enum Value {
    Int(i64),
    Float(f64),
    Field(usize),
}

impl Value {
    fn cell(self, record: &Record) -> Cell<'_> {
        match self {
            Self::Int(value) => Cell::Int(value),
            Self::Float(value) => Cell::Float(value),
            Self::Field(at) => Cell::Text(record.field(at)),
        }
    }
}

/// What each field is. One of them must be the key.
fn resolve<'a, P: FnMut(u64, u64) -> bool>(
    load: &Load<'_, P>,
    names: impl Iterator<Item = &'a [u8]>,
    line: u64,
) -> Result<Vec<Part>, TableError> {
    let mut parts: Vec<Part> = Vec::new();
    for name in names {
        let unknown = || TableError::File(format!("line {line}: the table has no column \"{}\"", name.escape_ascii()));
        let part = match std::str::from_utf8(name) {
            Ok("") => Part::default(),
            Ok(name) => load.part(name).ok_or_else(unknown)?,
            Err(_) => return Err(unknown()),
        };
        if part != Part::default() && parts.contains(&part) {
            return Err(TableError::File(format!("line {line}: \"{}\" is there twice", name.escape_ascii())));
        }
        parts.push(part);
    }
    if parts.iter().any(|part| part.key) {
        return Ok(parts);
    }
    Err(TableError::File(format!("line {line}: no field is named \"{}\", which is the key", load.key_name())))
}

/// A record's cells and key.
fn row<P: FnMut(u64, u64) -> bool>(
    load: &Load<'_, P>,
    parts: &[Part],
    record: &Record,
    cells: &mut Vec<(usize, Value)>,
) -> Result<Value, String> {
    let schema = load.table().schema();
    if record.ends.len() != parts.len() {
        return Err(format!("it has {} fields, {} are named", record.ends.len(), parts.len()));
    }
    let mut key = Value::Int(-1);
    for (at, part) in parts.iter().enumerate() {
        let field = record.field(at);
        if part.key {
            key = match schema.keys {
                Keys::Text { .. } => Value::Field(at),
                Keys::Ids { .. } => Value::Int(parse(field, load.key_name(), "an integer")?),
            };
        }
        if let Some(number) = part.column {
            let column = &schema.columns[number];
            cells.push((
                number,
                match column.kind {
                    Kind::Int { .. } => Value::Int(parse(field, &column.name, "an integer")?),
                    Kind::Float => Value::Float(parse(field, &column.name, "a number")?),
                    Kind::Text { .. } | Kind::Dictionary { .. } => Value::Field(at),
                },
            ));
        }
    }
    Ok(key)
}

fn parse<T: std::str::FromStr>(field: &[u8], name: &str, what: &str) -> Result<T, String> {
    let value = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    value.ok_or_else(|| {
        let shown = field[..field.len().min(40)].escape_ascii();
        format!("\"{name}\" must be {what} (of 64 bits), not \"{shown}\"")
    })
}
