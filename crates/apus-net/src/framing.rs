//! The framing of a stream port, from its settings.

use apus_options::Settings;
use apus_proto::framing::{Framing, LengthType, Rule};

/// The settings that ask for one: a port that was given one of them has none of the server's.
pub const FRAMINGS: [&str; 7] = [
    "open_length_check",
    "open_eof_check",
    "open_eof_split",
    "open_line_protocol",
    "package_fixed_length",
    "open_mqtt_protocol",
    "open_redis_protocol",
];

/// The framing that the settings of a port ask for; `None` for data as it comes. `asked`: whether the program has a
/// `package_length_func`.
///
/// # Errors
/// When the settings contradict each other, or no message could follow them; the text says what to do.
pub fn framing(settings: &Settings, asked: bool) -> Result<Option<Framing>, String> {
    let eof = settings.open_eof_check || settings.open_eof_split;
    let wanted: Vec<&str> = [
        ("open_length_check", settings.open_length_check),
        (if settings.open_eof_split { "open_eof_split" } else { "open_eof_check" }, eof),
        ("open_line_protocol", settings.open_line_protocol),
        ("package_fixed_length", settings.package_fixed_length > 0),
        ("open_mqtt_protocol", settings.open_mqtt_protocol),
        ("open_redis_protocol", settings.open_redis_protocol),
    ]
    .iter()
    .filter_map(|(name, on)| on.then_some(*name))
    .collect();
    let rule = match wanted.as_slice() {
        [] => return Ok(None),
        ["open_length_check"] => length(settings, asked)?,
        ["open_eof_split"] => Rule::End(settings.package_eof.0.clone()),
        ["open_eof_check"] => Rule::Check(settings.package_eof.0.clone()),
        ["open_line_protocol"] => Rule::Line,
        ["package_fixed_length"] => Rule::Fixed(settings.package_fixed_length),
        ["open_mqtt_protocol"] => Rule::Mqtt,
        ["open_redis_protocol"] => Rule::Redis,
        several => {
            return Err(format!(
                "{} exclude each other: messages of one port end in one way, so switch all but one of them off",
                several.join(" and ")
            ));
        }
    };
    let max = usize::try_from(settings.package_max_length).unwrap_or(usize::MAX);
    Framing::new(rule, max).map(Some)
}

fn length(settings: &Settings, asked: bool) -> Result<Rule, String> {
    if asked {
        return Ok(Rule::Asked);
    }
    let letter = &settings.package_length_type;
    let kind = LengthType::of_letter(letter)
        .ok_or_else(|| format!("package_length_type must be one of {}, \"{letter}\" given", LengthType::LETTERS))?;
    Ok(Rule::Length { kind, offset: settings.package_length_offset, body_offset: settings.package_body_offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use apus_options::Value;

    fn of(given: &[(&str, Value)], asked: bool) -> Result<Option<Rule>, String> {
        let mut settings = Settings::default();
        for (name, value) in given {
            settings.set(name, value).unwrap();
        }
        framing(&settings, asked).map(|framing| framing.map(|framing| framing.rule().clone()))
    }

    fn on(name: &str) -> (&str, Value) {
        (name, Value::Bool(true))
    }

    #[test]
    fn each_switch_makes_its_rule() {
        assert_eq!(of(&[], false), Ok(None));
        assert_eq!(of(&[on("open_eof_check")], false), Ok(Some(Rule::Check(b"\r\n".to_vec()))));
        // Programs switch both on for splitting.
        let both = [on("open_eof_check"), on("open_eof_split"), ("package_eof", "#".into())];
        assert_eq!(of(&both, false), Ok(Some(Rule::End(b"#".to_vec()))));
        assert_eq!(of(&[on("open_line_protocol")], false), Ok(Some(Rule::Line)));
        assert_eq!(of(&[("package_fixed_length", Value::Int(7))], false), Ok(Some(Rule::Fixed(7))));
        assert_eq!(of(&[on("open_mqtt_protocol")], false), Ok(Some(Rule::Mqtt)));
        assert_eq!(of(&[on("open_redis_protocol")], false), Ok(Some(Rule::Redis)));
        let length = [on("open_length_check"), ("package_length_type", "n".into()), ("package_body_start", 2.into())];
        let rule = Rule::Length { kind: LengthType::U16Be, offset: 0, body_offset: 2 };
        assert_eq!(of(&length, false), Ok(Some(rule)));
        assert_eq!(of(&length, true), Ok(Some(Rule::Asked)));
    }

    #[test]
    fn what_cannot_be_is_said() {
        let text = of(&[on("open_length_check"), on("open_mqtt_protocol")], false).unwrap_err();
        assert!(text.starts_with("open_length_check and open_mqtt_protocol exclude each other"), "{text}");
        let text = of(&[on("open_length_check"), ("package_length_type", "x".into())], false).unwrap_err();
        assert!(text.contains("c C s S n v l L N V q Q J P") && text.contains("\"x\""), "{text}");
        let text = of(&[on("open_eof_split"), ("package_eof", "".into())], false).unwrap_err();
        assert!(text.contains("package_eof must have 1 to 64 bytes"), "{text}");
        let text =
            of(&[("package_fixed_length", Value::Int(9)), ("package_max_length", Value::Int(8))], false).unwrap_err();
        assert!(text.contains("package_max_length must be at least 9"), "{text}");
    }
}
