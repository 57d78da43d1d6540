//! The bytes of a packed value.
//!
//! One byte names the format and its version, then comes one value. A value begins with a tag; numbers are
//! little-endian, counts are LEB128 (seven bits a byte, the lowest first). Strings of 2 to 255 bytes, keys and names
//! among them, are numbered as they come, and named by their number when they come again; so are objects and
//! references, in a numbering of their own. What reads them is `read.c` of the shim, where the tags have their numbers.

use apus_zend::sys;

/// The first byte.
pub(super) const VERSION: u8 = 0xb1;
/// Arrays and objects inside each other at most.
pub(super) const DEPTH: usize = sys::APUS_PACK_DEPTH as usize;
/// Bytes of a packed value at most.
pub(super) const LONGEST: usize = 1 << 30;

/// Integers 0 to 95 are their own tag.
pub(super) const SMALL_INTS: u8 = SHORT_TEXT;
/// Strings of 0 to 31 bytes: the tag has the length.
pub(super) const SHORT_TEXT: u8 = sys::APUS_TAG_SHORT_TEXT as u8;
pub(super) const SHORT_TEXTS: u8 = NEAR_TEXT - SHORT_TEXT;
/// Strings number 0 to 31 again.
pub(super) const NEAR_TEXT: u8 = sys::APUS_TAG_NEAR_TEXT as u8;
pub(super) const NEAR_TEXTS: u8 = SHORT_LIST - NEAR_TEXT;
/// Lists (keys 0, 1, 2 …) of 0 to 15 elements.
pub(super) const SHORT_LIST: u8 = sys::APUS_TAG_SHORT_LIST as u8;
/// Arrays of 0 to 15 elements: key, value, key, value …
pub(super) const SHORT_MAP: u8 = sys::APUS_TAG_SHORT_MAP as u8;
pub(super) const SHORT_ARRAYS: u8 = SHORT_MAP - SHORT_LIST;

pub(super) const NULL: u8 = sys::APUS_TAG_NULL as u8;
pub(super) const FALSE: u8 = sys::APUS_TAG_FALSE as u8;
pub(super) const TRUE: u8 = sys::APUS_TAG_TRUE as u8;
/// A float of 8 bytes.
pub(super) const FLOAT: u8 = sys::APUS_TAG_FLOAT as u8;
/// A float that 4 bytes hold exactly.
pub(super) const FLOAT_4: u8 = sys::APUS_TAG_FLOAT_4 as u8;
/// An integer of 1, 2, 4 or 8 bytes, with its sign.
pub(super) const INT_1: u8 = sys::APUS_TAG_INT_1 as u8;
pub(super) const INT_2: u8 = sys::APUS_TAG_INT_2 as u8;
pub(super) const INT_4: u8 = sys::APUS_TAG_INT_4 as u8;
pub(super) const INT_8: u8 = sys::APUS_TAG_INT_8 as u8;
/// A string: its length in one byte; as a count.
pub(super) const TEXT_1: u8 = sys::APUS_TAG_TEXT_1 as u8;
pub(super) const TEXT: u8 = sys::APUS_TAG_TEXT as u8;
/// A numbered string again: its number less 32 in one byte; as a count.
pub(super) const AGAIN_1: u8 = sys::APUS_TAG_AGAIN_1 as u8;
pub(super) const AGAIN: u8 = sys::APUS_TAG_AGAIN as u8;
/// A list or array of so many elements.
pub(super) const LIST: u8 = sys::APUS_TAG_LIST as u8;
pub(super) const MAP: u8 = sys::APUS_TAG_MAP as u8;
/// A list of nothing but integers of 1, 2, 4 or 8 bytes, or floats: count, then the numbers alone.
pub(super) const INTS_1: u8 = sys::APUS_TAG_INTS_1 as u8;
pub(super) const INTS_2: u8 = sys::APUS_TAG_INTS_2 as u8;
pub(super) const INTS_4: u8 = sys::APUS_TAG_INTS_4 as u8;
pub(super) const INTS_8: u8 = sys::APUS_TAG_INTS_8 as u8;
pub(super) const FLOATS: u8 = sys::APUS_TAG_FLOATS as u8;
/// An object: its class's name, then key, value, key, value … until `END`.
pub(super) const OBJECT: u8 = sys::APUS_TAG_OBJECT as u8;
pub(super) const END: u8 = sys::APUS_TAG_END as u8;
/// An object that wrote a string itself (`Serializable`): class, string.
pub(super) const WROTE: u8 = sys::APUS_TAG_WROTE as u8;
/// A case of an enumeration: class, name.
pub(super) const CASE: u8 = sys::APUS_TAG_CASE as u8;
/// A reference, then what it refers to.
pub(super) const REFERENCE: u8 = sys::APUS_TAG_REFERENCE as u8;
/// An object or reference that came before, by its number.
pub(super) const SAME: u8 = sys::APUS_TAG_SAME as u8;

/// An object that wrote null, numbered like others.
pub(super) const NOTHING: u8 = sys::APUS_TAG_NOTHING as u8;

/// Whether a string of this length is numbered.
pub(super) fn numbered(len: usize) -> bool {
    (sys::APUS_NUMBERED_LEAST as usize..=sys::APUS_NUMBERED_MOST as usize).contains(&len)
}

/// Appends a count.
pub(super) fn put_count(into: &mut Vec<u8>, mut count: usize) {
    while count >= 0x80 {
        into.push(count as u8 | 0x80);
        count >>= 7;
    }
    into.push(count as u8);
}
