//! `Apus\Coroutine\System`.

use apus_zend::Raise;

use super::{children, exec, files, lookup, ready, signals, streams};
use crate::wait::Pause;

fn sleep(time: Pause) -> Result<bool, Raise> {
    crate::wait::sleep("Coroutine\\System::sleep()", time)
}

apus_zend::stub!("system/class");
