//! What a stub file says.

/// A docblock.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Doc {
    /// Its lines for users, without the stars.
    pub text: String,
    /// What follows `@rust`, a line each.
    pub rust: Vec<String>,
    /// The module of the last `// @rust module` before it.
    pub module: Option<String>,
    /// Whether a `// @rust typed` stands before it.
    pub typed: bool,
}

impl Doc {
    /// What follows `@rust WORD`; empty for the word alone.
    pub fn rust(&self, word: &str) -> Option<&str> {
        self.rust
            .iter()
            .find_map(|line| line.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with(' ')))
            .map(str::trim)
    }

    /// The Rust item that it names.
    pub fn path(&self) -> Option<&str> {
        let speaks = |line: &&str| !matches!(*line, "typed" | "raw") && !line.starts_with("within ");
        self.rust.iter().map(String::as_str).find(speaks)
    }

    /// Whether the function takes typed arguments, or the call as it is.
    pub fn is_typed(&self) -> bool {
        self.rust("raw").is_none() && (self.typed || self.rust("typed").is_some())
    }
}

/// A type: built-in ones by their PHP names, and at most one class.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Type {
    /// `int`, `null`, …
    pub builtin: Vec<&'static str>,
    /// A class, without the leading backslash.
    pub class: Option<String>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name, without `$`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its default, as PHP text.
    pub default: Option<String>,
    /// `&$name`.
    pub by_ref: bool,
    /// `...$name`.
    pub variadic: bool,
}

/// A function or method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, without a namespace.
    pub name: String,
    /// `public`, `static`, …
    pub modifiers: Vec<&'static str>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it returns.
    pub ret: Type,
}

impl Function {
    /// How many leading parameters must be passed.
    pub fn required(&self) -> usize {
        self.params.iter().take_while(|param| param.default.is_none() && !param.variadic).count()
    }

    /// How many arguments it takes at most; `None` for any number.
    pub fn most(&self) -> Option<usize> {
        (!self.params.iter().any(|param| param.variadic)).then_some(self.params.len())
    }

    /// Whether it has no body.
    pub fn is_abstract(&self) -> bool {
        self.modifiers.contains(&"abstract")
    }
}

/// A property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name, without `$`.
    pub name: String,
    /// `public`, `readonly`, …
    pub modifiers: Vec<&'static str>,
    /// Its type.
    pub ty: Type,
    /// Its default; without one it stays uninitialised.
    pub default: Option<Literal>,
}

impl Property {
    /// Whether objects have a place for it, which static ones have not.
    pub fn has_slot(&self) -> bool {
        !self.modifiers.contains(&"static")
    }
}

/// The value of a constant, or the default of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// `'text'`
    Str(String),
}

impl Eq for Literal {}

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// Its name, without a namespace.
    pub name: String,
    /// Its value.
    pub value: Literal,
}

/// Something that is declared, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<T> {
    /// What it is.
    pub item: T,
    /// The namespace; empty inside a class.
    pub namespace: String,
    /// Its docblock.
    pub doc: Doc,
    /// The declaration as it is written.
    pub text: String,
    /// The line on which the declaration begins.
    pub line: usize,
    /// Parameters of the function behind a second declaration that nobody can pass: they have their defaults.
    pub assumed: Vec<Param>,
}

impl<T> Member<T> {
    /// What stands at that line.
    pub(crate) fn new(item: T, namespace: &str, doc: Doc, text: &str, line: usize) -> Self {
        Self { item, namespace: namespace.to_owned(), doc, text: text.to_owned(), line, assumed: Vec::new() }
    }

    /// `Namespace\Name`.
    pub fn full(&self, name: &str) -> String {
        if self.namespace.is_empty() { name.to_owned() } else { format!("{}\\{name}", self.namespace) }
    }
}

/// A class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Its name, without the namespace.
    pub name: String,
    /// `final`, `abstract`.
    pub modifiers: Vec<&'static str>,
    /// The parent's full name.
    pub extends: Option<String>,
    /// Full names of interfaces.
    pub implements: Vec<String>,
    /// Its constants.
    pub constants: Vec<Member<Constant>>,
    /// Its properties.
    pub properties: Vec<Member<Property>>,
    /// Its methods.
    pub methods: Vec<Member<Function>>,
}

/// A stub file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct File {
    /// Classes, parents first.
    pub classes: Vec<Member<Class>>,
    /// Functions.
    pub functions: Vec<Member<Function>>,
    /// Global constants.
    pub constants: Vec<Member<Constant>>,
}
