//! Declaring classes, functions and constants to Zend, from the tables that the build makes of `php/stub`.

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::engine::ClassEntry;
use crate::object::Native;
use crate::sys;
use crate::value::Value;

/// What Zend calls for a native function; made by [`crate::handler!`].
pub type Handler = unsafe extern "C" fn(*mut sys::zend_execute_data, *mut sys::zval);

/// Fills a property when it is first read; made by [`crate::lazy_fill!`].
pub type LazyFill = unsafe extern "C" fn(*mut sys::zend_object, u32) -> sys::apus_status;

/// Where a registered class is kept.
pub type Entry = OnceLock<ClassEntry>;

/// Built-in types.
pub mod mask {
    use crate::sys;

    macro_rules! masks {
        ($($name:ident = $value:expr;)+) => { $(#[doc = stringify!($name)] pub const $name: u32 = $value;)+ };
    }
    masks! {
        INT = sys::MAY_BE_LONG;
        FLOAT = sys::MAY_BE_DOUBLE;
        STRING = sys::MAY_BE_STRING;
        BOOL = sys::MAY_BE_FALSE | sys::MAY_BE_TRUE;
        FALSE = sys::MAY_BE_FALSE;
        TRUE = sys::MAY_BE_TRUE;
        NULL = sys::MAY_BE_NULL;
        ARRAY = sys::MAY_BE_ARRAY;
        OBJECT = sys::MAY_BE_OBJECT;
        CALLABLE = sys::MAY_BE_CALLABLE;
        MIXED = sys::MAY_BE_ANY;
        VOID = sys::MAY_BE_VOID;
        NEVER = sys::MAY_BE_NEVER;
        STATIC = sys::MAY_BE_STATIC;
    }
}

/// Modifiers.
pub mod flag {
    pub use crate::sys::{
        ZEND_ACC_ABSTRACT as ABSTRACT, ZEND_ACC_ALLOW_DYNAMIC_PROPERTIES as CLASS_DYNAMIC,
        ZEND_ACC_EXPLICIT_ABSTRACT_CLASS as CLASS_ABSTRACT, ZEND_ACC_FINAL as FINAL, ZEND_ACC_FINAL as CLASS_FINAL,
        ZEND_ACC_PRIVATE as PRIVATE, ZEND_ACC_PROTECTED as PROTECTED, ZEND_ACC_PUBLIC as PUBLIC,
        ZEND_ACC_READONLY as READONLY, ZEND_ACC_STATIC as STATIC,
    };
}

/// A type as Zend wants it: a mask of built-in types, and at most one class.
#[derive(Clone, Copy)]
pub struct Type {
    /// Of [`mask`].
    pub mask: u32,
    /// A class by its full name.
    pub class: Option<&'static CStr>,
}

/// A parameter.
#[derive(Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static CStr,
    /// Its type.
    pub ty: Type,
    /// Its default, as PHP text.
    pub default: Option<&'static CStr>,
    /// `&$name`
    pub by_ref: bool,
    /// `...$name`
    pub variadic: bool,
}

/// A member of a class, or a function.
#[derive(Clone, Copy)]
pub struct Method {
    /// Its name; a function's with its namespace.
    pub name: &'static CStr,
    /// Of [`flag`].
    pub flags: u32,
    /// How many leading parameters must be passed.
    pub required: u32,
    /// Its parameters.
    pub params: &'static [Param],
    /// What it returns.
    pub ret: Type,
    /// Its code; none for an abstract method.
    pub handler: Option<Handler>,
}

/// The default of a property.
#[derive(Clone, Copy)]
pub enum Default {
    /// Uninitialised until written, or lazily filled.
    Undefined,
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(&'static CStr),
}

/// A property.
pub struct Property {
    /// Its name.
    pub name: &'static CStr,
    /// Of [`flag`].
    pub flags: u32,
    /// Its type.
    pub ty: Type,
    /// What it holds at first.
    pub default: Default,
}

/// The value of a constant.
#[derive(Clone, Copy)]
pub enum Const {
    /// An integer.
    Int(i64),
    /// A string.
    Str(&'static CStr),
    /// A boolean.
    Bool(bool),
    /// A float.
    Float(f64),
}

impl Const {
    fn value(self) -> Value {
        default_value(match self {
            Self::Int(value) => Default::Int(value),
            Self::Str(text) => Default::Str(text),
            Self::Bool(value) => Default::Bool(value),
            Self::Float(value) => Default::Float(value),
        })
    }
}

/// A constant, of a class or global.
pub struct Constant {
    /// Its name; a global one's with its namespace.
    pub name: &'static CStr,
    /// Its value.
    pub value: Const,
    /// What it means.
    pub doc: &'static str,
}

/// No class: that of a function's wrapper.
pub static NONE: Class = Class {
    name: c"",
    flags: 0,
    extends: None,
    implements: &[],
    constants: &[],
    properties: &[],
    methods: &[],
    native: false,
    lazy: None,
    entry: {
        static ENTRY: Entry = Entry::new();
        &ENTRY
    },
    second: None,
    also: &[],
    short: &[],
};

/// A class.
pub struct Class {
    /// Its full name.
    pub name: &'static CStr,
    /// Of [`flag`].
    pub flags: u32,
    /// The parent's full name. Parents are registered before children.
    pub extends: Option<&'static CStr>,
    /// Full names of interfaces.
    pub implements: &'static [&'static CStr],
    /// Its constants.
    pub constants: &'static [Constant],
    /// Its properties; lazily filled ones come first.
    pub properties: &'static [Property],
    /// Its methods.
    pub methods: &'static [Method],
    /// Whether its objects own a Rust value.
    pub native: bool,
    /// How many leading properties are filled when first read, and by what.
    pub lazy: Option<(u32, LazyFill)>,
    /// Where the registered class is kept.
    pub entry: &'static Entry,
    /// The same class under another name and declaration; its objects are as good as this one's.
    pub second: Option<&'static Self>,
    /// Further names of the class.
    pub also: &'static [&'static CStr],
    /// Further names that a setting of PHP may switch off.
    pub short: &'static [&'static CStr],
}

/// Includes what the build made of `php/stub/FILE.stub.php`: the classes whose methods the including module has, its
/// functions and constants.
#[macro_export]
macro_rules! stub {
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $file, ".rs"));
    };
}

fn pointer(text: Option<&'static CStr>) -> *const c_char {
    text.map_or(std::ptr::null(), CStr::as_ptr)
}

fn method_def(method: &Method) -> sys::apus_method_def {
    let args: Vec<sys::apus_arg_def> = method
        .params
        .iter()
        .map(|param| sys::apus_arg_def {
            name: param.name.as_ptr(),
            mask: param.ty.mask,
            class_name: pointer(param.ty.class),
            default_value: pointer(param.default),
            by_ref: param.by_ref,
            variadic: param.variadic,
        })
        .collect();
    sys::apus_method_def {
        name: method.name.as_ptr(),
        handler: method.handler,
        num_args: args.len() as u32,
        required: method.required,
        args: Vec::leak(args).as_ptr(),
        return_mask: method.ret.mask,
        return_class: pointer(method.ret.class),
        flags: method.flags,
    }
}

fn default_value(default: Default) -> Value {
    match default {
        Default::Undefined => Value::undef(),
        Default::Null => Value::null(),
        Default::Bool(value) => Value::bool(value),
        Default::Int(value) => Value::int(value),
        Default::Float(value) => Value::float(value),
        Default::Str(text) => Value::string(text.to_bytes()).unwrap_or_else(|_| Value::null()),
    }
}

impl Class {
    /// Registers the class. To be called at module start, parents first.
    ///
    /// # Panics
    /// When a parent or interface is not there.
    pub fn register(&'static self) {
        let parent = self.extends.map_or(std::ptr::null_mut(), find);
        let methods: Vec<_> = self.methods.iter().map(method_def).collect();
        // SAFETY: module start; all names live for the process.
        let entry = unsafe {
            let entry =
                sys::apus_class_register(self.name.as_ptr(), parent, self.flags, methods.as_ptr(), methods.len());
            for interface in self.implements {
                sys::apus_class_implement(entry, find(interface));
            }
            entry
        };
        self.declare_members(entry);
        // SAFETY: the class was just registered.
        unsafe {
            match self.lazy {
                Some((count, fill)) => sys::apus_class_set_lazy(entry, count, Some(fill)),
                None if self.native => sys::apus_class_set_native(entry),
                None if self.is_static_there() => sys::apus_class_deny_objects(entry),
                None => {}
            }
        }
        #[expect(clippy::expect_used, reason = "module start; Zend ends the process itself")]
        let entry = ClassEntry::from_raw(entry).expect("Zend registers a class or ends the process");
        let _ = self.entry.set(entry);
    }

    /// Whether it is a class of Swoole's names that has static methods alone: its objects would be of no use.
    fn is_static_there(&self) -> bool {
        let is_static = |method: &Method| method.flags & sys::ZEND_ACC_STATIC != 0;
        self.name.to_bytes().starts_with(b"Swoole\\") && !self.methods.is_empty() && self.methods.iter().all(is_static)
    }

    fn declare_members(&self, entry: *mut sys::zend_class_entry) {
        for property in self.properties {
            let value = default_value(property.default);
            // SAFETY: a class under registration; names live for the process.
            unsafe {
                sys::apus_class_property(
                    entry,
                    property.name.as_ptr(),
                    property.ty.mask,
                    pointer(property.ty.class),
                    value.as_ptr(),
                    property.flags,
                );
            }
            // A string default was interned in place and has no reference to give back.
            std::mem::forget(value);
        }
        for constant in self.constants {
            let value = constant.value.value();
            // SAFETY: a class under registration.
            unsafe { sys::apus_class_constant(entry, constant.name.as_ptr(), value.as_ptr()) };
            // A string was interned in place and has no reference to give back.
            std::mem::forget(value);
        }
    }

    /// Registers further names of the class. To be called at module start, after [`Class::register`].
    ///
    /// # Panics
    /// When the class is not registered.
    pub fn register_names(&self, names: &[&'static CStr]) {
        for name in names {
            // SAFETY: module start; a registered class.
            unsafe { sys::apus_class_alias(name.as_ptr(), self.get().as_ptr()) };
        }
    }

    /// Lets its objects be of the first of its further names, by which it is registered already.
    ///
    /// # Panics
    /// When the class is not registered.
    pub fn go_by_further_name(&self) {
        if let Some(name) = self.also.first() {
            // SAFETY: module start; a registered class.
            unsafe { sys::apus_class_set_name(self.get().as_ptr(), name.as_ptr()) };
        }
    }

    /// The registered class.
    ///
    /// # Panics
    /// Before registration.
    #[expect(clippy::expect_used, reason = "the module registers every class before any code of PHP runs")]
    pub fn get(&self) -> ClassEntry {
        *self.entry.get().expect("registered at module start")
    }

    /// The registered class; with `second` that of its second declaration, where that is registered.
    #[inline]
    pub fn named(&self, second: bool) -> ClassEntry {
        if second {
            self.second.and_then(|class| class.entry.get().copied()).unwrap_or_else(|| self.get())
        } else {
            self.get()
        }
    }

    /// Whether `object` is an instance of the second declaration.
    pub fn is_second(&self, object: NonNull<sys::zend_object>) -> bool {
        self.second.and_then(|class| class.entry.get()).is_some_and(|entry| entry.contains(object))
    }

    /// The class that new objects are of: its second declaration where that is registered and descends from it, so that
    /// they are as good under both names.
    ///
    /// # Panics
    /// Before registration.
    pub fn latest(&self) -> ClassEntry {
        let second = self.second.filter(|second| second.extends == Some(self.name));
        second.and_then(|second| second.entry.get().copied()).unwrap_or_else(|| self.get())
    }

    /// Whether `object` is an instance of this class, or of the same class under its second name.
    pub fn contains(&self, object: NonNull<sys::zend_object>) -> bool {
        let named = |class: &Self| class.entry.get().is_some_and(|entry| entry.contains(object));
        named(self) || self.second.is_some_and(named)
    }

    /// The place of a property that the class itself declares.
    pub fn slot(&self, property: &str) -> Option<u32> {
        let at = self.properties.iter().position(|known| known.name.to_bytes() == property.as_bytes())?;
        u32::try_from(at).ok()
    }

    /// The Rust value behind argument-like `object`, when it is an instance of this class.
    pub fn payload<'a, T: Native>(&self, object: NonNull<sys::zend_object>) -> Option<&'a T> {
        // SAFETY: an instance of a native class; the caller keeps the object alive while it uses the payload.
        self.contains(object).then(|| unsafe { crate::object::payload(object) }).flatten()
    }
}

fn find(name: &CStr) -> *mut sys::zend_class_entry {
    // SAFETY: module start; the class table exists.
    let found = unsafe { sys::apus_class_find(name.as_ptr()) };
    assert!(!found.is_null(), "class {} is not registered yet", name.to_string_lossy());
    found
}

/// Registers functions (their names may hold a namespace).
pub fn register_functions(functions: &'static [Method], module: i32) {
    let defs: Vec<_> = functions.iter().map(method_def).collect();
    // SAFETY: module start; names and argument tables live for the process.
    unsafe { sys::apus_functions_register(defs.as_ptr(), defs.len(), module) };
}

/// Registers global constants.
pub fn register_constants(constants: &'static [Constant], module: i32) {
    for constant in constants {
        let value = constant.value.value();
        // SAFETY: module start.
        unsafe { sys::apus_constant(constant.name.as_ptr(), value.as_ptr(), module) };
        std::mem::forget(value);
    }
}
