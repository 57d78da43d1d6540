//! Reads PHP declarations: `public static function sleep(float $seconds): bool`.
//!
//! A native class is declared once, in PHP's own words; what Zend is told, and what the stubs print, both come from
//! that text. It is the program's own, so a mistake in it is a panic at module start, which every test would meet.

use crate::sys;

/// A type as Zend wants it: a mask of built-in types, and at most one class.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) mask: u32,
    pub(crate) class: Option<String>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) default: Option<String>,
    pub(crate) by_ref: bool,
    pub(crate) variadic: bool,
}

/// One function or method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) flags: u32,
    pub(crate) params: Vec<Param>,
    pub(crate) ret: Type,
}

impl Function {
    /// How many leading parameters must be passed.
    pub(crate) fn required(&self) -> u32 {
        self.params.iter().take_while(|p| p.default.is_none() && !p.variadic).count() as u32
    }
}

/// One property: `public ?array $setting = null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) flags: u32,
    pub(crate) ty: Type,
    pub(crate) default: Option<String>,
}

fn modifiers(mut text: &str) -> (u32, &str) {
    let mut flags = 0;
    loop {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        flags |= match word {
            "public" => sys::ZEND_ACC_PUBLIC,
            "protected" => sys::ZEND_ACC_PROTECTED,
            "private" => sys::ZEND_ACC_PRIVATE,
            "static" => sys::ZEND_ACC_STATIC,
            "final" => sys::ZEND_ACC_FINAL,
            "abstract" => sys::ZEND_ACC_ABSTRACT,
            "readonly" => sys::ZEND_ACC_READONLY,
            _ => return (flags, text),
        };
        text = rest.trim_start();
    }
}

/// Parses a function or method declaration.
pub(crate) fn function(text: &str) -> Function {
    let (flags, rest) = modifiers(text.trim());
    let rest = rest.strip_prefix("function ").unwrap_or_else(|| panic!("not a function: {text}"));
    let open = rest.find('(').unwrap_or_else(|| panic!("no '(': {text}"));
    let close = rest.rfind(')').unwrap_or_else(|| panic!("no ')': {text}"));
    let ret = rest[close + 1..].trim().strip_prefix(':').map_or_else(Type::default, |t| parse_type(t.trim()));
    let params = split_params(&rest[open + 1..close]).into_iter().map(param).collect();
    Function { name: rest[..open].trim().to_owned(), flags, params, ret }
}

/// Splits at commas that are not inside brackets or quotes.
fn split_params(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0, false, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' | '(' if !quoted => depth += 1,
            ']' | ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|p| !p.is_empty()).collect()
}

fn param(text: &str) -> Param {
    let (decl, default) = match text.split_once('=') {
        Some((decl, default)) => (decl.trim(), Some(default.trim().to_owned())),
        None => (text, None),
    };
    let dollar = decl.find('$').unwrap_or_else(|| panic!("parameter without a name: {text}"));
    let (before, name) = decl.split_at(dollar);
    let mut before = before.trim();
    let variadic = before.ends_with("...");
    before = before.trim_end_matches("...").trim();
    let by_ref = before.ends_with('&');
    before = before.trim_end_matches('&').trim();
    Param { name: name[1..].to_owned(), ty: parse_type(before), default, by_ref, variadic }
}

/// Parses a property declaration.
pub(crate) fn property(text: &str) -> Property {
    let (flags, rest) = modifiers(text.trim());
    let param = param(rest);
    Property { name: param.name, flags, ty: param.ty, default: param.default }
}

fn parse_type(text: &str) -> Type {
    let mut ty = Type::default();
    let text = match text.strip_prefix('?') {
        Some(rest) => {
            ty.mask |= sys::MAY_BE_NULL;
            rest
        }
        None => text,
    };
    for name in text.split('|').map(str::trim).filter(|n| !n.is_empty()) {
        match builtin(name) {
            Some(mask) => ty.mask |= mask,
            None => ty.class = Some(name.trim_start_matches('\\').to_owned()),
        }
    }
    ty
}

fn builtin(name: &str) -> Option<u32> {
    Some(match name {
        "int" => sys::MAY_BE_LONG,
        "float" => sys::MAY_BE_DOUBLE,
        "string" => sys::MAY_BE_STRING,
        "bool" => sys::MAY_BE_FALSE | sys::MAY_BE_TRUE,
        "false" => sys::MAY_BE_FALSE,
        "true" => sys::MAY_BE_TRUE,
        "null" => sys::MAY_BE_NULL,
        "array" => sys::MAY_BE_ARRAY,
        "object" => sys::MAY_BE_OBJECT,
        "callable" => sys::MAY_BE_CALLABLE,
        "mixed" => sys::MAY_BE_ANY,
        "void" => sys::MAY_BE_VOID,
        "never" => sys::MAY_BE_NEVER,
        "static" => sys::MAY_BE_STATIC,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_method() {
        let f = function("public static function create(callable $fn, mixed ...$args): int|false");
        assert_eq!(f.name, "create");
        assert_eq!(f.flags, sys::ZEND_ACC_PUBLIC | sys::ZEND_ACC_STATIC);
        assert_eq!(f.required(), 1);
        assert!(f.params[1].variadic);
        assert_eq!(f.ret.mask, sys::MAY_BE_LONG | sys::MAY_BE_FALSE);
    }

    #[test]
    fn reads_defaults_and_classes() {
        let f = function("function x(?Apus\\Server $s = null, string $sep = ', ', array &$out = []): ?\\Closure");
        assert_eq!(f.required(), 0);
        assert_eq!(f.params[0].ty, Type { mask: sys::MAY_BE_NULL, class: Some("Apus\\Server".into()) });
        assert_eq!(f.params[1].default.as_deref(), Some("', '"));
        assert!(f.params[2].by_ref);
        assert_eq!(f.ret.class.as_deref(), Some("Closure"));
    }

    #[test]
    fn reads_a_property() {
        let p = property("public int $port = 0");
        assert_eq!((p.name.as_str(), p.default.as_deref()), ("port", Some("0")));
    }
}
