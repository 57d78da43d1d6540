//! Building values from data that is not trusted, without an object in them: what was read is noted in steps, and many
//! steps are made into a value by one guarded call.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{PhpString, Value};

/// Steps that are noted before a call makes them.
const STEPS: usize = 512;
/// Strings whose places are kept for the next value, at most.
const KEPT: usize = 4096;

/// Why steps gave no value.
#[derive(Debug)]
pub enum Failed {
    /// A key is in its array already.
    Twice,
    /// A string was mentioned before it came, or a step came where it cannot be.
    Wrong,
    /// PHP ended it.
    Raised(Raise),
}

/// What is kept from one value for the next.
struct Room {
    steps: [sys::apus_step; STEPS],
    frames: Vec<sys::apus_frame>,
    texts: Vec<*mut sys::zend_string>,
    /// The values that are being built, one inside another; they do not move.
    roots: Vec<NonNull<Value>>,
}

impl Drop for Room {
    fn drop(&mut self) {
        for root in self.roots.drain(..) {
            // SAFETY: made of a box by `begin`, and given back by nobody else.
            drop(unsafe { Box::from_raw(root.as_ptr()) });
        }
    }
}

const NO_STEP: sys::apus_step =
    sys::apus_step { of: sys::apus_step__bindgen_ty_1 { number: 0 }, count: 0, kind: 0, name: false, numbered: false };
const NO_FRAME: sys::apus_frame =
    sys::apus_frame { array: std::ptr::null_mut(), slot: std::ptr::null_mut(), left: 0, map: false };

thread_local! {
    static SPARE: Cell<Option<Box<Room>>> = const { Cell::new(None) };
}

/// Makes values of bytes that live as long as `'a`.
pub struct Builder<'a> {
    room: ManuallyDrop<Box<Room>>,
    /// Steps that are noted.
    noted: usize,
    /// Frames in use.
    depth: usize,
    /// Roots in use.
    values: usize,
    /// Numbered strings that are there.
    known: usize,
    /// Arrays that the noted steps open.
    opens: usize,
    /// Numbered strings that they bring.
    brings: usize,
    bytes: PhantomData<&'a [u8]>,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        let room = SPARE.with(Cell::take).unwrap_or_else(|| {
            Box::new(Room { steps: [NO_STEP; STEPS], frames: Vec::new(), texts: Vec::new(), roots: Vec::new() })
        });
        let room = ManuallyDrop::new(room);
        Self { room, noted: 0, depth: 0, values: 0, known: 0, opens: 0, brings: 0, bytes: PhantomData }
    }
}

impl<'a> Builder<'a> {
    /// Begins a value: what comes until [`finish`](Self::finish) is it. Nothing must be noted for another one.
    pub fn begin(&mut self) {
        if self.values == self.room.roots.len() {
            self.room.roots.push(NonNull::from(Box::leak(Box::new(Value::undef()))));
        }
        // SAFETY: a box that lives as long as the room.
        let slot = unsafe { self.room.roots[self.values].as_ref() }.as_ptr();
        self.values += 1;
        self.make_room();
        let frame = sys::apus_frame { array: std::ptr::null_mut(), slot, left: 1, map: false };
        self.room.frames[self.depth] = frame;
        self.depth += 1;
    }

    /// The value that was begun last.
    pub fn finish(&mut self) -> Result<Value, Failed> {
        self.flush()?;
        let frame = self.room.frames[self.depth - 1];
        if !frame.array.is_null() || frame.left != 0 {
            return Err(Failed::Wrong);
        }
        self.depth -= 1;
        self.values -= 1;
        // SAFETY: as in `begin`; nobody else looks at it.
        Ok(std::mem::replace(unsafe { self.room.roots[self.values].as_mut() }, Value::undef()))
    }

    /// Room for what the noted steps need.
    fn make_room(&mut self) {
        let frames = self.depth + self.opens + 1;
        if self.room.frames.len() < frames {
            self.room.frames.resize(frames.next_power_of_two(), NO_FRAME);
        }
        let texts = self.known + self.brings;
        if self.room.texts.len() < texts {
            self.room.texts.resize(texts.next_power_of_two().max(32), std::ptr::null_mut());
        }
    }

    /// Makes what was noted.
    pub fn flush(&mut self) -> Result<(), Failed> {
        if self.noted == 0 {
            return Ok(());
        }
        if self.depth == 0 {
            return Err(Failed::Wrong);
        }
        self.make_room();
        let mut build = sys::apus_build {
            frames: self.room.frames.as_mut_ptr(),
            texts: self.room.texts.as_mut_ptr(),
            top: self.depth - 1,
            known: self.known,
        };
        // SAFETY: there is a first frame, as steps are noted after `begin` alone, and `make_room` made room for the
        // rest; the bytes of the steps outlive self; slots of frames lie in roots, which do not move, and in arrays
        // that nobody else sees.
        let built = unsafe { sys::apus_build_run(&raw mut build, self.room.steps.as_ptr(), self.noted) };
        self.noted = 0;
        (self.depth, self.known) = (build.top + 1, build.known);
        (self.opens, self.brings) = (0, 0);
        match built {
            sys::apus_built_APUS_BUILT => Ok(()),
            sys::apus_built_APUS_BUILT_TWICE => Err(Failed::Twice),
            sys::apus_built_APUS_BUILT_WRONG => Err(Failed::Wrong),
            sys::apus_built_APUS_BUILT_EXHAUSTED => Err(Failed::Raised(Raise::Thrown)),
            _ => Err(Failed::Raised(Raise::Bailed)),
        }
    }

    #[inline]
    fn note(&mut self, step: sys::apus_step) -> Result<(), Failed> {
        if let Some(place) = self.room.steps.get_mut(self.noted) {
            *place = step;
            self.noted += 1;
            return Ok(());
        }
        self.flush()?;
        self.note_first(step);
        Ok(())
    }

    #[cold]
    fn note_first(&mut self, step: sys::apus_step) {
        self.room.steps[0] = step;
        self.noted = 1;
    }

    #[inline]
    fn number(&mut self, kind: sys::apus_step_kind, number: u64, count: u32) -> Result<(), Failed> {
        let of = sys::apus_step__bindgen_ty_1 { number };
        self.note(sys::apus_step { of, count, kind: kind as u8, name: false, numbered: false })
    }

    #[inline]
    fn bytes(
        &mut self,
        kind: sys::apus_step_kind,
        bytes: &'a [u8],
        count: usize,
        name: bool,
        numbered: bool,
    ) -> Result<(), Failed> {
        let of = sys::apus_step__bindgen_ty_1 { bytes: bytes.as_ptr().cast() };
        self.note(sys::apus_step { of, count: count as u32, kind: kind as u8, name, numbered })?;
        self.brings += usize::from(numbered);
        Ok(())
    }

    /// An integer.
    #[inline]
    pub fn int(&mut self, value: i64) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_PLAIN, value as u64, sys::IS_LONG)
    }

    /// A float.
    #[inline]
    pub fn float(&mut self, value: f64) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_PLAIN, value.to_bits(), sys::IS_DOUBLE)
    }

    /// Null.
    #[inline]
    pub fn null(&mut self) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_PLAIN, 0, sys::IS_NULL)
    }

    /// True or false.
    #[inline]
    pub fn bool(&mut self, value: bool) -> Result<(), Failed> {
        let kind = if value { sys::IS_TRUE } else { sys::IS_FALSE };
        self.number(sys::apus_step_kind_APUS_STEP_PLAIN, 0, kind)
    }

    /// A string; `numbered`: it may come [`again`](Self::again).
    #[inline]
    pub fn text(&mut self, bytes: &'a [u8], numbered: bool) -> Result<(), Failed> {
        self.bytes(sys::apus_step_kind_APUS_STEP_TEXT, bytes, bytes.len(), false, numbered)
    }

    /// A string that came before.
    #[inline]
    pub fn again(&mut self, number: usize) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_AGAIN, number as u64, 0)
    }

    /// A key of a map, whose value is next; "7" means 7.
    #[inline]
    pub fn key_text(&mut self, bytes: &'a [u8], numbered: bool) -> Result<(), Failed> {
        self.bytes(sys::apus_step_kind_APUS_STEP_KEY_TEXT, bytes, bytes.len(), true, numbered)
    }

    /// The same, a string that came before.
    #[inline]
    pub fn key_again(&mut self, number: usize) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_KEY_AGAIN, number as u64, 0)
    }

    /// The same, an integer.
    #[inline]
    pub fn key_index(&mut self, index: i64) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_KEY_INDEX, index as u64, 0)
    }

    /// A list (or a map) of so many elements, which come next.
    #[inline]
    pub fn array(&mut self, list: bool, count: u32) -> Result<(), Failed> {
        if count == 0 {
            return self.number(sys::apus_step_kind_APUS_STEP_EMPTY, 0, 0);
        }
        let kind = if list { sys::apus_step_kind_APUS_STEP_LIST } else { sys::apus_step_kind_APUS_STEP_MAP };
        self.number(kind, 0, count)?;
        self.opens += 1;
        Ok(())
    }

    /// A map of any number of elements, which come next, until [`end`](Self::end).
    pub fn table(&mut self) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_TABLE, 0, 8)?;
        self.opens += 1;
        Ok(())
    }

    /// The end of a [`table`](Self::table).
    pub fn end(&mut self) -> Result<(), Failed> {
        self.number(sys::apus_step_kind_APUS_STEP_END, 0, 0)
    }

    /// A list of little-endian numbers, whatever is left over of the bytes not counted.
    pub fn numbers(&mut self, of: Numbers, bytes: &'a [u8]) -> Result<(), Failed> {
        let (kind, width) = match of {
            Numbers::Ints1 => (sys::apus_step_kind_APUS_STEP_INTS_1, 1),
            Numbers::Ints2 => (sys::apus_step_kind_APUS_STEP_INTS_2, 2),
            Numbers::Ints4 => (sys::apus_step_kind_APUS_STEP_INTS_4, 4),
            Numbers::Ints8 => (sys::apus_step_kind_APUS_STEP_INTS_8, 8),
            Numbers::Floats => (sys::apus_step_kind_APUS_STEP_FLOATS, 8),
        };
        self.bytes(kind, bytes, bytes.len() / width, false, false)
    }

    /// A value of any kind, now.
    pub fn put(&mut self, value: Value) -> Result<(), Failed> {
        self.flush()?;
        if self.depth == 0 {
            return Err(Failed::Wrong);
        }
        let mut build = sys::apus_build {
            frames: self.room.frames.as_mut_ptr(),
            texts: self.room.texts.as_mut_ptr(),
            top: self.depth - 1,
            known: self.known,
        };
        // SAFETY: as in `flush`; the value moves if there is a place.
        if !unsafe { sys::apus_build_put(&raw mut build, value.as_ptr()) } {
            return Err(Failed::Wrong);
        }
        std::mem::forget(value);
        self.depth = build.top + 1;
        Ok(())
    }

    /// How many numbered strings there are, the noted ones included.
    pub fn numbered(&self) -> usize {
        self.known + self.brings
    }

    /// A numbered string. Nothing must be noted.
    pub fn known(&self, number: usize) -> Option<PhpString> {
        let known = *self.room.texts.get(..self.known)?.get(number)?;
        // SAFETY: the room owns a reference, so this must not give it back.
        let known = ManuallyDrop::new(unsafe { PhpString::from_raw(NonNull::new(known)?) });
        Some(known.share())
    }

    /// Numbers a string that was made elsewhere. Nothing must be noted.
    pub fn know(&mut self, text: &PhpString) {
        self.brings += 1;
        self.make_room();
        self.brings -= 1;
        self.room.texts[self.known] = ManuallyDrop::new(text.share()).as_raw().as_ptr();
        self.known += 1;
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: so many are there, with a reference each that nobody else gives back.
        unsafe { sys::apus_build_release(self.room.texts.as_mut_ptr(), self.known) };
        for root in self.room.roots[..self.values].iter_mut().rev() {
            // SAFETY: as in `begin`; what a value that failed has so far is given back.
            drop(std::mem::replace(unsafe { root.as_mut() }, Value::undef()));
        }
        // SAFETY: not used after this.
        let room = unsafe { ManuallyDrop::take(&mut self.room) };
        if room.texts.len() <= KEPT && room.frames.len() <= KEPT {
            SPARE.with(|spare| spare.set(Some(room)));
        }
    }
}

/// What a list of numbers consists of.
#[derive(Debug, Clone, Copy)]
pub enum Numbers {
    /// Integers of one byte.
    Ints1,
    /// Of two.
    Ints2,
    /// Of four.
    Ints4,
    /// Of eight.
    Ints8,
    /// Floats of eight bytes.
    Floats,
}
