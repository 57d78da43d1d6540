//! Calls of typed functions: `Semaphore::acquire(float $timeout = -1): bool` calls `acquire(&Semaphore, Timeout) -> Result<bool, Raise>`.

use crate::model::{Function, Member, Param};
use crate::parse::Error;

/// The closure that takes the arguments and calls the function at `path`.
pub(crate) fn call(method: &Member<Function>, path: &str, in_class: bool) -> Result<String, Error> {
    let item = &method.item;
    let constructs = in_class && item.name == "__construct";
    let mut arguments = Vec::new();
    if in_class && !constructs && !item.modifiers.contains(&"static") {
        arguments.push("apus_zend::arg::This::this(call)?".to_owned());
    }
    for (index, param) in item.params.iter().enumerate() {
        let taken = argument(param, index).map_err(|text| Error { line: method.line, text })?;
        arguments.push(format!("apus_zend::arg::want({index}, {taken})?"));
    }
    let called = format!("{path}({})", arguments.join(", "));
    // A constructor may be called again for an object that is there; what it makes is then not taken.
    Ok(if constructs {
        format!("|call| apus_zend::arg::Make::make({called}?, call)")
    } else {
        format!("|call| {called}")
    })
}

/// The expression that takes an argument by its declared type.
fn argument(param: &Param, index: usize) -> Result<String, String> {
    if param.variadic {
        return Ok(format!("apus_zend::arg::Rest::new(call, {index})"));
    }
    if param.by_ref {
        return Ok(format!("apus_zend::arg::Variable::new(call, {index})"));
    }
    let mut types: Vec<_> = param.ty.builtin.iter().copied().filter(|name| *name != "null").collect();
    types.sort_unstable();
    let nullable = param.ty.builtin.contains(&"null");
    let default = param.default.as_deref().filter(|text| *text != "null");
    let unknown =
        || format!("${}: this type with this default cannot be taken by a typed function: @rust raw", param.name);
    let passed_or =
        |taken: &str, default: &str| format!("if call.count() > {index} {{ {taken} }} else {{ {default} }}");
    Ok(match (types.as_slice(), nullable, default) {
        _ if param.ty.class.is_some() || types.len() != 1 => format!("apus_zend::arg::Any::new(call, {index})"),
        (["int"], false, default) => {
            format!("call.int({index}, {})?", int(default.unwrap_or("0")).ok_or_else(unknown)?)
        }
        (["int"], true, None) => format!("call.opt_int({index})?"),
        (["float"], false, default) => {
            let value: f64 = default.unwrap_or("0").parse().map_err(|_| unknown())?;
            format!("call.float({index}, {value:?})?")
        }
        (["bool"], false, default) => format!("call.bool({index}, {})?", default.unwrap_or("false")),
        (["string"], false, None | Some("''")) => format!("call.bytes({index})?"),
        (["string"], false, Some(text)) => {
            let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).ok_or_else(unknown)?;
            passed_or(&format!("call.bytes({index})?"), &format!("&b{inner:?}[..]"))
        }
        (["string"], true, None) => format!("call.opt_bytes({index})?"),
        (["array"], false, None) => format!("call.array({index})?"),
        (["array"], false, Some("[]")) => passed_or(&format!("Some(call.array({index})?)"), "None"),
        (["array"], true, None) => format!("call.opt_array({index})?"),
        (["callable"], false, None) => format!("call.callable({index})?"),
        (["callable"], true, None) => format!("apus_zend::arg::optional_callable(call, {index})?"),
        (["mixed"], ..) => format!("apus_zend::arg::Any::new(call, {index})"),
        _ => return Err(unknown()),
    })
}

/// A default of an integer, as Rust writes it.
fn int(text: &str) -> Option<String> {
    match text {
        "PHP_INT_MAX" => Some("i64::MAX".to_owned()),
        _ if text.starts_with('0') && text.len() > 1 => {
            i64::from_str_radix(&text[1..], 8).ok().map(|value| value.to_string())
        }
        _ => text.parse::<i64>().ok().map(|value| value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decl;
    use crate::model::Doc;

    fn of(text: &str, in_class: bool) -> Result<String, Error> {
        let item = decl::function(text).unwrap();
        call(
            &Member { item, namespace: String::new(), doc: Doc::default(), text: text.to_owned(), line: 7 },
            "f",
            in_class,
        )
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
        assert!(
            of("public function __construct(int $n)", true)
                .unwrap()
                .starts_with("|call| apus_zend::arg::Make::make(f(")
        );
        assert!(
            of("public static function make(array $x = []): static", true).unwrap().contains("Some(call.array(0)?)")
        );
        assert!(of("function h(int|string $x): void", false).unwrap().contains("Any::new(call, 0)"));
    }

    #[test]
    fn refuses_a_default_that_it_cannot_write() {
        let error = of("function g(int $p = \\Apus\\TASK_NORMAL): void", false).unwrap_err();
        assert_eq!(error.line, 7);
        assert!(error.text.contains("$p"), "{}", error.text);
    }
}
