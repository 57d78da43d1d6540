//! `Apus\Coroutine\Client` and `Apus\Client`, as PHP sees them.

use super::{blocking, client};

apus_zend::stub!("socket/client_table");
