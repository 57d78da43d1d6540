//! What a process measured: lines for the process that started it, which adds them up and prints JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::hist::Histogram;
use crate::wire::Fault;

#[derive(Default)]
pub struct Report {
    counts: BTreeMap<String, u64>,
    /// First and last moment; over several processes the earliest and the latest.
    spans: BTreeMap<String, (u64, u64)>,
    hists: BTreeMap<String, Histogram>,
    failures: BTreeMap<String, u64>,
}

impl Report {
    pub fn count(&mut self, name: &str, value: u64) {
        *self.counts.entry(name.to_owned()).or_default() += value;
    }

    pub fn span(&mut self, name: &str, first: u64, last: u64) {
        let span = self.spans.entry(name.to_owned()).or_insert((first, last));
        *span = (span.0.min(first), span.1.max(last));
    }

    pub fn hist(&mut self, name: &str, hist: &Histogram) {
        self.hists.insert(name.to_owned(), hist.clone());
    }

    pub fn failure(&mut self, reason: Fault) {
        *self.failures.entry(reason.into_owned()).or_default() += 1;
    }

    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    pub fn lines(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        for (name, value) in &self.counts {
            let _ = writeln!(text, "count {name} {value}");
        }
        for (name, (first, last)) in &self.spans {
            let _ = writeln!(text, "span {name} {first} {last}");
        }
        for (name, hist) in &self.hists {
            let _ = writeln!(text, "hist {name} {}", hist.to_line());
        }
        for (reason, count) in &self.failures {
            let _ = writeln!(text, "failure {count} {reason}");
        }
        text
    }

    /// Adds a line of another process; none where it is not one of `lines`.
    pub fn absorb(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let (name, value) = rest.split_once(' ')?;
        match kind {
            "count" => self.count(name, value.parse().ok()?),
            "span" => {
                let (first, last) = value.split_once(' ')?;
                self.span(name, first.parse().ok()?, last.parse().ok()?);
            }
            "hist" => self.hists.entry(name.to_owned()).or_default().absorb(value)?,
            "failure" => *self.failures.entry(value.to_owned()).or_default() += name.parse::<u64>().ok()?,
            _ => return None,
        }
        Some(())
    }

    pub fn json(&self) -> String {
        let mut fields: Vec<String> = Vec::new();
        fields.extend(self.counts.iter().map(|(name, value)| format!("\"{name}\":{value}")));
        fields.extend(
            self.spans.iter().map(|(name, (first, last))| format!("\"{name}_ns\":{}", last.saturating_sub(*first))),
        );
        fields.extend(self.hists.iter().map(|(name, hist)| format!("\"{name}\":{}", hist.json())));
        let reasons: Vec<_> =
            self.failures.iter().map(|(reason, count)| format!("{}:{count}", quoted(reason))).collect();
        fields.push(format!("\"failed\":{}", self.failed()));
        fields.push(format!("\"failures\":{{{}}}", reasons.join(",")));
        format!("{{{}}}", fields.join(","))
    }
}

pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            char if char.is_control() => out.push(' '),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{Report, quoted};
    use crate::hist::Histogram;

    #[test]
    fn two_processes_make_one_report() {
        let mut hist = Histogram::default();
        hist.record(50);
        let (mut one, mut other) = (Report::default(), Report::default());
        one.count("connected", 3);
        one.span("open", 100, 200);
        one.hist("echo", &hist);
        one.failure("read: reset".into());
        other.count("connected", 4);
        other.span("open", 90, 150);
        other.hist("echo", &hist);
        other.failure("read: reset".into());
        let mut all = Report::default();
        for line in one.lines().lines().chain(other.lines().lines()) {
            all.absorb(line).unwrap();
        }
        let json = all.json();
        for part in
            ["\"connected\":7", "\"open_ns\":110", "\"echo\":{\"count\":2,", "\"failed\":2", "{\"read: reset\":2}"]
        {
            assert!(json.contains(part), "{part} in {json}");
        }
        assert!(all.absorb("nonsense").is_none() && all.absorb("count x y").is_none());
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c \"");
    }
}
