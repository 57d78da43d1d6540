//! The settings, from the reference page that is made from the one table of them (and tested against it).

use std::io::Write as _;

use serde::Serialize;

use crate::cli::OptionsArgs;
use crate::failure::{Failure, Outcome};

const PAGE: &str = include_str!("../../../../docs/options.md");

/// One setting as the page describes it.
#[derive(Debug, Default, Serialize, PartialEq, Eq)]
struct Setting {
    name: String,
    /// Where it applies: the page's heading.
    scope: String,
    doc: String,
    /// Type and limits.
    r#type: String,
    default: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    since: String,
}

/// `apus options`: all of them, or those whose name contains a word.
pub(crate) fn options(args: &OptionsArgs) -> Outcome<()> {
    let fits = |setting: &Setting| {
        args.name
            .as_ref()
            .is_none_or(|word| setting.name.contains(word) || setting.also.iter().any(|name| name.contains(word)))
    };
    let found: Vec<Setting> = settings(PAGE).into_iter().filter(fits).collect();
    if found.is_empty() {
        let word = args.name.as_deref().unwrap_or_default();
        return Err(Failure::failed(format!("no setting is called `{word}`")).advise("apus options lists them all"));
    }
    let text = if args.markdown {
        PAGE.to_owned()
    } else if args.json {
        serde_json::to_string_pretty(&found).unwrap_or_default() + "\n"
    } else {
        found.iter().map(describe).collect()
    };
    // A reader that closed the pipe early has seen what it wanted.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

fn settings(page: &str) -> Vec<Setting> {
    let mut found: Vec<Setting> = Vec::new();
    let mut scope = "";
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            scope = title;
        } else if let Some(name) = line.strip_prefix("### ") {
            found.push(Setting { name: name.to_owned(), scope: scope.to_lowercase(), ..Setting::default() });
        } else if let Some(setting) = found.last_mut().filter(|setting| setting.scope == scope.to_lowercase()) {
            line_of(setting, line);
        }
    }
    found
}

fn line_of(setting: &mut Setting, line: &str) {
    let Some((key, value)) = line.strip_prefix("- ").and_then(|item| item.split_once(": ")) else {
        if !line.trim().is_empty() {
            let gap = if setting.doc.is_empty() { "" } else { " " };
            setting.doc.push_str(gap);
            setting.doc.push_str(line.trim());
        }
        return;
    };
    match key {
        "type" => value.clone_into(&mut setting.r#type),
        "default" => value.clone_into(&mut setting.default),
        "also" => setting.also = value.split(", ").map(|name| name.trim_matches('`').to_owned()).collect(),
        "since" => value.clone_into(&mut setting.since),
        _ => {}
    }
}

fn describe(setting: &Setting) -> String {
    let also = if setting.also.is_empty() { String::new() } else { format!(" (also {})", setting.also.join(", ")) };
    format!("{}{also}\n    {}\n    {}; default {}\n\n", setting.name, setting.doc, setting.r#type, setting.default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_gives_name_type_default_and_doc() {
        let page = "# Settings\n\nhead\n\n## Server\n\n### max_conn\n\nHow many.\n\n- type: int, 1 to 9\n- default: 3\n\
                    - also: `a`, `b`\n- since: 0.1.0\n\n## Unknown\n\n| x |\n";
        let expected = Setting {
            name: "max_conn".into(),
            scope: "server".into(),
            doc: "How many.".into(),
            r#type: "int, 1 to 9".into(),
            default: "3".into(),
            also: vec!["a".into(), "b".into()],
            since: "0.1.0".into(),
        };
        assert_eq!(settings(page), [expected]);
    }

    #[test]
    fn every_setting_of_the_real_page_is_complete() {
        let all = settings(PAGE);
        assert!(all.len() > 40, "{}", all.len());
        for setting in all {
            let complete =
                ![&setting.doc, &setting.r#type, &setting.default, &setting.since].iter().any(|text| text.is_empty());
            assert!(complete, "{setting:?}");
        }
    }
}
