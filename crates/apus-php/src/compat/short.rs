//! The names without a prefix, which `swoole.use_shortname` switches off.

apus_zend::stub!("swoole/short");
