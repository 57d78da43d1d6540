//! The findings as text for people and as JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Finding, Level};

#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    /// No finding stands in the way of what was asked.
    ok: bool,
    warnings: usize,
    failures: usize,
    findings: &'a [Finding],
}

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|finding| finding.level == level).count()
}

pub(crate) fn json(findings: &[Finding]) -> String {
    let (warnings, failures) = (count(findings, Level::Warn), count(findings, Level::Fail));
    let report = Report { version: env!("CARGO_PKG_VERSION"), ok: failures == 0, warnings, failures, findings };
    // Only strings and numbers are in it: it cannot fail to serialise.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

pub(crate) fn text(findings: &[Finding], colour: bool) -> String {
    let mut out = String::new();
    for finding in findings {
        let (word, code) = match finding.level {
            Level::Ok => ("ok  ", "32"),
            Level::Note => ("note", "36"),
            Level::Warn => ("warn", "33"),
            Level::Fail => ("FAIL", "31"),
        };
        let mark = if colour { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{mark}  {}", finding.found);
        for line in &finding.fix {
            let _ = writeln!(out, "        fix: {line}");
        }
    }
    let _ = writeln!(out, "\n{}", summary(count(findings, Level::Fail), count(findings, Level::Warn)));
    out
}

fn summary(failures: usize, warnings: usize) -> String {
    let warned = if warnings == 1 { "1 warning".to_owned() } else { format!("{warnings} warnings") };
    match failures {
        0 if warnings == 0 => "nothing to fix".into(),
        0 => warned,
        1 => format!("1 finding to fix, {warned}"),
        _ => format!("{failures} findings to fix, {warned}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Vec<Finding> {
        vec![
            Finding::new("a", Level::Ok, "good"),
            Finding::new("b", Level::Fail, "bad").fix(["do this"]),
            Finding::new("c", Level::Warn, "dear"),
        ]
    }

    #[test]
    fn the_text_names_each_finding_and_its_mend() {
        let shown = text(&findings(), false);
        assert_eq!(shown, "ok    good\nFAIL  bad\n        fix: do this\nwarn  dear\n\n1 finding to fix, 1 warning\n");
        assert!(text(&findings(), true).contains("\x1b[31mFAIL"));
    }

    #[test]
    fn the_json_counts_them() {
        let report: serde_json::Value = serde_json::from_str(&json(&findings())).expect("JSON");
        assert_eq!(report["ok"], false);
        assert_eq!(report["failures"], 1);
        assert_eq!(report["findings"][1]["fix"][0], "do this");
        assert_eq!(report["findings"][2]["level"], "warn");
    }

    #[test]
    fn the_summary_counts_in_words() {
        assert_eq!(summary(0, 0), "nothing to fix");
        assert_eq!(summary(0, 2), "2 warnings");
        assert_eq!(summary(2, 0), "2 findings to fix, 0 warnings");
    }
}
