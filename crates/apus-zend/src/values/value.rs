//! PHP values that Rust owns.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::class::Class;
use crate::engine::ClassEntry;
use crate::object::Object;
use crate::sys;

pub use super::array::{Array, ArrayView, Element, Key, ServerFields};

const UNDEF: u32 = sys::IS_UNDEF;

/// One reference to a PHP value; dropped, it gives the reference back (a destructor may run).
#[repr(transparent)]
pub struct Value(pub(super) sys::zval);

impl Value {
    /// `null`.
    #[inline]
    pub fn null() -> Self {
        Self::of_type(sys::IS_NULL)
    }

    /// No value at all, as an unset slot holds.
    #[inline]
    pub fn undef() -> Self {
        Self::of_type(UNDEF)
    }

    #[inline]
    pub(super) fn of_type(kind: u32) -> Self {
        // SAFETY: a zval is plain data; all zeroes is IS_UNDEF, and types without payload need only their tag.
        let mut zval: sys::zval = unsafe { std::mem::zeroed() };
        zval.u1.type_info = kind;
        Self(zval)
    }

    /// A boolean.
    #[inline]
    pub fn bool(value: bool) -> Self {
        Self::of_type(if value { sys::IS_TRUE } else { sys::IS_FALSE })
    }

    /// An integer.
    #[inline]
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
        // SAFETY: as promised; a value without flags owns nothing and is no reference: its bits are all of it. Another
        // one that is no reference has a count, and is its bits and one more of that.
        unsafe {
            if (*zval).u1.v.type_flags == 0 {
                let mut this = Self::of_type((*zval).u1.type_info);
                this.0.value = (*zval).value;
                return this;
            }
            if u32::from((*zval).u1.v.type_) != sys::IS_REFERENCE {
                (*(*zval).value.counted).gc.refcount += 1;
                return Self(zval.read());
            }
        }
        let mut this = Self::undef();
        // SAFETY: both are valid zvals; `this` held nothing.
        unsafe { sys::apus_zval_copy(&raw mut this.0, zval) };
        this
    }

    /// Takes what `slot` holds, which holds nothing then.
    ///
    /// # Safety
    /// `slot` points to an initialised zval whose reference is the caller's to give away.
    #[inline]
    pub(crate) unsafe fn take_from(slot: *mut sys::zval) -> Self {
        // SAFETY: as promised.
        Self(unsafe { slot.replace(Self::undef().into_zval()) })
    }

    fn into_zval(self) -> sys::zval {
        ManuallyDrop::new(self).0
    }

    /// Whether it is a PHP reference, as functions may return.
    pub(crate) fn is_reference(&self) -> bool {
        // SAFETY: the tag of an initialised zval.
        u32::from(unsafe { self.0.u1.v.type_ }) == sys::IS_REFERENCE
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
    #[inline]
    pub unsafe fn move_into(self, slot: *mut sys::zval) {
        let this = ManuallyDrop::new(self);
        // SAFETY: as promised by the caller; the reference moves, `this` is not dropped.
        unsafe { slot.write(this.0) };
    }

    /// Gives all back at once, which costs less than one by one.
    pub fn release_all(values: &mut Vec<Self>) {
        let count = values.len();
        if count == 0 {
            return;
        }
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
    #[inline]
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

pub(super) unsafe fn bytes_of<'a>(string: *mut sys::zend_string) -> &'a [u8] {
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
