//! What a metric may be called, and its making.

use std::rc::Rc;

use apus_process::Family;
use apus_shm::{SERIES_MOST, Series};
use apus_zend::Raise;
use apus_zend::arg::Given;
use apus_zend::value::{ArrayView, View};

use super::{Declared, LABELS_MOST, LATE, MADE, Metric};
use crate::exception::{self, code};

/// Metrics of one program.
const MOST: usize = 1000;
/// Bounds of a histogram.
const BOUNDS_MOST: usize = 64;
/// Those that every client of Prometheus has.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// What samples of some kinds end in: no other metric may be called so.
const ENDINGS: [&str; 6] = ["_total", "_created", "_bucket", "_count", "_sum", "_info"];
/// What the server's own are called.
const OWN: &str = "apus_";

fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(is_part) && text.starts_with(|first: char| !first.is_ascii_digit())
}

/// The name of the family.
fn name_of(kind: Family, given: &Given<&[u8]>) -> Result<String, Raise> {
    let text = String::from_utf8_lossy(given.value).into_owned();
    let family = if kind == Family::Counter { text.strip_suffix("_total").unwrap_or(&text) } else { &text };
    if !is_name(family) || family.len() > 200 {
        return Err(given.value_error(&format!(
            "must be up to 200 letters, digits and underscores, no digit first, \"{}\" given",
            text.escape_debug()
        )));
    }
    if family.starts_with(OWN) {
        return Err(given.value_error(&format!("must not begin with \"{OWN}\", which the server's own do")));
    }
    if let Some(ending) = ENDINGS.iter().find(|ending| family.ends_with(**ending)) {
        return Err(
            given.value_error(&format!("must not end in \"{ending}\", which says what another kind of sample is"))
        );
    }
    Ok(family.to_owned())
}

fn labels_of(kind: Family, given: &Given<Option<ArrayView<'_>>>) -> Result<Vec<String>, Raise> {
    let mut names: Vec<String> = Vec::new();
    for (_, element) in given.value.iter().flat_map(|labels| labels.iter()) {
        let View::Str(name) = element.view() else {
            return Err(given.content_error("must hold names of labels, which are strings"));
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let fault = if !is_name(&name) {
            "letters, digits and underscores, no digit first"
        } else if name.starts_with("__") {
            "names that do not begin with two underscores, which Prometheus' own do"
        } else if kind == Family::Histogram && name == "le" {
            "other names than \"le\", which is the bound of a bucket"
        } else if names.contains(&name) {
            "each name once"
        } else {
            names.push(name);
            continue;
        };
        return Err(given.value_error(&format!("must hold {fault}, \"{}\" given", name.escape_debug())));
    }
    if names.len() > LABELS_MOST {
        return Err(given.value_error(&format!("must hold at most {LABELS_MOST} names, {} given", names.len())));
    }
    Ok(names)
}

/// The bounds of a histogram.
pub(super) fn bounds(given: &Given<Option<ArrayView<'_>>>) -> Result<Vec<f64>, Raise> {
    let mut bounds: Vec<f64> = Vec::new();
    for (_, element) in given.value.iter().flat_map(|bounds| bounds.iter()) {
        let bound = match element.view() {
            View::Int(bound) => bound as f64,
            View::Float(bound) => bound,
            _ => return Err(given.content_error("must hold numbers")),
        };
        if !bound.is_finite() || bounds.last().is_some_and(|last| *last >= bound) {
            return Err(given.value_error(&format!("must hold finite numbers, ascending, {bound:?} given")));
        }
        bounds.push(bound);
    }
    if bounds.len() > BOUNDS_MOST {
        return Err(given.value_error(&format!("must hold at most {BOUNDS_MOST} bounds, {} given", bounds.len())));
    }
    Ok(if bounds.is_empty() { BOUNDS.to_vec() } else { bounds })
}

/// The metric that is declared so: the one that is there already, or a new one.
pub(super) fn declare(
    kind: Family,
    name: &Given<&[u8]>,
    help: &[u8],
    labels: &Given<Option<ArrayView<'_>>>,
    series: &Given<i64>,
    bounds: Vec<f64>,
) -> Result<Rc<Metric>, Raise> {
    let most = usize::try_from(series.value).ok().filter(|most| (1..=SERIES_MOST).contains(most));
    let most = most.ok_or_else(|| series.must_be(&format!("from 1 to {SERIES_MOST}")))?;
    let (name, labels) = (name_of(kind, name)?, labels_of(kind, labels)?);
    let help = String::from_utf8_lossy(help).into_owned();
    let declared = Declared { kind, name, help, labels, bounds, most };
    match MADE.with_borrow(|made| made.iter().find(|metric| metric.declared.name == declared.name).cloned()) {
        Some(metric) if metric.declared == declared => Ok(metric),
        Some(metric) => Err(exception::throw(code::metrics::DIFFERENT, &different(&metric.declared, &declared))),
        None => make(declared),
    }
}

/// What is not the same.
fn different(one: &Declared, other: &Declared) -> String {
    let what = if one.kind != other.kind {
        "of another kind"
    } else if one.labels != other.labels {
        "with other labels"
    } else if one.bounds != other.bounds {
        "with other buckets"
    } else if one.most != other.most {
        "with another number of series"
    } else {
        "with another help"
    };
    format!("there is a metric {} already, {what}", one.name)
}

fn make(declared: Declared) -> Result<Rc<Metric>, Raise> {
    let fail = |code, text: String| Err(exception::throw(code, &text));
    let name = &declared.name;
    if LATE.get() {
        let text = format!("metric {name} must be made before the server starts: no other process has it now");
        return fail(code::metrics::LATE, text);
    }
    if MADE.with_borrow(Vec::len) >= MOST {
        return fail(
            code::metrics::TOO_MANY,
            format!("{MOST} metrics are made, which is the most: no room for {name}"),
        );
    }
    let words = if declared.kind == Family::Histogram { declared.bounds.len() + 2 } else { 1 };
    match Series::new(declared.labels.len(), words, declared.most) {
        Ok(series) => {
            let metric = Rc::new(Metric { declared, series });
            MADE.with_borrow_mut(|made| made.push(Rc::clone(&metric)));
            Ok(metric)
        }
        Err(error) => fail(code::metrics::NO_MEMORY, format!("no memory could be shared for metric {name}: {error}")),
    }
}
