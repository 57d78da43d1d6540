//! Values as a serializer sees them: references as such, objects by identity, arrays walked and built in place.
//!
//! A magic method runs PHP code, which may change what is being written. So whoever descends into a value holds a
//! reference of its own to it ([`Item::hold`]): an array with two owners is copied by who writes to it, and an object
//! stays where it is.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::call::Raise;
use crate::sys;
use crate::value::{PhpString, Value, check};

/// One value where it lies, references not followed.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    zval: NonNull<sys::zval>,
    life: PhantomData<&'a ()>,
}

/// Names an object or a reference as long as it is held.
pub type Identity = usize;

/// What an [`Item`] is.
pub enum Node<'a> {
    /// `null`, or an unset slot.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Text(Text<'a>),
    /// An array.
    Array,
    /// An object.
    Object(Identity),
    /// A reference with more than one user; [`Item::target`] is what it refers to.
    Reference(Identity),
    /// A resource.
    Resource,
}

impl<'a> Item<'a> {
    /// What a value holds.
    pub fn of(value: &'a Value) -> Self {
        // SAFETY: a zval is not at address 0, and lives as long as the borrow.
        unsafe { Self::at(value.as_ptr()) }
    }

    /// # Safety
    /// `zval` is initialised and stays where it is for `'a`.
    unsafe fn at(zval: *mut sys::zval) -> Self {
        // SAFETY: as promised.
        Self { zval: unsafe { NonNull::new_unchecked(zval) }, life: PhantomData }
    }

    /// What it is.
    #[inline]
    pub fn node(self) -> Node<'a> {
        let zval = self.zval.as_ptr();
        // SAFETY: initialised and alive for 'a; each union member is read under its own tag.
        unsafe {
            match u32::from((*zval).u1.v.type_) {
                sys::IS_UNDEF | sys::IS_NULL => Node::Null,
                sys::IS_FALSE => Node::Bool(false),
                sys::IS_TRUE => Node::Bool(true),
                sys::IS_LONG => Node::Int((*zval).value.lval),
                sys::IS_DOUBLE => Node::Float((*zval).value.dval),
                sys::IS_STRING => Node::Text(Text::at((*zval).value.str_)),
                sys::IS_ARRAY => Node::Array,
                sys::IS_OBJECT => Node::Object((*zval).value.obj as usize),
                sys::IS_REFERENCE => {
                    let reference = (*zval).value.ref_;
                    if (*reference).gc.refcount == 1 {
                        return Self::at(&raw mut (*reference).val).node();
                    }
                    Node::Reference(reference as usize)
                }
                _ => Node::Resource,
            }
        }
    }

    /// A reference of one's own to the very thing: to the reference, if it is one with more than one user.
    pub fn hold(self) -> Value {
        let value = Value::undef();
        let mut from = self.zval.as_ptr();
        // SAFETY: initialised and alive; a counted value has its count at its start. The copy's bits are all of it.
        unsafe {
            if u32::from((*from).u1.v.type_) == sys::IS_REFERENCE && (*(*from).value.ref_).gc.refcount == 1 {
                from = &raw mut (*(*from).value.ref_).val;
            }
            let to = value.as_ptr();
            (*to).value = (*from).value;
            (*to).u1.type_info = (*from).u1.type_info;
            if (*from).u1.v.type_flags != 0 {
                (*(*from).value.counted).gc.refcount += 1;
            }
        }
        value
    }

    /// What the reference in it refers to; itself if it is none.
    #[must_use]
    pub fn target(self) -> Self {
        let zval = self.zval.as_ptr();
        // SAFETY: a reference is alive as long as who holds it.
        unsafe {
            let is = u32::from((*zval).u1.v.type_) == sys::IS_REFERENCE;
            if is { Self::at(&raw mut (*(*zval).value.ref_).val) } else { self }
        }
    }

    /// The elements of an array that the caller holds; none of anything else.
    pub fn elements(self) -> Elements<'a> {
        let zval = self.zval.as_ptr();
        // SAFETY: the tag tells that it is an array.
        let array = unsafe {
            if u32::from((*zval).u1.v.type_) == sys::IS_ARRAY { (*zval).value.arr } else { std::ptr::null_mut() }
        };
        Elements { array, at: 0, life: PhantomData }
    }
}

/// The bytes of a PHP string, with its hash.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    string: NonNull<sys::zend_string>,
    life: PhantomData<&'a ()>,
}

impl<'a> Text<'a> {
    /// # Safety
    /// The string is alive for `'a`.
    unsafe fn at(string: *mut sys::zend_string) -> Self {
        // SAFETY: as promised.
        Self { string: unsafe { NonNull::new_unchecked(string) }, life: PhantomData }
    }

    /// A string that Rust holds.
    pub fn of(string: &'a PhpString) -> Self {
        // SAFETY: alive as long as the borrow.
        unsafe { Self::at(string.as_raw().as_ptr()) }
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        let string = self.string.as_ptr();
        // SAFETY: alive for 'a; the bytes follow the header.
        unsafe { std::slice::from_raw_parts((&raw const (*string).val).cast::<u8>(), (*string).len) }
    }

    /// PHP's hash of it.
    #[inline]
    pub fn hash(self) -> u64 {
        // SAFETY: alive; a hash that was computed once is kept in the string.
        unsafe {
            let kept = (*self.string.as_ptr()).h;
            if kept != 0 { kept } else { sys::apus_pack_hash(self.string.as_ptr()) }
        }
    }
}

/// A key of an array as it is kept.
#[derive(Clone, Copy)]
pub enum KeyText<'a> {
    /// A string.
    Text(Text<'a>),
    /// An integer.
    Index(i64),
}

/// The elements of an array in order, which the one who walks holds.
pub struct Elements<'a> {
    array: *mut sys::zend_array,
    at: u32,
    life: PhantomData<&'a ()>,
}

impl<'a> Elements<'a> {
    /// How many there are.
    pub fn length(&self) -> usize {
        if self.array.is_null() {
            return 0;
        }
        // SAFETY: held by the caller.
        unsafe { (*self.array).nNumOfElements as usize }
    }

    fn packed(&self) -> bool {
        // SAFETY: held by the caller; never called for no array.
        unsafe { (*self.array).u.flags & sys::APUS_HASH_PACKED != 0 }
    }

    /// Whether its keys are 0, 1, 2 and so on for certain.
    pub fn is_list(&self) -> bool {
        // SAFETY: held by the caller.
        self.array.is_null() || unsafe { (*self.array).nNumUsed == (*self.array).nNumOfElements && self.packed() }
    }

    /// The integers of a list of nothing else.
    pub fn ints(&self) -> Option<impl Iterator<Item = i64> + 'a> {
        // SAFETY: the tags were compared; the member is the one that they name.
        Some(self.all(sys::IS_LONG)?.iter().map(|zval| unsafe { zval.value.lval }))
    }

    /// The floats of a list of nothing else.
    pub fn floats(&self) -> Option<impl Iterator<Item = f64> + 'a> {
        // SAFETY: as above.
        Some(self.all(sys::IS_DOUBLE)?.iter().map(|zval| unsafe { zval.value.dval }))
    }

    fn all(&self, kind: u32) -> Option<&'a [sys::zval]> {
        if self.array.is_null() || !self.is_list() {
            return None;
        }
        // SAFETY: a packed array keeps its elements one after the other; held by the caller, so that nobody writes.
        unsafe {
            let items = std::slice::from_raw_parts((*self.array).__bindgen_anon_1.arPacked, self.length());
            items.iter().all(|zval| u32::from(zval.u1.v.type_) == kind).then_some(items)
        }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = (KeyText<'a>, Item<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.array.is_null() {
            return None;
        }
        // SAFETY: held by the caller; the index is below the number of used places. An indirect element lies in an
        // object's slot, which stays where it is as long as the object.
        unsafe {
            while self.at < (*self.array).nNumUsed {
                let at = self.at as usize;
                self.at += 1;
                let (mut zval, key) = if self.packed() {
                    ((*self.array).__bindgen_anon_1.arPacked.add(at), KeyText::Index(at as i64))
                } else {
                    let bucket = (*self.array).__bindgen_anon_1.arData.add(at);
                    let text = NonNull::new((*bucket).key);
                    let key =
                        text.map_or(KeyText::Index((*bucket).h as i64), |text| KeyText::Text(Text::at(text.as_ptr())));
                    (&raw mut (*bucket).val, key)
                };
                if u32::from((*zval).u1.v.type_) == sys::IS_INDIRECT {
                    zval = (*zval).value.zv;
                }
                if u32::from((*zval).u1.v.type_) != sys::IS_UNDEF {
                    return Some((key, Item::at(zval)));
                }
            }
        }
        None
    }
}

/// A class, and handlers, whose objects are written by their declared properties as long as they have no others.
#[derive(Clone, Copy)]
pub struct Plain((*mut sys::zend_class_entry, *const sys::zend_object_handlers));

impl Plain {
    /// Whether an object is such.
    #[inline]
    pub fn is_of(self, object: &Value) -> bool {
        // SAFETY: alive as long as the value.
        raw_object(object).is_some_and(|raw| unsafe {
            let object = raw.as_ptr();
            ((*object).ce, (*object).handlers) == self.0
                && (*object).properties.is_null()
                && sys::apus_pack_is_real(object)
        })
    }

    /// The name of the class, which the object keeps.
    pub fn name(self, _object: &Value) -> Text<'_> {
        // SAFETY: a class with objects is alive, and keeps its name.
        unsafe { Text::at((*self.0.0).name) }
    }
}

/// How an object is to be written.
pub enum Form {
    /// By its declared properties: [`slots`].
    Slots(Plain),
    /// By an array, mangled names as keys.
    Table(Value),
    /// By what `Serializable::serialize()` returned.
    Text(PhpString),
    /// By the name of its case.
    Case(PhpString),
    /// As null.
    Null,
}

/// Asks an object for its contents; PHP code may run. Gives its class's name, too.
pub fn describe(object: &Value) -> Result<(Form, PhpString), Raise> {
    let Some(raw) = raw_object(object) else { return Ok((Form::Null, PhpString::new(b"")?)) };
    let mut form = sys::apus_form_APUS_FORM_NULL;
    let out = Value::undef();
    let mut class = std::ptr::null_mut();
    // SAFETY: alive as long as the value; the out pointers are local.
    let status = unsafe { sys::apus_pack_object(raw.as_ptr(), &raw mut form, out.as_ptr(), &raw mut class) };
    // SAFETY: a name that is not NULL is ours.
    let class = NonNull::new(class).map(|raw| unsafe { PhpString::from_raw(raw) });
    check(status)?;
    let class = class.map_or_else(|| PhpString::new(b""), Ok)?;
    let form = match form {
        sys::apus_form_APUS_FORM_SLOTS => {
            // SAFETY: alive as long as the value.
            Form::Slots(Plain(unsafe { ((*raw.as_ptr()).ce, (*raw.as_ptr()).handlers) }))
        }
        sys::apus_form_APUS_FORM_TABLE => Form::Table(out),
        sys::apus_form_APUS_FORM_TEXT => string_of(out).map_or(Form::Null, Form::Text),
        sys::apus_form_APUS_FORM_ENUM => string_of(out).map_or(Form::Null, Form::Case),
        _ => Form::Null,
    };
    Ok((form, class))
}

fn string_of(value: Value) -> Option<PhpString> {
    let value = ManuallyDrop::new(value);
    // SAFETY: the tag tells that it is a string, whose reference moves.
    unsafe {
        let zval = value.as_ptr();
        let is = u32::from((*zval).u1.v.type_) == sys::IS_STRING;
        is.then(|| NonNull::new((*zval).value.str_)).flatten().map(|raw| PhpString::from_raw(raw))
    }
}

fn raw_object(value: &Value) -> Option<NonNull<sys::zend_object>> {
    let zval = value.as_ptr();
    // SAFETY: the tag tells that it is an object.
    unsafe {
        let is = u32::from((*zval).u1.v.type_) == sys::IS_OBJECT;
        is.then(|| NonNull::new((*zval).value.obj)).flatten()
    }
}

/// The initialised declared properties of an object that [`describe`] said to write so; PHP code may run between two
/// steps.
pub fn slots(object: &Value) -> impl Iterator<Item = (Text<'_>, Item<'_>)> {
    let raw = raw_object(object);
    // SAFETY: alive as long as the value.
    let count = raw.map_or(0, |raw| unsafe { sys::apus_pack_slots(raw.as_ptr()) });
    (0..count).filter_map(move |slot| {
        let (mut name, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: as above; slots stay where they are, and a class keeps the names of its properties.
        unsafe {
            let there = sys::apus_pack_slot(raw?.as_ptr(), slot, &raw mut name, &raw mut value);
            there.then(|| (Text::at(name), Item::at(value)))
        }
    })
}
