//! Values of packed bytes, which may come from anywhere. One guarded call of the shim (`read.c`) reads and makes all
//! that has no number of its own; what has (objects, references) is read by its user, between two such calls.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::assemble::Made;
use crate::call::Raise;
use crate::sys;
use crate::value::{PhpString, Value};

const FRAMES: usize = sys::APUS_PACK_FRAMES as usize;
/// Room for numbered strings at first.
const FIRST: usize = 64;
/// Strings whose places are kept for the next value, at most.
const KEPT: usize = 4096;

/// Why there is no value.
#[derive(Debug)]
pub enum Failed {
    /// The bytes break off.
    Short,
    /// So many things do not fit into the bytes that are left.
    Count(usize),
    /// A count has more than five bytes.
    LongCount,
    /// A string is mentioned before it came.
    Again,
    /// Something else where a key is to be.
    NoKey,
    /// Something else where a string is to be.
    NoText,
    /// A key is in its array already.
    Twice,
    /// Arrays and objects lie too deep inside each other.
    Deep,
    /// PHP ended it.
    Raised(Raise),
}

/// How far reading came.
#[derive(Debug)]
pub enum Read {
    /// To the end of what was begun last.
    Whole,
    /// To a tag from `OBJECT` on, whose value is to be [`put`](Reader::put).
    Other,
}

/// What is kept from one value for the next.
struct Room {
    state: sys::apus_reader,
    /// Roots in use.
    values: usize,
    /// Where the frames of the state lie.
    _frames: Box<[std::mem::MaybeUninit<sys::apus_frame>]>,
    texts: Vec<*mut sys::zend_string>,
    /// The values that are being made, one inside another.
    roots: Vec<Root>,
}

struct Root {
    /// In a box: it does not move.
    value: NonNull<Value>,
    /// Where in it a value goes that the reader's user reads: it holds null. Or null.
    place: *mut sys::zval,
}

impl Room {
    #[cold]
    fn new() -> Box<Self> {
        let mut frames = Box::new_uninit_slice(FRAMES);
        let mut texts = vec![std::ptr::null_mut(); FIRST];
        let state = sys::apus_reader {
            at: std::ptr::null(),
            end: std::ptr::null(),
            frames: frames.as_mut_ptr().cast(),
            texts: texts.as_mut_ptr(),
            to: std::ptr::null_mut(),
            wrong: 0,
            owed: 0,
            known: 0,
            room: FIRST as u32,
            used: 0,
            depth: 0,
            owns: false,
        };
        Box::new(Self { state, values: 0, _frames: frames, texts, roots: Vec::new() })
    }

    /// What a value that failed has so far, and the strings.
    fn give_back(&mut self) {
        if self.state.owns {
            // SAFETY: what it gives back is its own.
            unsafe { sys::apus_reader_release(&raw mut self.state) };
        }
        for root in self.roots[..self.values].iter_mut().rev() {
            // SAFETY: a box that lives as long as the room, of which nobody has a reference.
            drop(std::mem::replace(unsafe { root.value.as_mut() }, Value::undef()));
        }
        self.values = 0;
        (self.state.used, self.state.depth, self.state.owed, self.state.owns) = (0, 0, 0, false);
    }

    #[cold]
    fn more_roots(&mut self) {
        let value = NonNull::from(Box::leak(Box::new(Value::undef())));
        self.roots.push(Root { value, place: std::ptr::null_mut() });
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for root in self.roots.drain(..) {
            // SAFETY: made of a box by `begin`, and given back by nobody else.
            drop(unsafe { Box::from_raw(root.value.as_ptr()) });
        }
    }
}

thread_local! {
    static SPARE: Cell<Option<Box<Room>>> = const { Cell::new(None) };
}

/// Reads bytes that live as long as `'a`.
pub struct Reader<'a> {
    room: ManuallyDrop<Box<Room>>,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Reader<'a> {
    /// One at the first of these bytes.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut room = SPARE.with(Cell::take).unwrap_or_else(Room::new);
        let std::ops::Range { start: at, end } = bytes.as_ptr_range();
        (room.state.at, room.state.end) = (at, end);
        Self { room: ManuallyDrop::new(room), bytes: PhantomData }
    }

    /// What has not been read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        // SAFETY: both point into the bytes or behind the last, in order: the shim moves the first as far as that.
        unsafe {
            std::slice::from_raw_parts(self.room.state.at, self.room.state.end.offset_from_unsigned(self.room.state.at))
        }
    }

    /// The next byte has been read by somebody else.
    #[inline]
    pub fn skip(&mut self) {
        if !self.rest().is_empty() {
            // SAFETY: not beyond the end.
            self.room.state.at = unsafe { self.room.state.at.add(1) };
        }
    }

    /// From here on PHP code may run, and have a string released that may be mentioned again.
    #[inline]
    pub fn expect_code(&mut self) {
        // SAFETY: its strings are alive: nothing was released so far.
        unsafe { sys::apus_reader_own(&raw mut self.room.state) };
    }

    /// One level deeper, until [`leave`](Self::leave).
    #[inline]
    pub fn enter(&mut self) -> Result<(), Failed> {
        if self.room.state.depth >= sys::APUS_PACK_DEPTH {
            return Err(Failed::Deep);
        }
        self.room.state.depth += 1;
        Ok(())
    }

    /// The end of what was entered.
    #[inline]
    pub fn leave(&mut self) {
        self.room.state.depth -= 1;
    }

    /// Begins a value, which goes on to [`end`](Self::end), and reads on in it.
    #[inline]
    pub fn value(&mut self) -> Result<Read, Failed> {
        let root = self.root();
        // SAFETY: as in `begin`, and then as in `read`.
        let read = unsafe { sys::apus_reader_value(&raw mut self.room.state, root) };
        self.room.values += 1;
        self.came(read)
    }

    /// Begins an array whose keys and elements go on to an `END`, and reads on in it.
    pub fn table(&mut self) -> Result<Read, Failed> {
        self.expect_code();
        self.begin(sys::apus_frame_kind_APUS_FRAME_TABLE, std::ptr::null_mut())
    }

    /// Begins the properties of an object, by their mangled names, which go on to an `END`, and reads on
    /// in them; their types are held to.
    pub fn properties(&mut self, made: &Made) -> Result<Read, Failed> {
        self.expect_code();
        match made.raw() {
            Some(object) => self.begin(sys::apus_frame_kind_APUS_FRAME_PROPERTIES, object),
            None => Err(Failed::Raised(Raise::Bailed)),
        }
    }

    /// The place of the next root, which holds null.
    #[inline]
    fn root(&mut self) -> *mut sys::zval {
        if self.room.values == self.room.roots.len() {
            self.room.more_roots();
        }
        let innermost = self.room.values;
        let root = &mut self.room.roots[innermost];
        root.place = std::ptr::null_mut();
        // SAFETY: a box that lives as long as the room, of which nobody has a reference; it holds nothing.
        let value = unsafe { root.value.as_mut() };
        *value = Value::null();
        value.as_ptr()
    }

    fn begin(&mut self, kind: sys::apus_frame_kind, object: *mut sys::zend_object) -> Result<Read, Failed> {
        let root = self.root();
        // SAFETY: the root does not move; the object lives as long as `Made`, whose reference is given back at the end.
        if !unsafe { sys::apus_reader_begin(&raw mut self.room.state, kind, root, object) } {
            return Err(Failed::Deep);
        }
        self.room.values += 1;
        self.read()
    }

    /// Reads on in what was begun last.
    pub fn read(&mut self) -> Result<Read, Failed> {
        if self.room.values == 0 {
            return Err(Failed::Short);
        }
        // SAFETY: there is a frame for each value that was begun; the frames are as many as the shim takes them for,
        // the strings as many as the state says; slots lie in roots, which do not move, and in arrays that nobody else
        // has.
        let read = unsafe { sys::apus_reader_run(&raw mut self.room.state) };
        self.came(read)
    }

    #[inline]
    fn came(&mut self, read: sys::apus_read) -> Result<Read, Failed> {
        match read {
            sys::apus_read_APUS_READ_WHOLE | sys::apus_read_APUS_READ_END => Ok(Read::Whole),
            sys::apus_read_APUS_READ_OTHER => {
                let innermost = self.room.values - 1;
                self.room.roots[innermost].place = self.room.state.to;
                Ok(Read::Other)
            }
            sys::apus_read_APUS_READ_ROOM => {
                self.more_room();
                self.read()
            }
            _ => Err(self.failed(read)),
        }
    }

    /// A string where nothing else may be; `name`: it is one that PHP may have already.
    pub fn text(&mut self, name: bool) -> Result<PhpString, Failed> {
        let mut text = std::ptr::null_mut();
        loop {
            // SAFETY: as in `read`; the out pointer is local.
            let read = unsafe { sys::apus_reader_text(&raw mut self.room.state, name, &raw mut text) };
            match (read, NonNull::new(text)) {
                // SAFETY: the shim hands over a reference.
                (sys::apus_read_APUS_READ_WHOLE, Some(text)) => return Ok(unsafe { PhpString::from_raw(text) }),
                (sys::apus_read_APUS_READ_ROOM, _) => self.more_room(),
                _ => return Err(self.failed(read)),
            }
        }
    }

    /// The value that [`read`](Self::read) came to.
    #[inline]
    pub fn put(&mut self, value: Value) {
        let Some(innermost) = self.room.values.checked_sub(1) else { return };
        let root = &mut self.room.roots[innermost];
        if let Some(place) = NonNull::new(std::mem::replace(&mut root.place, std::ptr::null_mut())) {
            let value = ManuallyDrop::new(value);
            let (to, from) = (place.as_ptr(), value.as_ptr());
            // SAFETY: the place holds null and lies in the root, or in an array that nothing was put into since. What
            // else is in a zval there links to other elements.
            unsafe {
                (*to).value = (*from).value;
                (*to).u1.type_info = (*from).u1.type_info;
            }
        }
    }

    /// The value that was begun last, which is whole; null for properties.
    #[inline]
    pub fn end(&mut self) -> Value {
        let room = &mut **self.room;
        room.values -= 1;
        let root = &mut room.roots[room.values];
        // SAFETY: as in `begin`, which made a frame for it, too.
        unsafe {
            sys::apus_reader_end(&raw mut room.state);
            std::mem::replace(root.value.as_mut(), Value::undef())
        }
    }

    #[cold]
    fn more_room(&mut self) {
        let len = self.room.texts.len() * 2;
        self.room.texts.resize(len, std::ptr::null_mut());
        (self.room.state.texts, self.room.state.room) = (self.room.texts.as_mut_ptr(), len as u32);
    }

    #[cold]
    fn failed(&self, read: sys::apus_read) -> Failed {
        match read {
            sys::apus_read_APUS_READ_SHORT => Failed::Short,
            sys::apus_read_APUS_READ_COUNT => Failed::Count(self.room.state.wrong),
            sys::apus_read_APUS_READ_LONG_COUNT => Failed::LongCount,
            sys::apus_read_APUS_READ_AGAIN => Failed::Again,
            sys::apus_read_APUS_READ_NO_KEY => Failed::NoKey,
            sys::apus_read_APUS_READ_NO_TEXT => Failed::NoText,
            sys::apus_read_APUS_READ_TWICE => Failed::Twice,
            sys::apus_read_APUS_READ_DEEP => Failed::Deep,
            sys::apus_read_APUS_READ_EXHAUSTED | sys::apus_read_APUS_READ_THROWN => Failed::Raised(Raise::Thrown),
            _ => Failed::Raised(Raise::Bailed),
        }
    }
}

impl Drop for Reader<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.room.state.owns || self.room.values > 0 {
            self.room.give_back();
        }
        self.room.state.known = 0;
        // SAFETY: not used after this.
        let room = unsafe { ManuallyDrop::take(&mut self.room) };
        if room.texts.len() <= KEPT {
            SPARE.with(|spare| spare.set(Some(room)));
        }
    }
}
