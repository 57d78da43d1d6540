//! `Apus\Metrics\Gauge`.

use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use apus_process::Family;
use apus_shm::add_float;
use apus_zend::arg::{Given, Rest};
use apus_zend::value::ArrayView;
use apus_zend::{Raise, native};

use super::{Metric, declare, finite};

pub(super) struct Gauge(Rc<Metric>);

native!(Gauge, "Apus\\Metrics\\Gauge");

pub(super) fn construct(
    name: Given<&[u8]>,
    help: &[u8],
    labels: Given<Option<ArrayView<'_>>>,
    series: Given<i64>,
) -> Result<Gauge, Raise> {
    declare::declare(Family::Gauge, &name, help, &labels, &series, Vec::new()).map(Gauge)
}

pub(super) fn set(gauge: &Gauge, value: Given<f64>, labels: Rest<'_>) -> Result<(), Raise> {
    let bits = finite(&value)?.to_bits();
    gauge.0.with(labels, |metric, labels| metric.words(labels)[0].store(bits, Relaxed))
}

pub(super) fn add(gauge: &Gauge, by: Given<f64>, labels: Rest<'_>) -> Result<(), Raise> {
    let by = finite(&by)?;
    gauge.0.with(labels, |metric, labels| add_float(&metric.words(labels)[0], by))
}

pub(super) fn sub(gauge: &Gauge, by: Given<f64>, labels: Rest<'_>) -> Result<(), Raise> {
    let by = finite(&by)?;
    gauge.0.with(labels, |metric, labels| add_float(&metric.words(labels)[0], -by))
}

pub(super) fn get(gauge: &Gauge, labels: Rest<'_>) -> Result<f64, Raise> {
    gauge.0.with(labels, Metric::value)
}
