//! Rows of tables as PHP arrays: built in one guarded call from a shape that holds the names of the columns.

use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{Array, ArrayView, PhpString, Value, View};

/// Columns that a row can have.
pub const MOST_COLUMNS: usize = 128;

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// The bytes of a string.
    Text(&'a [u8]),
}

impl Cell<'_> {
    fn raw(self) -> sys::apus_cell {
        // SAFETY: plain data; all zeroes is a valid value of it.
        let mut raw: sys::apus_cell = unsafe { std::mem::zeroed() };
        match self {
            Cell::Int(value) => {
                raw.kind = sys::apus_cell_kind_APUS_CELL_INT;
                raw.of.l = value;
            }
            Cell::Float(value) => {
                raw.kind = sys::apus_cell_kind_APUS_CELL_FLOAT;
                raw.of.d = value;
            }
            Cell::Text(bytes) => {
                raw.kind = sys::apus_cell_kind_APUS_CELL_TEXT;
                raw.of.text = sys::apus_bytes { bytes: bytes.as_ptr().cast(), len: bytes.len() };
            }
        }
        raw
    }

    /// The value by itself.
    pub fn value(self) -> Result<Value, Raise> {
        Ok(match self {
            Cell::Int(value) => Value::int(value),
            Cell::Float(value) => Value::float(value),
            Cell::Text(bytes) => Value::string(bytes)?,
        })
    }
}

/// The key of an element that names no column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown<'a> {
    /// A string key.
    Name(&'a [u8]),
    /// An integer key.
    Index(u64),
}

/// An element of an array that is to become a row: the column's place, and its value (references are followed).
#[derive(Clone, Copy)]
pub struct Given<'a>(sys::apus_given, std::marker::PhantomData<&'a ()>);

impl<'a> Given<'a> {
    /// The column's place in the shape.
    pub fn column(self) -> usize {
        self.0.column as usize
    }

    /// What it holds.
    #[inline]
    pub fn view(self) -> View<'a> {
        // SAFETY: initialised, and alive as long as the array that it came from, which is unchanged for 'a.
        unsafe { View::of(self.0.value) }
    }
}

/// Room for the elements of an array that is to become a row; on the stack, filled by [`Shape::read`].
pub struct Elements([std::mem::MaybeUninit<sys::apus_given>; MOST_COLUMNS]);

impl Elements {
    /// Empty room.
    #[expect(clippy::new_without_default, reason = "a Default of two kilobytes invites copies")]
    #[inline]
    pub fn new() -> Self {
        Self([const { std::mem::MaybeUninit::uninit() }; MOST_COLUMNS])
    }
}

/// The names of the columns of a row, ready to be copied.
pub struct Shape {
    array: Array,
    count: usize,
}

impl Shape {
    /// A shape of these names, which differ; at most [`MOST_COLUMNS`] are taken.
    pub fn new<'a>(names: impl Iterator<Item = &'a [u8]>) -> Result<Self, Raise> {
        let names: Vec<_> = names
            .take(MOST_COLUMNS)
            .map(|name| sys::apus_bytes { bytes: name.as_ptr().cast(), len: name.len() })
            .collect();
        // SAFETY: the names are copied; NULL tells a bailout.
        let raw = NonNull::new(unsafe { sys::apus_row_shape(names.as_ptr(), names.len() as u32) });
        // SAFETY: the shim hands over the one reference.
        let array = unsafe { Array::from_raw(raw.ok_or(Raise::Bailed)?) };
        let count = array.view().len();
        Ok(Self { array, count })
    }

    /// How many columns it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of a column.
    pub fn column(&self, name: &[u8]) -> Option<usize> {
        // SAFETY: the array is alive; the name is only compared.
        let found = unsafe { sys::apus_row_column(self.array.raw(), name.as_ptr().cast(), name.len()) };
        (found != sys::APUS_UNKNOWN_COLUMN).then_some(found as usize)
    }

    /// `['name' => value, …]` of the cells, one a column.
    pub fn row<'a>(&self, cells: impl Iterator<Item = Cell<'a>>) -> Result<Array, Raise> {
        let mut room = [const { std::mem::MaybeUninit::<sys::apus_cell>::uninit() }; MOST_COLUMNS];
        let mut count = 0;
        for (slot, cell) in room[..self.count].iter_mut().zip(cells) {
            slot.write(cell.raw());
            count += 1;
        }
        for slot in &mut room[count..self.count] {
            slot.write(Cell::Int(0).raw());
        }
        // SAFETY: as many cells as the shape has columns were written above, and their texts outlive the call; NULL
        // tells a bailout.
        let raw = NonNull::new(unsafe { sys::apus_row_new(self.array.raw(), room.as_ptr().cast()) });
        // SAFETY: the shim hands over the one reference.
        let row = unsafe { Array::from_raw(raw.ok_or(Raise::Bailed)?) };
        go_on()?;
        Ok(row)
    }

    /// Finds the columns that the keys of an array name, in its order.
    #[inline]
    pub fn read<'a>(
        &self,
        given: ArrayView<'a>,
        room: &'a mut Elements,
    ) -> Result<impl ExactSizeIterator<Item = Given<'a>> + use<'a>, Unknown<'a>> {
        let (mut key, mut index) = (std::ptr::null_mut(), 0);
        // SAFETY: both arrays are alive. Keys of an array differ, so at most as many name a column as there are
        // columns, and the shim stops at the first that names none.
        let count = unsafe {
            sys::apus_row_match(self.array.raw(), given.raw(), room.0.as_mut_ptr().cast(), &raw mut key, &raw mut index)
        };
        if count != sys::APUS_UNKNOWN_COLUMN {
            let filled = room.0[..count as usize].iter();
            // SAFETY: the shim filled this many.
            return Ok(filled.map(|given| Given(unsafe { given.assume_init() }, std::marker::PhantomData)));
        }
        // SAFETY: a key lives as long as its array.
        Err(NonNull::new(key).map_or(Unknown::Index(index), |key| Unknown::Name(unsafe { key_bytes(key) })))
    }
}

unsafe fn key_bytes<'a>(key: NonNull<sys::zend_string>) -> &'a [u8] {
    // SAFETY: the caller passes a live string; its bytes follow the header.
    unsafe { std::slice::from_raw_parts((&raw const (*key.as_ptr()).val).cast::<u8>(), key.as_ref().len) }
}

/// To be asked now and then by who builds much in one call: an error when an exception is pending. Some builds of PHP,
/// Debian's 8.2 among them, let a native function go on when it passes the memory limit, with an exit pending, and end
/// the process at twice the limit.
#[inline]
pub fn go_on() -> Result<(), Raise> {
    // SAFETY: reads a pointer.
    if unsafe { sys::apus_is_thrown() } { Err(Raise::Thrown) } else { Ok(()) }
}

/// A list of integers.
pub fn list_of_ints(numbers: &[i64]) -> Result<Array, Raise> {
    // SAFETY: pointer and length come from one slice; NULL tells a bailout.
    let raw = NonNull::new(unsafe { sys::apus_list_of_ints(numbers.as_ptr(), numbers.len()) });
    // SAFETY: the shim hands over the one reference.
    raw.map(|raw| unsafe { Array::from_raw(raw) }).ok_or(Raise::Bailed)
}

/// An integer or a float as PHP writes it.
pub fn number_text(number: &Value) -> Result<PhpString, Raise> {
    // SAFETY: alive; the shim hands over a reference, NULL tells a bailout.
    let raw = NonNull::new(unsafe { sys::apus_number_text(number.as_ptr()) });
    // SAFETY: as above.
    raw.map(|raw| unsafe { PhpString::from_raw(raw) }).ok_or(Raise::Bailed)
}

/// Longest text that is taken for a number.
const NUMBER_LONGEST: usize = 100;

/// The number that a text of at most 100 bytes holds by PHP's rules, all of it; `None`: it is not numeric.
pub fn text_number(text: &[u8]) -> Option<Cell<'static>> {
    // PHP's scanner stops at a NUL.
    let mut ended = [0; NUMBER_LONGEST + 1];
    ended.get_mut(..text.len()).filter(|room| room.len() <= NUMBER_LONGEST)?.copy_from_slice(text);
    // SAFETY: plain data; all zeroes is a valid value of it.
    let mut out: sys::apus_cell = unsafe { std::mem::zeroed() };
    // SAFETY: the text ends in NUL; the out pointer is local.
    if !unsafe { sys::apus_text_number(ended.as_ptr().cast(), text.len(), &raw mut out) } {
        return None;
    }
    // SAFETY: the member that the kind names was filled.
    Some(unsafe {
        if out.kind == sys::apus_cell_kind_APUS_CELL_INT { Cell::Int(out.of.l) } else { Cell::Float(out.of.d) }
    })
}
