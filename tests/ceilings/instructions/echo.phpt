--TEST--
Ceiling: instructions a WebSocket message and its echo take
--SKIPIF--
<?php trim((string) shell_exec('command -v valgrind')) || die('skip needs valgrind'); echo shell_exec('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' --missing 2>&1'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' echo 2>&1');
?>
--EXPECT--
ok
