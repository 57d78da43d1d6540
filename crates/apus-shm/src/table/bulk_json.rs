//! Loading rows from JSON: an array of objects, alone or under a member of an object, or one object after the other
//! (JSON lines).
//!
//! The source is read in parts. A scanner finds where an object ends, which needs brackets and quotes only; then the
//! object, whole in memory, is parsed straight into cells. So a source of any size needs the memory of one row, and no
//! tree of values is ever built.

use std::cell::RefCell;
use std::fmt;
use std::io::Read;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::bulk::{Field, Load, Loaded, Part, ROW_LONGEST, Source};
use super::schema::{Cell, Mode};
use super::{Table, TableError, bulk_quick};

/// Deepest nesting of what is passed over.
const NESTING: u32 = 128;

/// How JSON is to be read.
#[derive(Debug, Clone, Copy)]
pub struct JsonOptions<'a> {
    /// The member of the outermost object that holds the array of rows. Empty: the source is an array of rows, or rows
    /// one after the other.
    pub member: &'a str,
    /// The member of a row that is its key.
    pub key: &'a str,
    /// What to do with rows that are there, or are not.
    pub mode: Mode,
    /// Longest row, in bytes.
    pub row_longest: usize,
}

impl Default for JsonOptions<'_> {
    fn default() -> Self {
        Self { member: "", key: "id", mode: Mode::Upsert, row_longest: ROW_LONGEST }
    }
}

impl Table {
    /// Loads rows from JSON. Each row is an object with a member for its key and one for each column, and no others.
    /// `progress` gets the rows loaded and the bytes read, every some thousand rows and at the end; false ends the
    /// load. Rows loaded before an error stay.
    pub fn load_json(
        &self,
        source: impl Read,
        options: &JsonOptions<'_>,
        progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Loaded, TableError> {
        let load = Load::new(self, options.key, options.mode, progress);
        let source = Source::new(source, options.row_longest);
        Loader { source, load, names: Vec::new(), scratch: RefCell::default() }.run(options.member)
    }
}

impl<R: Read> Source<R> {
    /// The next byte that is not white space, which stays there.
    fn peek(&mut self) -> Result<Option<u8>, TableError> {
        loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(at) = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                let byte = rest[at];
                self.pass(at);
                return Ok(Some(byte));
            }
            self.pass(self.end - self.start);
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// Passes over this byte, or says what is there in its place.
    fn expect(&mut self, byte: u8, what: &str) -> Result<(), TableError> {
        match self.peek()? {
            Some(found) if found == byte => {
                self.pass(1);
                Ok(())
            }
            found => Err(self.unexpected(found, what)),
        }
    }

    fn unexpected(&self, found: Option<u8>, what: &str) -> TableError {
        let found = found.map_or_else(|| "the end".into(), |byte| format!("\"{}\"", byte.escape_ascii()));
        TableError::File(format!("byte {}: {what} must come here, not {found}", self.offset))
    }

    /// The value that starts here, an object, an array or a string, whole in memory: its length.
    fn value(&mut self) -> Result<usize, TableError> {
        let mut scan = Scan::default();
        let mut scanned = 0;
        loop {
            match scan.feed(&self.buffer[self.start + scanned..self.end]) {
                Fed::End(at) => return Ok(scanned + at),
                Fed::TooDeep => return Err(self.too_deep()),
                Fed::More => {}
            }
            scanned = self.end - self.start;
            if scanned > self.longest {
                return Err(TableError::File(format!(
                    "byte {}: what starts here is longer than {} bytes",
                    self.offset, self.longest
                )));
            }
            if !self.more()? {
                return Err(TableError::File(format!("byte {}: what starts here has no end", self.offset)));
            }
        }
    }

    fn too_deep(&self) -> TableError {
        TableError::File(format!("byte {}: what starts here is nested deeper than {NESTING}", self.offset))
    }

    /// Passes over a value of any kind and length.
    fn skip(&mut self) -> Result<(), TableError> {
        let first = self.peek()?;
        if !matches!(first, Some(b'{' | b'[' | b'"')) {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            if !first.as_ref().is_some_and(is_part) {
                return Err(self.unexpected(first, "a value"));
            }
            while self.start < self.end || self.more()? {
                let rest = &self.buffer[self.start..self.end];
                let len = rest.iter().position(|byte| !is_part(byte));
                self.pass(len.unwrap_or(self.end - self.start));
                if len.is_some() {
                    break;
                }
            }
            return Ok(());
        }
        let mut scan = Scan::default();
        loop {
            match scan.feed(&self.buffer[self.start..self.end]) {
                Fed::End(at) => {
                    self.pass(at);
                    return Ok(());
                }
                Fed::TooDeep => return Err(self.too_deep()),
                Fed::More => self.pass(self.end - self.start),
            }
            if !self.more()? {
                return Err(TableError::File(format!("byte {}: the end comes within a value", self.offset)));
            }
        }
    }
}

/// Looks for the end of an object, array or string.
#[derive(Default)]
struct Scan {
    depth: u32,
    in_string: bool,
    escaped: bool,
}

enum Fed {
    More,
    /// It ends before this place.
    End(usize),
    TooDeep,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) -> Fed {
        for (at, byte) in bytes.iter().enumerate() {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                } else if *byte == b'\\' {
                    self.escaped = true;
                } else if *byte == b'"' {
                    self.in_string = false;
                    if self.depth == 0 {
                        return Fed::End(at + 1);
                    }
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' if self.depth == NESTING => return Fed::TooDeep,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Fed::End(at + 1);
                    }
                }
                _ => {}
            }
        }
        Fed::More
    }
}

struct Loader<'a, R, P> {
    source: Source<R>,
    load: Load<'a, P>,
    /// The members of the row before, in their order: mostly the next row has the same.
    names: Vec<(String, Part)>,
    /// Texts with escapes, in clear.
    scratch: RefCell<Vec<u8>>,
}

impl<R: Read, P: FnMut(u64, u64) -> bool> Loader<'_, R, P> {
    fn run(mut self, member: &str) -> Result<Loaded, TableError> {
        // A byte order mark, as some programs write it.
        if self.source.peek()? == Some(0xef) {
            for byte in [0xef, 0xbb, 0xbf] {
                self.source.expect(byte, "a byte order mark")?;
            }
        }
        let ended = if member.is_empty() { self.outermost()? } else { self.members(member)? };
        if ended && let Some(byte) = self.source.peek()? {
            return Err(self.source.unexpected(Some(byte), "the end"));
        }
        Ok(self.load.end(self.source.offset))
    }

    /// An array of rows, or rows one after the other. False: the load was ended.
    fn outermost(&mut self) -> Result<bool, TableError> {
        match self.source.peek()? {
            Some(b'[') => return self.array(),
            Some(b'{') | None => {}
            found => return Err(self.source.unexpected(found, "an array of rows, or a row")),
        }
        while let Some(byte) = self.source.peek()? {
            if byte != b'{' {
                return Err(self.source.unexpected(Some(byte), "a row"));
            }
            if !self.row()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An object of which one member holds the rows.
    fn members(&mut self, member: &str) -> Result<bool, TableError> {
        self.source.expect(b'{', &format!("an object with the member \"{member}\""))?;
        let mut found = false;
        if self.source.peek()? == Some(b'}') {
            self.source.pass(1);
        } else {
            loop {
                if self.source.peek()? != Some(b'"') {
                    return self.source.expect(b'"', "the name of a member").map(|()| true);
                }
                let len = self.source.value()?;
                let name = &self.source.buffer[self.source.start..self.source.start + len];
                let is_it = serde_json::from_slice::<String>(name).is_ok_and(|name| name == member);
                self.source.pass(len);
                self.source.expect(b':', "a colon")?;
                if !is_it {
                    self.source.skip()?;
                } else if !self.array()? {
                    return Ok(false);
                }
                found |= is_it;
                match self.source.peek()? {
                    Some(b',') => self.source.pass(1),
                    _ => break,
                }
            }
            self.source.expect(b'}', "a comma or the object's end")?;
        }
        if found { Ok(true) } else { Err(TableError::File(format!("there is no member \"{member}\""))) }
    }

    /// An array of rows. False: the load was ended.
    fn array(&mut self) -> Result<bool, TableError> {
        self.source.expect(b'[', "an array of rows")?;
        if self.source.peek()? == Some(b']') {
            self.source.pass(1);
            return Ok(true);
        }
        loop {
            if self.source.peek()? != Some(b'{') {
                return self.source.expect(b'{', "a row").map(|()| true);
            }
            if !self.row()? {
                return Ok(false);
            }
            match self.source.peek()? {
                Some(b',') => self.source.pass(1),
                _ => return self.source.expect(b']', "a comma or the array's end").map(|()| true),
            }
        }
    }

    /// The row that starts here. False: the load was ended.
    fn row(&mut self) -> Result<bool, TableError> {
        let rest = &self.source.buffer[self.source.start..self.source.end];
        let mut cells = Vec::with_capacity(self.names.len());
        if let Some((key, len)) = bulk_quick::row(rest, &self.names, &mut cells)
            && cells.len() == self.load.table().schema().columns.len()
        {
            let offset = self.source.offset;
            self.load.row(key, &cells, || format!("byte {offset}"))?;
            self.source.pass(len);
            return Ok(self.load.goes_on(self.source.offset));
        }
        self.row_of_any_kind()
    }

    fn row_of_any_kind(&mut self) -> Result<bool, TableError> {
        let len = self.source.value()?;
        let bytes = &self.source.buffer[self.source.start..self.source.start + len];
        let offset = self.source.offset;
        let mut row = Row { key: None, cells: Vec::with_capacity(self.load.table().schema().columns.len()) };
        let scratch = &self.scratch;
        scratch.borrow_mut().clear();
        let seed = RowSeed { load: &self.load, names: &mut self.names, scratch, row: &mut row };
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let parsed = seed.deserialize(&mut json).and_then(|()| json.end());
        if let Err(error) = parsed {
            let place = offset + place_of(bytes, error.line(), error.column());
            let text = error.to_string();
            // serde_json says the line and column within the row, which nobody can look up.
            let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(why, _)| why);
            return Err(self.load.error(&format!("byte {place}"), why));
        }
        let place = || format!("byte {offset}");
        let scratch = self.scratch.borrow();
        self.complete(&row, &place)?;
        let cells: Vec<_> = row.cells.iter().map(|(column, field)| (*column, clear_of(*field, &scratch))).collect();
        let Some(key) = row.key.map(|field| clear_of(field, &scratch)) else { return Ok(false) };
        self.load.row(key, &cells, place)?;
        drop(scratch);
        self.source.pass(len);
        Ok(self.load.goes_on(self.source.offset))
    }

    /// Whether a row has all that it must have.
    fn complete(&self, row: &Row<'_>, place: &impl Fn() -> String) -> Result<(), TableError> {
        if row.key.is_none() {
            return Err(self
                .load
                .error(&place(), &format!("it has no member \"{}\", which is its key", self.load.key_name())));
        }
        let columns = &self.load.table().schema().columns;
        if row.cells.len() == columns.len() {
            return Ok(());
        }
        let missing = (0..columns.len()).find(|at| row.cells.iter().all(|(column, _)| column != at));
        missing
            .map_or(Ok(()), |at| Err(self.load.error(&place(), &format!("it has no member \"{}\"", columns[at].name))))
    }
}

fn clear_of<'a>(field: Field<'a>, scratch: &'a [u8]) -> Cell<'a> {
    match field {
        Field::Cell(cell) => cell,
        Field::Copied(from, to) => Cell::Text(&scratch[from..to]),
    }
}

/// Where a line and column (from 1) of a row are, in bytes.
fn place_of(bytes: &[u8], line: usize, column: usize) -> u64 {
    let before: usize =
        bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column.saturating_sub(1)) as u64
}

/// A row as it is parsed.
struct Row<'a> {
    key: Option<Field<'a>>,
    cells: Vec<(usize, Field<'a>)>,
}

struct RowSeed<'a, 'r, 'de, P> {
    load: &'a Load<'r, P>,
    names: &'a mut Vec<(String, Part)>,
    scratch: &'a RefCell<Vec<u8>>,
    row: &'a mut Row<'de>,
}

impl<'de, P: FnMut(u64, u64) -> bool> DeserializeSeed<'de> for RowSeed<'_, '_, 'de, P> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, P: FnMut(u64, u64) -> bool> Visitor<'de> for RowSeed<'_, '_, 'de, P> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { load, names, scratch, row } = self;
        let mut at = 0;
        while let Some(part) = map.next_key_seed(NameSeed { load, names, at })? {
            let name = &names[at].0;
            let field = map.next_value_seed(FieldSeed { name, scratch })?;
            at += 1;
            if part.key && row.key.replace(field).is_some() {
                return Err(A::Error::custom(format_args!("the member \"{name}\" is there twice")));
            }
            if let Some(column) = part.column {
                if names[..at - 1].iter().any(|before| before.1.column == Some(column)) {
                    return Err(A::Error::custom(format_args!("the member \"{name}\" is there twice")));
                }
                row.cells.push((column, field));
            }
        }
        Ok(())
    }
}

/// The name of a member, beside that which the row before had at this place.
struct NameSeed<'a, 'r, P> {
    load: &'a Load<'r, P>,
    names: &'a mut Vec<(String, Part)>,
    at: usize,
}

impl<'de, P: FnMut(u64, u64) -> bool> DeserializeSeed<'de> for NameSeed<'_, '_, P> {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<P: FnMut(u64, u64) -> bool> Visitor<'_> for NameSeed<'_, '_, P> {
    type Value = Part;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Part, E> {
        if let Some((before, part)) = self.names.get(self.at)
            && before == name
        {
            return Ok(*part);
        }
        let Some(part) = self.load.part(name) else {
            return Err(E::custom(format_args!("the table has no column \"{}\"", name.escape_debug())));
        };
        self.names.truncate(self.at);
        self.names.push((name.into(), part));
        Ok(part)
    }
}

/// The value of a member.
struct FieldSeed<'a> {
    name: &'a str,
    scratch: &'a RefCell<Vec<u8>>,
}

impl FieldSeed<'_> {
    fn wrong<T, E: Error>(&self, what: &str) -> Result<T, E> {
        Err(E::custom(format_args!("the member \"{}\" is {what}; a column holds a number or a text", self.name)))
    }
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Field<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = Field<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number or a text")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Field<'de>, E> {
        Ok(Field::Cell(Cell::Int(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Field<'de>, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(Field::Cell(Cell::Int(value))),
            Err(_) => Err(E::custom(format_args!("the member \"{}\" is greater than {}", self.name, i64::MAX))),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Field<'de>, E> {
        Ok(Field::Cell(Cell::Float(value)))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Field<'de>, E> {
        Ok(Field::Cell(Cell::Text(text.as_bytes())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Field<'de>, E> {
        let mut scratch = self.scratch.borrow_mut();
        let from = scratch.len();
        scratch.extend_from_slice(text.as_bytes());
        Ok(Field::Copied(from, scratch.len()))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Field<'de>, E> {
        self.wrong("true or false")
    }

    fn visit_unit<E: Error>(self) -> Result<Field<'de>, E> {
        self.wrong("null")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, _: A) -> Result<Field<'de>, A::Error> {
        self.wrong("an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field<'de>, A::Error> {
        map.next_entry::<IgnoredAny, IgnoredAny>()?;
        self.wrong("an object")
    }
}
