//! `Apus\Metrics`: a program's own figures, beside those of the server. `apus_shm::Series` is what lies beneath.

mod counter;
mod declare;
mod gauge;
mod histogram;
mod write;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use apus_process::{Family, Text};
use apus_shm::{LABEL_MOST, OTHER, Series};
use apus_zend::arg::{Given, Rest};
use apus_zend::class::Class;
use apus_zend::{Raise, fiber};

use crate::exception;

pub(crate) use write::{status, write};

/// The classes of this room.
pub(crate) static ALL: &[&Class] = &[&COUNTER, &GAUGE, &HISTOGRAM];

/// Labels of one metric.
const LABELS_MOST: usize = 8;

/// What a metric is.
#[derive(Debug, PartialEq)]
struct Declared {
    kind: Family,
    /// Without the `_total` of a counter.
    name: String,
    help: String,
    labels: Vec<String>,
    /// Of a histogram, ascending.
    bounds: Vec<f64>,
    most: usize,
}

/// A metric. Of a counter and a gauge a series has one word, a float; of a histogram a count for each bound and one for
/// what lies above them, and the sum, a float.
#[derive(Debug)]
struct Metric {
    declared: Declared,
    series: Series,
}

thread_local! {
    /// All metrics of this program, in the order of their making: they stay, whatever becomes of their objects.
    static MADE: RefCell<Vec<Rc<Metric>>> = const { RefCell::new(Vec::new()) };
    /// Whether other processes could not have a new one.
    static LATE: Cell<bool> = const { Cell::new(false) };
}

/// A server begins: what is made from now on in this process, or in one that it forks, would not be shared.
pub(crate) fn close() {
    LATE.set(true);
}

/// It has ended.
pub(crate) fn open() {
    LATE.set(false);
}

impl Metric {
    /// Takes the values of the labels, and gives the words of their series to `use_words`.
    #[inline]
    fn with<T>(&self, labels: Rest<'_>, use_words: impl FnOnce(&Self, &[&[u8]]) -> T) -> Result<T, Raise> {
        let mut values: [&[u8]; LABELS_MOST] = [&[]; LABELS_MOST];
        let wanted = self.declared.labels.len();
        if labels.len() != wanted {
            return Err(self.wrong_labels(labels.len()));
        }
        for (value, label) in values.iter_mut().zip(labels.bytes()) {
            *value = label?;
        }
        Ok(use_words(self, &values[..wanted]))
    }

    /// The words of these labels, made where they are new.
    #[inline]
    fn words(&self, labels: &[&[u8]]) -> &[AtomicU64] {
        let place = self.series.find(labels);
        if place.is_first_without_room {
            self.tell_of_overflow();
        }
        self.series.words(place.slot)
    }

    /// The words of these labels, if they were ever used.
    fn peek(&self, labels: &[&[u8]]) -> Option<&[AtomicU64]> {
        self.series.peek(labels).map(|slot| self.series.words(slot))
    }

    /// The float in the first word.
    fn value(&self, labels: &[&[u8]]) -> f64 {
        self.peek(labels).map_or(0.0, |words| f64::from_bits(words[0].load(Relaxed)))
    }

    #[cold]
    fn wrong_labels(&self, given: usize) -> Raise {
        let Declared { name, labels, .. } = &self.declared;
        let wanted = match labels.len() {
            0 => "no label".to_owned(),
            1 => format!("one label ({})", labels[0]),
            many => format!("{many} labels ({})", labels.join(", ")),
        };
        let text = format!("metric {name} has {wanted}: {given} given");
        exception::throw(exception::code::metrics::LABELS, &text)
    }

    #[cold]
    fn tell_of_overflow(&self) {
        let Declared { name, most, .. } = &self.declared;
        apus_process::log::warning(format_args!(
            "metric {name} has {most} series, which is its $series: labels that are new are counted as \"{OTHER}\" ({})",
            fiber::position()
        ));
    }
}

/// A number that can be added and shown.
#[inline]
fn finite(given: &Given<f64>) -> Result<f64, Raise> {
    if given.value.is_finite() {
        return Ok(given.value);
    }
    Err(given.value_error(&format!("must be a finite number, {:?} given", given.value)))
}

/// All metrics in Prometheus' text form.
fn render() -> String {
    let mut text = Text::new(false);
    write(&mut text);
    text.finish().1
}

const _: () = assert!(LABEL_MOST == 128, "as the stub says");

apus_zend::stub!("metrics");
