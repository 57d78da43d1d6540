//! `Apus\Process\Pool`, as PHP sees it.

use super::class;

apus_zend::stub!("process/pool/table");
