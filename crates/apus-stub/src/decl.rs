//! One declaration: `public static function sleep(float $seconds): bool`.

use crate::model::{Constant, Function, Literal, Param, Property, Type};

const MODIFIERS: [&str; 7] = ["public", "protected", "private", "static", "final", "abstract", "readonly"];
const BUILTIN: [&str; 14] = [
    "int", "float", "string", "bool", "false", "true", "null", "array", "object", "callable", "mixed", "void", "never",
    "static",
];

/// The modifiers that a text begins with, and the rest.
pub(crate) fn modifiers(mut text: &str) -> (Vec<&'static str>, &str) {
    let mut found = Vec::new();
    loop {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let Some(known) = MODIFIERS.into_iter().find(|modifier| *modifier == word) else { return (found, text) };
        found.push(known);
        text = rest.trim_start();
    }
}

fn identifier(text: &str) -> Result<String, String> {
    let sound = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if sound { Ok(text.to_owned()) } else { Err(format!("\"{text}\" is not a name")) }
}

/// A function or method, without its body.
pub(crate) fn function(text: &str) -> Result<Function, String> {
    let (modifiers, rest) = modifiers(text.trim());
    let rest = rest.strip_prefix("function ").ok_or("a function was expected")?;
    let open = rest.find('(').ok_or("\"(\" was expected")?;
    let close = rest.rfind(')').ok_or("\")\" was expected")?;
    let ret = match rest[close + 1..].trim() {
        "" => Type::default(),
        text => parse_type(text.strip_prefix(':').ok_or("\":\" was expected behind the parameters")?.trim())?,
    };
    let params: Vec<_> = split(&rest[open + 1..close]).into_iter().map(param).collect::<Result<_, _>>()?;
    let optional = params.iter().position(|param| param.default.is_some()).unwrap_or(params.len());
    if let Some(late) = params[optional..].iter().find(|param| param.default.is_none() && !param.variadic) {
        return Err(format!("${} must be passed, and stands behind a parameter that need not be", late.name));
    }
    Ok(Function { name: identifier(rest[..open].trim())?, modifiers, params, ret })
}

/// The parts between commas that are not inside brackets or quotes.
fn split(text: &str) -> Vec<&str> {
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
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn param(text: &str) -> Result<Param, String> {
    let (decl, default) = match text.split_once('=') {
        Some((decl, default)) => (decl.trim(), Some(default.trim().to_owned())),
        None => (text, None),
    };
    let (before, name) = decl.split_once('$').ok_or_else(|| format!("\"{text}\" has no name that begins with $"))?;
    let before = before.trim();
    let (before, variadic) = before.strip_suffix("...").map_or((before, false), |before| (before.trim(), true));
    let (before, by_ref) = before.strip_suffix('&').map_or((before, false), |before| (before.trim(), true));
    Ok(Param { name: identifier(name)?, ty: parse_type(before)?, default, by_ref, variadic })
}

/// A property, without the semicolon.
pub(crate) fn property(text: &str) -> Result<Property, String> {
    let (modifiers, rest) = modifiers(text.trim());
    let param = param(rest)?;
    let default = param.default.as_deref().map(literal).transpose()?;
    // Without a type PHP starts it with null.
    let default = if param.ty == Type::default() { default.or(Some(Literal::Null)) } else { default };
    Ok(Property { name: param.name, modifiers, ty: param.ty, default })
}

/// A constant, behind `const` and without the semicolon.
pub(crate) fn constant(text: &str) -> Result<Constant, String> {
    let (name, value) = text.split_once('=').ok_or("a constant needs a value")?;
    match literal(value.trim())? {
        Literal::Null => Err("a constant is a number, a text, true or false".to_owned()),
        value => Ok(Constant { name: identifier(name.trim())?, value }),
    }
}

/// A value as PHP writes it.
pub(crate) fn literal(text: &str) -> Result<Literal, String> {
    Ok(match text {
        "null" => Literal::Null,
        "true" => Literal::Bool(true),
        "false" => Literal::Bool(false),
        _ => {
            if let Some(inner) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
                if inner.contains(['\'', '\\']) {
                    return Err(format!("{text}: a text holds no quote and no backslash here"));
                }
                Literal::Str(inner.to_owned())
            } else if let Ok(value) = text.parse() {
                Literal::Int(value)
            } else {
                Literal::Float(text.parse().map_err(|_| format!("\"{text}\" is no value that is known here"))?)
            }
        }
    })
}

fn parse_type(text: &str) -> Result<Type, String> {
    let mut ty = Type::default();
    let rest = text.strip_prefix('?').unwrap_or(text);
    for name in rest.split('|').map(str::trim).filter(|name| !name.is_empty()) {
        if let Some(known) = BUILTIN.into_iter().find(|builtin| *builtin == name) {
            ty.builtin.push(known);
        } else if let Some(class) = name.strip_prefix('\\').or((name == "self").then_some(name)) {
            if ty.class.replace(class.to_owned()).is_some() {
                return Err(format!("{text}: one class at most"));
            }
        } else {
            return Err(format!("\"{name}\" is no type; a class is written with a leading backslash"));
        }
    }
    if text.starts_with('?') {
        ty.builtin.push("null");
    }
    Ok(ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_method() {
        let f = function("public static function create(callable $fn, mixed ...$args): int|false").unwrap();
        assert_eq!((f.name.as_str(), f.modifiers.as_slice()), ("create", ["public", "static"].as_slice()));
        assert_eq!((f.required(), f.most()), (1, None));
        assert!(f.params[1].variadic);
        assert_eq!(f.ret.builtin, ["int", "false"]);
    }

    #[test]
    fn reads_defaults_and_classes() {
        let f = function("function x(?\\Apus\\Server $s = null, string $sep = ', ', array &$out = []): ?\\Closure")
            .unwrap();
        assert_eq!((f.required(), f.most()), (0, Some(3)));
        assert_eq!(f.params[0].ty, Type { builtin: vec!["null"], class: Some("Apus\\Server".into()) });
        assert_eq!(f.params[1].default.as_deref(), Some("', '"));
        assert!(f.params[2].by_ref);
        assert_eq!(f.ret.class.as_deref(), Some("Closure"));
    }

    #[test]
    fn reads_properties_and_constants() {
        let p = property("public int $port = 0").unwrap();
        assert_eq!((p.name.as_str(), p.default), ("port", Some(Literal::Int(0))));
        assert_eq!(property("public readonly int $fd").unwrap().default, None);
        assert_eq!(property("public $any").unwrap().default, Some(Literal::Null));
        assert_eq!(constant("A = 'x'").unwrap(), Constant { name: "A".into(), value: Literal::Str("x".into()) });
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |text| function(text).unwrap_err();
        assert!(wrong("public function f(Foo $x): void").contains("leading backslash"));
        assert!(wrong("public function f(int $a = 1, int $b): void").contains("$b must be passed"));
        assert!(wrong("public function f(int a): void").contains("begins with $"));
        assert!(wrong("public f()").contains("a function was expected"));
        assert!(constant("A = [1]").is_err());
        assert!(constant("A = null").is_err());
        assert_eq!(constant("A = 1.5").unwrap().value, Literal::Float(1.5));
        assert!(property("public string $s = 'it\\'s'").is_err());
    }
}
