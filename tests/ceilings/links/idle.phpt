--TEST--
Ceiling: bytes an idle WebSocket
--SKIPIF--
<?php trim((string) shell_exec('command -v cc')) || die('skip needs cc'); ?>
--FILE--
<?php
passthru('python3 ' . escapeshellarg(__DIR__ . '/measure.py') . ' idle 2>&1');
?>
--EXPECT--
ok
