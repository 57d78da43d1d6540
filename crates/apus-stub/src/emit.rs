//! Rust code that a module includes: the tables of `apus_zend::class`, with the module's functions in them.

use std::fmt::Write as _;

use crate::known::Known;
use crate::model::{Class, Constant, File, Function, Literal, Member, Param, Property, Type};
use crate::names::{path, shouted, snake, static_name};
use crate::parse::Error;
use crate::second::Second;
use crate::typed::{self, number};

struct Emitter<'a> {
    /// The stub file, for the compiler's messages.
    name: &'a str,
    /// The visibility of what is made.
    seen: &'a str,
    known: &'a Known,
    out: String,
}

/// The code of a file of second declarations, which the file of the first ones includes.
pub(crate) fn seconds(name: &str, seconds: &[Second], known: &Known, seen: &str) -> Result<String, Error> {
    let mut emitter = Emitter { name, seen, known, out: String::new() };
    for second in seconds {
        emitter.class(&second.class, None)?;
    }
    Ok(emitter.out)
}

/// The code of one stub file, some of whose classes may have second declarations.
pub(crate) fn file(name: &str, file: &File, seconds: &[Second], known: &Known, seen: &str) -> Result<String, Error> {
    let mut emitter = Emitter { name, seen, known, out: String::new() };
    for class in &file.classes {
        let full = class.full(&class.item.name);
        let second = seconds.iter().find(|second| second.of == full).map(|second| static_name(&second.class));
        emitter.class(class, second.as_deref())?;
    }
    emitter.codes(file);
    emitter.slots(file);
    if !file.functions.is_empty() {
        emitter.line("/// The functions of this room.");
        emitter.line(&format!("{seen} static FUNCTIONS: &[apus_zend::class::Method] = &["));
        for function in &file.functions {
            emitter.method(function, &function.full(&function.item.name), None)?;
        }
        emitter.line("];");
    }
    if !file.constants.is_empty() {
        emitter.line("/// The global constants of this room.");
        emitter.line(&format!("{seen} static CONSTANTS: &[apus_zend::class::Constant] = &["));
        for constant in &file.constants {
            emitter.constant(constant, &constant.full(&constant.item.name));
        }
        emitter.line("];");
    }
    for constant in file.constants.iter().chain(file.classes.iter().flat_map(|class| &class.item.constants)) {
        emitter.same_value(constant);
    }
    Ok(emitter.out)
}

impl Emitter<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Where a declaration stands: the compiler shows it beside what does not fit it.
    fn place<T>(&self, member: &Member<T>) -> String {
        format!("// php/stub/{}:{}", self.name, member.line)
    }

    /// A class; `second` is the static of its second declaration.
    fn class(&mut self, class: &Member<Class>, second: Option<&str>) -> Result<(), Error> {
        let item = &class.item;
        let name = class.full(&item.name);
        let own = static_name(class);
        let lazy = match class.doc.rust("lazy").map(|text| text.split_once(' ')) {
            None => "None".to_owned(),
            Some(Some((count, function))) => format!("Some(({count}, apus_zend::lazy_fill!({function})))"),
            Some(None) => {
                return Err(Error { line: class.line, text: "@rust lazy needs a count and a function".to_owned() });
            }
        };
        let native =
            class.doc.rust("native").is_some() || (class.doc.rust("plain").is_none() && !item.methods.is_empty());
        let _ = writeln!(
            self.out,
            "/// `{name}`.\n{} static {own}: apus_zend::class::Class = apus_zend::class::Class {{ {}",
            self.seen,
            self.place(class)
        );
        let mut modifiers = item.modifiers.clone();
        modifiers.extend(class.doc.rust("dynamic").map(|_| "dynamic"));
        let extends =
            item.extends.as_ref().map_or_else(|| "None".to_owned(), |parent| format!("Some({})", text(parent)));
        let implements: Vec<_> = item.implements.iter().map(|interface| text(interface)).collect();
        let _ = writeln!(
            self.out,
            "    name: {},\n    flags: {},\n    extends: {extends},\n    implements: &[{}],\n    native: {native},\n    lazy: {lazy},",
            text(&name),
            flags(&modifiers, "CLASS_"),
            implements.join(", "),
        );
        self.line("    constants: &[");
        for constant in &item.constants {
            self.constant(constant, &constant.item.name);
        }
        self.line("    ],\n    properties: &[");
        for property in &item.properties {
            self.property(&property.item);
        }
        self.line("    ],\n    methods: &[");
        for method in &item.methods {
            self.method(method, &method.item.name, Some(class))?;
        }
        let second = second.map_or_else(|| "None".to_owned(), |own| format!("Some(&{own})"));
        let _ = writeln!(
            self.out,
            "    ],\n    entry: {{ static ENTRY: apus_zend::class::Entry = apus_zend::class::Entry::new(); &ENTRY }},\n    second: {second},\n    also: {},\n    short: {},\n}};",
            names(class.doc.rust("also")),
            names(class.doc.rust("short")),
        );
        Ok(())
    }

    fn constant(&mut self, constant: &Member<Constant>, name: &str) {
        let value = match &constant.item.value {
            Literal::Int(value) => format!("apus_zend::class::Const::Int({})", number(*value)),
            Literal::Str(value) => format!("apus_zend::class::Const::Str({})", text(value)),
            Literal::Bool(value) => format!("apus_zend::class::Const::Bool({value})"),
            Literal::Float(value) => format!("apus_zend::class::Const::Float({})", float(*value)),
            Literal::Null => unreachable!("refused while reading"),
        };
        let _ = writeln!(
            self.out,
            "        apus_zend::class::Constant {{ name: {}, value: {value}, doc: {:?} }},",
            text(name),
            constant.doc.text
        );
    }

    fn same_value(&mut self, constant: &Member<Constant>) {
        if let (Some(path), Literal::Int(value)) = (constant.doc.path(), &constant.item.value) {
            let place = self.place(constant);
            let _ = writeln!(
                self.out,
                "#[allow(clippy::unnecessary_cast, reason = \"of whatever type it is\")]\nconst _: () = assert!({path} as i64 == {}, \"{} has another value\"); {place}",
                number(*value),
                constant.item.name
            );
        }
    }

    fn property(&mut self, property: &Property) {
        let default = match &property.default {
            None => "Undefined".to_owned(),
            Some(Literal::Null) => "Null".to_owned(),
            Some(Literal::Bool(value)) => format!("Bool({value})"),
            Some(Literal::Int(value)) => format!("Int({})", number(*value)),
            Some(Literal::Float(value)) => format!("Float({value:?})"),
            Some(Literal::Str(value)) => format!("Str({})", text(value)),
        };
        let _ = writeln!(
            self.out,
            "        apus_zend::class::Property {{ name: {}, flags: {}, ty: {}, default: apus_zend::class::Default::{default} }},",
            text(&property.name),
            flags(&property.modifiers, ""),
            type_code(&property.ty),
        );
    }

    fn method(&mut self, method: &Member<Function>, name: &str, class: Option<&Member<Class>>) -> Result<(), Error> {
        let item = &method.item;
        // There a function without parameters does not look at what it is given.
        let ignores = item.params.is_empty() && class.is_some_and(|class| class.doc.rust("second").is_some());
        let most = item.most().filter(|_| !ignores).map_or_else(|| "u32::MAX".to_owned(), |most| most.to_string());
        let handler = if item.is_abstract() {
            "None".to_owned()
        } else {
            let path = path(method);
            let accessor = class.and_then(|class| self.accessor(class, method));
            let body = match accessor {
                Some((path, slot)) => typed::call(method, &path, class, Some(slot), self.known)?,
                None if method.doc.is_typed() => typed::call(method, &path, class, None, self.known)?,
                None => path,
            };
            match method.doc.rust("within").filter(|around| *around != "nothing") {
                Some(around) => {
                    let body = if body.starts_with('|') { format!("apus_zend::given!({body})") } else { body };
                    let own = class.map_or_else(|| "apus_zend::class::NONE".to_owned(), static_name);
                    format!("Some(apus_zend::handler!(within {around}, {own}, {body}, {}, {most}))", item.required())
                }
                None => format!("Some(apus_zend::handler!({body}, {}, {most}))", item.required()),
            }
        };
        let params: Vec<_> = item.params.iter().map(param).collect();
        let _ = writeln!(
            self.out,
            "        apus_zend::class::Method {{ {}\n            name: {}, flags: {}, required: {}, ret: {}, handler: {handler},\n            params: &[{}],\n        }},",
            self.place(method),
            text(name),
            flags(&item.modifiers, ""),
            item.required(),
            type_code(&item.ret),
            params.join(", "),
        );
        Ok(())
    }

    /// The function behind a method that reads or writes one property, and the place of that.
    fn accessor(&self, class: &Member<Class>, method: &Member<Function>) -> Option<(String, usize)> {
        let module = class.doc.rust("accessors")?;
        let (getter, name) = match method.item.name.strip_prefix("get") {
            Some(name) => (true, name),
            None => (false, ["with", "set"].iter().find_map(|prefix| method.item.name.strip_prefix(prefix))?),
        };
        let (slot, _) =
            self.places(class).into_iter().find(|(_, property)| snake(&property.item.name) == snake(name))?;
        let path = method
            .doc
            .path()
            .map_or_else(|| format!("{module}::{}", if getter { "get" } else { "with" }), str::to_owned);
        Some((path, slot))
    }

    /// The properties that a class declares itself, with their places; none below a class that no stub declares.
    fn places<'m>(&self, class: &'m Member<Class>) -> Vec<(usize, &'m Member<Property>)> {
        let slots = self.known.slots(&class.full(&class.item.name)).unwrap_or_default();
        let of = |property: &Member<Property>| slots.iter().position(|name| *name == property.item.name);
        class.item.properties.iter().filter_map(|property| Some((of(property)?, property))).collect()
    }

    /// The places of properties.
    fn slots(&mut self, file: &File) {
        if !file.classes.iter().any(|class| class.doc.rust("slots").is_some()) {
            return;
        }
        self.line(
            "/// The places of declared properties, by the names of their classes' statics.\npub(crate) mod slot {",
        );
        for class in file.classes.iter().filter(|class| class.doc.rust("slots").is_some()) {
            let own = static_name(class);
            let _ = writeln!(
                self.out,
                "    /// Of `{}`.\n    #[allow(dead_code, reason = \"not all are set from here\")]\n    pub(crate) mod {} {{",
                class.full(&class.item.name),
                own.to_lowercase()
            );
            for (place, property) in self.places(class) {
                let name = &property.item.name;
                let _ = writeln!(
                    self.out,
                    "        /// `${name}`\n        pub(crate) const {}: u32 = {place};",
                    shouted(name)
                );
            }
            self.line("    }");
        }
        self.line("}");
    }

    /// Constants to throw with: a code that is misspelt does not compile.
    fn codes(&mut self, file: &File) {
        if !file.classes.iter().any(|class| class.doc.rust("codes").is_some()) {
            return;
        }
        let seen = self.seen;
        self.line(&format!("/// The codes of exceptions, by the names of their classes' statics.\n{seen} mod code {{"));
        for class in file.classes.iter().filter(|class| class.doc.rust("codes").is_some()) {
            let own = static_name(class);
            let _ = writeln!(
                self.out,
                "    /// Of `{}`.\n    {seen} mod {} {{",
                class.full(&class.item.name),
                own.to_lowercase()
            );
            for constant in &class.item.constants {
                if let Literal::Int(value) = constant.item.value {
                    let _ = writeln!(
                        self.out,
                        "        /// {value}\n        {seen} const {}: super::super::Code = super::super::Code::new(&super::super::{own}, {value});",
                        constant.item.name
                    );
                }
            }
            self.line("    }");
        }
        self.line("}");
    }
}

/// A float as Rust writes it, its whole part in groups of digits.
fn float(value: f64) -> String {
    let text = format!("{value:?}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
    whole.parse().map_or_else(|_| text.clone(), |whole| format!("{}.{rest}", number(whole)))
}

/// Further names of a class, as they stand behind `@rust also` and `@rust short`.
fn names(listed: Option<&str>) -> String {
    let names: Vec<_> = listed.unwrap_or_default().split_whitespace().map(text).collect();
    format!("&[{}]", names.join(", "))
}

/// A C string.
fn text(text: &str) -> String {
    format!("c{text:?}")
}

fn flags(modifiers: &[&str], prefix: &str) -> String {
    if modifiers.is_empty() {
        return "0".to_owned();
    }
    let words: Vec<_> =
        modifiers.iter().map(|word| format!("apus_zend::class::flag::{prefix}{}", word.to_uppercase())).collect();
    words.join(" | ")
}

fn type_code(ty: &Type) -> String {
    let mask: Vec<_> =
        ty.builtin.iter().map(|name| format!("apus_zend::class::mask::{}", name.to_uppercase())).collect();
    let mask = if mask.is_empty() { "0".to_owned() } else { mask.join(" | ") };
    let class = ty.class.as_ref().map_or_else(|| "None".to_owned(), |class| format!("Some({})", text(class)));
    format!("apus_zend::class::Type {{ mask: {mask}, class: {class} }}")
}

fn param(param: &Param) -> String {
    let default =
        param.default.as_ref().map_or_else(|| "None".to_owned(), |default| format!("Some({})", text(default)));
    format!(
        "apus_zend::class::Param {{ name: {}, ty: {}, default: {default}, by_ref: {}, variadic: {} }}",
        text(&param.name),
        type_code(&param.ty),
        param.by_ref,
        param.variadic,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(snake("getWorkerId"), "get_worker_id");
        assert_eq!(snake("__construct"), "construct");
        assert_eq!(snake("setHTTPVersion"), "set_http_version");
        assert_eq!(snake("sendMessage_to"), "send_message_to");
        assert_eq!(shouted("PDOPool"), "PDO_POOL");
        assert_eq!(shouted("WaitGroup"), "WAIT_GROUP");
        assert_eq!([number(-1_234_567), number(999), number(0)], ["-1_234_567", "999", "0"]);
    }

    fn file_of(read: &File) -> String {
        let mut known = Known::default();
        known.add(read);
        file("a/b.stub.php", read, &[], &known, "pub(crate)").unwrap()
    }

    #[test]
    fn code_of_a_class() {
        let read = crate::parse(
            "<?php\nnamespace A;\n\n\nclass B\n{\n    // @rust module m\n    /** @rust deep::g */\n    public function f(int $x = 1): ?\\A\\B {}\n\n    public function goOn(): void {}\n}\n",
        );
        let code = file_of(&read.unwrap());
        assert!(code.contains("pub(crate) static B: apus_zend::class::Class"), "{code}");
        assert!(code.contains("handler!(deep::g, 0, 1)"), "{code}");
        assert!(code.contains("handler!(m::go_on, 0, 0)"), "{code}");
        assert!(code.contains("class: Some(c\"A\\\\B\")"), "{code}");
        assert!(code.contains("// php/stub/a/b.stub.php:9"), "{code}");
    }

    #[test]
    fn places_of_properties() {
        let read = crate::parse(
            "<?php\nnamespace A;\n\n/** @rust slots */\nclass BeeHive\n{\n    public ?int $pipe = null;\n    public ?int $msgQueueId = null;\n}\n",
        );
        let code = file_of(&read.unwrap());
        assert!(code.contains("pub(crate) mod bee_hive {"), "{code}");
        assert!(code.contains("pub(crate) const MSG_QUEUE_ID: u32 = 1;"), "{code}");
    }

    #[test]
    fn accessors_know_the_place_of_their_property() {
        let read = crate::parse(
            "<?php\n/** @rust accessors config */\nclass C\n{\n    protected int $port = 1;\n    protected string $hostName = 'x';\n\n    \
             public function getHostName(): string {}\n    /** @rust p::with_port */\n    public function withPort(int $port): self {}\n}\n",
        );
        let code = file_of(&read.unwrap());
        assert!(code.contains("handler!(|call| config::get(apus_zend::arg::This::this(call)?, 1), 0, 0)"), "{code}");
        assert!(code.contains("p::with_port(apus_zend::arg::This::this(call)?, 0, apus_zend::arg::want("), "{code}");
    }
}
