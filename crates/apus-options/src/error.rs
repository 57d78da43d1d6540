//! Why a setting was refused, in words that say what to do.

use crate::row::{Kind, Row};
use crate::value::Value;

/// A setting that could not be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionError {
    /// No setting has that name.
    Unknown {
        /// The name given.
        name: String,
        /// The known name that is spelled most like it, when one is near.
        nearest: Option<&'static str>,
    },
    /// The value is of the wrong kind, malformed, or outside the limits.
    Invalid {
        /// The setting.
        name: &'static str,
        /// What it takes, with limits and units.
        wants: String,
        /// The value given.
        given: String,
    },
    /// This version does not support the setting.
    Unsupported {
        /// The setting.
        name: &'static str,
        /// What it would have done, and what to use instead where there is something.
        doc: &'static str,
    },
}

impl std::error::Error for OptionError {}

impl std::fmt::Display for OptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown { name, nearest: Some(nearest) } => {
                write!(f, "unknown setting \"{name}\": did you mean \"{nearest}\"?")
            }
            Self::Unknown { name, nearest: None } => {
                write!(f, "unknown setting \"{name}\": docs/options.md lists every setting")
            }
            Self::Invalid { name, wants, given } => write!(f, "setting \"{name}\" must be {wants}, {given} given"),
            Self::Unsupported { name, doc } => {
                write!(
                    f,
                    "setting \"{name}\" is not supported by this version of Apus: remove it or switch it off. {doc}"
                )
            }
        }
    }
}

impl OptionError {
    pub(crate) fn unknown_among(name: &str, rows: impl Iterator<Item = &'static Row>) -> Self {
        let names = rows.flat_map(|row| std::iter::once(&row.name).chain(row.aliases)).copied();
        Self::Unknown { name: name.chars().take(80).collect(), nearest: nearest(name, names) }
    }

    pub(crate) fn invalid(row: &Row, value: &Value) -> Self {
        Self::Invalid { name: row.name, wants: wants(&row.kind), given: value.to_string() }
    }
}

/// What a kind takes, for "must be …".
pub(crate) fn wants(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "true or false".to_owned(),
        Kind::Int { min, max, unit: "" } => format!("a whole number from {min} to {max}"),
        Kind::Int { min, max, unit } => format!("a whole number of {unit} from {min} to {max}"),
        Kind::Size { min, max } => {
            format!("a number of bytes from {} to {} (\"512K\", \"8M\" and \"2G\" work too)", bytes(*min), bytes(*max))
        }
        Kind::Duration { min, max } => {
            format!("a number of seconds from {min} to {max} (\"250ms\", \"10s\", \"5m\" and \"2h\" work too)")
        }
        Kind::Str => "a string without NUL bytes".to_owned(),
        Kind::Ints { min, max } => format!("a list of whole numbers from {min} to {max}"),
        Kind::Texts => "a list of strings".to_owned(),
        Kind::Networks => {
            "a list of addresses and networks, such as \"192.0.2.7\", \"10.0.0.0/8\", \"2001:db8::/32\" or \"unix\""
                .to_owned()
        }
        Kind::TextsByName => "an array of strings by name".to_owned(),
        Kind::Certificates => "an array of 'host' => ['ssl_cert_file' => path, 'ssl_key_file' => path]".to_owned(),
        Kind::Choice(names) => {
            let names: Vec<String> = names.iter().map(|(name, number)| format!("\"{name}\" ({number})")).collect();
            format!("one of {}", names.join(", "))
        }
        Kind::Any => "a value".to_owned(),
    }
}

/// A number of bytes in its largest whole unit: "8M", "1000".
pub(crate) fn bytes(n: i64) -> String {
    for (shift, letter) in [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')] {
        if n != 0 && n % (1 << shift) == 0 {
            return format!("{}{letter}", n >> shift);
        }
    }
    n.to_string()
}

/// The known name nearest to `name`, when no more than a third of it differs.
pub(crate) fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // A hostile name must not cost a quadratic walk.
    if name.len() > 64 {
        return None;
    }
    let wanted = name.to_ascii_lowercase().replace('-', "_");
    let (best, distance) = names.map(|known| (known, distance(&wanted, known))).min_by_key(|(_, d)| *d)?;
    (distance <= (wanted.len() / 3).max(1)).then_some(best)
}

/// Edits (insert, delete, replace) between two names: Levenshtein over bytes, one row of the matrix at a time.
fn distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut costs: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = costs[0];
        costs[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = costs[j + 1];
            costs[j + 1] = replace.min(diagonal + 1).min(costs[j] + 1);
        }
    }
    costs[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::rows;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("worker_num", "worker_num"), 0);
        assert_eq!(distance("wroker_num", "worker_num"), 2);
        assert_eq!(distance("", "abc"), 3);
    }

    fn near(name: &str) -> Option<&'static str> {
        nearest(name, rows().flat_map(|row| std::iter::once(&row.name).chain(row.aliases)).copied())
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(near("worker_nums"), Some("worker_num"));
        assert_eq!(near("Worker-Num"), Some("worker_num"));
        assert_eq!(near("max_con"), Some("max_conn"));
        assert_eq!(near("favourite_colour"), None);
        assert_eq!(near(&"w".repeat(10_000)), None);
    }

    #[test]
    fn bytes_use_the_largest_whole_unit() {
        assert_eq!(bytes(8 << 20), "8M");
        assert_eq!(bytes(1000), "1000");
        assert_eq!(bytes(0), "0");
    }
}
