//! PHP arrays: those that Rust makes, and looks into others.

use std::ffi::c_char;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::value::{Value, View, bytes_of, check};
use crate::call::Raise;
use crate::sys;

/// A PHP array under construction, with one owner.
pub struct Array(NonNull<sys::zend_array>);

impl Array {
    /// An empty array with room for `size` elements.
    pub fn new(size: usize) -> Result<Self, Raise> {
        // SAFETY: allocation only; NULL tells a bailout.
        let array = unsafe { sys::apus_array_new(u32::try_from(size).unwrap_or(8)) };
        NonNull::new(array).map(Self).ok_or(Raise::Bailed)
    }

    /// Takes over one reference.
    ///
    /// # Safety
    /// `array` is alive and the caller owns the only reference to it, which it gives away.
    pub(crate) unsafe fn from_raw(array: NonNull<sys::zend_array>) -> Self {
        Self(array)
    }

    /// The array that a value is, if it has no other owner: else the value again.
    pub fn alone(value: Value) -> Result<Self, Value> {
        // SAFETY: a value of this type holds a reference to an array that is alive and counted.
        let array = unsafe {
            (value.0.u1.type_info == sys::APUS_IS_ARRAY_EX && (*value.0.value.arr).gc.refcount == 1)
                .then(|| NonNull::new(value.0.value.arr))
        };
        let Some(array) = array.flatten() else { return Err(value) };
        // Its reference goes over.
        std::mem::forget(value);
        Ok(Self(array))
    }

    pub(crate) fn raw(&self) -> *mut sys::zend_array {
        self.0.as_ptr()
    }

    /// `$array[$key] = $bytes`.
    pub fn set_str(&mut self, key: &[u8], bytes: &[u8]) -> Result<(), Raise> {
        // SAFETY: self is the only owner; the slices outlive the call, which copies them.
        check(unsafe {
            sys::apus_array_add_str(self.0.as_ptr(), key.as_ptr().cast(), key.len(), bytes.as_ptr().cast(), bytes.len())
        })
    }

    /// `$array[strtolower($name)] = $bytes` where nothing is there, not even null. Whether it was so.
    pub fn add_field(&mut self, name: &[u8], bytes: &[u8]) -> Result<bool, Raise> {
        let mut added = false;
        // SAFETY: as in `set_str`; the out pointer is local.
        check(unsafe {
            sys::apus_array_add_field(
                self.0.as_ptr(),
                name.as_ptr().cast(),
                name.len(),
                bytes.as_ptr().cast(),
                bytes.len(),
                &raw mut added,
            )
        })?;
        Ok(added)
    }

    /// `$array[$key] = $value`.
    pub fn set_int(&mut self, key: &[u8], value: i64) -> Result<(), Raise> {
        self.set(key, Value::int(value))
    }

    /// `$array[$key] = $value`.
    pub fn set(&mut self, key: &[u8], value: Value) -> Result<(), Raise> {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: self is the only owner; the array takes the value's reference.
        check(unsafe { sys::apus_array_add_zval(self.0.as_ptr(), key.as_ptr().cast(), key.len(), &raw mut value.0) })
    }

    /// `$array[$index] = $value`.
    pub fn set_index(&mut self, index: u64, value: Value) -> Result<(), Raise> {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: as in `set`.
        check(unsafe { sys::apus_array_set_index(self.0.as_ptr(), index, &raw mut value.0) })
    }

    /// `$array[] = $value`.
    pub fn push(&mut self, value: Value) -> Result<(), Raise> {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: as in `set`.
        check(unsafe { sys::apus_array_push(self.0.as_ptr(), &raw mut value.0) })
    }

    /// A look at it.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: alive and unchanged as long as self is borrowed.
        unsafe { ArrayView::of(self.0.as_ptr()) }
    }

    /// Puts each value where PHP would put a form variable of its name. A name that goes on below an earlier one takes
    /// its place, and the other way round: no value becomes a part of another.
    pub fn of_named<'a>(values: &Array, names: impl Iterator<Item = &'a [u8]>) -> Result<Value, Raise> {
        let array = Value::from(Self::new(8)?);
        let mut key = Vec::with_capacity(64);
        for (place, name) in names.enumerate() {
            c_name(name, &mut key);
            let mut place = ManuallyDrop::new(Value::int(place as i64));
            // SAFETY: `key` ends in NUL; the array has one owner; a number has none.
            check(unsafe { sys::apus_register_value(key.as_ptr().cast(), &raw mut place.0, array.as_ptr()) })?;
        }
        // SAFETY: `array` and all arrays in it were made above, and have one owner each.
        unsafe { sys::apus_replace_numbers((*array.as_ptr()).value.arr, values.0.as_ptr()) };
        Ok(array)
    }

    /// Puts form variables where PHP would: `a[b][]=1` nests, dots in names become underscores.
    pub fn of_variables<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Result<Value, Raise> {
        Self::of_pairs(pairs, sys::apus_register_variable)
    }

    /// The same for cookies: of equal names the first counts, as in `$_COOKIE`.
    pub fn of_cookies<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Result<Value, Raise> {
        Self::of_pairs(pairs, sys::apus_register_cookie)
    }

    fn of_pairs<'a>(
        pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        register: unsafe extern "C" fn(*const c_char, *const c_char, usize, *mut sys::zval) -> sys::apus_status,
    ) -> Result<Value, Raise> {
        let array = Value::from(Self::new(8)?);
        let mut name = Vec::with_capacity(64);
        for (key, bytes) in pairs {
            c_name(key, &mut name);
            // SAFETY: `name` ends in NUL; the bytes are copied; the array has one owner.
            check(unsafe { register(name.as_ptr().cast(), bytes.as_ptr().cast(), bytes.len(), array.as_ptr()) })?;
        }
        Ok(array)
    }
}

/// Writes a name of a peer's as C has it, which ends at its first NUL.
fn c_name(name: &[u8], into: &mut Vec<u8>) {
    into.clear();
    into.extend(name.iter().take_while(|&&b| b != 0));
    into.push(0);
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        let array = ManuallyDrop::new(array);
        let mut this = Self::of_type(sys::APUS_IS_ARRAY_EX);
        this.0.value.arr = array.0.as_ptr();
        this
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        let mut value = ManuallyDrop::new(Value::of_type(sys::APUS_IS_ARRAY_EX));
        value.0.value.arr = self.0.as_ptr();
        drop(ManuallyDrop::into_inner(value));
    }
}

/// A look into an array.
#[derive(Clone, Copy)]
pub struct ArrayView<'a> {
    array: NonNull<sys::zend_array>,
    life: std::marker::PhantomData<&'a ()>,
}

/// A key of a PHP array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// A string key.
    Str(&'a [u8]),
    /// An integer key.
    Index(u64),
}

/// An element of an array that lives, unchanged, for `'a`.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    zval: *mut sys::zval,
    life: std::marker::PhantomData<&'a ()>,
}

impl<'a> Element<'a> {
    /// # Safety
    /// `zval` is an initialised element of an array that stays alive and unchanged for `'a`.
    pub(crate) unsafe fn of(zval: *mut sys::zval) -> Self {
        Self { zval, life: std::marker::PhantomData }
    }

    /// What it is.
    #[inline]
    pub fn view(self) -> View<'a> {
        // SAFETY: initialised and unchanged for 'a, as whoever made it promised.
        unsafe { View::of(self.zval) }
    }

    /// Another reference to it.
    #[inline]
    pub fn value(self) -> Value {
        // SAFETY: as in `view`.
        unsafe { Value::copy_of(self.zval) }
    }
}

impl<'a> ArrayView<'a> {
    /// # Safety
    /// `array` is a live array that stays alive and unchanged for `'a`.
    pub unsafe fn of(array: *mut sys::zend_array) -> Self {
        // SAFETY: a live array is not at address 0.
        Self { array: unsafe { NonNull::new_unchecked(array) }, life: std::marker::PhantomData }
    }

    pub(crate) fn raw(self) -> *mut sys::zend_array {
        self.array.as_ptr()
    }

    /// How many elements it has.
    pub fn len(self) -> usize {
        // SAFETY: alive for 'a.
        unsafe { sys::apus_array_count(self.array.as_ptr()) as usize }
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// A reference to the array.
    pub fn value(self) -> Value {
        let array = self.array.as_ptr();
        // SAFETY: alive for 'a; arrays that PHP keeps for good are not counted, and have the flag that such strings
        // have.
        let counted = unsafe {
            let counted = (*array).gc.u.type_info & sys::APUS_STR_INTERNED == 0;
            if counted {
                (*array).gc.refcount += 1;
            }
            counted
        };
        let mut value = Value::of_type(if counted { sys::APUS_IS_ARRAY_EX } else { sys::IS_ARRAY });
        value.0.value.arr = array;
        value
    }

    /// The element under a string key.
    pub fn get(self, key: &str) -> Option<View<'a>> {
        // SAFETY: alive for 'a; the key is read during the call only.
        let found = unsafe { sys::apus_array_find(self.array.as_ptr(), key.as_ptr().cast(), key.len()) };
        // SAFETY: an element lives as long as its unchanged array.
        (!found.is_null()).then(|| unsafe { View::of(found) })
    }

    /// Its elements in order.
    pub fn iter(self) -> impl Iterator<Item = (Key<'a>, Element<'a>)> {
        let mut pos = 0;
        std::iter::from_fn(move || {
            let mut key: *mut sys::zend_string = std::ptr::null_mut();
            let mut index: sys::zend_ulong = 0;
            let mut value: *mut sys::zval = std::ptr::null_mut();
            // SAFETY: the array is alive and unchanged for 'a; the out pointers are local.
            let more = unsafe {
                sys::apus_array_next(self.array.as_ptr(), &raw mut pos, &raw mut key, &raw mut index, &raw mut value)
            };
            // SAFETY: a key lives as long as its array, and so does an element.
            more.then(|| unsafe {
                (if key.is_null() { Key::Index(index) } else { Key::Str(bytes_of(key)) }, Element::of(value))
            })
        })
    }
}

/// What `$request->server` is built from.
#[derive(Clone, Copy)]
pub struct ServerFields<'a> {
    /// The method.
    pub method: &'a [u8],
    /// The path as sent.
    pub path: &'a [u8],
    /// The path decoded; the very slice of `path` where nothing was encoded.
    pub decoded_path: &'a [u8],
    /// The query, where there is one.
    pub query: Option<&'a [u8]>,
    /// The address that was reached, as text.
    pub server_addr: &'a [u8],
    /// The client's address as text.
    pub remote_addr: &'a [u8],
    /// The client's port.
    pub remote_port: u16,
    /// The port that was reached.
    pub server_port: u16,
    /// 0 for HTTP/1.1, 1 for HTTP/1.0, 2 for HTTP/2.
    pub protocol: u8,
    /// When the head was complete, in seconds since 1970.
    pub received_at: f64,
    /// When the connection was made, in seconds since 1970.
    pub connected_at: f64,
}

impl Array {
    /// `$request->server`.
    pub fn of_server(fields: &ServerFields<'_>) -> Result<Self, Raise> {
        let bytes = |text: &[u8]| sys::apus_bytes { bytes: text.as_ptr().cast(), len: text.len() };
        let raw = sys::apus_server_fields {
            method: bytes(fields.method),
            path: bytes(fields.path),
            decoded_path: bytes(fields.decoded_path),
            query: bytes(fields.query.unwrap_or_default()),
            server_addr: bytes(fields.server_addr),
            remote_addr: bytes(fields.remote_addr),
            has_query: fields.query.is_some(),
            protocol: fields.protocol,
            received_at: fields.received_at,
            connected_at: fields.connected_at,
            server_port: i64::from(fields.server_port),
            remote_port: i64::from(fields.remote_port),
        };
        // SAFETY: the slices outlive the call, which copies them; NULL tells a bailout.
        NonNull::new(unsafe { sys::apus_server_array(&raw const raw) }).map(Self).ok_or(Raise::Bailed)
    }
}
