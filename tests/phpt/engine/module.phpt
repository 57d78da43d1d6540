--TEST--
The module: version, phpinfo(), extension functions, options table
--FILE--
<?php
var_dump(extension_loaded('apus'), phpversion('apus') === Apus\version(), (bool) preg_match('/^\d+\.\d+\.\d+/', Apus\version()));
ob_start();
(new ReflectionExtension('apus'))->info();
echo str_contains(ob_get_clean(), Apus\version()) ? "info\n" : "no info\n";
echo str_contains(Apus\options_markdown(), 'max_coroutine') ? "options\n" : "no options\n";
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
info
options
