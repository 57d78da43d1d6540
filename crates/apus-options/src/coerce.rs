//! From what a program wrote to what the setting's kind holds, or an error.

use crate::error::OptionError;
use crate::networks::Networks;
use crate::row::{Kind, Row};
use crate::value::Value;

/// The value in its kind's own form, inside its limits: Bool, Int (also Size, Choice), Float (Duration, in seconds),
/// Str, List of Int or Str, Map of Str.
pub(crate) fn coerce(row: &'static Row, value: &Value) -> Result<Value, OptionError> {
    let coerced = match row.kind {
        Kind::Bool => to_bool(value).map(Value::Bool),
        Kind::Int { min, max, .. } => to_int(value).filter(|n| (min..=max).contains(n)).map(Value::Int),
        Kind::Size { min, max } => to_size(value).filter(|n| (min..=max).contains(n)).map(Value::Int),
        Kind::Duration { min, max } => to_seconds(value).filter(|s| (min..=max).contains(s)).map(Value::Float),
        Kind::Str => to_str(value).map(Value::Str),
        Kind::Ints { min, max } => to_ints(value, min, max).map(Value::List),
        Kind::Texts => to_texts(value).map(Value::List),
        Kind::Networks => to_texts(value).filter(|texts| texts.iter().all(is_network)).map(Value::List),
        Kind::TextsByName => to_texts_by_name(value).map(Value::Map),
        Kind::Certificates => to_certificates(value).map(Value::Map),
        Kind::Choice(names) => to_choice(value, names).map(Value::Int),
        Kind::Any => Some(value.clone()),
    };
    coerced.ok_or_else(|| OptionError::invalid(row, value))
}

fn to_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::Int(n @ (0 | 1)) => Some(*n == 1),
        Value::Str(s) => match s.to_ascii_lowercase().as_str() {
            "1" | "on" | "yes" | "true" => Some(true),
            "" | "0" | "off" | "no" | "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The largest whole number an f64 holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn to_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(*n),
        Value::Float(n) if n.fract() == 0.0 && n.abs() <= EXACT => Some(*n as i64),
        Value::Str(s) => s.trim().parse().ok(),
        _ => None,
    }
}

fn to_size(value: &Value) -> Option<i64> {
    let Value::Str(text) = value else { return to_int(value) };
    let text = text.trim().to_ascii_lowercase();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    let shift = match suffix.trim_start() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(1 << shift)
}

fn to_seconds(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Str(text) => {
            let text = text.trim().to_ascii_lowercase();
            let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let scale = match &text[number.len()..] {
                "ms" => 0.001,
                "" | "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return None,
            };
            number.trim_end().parse::<f64>().ok().map(|n| n * scale)
        }
        _ => None,
    }
    .filter(|seconds| seconds.is_finite())
}

fn to_str(value: &Value) -> Option<String> {
    match value {
        Value::Str(s) if !s.contains('\0') => Some(s.clone()),
        Value::Int(n) => Some(n.to_string()),
        _ => None,
    }
}

fn to_ints(value: &Value, min: i64, max: i64) -> Option<Vec<Value>> {
    let Value::List(items) = value else { return None };
    items.iter().map(|item| to_int(item).filter(|n| (min..=max).contains(n)).map(Value::Int)).collect()
}

fn to_texts(value: &Value) -> Option<Vec<Value>> {
    let items = match value {
        Value::List(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    items.iter().map(|item| to_str(item).map(Value::Str)).collect()
}

fn is_network(text: &Value) -> bool {
    matches!(text, Value::Str(text) if Networks::is_network(text))
}

fn to_texts_by_name(value: &Value) -> Option<Vec<(String, Value)>> {
    let items = named(value)?;
    items.iter().map(|(name, text)| Some((name.clone(), Value::Str(to_str(text)?)))).collect()
}

/// The values of an array by name; an empty one may be of either kind.
fn named(value: &Value) -> Option<&[(String, Value)]> {
    match value {
        Value::Map(items) => Some(items),
        Value::List(items) if items.is_empty() => Some(&[]),
        _ => None,
    }
}

/// What [`Kind::Certificates`] takes.
fn to_certificates(value: &Value) -> Option<Vec<(String, Value)>> {
    named(value)?
        .iter()
        .map(|(name, certificate)| Some((name.clone(), Value::Map(to_certificate(certificate)?))))
        .collect()
}

fn to_certificate(value: &Value) -> Option<Vec<(String, Value)>> {
    let Value::Map(given) = value else { return None };
    let known = |name: &str| ["ssl_cert_file", "ssl_key_file", "ssl_passphrase", "ssl_stapling_file"].contains(&name);
    let texts = given.iter().map(|(name, value)| {
        let name = if name.starts_with("ssl_") { name.clone() } else { format!("ssl_{name}") };
        known(&name).then_some((name, Value::Str(to_str(value)?)))
    });
    let texts: Vec<_> = texts.collect::<Option<_>>()?;
    texts.iter().any(|(name, _)| name == "ssl_cert_file").then_some(texts)
}

fn to_choice(value: &Value, names: &[(&str, i64)]) -> Option<i64> {
    if let Value::Str(text) = value
        && let Some((_, number)) = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text))
    {
        return Some(*number);
    }
    to_int(value).filter(|n| names.iter().any(|(_, number)| number == n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Value {
        Value::from(text)
    }

    #[test]
    fn sizes_take_suffixes_and_refuse_overflow() {
        assert_eq!(to_size(&s("8M")), Some(8 << 20));
        assert_eq!(to_size(&s("16 KiB")), Some(16 << 10));
        assert_eq!(to_size(&s("123")), Some(123));
        assert_eq!(to_size(&Value::Int(5)), Some(5));
        for bad in ["", "M", "-1", "1.5M", "8X", "99999999999T", "8M8"] {
            assert_eq!(to_size(&s(bad)), None, "{bad}");
        }
    }

    #[test]
    fn durations_take_units_and_refuse_what_is_not_finite() {
        assert_eq!(to_seconds(&s("250ms")), Some(0.25));
        assert_eq!(to_seconds(&s("5m")), Some(300.0));
        assert_eq!(to_seconds(&Value::Float(1.5)), Some(1.5));
        for bad in ["", "s", "nan", "inf", "1x", "1e999", "ä"] {
            assert_eq!(to_seconds(&s(bad)), None, "{bad}");
        }
        assert_eq!(to_seconds(&Value::Float(f64::NAN)), None);
    }

    #[test]
    fn truth_has_php_ini_spellings() {
        for (text, on) in [("on", true), ("No", false), ("1", true), ("", false)] {
            assert_eq!(to_bool(&s(text)), Some(on));
        }
        assert_eq!(to_bool(&Value::Int(2)), None);
        assert_eq!(to_bool(&s("maybe")), None);
    }

    #[test]
    fn whole_numbers_refuse_fractions_and_truth() {
        assert_eq!(to_int(&Value::Float(2.0)), Some(2));
        assert_eq!(to_int(&Value::Float(2.5)), None);
        assert_eq!(to_int(&Value::Float(1e300)), None);
        assert_eq!(to_int(&Value::Bool(true)), None);
        assert_eq!(to_int(&s(" 42 ")), Some(42));
    }

    #[test]
    fn choices_go_by_name_or_number() {
        let names = &[("debug", 0), ("info", 2)];
        assert_eq!(to_choice(&s("Info"), names), Some(2));
        assert_eq!(to_choice(&Value::Int(0), names), Some(0));
        assert_eq!(to_choice(&Value::Int(1), names), None);
    }

    #[test]
    fn lists_check_each_element() {
        let list = Value::List(vec![Value::Int(0), s("3")]);
        assert_eq!(to_ints(&list, 0, 3), Some(vec![Value::Int(0), Value::Int(3)]));
        assert_eq!(to_ints(&list, 1, 3), None);
        assert_eq!(to_ints(&Value::Int(1), 0, 3), None);
        assert_eq!(to_texts(&Value::List(vec![s("a"), Value::Int(3)])), Some(vec![s("a"), s("3")]));
        assert_eq!(to_texts(&s("a")), Some(vec![s("a")]));
        assert_eq!(to_texts(&Value::List(vec![Value::Null])), None);
        let by_name = |text| Value::Map(vec![("*.css".to_owned(), text)]);
        assert_eq!(to_texts_by_name(&by_name(s("no-store"))), Some(vec![("*.css".to_owned(), s("no-store"))]));
        assert_eq!(to_texts_by_name(&by_name(Value::Bool(true))), None);
        assert_eq!(to_texts_by_name(&Value::List(vec![])), Some(vec![]));
        assert_eq!(to_texts_by_name(&s("a")), None);
    }
}
