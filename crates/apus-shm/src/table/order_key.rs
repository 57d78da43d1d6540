//! Keys of ordered indexes: columns turned into bytes whose order as bytes is the order of the values.
//!
//! A key is its columns' encodings, one after the other. An integer takes its own width, highest byte first, with the
//! sign turned; a float 8 bytes; a text its bytes with every 0 followed by 255, and 0 1 at the end. So no encoding
//! begins another one, and a key's first columns are its first bytes. The first 16 bytes, as a number, are the key's
//! head: most comparisons end there, and with numbers of at most 16 bytes together all of them do.

use std::cmp::Ordering;

use super::schema::{Cell, Kind};

/// How a column of a key is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An integer of so many bytes.
    Int { bytes: u8, signed: bool },
    /// A float; not NaN.
    Float,
    /// Bytes. A dictionary's column is one, too: its codes are in the order in which the strings came.
    Text,
}

impl Form {
    /// Bits of a number.
    #[inline]
    fn bits(self) -> u32 {
        match self {
            Self::Int { bytes, .. } => u32::from(bytes) * 8,
            Self::Float | Self::Text => 64,
        }
    }
}

/// What an index reads of the rows. Rows may be wild numbers and cells may change meanwhile: any answer will do then,
/// but there must be one.
pub(crate) trait Cells {
    /// The bits of a number's cell: an integer's own width (upper bits are of no account), or a float's.
    fn bits(&self, row: u32, column: usize) -> u64;
    /// Appends a text.
    fn text(&self, row: u32, column: usize, into: &mut Vec<u8>);
}

/// The columns of an index.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    parts: Vec<(usize, Form)>,
    /// Bytes of a key when all columns are numbers that fit a head together.
    exact: Option<u32>,
}

/// A key. Equal heads mean equal keys when `whole` is not longer than a head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) head: u128,
    /// The whole encoding; empty for keys that the head holds always.
    pub(crate) whole: Vec<u8>,
}

/// What ends a text.
const END: [u8; 2] = [0, 1];
/// Bytes of a head.
pub(crate) const HEAD: usize = 16;
/// Rows that a search looks at in one round.
const FAN: usize = 7;

impl Spec {
    /// `parts`: column numbers of the table and their forms, the most significant first.
    pub(crate) fn new(parts: Vec<(usize, Form)>) -> Self {
        let bytes = parts.iter().map(|(_, form)| match form {
            Form::Int { bytes, .. } => Some(u32::from(*bytes)),
            Form::Float => Some(8),
            Form::Text => None,
        });
        let exact = bytes.sum::<Option<u32>>().filter(|sum| *sum <= HEAD as u32);
        Self { parts, exact }
    }

    /// Whether an inner node needs 16 bytes a key.
    pub(crate) fn wide(&self) -> bool {
        self.exact.is_none_or(|bytes| bytes > 8)
    }

    /// Whether the head says all.
    #[inline]
    pub(crate) fn exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The columns and their forms.
    pub(crate) fn parts(&self) -> &[(usize, Form)] {
        &self.parts
    }

    /// The head of a row's key. `scratch` is overwritten when the key has a text.
    #[inline]
    pub(crate) fn head(&self, cells: &impl Cells, row: u32, scratch: &mut Vec<u8>) -> u128 {
        let Some(total) = self.exact else {
            self.whole(cells, row, scratch);
            return head_of(scratch);
        };
        let mut head = 0;
        for (column, form) in &self.parts {
            let (bits, bytes) = turned(cells.bits(row, *column), *form);
            head = head << (u32::from(bytes) * 8) | u128::from(bits);
        }
        head << (128 - total * 8)
    }

    /// The whole key of a row.
    pub(crate) fn whole(&self, cells: &impl Cells, row: u32, into: &mut Vec<u8>) {
        into.clear();
        for (column, form) in &self.parts {
            if *form == Form::Text {
                let start = into.len();
                cells.text(row, *column, into);
                if into[start..].contains(&0) {
                    let text = into.split_off(start);
                    put_text(into, &text);
                } else {
                    into.extend_from_slice(&END);
                }
            } else {
                let (bits, bytes) = turned(cells.bits(row, *column), *form);
                put_bits(into, bits, bytes);
            }
        }
    }

    /// A row's key, to keep.
    pub(crate) fn key(&self, cells: &impl Cells, row: u32) -> Key {
        let mut whole = Vec::new();
        let head = self.head(cells, row, &mut whole);
        Key { head, whole }
    }
}

/// A number's bits so that their order is the numbers', and its bytes.
#[inline]
fn turned(bits: u64, form: Form) -> (u64, u8) {
    match form {
        Form::Int { bytes, signed } => {
            let shift = 64 - u32::from(bytes) * 8;
            let sign = if signed { 1 << 63 } else { 0 };
            ((bits << shift ^ sign) >> shift, bytes)
        }
        Form::Float => {
            // -0.0 is 0.0.
            let bits = if bits == 1 << 63 { 0 } else { bits };
            (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }, 8)
        }
        Form::Text => (0, 0),
    }
}

/// The first bytes as a number, the first byte highest.
pub(crate) fn head_of(whole: &[u8]) -> u128 {
    let mut head = [0; HEAD];
    let len = whole.len().min(HEAD);
    head[..len].copy_from_slice(&whole[..len]);
    u128::from_be_bytes(head)
}

fn put_bits(into: &mut Vec<u8>, bits: u64, bytes: u8) {
    into.extend_from_slice(&bits.to_be_bytes()[8 - usize::from(bytes)..]);
}

fn put_text(into: &mut Vec<u8>, text: &[u8]) {
    for part in text.split_inclusive(|byte| *byte == 0) {
        into.extend_from_slice(part);
        if part.last() == Some(&0) {
            into.push(0xff);
        }
    }
    into.extend_from_slice(&END);
}

/// Why a value is in no row of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Smaller than all that the column can hold.
    Below,
    /// Greater than all.
    Above,
    /// Of another type, or not a number.
    Type,
}

fn put_value(into: &mut Vec<u8>, form: Form, value: &Cell<'_>) -> Result<(), Outside> {
    let bits = match (form, *value) {
        (Form::Int { bytes, signed }, Cell::Int(value)) => {
            let (least, most) = Kind::Int { bytes, signed }.bounds();
            if value < least {
                return Err(Outside::Below);
            }
            if value > most {
                return Err(Outside::Above);
            }
            value as u64
        }
        (Form::Float, Cell::Float(value)) if !value.is_nan() => value.to_bits(),
        (Form::Float, Cell::Int(value)) => (value as f64).to_bits(),
        (Form::Text, Cell::Text(text)) => {
            put_text(into, text);
            return Ok(());
        }
        _ => return Err(Outside::Type),
    };
    let (bits, bytes) = turned(bits, form);
    put_bits(into, bits, bytes);
    Ok(())
}

/// A place between two entries, or at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IndexPlace {
    /// Before (or behind) all keys that begin with these bytes.
    Bound {
        /// Encodings of the key's first columns; none of them: the start or the end of all.
        bytes: Vec<u8>,
        /// The same as a head.
        head: u128,
        /// Which bits of a head they are.
        mask: u128,
        /// Behind them.
        after: bool,
    },
    /// At the entry of a row.
    Entry {
        /// The row's key.
        key: Key,
        /// The row.
        row: u32,
        /// Right behind it.
        after: bool,
    },
}

impl IndexPlace {
    /// The place before or behind the keys whose first columns are `values`.
    pub(crate) fn bound(spec: &Spec, values: &[Cell<'_>], after: bool) -> Result<Self, Outside> {
        let mut bytes = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let (_, form) = spec.parts.get(at).ok_or(Outside::Type)?;
            match put_value(&mut bytes, *form, value) {
                Ok(()) => {}
                // Before or behind all keys that have the columns before this one.
                Err(Outside::Below) => return Ok(Self::before(bytes, false)),
                Err(Outside::Above) => return Ok(Self::before(bytes, true)),
                Err(Outside::Type) => return Err(Outside::Type),
            }
        }
        Ok(Self::before(bytes, after))
    }

    fn before(bytes: Vec<u8>, after: bool) -> Self {
        let bits = bytes.len().min(HEAD) as u32 * 8;
        let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
        Self::Bound { head: head_of(&bytes), mask, bytes, after }
    }

    /// Whether an entry lies before this place.
    #[inline]
    pub(crate) fn is_behind(
        &self,
        spec: &Spec,
        cells: &impl Cells,
        head: u128,
        row: u32,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let (ordering, after) = match self {
            Self::Bound { bytes, head: bound, mask, after } => {
                let mut ordering = (head & mask).cmp(bound);
                if ordering == Ordering::Equal && bytes.len() > HEAD {
                    spec.whole(cells, row, scratch);
                    ordering = scratch[..scratch.len().min(bytes.len())].cmp(bytes);
                }
                (ordering, *after)
            }
            Self::Entry { key, row: at, after } => {
                (compare(spec, cells, head, row, key, scratch).then(row.cmp(at)), *after)
            }
        };
        ordering == Ordering::Less || ordering == Ordering::Equal && after
    }

    /// Whether a row's entry lies before this place. Reads no more of the row's cells than it takes to tell.
    #[inline]
    fn is_behind_row(&self, spec: &Spec, cells: &impl Cells, row: u32, scratch: &mut Vec<u8>) -> bool {
        if !spec.exact() {
            let head = spec.head(cells, row, scratch);
            return self.is_behind(spec, cells, head, row, scratch);
        }
        let (target, bits) = self.target();
        let mut used = 0;
        for (column, form) in &spec.parts {
            if used >= bits {
                break;
            }
            let (value, bytes) = turned(cells.bits(row, *column), *form);
            let width = u32::from(bytes) * 8;
            match value.cmp(&((target << used >> (128 - width)) as u64)) {
                Ordering::Less => return true,
                Ordering::Greater => return false,
                Ordering::Equal => used += width,
            }
        }
        match self {
            Self::Bound { after, .. } => *after,
            Self::Entry { row: at, after, .. } => row < *at || row == *at && *after,
        }
    }

    /// As a head, and how many bits of it count.
    #[inline]
    fn target(&self) -> (u128, u32) {
        match self {
            Self::Bound { head, bytes, .. } => (*head, bytes.len().min(HEAD) as u32 * 8),
            Self::Entry { key, .. } => (key.head, 128),
        }
    }

    /// The first of the rows from `low` on, in order, that does not lie before this place; `high` if all do.
    ///
    /// Rows lie anywhere in memory, so looking at one costs a wait for memory. The first columns of several are asked
    /// for at once, which takes no longer than one: three rounds for a leaf, where halving would take seven.
    pub(crate) fn search(
        &self,
        spec: &Spec,
        cells: &impl Cells,
        row: impl Fn(usize) -> u32,
        (mut low, mut high): (usize, usize),
        scratch: &mut Vec<u8>,
    ) -> usize {
        let (target, bits) = self.target();
        let first = spec.parts.first().filter(|(_, form)| spec.exact() && *form != Form::Text && bits > 0);
        while low < high {
            let step = (high - low).div_ceil(FAN + 1);
            let count = ((high - low) / step).min(FAN);
            let mut values = [0; FAN];
            if let Some((column, form)) = first {
                for (number, value) in values[..count].iter_mut().enumerate() {
                    *value = turned(cells.bits(row(low + step * (number + 1) - 1), *column), *form).0;
                }
            }
            let (mut least, mut most) = (0, count);
            while least < most {
                let middle = usize::midpoint(least, most);
                let ordering = first
                    .map_or(Ordering::Equal, |(_, form)| values[middle].cmp(&((target >> (128 - form.bits())) as u64)));
                let before = ordering.is_lt()
                    || ordering.is_eq() && self.is_behind_row(spec, cells, row(low + step * (middle + 1) - 1), scratch);
                if before {
                    least = middle + 1;
                } else {
                    most = middle;
                }
            }
            if least < count {
                high = low + step * (least + 1) - 1;
            }
            low += step * least;
        }
        low
    }
}

/// An entry's key beside another.
#[inline]
pub(crate) fn compare(
    spec: &Spec,
    cells: &impl Cells,
    head: u128,
    row: u32,
    key: &Key,
    scratch: &mut Vec<u8>,
) -> Ordering {
    let ordering = head.cmp(&key.head);
    if ordering != Ordering::Equal || key.whole.len() <= HEAD {
        return ordering;
    }
    spec.whole(cells, row, scratch);
    scratch.as_slice().cmp(&key.whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(form: Form, value: Cell<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_value(&mut bytes, form, &value).unwrap();
        bytes
    }

    #[test]
    fn order_of_bytes_is_order_of_values() {
        for bytes in [1, 2, 4, 8] {
            for signed in [false, true] {
                let (least, most) = Kind::Int { bytes, signed }.bounds();
                let mut values = vec![least, least + 1, least / 2, -1, 0, 1, 77, most / 3, most - 1, most];
                values.retain(|value| (least..=most).contains(value));
                values.sort_unstable();
                values.dedup();
                let form = Form::Int { bytes, signed };
                let encodings: Vec<_> = values.iter().map(|value| encoded(form, Cell::Int(*value))).collect();
                assert!(encodings.is_sorted_by(|a, b| a < b), "{bytes} {signed}");
                assert!(encodings.iter().all(|encoding| encoding.len() == usize::from(bytes)));
            }
        }
        let floats = [f64::NEG_INFINITY, -1e300, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0, 1.5, f64::INFINITY];
        assert!(floats.map(|value| encoded(Form::Float, Cell::Float(value))).is_sorted_by(|a, b| a < b));
        assert_eq!(encoded(Form::Float, Cell::Float(-0.0)), encoded(Form::Float, Cell::Float(0.0)));
        let texts: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0\x01", b"\x01", b"a", b"a\0", b"ab"];
        assert!(texts.map(|text| encoded(Form::Text, Cell::Text(text))).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn what_a_column_cannot_hold_is_told() {
        let byte = Form::Int { bytes: 1, signed: false };
        assert_eq!(put_value(&mut Vec::new(), byte, &Cell::Int(256)), Err(Outside::Above));
        assert_eq!(put_value(&mut Vec::new(), byte, &Cell::Int(-1)), Err(Outside::Below));
        assert_eq!(put_value(&mut Vec::new(), Form::Float, &Cell::Float(f64::NAN)), Err(Outside::Type));
        assert_eq!(put_value(&mut Vec::new(), Form::Text, &Cell::Int(1)), Err(Outside::Type));
    }
}
