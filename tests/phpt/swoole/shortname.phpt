--TEST--
swoole.use_shortname=Off leaves the short names free
--INI--
apus.swoole_compat=1
swoole.use_shortname=Off
--FILE--
<?php
var_dump(function_exists('go'), class_exists('Chan'), class_exists('Co\Channel'), SWOOLE_USE_SHORTNAME);
var_dump(class_exists('swoole_atomic'), new ReflectionClass('swoole_atomic') == new ReflectionClass(Swoole\Atomic::class));
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)
bool(true)
bool(true)
