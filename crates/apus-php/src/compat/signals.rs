//! Constants that programs expect of pcntl, where that is not loaded.

apus_zend::stub!("swoole/signals");
