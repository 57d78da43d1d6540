//! PHP objects that own a Rust value.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::call::Raise;
use crate::callable::Callable;
use crate::class::Class;
use crate::engine::ClassEntry;
use crate::sys;
use crate::value::{Value, check};

/// A Rust value that lives behind PHP objects.
///
/// Methods get `&Self`, and a wait inside one lets others get it, too: state belongs into cells.
pub trait Native: 'static {
    /// The class, for messages.
    const NAME: &'static str;
    /// A static of the implementing type's own: its address tells the type behind an object.
    fn tag() -> &'static u8;
    /// Names the PHP values that this holds a reference of, for the cycle collector: each once, and only those that are
    /// given back when the object goes, not what is shared with somebody who lives on. MUST NOT run PHP code, nor
    /// change anything.
    fn held(&self, _: &Held) {}
}

/// What is told to the cycle collector.
pub struct Held(());

impl Held {
    /// The payload holds a reference of this.
    pub fn value(&self, value: &Value) {
        // SAFETY: a live value; the collector looks at it before anything else happens.
        unsafe { sys::apus_held_add(value.as_ptr()) };
    }

    /// The same for a callable.
    pub fn callable(&self, callable: &Callable) {
        let mut raw = callable.raw();
        // SAFETY: a copy of a live callable, of whose function value another copy is made.
        unsafe { sys::apus_held_add(&raw mut raw.function) };
    }

    /// The same for a callable that may be shared: it is told when nobody else holds it.
    pub fn shared(&self, callable: &Rc<Callable>) {
        if Rc::strong_count(callable) == 1 {
            self.callable(callable);
        }
    }
}

/// Implements [`Native`] for a type; the third argument is its [`Native::held`].
#[macro_export]
macro_rules! native {
    ($type:ty, $name:literal $(, $held:expr)?) => {
        impl $crate::object::Native for $type {
            const NAME: &'static str = $name;
            fn tag() -> &'static u8 {
                // A mutable static has an address of its own; equal constants may share theirs.
                static TAG: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);
                // SAFETY: only the address is used.
                unsafe { &*TAG.as_ptr() }
            }
            $(fn held(&self, held: &$crate::object::Held) {
                let tell: fn(&$type, &$crate::object::Held) = $held;
                tell(self, held);
            })?
        }
    };
}

/// Ends the value that Zend's object owns.
unsafe extern "C" fn end<T>(payload: *mut c_void) {
    let dropped = std::panic::catch_unwind(|| {
        // SAFETY: a value that `attach` has put there, which the shim ends once.
        unsafe { payload.cast::<T>().drop_in_place() };
    });
    if dropped.is_err() {
        eprintln!("apus: a panic while freeing {} was contained", std::any::type_name::<T>());
    }
}

/// Frees the memory of a value that has ended.
unsafe extern "C" fn free<T>(memory: *mut c_void) {
    // SAFETY: made by `attach` for this T; the shim frees it once.
    drop(unsafe { Box::from_raw(memory.cast::<MaybeUninit<T>>()) });
}

unsafe extern "C" fn held<T: Native>(payload: *mut c_void) {
    // Fewer values than there are keep more alive than need be.
    let _ = std::panic::catch_unwind(|| {
        // SAFETY: the payload of a live object, made for this T by `attach`.
        unsafe { &*payload.cast::<T>() }.held(&Held(()));
    });
}

/// Gives an object its Rust value, in the memory of the one that it had when it was in use before. `false`: it has one.
///
/// # Safety
/// `object` is a live object of a class registered as native, whose values are all of this type.
#[inline]
pub(crate) unsafe fn attach<T: Native>(object: NonNull<sys::zend_object>, payload: T) -> bool {
    // SAFETY: as promised by the caller; memory that is there was made here, for the same type.
    unsafe {
        let native = sys::apus_object_of(object.as_ptr());
        if !(*native).payload.is_null() {
            return false;
        }
        let mut memory = std::mem::replace(&mut (*native).memory, std::ptr::null_mut()).cast::<T>();
        if memory.is_null() {
            memory = Box::into_raw(Box::<T>::new_uninit()).cast();
            (*native).type_ = std::ptr::from_ref(T::tag()).cast();
            (*native).drop = Some(end::<T>);
            (*native).free = Some(free::<T>);
            (*native).held = Some(held::<T>);
        }
        memory.write(payload);
        (*native).payload = memory.cast();
    }
    true
}

/// The Rust value behind `object`; `None` before construction.
///
/// # Safety
/// `object` is of a class registered as native, and stays alive for `'a`.
pub unsafe fn payload<'a, T: Native>(object: NonNull<sys::zend_object>) -> Option<&'a T> {
    // SAFETY: as promised: the object is the last part of an apus_object; the tag shows that the payload is a T.
    unsafe {
        let native = object.as_ptr().byte_sub(std::mem::offset_of!(sys::apus_object, std)).cast::<sys::apus_object>();
        let same = std::ptr::eq((*native).type_, std::ptr::from_ref(T::tag()).cast());
        (same && !(*native).payload.is_null()).then(|| &*(*native).payload.cast::<T>())
    }
}

/// Objects of exactly this class that a coroutine's arguments alone still hold at its end are kept, and made anew:
/// those of a class whose objects come and go with every event. To be called once, after the class was registered.
pub fn reuse(class: ClassEntry) {
    // SAFETY: a registered class, of the module's own, lives as long as the process.
    unsafe { sys::apus_class_set_reused(class.as_ptr()) };
}

/// Fills a property for Zend. A panic leaves it as it is.
///
/// # Safety
/// `object` is alive.
pub unsafe fn fill(
    object: *mut sys::zend_object,
    slot: u32,
    body: fn(&Object, u32) -> Result<(), Raise>,
) -> sys::apus_status {
    let filled = std::panic::catch_unwind(|| {
        let Some(raw) = NonNull::new(object) else { return Ok(()) };
        // SAFETY: as promised by the caller.
        let object = unsafe { Object::share_raw(raw) };
        body(&object, slot)
    });
    match filled {
        Ok(Ok(())) => sys::apus_status_APUS_OK,
        Ok(Err(Raise::Bailed)) => sys::apus_status_APUS_BAILED,
        Ok(Err(Raise::Thrown)) | Err(_) => sys::apus_status_APUS_THREW,
    }
}

/// Makes what Zend calls to fill a property of a `fn(&Object, u32) -> Result<(), Raise>`.
#[macro_export]
macro_rules! lazy_fill {
    ($body:path) => {{
        unsafe extern "C" fn fill(object: *mut $crate::sys::zend_object, slot: u32) -> $crate::sys::apus_status {
            // SAFETY: the handlers of objects pass a live one.
            unsafe { $crate::object::fill(object, slot, $body) }
        }
        fill
    }};
}

/// A reference to a PHP object.
pub struct Object(NonNull<sys::zend_object>);

/// See [`Object::name_there`].
pub(crate) fn name_there(object: NonNull<sys::zend_object>) -> Option<String> {
    // SAFETY: the object is alive; the name of a class lives as long as the class.
    let name = unsafe {
        let name = NonNull::new(sys::apus_object_root(object.as_ptr()))?;
        std::slice::from_raw_parts((&raw const (*name.as_ptr()).val).cast::<u8>(), name.as_ref().len)
    };
    let name = String::from_utf8_lossy(name);
    name.starts_with("Swoole\\").then(|| name.into_owned())
}

impl Object {
    /// A new object of a native class with its Rust value; no constructor runs.
    #[inline]
    pub fn new<T: Native>(class: ClassEntry, payload: T) -> Result<Self, Raise> {
        let this = Self::plain(class)?;
        // SAFETY: just made, of a native class.
        unsafe { attach(this.0, payload) };
        Ok(this)
    }

    /// A new object; no constructor runs.
    pub fn plain(class: ClassEntry) -> Result<Self, Raise> {
        // SAFETY: a registered class; NULL tells a bailout.
        NonNull::new(unsafe { sys::apus_object_new(class.as_ptr()) }).map(Self).ok_or(Raise::Bailed)
    }

    /// A new reference to a live object.
    ///
    /// # Safety
    /// `object` is alive.
    pub unsafe fn share_raw(object: NonNull<sys::zend_object>) -> Self {
        // SAFETY: as promised.
        unsafe { sys::apus_object_addref(object.as_ptr()) };
        Self(object)
    }

    /// The raw object, alive as long as self.
    pub fn as_raw(&self) -> NonNull<sys::zend_object> {
        self.0
    }

    /// Another reference.
    #[must_use]
    pub fn share(&self) -> Self {
        // SAFETY: alive as long as self.
        unsafe { Self::share_raw(self.0) }
    }

    /// Whether it is an instance of the class, by either of its names.
    pub fn is(&self, class: &Class) -> bool {
        class.contains(self.0)
    }

    /// Whether it is an instance of the class's second declaration.
    pub fn is_second(&self, class: &Class) -> bool {
        class.is_second(self.0)
    }

    /// The class of Swoole's names that it is of: itself, or what the program's own class extends.
    pub fn name_there(&self) -> Option<String> {
        name_there(self.0)
    }

    /// The Rust value behind it; `None` also of an object of any other class.
    pub fn payload<T: Native>(&self) -> Option<&T> {
        // SAFETY: alive as long as the borrow of self; of a native class.
        unsafe { sys::apus_object_is_native(self.0.as_ptr()).then(|| payload(self.0)).flatten() }
    }

    /// Writes declared property number `slot`, which must not hold anything yet.
    pub fn init_slot(&self, slot: u32, value: Value) {
        // SAFETY: the class declares this slot; a fresh one holds nothing that needs a release.
        unsafe { value.move_into(sys::apus_object_slot(self.0.as_ptr(), slot)) };
    }

    /// Another reference to what declared property number `slot` holds.
    pub fn slot(&self, slot: u32) -> Value {
        // SAFETY: the class declares this slot, which holds an initialised value.
        unsafe { Value::copy_of(sys::apus_object_slot(self.0.as_ptr(), slot)) }
    }

    /// Takes what declared property number `slot` holds, and leaves null there.
    pub fn take_slot(&self, slot: u32) -> Value {
        // SAFETY: the class declares this slot; its reference moves to the value.
        unsafe {
            let slot = sys::apus_object_slot(self.0.as_ptr(), slot);
            let held = Value(slot.read());
            Value::null().move_into(slot);
            held
        }
    }

    /// Overwrites declared property number `slot`.
    pub fn set_slot(&self, slot: u32, value: Value) {
        // SAFETY: the class declares this slot; the old value is taken out first and released last.
        unsafe {
            let slot = sys::apus_object_slot(self.0.as_ptr(), slot);
            let old = Value::copy_of(slot);
            sys::apus_zval_release(slot);
            value.move_into(slot);
            drop(old);
        }
    }

    /// Writes a property by name.
    pub fn set(&self, name: &str, value: &Value) -> Result<(), Raise> {
        // SAFETY: alive; the value is copied by Zend.
        check(unsafe { sys::apus_object_update(self.0.as_ptr(), name.as_ptr().cast(), name.len(), value.as_ptr()) })
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: gives back the reference that self owns.
        unsafe { sys::apus_object_release(self.0.as_ptr()) };
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        let object = std::mem::ManuallyDrop::new(object);
        // SAFETY: the reference moves into the value.
        unsafe { Value::from_object(object.0) }
    }
}
