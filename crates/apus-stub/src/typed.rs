//! Calls of typed functions: `Semaphore::acquire(float $timeout = -1): bool` calls
//! `acquire(&Semaphore, Timeout) -> Result<bool, Raise>`.

use crate::decl::literal;
use crate::known::Known;
use crate::model::{Class, Function, Literal, Member, Param};
use crate::parse::Error;

/// The closure that takes the arguments and calls the function at `path`: with `$this` as the function wants it, the
/// place of the property that it is for, if it is for one, and the arguments.
pub(crate) fn call(
    method: &Member<Function>,
    path: &str,
    class: Option<&Member<Class>>,
    slot: Option<usize>,
    known: &Known,
) -> Result<String, Error> {
    let item = &method.item;
    let class_name = class.map(|class| class.full(&class.item.name));
    let constructs = class.is_some() && item.name == "__construct";
    let mut arguments = Vec::new();
    if class.is_some() && !constructs && !item.modifiers.contains(&"static") {
        arguments.push("apus_zend::arg::This::this(call)?".to_owned());
    }
    arguments.extend(slot.map(|slot| slot.to_string()));
    let context = Context { class: class_name.as_deref(), known };
    for (index, param) in item.params.iter().chain(&method.assumed).enumerate() {
        let taken = context.argument(param, index).map_err(|text| Error { line: method.line, text })?;
        arguments.push(format!("apus_zend::arg::want({index}, {taken})?"));
    }
    let called = format!("{path}({})", arguments.join(", "));
    // A constructor may be called again for an object that is there; what it makes is then not taken.
    Ok(if constructs {
        format!("|call| apus_zend::arg::Make::make({called}, call)")
    } else {
        format!("|call| {called}")
    })
}

/// Where a declaration stands.
struct Context<'a> {
    class: Option<&'a str>,
    known: &'a Known,
}

impl Context<'_> {
    /// The expression that takes an argument by its declared type.
    fn argument(&self, param: &Param, index: usize) -> Result<String, String> {
        if param.variadic {
            return Ok(format!("apus_zend::arg::Rest::new(call, {index})"));
        }
        if param.by_ref {
            return Ok(format!("apus_zend::arg::Variable::new(call, {index})"));
        }
        let types: Vec<_> = param.ty.builtin.iter().copied().filter(|name| *name != "null").collect();
        let nullable = param.ty.builtin.contains(&"null");
        let any = format!("apus_zend::arg::Any::new(call, {index})");
        if let (Some(class), true) = (&param.ty.class, types.is_empty()) {
            let class = if class == "self" { self.class.unwrap_or_default() } else { class };
            let own = self.known.class_static(class).ok_or_else(|| {
                format!("${}: no stub declares {class}, so that a typed function cannot take it: @rust raw", param.name)
            })?;
            let taken = |call| format!("apus_zend::arg::instance({call}, &{own}, {class:?})");
            return Ok(if nullable {
                format!("apus_zend::arg::optional(call, {index}, |call, index| {})?", taken("call, index".to_owned()))
            } else {
                format!("{}?", taken(format!("call, {index}")))
            });
        }
        let [ty] = types[..] else { return Ok(any) };
        if param.ty.class.is_some() || ty == "mixed" {
            return Ok(any);
        }
        let default =
            param.default.as_deref().map(|text| self.default(text)).transpose().map_err(|why| {
                format!("${}: {why} cannot be the default of a typed function: @rust raw", param.name)
            })?;
        Self::scalar(ty, nullable, default, index).ok_or_else(|| {
            format!("${}: this type with this default cannot be taken by a typed function: @rust raw", param.name)
        })
    }

    /// The same of one built-in type.
    fn scalar(ty: &str, nullable: bool, default: Option<Default>, index: usize) -> Option<String> {
        use Default::{Empty, Is};
        use Literal::{Bool, Float, Int, Null, Str};
        let passed_or =
            |taken: &str, default: &str| format!("if call.count() > {index} {{ {taken} }} else {{ {default} }}");
        let optional = |method: &str, default: &str| {
            format!("apus_zend::arg::optional(call, {index}, |call, index| call.{method}(index{default}))?")
        };
        // What is null by default, or must be passed, needs no default of its own.
        let bare = matches!(default, None | Some(Is(Null)));
        Some(match (ty, nullable, default) {
            ("int", false, None) => format!("call.int({index}, 0)?"),
            ("int", false, Some(Is(Int(value)))) => format!("call.int({index}, {})?", number(value)),
            ("int", true, _) if bare => format!("call.opt_int({index})?"),
            ("int", true, Some(Is(Int(value)))) => {
                passed_or(&format!("call.opt_int({index})?"), &format!("Some({})", number(value)))
            }
            ("float", false, None) => format!("call.float({index}, 0.0)?"),
            ("float", false, Some(Is(Int(value)))) => format!("call.float({index}, {:?})?", value as f64),
            ("float", false, Some(Is(Float(value)))) => format!("call.float({index}, {value:?})?"),
            ("float", true, _) if bare => optional("float", ", 0.0"),
            ("bool", false, None) => format!("call.bool({index}, false)?"),
            ("bool", false, Some(Is(Bool(value)))) => format!("call.bool({index}, {value})?"),
            ("bool", true, _) if bare => optional("bool", ", false"),
            ("string", false, None) => format!("call.bytes({index})?"),
            ("string", false, Some(Is(Str(text)))) if text.is_empty() => format!("call.bytes({index})?"),
            ("string", false, Some(Is(Str(text)))) => {
                passed_or(&format!("call.bytes({index})?"), &format!("&b{text:?}[..]"))
            }
            ("string", true, _) if bare => format!("call.opt_bytes({index})?"),
            ("string", true, Some(Is(Str(text)))) => {
                passed_or(&format!("call.opt_bytes({index})?"), &format!("Some(&b{text:?}[..])"))
            }
            ("array", false, None) => format!("call.array({index})?"),
            ("array", false, Some(Empty)) => passed_or(&format!("Some(call.array({index})?)"), "None"),
            ("array", true, _) if bare => format!("call.opt_array({index})?"),
            ("callable", false, None) => format!("call.callable({index})?"),
            ("callable", true, _) if bare => {
                format!("apus_zend::arg::optional(call, {index}, apus_zend::Call::callable)?")
            }
            _ => return None,
        })
    }

    /// What a default means.
    fn default(&self, text: &str) -> Result<Default, String> {
        if text == "[]" {
            return Ok(Default::Empty);
        }
        if text == "PHP_INT_MAX" {
            return Ok(Default::Is(Literal::Int(i64::MAX)));
        }
        if text.starts_with('0') && text.len() > 1 && text.bytes().all(|b| b.is_ascii_digit()) {
            return i64::from_str_radix(text, 8)
                .map(|value| Default::Is(Literal::Int(value)))
                .map_err(|_| text.to_owned());
        }
        if let Some(value) = self.known.constant(text, self.class) {
            return Ok(Default::Is(value.clone()));
        }
        literal(text).map(Default::Is).map_err(|_| text.to_owned())
    }
}

/// A number as Rust writes it.
pub(crate) fn number(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    format!("{}{}", if value < 0 { "-" } else { "" }, groups.join("_"))
}

/// The default of a parameter.
enum Default {
    /// `[]`
    Empty,
    Is(Literal),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decl;
    use crate::model::Doc;

    fn of(text: &str, in_class: bool) -> Result<String, Error> {
        let mut known = Known::default();
        let class =
            crate::parse("<?php\nnamespace A;\nconst SEVEN = 7;\nclass B\n{\n    public const M = 'm';\n}\n").unwrap();
        known.add(&class);
        let item = decl::function(text).unwrap();
        let method = Member::new(item, "", Doc::default(), text, 7);
        call(&method, "f", in_class.then_some(&class.classes[0]), None, &known)
    }

    #[test]
    fn takes_arguments_by_their_types() {
        let method = of("public function acquire(float $timeout = -1): bool", true).unwrap();
        assert_eq!(
            method,
            "|call| f(apus_zend::arg::This::this(call)?, apus_zend::arg::want(0, call.float(0, -1.0)?)?)"
        );
        let function = of("function g(?string $a = null, int $mode = 0600, mixed ...$rest): void", false).unwrap();
        assert!(function.contains("call.opt_bytes(0)?"), "{function}");
        assert!(function.contains("call.int(1, 384)?"), "{function}");
        assert!(function.contains("Rest::new(call, 2)"), "{function}");
        let constructor = of("public function __construct(int $n)", true).unwrap();
        assert!(constructor.starts_with("|call| apus_zend::arg::Make::make(f("), "{constructor}");
        assert!(
            of("public static function make(array $x = []): static", true).unwrap().contains("Some(call.array(0)?)")
        );
        assert!(of("function h(int|string $x): void", false).unwrap().contains("Any::new(call, 0)"));
        assert!(
            of("function h(?callable $x = null): void", false)
                .unwrap()
                .contains("optional(call, 0, apus_zend::Call::callable)")
        );
        assert!(of("function h(?bool $x = null): void", false).unwrap().contains("call.bool(index, false)"));
    }

    #[test]
    fn takes_objects_by_their_class() {
        let method = of("public function f(\\A\\B $y, ?self $other = null): void", true).unwrap();
        assert!(method.contains("want(0, apus_zend::arg::instance(call, 0, &B, \"A\\\\B\")?)?"), "{method}");
        assert!(
            method.contains("optional(call, 1, |call, index| apus_zend::arg::instance(call, index, &B, \"A\\\\B\"))?"),
            "{method}"
        );
        let union = of("function f(\\X\\Y|string $y): void", false).unwrap();
        assert!(union.contains("Any::new(call, 0)"), "{union}");
        let unknown = of("function f(\\X\\Y $y): void", false).unwrap_err();
        assert!(unknown.text.contains("no stub declares X\\Y"), "{}", unknown.text);
    }

    #[test]
    fn constants_are_defaults() {
        assert!(of("function g(int $p = \\A\\SEVEN): void", false).unwrap().contains("call.int(0, 7)?"));
        assert!(of("function g(?string $p = self::M): void", true).unwrap().contains("Some(&b\"m\"[..])"));
    }

    #[test]
    fn refuses_a_default_that_it_cannot_write() {
        let error = of("function g(int $p = \\Apus\\NOWHERE): void", false).unwrap_err();
        assert_eq!(error.line, 7);
        assert!(error.text.contains("$p"), "{}", error.text);
    }
}
