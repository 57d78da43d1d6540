//! PHP values that Rust owns.

use std::ffi::c_char;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::class::Class;
use crate::engine::ClassEntry;
use crate::object::Object;
use crate::sys;

const UNDEF: u32 = sys::IS_UNDEF;

/// One reference to a PHP value; dropped, it gives the reference back (a destructor may run).
#[repr(transparent)]
pub struct Value(sys::zval);

impl Value {
    /// `null`.
    pub fn null() -> Self {
        Self::of_type(sys::IS_NULL)
    }

    /// No value at all, as an unset slot holds.
    pub fn undef() -> Self {
        Self::of_type(UNDEF)
    }

    fn of_type(kind: u32) -> Self {
        // SAFETY: a zval is plain data; all zeroes is IS_UNDEF, and types without payload need only their tag.
        let mut zval: sys::zval = unsafe { std::mem::zeroed() };
        zval.u1.type_info = kind;
        Self(zval)
    }

    /// A boolean.
    pub fn bool(value: bool) -> Self {
        Self::of_type(if value { sys::IS_TRUE } else { sys::IS_FALSE })
    }

    /// An integer.
    pub fn int(value: i64) -> Self {
        let mut this = Self::of_type(sys::IS_LONG);
        this.0.value.lval = value;
        this
    }

    /// A float.
    pub fn float(value: f64) -> Self {
        let mut this = Self::of_type(sys::IS_DOUBLE);
        this.0.value.dval = value;
        this
    }

    /// A string with these bytes.
    pub fn string(bytes: &[u8]) -> Result<Self, Raise> {
        PhpString::new(bytes).map(Self::from)
    }

    /// Takes over one reference to an object.
    ///
    /// # Safety
    /// `object` is alive and the caller owns the reference that it gives away.
    pub unsafe fn from_object(object: NonNull<sys::zend_object>) -> Self {
        let mut this = Self::of_type(sys::APUS_IS_OBJECT_EX);
        this.0.value.obj = object.as_ptr();
        this
    }

    /// A new reference to the value behind `zval` (references are followed).
    ///
    /// # Safety
    /// `zval` points to an initialised zval.
    #[inline]
    pub unsafe fn copy_of(zval: *mut sys::zval) -> Self {
        // SAFETY: as promised; a value without flags owns nothing and is no reference: its bits are all of it.
        unsafe {
            if (*zval).u1.v.type_flags == 0 {
                let mut this = Self::of_type((*zval).u1.type_info);
                this.0.value = (*zval).value;
                return this;
            }
        }
        let mut this = Self::undef();
        // SAFETY: both are valid zvals; `this` held nothing.
        unsafe { sys::apus_zval_copy(&raw mut this.0, zval) };
        this
    }

    /// Another reference to the same value.
    #[must_use]
    pub fn share(&self) -> Self {
        // SAFETY: self holds an initialised zval, which copying does not change but for its count.
        unsafe { Self::copy_of((&raw const self.0).cast_mut()) }
    }

    /// Writes the value into a zval that holds nothing, giving it the reference.
    ///
    /// # Safety
    /// `slot` is writable and holds nothing that needs a release.
    pub unsafe fn move_into(self, slot: *mut sys::zval) {
        let this = ManuallyDrop::new(self);
        // SAFETY: as promised by the caller; the reference moves, `this` is not dropped.
        unsafe { slot.write(this.0) };
    }

    /// Gives all back at once, which costs less than one by one.
    pub fn release_all(values: &mut Vec<Self>) {
        let count = values.len();
        // SAFETY: the values are initialised, and nobody's any more; the vector keeps its memory meanwhile.
        unsafe {
            values.set_len(0);
            sys::apus_zvals_release(values.as_mut_ptr().cast(), count as u32);
        }
    }

    /// The raw value, still owned by `self`.
    pub fn as_ptr(&self) -> *mut sys::zval {
        (&raw const self.0).cast_mut()
    }

    /// What it is.
    pub fn view(&self) -> View<'_> {
        // SAFETY: the zval is initialised and lives as long as the borrow of self.
        unsafe { View::of(self.as_ptr()) }
    }

    /// A reference to the object that it is, if any.
    pub fn object(&self) -> Option<Object> {
        if let View::Object(object) = self.view() { Some(object.share()) } else { None }
    }
}

impl Drop for Value {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the zval is initialised.
        if unsafe { self.0.u1.v.type_flags } == 0 {
            return;
        }
        // SAFETY: the zval is ours; a bailout inside is caught by the shim and reported to `call::enter`.
        unsafe { sys::apus_zval_release(&raw mut self.0) };
    }
}

impl From<PhpString> for Value {
    fn from(string: PhpString) -> Self {
        let string = ManuallyDrop::new(string);
        // SAFETY: alive, as `string` owns a reference to it.
        let interned = unsafe { (*string.0.as_ptr()).gc.u.type_info } & sys::APUS_STR_INTERNED != 0;
        let mut this = Self::of_type(if interned { sys::IS_STRING } else { sys::APUS_IS_STRING_EX });
        this.0.value.str_ = string.0.as_ptr();
        this
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        let array = ManuallyDrop::new(array);
        let mut this = Self::of_type(sys::APUS_IS_ARRAY_EX);
        this.0.value.arr = array.0.as_ptr();
        this
    }
}

/// A look at a PHP value without taking a reference.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// `null`, or unset.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// The bytes of a string.
    Str(&'a [u8]),
    /// An array.
    Array(ArrayView<'a>),
    /// An object.
    Object(ObjectView<'a>),
    /// Anything else (a resource).
    Other,
}

impl View<'_> {
    /// # Safety
    /// `zval` is initialised and outlives `'a` unchanged.
    pub unsafe fn of(zval: *mut sys::zval) -> Self {
        // SAFETY: as promised; each union member is read only under its own tag.
        unsafe {
            match u32::from((*zval).u1.v.type_) {
                sys::IS_UNDEF | sys::IS_NULL => Self::Null,
                sys::IS_FALSE => Self::Bool(false),
                sys::IS_TRUE => Self::Bool(true),
                sys::IS_LONG => Self::Int((*zval).value.lval),
                sys::IS_DOUBLE => Self::Float((*zval).value.dval),
                sys::IS_STRING => Self::Str(bytes_of((*zval).value.str_)),
                sys::IS_ARRAY => Self::Array(ArrayView::of((*zval).value.arr)),
                sys::IS_OBJECT => {
                    NonNull::new((*zval).value.obj).map_or(Self::Other, |object| Self::Object(ObjectView::of(object)))
                }
                sys::IS_REFERENCE => Self::of(&raw mut (*(*zval).value.ref_).val),
                _ => Self::Other,
            }
        }
    }
}

/// A look at an object without taking a reference.
#[derive(Clone, Copy)]
pub struct ObjectView<'a> {
    object: NonNull<sys::zend_object>,
    life: std::marker::PhantomData<&'a ()>,
}

impl ObjectView<'_> {
    /// # Safety
    /// `object` is alive for `'a`.
    unsafe fn of(object: NonNull<sys::zend_object>) -> Self {
        Self { object, life: std::marker::PhantomData }
    }

    /// The raw object, which tells it from any other.
    pub fn as_raw(self) -> NonNull<sys::zend_object> {
        self.object
    }

    /// Whether it is an instance of a class that PHP knows by that entry.
    pub fn is_of(self, class: ClassEntry) -> bool {
        class.contains(self.object)
    }

    /// Whether it is an instance of the class, by either of its names.
    pub fn is(self, class: &Class) -> bool {
        class.contains(self.object)
    }

    /// A reference to it.
    pub fn share(self) -> Object {
        // SAFETY: alive for 'a, as whoever made the view promised.
        unsafe { Object::share_raw(self.object) }
    }
}

unsafe fn bytes_of<'a>(string: *mut sys::zend_string) -> &'a [u8] {
    // SAFETY: the caller passes a live string; its bytes follow the header.
    unsafe { std::slice::from_raw_parts((&raw const (*string).val).cast::<u8>(), (*string).len) }
}

/// One reference to a PHP string.
pub struct PhpString(NonNull<sys::zend_string>);

impl PhpString {
    /// A string with these bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, Raise> {
        // SAFETY: pointer and length come from one slice; NULL tells a bailout.
        let string = unsafe { sys::apus_string_new(bytes.as_ptr().cast(), bytes.len()) };
        NonNull::new(string).map(Self).ok_or(Raise::Bailed)
    }

    /// Takes over one reference.
    ///
    /// # Safety
    /// `string` is alive and the caller owns the reference that it gives away.
    pub unsafe fn from_raw(string: NonNull<sys::zend_string>) -> Self {
        Self(string)
    }

    /// The raw string, alive as long as self.
    pub(crate) fn as_raw(&self) -> NonNull<sys::zend_string> {
        self.0
    }

    /// Another reference to it.
    #[must_use]
    pub fn share(&self) -> Self {
        // SAFETY: alive; strings that PHP keeps for good are not counted.
        unsafe {
            if (*self.0.as_ptr()).gc.u.type_info & sys::APUS_STR_INTERNED == 0 {
                (*self.0.as_ptr()).gc.refcount += 1;
            }
        }
        Self(self.0)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: alive as long as self, which owns a reference.
        unsafe { bytes_of(self.0.as_ptr()) }
    }

    /// Its text, with anything that is not UTF-8 replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl Drop for PhpString {
    fn drop(&mut self) {
        // SAFETY: gives back the one reference that self owns.
        unsafe { sys::apus_string_release(self.0.as_ptr()) };
    }
}

/// A PHP array under construction, with one owner.
pub struct Array(NonNull<sys::zend_array>);

pub(crate) fn check(status: sys::apus_status) -> Result<(), Raise> {
    match status {
        sys::apus_status_APUS_OK => Ok(()),
        sys::apus_status_APUS_THREW => Err(Raise::Thrown),
        _ => Err(Raise::Bailed),
    }
}

/// Of a function of the shim that throws.
pub(crate) fn raised(status: sys::apus_status) -> Raise {
    if status == sys::apus_status_APUS_BAILED { Raise::Bailed } else { Raise::Thrown }
}

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
