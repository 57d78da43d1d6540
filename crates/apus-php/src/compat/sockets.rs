//! Constants that programs expect of ext/sockets, where that is not loaded.

apus_zend::stub!("swoole/sockets");
