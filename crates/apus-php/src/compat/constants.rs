//! The constants of Swoole.

apus_zend::stub!("swoole/constants");
