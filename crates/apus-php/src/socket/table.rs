//! `Apus\Coroutine\Socket`, as PHP sees it.

use super::methods;

apus_zend::stub!("socket/table");
