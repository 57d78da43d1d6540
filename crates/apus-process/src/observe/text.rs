//! The text form of metrics: Prometheus' own (0.0.4) or `OpenMetrics` 1.0, which differ in little.

use std::fmt::Write as _;

/// What a family of metrics is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// It never goes back.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Counts of values up to bounds.
    Histogram,
}

impl Family {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Metrics being written.
#[derive(Debug)]
pub struct Text {
    out: String,
    open: bool,
    /// The name of the family, without what is added for each of its samples.
    name: String,
    kind: Family,
}

impl Text {
    /// Nothing yet. `open`: as `OpenMetrics`.
    pub fn new(open: bool) -> Self {
        Self { out: String::with_capacity(16 * 1024), open, name: String::new(), kind: Family::Gauge }
    }

    /// Begins a family. A counter's name comes without `_total`; all samples of a family follow each other.
    pub fn family(&mut self, kind: Family, name: &str, help: &str) {
        name.clone_into(&mut self.name);
        self.kind = kind;
        let total = if self.open || kind != Family::Counter { "" } else { "_total" };
        // Writing to a String cannot fail.
        let _ = write!(self.out, "# HELP {name}{total} ");
        escape(&mut self.out, help, self.open);
        let _ = writeln!(self.out, "\n# TYPE {name}{total} {}", kind.word());
        if self.open && (name.ends_with("_seconds") || name.ends_with("_bytes")) {
            let unit = if name.ends_with("_seconds") { "seconds" } else { "bytes" };
            let _ = writeln!(self.out, "# UNIT {name} {unit}");
        }
    }

    /// One sample of the family.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        let suffix = if self.kind == Family::Counter { "_total" } else { "" };
        self.line(suffix, labels, None, value);
    }

    /// One sample of a family that has no other.
    pub fn single(&mut self, kind: Family, name: &str, help: &str, value: f64) {
        self.family(kind, name, help);
        self.sample(&[], value);
    }

    /// One histogram of the family: how many values are at most as large as each bound, ascending; how many there are
    /// at all, and their sum.
    pub fn histogram(
        &mut self,
        labels: &[(&str, &str)],
        buckets: impl Iterator<Item = (f64, u64)>,
        count: u64,
        sum: f64,
    ) {
        for (bound, below) in buckets {
            self.line("_bucket", labels, Some(bound), below as f64);
        }
        self.line("_bucket", labels, Some(f64::INFINITY), count as f64);
        self.line("_sum", labels, None, sum);
        self.line("_count", labels, None, count as f64);
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], bound: Option<f64>, value: f64) {
        let _ = write!(self.out, "{}{suffix}", self.name);
        let bound = bound.map(number);
        let all = labels.iter().copied().chain(bound.as_deref().map(|bound| ("le", bound)));
        let mut mark = '{';
        for (name, text) in all {
            let _ = write!(self.out, "{mark}{name}=\"");
            escape(&mut self.out, text, true);
            self.out.push('"');
            mark = ',';
        }
        if mark == ',' {
            self.out.push('}');
        }
        let _ = writeln!(self.out, " {}", number(value));
    }

    /// All of it, with the media type.
    pub fn finish(mut self) -> (&'static str, String) {
        if self.open {
            self.out.push_str("# EOF\n");
            return ("application/openmetrics-text; version=1.0.0; charset=utf-8", self.out);
        }
        ("text/plain; version=0.0.4; charset=utf-8", self.out)
    }
}

fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if value.is_nan() { "NaN".to_owned() } else { value.to_string() }
}

/// Texts stand on one line; quotation marks need escaping in labels, and in the help of `OpenMetrics`.
fn escape(out: &mut String, text: &str, quotes: bool) {
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(write: impl Fn(&mut Text)) -> [String; 2] {
        [false, true].map(|open| {
            let mut text = Text::new(open);
            write(&mut text);
            text.finish().1
        })
    }

    #[test]
    fn counters_are_called_as_each_form_wants_it() {
        let [plain, open] = both(|text| {
            text.family(Family::Counter, "a_bytes", "A \"b\".");
            text.sample(&[("x", "\"\\\n"), ("y", "é")], 3.0);
        });
        let sample = "a_bytes_total{x=\"\\\"\\\\\\n\",y=\"é\"} 3\n";
        assert_eq!(plain, format!("# HELP a_bytes_total A \"b\".\n# TYPE a_bytes_total counter\n{sample}"));
        let head = "# HELP a_bytes A \\\"b\\\".\n# TYPE a_bytes counter\n# UNIT a_bytes bytes\n";
        assert_eq!(open, format!("{head}{sample}# EOF\n"));
    }

    #[test]
    fn histograms_end_with_all_values() {
        let [plain, _] = both(|text| {
            text.family(Family::Histogram, "h", "H");
            text.histogram(&[("m", "v")], [(0.5, 1), (1.0, 2)].into_iter(), 4, 9.25);
        });
        let expected = "# HELP h H\n# TYPE h histogram\nh_bucket{m=\"v\",le=\"0.5\"} 1\nh_bucket{m=\"v\",le=\"1\"} \
                        2\nh_bucket{m=\"v\",le=\"+Inf\"} 4\nh_sum{m=\"v\"} 9.25\nh_count{m=\"v\"} 4\n";
        assert_eq!(plain, expected);
    }
}
