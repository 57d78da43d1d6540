//! `Apus\Process`, as PHP sees it.

use super::{class, statics};

apus_zend::stub!("process/table");
