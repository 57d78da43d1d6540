//! Declaring classes, functions and constants to Zend, and printing them as PHP stubs.

use std::ffi::{CString, c_char};
use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::decl;
use crate::engine::ClassEntry;
use crate::object::Native;
use crate::sys;
use crate::value::Value;

/// What Zend calls for a native function; made by [`crate::handler!`].
pub type Handler = unsafe extern "C" fn(*mut sys::zend_execute_data, *mut sys::zval);

/// Fills a property when it is first read; made by [`crate::lazy_fill!`].
pub type LazyFill = unsafe extern "C" fn(*mut sys::zend_object, u32) -> sys::apus_status;

/// One member of a class, or one function: its PHP declaration, its documentation, and what runs.
#[derive(Clone, Copy)]
pub struct Method {
    /// `public static function sleep(float $seconds): bool`
    pub decl: &'static str,
    /// What it does, parameters and units, default, limits, result, exceptions, whether it waits, since when.
    pub doc: &'static str,
    /// Its code; none for an abstract method.
    pub handler: Option<Handler>,
}

/// A property: `public int $port = 0`. Without a default it stays uninitialized until written (or lazily filled).
pub struct Property {
    /// Its PHP declaration.
    pub decl: &'static str,
    /// What it holds.
    pub doc: &'static str,
}

/// The value of a constant.
#[derive(Clone, Copy)]
pub enum Const {
    /// An integer.
    Int(i64),
    /// A string.
    Str(&'static str),
}

/// A constant, of a class or global.
pub struct Constant {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Const,
    /// What it means.
    pub doc: &'static str,
}

/// A class.
pub struct Class {
    /// Its full name.
    pub name: &'static str,
    /// `final`, `abstract`, or empty.
    pub modifiers: &'static str,
    /// The parent's full name, or empty. Parents are registered before children.
    pub extends: &'static str,
    /// Full names of interfaces.
    pub implements: &'static [&'static str],
    /// What it is for.
    pub doc: &'static str,
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
    pub entry: &'static OnceLock<ClassEntry>,
}

/// A C string that lives as long as the process, as Zend wants names of what is registered.
fn forever(text: &str) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

fn class_pointer(class: Option<&String>) -> *const c_char {
    class.map_or(std::ptr::null(), |name| forever(name))
}

fn method_def(method: &Method) -> sys::apus_method_def {
    let parsed = decl::function(method.decl);
    let args: Vec<sys::apus_arg_def> = parsed
        .params
        .iter()
        .map(|p| sys::apus_arg_def {
            name: forever(&p.name),
            mask: p.ty.mask,
            class_name: class_pointer(p.ty.class.as_ref()),
            default_value: p.default.as_ref().map_or(std::ptr::null(), |d| forever(d)),
            by_ref: p.by_ref,
            variadic: p.variadic,
        })
        .collect();
    let mut flags = parsed.flags;
    if method.handler.is_none() {
        flags |= sys::ZEND_ACC_ABSTRACT;
    }
    sys::apus_method_def {
        name: forever(&parsed.name),
        handler: method.handler,
        num_args: args.len() as u32,
        required: parsed.required(),
        args: Vec::leak(args).as_ptr(),
        return_mask: parsed.ret.mask,
        return_class: class_pointer(parsed.ret.class.as_ref()),
        flags,
    }
}

fn default_value(text: Option<&str>) -> Value {
    match text {
        None => Value::undef(),
        Some("null") => Value::null(),
        Some("true") => Value::bool(true),
        Some("false") => Value::bool(false),
        Some(text) if text.starts_with('\'') => {
            Value::string(text.trim_matches('\'').as_bytes()).unwrap_or_else(|_| Value::null())
        }
        Some(text) => match (text.parse(), text.parse()) {
            (Ok(value), _) => Value::int(value),
            (_, Ok(value)) => Value::float(value),
            _ => panic!("no such default: {text}"),
        },
    }
}

impl Class {
    /// Registers the class. To be called at module start, parents first.
    ///
    /// # Panics
    /// When the declaration is wrong: it is the program's own text.
    pub fn register(&'static self) {
        let parent = if self.extends.is_empty() { std::ptr::null_mut() } else { find(self.extends) };
        let methods: Vec<_> = self.methods.iter().map(method_def).collect();
        let mut flags = 0;
        if self.modifiers.contains("final") {
            flags |= sys::ZEND_ACC_FINAL;
        }
        if self.modifiers.contains("abstract") {
            flags |= sys::ZEND_ACC_EXPLICIT_ABSTRACT_CLASS;
        }
        // SAFETY: module start; all names live for the process.
        let entry = unsafe {
            let entry = sys::apus_class_register(forever(self.name), parent, flags, methods.as_ptr(), methods.len());
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
                None => {}
            }
        }
        let entry = ClassEntry::from_raw(entry).expect("Zend registers a class or ends the process");
        let _ = self.entry.set(entry);
    }

    fn declare_members(&self, entry: *mut sys::zend_class_entry) {
        for property in self.properties {
            let parsed = decl::property(property.decl);
            let value = default_value(parsed.default.as_deref());
            // SAFETY: a class under registration; names live for the process.
            unsafe {
                sys::apus_class_property(
                    entry,
                    forever(&parsed.name),
                    parsed.ty.mask,
                    class_pointer(parsed.ty.class.as_ref()),
                    value.as_ptr(),
                    parsed.flags,
                );
            }
            // A string default was interned in place and has no reference to give back.
            std::mem::forget(value);
        }
        for constant in self.constants {
            let name = forever(constant.name);
            // SAFETY: a class under registration.
            unsafe {
                match constant.value {
                    Const::Int(value) => sys::apus_class_constant_long(entry, name, value),
                    Const::Str(value) => sys::apus_class_constant_string(entry, name, forever(value)),
                }
            }
        }
    }

    /// The registered class.
    ///
    /// # Panics
    /// Before registration.
    pub fn get(&self) -> ClassEntry {
        *self.entry.get().expect("registered at module start")
    }

    /// The Rust value behind argument-like `object`, when it is an instance of this class.
    pub fn payload<'a, T: Native>(&self, object: std::ptr::NonNull<sys::zend_object>) -> Option<&'a T> {
        // SAFETY: an instance of a native class; the caller keeps the object alive while it uses the payload.
        self.get().contains(object).then(|| unsafe { crate::object::payload(object) }).flatten()
    }
}

fn find(name: &str) -> *mut sys::zend_class_entry {
    let c = CString::new(name).unwrap_or_default();
    // SAFETY: module start; the class table exists.
    let found = unsafe { sys::apus_class_find(c.as_ptr()) };
    assert!(!found.is_null(), "class {name} is not registered yet");
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
        let name = forever(constant.name);
        // SAFETY: module start.
        unsafe {
            match constant.value {
                Const::Int(value) => sys::apus_constant_long(name, value, module),
                Const::Str(value) => sys::apus_constant_string(name, forever(value), module),
            }
        }
    }
}

fn doc_block(out: &mut String, indent: &str, doc: &str) {
    let _ = writeln!(out, "{indent}/**");
    for line in doc.trim().lines() {
        let _ = writeln!(out, "{indent} * {}", line.trim());
    }
    let _ = writeln!(out, "{indent} */");
}

fn constant_text(constant: &Constant) -> String {
    match constant.value {
        Const::Int(value) => format!("{value}"),
        Const::Str(value) => format!("'{value}'"),
    }
}

/// Class names in declarations are full; in a stub they need their leading backslash.
fn qualify(decl: &str) -> String {
    let mut out = String::with_capacity(decl.len() + 8);
    let mut previous = ' ';
    for (at, c) in decl.char_indices() {
        let starts =
            c.is_ascii_uppercase() && !previous.is_alphanumeric() && !matches!(previous, '\\' | '_' | '$' | '\'');
        let class =
            starts && decl[at..].split(|c: char| !c.is_alphanumeric() && c != '\\').next().is_some_and(is_class);
        if class {
            out.push('\\');
        }
        out.push(c);
        previous = c;
    }
    out
}

fn is_class(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_lowercase())
}

/// The stub of one class.
pub fn class_stub(class: &Class) -> String {
    let (namespace, short) = class.name.rsplit_once('\\').unwrap_or(("", class.name));
    let mut out = format!("namespace {namespace} {{\n");
    doc_block(&mut out, "    ", class.doc);
    let modifiers = if class.modifiers.is_empty() { String::new() } else { format!("{} ", class.modifiers) };
    let _ = write!(out, "    {modifiers}class {short}");
    if !class.extends.is_empty() {
        let _ = write!(out, " extends \\{}", class.extends);
    }
    if !class.implements.is_empty() {
        let _ = write!(out, " implements \\{}", class.implements.join(", \\"));
    }
    out.push_str("\n    {\n");
    for constant in class.constants {
        doc_block(&mut out, "        ", constant.doc);
        let _ = writeln!(out, "        public const {} = {};\n", constant.name, constant_text(constant));
    }
    for property in class.properties {
        doc_block(&mut out, "        ", property.doc);
        let _ = writeln!(out, "        {};\n", qualify(property.decl));
    }
    for method in class.methods {
        doc_block(&mut out, "        ", method.doc);
        let end = if method.handler.is_none() { ";" } else { " {}" };
        let _ = writeln!(out, "        {}{end}\n", qualify(method.decl));
    }
    out.push_str("    }\n}\n\n");
    out
}

/// The stub of functions, each in its namespace.
pub fn function_stubs(functions: &[Method]) -> String {
    let mut out = String::new();
    for function in functions {
        let name = decl::function(function.decl).name;
        let (namespace, short) = name.rsplit_once('\\').unwrap_or(("", &name));
        let _ = writeln!(out, "namespace {namespace} {{");
        doc_block(&mut out, "    ", function.doc);
        let decl = function.decl.replacen(&name, short, 1);
        let _ = writeln!(out, "    {} {{}}\n}}\n", qualify(&decl));
    }
    out
}

/// The stub of global constants.
pub fn constant_stubs(constants: &[Constant]) -> String {
    let mut out = String::new();
    for constant in constants {
        let (namespace, short) = constant.name.rsplit_once('\\').unwrap_or(("", constant.name));
        let _ = writeln!(out, "namespace {namespace} {{");
        doc_block(&mut out, "    ", constant.doc);
        let _ = writeln!(out, "    const {short} = {};\n}}\n", constant_text(constant));
    }
    out
}
