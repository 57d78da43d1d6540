//! Field blocks to fields (RFC 7541 sections 3 and 6).

use std::ops::Range;

use super::integer::{Reader, Text};
use super::table::{DEFAULT_TABLE, Name, OVERHEAD, Table};
use super::{HpackError, ListLimits, huffman};

/// More scratch memory than this is not kept from one block to the next.
const KEPT_SCRATCH: usize = 1024;

/// The reading side of a connection.
#[derive(Debug)]
pub struct Decoder {
    pub(super) table: Table,
    /// The largest table that the peer may use.
    limit: usize,
    /// The peer's table is larger than the limit: its next block has to begin with a smaller size.
    must_shrink: bool,
    /// Strings that were Huffman-coded.
    scratch: Vec<u8>,
}

/// A field of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name as sent.
    pub name: &'a [u8],
    /// Its value as sent.
    pub value: &'a [u8],
    /// It must never be indexed by whoever sends it on (RFC 7541 section 7.1.3).
    pub sensitive: bool,
}

/// Whether all fields of a block were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// All.
    All,
    /// The list is larger than its limits: fields beyond them were not given. The tables are right nevertheless, so
    /// that the connection goes on: answer 431.
    TooLarge,
}

/// What is left of the limits.
struct Room {
    bytes: usize,
    fields: usize,
    over: bool,
}

impl Room {
    #[inline]
    fn takes(&mut self, name: usize, value: usize) -> bool {
        let left = self.bytes.checked_sub(name + value + OVERHEAD).zip(self.fields.checked_sub(1));
        match left {
            Some((bytes, fields)) if !self.over => (self.bytes, self.fields) = (bytes, fields),
            _ => self.over = true,
        }
        !self.over
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self { table: Table::new(DEFAULT_TABLE), limit: DEFAULT_TABLE, must_shrink: false, scratch: Vec::new() }
    }
}

impl Decoder {
    /// The peer has acknowledged `SETTINGS_HEADER_TABLE_SIZE`. A larger one may be told before that.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.must_shrink = self.table.max() > limit;
    }

    /// Bytes that the tables take.
    pub fn footprint(&self) -> usize {
        self.table.footprint() + self.scratch.capacity()
    }

    /// Reads a whole field block, and gives each field of it to `each`, as long as `limits` allow.
    ///
    /// After an error the connection is of no further use.
    pub fn decode(
        &mut self,
        block: &[u8],
        limits: &ListLimits,
        mut each: impl FnMut(Field<'_>),
    ) -> Result<Listed, HpackError> {
        let mut room = Room { bytes: limits.max_list, fields: limits.max_fields, over: false };
        let mut reader = Reader { rest: block };
        self.sizes(&mut reader)?;
        while let Some(&first) = reader.rest.first() {
            match first {
                0x80.. => {
                    let (name, value) = self.table.get(reader.integer(7)?)?;
                    if room.takes(name.len(), value.len()) {
                        each(Field { name, value, sensitive: false });
                    }
                }
                0x40.. => self.literal(&mut reader, Form::Indexed, &mut room, &mut each)?,
                // A size may only be changed where a block begins (RFC 7541 section 4.2).
                0x20.. => return Err(HpackError::TableSize),
                0x10.. => self.literal(&mut reader, Form::Never, &mut room, &mut each)?,
                _ => self.literal(&mut reader, Form::Without, &mut room, &mut each)?,
            }
        }
        if self.scratch.capacity() > KEPT_SCRATCH {
            self.scratch = Vec::new();
        }
        Ok(if room.over { Listed::TooLarge } else { Listed::All })
    }

    /// The sizes of the table that a block may begin with: the smallest and the last of the settings that changed
    /// since the one before (RFC 7541 section 4.2).
    fn sizes(&mut self, reader: &mut Reader<'_>) -> Result<(), HpackError> {
        for _ in 0..2 {
            if !matches!(reader.rest.first(), Some(0x20..0x40)) {
                break;
            }
            let size = reader.integer(5)?;
            if size > self.limit {
                return Err(HpackError::TableSize);
            }
            self.table.resize(size);
            self.must_shrink = false;
        }
        if self.must_shrink { Err(HpackError::TableSize) } else { Ok(()) }
    }

    fn literal(
        &mut self,
        reader: &mut Reader<'_>,
        form: Form,
        room: &mut Room,
        each: &mut impl FnMut(Field<'_>),
    ) -> Result<(), HpackError> {
        let index = reader.integer(if form == Form::Indexed { 6 } else { 4 })?;
        if index != 0 {
            self.table.get(index)?;
        }
        let name = if index == 0 { Some(reader.text()?) } else { None };
        let value = reader.text()?;
        if room.over && form != Form::Indexed {
            return Ok(());
        }
        self.scratch.clear();
        let name_at = name.map_or(Ok(0..0), |name| uncoded(name, &mut self.scratch))?;
        let value_at = uncoded(value, &mut self.scratch)?;
        let own_name = name.map(|name| plain(name, name_at, &self.scratch));
        let value = plain(value, value_at, &self.scratch);
        let name = own_name.map_or_else(|| self.table.get(index).map(|entry| entry.0), Ok)?;
        if room.takes(name.len(), value.len()) {
            each(Field { name, value, sensitive: form == Form::Never });
        }
        if form == Form::Indexed {
            self.table.insert(own_name.map_or(Name::Index(index), Name::Text), value)?;
        }
        Ok(())
    }
}

/// Appends a string that is coded to `scratch`, and tells where it stands there.
fn uncoded(text: Text<'_>, scratch: &mut Vec<u8>) -> Result<Range<usize>, HpackError> {
    let from = scratch.len();
    if let Text::Coded(text) = text {
        huffman::decode(text, scratch)?;
    }
    Ok(from..scratch.len())
}

#[inline]
fn plain<'a>(text: Text<'a>, at: Range<usize>, scratch: &'a [u8]) -> &'a [u8] {
    match text {
        Text::Plain(text) => text,
        Text::Coded(_) => &scratch[at],
    }
}

/// The three forms of a literal field (RFC 7541 section 6.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Indexed,
    Without,
    Never,
}
