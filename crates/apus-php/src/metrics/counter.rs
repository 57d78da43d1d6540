//! `Apus\Metrics\Counter`.

use std::rc::Rc;

use apus_process::Family;
use apus_shm::add_float;
use apus_zend::arg::{Given, Rest};
use apus_zend::value::ArrayView;
use apus_zend::{Raise, native};

use super::{Metric, declare};

pub(super) struct Counter(Rc<Metric>);

native!(Counter, "Apus\\Metrics\\Counter");

pub(super) fn construct(
    name: Given<&[u8]>,
    help: &[u8],
    labels: Given<Option<ArrayView<'_>>>,
    series: Given<i64>,
) -> Result<Counter, Raise> {
    declare::declare(Family::Counter, &name, help, &labels, &series, Vec::new()).map(Counter)
}

pub(super) fn add(counter: &Counter, by: Given<f64>, labels: Rest<'_>) -> Result<(), Raise> {
    if !(by.value >= 0.0 && by.value.is_finite()) {
        return Err(by.value_error(&format!("must be a finite number, 0 or more, {:?} given", by.value)));
    }
    counter.0.with(labels, |metric, labels| add_float(&metric.words(labels)[0], by.value))
}

pub(super) fn get(counter: &Counter, labels: Rest<'_>) -> Result<f64, Raise> {
    counter.0.with(labels, Metric::value)
}
