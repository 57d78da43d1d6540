//! The methods of `Apus\Server`, which several files bring.

use apus_zend::class::Method;

const PARTS: &[&[Method]] = &[
    super::class::METHODS,
    super::send::METHODS,
    super::hub::METHODS,
    super::task::TASK_METHODS,
    super::task::SCHEDULE_METHODS,
    super::task::COMPUTE_METHODS,
    super::user_process::METHODS,
];

/// All of them, in the order of the parts.
pub(super) static ALL: [Method; count(PARTS)] = join(PARTS);

const fn count(parts: &[&[Method]]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < parts.len() {
        total += parts[at].len();
        at += 1;
    }
    total
}

const fn join<const N: usize>(parts: &[&[Method]]) -> [Method; N] {
    let mut all = [parts[0][0]; N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[next] = parts[part][at];
            next += 1;
            at += 1;
        }
        part += 1;
    }
    all
}
