--TEST--
Without apus.swoole_compat the names of Swoole are free
--FILE--
<?php
var_dump(class_exists('Swoole\Atomic'), ini_get('apus.swoole_compat'));
?>
--EXPECT--
bool(false)
string(1) "0"
